"""Generates the table in ARCHITECTURE.md of the components that must be trusted for a checked certificate.

Without arguments, prints the table. With --write, puts it into ARCHITECTURE.md; with --check, fails if the table there
is out of date. The line counts exclude tests, blank lines and comments, and are rounded up to multiples of 50, so that
small edits do not change the table.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- trusted: begin -->", "<!-- trusted: end -->"
CORE = "crates/echostack/src"

COMPONENTS = [
    ("the checker: closure, completions, covering of all cases",
     ["certify/check.rs", "certify/cells.rs", "certify/walk.rs", "certify/certificate.rs", "certify/digest.rs",
      "certify/provable.rs", "certify/error.rs", "automaton/complete.rs"],
     "forged certificates (`tests/hostile.rs`); the theorem in `proof/`; `tools/recheck`"),
    ("bounds and enclosures", ["certify/bound.rs", "certify/enclose.rs", "certify/scale.rs", "certify/lookup.rs"],
     "the lemmas of `docs/proof` and their tests; mutated models (`tests/hostile.rs`); `tools/recheck`"),
    ("what the automaton does: rules, moves, viable stacks",
     ["automaton/rule.rs", "automaton/lr.rs", "automaton/error.rs", "automaton/suffixes.rs", "automaton/viability.rs",
      "automaton/viable.rs", "automaton/oracle.rs", "automaton/reach.rs"],
     "enumeration of all short words; `tools/recheck`, which computes them independently"),
    ("what a run is: the loop of Algorithms 1 and 2", 
     ["recognize/run.rs", "recognize/session.rs", "recognize/event.rs", "recognize/mode.rs", "recognize/verdict.rs"],
     "the naive form in `tests/common`; modeled in `proof/`"),
    ("what the machine computes: states, stack, readouts",
     ["machine/stack_machine.rs", "machine/readouts.rs", "machine/session.rs", "machine/stack.rs", "machine/cells.rs",
      "readout/projection.rs",
      "readout/head.rs", "reservoir/network.rs", "reservoir/weights.rs", "reservoir/abreast.rs", "reservoir/parts.rs",
      "reservoir/params.rs", "reservoir/error.rs", "reservoir/cycle.rs", "reservoir/legendre.rs", "reservoir/matrix.rs"],
     "the naive form in `tests/common`; `tools/recheck` has the formulas"),
    ("arithmetic: tanh, exp, sums", ["simd.rs"],
     "arbitrary precision (`tests/numerics.rs`); scalar against vectorized, to the bit"),
    ("files: models, automata, certificates", ["file.rs", "machine/file.rs", "automaton/json.rs", "certify/file.rs"],
     "12,000 damaged files; `tools/recheck` reads all three by itself"),
    ("symbols, suffixes, and the undo of a refused token", ["symbol.rs", "suffix.rs", "index.rs", "undo.rs"], "unit tests"),
]


def lines(path):
    text = path.read_text().split("#[cfg(test)]\nmod tests")[0].split("#[cfg(test)]\npub(crate) mod tests")[0]
    return sum(1 for line in text.split("\n") if line.strip() and not re.match(r"\s*//", line))


def table():
    rows = ["| component | lines | what checks it |", "|---|---|---|"]
    total = 0
    for what, files, checks in COMPONENTS:
        count = sum(lines(ROOT / CORE / file) for file in files)
        total += count
        names = ", ".join(f"`{file}`" for file in files)
        rows.append(f"| {what}: {names} | {-(-count // 50) * 50} | {checks} |")
    rows.append(f"| together | {-(-total // 50) * 50} | |")
    return "\n".join(rows)


def main():
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
