#!/usr/bin/env python3
"""Writes or checks the list of public names of the published library crates, as rustdoc lists them.

    cargo doc --workspace --no-deps
    tools/public_names.py --write     write docs/public-names.txt
    tools/public_names.py --check     fail if that file differs from what rustdoc lists

Adding or removing a public name is a decision, so it should be visible to the reviewer of a change. Names at the root
of a crate are listed a second time under `root`.
"""

import argparse
import difflib
import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "public-names.txt"
ITEM = re.compile(r'<a href="(?:[^"]*/)?(\w+)\.[^"/]+\.html">([^<]+)</a>')
REEXPORT = re.compile(r'<dt id="reexport\.([^"]+)"')
OWN = re.compile(r'<dt><a class="(\w+)" href="[^"]*" title="[^"]*">([^<]+)</a>')


def crates():
    """Returns the names of the published libraries of the workspace."""
    told = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT, check=True, capture_output=True)
    published = [package for package in json.loads(told.stdout)["packages"] if package["publish"] != []]
    return [target["name"] for package in published for target in package["targets"] if "lib" in target["kind"]]


def names(folder):
    for crate in crates():
        page = (folder / crate / "all.html").read_text()
        for kind, name in sorted(set(ITEM.findall(page)), key=lambda item: (item[1], item[0])):
            yield f"{crate} {kind} {unescape(name)}"
        index = (folder / crate / "index.html").read_text()
        own = {re.sub("<[^>]*>", "", name) for kind, name in OWN.findall(index)}
        for name in sorted(own | set(REEXPORT.findall(index))):
            yield f"{crate} root {unescape(name)}"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--doc", type=Path, default=ROOT / "target" / "doc", help="where rustdoc wrote its pages")
    action = options.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true")
    action.add_argument("--check", action="store_true")
    options = options.parse_args()
    found = list(names(options.doc))
    if options.write:
        LIST.write_text("".join(f"{name}\n" for name in found))
        return
    known = LIST.read_text().splitlines()
    changes = [line for line in difflib.unified_diff(known, found, "committed", "rustdoc", lineterm="", n=0)]
    if changes:
        print("\n".join(changes))
        sys.exit("the public names have changed; if that is meant, run tools/public_names.py --write")


if __name__ == "__main__":
    main()
