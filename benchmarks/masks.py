"""What masks cost with the grammars that echostack exports, beside grammars written by hand for the same language.

Usage: masks.py ECHOSTACK [--tokenizer tokenizer.json] [--only json calculator] [--engines llguidance xgrammar]

Each language has a folder in benchmarks/masks with the grammars of somebody who knows the tool, and with texts. Its own
grammar is there, too, or in testdata. For `inferred`, the grammar is inferred from docs/infer/json, and compared with the
grammar of JSON that was written by hand. `tools/masks.py` measures, and says what the figures mean. Prints a table, and
exits with 1 if any mask differs. Needs pip install llguidance xgrammar tokenizers.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "benchmarks/masks"
FORMATS = {"llguidance": ("llguidance", "lark"), "xgrammar": ("gbnf", "gbnf")}
# The grammar of each language, and the folder with what is written by hand and with the texts.
LANGUAGES = {
    "json": (ROOT / "testdata/grammars/json", "json"),
    "inferred": (None, "json"),
    "jsonc": (HERE / "jsonc", "jsonc"),
    "calls": (HERE / "calls", "calls"),
    "calculator": (ROOT / "testdata/wild/calculator", "calculator"),
}
NOT_TEXTS = {"grammar.y", "lexer.l", "hand.lark", "hand.gbnf"}


def inferred(program, folder):
    """Infers JSON as docs/infer.md does."""
    oracle = f"{sys.executable} {ROOT / 'docs/infer/oracle.py'} json"
    options = ["--examples", ROOT / "docs/infer/json", "--oracle", oracle, "--persistent", "-o", folder]
    subprocess.run([program, "--quiet", "infer", *options], check=True)
    return folder


def compared(options, name, engine, folder):
    """The figures of an exported grammar beside the one written by hand, or why there are none."""
    grammar, own = LANGUAGES[name]
    form, suffix = FORMATS[engine]
    ours = folder / f"{name}.{suffix}"
    source = grammar or folder / "inferred"
    if not source.exists():
        inferred(options.program, source)
    subprocess.run([options.program, "--quiet", "export", source, "--format", form, "-o", ours], check=True)
    texts = sorted(path for path in (HERE / own).iterdir() if path.name not in NOT_TEXTS)
    command = [sys.executable, ROOT / "tools/masks.py", ours, HERE / own / f"hand.{suffix}", "--json", "--texts", *texts]
    command += ["--rounds", str(options.rounds)]
    command += ["--tokenizer", options.tokenizer] if options.tokenizer else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, f"| {name} | {engine} | {(done.stderr.splitlines() or ['no message'])[-1]} |"
    result = json.loads(done.stdout)
    times = [
        f"{figures['median']:.0f} ({figures['spread'][0]:.0f} to {figures['spread'][1]:.0f}) | {figures['late']:.0f}"
        for figures in result["grammars"]
    ]
    ratios = [f"{whole:.2f} ({low:.2f} to {high:.2f})" for whole, low, high in (result["median"], result["late"])]
    cells = [name, engine, *times, *ratios, f"{result['differ']} of {result['masks']}"]
    return result, f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda path: Path(path).resolve())
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json (default: the vocabulary that tools/masks.py makes)")
    parser.add_argument("--only", nargs="+", choices=LANGUAGES, default=LANGUAGES)
    parser.add_argument("--engines", nargs="+", choices=FORMATS, default=FORMATS)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print("| language | engine | ours, median | 99 % | by hand, median | 99 % | ratio of medians | ratio of 99 % | masks differ |")
    print("|---|---|---|---|---|---|---|---|---|")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            for engine in options.engines:
                result, line = compared(options, name, engine, Path(folder))
                good &= result is not None and result["differ"] == 0
                print(line, flush=True)
    sys.exit(not good)


if __name__ == "__main__":
    main()
