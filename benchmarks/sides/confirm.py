#!/usr/bin/env python3
"""Confirms what `echostack compare` has found: each text is given to each parser directly, without the protocol.

    python3 confirm.py FOUND.json    what `compare --json` printed, for parsers of parsers.py, jq and node

Prints a line for each kind, and at the end how many of them every parser has confirmed.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import parsers

NODE = "try { JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8')) } catch { process.exit(1) }"


def accepts(name, text, folder):
    """Returns whether a parser accepts a text, which is bytes if it is not UTF-8."""
    path = Path(folder, "text")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if name == "jq":
        return subprocess.run(["jq", "--raw-input", "--slurp", "fromjson", path], capture_output=True).returncode == 0
    if name == "node":
        return subprocess.run(["node", "-e", NODE, path], capture_output=True).returncode == 0
    try:
        parsers.load(name)(text)
        return True
    except Exception:  # every exception of a parser means that it refuses the text
        return False


def main():
    confirmed = 0
    kinds = json.loads(Path(sys.argv[1]).read_text())["kinds"]
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            text = bytes(kind["bytes"]) if "bytes" in kind else kind["text"]
            said = {name: True for name in kind["accepted_by"]} | {name: False for name in kind["refused_by"]}
            others = [name for name, expected in said.items() if accepts(name, text, folder) != expected]
            confirmed += not others
            shown = repr(text) if len(text) <= 60 else f"{text[:20]!r}... of {len(text)}"
            print(f"{shown}: {'differs: ' + ', '.join(others) if others else 'confirmed'}", flush=True)
    print(f"{confirmed} of {len(kinds)} kinds are confirmed by every parser")


if __name__ == "__main__":
    main()
