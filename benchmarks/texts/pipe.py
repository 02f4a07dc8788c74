"""Checks 100 MB of JSON text from a pipe, in turns with Python's json.load.

    python benchmarks/texts/pipe.py target/release/echostack [--megabytes 100] [--rounds 5] [--keep FILE]

Prints a table with the CPU seconds (user and system) and the peak memory of each process. The text consists of records
with strings, numbers, lists and objects, drawn with a fixed seed.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon".split()


def record(draw):
    """Returns a record."""
    words = lambda most: " ".join(draw.choices(WORDS, k=draw.randrange(most)))
    place = {"street": f"{draw.randrange(999)} {draw.choice(WORDS)} St", "zip": str(draw.randrange(99999))}
    place["geo"] = [round(draw.uniform(-90, 90), 6), round(draw.uniform(-180, 180), 6)]
    return {
        "id": draw.randrange(10**8),
        "name": " ".join(draw.choices(WORDS, k=2)),
        "active": draw.random() < 0.5,
        "score": round(draw.random() * 1000, 3),
        "tags": draw.choices(WORDS, k=draw.randrange(5)),
        "address": place,
        "note": None if draw.random() < 0.3 else words(20),
    }


def write_text(path, megabytes):
    """Writes a JSON text of this size to a file, and returns its length. This process must stay small: the peak memory
    of a child is at least that of its parent."""
    draw, size = random.Random(0), 0
    with open(path, "w") as out:
        while size < megabytes * 1e6:
            size += out.write(("[" if size == 0 else ",\n") + json.dumps(record(draw)))
        return size + out.write("]")


def measure(command, path):
    """Runs a command with the text on a pipe. Returns its CPU seconds and its peak memory in MiB."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    with open(path, "rb") as source, process.stdin as pipe:
        shutil.copyfileobj(source, pipe)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", help="also write the text to this file")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or f"{folder}/text.json"
        size = write_text(path, args.megabytes)
        model, table = f"{folder}/json.safetensors", f"{folder}/json.table"
        quiet = [args.program, "--quiet"]
        subprocess.run([*quiet, "learn", "testdata/grammars/json", "--prove", "-o", model], check=True)
        subprocess.run([*quiet, "compile", model, "-o", table], check=True)
        commands = {
            "echostack check json.table": [args.program, "check", table, "-"],
            "json.load": [sys.executable, "-c", "import json, sys; json.load(sys.stdin.buffer)"],
        }
        seen = {name: [] for name in commands}
        for _ in range(args.rounds):
            for name, command in commands.items():
                seen[name].append(measure(command, path))
    print(f"| {size} bytes from a pipe | CPU s, median | minimum | maximum | peak MiB |\n|---|---|---|---|---|")
    for name, runs in seen.items():
        seconds = [run[0] for run in runs]
        print(f"| {name} | {statistics.median(seconds):.2f} | {min(seconds):.2f} | {max(seconds):.2f} | {max(run[1] for run in runs):.0f} |")


if __name__ == "__main__":
    main()
