#!/usr/bin/env python3
"""Measures an inferred grammar next to one that was written by hand, and on 20,000 texts next to the program.

    benchmarks/infer/readable.py TARGET INFERRED REFERENCE COMMAND

TARGET is the folder of a build, with echostack and infer_judge. INFERRED and REFERENCE are folders with grammar.y and
lexer.l. COMMAND is the program as `infer --persistent` runs it: one JSON string per line, answered by true or false. Prints
rules, productions, symbols on both sides of rules, and tokens of both; then of how many texts the program and the reference
have another opinion than the inferred grammar. Half of the texts are drawn from it, the others are these with one to three
edits.
"""

import json
import random
import re
import select
import shlex
import subprocess
import sys
from pathlib import Path

DRAWN, PATIENCE = 10_000, 2


def size(folder):
    text = (folder / "grammar.y").read_text()
    rules = re.sub(r"^//.*$", "", text, flags=re.M).split("%%", 1)[1]
    rules = re.split(r"%%\s*$", rules)[0]
    tokens = re.findall(r"'(?:[^'\\]|\\.)+'|[A-Za-z_]\w*|%empty|[:|;]", rules)
    names = [token for token, after in zip(tokens, tokens[1:] + [""]) if after == ":"]
    others = [token for token in tokens if token not in (":", "|", ";", "%empty")]
    lexer = (folder / "lexer.l").read_text().split("%%", 1)[1]
    found = {line.rsplit(" ", 1)[1] for line in lexer.splitlines() if line.endswith('"')}
    return len(names), len(names) + tokens.count("|"), len(others), len(found)


def judged(target, folder, texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([target / "infer_judge", folder], input=lines, capture_output=True, text=True, check=False)
    return done.returncode == 0 and [line == "true" for line in done.stdout.split("\n") if line]


def asked(command, texts):
    """The program's answers; None where there is none in time."""
    process, answers = None, []
    for text in texts:
        if process is None:
            process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(json.dumps(text).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline() if select.select([process.stdout], [], [], PATIENCE)[0] else b""
        answers.append({b"true": True, b"false": False}.get(line.strip()))
        if answers[-1] is None:
            process.kill()
            process.wait()
            process = None
    if process:
        process.kill()
        process.wait()
    return answers


def edited(text, draw, letters):
    text = list(text)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        at, kind = draw.randrange(len(text) + 1), draw.randrange(4)
        if kind == 0 and at < len(text):
            del text[at]
        elif kind == 1:
            text.insert(at, draw.choice(letters))
        elif kind == 2 and at < len(text):
            text[at] = draw.choice(letters)
        elif kind == 3 and at + 1 < len(text):
            text[at], text[at + 1] = text[at + 1], text[at]
    return "".join(text)


def main():
    target, inferred, reference = (Path(argument).resolve() for argument in sys.argv[1:4])
    command = [target / "echostack", "sample", inferred, "--texts", "--json", "--count", str(DRAWN), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    texts = [json.loads(line)["text"] for line in done.stdout.split("\n") if line]
    draw = random.Random(1)
    letters = sorted({letter for text in texts for letter in text if letter.isascii()})
    texts += [edited(text, draw, letters) for text in texts]
    accepted = judged(target, inferred, texts)
    answers = asked(sys.argv[4], texts)
    differ = [text for text, own, other in zip(texts, accepted, answers) if other is not None and own != other]
    print(f"inferred {size(inferred)}")
    if reference.exists():
        print(f"by hand {size(reference)}, symbols {size(inferred)[2] / size(reference)[2]:.2f}")
        # A grammar that is written by hand need not be LR(1).
        if other := judged(target, reference, texts):
            apart = [text for text, own, by_hand in zip(texts, accepted, other) if own != by_hand]
            print(f"{len(apart)} of {len(texts)} texts differ from it {[*map(ascii, apart[:3])]}")
    missing = answers.count(None)
    print(f"{len(texts)} texts, {sum(accepted)} accepted; {len(differ)} differ from the program, {missing} without an answer")
    for text in differ[:3]:
        print(ascii(text))


if __name__ == "__main__":
    main()
