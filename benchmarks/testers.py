#!/usr/bin/env python3
"""Measures `sample --texts` on grammars, and asks `check` about every text. Prints Markdown tables.

    benchmarks/testers.py ECHOSTACK GRAMMAR ... [--texts 10000]

All times are of the whole program, from its start: CPU time of the process, and wall time until the first byte of the first
text and until the end. Speeds are texts per second of CPU time, without what the first text takes. `check` reads the grammar
as its model; a text counts as wrong if its verdict is another one, or its first mistake is at another byte, or if a text
occurs twice.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Run:
    """A finished run: what it printed, its messages, CPU seconds, and wall seconds to the first byte and in all."""

    def __init__(self, command):
        begin = time.monotonic()
        with tempfile.TemporaryFile() as messages:
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=messages)
            first = os.read(child.stdout.fileno(), 1)
            self.first = time.monotonic() - begin
            self.out = first + child.stdout.read()
            _, status, usage = os.wait4(child.pid, 0)
            self.wall = time.monotonic() - begin
            messages.seek(0)
            self.messages = messages.read().decode()
        self.code = child.returncode = os.waitstatus_to_exitcode(status)
        self.cpu = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss / 1024


def wrong(echostack, grammar, drawn, folder):
    """Writes texts to files, and returns how many `check` judges in another way."""
    names = [f"{number}.txt" for number in range(len(drawn))]
    for name, one in zip(names, drawn):
        (folder / name).write_bytes(one["text"].encode())
    checked = subprocess.run([echostack, "check", "--json", grammar, *names], cwd=folder, capture_output=True, text=True)
    verdicts = {verdict["file"]: verdict for verdict in map(json.loads, checked.stdout.splitlines())}
    differing = len(drawn) - len({one["text"] for one in drawn})
    for name, one in zip(names, drawn):
        verdict = verdicts[name]
        same = (verdict["verdict"] == "accept") == one["valid"]
        if same and not one["valid"]:
            same = all(verdict[key] == one[key] for key in ["byte", "line", "column"])
        differing += not same
        if not same:
            print("differs:", grammar, one, verdict, file=sys.stderr)
    return differing


def measure(echostack, grammar, texts):
    """Returns the cells of a row about one grammar."""
    sample = [echostack, "sample", grammar, "--texts"]
    first = Run([*sample, "--count", "1"])
    if first.code:
        return [first.messages.splitlines()[0][:100]]
    cells = [f"{first.cpu:.2f}", f"{first.first:.2f}"]
    for kind in ["valid", "near-miss"]:
        # The first near miss of a grammar with precedences prepares more than the first valid text.
        start = first if kind == "valid" else Run([*sample, "--count", "1", "--kind", kind])
        run = Run([*sample, "--count", str(texts), "--kind", kind, "--json"])
        drawn = [json.loads(line) for line in run.out.splitlines()]
        with tempfile.TemporaryDirectory() as folder:
            differing = wrong(echostack, grammar, drawn, Path(folder))
        speed = len(drawn) / max(run.cpu - start.cpu, 0.001)
        cells += [f"{speed:,.0f}", f"{differing} of {len(drawn):,}"]
    for what in ["productions", "pairs"]:
        run = Run([*sample, "--cover", what, "--json"])
        *drawn, coverage = [json.loads(line) for line in run.out.splitlines()]
        with tempfile.TemporaryDirectory() as folder:
            differing = wrong(echostack, grammar, drawn, Path(folder))
        assert differing == 0
        reached = f"{coverage['reached']}/{coverage['total']}"
        reasons = [(coverage["forbidden"], "forbidden"), (coverage["unwritable"], "unwritable"),
                   (coverage["missing"], "missing")]
        reached += "".join(f", {len(list_)} {reason}" for list_, reason in reasons if list_)
        cells += [reached, str(len(drawn)), f"{run.cpu:.2f}"]
    return cells


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("echostack", type=Path)
    options.add_argument("grammars", type=Path, nargs="+", metavar="GRAMMAR")
    options.add_argument("--texts", type=int, default=10_000)
    options = options.parse_args()
    heads = ["grammar", "first text, CPU s", "wall s", "valid/s", "wrong", "near misses/s", "wrong", "productions", "texts",
             "CPU s", "pairs", "texts", "CPU s"]
    print("|", " | ".join(heads), "|\n|" + "---|" * len(heads))
    for grammar in options.grammars:
        cells = measure(options.echostack.resolve(), grammar.resolve(), options.texts)
        print("|", grammar.name, "|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    sys.exit(main())
