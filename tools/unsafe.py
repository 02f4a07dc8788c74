#!/usr/bin/env python3
"""Counts where the dependencies of the published crates use `unsafe`: blocks, functions, traits and implementations.

unsafe.py [--most N]

Our own code forbids `unsafe`. Comments, strings, tests, benchmarks and examples are not counted. What is counted may be left
out of the program by features or by the platform, so the numbers are upper limits.
"""

import argparse
import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = {"echostack-docs", "echostack-web", "echostack-python"}
SKIPPED = {"tests", "test", "benches", "bench", "examples", "fuzz"}
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.|[^\'\\])\'', re.DOTALL
)


def unsafes(folder):
    count = 0
    for path in folder.rglob("*.rs"):
        if SKIPPED.isdisjoint(path.relative_to(folder).parts):
            code = NOT_CODE.sub(" ", path.read_text(errors="replace"))
            count += len(re.findall(r"\bunsafe\b(?!_)", code))
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=15, help="how many dependencies to list")
    options = parser.parse_args()
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [id for id in metadata["workspace_members"] if packages[id]["name"] not in OURS]
    found = set()
    while waiting:
        id = waiting.pop()
        if id not in found:
            found.add(id)
            normal = [dep for dep in nodes[id]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
            waiting += [dep["pkg"] for dep in normal]
    others = [packages[id] for id in found if packages[id]["source"]]
    counts = [(unsafes(Path(package["manifest_path"]).parent), package) for package in others]
    counts.sort(key=lambda one: (-one[0], one[1]["name"]))
    without = sum(count == 0 for count, _ in counts)
    print(f"{len(counts)} dependencies, {without} without unsafe, {sum(count for count, _ in counts)} uses in the others")
    for count, package in counts[: options.most]:
        print(f"{count:6}  {package['name']} {package['version']}")
    ours = sum(unsafes(path.parent / "src") for path in ROOT.glob("crates/*/Cargo.toml")) + unsafes(ROOT / "python" / "src")
    print(f"{ours:6}  in our own code")


main()
