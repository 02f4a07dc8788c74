#!/usr/bin/env python3
"""Compares what was made from an inferred grammar of JSON with json.loads, on the 10,000 texts of fresh_json.py.

    benchmarks/infer/elsewhere.py --gbnf FILE       a GBNF grammar, in the constrained decoder xgrammar (from PyPI)
    benchmarks/infer/elsewhere.py --program FILE    a program that reads a text, and exits with 0 if it is valid

The decoder gets each text byte by byte, so it must allow every byte of a valid text, and then its end.
"""

import argparse
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import fresh_json


def decoder(path):
    import xgrammar

    vocabulary = [bytes([byte]) for byte in range(256)] + [b"<end>"]
    info = xgrammar.TokenizerInfo(vocabulary, stop_token_ids=[256])
    grammar = xgrammar.Grammar.from_ebnf(Path(path).read_text(encoding="utf-8"))
    compiled = xgrammar.GrammarCompiler(info).compile_grammar(grammar)

    def accepts(text):
        matcher = xgrammar.GrammarMatcher(compiled)
        return all(matcher.accept_token(byte) for byte in text.encode()) and matcher.accept_token(256)

    return f"xgrammar {version('xgrammar')}", accepts


def program(path):
    path = Path(path).resolve()
    return path.name, lambda text: subprocess.run([path], input=text.encode(), stdout=subprocess.DEVNULL).returncode == 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--gbnf")
    options.add_argument("--program")
    given = options.parse_args()
    texts = [fresh_json.drawn() for _ in range(fresh_json.COUNT)]
    texts += [fresh_json.edited(fresh_json.rng.choice(texts)) for _ in range(fresh_json.COUNT)]
    differ = 0
    for make, path in (decoder, given.gbnf), (program, given.program):
        if path is not None:
            name, accepts = make(path)
            wrong = [text for text in texts if accepts(text) != fresh_json.valid(text)]
            print(f"{name}: {len(wrong)} of {len(texts)} texts differ, {sum(map(fresh_json.valid, texts))} are valid")
            for text in wrong[:5]:
                print(repr(text))
            differ += len(wrong)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
