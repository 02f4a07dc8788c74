"""Draws texts with fuzzers that read ANTLR's grammars, and counts those that a program accepts.

Usage: fuzzers.py GRAMMAR [--tools grammarinator fandango] [--accepts json] [--count 1000] [--seed 0]

GRAMMAR is a .g4 file, or a grammar that `--program ECHOSTACK` exports. `--accepts` is `json`, a Python function as
MODULE:FUNCTION that returns false or raises an exception for a text it does not accept, or a command that reads a text
on its standard input and ends with 0 if it accepts it. Prints the first texts that are not accepted, and the CPU
seconds of each fuzzer. Exits with 1 if a fuzzer fails or draws fewer texts than it should, or if less than `--least` (a
fraction) of them is accepted.

The packages: pip install grammarinator fandango-fuzzer
"""
import argparse
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def called(*command, **options):
    """Runs a command; ends the program with its messages if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    if done.returncode:
        sys.exit(f"{Path(command[0]).name}: {done.stderr.strip() or done.stdout.strip()}")


def script(name):
    """The path of a program of a Python package, which may be in an environment that is not active."""
    path = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    return path or sys.exit(f"{name} is missing: pip install grammarinator fandango-fuzzer")


def with_grammarinator(grammar, options, folder):
    """Texts that Grammarinator draws, each in a file."""
    name = re.search(r"^grammar\s+(\w+)\s*;", grammar.read_text(), re.MULTILINE)[1]
    called(script("grammarinator-process"), grammar, "-o", folder, "--no-actions", "--encoding", "utf-8")
    generator = f"{name}Generator.{name}Generator"
    limits = ["-n", str(options.count), "-d", str(options.depth), "--random-seed", str(options.seed)]
    space = ["--serializer", "grammarinator.runtime.simple_space_serializer"] if options.space else []
    out = ["--encoding", "utf-8", "-o", folder / "texts/%d"]
    called(script("grammarinator-generate"), generator, "--sys-path", folder, *limits, *space, *out)


def with_fandango(grammar, options, folder):
    """Texts that Fandango draws, each in a file."""
    called(script("fandango"), "convert", "--from", "antlr", grammar, "-o", folder / "grammar.fan")
    # ANTLR's symbol for the end of a text is kept by the conversion, but unknown to Fandango.
    (folder / "end.fan").write_text("<EOF> ::= ''\n")
    start = re.search(r"^([a-z]\w*)\s*:", grammar.read_text(), re.MULTILINE)[1]
    files = ["-f", folder / "grammar.fan", "-f", folder / "end.fan", "-S", f"<{start}>", "-d", folder / "texts"]
    limits = ["-n", str(options.count), "--random-seed", str(options.seed), "--progress-bar", "off"]
    called(script("fandango"), "fuzz", *files, *limits, env={**os.environ, "PYTHONHASHSEED": str(options.seed)})


FUZZERS = {"grammarinator": with_grammarinator, "fandango": with_fandango}


def no_constant(name):
    """NaN and the infinities, which Python reads, are not JSON."""
    raise ValueError(name)


def accepts_json(text):
    """JSON as Python reads it."""
    json.loads(text, parse_constant=no_constant)


def acceptor(name):
    """The function that `--accepts` names."""
    if name == "json":
        return accepts_json
    if re.fullmatch(r"[\w.]+:\w+", name):
        module, function = name.split(":")
        return getattr(importlib.import_module(module), function)
    command = shlex.split(name)
    return lambda text: subprocess.run(command, input=text.encode(), capture_output=True).returncode == 0


def accepted(accepts, text):
    """Whether a function accepts a text: it raises nothing, and does not return false."""
    try:
        return accepts(text) is not False
    except Exception:  # whatever a parser raises
        return False


def try_fuzzer(name, grammar, options):
    """Draws texts and counts those that are accepted; returns whether they are enough."""
    accepts = acceptor(options.accepts)
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        FUZZERS[name](grammar, options, Path(folder))
        after = os.times()
        # As bytes, because line ends are part of a text.
        texts = [path.read_bytes().decode() for path in sorted(Path(folder, "texts").iterdir())]
    used = after.children_user + after.children_system - before.children_user - before.children_system
    wrong = [text for text in texts if not accepted(accepts, text)]
    length = sum(map(len, texts)) / max(1, len(texts))
    distinct = f"{len(set(texts))} distinct, {length:.0f} characters on average"
    print(f"{name}: {len(texts) - len(wrong)} of {len(texts)} texts accepted ({distinct}), {used:.1f} s", flush=True)
    for text in sorted(wrong, key=len)[:3]:
        print(f"     {text!r} is not accepted")
    return len(texts) >= options.count and len(wrong) <= (1 - options.least) * len(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("grammar", type=Path)
    parser.add_argument("--program", help="echostack, to export a grammar that is not a .g4 file")
    parser.add_argument("--tools", nargs="+", choices=FUZZERS, default=list(FUZZERS))
    parser.add_argument("--accepts", default="json", metavar="WHAT", help="json, MODULE:FUNCTION or a command")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--depth", type=int, default=20, help="of Grammarinator's trees (default: 20)")
    parser.add_argument("--space", action="store_true", help="let Grammarinator write spaces between tokens")
    parser.add_argument("--least", type=float, default=1.0, help="the fraction that must be accepted (default: 1)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        grammar = options.grammar.resolve()
        if grammar.suffix != ".g4":
            exported = Path(folder, "exported.g4")
            program = options.program or sys.exit(f"{grammar} is not a .g4 file: --program ECHOSTACK exports it")
            called(program, "--quiet", "export", grammar, "--format", "antlr", "-o", exported)
            grammar = exported
        good = [try_fuzzer(name, grammar, options) for name in options.tools]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
