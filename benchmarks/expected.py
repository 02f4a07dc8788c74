#!/usr/bin/env python3
"""Runs small cases of the benchmarks, and compares their outcomes with those in expected.json.

    expected.py [TARGET] [--write] [--only TEXT] [--jobs N]

TARGET is the folder of a build (target/debug). An outcome has only what is the same on every computer and with any number
of threads: sizes, counts, and how a run ended, but no times. A difference is not a mistake by itself: if it is meant, run
with --write, and look at what changed in expected.json. --only runs the cases whose names contain a text.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "benchmarks/expected.json"
# Lua and the larger grammars of testdata/wild take minutes.
GRAMMARS = [f"grammars/{name}" for name in (
    "anbn", "arithmetic", "csv", "dyck1", "dyck2", "dyck3", "json", "json-tokens", "latch", "palindrome", "sexpr", "xml",
)] + ["wild/calculator", "wild/conf", "grammars-large/small-language"]
EXPORTS = ["yacc", "flex", "lark", "gbnf", "llguidance"]
TASKS = ["latch", "dyck1", "dyck2", "dyck3", "anbn", "palindrome", "json"]
# The reservoir, and what a machine sees of the input.
KINDS = [("cycle", "symbol"), ("random", "symbol"), ("legendre", "symbol"), ("cycle", "reservoir")]
# The languages of infer_published, whose texts are in published.json, and the seeds of each. mathexpr takes 120 s.
SEEDS = 3
PUBLISHED = ["arith", "fol", "json", "lisp", "turtle", "while", "xml"]
# The languages of infer_tokens and the learners that end within seconds, and not because of the time limit.
TOKENS = [(name, "modules") for name in (
    "dyck2", "dyck3", "dyck4", "arithmetic", "s-expressions", "json", "anbn", "palindromes", "lambda", "while",
)] + [(name, "reductions") for name in ("dyck2", "dyck3", "s-expressions", "json", "anbn", "palindromes", "dangling else")]
# The sessions of docs/infer.md.
PROGRAMS = {
    "json.loads": "--examples docs/infer/json --oracle 'python3 docs/infer/oracle.py json'",
    "dangling else": "--examples docs/infer/dangling --oracle 'python3 docs/infer/oracle.py dangling' "
    "--tokens docs/infer/dangling.l --learner reductions",
    "palindromes, 8000 queries": "--examples docs/infer/palindromes --oracle 'python3 docs/infer/oracle.py palindromes' "
    "--queries 8000",
}


class Runner:
    """The programs of a build, and a folder for what they write."""

    def __init__(self, target, folder):
        self.target, self.folder = target, folder

    def run(self, program, *arguments, codes=(0,)):
        """Runs a program. Returns what it prints, and its message if it fails with one of the codes that are allowed."""
        command = [str(self.target / program), *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode not in codes:
            raise SystemExit(f"{shlex.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout or done.stderr

    def learn(self, name, *arguments):
        """Learns and proves a machine. Returns its path, and the outcome."""
        path = self.folder / name.replace("/", "-").replace(" ", "-")
        machine, certificate = path.with_suffix(".safetensors"), path.with_suffix(".json")
        told = self.run(
            "echostack", "learn", *arguments, "--prove", "--quiet", "--json", "--certificate", certificate, "-o", machine
        )
        learned = json.loads(told)
        outcome = {name: learned[name] for name in ("proved", "rows", "cells")}
        outcome["rounds"] = len(learned["rounds"])
        outcome["support vectors"] = sum(learned["support"])
        outcome["certificate, bytes"] = certificate.stat().st_size
        return machine, outcome

    def lines(self, command, machine, *arguments):
        """Returns the number of lines of an export or a generated program, or why it is refused."""
        path = machine.with_suffix(f".{arguments[-1]}")
        told = self.run("echostack", command, machine, *arguments, "--quiet", "-o", path, codes=(0, 2))
        return path.read_text().count("\n") if path.exists() else told.strip().replace("echostack:", "refused:")

    def table(self, machine):
        path = machine.with_suffix(".table")
        self.run("echostack", "compile", machine, "--quiet", "-o", path)
        table = json.loads(self.run("echostack", "inspect", path, "--json"))
        return {"table: states": table["states"], "table: actions": table["actions"], "table: bytes": table["bytes"]}

    def grammar(self, name):
        machine, outcome = self.learn(name, f"testdata/{name}")
        outcome |= self.table(machine)
        outcome |= {f"lines of {form}": self.lines("export", machine, "--format", form) for form in EXPORTS}
        outcome |= {f"lines of {form}": self.lines("compile", machine, "--emit", form) for form in ("c", "rust")}
        return outcome

    def task(self, name, reservoir, view):
        case = f"{name} {reservoir} {view}"
        machine, outcome = self.learn(case, f"task:{name}", "--reservoir", reservoir, "--lookahead", view)
        if (reservoir, view) == KINDS[0]:
            outcome["rules"] = self.lines("extract", machine, "--format", "rules")
            outcome |= self.table(machine)
        return outcome

    def published(self, name):
        return self.outcome("infer_published", "benchmarks/infer/published.json", name, "--seeds", SEEDS, "--outcomes")

    def tokens(self, name, learner):
        return self.outcome("infer_tokens", name, "--learner", learner, "--prefixes", 50000, "--outcomes")

    def outcome(self, program, *arguments):
        outcomes = [json.loads(line) for line in self.run(program, *arguments).splitlines()]
        runs = [{name: value for name, value in outcome.items() if name != "case"} for outcome in outcomes]
        # Several runs of one case differ in the seed.
        several = {f"seed {seed}, {name}": run[name] for seed, run in enumerate(runs) for name in run}
        return several if len(runs) > 1 else runs[0]

    def program(self, name):
        folder = self.folder / f"inferred {name}"
        arguments = shlex.split(PROGRAMS[name])
        # The exit code says whether the run is settled.
        told = self.run(
            "echostack", "infer", *arguments, "--persistent", "--quiet", "--json", "-o", folder, codes=(0, 1)
        )
        inferred = json.loads(told)
        outcome = {name: inferred[name] for name in ("settled", "reason", "queries", "states", "tokens")}
        outcome["mistakes in the checks"] = inferred["checks"] and inferred["checks"]["mistakes"]
        outcome["lines of the grammar"] = (folder / "grammar.y").read_text().count("\n")
        return outcome

    def cases(self):
        """Returns a function without arguments for each case, those that take long first."""
        cases = {f"infer a program: {name}": (self.program, name) for name in PROGRAMS}
        cases |= {f"infer a published language: {name}": (self.published, name) for name in PUBLISHED}
        cases |= {f"infer with given tokens: {name}, {how}": (self.tokens, name, how) for name, how in TOKENS}
        cases |= {f"grammar: {name}": (self.grammar, name) for name in GRAMMARS}
        cases |= {
            f"task: {name}, {reservoir}, {view}": (self.task, name, reservoir, view)
            for name in TASKS
            for reservoir, view in KINDS
        }
        return cases


def differences(expected, found):
    """Yields a line for each case and each figure that differs."""
    for case in sorted(expected.keys() | found.keys()):
        if case not in found:
            yield f"{case}: was not run; it is in {FILE.name}"
        elif case not in expected:
            yield f"{case}: is not in {FILE.name}"
        else:
            before, now = expected[case], found[case]
            for name in sorted(before.keys() | now.keys()):
                if before.get(name) != now.get(name):
                    yield f"{case}: {name}: {before.get(name)!r} expected, {now.get(name)!r} found"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", type=Path, default=ROOT / "target/debug")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        runner = Runner(options.target.resolve(), Path(folder))
        cases = {name: pool.submit(*call) for name, call in runner.cases().items() if options.only in name}
        found = {name: case.result() for name, case in cases.items()}
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    others = {name: outcome for name, outcome in known.items() if options.only not in name}
    problems = list(differences({name: known[name] for name in known.keys() - others.keys()}, found))
    if options.write:
        lines = [f"  {json.dumps(name)}: {json.dumps(outcome)}" for name, outcome in sorted((others | found).items())]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    times = os.times()
    took = f"{time.monotonic() - began:.0f} s, {times.children_user + times.children_system:.0f} CPU s"
    print("\n".join([*problems, f"{len(found)} cases, {len(problems)} differences; {took}"]))
    if problems and not options.write:
        print("if this is meant: benchmarks/expected.py --write")
    return bool(problems) and not options.write


if __name__ == "__main__":
    sys.exit(main())
