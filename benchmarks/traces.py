"""Measures how many words of traces are needed to learn a language, and prints a table.

    python3 benchmarks/traces.py target/release/echostack [--languages ...] [--words ...] [--chosen] [--explain]

For each language, number of words and seed, a machine learns from traces alone. It is right on held-out traces if it
takes the same actions as the teacher on 1,000 other words, and exact if it is proved to take the same actions on every
word. The words are those that `echostack teach` draws, half of them wrong. With --chosen, the words that it chooses to
cover a grammar are added: each state of the parser, with each next token. The log format is that of docs/traces.

With --explain, the table says what the machines get wrong instead: how often they shift a token that should be refused,
and how often they have never seen the next token with the two symbols on top of the stack.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOG = ROOT / "docs/traces/log_traces.py"
WORDS = [5, 10, 20, 40, 80, 160, 320, 640, 1280]
LANGUAGES = ["log", "anbn", "dyck1", "dyck2", "dyck3", "palindrome", "json-tokens", "csv", "json"]
HELD_OUT = 1000
# What the parser of the log format does: the symbols that it replaces, and the symbol that replaces them.
LOG_RULES = [
    ("TEXT", 0, "Fields"), ("Fields PAIR", 2, "Fields"), ("OPEN", 0, "Fields"),
    ("Fields OPEN Fields CLOSE", 4, "Fields"), ("Log TIME LEVEL TEXT Fields NEWLINE", 6, "Log"), ("", 0, "Log"),
]


def run(program, *arguments):
    """Runs a command, and returns its exit code and its output."""
    done = subprocess.run([program, "--quiet", "--threads", "1", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{arguments}: {done.stderr}")
    return done.returncode, done.stdout


def teach(program, language, words, seed, path, chosen=False):
    """Writes the traces of this number of drawn words and, if asked for, of chosen ones."""
    if language == "log":
        command = [sys.executable, LOG, str(words), str(seed)]
        path.write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return
    grammar = ROOT / "testdata/grammars" / language
    run(program, "teach", grammar, "--count", words, "--seed", seed, "-o", path)
    if chosen:
        return
    header, *lines = path.read_text().splitlines()
    is_chosen = lambda line: any(part in json.loads(line)["source"] for part in (" covering word ", " probe "))
    drawn = [line for line in lines if not is_chosen(line)]
    assert len(drawn) == words, (language, words, len(drawn))
    path.write_text("\n".join([header, *drawn]) + "\n")


def log_automaton(header):
    """Returns the automaton of the log format in JSON."""
    rules = [
        {"suffix": suffix.split(), "anchored": not suffix, "lookahead": None, "pop": pop, "push": push}
        for suffix, pop, push in LOG_RULES
    ]
    symbols = {key: header[key] for key in ("terminals", "nonterminals")}
    return json.dumps(symbols | {"accepting": ["Log"], "rules": rules})


def measure(program, language, words, seed, held_out, truth, chosen):
    """Returns whether the machine is right on the held-out traces, and whether it is exact."""
    with tempfile.TemporaryDirectory() as folder:
        traces, model = pathlib.Path(folder) / "traces.jsonl", pathlib.Path(folder) / "model"
        teach(program, language, words, seed, traces, chosen)
        run(program, "learn", "--traces", traces, "--strict", "-o", model)
        right = json.loads(run(program, "evaluate", model, "--traces", held_out, "--json")[1])["departing"] == 0
        exact = right and run(program, "certify", model, "--against", truth)[0] == 0
        return right, exact


def places(trace):
    """Returns the two symbols on top of the stack and the next token, for each step of a trace after its reductions."""
    stack, found = ["^"], []
    for number, step in enumerate(trace["steps"]):
        for pop, push in step.get("reductions", []):
            stack = stack[:len(stack) - pop] + ([push] if push is not None else [])
        following = trace["word"][number] if number < len(trace["word"]) else "the end"
        found.append((*stack[-2:], following))
        stack = stack + [following] if step.get("shift") else stack
    return found


def explain(program, language, words, seeds, held_out):
    """Returns the number of departures from held-out traces, how many shift too much, and how many are new places."""
    wanted = {trace["source"]: trace for trace in map(json.loads, held_out.read_text().splitlines()[1:])}
    departures = shifts = new = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            traces, model = pathlib.Path(folder) / "traces.jsonl", pathlib.Path(folder) / "model"
            teach(program, language, words, seed, traces)
            known = {place for line in traces.read_text().splitlines()[1:] for place in places(json.loads(line))}
            run(program, "learn", "--traces", traces, "--strict", "-o", model)
            options = ["--traces", held_out, "--show-wrong", HELD_OUT, "--json"]
            for found in json.loads(run(program, "evaluate", model, *options)[1])["departures"]:
                departures += 1
                shifts += found["given"] == found["wanted"].removesuffix("refuse") + "shift"
                new += places(wanted[found["source"]])[found["step"]] not in known
    return f"{departures}, {shifts}, {new}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--languages", nargs="+", default=LANGUAGES)
    parser.add_argument("--chosen", action="store_true")
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("--words", nargs="+", type=int, default=WORDS)
    options = parser.parse_args()
    print("| language | terminals | " + " | ".join(map(str, options.words)) + " |")
    print("|---" * (len(options.words) + 2) + "|")
    for language in options.languages:
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
            held_out, truth = pathlib.Path(folder) / "held-out.jsonl", ROOT / "testdata/grammars" / language
            teach(options.program, language, HELD_OUT, 1000, held_out)
            header = json.loads(held_out.read_text().splitlines()[0])
            if language == "log":
                truth = pathlib.Path(folder) / "log.json"
                truth.write_text(log_automaton(header))
            cells = []
            for words in options.words:
                if options.explain:
                    cells.append(explain(options.program, language, words, range(1, options.seeds + 1), held_out))
                    continue
                jobs = [
                    pool.submit(measure, options.program, language, words, seed, held_out, truth, options.chosen)
                    for seed in range(1, options.seeds + 1)
                ]
                results = [job.result() for job in jobs]
                cells.append(f"{sum(right for right, _ in results)}, {sum(exact for _, exact in results)}")
        print(f"| {language} | {len(header['terminals'])} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
