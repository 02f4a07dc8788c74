#!/usr/bin/env python3
"""Runs `echostack infer` with 20, 200 and 2,000 files of up to 10 kB as examples.

    benchmarks/infer/many.py run ECHOSTACK json|graphql 20,200,2000 [--option ...]
    benchmarks/infer/many.py oracle json|graphql
    benchmarks/infer/many.py examples json|graphql COUNT FOLDER

The files are random, of 100 to 10,000 characters, and all sizes are equally likely on a logarithmic scale. JSON is judged
by json.loads, GraphQL by the package graphql-core. A row has the number of files and their size together; how the run ended;
queries in all, and until the hypothesis last changed; seconds; CPU seconds of `infer` and of the program; the peak memory of
`infer`; and how many of 300 other files the grammar accepts. Further options are for `infer`.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = "id name user node edges title count total price x y items first last size kind url tag owner at".split()
WORDS = "the quick brown fox jumps over a lazy dog while it rains, and nobody (not even: me) knows why; 7 of 10 do.".split()
FRESH = 300


class Json:
    """A document with records, lists, all kinds of numbers and escapes."""

    @staticmethod
    def valid(text):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return False
        return True

    @staticmethod
    def string(draw):
        words = [draw.choice(WORDS) for _ in range(draw.randint(0, 6))]
        if draw.random() < 0.2:
            words.append(draw.choice(["\\n", '\\"', "\\\\", "\\u00e9", "\\t", "\\/", "é", "中"]))
        return '"' + " ".join(words) + '"'

    def value(self, draw, depth):
        kind = draw.random()
        if depth == 0 or kind < 0.2:
            return draw.choice(["0", "-1", "17", "3.25", "-0.5", "1e9", "2.5E-3", "6e+2", "true", "false", "null"])
        if kind < 0.5:
            return self.string(draw)
        gap = draw.choice(["", " ", "\n" + "  " * (4 - depth)])
        items = range(draw.randint(0, 4))
        if kind < 0.7:
            return "[" + ("," + gap).join(self.value(draw, depth - 1) for _ in items) + "]"
        pairs = (f'"{draw.choice(NAMES)}":{gap}{self.value(draw, depth - 1)}' for _ in items)
        return "{" + gap + ("," + gap).join(pairs) + "}"

    def draw(self, draw, size):
        parts = [self.value(draw, 4)]
        while sum(map(len, parts)) < size:
            parts.append(self.value(draw, 4))
        return draw.choice(["[%s]", "[ %s ]\n", '{"data": [%s]}']) % ", ".join(parts)


class Graphql:
    """A document with queries, mutations, fragments, variables, directives and comments."""

    @staticmethod
    def valid(text):
        from graphql import GraphQLError, parse

        try:
            parse(text, no_location=True)
        except (GraphQLError, RecursionError):
            return False
        return True

    def value(self, draw, depth):
        kind = draw.random()
        if depth == 0 or kind < 0.7:
            plain = ["1", "-20", "0", "2.5", "1e3", '"text"', '"a \\"b\\" {c}"', "true", "false", "null", "ASC", "$v", '""']
            return draw.choice(plain)
        items = range(draw.randint(0, 3))
        if kind < 0.85:
            return "[" + ", ".join(self.value(draw, depth - 1) for _ in items) + "]"
        return "{" + ", ".join(f"{draw.choice(NAMES)}: {self.value(draw, depth - 1)}" for _ in items) + "}"

    def fields(self, draw, depth, indent):
        lines = []
        for _ in range(draw.randint(1, 4)):
            kind = draw.random()
            directive = draw.choice([""] * 6 + [" @include(if: $v)", " @skip(if: true)"])
            if kind < 0.05:
                line = "...Parts" + directive
            elif kind < 0.12 and depth:
                line = "... on User" + directive + " " + self.fields(draw, depth - 1, indent + "  ")
            else:
                line = draw.choice(["", "", "", draw.choice(NAMES) + ": "]) + draw.choice(NAMES)
                if draw.random() < 0.3:
                    count = range(draw.randint(1, 3))
                    line += "(" + ", ".join(f"{draw.choice(NAMES)}: {self.value(draw, 2)}" for _ in count) + ")"
                line += directive
                if depth and draw.random() < 0.4:
                    line += " " + self.fields(draw, depth - 1, indent + "  ")
            if draw.random() < 0.03:
                line += "  # " + " ".join(draw.choice(WORDS) for _ in range(3))
            lines.append(indent + line + "\n")
        return "{\n" + "".join(lines) + indent[2:] + "}"

    def draw(self, draw, size):
        parts = []
        while sum(map(len, parts)) < size:
            name = draw.choice(NAMES).title()
            variables = draw.choice(["", "($v: Int)", "($v: [ID!]!, $n: Int = 10)", '($s: String = "x")'])
            head = draw.choice([f"query {name}{variables} ", f"mutation {name}{variables} ", f"subscription {name} ",
                                f"fragment {name} on User ", "query "])
            parts.append(head + self.fields(draw, 4, "  ") + "\n")
        return "\n".join(parts)


LANGUAGES = {"json": Json(), "graphql": Graphql()}


def texts(name, count, seed):
    """Different valid texts."""
    language, draw, found = LANGUAGES[name], random.Random(seed), set()
    while len(found) < count:
        text = language.draw(draw, int(10 ** draw.uniform(2, 3.7)))
        if 100 <= len(text) <= 10_000 and language.valid(text):
            found.add(text)
    return sorted(found)


def write(name, count, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts(name, count, 1)):
        (folder / f"{number:04}.txt").write_text(text, encoding="utf-8", newline="")


def recall(echostack, inferred, name):
    """How many of other files the inferred grammar accepts."""
    fresh = texts(name, FRESH, 2)
    lines = "".join(json.dumps(text) + "\n" for text in fresh)
    judge = Path(echostack).resolve().parent / "infer_judge"
    done = subprocess.run([judge, inferred], input=lines, capture_output=True, text=True, check=False)
    return sum(line.strip() == "true" for line in done.stdout.splitlines()) if done.returncode == 0 else None


def run(echostack, name, count, options):
    with tempfile.TemporaryDirectory() as folder:
        examples, inferred = Path(folder) / "examples", Path(folder) / "inferred"
        write(name, count, examples)
        size = sum(path.stat().st_size for path in examples.iterdir())
        oracle = f"{sys.executable} {Path(__file__).resolve()} oracle {name}"
        command = [echostack, "infer", "--examples", examples, "--oracle", oracle, "--persistent", "--json", "--quiet"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        measured = ["/usr/bin/env", "python3", "-c", "import os,resource,subprocess,sys; c=subprocess.run(sys.argv[1:]).returncode; "
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(c)"]
        done = subprocess.run([*measured, *command, "-o", inferred, *options], capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        *summary, memory = done.stdout.strip().splitlines() or ["", "0"]
        if not summary:
            return f"{name} {count}: {done.stderr.strip()}"
        found = json.loads("\n".join(summary))
        end = "settled" if found["settled"] else found["reason"]
        return (f"{name} {count} files, {size / 1e6:.2f} MB: {end}; {found['queries']} queries, {found['until_last_change']} until "
                f"the last change; {found['seconds']:.0f} s, {spent:.0f} s of CPU; {int(memory) / 1024:.0f} MB; "
                f"{recall(echostack, inferred, name)} of {FRESH} others accepted")


def main():
    what, *rest = sys.argv[1:]
    if what == "oracle":
        valid = LANGUAGES[rest[0]].valid
        for line in sys.stdin:
            print("true" if valid(json.loads(line)) else "false", flush=True)
    elif what == "examples":
        write(rest[0], int(rest[1]), Path(rest[2]))
    else:
        for count in rest[2].split(","):
            print(run(rest[0], rest[1], int(count), rest[3:]), flush=True)


if __name__ == "__main__":
    main()
