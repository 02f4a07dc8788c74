"""Reads grammars exported by `echostack extract` with lark, and compares their words with the machine's verdicts.

Usage: exported_words.py ECHOSTACK. Exits with 1 if a word is in one language and not in the other. We know of no GBNF
reader that does not bring a language model along, so GBNF rules are converted to lark's syntax by their punctuation and
read by lark.
"""
import itertools
import json
import re
import subprocess
import sys
import tempfile

import lark


def run(*arguments, given=None):
    done = subprocess.run(arguments, input=given, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def from_gbnf(text):
    """Converts a GBNF grammar to lark's notation."""
    lines = [line for line in text.splitlines() if not line.startswith("ws ::=")]
    rules = [line.replace("::=", ":").replace('""', "").replace(" ws", "") for line in lines]
    return "\n".join(re.sub(r"\broot\b", "start", rule) for rule in rules) + "\n%ignore /\\s+/\n"


def main():
    program = sys.argv[1]
    bad = 0
    for task in ("latch", "dyck1", "dyck2", "anbn", "palindrome", "json"):
        with tempfile.TemporaryDirectory() as folder:
            model = f"{folder}/m.safetensors"
            run(program, "--quiet", "learn", "--task", task, "--prove", "-o", model)
            texts = {name: run(program, "--quiet", "extract", model, "--format", name) for name in ("lark", "gbnf")}
            tokens = next(
                line["terminals"] for line in map(json.loads, run(program, "tasks", "--json").splitlines()) if line["task"] == task
            )
            longest = {2: 9, 3: 6, 4: 5}.get(len(tokens), 3)
            words = [word for length in range(1, longest + 1) for word in itertools.product(tokens, repeat=length)]
            words += [line.split() for line in run(program, "sample", "--task", task, "--count", "100", "--max-length", "30").splitlines()]
            lines = "".join(" ".join(word) + "\n" for word in words)
            verdicts = [json.loads(line)["verdict"] == "accept" for line in run(program, "check", model, "--json", given=lines).splitlines()]
        for name, text in texts.items():
            parser = lark.Lark(text if name == "lark" else from_gbnf(text), parser="earley")
            wrong = 0
            for word, verdict in zip(words, verdicts, strict=True):
                try:
                    parser.parse(" ".join(word))
                    accepted = True
                except lark.exceptions.LarkError:
                    accepted = False
                wrong += accepted != verdict
            print(f"{'ok  ' if not wrong else 'BAD '}{task} {name}: {len(words)} words, {sum(verdicts)} accepted, {wrong} differ")
            bad += wrong
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
