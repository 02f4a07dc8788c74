"""Compares the speed of two builds: training, testing, proving, checking proofs, machines and tables on words and texts.

    python benchmarks/compare.py OLD NEW [--turns 7]

OLD and NEW are two programs `echostack`. Every command runs on one thread, the two programs in turns, and the table has
the median CPU seconds of each, the ratio of the medians, and the smallest and largest ratio of a turn.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from certificates import processor


def seconds(program, *arguments):
    """Returns the CPU seconds of a command."""
    before = processor()
    done = subprocess.run([program, "--quiet", "--threads", "1", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} {' '.join(map(str, arguments))}: {done.stderr}")
    return processor() - before


def commands(program, folder):
    """Yields the commands to time, after writing the files that they need."""
    for task in ("dyck1", "json"):
        seconds(program, "lab", "work", f"task:{task}", "--reservoir", "cycle", "--seed", 0, "-o", folder / f"{task}.work")
        yield f"train and test, {task}", ["lab", "bench", "--work", folder / f"{task}.work", "--repeat", 10, "--json"]
    json = "testdata/grammars/json"
    model, certificate, table = folder / "json.safetensors", folder / "json.certificate", folder / "json.table"
    learn = ["learn", json, "--prove", "--certificate", certificate, "-o", model]
    seconds(program, *learn)
    yield "learn and prove JSON", learn
    yield "check the proof of JSON", ["certify", model, "--against", f"grammar:{json}", "--check", certificate]
    seconds(program, "compile", model, "-o", table)
    draw = random.Random(0)
    words = folder / "words"
    lines = (["["] + ["NUMBER", ","] * draw.randint(1, 500) + ["NUMBER", "]"] for _ in range(400))
    words.write_text("".join(" ".join(line) + "\n" for line in lines))
    many = folder / "many"
    many.write_text(words.read_text() * 40)
    yield "a machine on 200,000 tokens", ["check", model, "--tokens", words]
    yield "a table on 8 million tokens", ["check", table, "--tokens", many]
    text = folder / "text.json"
    text.write_text("[" + ",".join('{"a": [1, 2.5, "x"], "b": null}' for _ in range(100_000)) + "]")
    yield "a table on 3 MB of text", ["check", table, text]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("old")
    options.add_argument("new")
    options.add_argument("--turns", type=int, default=7)
    options = options.parse_args()
    print("| | before, s | now, s | ratio | of a turn |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in commands(options.old, Path(folder)):
            times = [[seconds(program, *arguments) for program in (options.old, options.new)]
                     for _ in range(options.turns)]
            old, new = (statistics.median(turn[side] for turn in times) for side in (0, 1))
            ratios = [turn[1] / turn[0] for turn in times]
            print(f"| {name} | {old:.3f} | {new:.3f} | {new / old:.2f} | {min(ratios):.2f} to {max(ratios):.2f} |", flush=True)


if __name__ == "__main__":
    main()
