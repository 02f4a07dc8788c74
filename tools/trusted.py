"""Generates the table in ARCHITECTURE.md of the components that must be trusted for a checked certificate.

What must be trusted is computed: it is everything that the checkers and what runs import, directly or not, as
`tools/imports.py` finds it. A file that they import without having to trust it is an exception, with a reason. A file that
is neither in a component nor an exception is an error, and so is a component's file that nothing imports.

Without arguments, prints the table. With --write, puts it into ARCHITECTURE.md; with --check, fails if the table there
is out of date. The line counts exclude tests, blank lines and comments, and are rounded up to multiples of 50, so that
small edits do not change the table.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- trusted: begin -->", "<!-- trusted: end -->"
CORE, GRAMMAR = "crates/echostack/src/", "crates/echostack-grammar/src/"

# Where trust begins: the checkers, the files that they read, and what runs. The import of a file does not show that it
# implements methods of a type that is defined elsewhere, so such files are listed, too.
ROOTS = [CORE + file for file in (
    "certify/check.rs", "certify/translation.rs", "certify/lockstep.rs", "certify/file.rs", "certify/lookup.rs",
    "automaton/viable.rs", "automaton/json.rs", "machine/session.rs", "machine/file.rs", "reservoir/params.rs",
    "table/scan.rs", "table/lanes.rs", "table/segments.rs", "turing/check.rs", "turing/lookup.rs", "turing/file.rs",
    "turing/run.rs")] + [GRAMMAR + "meaning/translation.rs"]

COMPONENTS = [
    ("the checker: closure, completions, covering of all cases", CORE,
     ["certify/check.rs", "certify/closed.rs", "certify/cells.rs", "certify/walk.rs", "certify/certificate.rs", "certify/digest.rs",
      "digest.rs", "certify/provable.rs", "certify/error.rs", "automaton/complete.rs"],
     "forged certificates (`tests/hostile.rs`); the theorem in `proof/`; `tools/recheck`"),
    ("from the grammar's text to its rules", GRAMMAR,
     ["yacc/reading.rs", "yacc/parser.rs", "yacc/tokens.rs", "yacc/code.rs", "yacc/resolve.rs", "yacc/trim.rs", "rules/mod.rs",
      "text/source.rs", "text/place.rs", "text/error.rs"],
     "bison (`tests/bison.rs`); `tools/recheck` has its own reader"),
    ("from the rules to the automaton", GRAMMAR, 
     ["meaning/translation.rs", "meaning/canonical.rs", "rules/precedence.rs", "rules/bits.rs"],
     "bison; forged automata (`meaning/tests.rs`); `tools/recheck` has its own LR(1) parsers"),
    ("the comparisons of automaton, parser and table", CORE, ["certify/translation.rs", "certify/lockstep.rs"],
     "forged automata and tables (`tests/forged.rs`); `tools/recheck`"),
    ("bounds and enclosures", CORE,
     ["certify/bound.rs", "certify/enclose.rs", "certify/scale.rs", "certify/lookup.rs"],
     "the lemmas of `docs/proof` and their tests; mutated models (`tests/hostile.rs`); `tools/recheck`"),
    ("what the automaton does: rules, moves, viable stacks", CORE,
     ["automaton/rule.rs", "automaton/lr.rs", "automaton/error.rs", "automaton/suffixes.rs", "automaton/viability.rs",
      "automaton/viable.rs", "automaton/oracle.rs", "automaton/reach.rs"],
     "enumeration of all short words; `tools/recheck`, which computes them independently"),
    ("what a run is: the loop of Algorithms 1 and 2", CORE,
     ["recognize/run.rs", "recognize/session.rs", "recognize/event.rs", "recognize/mode.rs", "recognize/verdict.rs"],
     "the naive form in `tests/common`; modeled in `proof/`"),
    ("what the machine computes: states, stack, readouts", CORE,
     ["machine/stack_machine.rs", "machine/readouts.rs", "machine/session.rs", "machine/stack.rs", "machine/cells.rs",
      "readout/projection.rs", "readout/side.rs",
      "readout/head.rs", "reservoir/network.rs", "reservoir/weights.rs", "reservoir/abreast.rs", "reservoir/parts.rs",
      "reservoir/params.rs", "reservoir/error.rs", "reservoir/cycle.rs", "reservoir/legendre.rs", "reservoir/matrix.rs"],
     "the naive form in `tests/common`; `tools/recheck` has the formulas"),
    ("what runs a table", CORE,
     ["table/compiled.rs", "table/sound.rs", "table/rows.rs", "table/fuse.rs", "table/scan.rs", "table/frames/mod.rs",
      "table/frames/cuts.rs", "table/frames/moves.rs", "table/frames/layout.rs", "table/frames/steps.rs", "table/stacks.rs",
      "table/lanes.rs", "table/segments.rs"],
     "all ways of running a table are compared with each other, on mutated tables, too"),
    ("machines with two stacks: texts, rules, the loop, decisions, files, the checker", CORE,
     ["turing/text.rs", "turing/error.rs", "turing/tape.rs", "turing/rules.rs", "turing/run.rs", "turing/machine.rs", "turing/memory.rs",
      "turing/lookup.rs", "turing/file.rs", "turing/shape.rs", "turing/cover.rs", "turing/certificate.rs", "turing/check.rs"],
     "runs of Turing machines on tapes; forged certificates and mutated machines (`tests/turing.rs`); `tools/recheck`"),
    ("arithmetic: tanh, exp, sums", CORE, ["simd.rs"],
     "arbitrary precision (`tests/numerics.rs`); scalar against vectorized, to the bit"),
    ("files: models, tables, automata, certificates", CORE,
     ["file.rs", "machine/file.rs", "automaton/json.rs", "certify/file.rs"],
     "12,000 damaged files; `tools/recheck` reads models, automata and certificates by itself"),
    ("symbols, suffixes, and the undo of a refused token", CORE, ["symbol.rs", "suffix.rs", "index.rs", "undo.rs"],
     "unit tests"),
]

EXCEPTIONS = {
    CORE + "automaton/summarize.rs": "finds completions, each of which is then checked",
    CORE + "control.rs": "progress and cancellation: a call that is cancelled returns an error",
    CORE + "manifest.rs": "what a model was made from; the text of the lexer in it has a digest of its own",
    CORE + "name.rs": "the names of options",
    CORE + "readout/histories.rs": "training data that a model keeps, which no decision reads",
    CORE + "readout/lessons.rs": "the same",
    CORE + "teach/exercise.rs": "the type of an answer; the rest is training",
    CORE + "reservoir/random.rs": "draws weights; the weights in the file count",
}


def closure():
    """Returns the files that the roots import, directly or not, and the roots."""
    listed = subprocess.run([sys.executable, ROOT / "tools/imports.py", "--edges"], capture_output=True, text=True, cwd=ROOT)
    imports = defaultdict(set)
    for crate, file, imported in re.findall(r"^(\S+): (\S+) -> (\S+) ", listed.stdout, re.M):
        imports[f"{crate}/src/{file}"].add(f"{crate}/src/{imported}")
    found, todo = set(), list(ROOTS)
    while todo:
        file = todo.pop()
        # An exception ends the way: what it imports is not trusted because of it.
        if file not in found:
            found.add(file)
            todo += imports[file] if file not in EXCEPTIONS else []
    return found


def unaccounted():
    """Returns a message for each file that is in the wrong place."""
    found, listed = closure(), {folder + file for _, folder, files, _ in COMPONENTS for file in files}
    missing = [f"{file} is imported by what must be trusted, but is in no component" for file in found - listed - set(EXCEPTIONS)]
    idle = [f"{file} is listed, but nothing that must be trusted imports it" for file in (listed | set(EXCEPTIONS)) - found]
    return sorted(missing + idle)


def lines(path):
    text = path.read_text().split("#[cfg(test)]\nmod tests")[0].split("#[cfg(test)]\npub(crate) mod tests")[0]
    return sum(1 for line in text.split("\n") if line.strip() and not re.match(r"\s*//", line))


def table():
    rows = ["| component | lines | what checks it |", "|---|---|---|"]
    total = 0
    for what, folder, files, checks in COMPONENTS:
        count = sum(lines(ROOT / folder / file) for file in files)
        total += count
        names = ", ".join(f"`{file}`" for file in files)
        crate = " of echostack-grammar" if folder == GRAMMAR else ""
        rows.append(f"| {what}: {names}{crate} | {-(-count // 50) * 50} | {checks} |")
    rows.append(f"| together | {-(-total // 50) * 50} | |")
    rows.append("")
    rows.append("They also import the following, which need not be trusted:")
    rows += [f"- `{file.removeprefix(CORE)}`: {why}" for file, why in EXCEPTIONS.items()]
    return "\n".join(rows)


def main():
    problems = unaccounted()
    if problems:
        sys.exit("\n".join(problems))
    page = PAGE.read_text()
    wanted = f"{BEGIN}\n{table()}\n{END}"
    if "--write" in sys.argv:
        PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: wanted, page, flags=re.S))
    elif "--check" in sys.argv:
        if wanted not in page:
            sys.exit("the table of what must be trusted in ARCHITECTURE.md is out of date: run tools/trusted.py --write")
    else:
        print(table())


main()
