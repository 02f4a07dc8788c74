#!/usr/bin/env python3
"""Kills `echostack infer` ten times at random moments, and lets it finish: the result must be the same, and no text may
be asked twice.

    benchmarks/infer/interrupted.py ECHOSTACK
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KILLS = 10
DOCS = Path(__file__).resolve().parents[2] / "docs" / "infer"


def answers(folder):
    lines = (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)[0] for line in lines[1:]]


def main():
    rng = random.Random(1)
    command = [str(Path(sys.argv[1]).resolve()), "infer", "--examples", str(DOCS / "json"), "--oracle",
               f"python3 '{DOCS / 'oracle.py'}' json", "--persistent", "--quiet", "-o"]
    with tempfile.TemporaryDirectory() as root:
        whole, parts = Path(root) / "whole", Path(root) / "parts"
        subprocess.run([*command, whole], check=True)
        kills = 0
        for _ in range(KILLS):
            with subprocess.Popen([*command, parts]) as process:
                time.sleep(rng.uniform(0.1, 1.2))
                if process.poll() is None:
                    os.kill(process.pid, signal.SIGKILL)
                    kills += 1
        subprocess.run([*command, parts], check=True)
        same = all((whole / name).read_text() == (parts / name).read_text() for name in ("grammar.y", "lexer.l"))
        one, two = answers(whole), answers(parts)
        good = same and len(two) == len(set(two)) and set(one) == set(two)
        print(f"killed {kills} times: the files are {'the same' if same else 'different'}; {len(one)} texts in one run, "
              f"{len(two)} in {kills + 1}, {len(two) - len(set(two))} of them twice")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
