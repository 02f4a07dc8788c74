#!/usr/bin/env python3
"""Kills commands while they write, and lets them write where there is no room: what is left must be whole.

faults.py ECHOSTACK [--kills N] [--seed N]

Each command that writes files runs again and again over its old output, and is killed (SIGKILL) at a random moment, half of
the time near its end. Afterwards each file must be the old one or the new one, to the byte. A reproduction and an inference
are killed and resumed until they are done; the result must be that of a run in one piece. On a file system of 64 KiB, on
one that is read-only, and in a folder that vanishes, the commands must end with a message and leave the old files alone;
this part needs the right to mount and is skipped without it. A closed pipe must end a command quietly.
"""

import argparse
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ORACLE = """import json, sys
for line in sys.stdin:
    depth, ok = 0, True
    for letter in json.loads(line):
        depth += {"(": 1, ")": -1}.get(letter, -10**6)
        ok = ok and depth >= 0
    print(json.dumps(ok and depth == 0), flush=True)
"""


def writers(folder):
    """Returns the commands that write: a name, what it writes, and the arguments for one of two seeds."""
    model, out = folder / "model.safetensors", folder / "out"
    small = ["--neurons", "32", "--quiet"]
    return [
        ("learn", [out], lambda seed: ["learn", "task:anbn", "--seed", seed, *small, "-o", out]),
        (
            "learn --prove",
            [out, folder / "certificate"],
            lambda seed: ["learn", "task:dyck1", "--prove", "--seed", seed, *small, "-o", out, "--certificate", folder / "certificate"],
        ),
        (
            "construct",
            [out],
            lambda seed: ["construct", ["task:anbn", "task:dyck1"][int(seed) - 1], "-o", out, "--quiet"],
        ),
        ("teach", [out], lambda seed: ["teach", "task:dyck3", "--count", "2000", "--seed", seed, "-o", out]),
        ("lab work", [out], lambda seed: ["lab", "work", "task:dyck1", "--seed", seed, "-o", out]),
        ("extract", [out], lambda seed: ["extract", model, "--format", ["json", "dot"][int(seed) - 1], "-o", out, "--quiet"]),
        ("compile", [out], lambda seed: ["compile", model if seed == "1" else folder / "other.safetensors", "-o", out, "--quiet"]),
        (
            "compile --emit c",
            [folder / "out.c", folder / "out.h"],
            lambda seed: ["compile", model, "--emit", "c", "--prefix", f"p{seed}", "-o", folder / "out.c", "--quiet"],
        ),
        (
            "certify --write-automaton",
            [out],
            lambda seed: ["certify", [model, folder / "other.safetensors"][int(seed) - 1], "--against",
                          ["task:dyck1", "task:anbn"][int(seed) - 1], "--write-automaton", out, "--quiet"],
        ),
    ]


class Trial:
    def __init__(self, echostack, folder, random):
        self.echostack, self.folder, self.random, self.broken = str(echostack), folder, random, []

    def run(self, arguments, **options):
        command = [self.echostack, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, **options)

    def must(self, arguments):
        done = self.run(arguments)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, arguments))} failed: {done.stderr}")

    def kill(self, arguments, after):
        """Starts a command and kills it after some seconds. Returns whether it was still running."""
        process = subprocess.Popen(
            [self.echostack, *map(str, arguments)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(after)
            return False
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return True

    def moment(self, seconds):
        near = self.random.random() < 0.5
        return seconds * (self.random.uniform(0.8, 1.1) if near else self.random.uniform(0, 1))

    def report(self, what):
        self.broken.append(what)
        print("BROKEN:", what)

    def writer(self, name, paths, arguments, kills):
        content = {}
        seconds = 0
        for seed in "21":
            start = time.monotonic()
            self.must(arguments(seed))
            seconds = time.monotonic() - start
            content[seed] = [path.read_bytes() for path in paths]
        if content["1"] == content["2"]:
            sys.exit(f"{name} writes the same for both seeds, so that nothing can be seen")
        killed, counts = 0, {"old": 0, "new": 0, "broken": 0}
        for round in range(kills):
            old, new = "12"[round % 2], "21"[round % 2]
            for path, bytes in zip(paths, content[old]):
                path.write_bytes(bytes)
            killed += self.kill(arguments(new), self.moment(seconds))
            for path, before, after in zip(paths, content[old], content[new]):
                found = path.read_bytes() if path.exists() else None
                if found not in (before, after):
                    counts["broken"] += 1
                    self.report(f"{name}: {path.name} has {len(found or b'')} bytes, not {len(before)} or {len(after)}")
                else:
                    counts["old" if found == before else "new"] += 1
        print(f"{name}: {killed} of {kills} killed, files {counts}")
        return killed

    def resumed(self, name, arguments, result, kills):
        """Kills a run that can be resumed, and resumes it until it is done."""
        whole = self.folder / "whole"
        start = time.monotonic()
        self.must(arguments(whole))
        seconds = time.monotonic() - start
        killed = 0
        while killed < kills:
            parts = self.folder / "parts"
            shutil.rmtree(parts, ignore_errors=True)
            for _ in range(1000):
                if not self.kill(arguments(parts), self.moment(0.6 * seconds)):
                    break
                killed += 1
                if killed >= kills:
                    self.must(arguments(parts))
                    break
            if result(parts) != result(whole):
                self.report(f"{name}: the resumed run has another result")
        print(f"{name}: {killed} killed, results equal")
        return killed

    def refused(self, kind, folder, before=()):
        """Runs every writer where it cannot write. It must say so, and leave what is there."""
        for name, paths, arguments in writers(folder):
            left = {path: path.read_bytes() for path in before if path.exists()}
            done = self.run(arguments("2"))
            if done.returncode not in (1, 2, 3) or not done.stderr or "panicked" in done.stderr:
                self.report(f"{kind}, {name}: exit code {done.returncode}, {done.stderr[:200]!r}")
            if {path: path.read_bytes() for path in before if path.exists()} != left:
                self.report(f"{kind}, {name}: an old file has changed")
        print(f"{kind}: {len(writers(folder))} commands, each with a message")


def record(folder):
    lines = (folder / "record.jsonl").read_text().splitlines()
    parsed = [json.loads(line) for line in lines]
    for line in parsed:
        for key in [key for key in line if key.endswith("seconds")]:
            del line[key]
    return sorted(json.dumps(line, sort_keys=True) for line in parsed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("echostack", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trial = Trial(options.echostack.resolve(), folder, random.Random(options.seed))
        small = ["--neurons", "32", "--quiet", "--prove"]
        trial.must(["learn", "task:dyck1", *small, "-o", folder / "model.safetensors"])
        trial.must(["learn", "task:anbn", *small, "-o", folder / "other.safetensors"])
        every = writers(folder)
        each = max(1, options.kills // (len(every) + 2))
        killed = sum(trial.writer(name, paths, arguments, each) for name, paths, arguments in every)

        specification = folder / "spec.toml"
        specification.write_text(
            'tasks = ["anbn", "dyck1"]\nmodels = ["CRJ-RSM"]\ndraws = 3\nvalidation_sets = 1\nrepeats = 4\n'
            '[[tests]]\nname = "valid"\nwords = 20\n'
        )
        killed += trial.resumed(
            "reproduce", lambda out: ["lab", "reproduce", "--spec", specification, "-o", out, "--quiet"], record, each
        )
        (folder / "oracle.py").write_text(ORACLE)
        examples = folder / "examples"
        examples.mkdir()
        for number, text in enumerate(["()", "(()())", "()()", ""]):
            (examples / str(number)).write_text(text)
        infer = lambda out: [
            "infer", "--examples", examples, "--oracle", f"{sys.executable} {folder / 'oracle.py'}", "--persistent",
            "-o", out, "--quiet",
        ]  # fmt: skip
        result = lambda out: [(out / name).read_bytes() for name in ("grammar.y", "lexer.l")]
        left = options.kills - killed
        killed += trial.resumed("infer", infer, result, max(1, left))
        print(f"{killed} kills")

        reader = subprocess.Popen(
            [trial.echostack, "sample", "task:dyck1", "--count", "100000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        )
        reader.stdout.readline()
        reader.stdout.close()
        message = reader.stderr.read().decode()
        reader.wait()
        if message:
            trial.report(f"closed pipe: {message[:200]}")
        else:
            print(f"closed pipe: no message, exit code {reader.returncode}")

        disk = folder / "disk"
        disk.mkdir()
        copied = ["model.safetensors", "other.safetensors"]
        for kind, mount in [("full disk", "size=64k"), ("read-only", "size=4m")]:
            done = subprocess.run(["mount", "-t", "tmpfs", "-o", mount, "tmpfs", disk], capture_output=True, text=True)
            if done.returncode:
                print(f"{kind}: not tried, because mounting is not possible here ({done.stderr.strip()})")
                continue
            try:
                if kind == "full disk":
                    # Everything but the models themselves is written to the small disk, which is full.
                    (disk / "out").write_bytes(b"old")
                    (disk / "filling").write_bytes(b"x" * (1 << 15))
                    with open(disk / "rest", "wb", buffering=0) as rest:
                        try:
                            while True:
                                rest.write(b"x" * 512)
                        except OSError:
                            pass
                    for name in copied:
                        (disk / name).symlink_to(folder / name)
                else:
                    for name in copied:
                        shutil.copy(folder / name, disk / name)
                    (disk / "out").write_bytes(b"old")
                    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
                trial.refused(kind, disk, [disk / "out"])
            finally:
                subprocess.run(["umount", disk], check=True)
        gone = folder / "gone"
        gone.mkdir()
        for name in copied:
            shutil.copy(folder / name, gone / name)
        for name, paths, arguments in writers(gone):
            elsewhere = [re.sub("^" + re.escape(str(gone / "out")), str(gone / "no" / "out"), str(word)) for word in arguments("1")]
            done = trial.run(elsewhere)
            if done.returncode == 0 or not done.stderr or "panicked" in done.stderr:
                trial.report(f"folder that does not exist, {name}: exit code {done.returncode}, {done.stderr[:200]!r}")
        print(f"folder that does not exist: {len(every)} commands, each with a message")
        if trial.broken:
            sys.exit(f"{len(trial.broken)} problems")


main()
