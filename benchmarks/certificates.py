"""Learns, proves and checks every language and grammar, prints a table, and plots how the cost grows.

    python benchmarks/certificates.py target/release/echostack [--lua] [--plot FILE.svg] > table.md

Each line of the table is measured with two processes on one thread: `learn --prove`, from nothing to a machine and its
certificate, and `certify --check`. --lua adds the programming language to the grammars, which takes minutes instead of
milliseconds. --plot needs matplotlib. With --before OTHER, another build does the same work in turns, five times each,
and the table has the CPU seconds of both builds.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

TASKS = ["latch", "dyck1", "dyck2", "dyck3", "anbn", "palindrome", "json"]
GRAMMARS = ["latch", "dyck1", "dyck2", "dyck3", "anbn", "palindrome", "json-tokens", "arithmetic", "json", "sexpr", "xml", "csv"]


def processor():
    """Returns the CPU seconds used by all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(program, *arguments, clock=time.perf_counter):
    """Runs a command and returns its JSON output and its seconds from start to end."""
    start = clock()
    done = subprocess.run([program, "--quiet", "--threads", "1", *arguments, "--json"], capture_output=True, text=True)
    seconds = clock() - start
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1]), seconds


def measure(program, subject, options, clock=time.perf_counter):
    """Measures one line of the table: learning until proved, then checking."""
    kind, name = subject
    named = ["--task", name] if kind == "task" else ["--grammar", f"testdata/grammars/{name}"]
    against = f"{kind}:{name}" if kind == "task" else f"grammar:testdata/grammars/{name}"
    with tempfile.TemporaryDirectory() as folder:
        model, certificate = f"{folder}/m.safetensors", f"{folder}/c.json"
        learned, learn_seconds = run(
            program, "learn", *named, *options, "--prove", "--certificate", certificate, "-o", model, clock=clock
        )
        line = {"language": name, "learn": learn_seconds, "support": sum(learned["support"]), "proved": learned["proved"]}
        if learned["proved"]:
            checked, check_seconds = run(program, "certify", model, "--against", against, "--check", certificate, clock=clock)
            if not checked["proved"]:
                sys.exit(f"{name}: the certificate is refused: {checked}")
            line |= {key: checked[key] for key in ("cells", "depth", "input", "elements", "symbols", "reach")}
            line |= {"check": check_seconds, "bytes": pathlib.Path(certificate).stat().st_size}
        else:
            _, shown = run(program, "certify", model, "--against", against)
            line["check"] = shown
    return line


def table(title, lines):
    print(f"\n## {title}\n")
    print("| language | symbols | elements | reach | support vectors | cells | stack, input | learn and prove, s | check, s | bytes |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for line in lines:
        if not line["proved"]:
            print(f"| {line['language']} | | | | {line['support']} | not proved | | {line['learn']:.2f} | | |")
            continue
        print(
            "| {language} | {symbols} | {elements} | {reach} | {support} | {cells} | {depth}, {input} "
            "| {learn:.3f} | {check:.3f} | {bytes} |".format(**line)
        )
    sys.stdout.flush()


def compare(programs, title, subjects, options, turns=5):
    """Prints the CPU seconds that two builds take in turns to learn, prove and check: medians and ranges."""
    print(f"\n## {title}\n")
    print("| language | cells before | now | before, s | now, s | ratio |")
    print("|---|---|---|---|---|---|")
    for subject in subjects:
        lines = [[measure(program, subject, options, processor) for program in programs] for _ in range(turns)]
        seconds = [[line["learn"] + line["check"] for line in column] for column in zip(*lines)]
        told = [f"{statistics.median(own):.3f} ({min(own):.3f} to {max(own):.3f})" for own in seconds]
        before, now = map(statistics.median, seconds)
        cells = [line["cells"] if line["proved"] else "not proved" for line in lines[0]]
        print(f"| {subject[1]} | {cells[0]} | {cells[1]} | {told[0]} | {told[1]} | {now / before:.2f} |", flush=True)


def plot(lines, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "certificates"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(12, 4), constrained_layout=True)
    values = [("cells", "cells"), ("support", "support vectors"), ("learn", "seconds to learn and prove")]
    for axis, (key, label) in zip(axes, values):
        lines = sorted(lines, key=lambda line: (line[key], line["elements"] * line["symbols"]))
        for number, line in enumerate(lines):
            size = line["elements"] * line["symbols"]
            axis.loglog(size, line[key], "o", color="tab:blue", markersize=5)
            # Neighboring points have their names on different sides.
            left = number % 2 == 1
            axis.annotate(
                line["language"],
                (size, line[key]),
                fontsize=7,
                xytext=(-6, 0) if left else (6, 0),
                ha="right" if left else "left",
                va="center",
                textcoords="offset points",
            )
        axis.set_xlabel("elements × symbols")
        axis.set_title(label)
        axis.grid(alpha=0.3)
        axis.margins(0.15)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--lua", action="store_true")
    parser.add_argument("--plot")
    parser.add_argument("--before")
    arguments = parser.parse_args()
    if arguments.before:
        programs = [arguments.before, arguments.program]
        for view in ("symbol", "reservoir"):
            for reservoir in ("cycle", "random", "legendre"):
                options = ["--lookahead", view, "--reservoir", reservoir]
                title = f"The paper's languages, `--lookahead {view} --reservoir {reservoir}`"
                compare(programs, title, [("task", task) for task in TASKS], options)
        compare(programs, "Grammars", [("grammar", grammar) for grammar in GRAMMARS], [])
        return
    for view in ("symbol", "reservoir"):
        for reservoir in ("cycle", "random", "legendre"):
            options = ["--lookahead", view, "--reservoir", reservoir]
            lines = [measure(arguments.program, ("task", task), options) for task in TASKS]
            table(f"The paper's languages, `--lookahead {view} --reservoir {reservoir}`", lines)
    lines = [measure(arguments.program, ("grammar", grammar), []) for grammar in GRAMMARS]
    if arguments.lua:
        options = ["--encoding", "state", "--count", "1", "--max-length", "20"]
        lines.append(measure(arguments.program, ("grammar", "lua"), options))
    table("Grammars, `--lookahead symbol --reservoir cycle`", lines)
    if arguments.plot:
        plot([line for line in lines if line["proved"]], arguments.plot)


if __name__ == "__main__":
    main()
