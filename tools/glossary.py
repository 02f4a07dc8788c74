#!/usr/bin/env python3
"""Compares docs/glossary.md with the public names of the libraries.

    tools/glossary.py

Fails if a public type has the name of another one, if the glossary names a type that does not exist, or if a type at the
root of the two main libraries is not in the glossary, by its own name or as a term. It reads docs/public-names.txt, which
tools/public_names.py compares with the code.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TYPES = {"struct", "enum", "trait", "type"}
MAIN = {"echostack", "echostack_grammar"}


def problems(names, glossary, sources):
    """Yields a sentence for each problem. `names` are lines of three words: a crate, a kind and a path."""
    places, roots = defaultdict(set), []
    for crate, kind, path in names:
        if kind in TYPES:
            places[path.split("::")[-1]].add(f"{crate}::{path}")
        elif kind == "root" and crate in MAIN:
            roots.append(path)
    for name, found in sorted(places.items()):
        if len(found) > 1:
            yield f"{name} has more than one meaning: {', '.join(sorted(found))}"
    rows = re.findall(r"^\| ([^|]+) \|", glossary, re.M)
    terms = {term.strip().lower() for row in rows for term in re.split(r"[,;]", row)}
    named = set(re.findall(r"`([A-Z]\w+)`", glossary))
    for name in sorted(named - places.keys()):
        if not re.search(rf"\b(?:struct|enum|trait) {name}\b", sources):
            yield f"the glossary names {name}, but there is no such type"
    for name in roots:
        term = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
        # Errors explain themselves.
        if name in places and name not in named and term not in terms and not name.endswith("Error"):
            yield f"{name} is not in the glossary"


def main():
    names = [line.split(" ", 2) for line in (ROOT / "docs/public-names.txt").read_text().splitlines()]
    sources = "".join(path.read_text() for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")))
    found = list(problems(names, (ROOT / "docs/glossary.md").read_text(), sources))
    if found:
        sys.exit("\n".join(found))
    print("the glossary and the public names agree")


if __name__ == "__main__":
    main()
