#!/usr/bin/env python3
"""Writes the reference pages of the book: of the commands, from their help, and of the Python package, from its docstrings.

reference.py [--check] [--echostack PROGRAM] [--engine PROGRAM]

The Python package is read and not imported, so nothing has to be built for its page. The pages of the commands are written
if the programs are given. With --check, nothing is written, and the exit code is 1 if a page is not up to date.
"""

import argparse
import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/python/echostack"


# Commands


def help_of(program, *command):
    quiet = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    done = subprocess.run([program, *command], capture_output=True, text=True, check=True, env=quiet)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


def entry(name, description):
    """Formats an option or an argument as an item of a list."""
    text, values = [], []
    for line in description:
        value = re.match(r"- (\w[\w-]*)(?::\s*(.*))?$", line)
        if value:
            values.append(f"`{value.group(1)}`" + (f" ({escape(value.group(2))})" if value.group(2) else ""))
        elif line and line != "Possible values:":
            text.append(line)
    told = " ".join(text)
    default = re.search(r" ?\[default: (.*?)\]", told)
    told = told.replace(default.group(), "") if default else told
    listed = re.search(r" ?\[possible values: (.*?)\]", told)
    if listed:
        told, values = told.replace(listed.group(), ""), [f"`{value}`" for value in listed.group(1).split(", ")]
    told = escape(told) + (f". One of {', '.join(values)}" if values else "")
    return f"- `{name}`: {told}" + (f" (default: `{default.group(1)}`)" if default else "")


def escape(text):
    """Escapes what Markdown would take for markup; what is between backquotes stays."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([<>*_\[\]|])", r"\\\1", part) for part in parts)


def formatted(text, hidden=()):
    """Formats the help of a command as Markdown, without the headings that are hidden."""
    about, _, rest = text.partition("\nUsage: ")
    usage, _, rest = rest.partition("\n")
    out = [escape(" ".join(about.split())) + ("" if about.strip().endswith(".") else "."), "", "```text", usage.strip(), "```", ""]
    for part in re.split(r"\n\n(?=\S)", rest.strip("\n")):
        heading, _, body = part.partition("\n")
        if heading.rstrip(":") in hidden:
            continue
        if heading == "Examples:":
            examples = [re.sub(r"^  ", "", line) for line in body.splitlines()]
            out += ["Examples:", "", "```text", *strip(examples), "```", ""]
        elif heading.endswith(":") and re.match(r"\s+(-|<|\[)", body):
            listed = entries(body)
            out += [f"**{heading[:-1]}**", "", *listed, ""] if listed else []
        elif heading == "Commands:":
            out += ["**Commands**", "", *(f"- `{name}`: {escape(told)}" for name, told in re.findall(r"^  (\w+)\s+(.*)$", body, re.M) if name != "help"), ""]
        else:
            out += [escape(part.replace("\n", " ")), ""]
    return "\n".join(strip(out))


def strip(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def entries(body):
    found = []
    for line in body.splitlines():
        start = re.match(r" {2,6}(-\S.*?|<\S.*?|\[\S.*?)(?: {2,}(\S.*))?$", line)
        if start and not line.startswith(" " * 8):
            found.append((start.group(1), [start.group(2)] if start.group(2) else []))
        elif found:
            found[-1][1].append(line.strip())
    return [entry(*item) for item in found if item[0] not in ("-h, --help", "-V, --version")]


def command(program, *names):
    """Returns the section of a command, with those of the commands in it."""
    text = help_of(program, "help", *names)
    out = ["", f"{'#' * (len(names) + 2)} {' '.join(names)}", "", formatted(text, ["Options of all commands"])]
    if "needs the program echostack-engine" in text:
        out[-1] = out[-1].split("The options are those")[0] + f"[The engine's commands](command-line-engine.md#{names[0]}) has the options."
    for inner in re.findall(r"^  (\w+) ", text.partition("\nCommands:")[2].partition("\nOptions")[0], re.M):
        if inner != "help":
            out += command(program, *names, inner)
    return out


def commands(program):
    """Returns the page of all commands of `echostack`."""
    overview = help_of(program, "--help")
    grouped, _, everywhere = overview.partition("Options of all commands:\n")
    groups = re.findall(r"^(\w[\w ]*):\n((?:  \w+ .*\n)+)", grouped, re.M)
    out = [
        "# Command line",
        "",
        "This page has the help of every command, as `echostack help COMMAND` prints it. `tools/reference.py` writes it.",
        "[Getting started](getting-started.md) explains the commands with sessions, and has a [table of exit codes](getting-started.md#exit-codes).",
        "",
        "All commands have these options, besides `--help`; `--version` prints the version:",
        "",
        *entries(everywhere),
    ]
    for title, listed in groups:
        out += ["", f"## {title}"]
        for name in re.findall(r"^  (\w+) ", listed, re.M):
            if name != "help":
                out += command(program, name)
    return "\n".join(out) + "\n"


def engine_commands(program):
    """Returns the page of the commands of `echostack-engine`."""
    out = [
        "# Commands of the engine",
        "",
        "These commands belong to the program `echostack-engine`, and `echostack` passes them on to it. [Many files](scale.md)",
        "says how to build it, and explains what the commands do. `tools/reference.py` writes this page.",
    ]
    for name in ["score", "contexts", "pack", "cluster"]:
        text = help_of(program, name, "--help")
        out += ["", f"## {name}", "", formatted(text, ["Options of all commands"])]
        if "\nCommands:" in text:
            for inner in re.findall(r"^  (\w+) ", text.split("\nCommands:")[1].split("\nOptions:")[0], re.M):
                if inner != "help":
                    out += ["", f"### {name} {inner}", "", formatted(help_of(program, name, inner, "--help"), ["Options of all commands"])]
    return "\n".join(out).replace("echostack-engine score", "echostack score") + "\n"


# Python


def modules():
    return {file.stem: ast.parse(file.read_text()) for file in sorted(PACKAGE.glob("*.py"))}


def names_of(module):
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            return ast.literal_eval(node.value)
    return []


def signature(function, name, skip_first):
    arguments = function.args
    if skip_first:
        arguments = ast.arguments(**{field: getattr(arguments, field) for field in arguments._fields})
        arguments.args = arguments.args[1:]
    plain = ast.arguments(**{field: getattr(arguments, field) for field in arguments._fields})
    bare = lambda args: [ast.arg(arg=arg.arg) for arg in args]
    plain.args, plain.kwonlyargs, plain.posonlyargs = bare(plain.args), bare(plain.kwonlyargs), bare(plain.posonlyargs)
    plain.vararg = plain.vararg and ast.arg(arg=plain.vararg.arg)
    plain.kwarg = plain.kwarg and ast.arg(arg=plain.kwarg.arg)
    written = ast.unparse(plain)
    # Defaults that are computed are given in the list of parameters.
    return f"{name}({re.sub(r'_DEFAULTS[^,)]*', '...', written)})"


def markdown(doc):
    """Turns a docstring in numpydoc's form into Markdown."""
    doc = re.sub(r":(?:class|meth|func|mod|attr):`~?([^`]*)`", r"``\1``", inspect.cleandoc(doc))
    out, section = [], None
    lines = doc.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if at + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[at + 1]):
            section = line
            out += ["", f"*{section}*", ""]
            at += 2
            continue
        if line.startswith(">>>"):
            block = []
            while at < len(lines) and lines[at].strip():
                block.append(lines[at])
                at += 1
            out += ["```pycon", *block, "```"]
            continue
        item = section in ("Parameters", "Attributes", "Returns", "Yields", "Raises") and line and not line.startswith(" ")
        if item:
            name, _, kind = line.partition(" : ")
            text = []
            while at + 1 < len(lines) and (lines[at + 1].startswith(" ") or (not lines[at + 1] and at + 2 < len(lines) and lines[at + 2].startswith(" "))):
                at += 1
                text.append(lines[at].strip())
            out.append(f"- `{name}`" + (f" ({spans(kind)})" if kind else "") + f": {spans(' '.join(text))}")
        else:
            out.append(spans(line))
        at += 1
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip()


def spans(text):
    """Turns the code of a docstring, between two backquotes on each side, into that of Markdown."""
    return escape(text.replace("``", "`"))


def decorators(node):
    return {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}


def of_class(node, classes):
    out = []
    start = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
    bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
    shown = signature(start, node.name, True) if start and not node.name.endswith("Error") and "native" not in ast.unparse(start.args) else node.name
    out += ["```py", f"class {shown}", "```", "", markdown(ast.get_docstring(node) or "")]
    inherited = [base for base in bases if base in classes]
    if inherited:
        out += ["", "It also has the methods of " + " and ".join(f"[`{base}`](#{base.lower()})" for base in inherited) + "."]
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or item.name.startswith("_"):
            continue
        doc = ast.get_docstring(item)
        if not doc:
            continue
        kinds = decorators(item)
        if "property" in kinds:
            out += ["", f"#### {node.name}.{item.name}", "", markdown(doc)]
        else:
            called = signature(item, item.name, "staticmethod" not in kinds)
            out += ["", f"#### {node.name}.{item.name}", "", "```py", f"{node.name}.{called}" if "classmethod" in kinds else called, "```", "", markdown(doc)]
    return out


def python_page():
    parsed = modules()
    public = [name for name in names_of(parsed["__init__"]) if not name.startswith("__")]
    defined = {node.name: (module, node) for module, tree in parsed.items() for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    groups = [
        ("Languages", ["Language", "from_grammar", "infer", "task_names"]),
        ("Machines and tables", ["ReservoirStackMachine", "CompiledTable", "Recognizer", "load", "Session", "Verdict", "Token", "Parse", "Certificate", "Difference", "Extraction"]),
        ("Reservoirs and networks", ["CycleReservoir", "RandomReservoir", "LegendreReservoir", "MatrixReservoir", "EchoStateNetwork", "NetworkState", "memory_capacity"]),
        ("Traces", ["Trace", "Step", "read_traces", "write_traces"]),
    ]
    for module in ("datasets", "plots", "errors"):
        groups.append((f"echostack.{module}", names_of(parsed[module])))
    covered = {name for _, names in groups for name in names}
    missing = [name for name in public if name in defined and name not in covered]
    if missing:
        sys.exit(f"tools/reference.py has no group for {', '.join(missing)}")
    out = [
        "# Python reference",
        "",
        "This page has the docstrings of the package `echostack`; `tools/reference.py` writes it, and the tests run its examples.",
        "[The package's first page](../python/README.md) shows how the parts fit together.",
    ]
    for title, names in groups:
        out += ["", f"## {title}"]
        for name in names:
            if name not in defined:
                continue
            node = defined[name][1]
            out += ["", f"### {name}", ""]
            if isinstance(node, ast.ClassDef):
                out += of_class(node, covered)
            else:
                out += ["```py", signature(node, name, False), "```", "", markdown(ast.get_docstring(node) or "")]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--echostack")
    parser.add_argument("--engine")
    given = parser.parse_args()
    pages = {"python-reference.md": python_page()}
    if given.echostack:
        pages["command-line.md"] = commands(Path(given.echostack).resolve())
    if given.engine:
        pages["command-line-engine.md"] = engine_commands(Path(given.engine).resolve())
    old = [name for name, text in pages.items() if not (ROOT / "docs" / name).exists() or (ROOT / "docs" / name).read_text() != text]
    for name in old:
        if given.check:
            print(f"docs/{name} is not up to date; CONTRIBUTING.md says how to write it", file=sys.stderr)
        else:
            (ROOT / "docs" / name).write_text(pages[name])
    print(f"{len(pages)} reference pages: {', '.join(pages)}; {len(old)} {'not up to date' if given.check else 'written'}")
    sys.exit(bool(given.check and old))


if __name__ == "__main__":
    main()
