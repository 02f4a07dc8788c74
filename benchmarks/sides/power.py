#!/usr/bin/env python3
"""How many mistakes `echostack compare` finds, beside random edits of the examples and Grammarinator.

    python3 power.py compare LANGUAGE ECHOSTACK [--budgets 10000,30000,100000] [--only 3,17]
    python3 power.py edits LANGUAGE
    python3 power.py grammarinator LANGUAGE

The parsers and their mistakes are those of mistakes.py. A query is one parser that is asked about one text, so that half as
many texts are compared. A mistake that was found with fewer queries counts as found with more, and is not looked for again.
Edits: one to three characters of an example are left out, replaced, inserted or swapped; half of the new characters are those
of the examples, half any printable ones of ASCII. Grammarinator (PyPI) draws texts from references/LANGUAGE.g4, and mutates
and recombines their trees, also such that the grammar is violated: all of its mutators are on, as they are by default when it
has a population.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import mistakes

HERE = Path(__file__).resolve().parent
PRINTABLE = [chr(code) for code in range(32, 127)]


def edited(language, number):
    """Draws texts by random edits of examples."""
    examples = mistakes.EXAMPLES[language]
    rng = random.Random(0)
    own = sorted(set("".join(examples)))
    for _ in range(number):
        letters = list(rng.choice(examples))
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            at, new = rng.randrange(len(letters) + 1), rng.choice(own if rng.random() < 0.5 else PRINTABLE)
            edit = rng.randrange(4)
            if edit == 0 and at < len(letters):
                del letters[at]
            elif edit == 1 and at < len(letters):
                letters[at] = new
            elif edit == 2 and at + 1 < len(letters):
                letters[at], letters[at + 1] = letters[at + 1], letters[at]
            else:
                letters.insert(at, new)
        yield "".join(letters)


def drawn(language, number):
    """Draws texts with Grammarinator."""
    grammar = HERE / "references" / f"{language}.g4"
    tool = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tool / "grammarinator-process", grammar, "-o", folder, "--no-actions", "--log-level", "ERROR"], check=True)
        subprocess.run([tool / "grammarinator-generate", f"{language}Generator.{language}Generator", "-r", "start", "-d", "12",
                        "--max-tokens", "100", "--population", Path(folder, "trees"), "--keep-trees", "-n", str(number), "-j", "1",
                        "-o", Path(folder, "texts", "%d"), "--sys-path", folder, "--random-seed", "0", "--log-level", "ERROR"], check=True)
        for at in range(number):
            path = Path(folder, "texts", str(at))
            if path.exists():  # a text that it has drawn before is left out
                yield path.read_bytes().decode()


def first_difference(texts, right, wrong):
    """Returns the text with which a mistake is found, and the number of texts until then."""
    for number, (text, expected) in enumerate(zip(texts, right)):
        if wrong(text) != expected:
            return number + 1, text
    return None


def by_texts(language, texts, budgets, only):
    """Looks for the mistakes with texts that do not depend on the parsers."""
    right = mistakes.parser(language)
    texts = list(dict.fromkeys(texts))
    expected = [right(text) for text in texts]
    print(f"{language}: {sum(expected)} of {len(texts)} different texts are valid", flush=True)
    for number in only:
        found = first_difference(texts, expected, mistakes.parser(language, number))
        if found:
            yield number, found[0] * 2, [found[1]]
        else:
            yield number, None, []


def by_compare(language, echostack, budgets, only):
    """Looks for the mistakes with `echostack compare`."""
    command = f"persistent:{sys.executable} {HERE / 'mistakes.py'} run {language}"
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(mistakes.EXAMPLES[language]):
            Path(folder, f"{number:02}").write_text(text)
        for number in only:
            for budget in budgets:
                done = subprocess.run([echostack, "--quiet", "compare", f"right={command}", f"wrong={command} {number}", "--examples", folder,
                                       "--queries", str(budget), "--workers", "1", "--json"], capture_output=True, text=True)
                if done.returncode == 2:
                    raise SystemExit(done.stderr)
                kinds = json.loads(done.stdout)["kinds"]
                if kinds:
                    yield number, budget, [kind["text"] for kind in kinds]
                    break
            else:
                yield number, None, []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=["compare", "edits", "grammarinator"])
    parser.add_argument("language", choices=mistakes.LANGUAGES)
    parser.add_argument("echostack", type=Path, nargs="?")
    parser.add_argument("--budgets", default="10000,30000,100000")
    parser.add_argument("--only", help="numbers of mistakes, instead of all")
    args = parser.parse_args()
    budgets = [int(budget) for budget in args.budgets.split(",")]
    only = [int(number) for number in args.only.split(",")] if args.only else range(len(mistakes.mistakes(args.language)))
    if args.method == "compare":
        results = by_compare(args.language, args.echostack, budgets, only)
    else:
        source = edited if args.method == "edits" else drawn
        results = by_texts(args.language, source(args.language, budgets[-1] // 2), budgets, only)
    needed = []
    for number, queries, texts in results:
        needed.append(queries)
        shown = ", ".join(json.dumps(text)[:60] for text in texts[:4])
        print(f"  {number:2}: {f'{queries} queries: {shown}' if queries else 'not found'}", flush=True)
    counts = [f"{sum(1 for queries in needed if queries and queries <= budget)} with {budget}" for budget in budgets]
    print(f"{args.language}: {args.method}: of {len(needed)} mistakes: {', '.join(counts)} queries")


if __name__ == "__main__":
    main()
