#!/usr/bin/env python3
"""Compares an inferred grammar with the program it was inferred from: on held-out texts, and on near misses.

Usage: evaluate.py JUDGE FOLDER HELD_OUT COMMAND [--persistent] [--near-misses 1000] [--seed 0]

JUDGE is target/debug/infer_judge (`cargo build --bin infer_judge`), and FOLDER is what `echostack infer` wrote. HELD_OUT
has one text per line, as a JSON string. A near miss is a held-out text with one to three random edits.
"""

import argparse
import json
import random
import shlex
import subprocess
import tempfile
from pathlib import Path


def answers(command, persistent, texts, folder):
    """Returns what the program says about each text."""
    words = shlex.split(command)
    if persistent:
        lines = "".join(json.dumps(text) + "\n" for text in texts)
        done = subprocess.run(words, input=lines, capture_output=True, text=True, check=True)
        return [line == "true" for line in done.stdout.splitlines()]
    out, path = [], folder / "text"
    for text in texts:
        path.write_bytes(text.encode())
        given = [word.replace("{}", str(path)) for word in words]
        text = None if "{}" in command else text.encode()
        out.append(subprocess.run(given, input=text, capture_output=True).returncode == 0)
    return out


def damaged(draw, texts):
    """Returns a text with one to three edits: a character or a piece of a text put in, left out or replaced."""
    text = draw.choice(texts)
    for _ in range(draw.randint(1, 3)):
        other = draw.choice(texts)
        at, begin = draw.randrange(len(text) + 1), draw.randrange(len(other) + 1)
        piece = draw.choice(["", other[begin : begin + 1], other[begin : begin + draw.randint(1, 6)]])
        text = text[:at] + piece + text[at + draw.choice([0, 1, 2]) :]
    return text


def main():
    options = argparse.ArgumentParser()
    options.add_argument("judge")
    options.add_argument("folder")
    options.add_argument("held_out", type=Path)
    options.add_argument("command")
    options.add_argument("--persistent", action="store_true")
    options.add_argument("--near-misses", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    held_out = [json.loads(line) for line in given.held_out.read_text().splitlines()]
    draw = random.Random(given.seed)
    near = sorted({damaged(draw, held_out) for _ in range(given.near_misses)})
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, texts in ("held out", held_out), ("near misses", near):
            truth = answers(given.command, given.persistent, texts, folder)
            found = answers(shlex.join([given.judge, given.folder]), True, texts, folder)
            if not len(texts) == len(truth) == len(found):
                raise SystemExit("an answer is missing")
            missed = [text for text, is_valid, is_found in zip(texts, truth, found) if is_valid and not is_found]
            extra = [text for text, is_valid, is_found in zip(texts, truth, found) if is_found and not is_valid]
            print(f"{name}: {len(texts)} texts, {sum(truth)} valid; {len(missed)} valid ones rejected, {len(extra)} others accepted")
            for kind, found in ("rejected", missed), ("accepted", extra):
                for text in sorted(found, key=len)[:8]:
                    print(f"  {kind}: {json.dumps(text)}")


if __name__ == "__main__":
    main()
