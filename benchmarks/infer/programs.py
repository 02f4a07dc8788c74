#!/usr/bin/env python3
"""Compares grammars that were inferred from real programs with these programs, on more texts than the learner saw.

    benchmarks/infer/programs.py TARGET PROGRAMS INFERRED [NAME...]

TARGET is the folder of a build (target/debug), with echostack and infer_judge. PROGRAMS is a folder of a benchmark of
programs: `PROGRAMS/bench.py oracle NAME` answers true or false to one JSON string per line, and the functions `language`,
`fresh`, `near` and `edited` give examples, valid texts that are no examples, and near misses. INFERRED/NAME is what
`echostack infer` wrote. A row has, for each language:

- recall: of 300 valid texts that are no examples, and of those whose words all occur in examples
- distance one: all texts that differ from an example in one character (of printable ASCII, a tab or a line feed)
- near: 10,000 near misses of examples and of valid texts whose words all occur in examples
- drawn: 10,000 texts of the grammar

Each has the numbers of valid texts that the grammar rejects and of invalid ones that it accepts. A language is right if
the last three have none. Texts to which the program gives no answer within two seconds are left out.
"""

import json
import random
import re
import select
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
LETTERS = [chr(code) for code in range(32, 127)] + ["\t", "\n"]
NEAR, DRAWN, FRESH = 10_000, 10_000, 300
PATIENCE = 2


class Program:
    """A program that stays open. It is started again after a text that takes too long."""

    def __init__(self, command):
        self.command, self.process = command, None

    def ask(self, text):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.process.stdin.write(json.dumps(text).encode() + b"\n")
            self.process.stdin.flush()
            if select.select([self.process.stdout], [], [], PATIENCE)[0]:
                line = self.process.stdout.readline().strip()
                if line in (b"true", b"false"):
                    return line == b"true"
        except BrokenPipeError:
            pass
        self.process.kill()
        self.process.wait()
        self.process = None
        return None


def judged(target, folder, texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([target / "infer_judge", folder], input=lines, capture_output=True, text=True, check=True)
    return [line == "true" for line in done.stdout.split("\n") if line]


def words(text):
    return set(re.findall(r"[A-Za-z_]+|[^\w\s]", text))


def is_known(text, known):
    return all(len(word) == 1 and word.isalpha() or word in known for word in words(text))


def neighbors(examples):
    found = set()
    for text in examples:
        for at in range(len(text) + 1):
            found.add(text[:at] + text[at + 1 :])
            for letter in LETTERS:
                found.add(text[:at] + letter + text[at:])
                found.add(text[:at] + letter + text[at + 1 :])
    return sorted(found)


def near_misses(bench, base):
    draw, pool, found = random.Random(5), sorted({letter for text in base for letter in text}), set()
    for _ in range(50 * NEAR):
        if len(found) == NEAR:
            break
        found.add(bench.edited(draw.choice(base), draw, pool))
    return sorted(found - set(base))


def drawn(target, folder):
    command = [target / "echostack", "sample", folder, "--texts", "--json", "--count", str(DRAWN), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [json.loads(line)["text"] for line in done.stdout.split("\n") if line]


def row(bench, target, programs, inferred, name):
    folder = inferred / name
    if not (folder / "grammar.y").exists():
        return f"| {name} | no grammar |"
    examples = list(bench.language(name).EXAMPLES)
    known = set().union(*map(words, examples))
    fresh = bench.fresh(name, FRESH)
    few = [text for text in fresh if is_known(text, known)]
    base = examples + [text for text in bench.fresh(name, 4 * FRESH, 7) if is_known(text, known)]
    program = Program([sys.executable, str(programs / "bench.py"), "oracle", name])
    cells, shown = [], []
    recall = [sum(judged(target, folder, texts)) for texts in (fresh, few)]
    cells.append(f"{recall[0]} of {len(fresh)}, {recall[1]} of {len(few)}")
    for texts in (neighbors(examples), near_misses(bench, base), drawn(target, folder)):
        answers = [program.ask(text) for text in texts]
        both = list(zip(texts, answers, judged(target, folder, texts)))
        rejected = [text for text, valid, accepted in both if valid is True and not accepted]
        accepted = [text for text, valid, accepted in both if valid is False and accepted]
        shown += rejected[:2] + accepted[:2]
        cells.append(f"{len(rejected)}, {len(accepted)} of {sum(answer is not None for answer in answers)}")
    right = all(cell.startswith("0, 0 of") for cell in cells[1:])
    return f"| {name} | {'**right**' if right else 'not right'} | {' | '.join(cells)} | {' '.join(map(repr, shown[:4]))[:160]} |"


def main():
    target, programs, inferred = (Path(argument).resolve() for argument in sys.argv[1:4])
    sys.path.insert(0, str(programs))
    import bench

    names = sys.argv[4:] or sorted(path.name for path in inferred.iterdir() if path.is_dir())
    print("| language | | recall: all, known words | distance one: rejected, accepted | near | drawn | such as |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        print(row(bench, target, programs, inferred, name), flush=True)


if __name__ == "__main__":
    main()
