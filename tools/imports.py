#!/usr/bin/env python3
"""Fails if the source files of a crate import each other in a cycle, or if a lower layer imports a higher one.

A file imports another file if a path in it (`use` or inline) names an item that is defined in the other file.
Re-exports are followed to the definition. Tests and comments do not count. The root of a crate, lib.rs or main.rs, is
its highest layer, so nothing imports what is defined there.

    tools/imports.py [ROOT]            check every crate
    tools/imports.py [ROOT] --edges    list the imports as well
"""

import argparse
import re
import sys
from pathlib import Path

CRATES = ["crates/echostack", "crates/echostack-grammar", "crates/echostack-arrow", "crates/echostack-infer",
          "crates/echostack-lab",
          "crates/echostack-cli", "crates/echostack-deep", "crates/echostack-engine", "python"]

# The modules of the crates whose order matters to readers. A module may import those in the lines above its own.
LAYERS = {
    "crates/echostack": [
        ["name", "digest", "index", "symbol", "suffix", "spelling", "control", "undo", "simd", "file", "manifest"],
        ["recognize"],
        ["automaton"],
        ["table"],
        ["teach"],
        ["language"],
        ["reservoir"],
        ["readout"],
        ["machine", "no_machine"],
        ["certify"],
        ["turing"],
        ["model"],
        ["extract"],
        ["study"],
        ["tasks"],
    ],
    "crates/echostack-grammar": [
        ["text", "rules"],
        ["yacc", "lex"],
        ["lr", "meaning"],
        ["grammar"],
        ["subject", "judge"],
        ["texts"],
        ["learn"],
        ["export", "generate"],
        ["compare"],
    ],
    "crates/echostack-infer": [
        ["program"],
        ["ask"],
        ["text"],
        ["learn"],
        ["test"],
        ["write"],
        ["tokens"],
        ["run"],
        ["compare"],
    ],
    "crates/echostack-cli": [
        ["renamed", "outcome", "output", "options", "external", "reading", "text", "traces"],
        ["certificate", "progress", "words"],
        ["session", "equivalent"],
        ["two_stacks"],
        ["subject", "input", "inference"],
        ["commands"],
    ],
}
# The modules whose own modules never import each other.
APART = {"crates/echostack-cli": "commands"}

ITEM = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+)?(?:unsafe\s+)?(?:async\s+)?"
    r"(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+(\w+)", re.M)
USE = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.M)
MOD = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", re.M)
INLINE = re.compile(r"(?<![\w:])([a-z_]\w*(?:::\w+)+)")


def without_comments(text):
    """Returns the code without comments and with empty string literals."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|r#*"(?:.*?)"#*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', re.S)
    return token.sub(lambda m: "" if m.group().startswith("/") else '""', text)


def without_tests(text):
    """Returns the code without its test modules."""
    marker = re.compile(r"#\[cfg\((?:all\()?(?:test|doctest)\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*")
    while match := marker.search(text):
        end = match.end()
        stop = re.compile(r"[;{]").search(text, end)
        if stop is None:
            return text[:match.start()]
        at = stop.end()
        if stop.group() == "{":
            depth = 1
            while depth and at < len(text):
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
        text = text[:match.start()] + text[at:]
    return text


def expand(tree):
    """Yields the paths of a use tree, each with the name that it is bound to."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        path, _, alias = tree.partition(" as ")
        parts = [part.strip() for part in path.split("::")]
        yield parts, (alias.strip() or parts[-1])
        return
    prefix = [part for part in tree[:brace].strip().split("::") if part]
    inside, depth, start = tree[brace + 1:tree.rindex("}")], 0, 0
    pieces = []
    for at, letter in enumerate(inside):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            pieces.append(inside[start:at])
            start = at + 1
    pieces.append(inside[start:])
    for piece in filter(str.strip, pieces):
        for parts, name in expand(piece):
            if parts == ["self"]:
                yield prefix, prefix[-1] if name == "self" else name
            else:
                yield prefix + parts, name


class Crate:
    """The modules of a crate, with the items that each defines, re-exports and names."""

    def __init__(self, root):
        self.root, self.files, self.code = root, {}, {}
        for name in ("lib.rs", "main.rs"):
            if (root / name).exists():
                self.add((), root / name)
                break
        self.items = {module: set(ITEM.findall(code)) for module, code in self.code.items()}
        self.uses = {module: list(self.read_uses(module)) for module in self.code}
        self.exports = {module: {name: path for path, name, public in uses} for module, uses in self.uses.items()}

    def add(self, module, path):
        self.files[module] = path
        self.code[module] = without_tests(without_comments(path.read_text()))
        folder = path.parent if path.name in ("lib.rs", "main.rs", "mod.rs") else path.with_suffix("")
        for child in MOD.findall(self.code[module]):
            for candidate in (folder / f"{child}.rs", folder / child / "mod.rs"):
                if candidate.exists():
                    self.add((*module, child), candidate)

    def absolute(self, module, path):
        """Returns the path from the root of the crate, or None if it leads out of the crate."""
        path, at = list(path), module
        if path[0] == "crate":
            return tuple(path[1:])
        if path[0] in ("self", "super"):
            while path and path[0] in ("self", "super"):
                at = at[:-1] if path[0] == "super" else at
                path.pop(0)
            return (*at, *path)
        if (*module, path[0]) in self.files:
            return (*module, *path)
        return None

    def inline(self, module, path):
        """Returns the path from the root of the crate for a path in an expression, which may begin with a name that is
        bound by `use`."""
        bound = self.exports[module].get(path[0])
        return (*bound, *path[1:]) if bound else self.absolute(module, path)

    def read_uses(self, module):
        for public, tree in USE.findall(self.code[module]):
            for path, name in expand(tree):
                if path := self.absolute(module, path):
                    yield path, name, bool(public)

    def definition(self, path, seen=()):
        """Returns the module whose file defines the item that a path names."""
        if path in seen:
            return None
        module = ()
        for length in range(len(path), -1, -1):
            if path[:length] in self.files:
                module = path[:length]
                break
        rest = path[len(module):]
        if not rest or rest[0] == "*" or rest[0] in self.items[module]:
            return module
        if rest[0] in self.exports[module]:
            return self.definition((*self.exports[module][rest[0]], *rest[1:]), (*seen, path))
        return module

    def imports(self):
        """Returns, for each module, the modules that define items it names, each with one such name."""
        edges = {}
        for module, code in self.code.items():
            body = USE.sub("", code)
            named = [path for path, name, public in self.uses[module]
                     if not public or re.search(rf"\b{re.escape(name)}\b", body)]
            named += [self.inline(module, path.split("::")) for path in INLINE.findall(body)]
            for path in filter(None, named):
                target = self.definition(path)
                # A path to a module alone is not an import: the items reached through it count where they are named.
                if target is not None and target != module and target != path:
                    edges.setdefault(module, {}).setdefault(target, path[-1])
        return edges

    def name(self, module):
        return str(self.files[module].relative_to(self.root))


def cycles(edges):
    """Returns the strongly connected components of more than one module (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in edges.get(node, {}):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            component = []
            while True:
                component.append(stack.pop())
                if component[-1] == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    for node in list(edges):
        if node not in index:
            visit(node)
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    options.add_argument("--edges", action="store_true", help="list the imports")
    options = options.parse_args()
    problems = count = 0
    for path in CRATES:
        source = options.root / path / "src"
        if not source.exists():
            continue
        crate, layers = Crate(source), LAYERS.get(path, [])
        layer = {module: number for number, row in enumerate(layers) for module in row}
        edges = crate.imports()
        count += sum(map(len, edges.values()))
        for module, targets in sorted(edges.items()):
            for target, name in sorted(targets.items()):
                if options.edges:
                    print(f"{path}: {crate.name(module)} -> {crate.name(target)} ({name})")
                if not target:
                    print(f"{path}: {crate.name(module)} imports {name} from {crate.name(target)}, the root of the crate")
                    problems += 1
                    continue
                neighbors = len(target) > 1 and target[0] == APART.get(path) and module[:1] == target[:1]
                if neighbors and module[1:2] != target[1:2]:
                    print(f"{path}: {crate.name(module)} imports {name} from {crate.name(target)}, its neighbor")
                    problems += 1
                if not layers or not module or module[0] == target[0]:
                    continue
                # A module that no layer lists may import nothing, and nothing may import it.
                if layer.get(module[0], -1) < layer.get(target[0], len(layers)):
                    print(f"{path}: {crate.name(module)} imports {name} from {crate.name(target)}, a higher layer")
                    problems += 1
        for component in cycles(edges):
            print(f"{path}: imports in a circle: {', '.join(map(crate.name, component))}")
            for module in component:
                for target, name in sorted(edges.get(module, {}).items()):
                    if target in component:
                        print(f"    {crate.name(module)} -> {crate.name(target)} ({name})")
            problems += 1
    if problems:
        sys.exit(f"{problems} problems")
    print(f"{count} imports, no circles, none upward")


if __name__ == "__main__":
    main()
