#!/usr/bin/env python3
"""Which disagreements on a folder of texts `echostack compare` has found without them.

    python3 suite.py FOUND.json FOLDER NAME=COMMAND ...            texts that are UTF-8
    python3 suite.py --bytes FOUND.json FOLDER NAME=COMMAND ...    all texts, for programs that read bytes

FOUND.json is what `compare --json` printed for the same programs, which stay open. A text of the folder counts as found if
there is a kind on which all programs say the same.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path


def ask(process, text):
    process.stdin.write(json.dumps(text) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def main():
    by_bytes = sys.argv[1] == "--bytes"
    found, folder, *sides = sys.argv[2:] if by_bytes else sys.argv[1:]
    programs = {}
    for side in sides:
        name, command = side.split("=", 1)
        programs[name] = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    kinds = {frozenset(kind["accepted_by"]): kind["text"] for kind in json.loads(Path(found).read_text())["kinds"]}
    texts = differ = 0
    missed, left_out = {}, []
    for path in sorted(Path(folder).iterdir()):
        try:
            text = path.read_bytes().decode("latin-1" if by_bytes else "utf-8")
        except UnicodeDecodeError:
            left_out.append(path.name)
            continue
        texts += 1
        accepted = frozenset(name for name, process in programs.items() if ask(process, text))
        if 0 < len(accepted) < len(programs):
            differ += 1
            if accepted not in kinds:
                missed.setdefault(accepted, []).append((path.name, text[:40]))
    print(f"{texts} texts, {len(left_out)} more are not UTF-8; the programs disagree on {differ}, "
          f"of which {differ - sum(map(len, missed.values()))} are as in a kind that was found")
    for accepted, names in missed.items():
        print(f"  accepted by {', '.join(sorted(accepted))}: {names}")
    for process in programs.values():
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()
