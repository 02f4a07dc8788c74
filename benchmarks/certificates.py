"""Learns, proves and checks every language and grammar, prints a table, and plots how the cost grows.

    python benchmarks/certificates.py target/release/echostack [--lua] [--plot FILE.svg] > table.md

Each line of the table is measured with two processes on one thread: `learn --prove`, from nothing to a machine and its
certificate, and `certify --check`. --lua adds the programming language to the grammars, which takes minutes instead of
milliseconds. --plot needs matplotlib. With --before OTHER, another build does the same work in turns, five times each,
and the table has the CPU seconds of both builds.

    python benchmarks/certificates.py --record benchmarks/record/DATE-certificates.md --plot docs/images/certificates.svg

draws the picture of a record, without measuring anything.
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
    named = [f"task:{name}"] if kind == "task" else [f"testdata/grammars/{name}"]
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


def recorded(path):
    """Returns the lines of the last table in a record, as far as the picture needs them."""
    text = pathlib.Path(path).read_text().split("## Grammars")[-1]
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in text.splitlines() if line.startswith("|")]
    names = {"language": "language", "elements": "elements", "cells": "cells", "support vectors": "support", "learn and prove, s": "learn"}
    found = []
    for row in rows[2:]:
        values = {names[name]: value for name, value in zip(rows[0], row) if name in names}
        found.append({key: value if key == "language" else float(value) for key, value in values.items()})
    return found


def plot(lines, path):
    """Draws a row for each language, from few elements to many, and a panel for each quantity."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "certificates", "font.family": "sans-serif"})
    from matplotlib import pyplot

    lines = sorted(lines, key=lambda line: (line["elements"], line["language"]))
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 4.6), sharey=True, layout="constrained")
    panels = [("cells", "cells of the proof", "#0072b2", "o"), ("support", "support vectors", "#d55e00", "s"), ("learn", "seconds to learn and prove", "#009e73", "^")]
    rows = range(len(lines))
    for axis, (key, label, color, marker) in zip(axes, panels):
        values = [line[key] for line in lines]
        axis.hlines(rows, min(values) / 3, values, color="#c8ced6", linewidth=1)
        axis.plot(values, rows, marker, color=color, markersize=6)
        for row, value in zip(rows, values):
            shown = f"{value:,.0f}" if key != "learn" else f"{value:.3g}"
            axis.annotate(shown, (value, row), xytext=(7, 0), textcoords="offset points", va="center", fontsize=8)
        axis.set_xscale("log")
        axis.set_xlim(min(values) / 3, max(values) * 12)
        axis.set_xlabel(label + " (log scale)")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(rows, [f"{line['language']} ({line['elements']:.0f})" for line in lines])
    axes[0].set_ylabel("language (elements: symbols with their context)")
    figure.suptitle("What a proof costs grows with the number of elements", fontweight="bold")
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--lua", action="store_true")
    parser.add_argument("--plot")
    parser.add_argument("--before")
    parser.add_argument("--record")
    arguments = parser.parse_args()
    if arguments.record:
        return plot(recorded(arguments.record), arguments.plot)
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
