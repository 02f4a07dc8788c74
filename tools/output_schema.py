"""Checks what the program prints and writes against the schemas in docs/, with the package jsonschema.

Usage: output_schema.py ECHOSTACK. docs/output.schema.json is for `check --json` and `parse --format json`, docs/schemas for
files. Also checks that the spans of a tree cover its text in order. Exits with 1 if not.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

ROOT = Path(__file__).resolve().parent.parent
GOOD = '{"é": [1, {"b": null}],\n "c": ["x", {}]}'
TEXTS = [GOOD, "[]", "[1 2]", '{"a": tru}', "[1,", "", "[\x00]"]
WORDS = ["( ) ( ( ) )", "( ) )", "( (", ")", ""]


def walk(node, text):
    """Yields the tokens of a tree, after checking the spans of its nodes."""
    start, end = node["start"], node["end"]
    for place in (start, end):
        before = text.encode()[: place["byte"]].decode()
        assert place["line"] == before.count("\n") + 1, node
        assert place["column"] == len(before) - (before.rfind("\n") + 1) + 1, node
    if "text" in node:
        assert text.encode()[start["byte"] : end["byte"]].decode() == node["text"], node
        yield node
        return
    at = start["byte"]
    for child in node["children"]:
        assert at <= child["start"]["byte"] <= child["end"]["byte"] <= end["byte"], node
        at = child["end"]["byte"]
        yield from walk(child, text)


def files(program):
    """Checks automata, traces, contexts and certificates: those that the program writes, and those in docs/format.md."""
    validators = {}
    for path in sorted((ROOT / "docs/schemas").glob("*.schema.json")):
        schema = json.loads(path.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validators[path.name.removesuffix(".schema.json")] = jsonschema.Draft202012Validator(schema)

    def printed(*arguments):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    found = [("automaton", task["automaton"]) for task in printed("tasks", "--json") if task.get("automaton")]
    found += [("traces", line) for line in printed("teach", "task:json", "--count", "50", "--negatives", "0.5")]
    found += [("traces", line) for line in printed("teach", "task:copy", "--count", "2")]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "example").write_text("[1]")
        sides = [str(ROOT / "testdata/grammars/json"), "persistent:python3 " + str(ROOT / "docs/infer/oracle.py") + " json"]
        arguments = [program, "--quiet", "compare", *sides, "--examples", folder, "--queries", "2000", "--json"]
        done = subprocess.run(arguments, capture_output=True, text=True)
        found.append(("comparison", json.loads(done.stdout)))
    with tempfile.TemporaryDirectory() as folder:
        for options in (["task:anbn"], ["task:latch", "--lookahead", "reservoir"]):
            subprocess.run([program, "learn", *options, "--certificate", f"{folder}/c", "-o", f"{folder}/m", "--quiet"], check=True)
            found.append(("certificate", json.loads(Path(folder, "c").read_text())))
    for block in re.findall(r"^```json\n(.*?)^```", (ROOT / "docs/format.md").read_text(), re.M | re.S):
        lines = block.splitlines()
        kind = json.loads(lines[0])["echostack"] if lines[0].endswith("}") else "automaton"
        found += [(kind, json.loads(line)) for line in (lines if kind != "automaton" else [block])]
    for kind, value in found:
        validators[kind].validate(value)
    assert {kind for kind, _ in found} == set(validators)
    assert not validators["traces"].is_valid({"word": ["a"], "steps": [{"shift": True}]})
    print(f"ok   {len(found)} files and lines are as docs/schemas says")


def main():
    program = Path(sys.argv[1]).resolve()
    files(program)
    schema = json.loads((ROOT / "docs/output.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)

        def run(*arguments):
            return subprocess.run([program, "--quiet", *arguments], capture_output=True, text=True).stdout

        def lines(*arguments):
            nonlocal count
            objects = [json.loads(line) for line in subprocess.run([program, *arguments], capture_output=True, text=True).stdout.splitlines()]
            for value in objects:
                validator.validate(value)
                count += 1
            return objects

        run("learn", ROOT / "testdata/grammars/json", "-o", folder / "json.safetensors")
        run("learn", "task:dyck1", "-o", folder / "dyck1.safetensors")
        run("compile", folder / "json.safetensors", "-o", folder / "json.table")
        (folder / "words").write_text("\n".join(WORDS) + "\n")
        names = []
        for number, text in enumerate(TEXTS):
            names.append(folder / f"{number}.json")
            names[-1].write_text(text)
        for model in ("json.safetensors", "json.table"):
            assert len(lines("check", "--json", folder / model, *names)) == len(TEXTS)
            trees = lines("parse", "--format", "json", folder / model, *names)
            assert len(trees) == len(TEXTS) and ["tree" in tree for tree in trees[:3]] == [True, True, False]
            texts = [node["text"] for node in walk(trees[0]["tree"], GOOD)]
            assert "".join(texts) == GOOD.replace(" ", "").replace("\n", ""), texts
            [plain] = lines("parse", "--format", "json", "--no-punctuation", folder / model, names[0])
            texts = [node["text"] for node in walk(plain["tree"], GOOD)]
            assert texts == ['"é"', "1", '"b"', "null", '"c"', '"x"'], texts
        (folder / "three.json").write_text('[1 2, {"a" 3}, tru, 4]')
        [three] = lines("check", "--json", "--errors", "5", folder / "json.table", folder / "three.json")
        assert len(three["more"]) >= 1, three
        for command in (["check", "--json"], ["check", "--json", "--max-depth", "1"], ["parse", "--format", "json"]):
            assert lines(*command, folder / "dyck1.safetensors", folder / "words")
        wrong = [{"version": 2, "file": "x", "verdict": "accept"}, {"version": 1, "file": "x", "verdict": "reject"}]
        assert not any(validator.is_valid(value) for value in wrong)
    print(f"ok   {count} objects are as docs/output.schema.json says")


if __name__ == "__main__":
    main()
