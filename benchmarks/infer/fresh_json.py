#!/usr/bin/env python3
"""Compares a model with json.loads on 10,000 texts, and prints how many differ.

    benchmarks/infer/fresh_json.py ECHOSTACK MODEL

Half of the texts are json.dumps of random values, with odd spacing, escapes and characters of all of Unicode. The other
half are these with one to three edits.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

COUNT = 5000
rng = random.Random(7)


def refuse(name):
    raise ValueError(name)


def valid(text):
    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def letter():
    kind = rng.random()
    if kind < 0.6:
        return rng.choice('abz09 \\"/\b\f\n\r\t#{}[]:,-+.eE!~')
    if kind < 0.8:
        return chr(rng.randrange(0x80, 0x3000))
    code = rng.randrange(0, 0x110000)
    return "x" if 0xD800 <= code < 0xE000 else chr(code)


def value(depth):
    kind = rng.random()
    if depth == 0 or kind < 0.5:
        text = "".join(letter() for _ in range(rng.randrange(8)))
        number = rng.random() * 10 ** rng.randrange(-9, 9)
        return rng.choice([None, True, False, rng.randrange(-1000, 1000), number, text, -0.0, 0])
    if kind < 0.75:
        return [value(depth - 1) for _ in range(rng.randrange(4))]
    keys = ["".join(letter() for _ in range(rng.randrange(5))) for _ in range(rng.randrange(4))]
    return {key: value(depth - 1) for key in keys}


def drawn():
    return json.dumps(value(4), ensure_ascii=rng.random() < 0.3, indent=rng.choice([None, None, 0, 1, "\t"]),
                      separators=rng.choice([None, (",", ":"), (" , ", "\r:\n")]))


def edited(text):
    letters = list(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, kind = rng.randrange(len(letters) + 1), rng.randrange(4)
        if kind == 0 and at < len(letters):
            del letters[at]
        elif kind == 1:
            letters.insert(at, letter())
        elif kind == 2 and at < len(letters):
            letters[at] = letter()
        elif kind == 3 and at + 1 < len(letters):
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
    return "".join(letters)


def main():
    echostack, model = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    texts = [drawn() for _ in range(COUNT)]
    texts += [edited(rng.choice(texts)) for _ in range(COUNT)]
    verdicts = {}
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{number:05}" for number in range(len(texts))]
        for name, text in zip(names, texts):
            (Path(folder) / name).write_text(text, encoding="utf-8", newline="")
        for start in range(0, len(names), 1000):
            run = subprocess.run([echostack, "check", model, *names[start:start + 1000]], cwd=folder, capture_output=True,
                                 text=True, check=False)
            for line in run.stdout.splitlines():
                name, _, verdict = line.partition(":")
                if name.isdigit() and len(name) == 5:
                    verdicts[name] = verdict.strip() == "accept"
    differ = [text for name, text in zip(names, texts) if verdicts.get(name) != valid(text)]
    print(f"{len(differ)} of {len(texts)} texts differ, {sum(map(valid, texts))} are valid")
    for text in differ[:5]:
        print(repr(text))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
