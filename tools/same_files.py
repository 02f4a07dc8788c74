#!/usr/bin/env python3
"""Checks that two builds write the same files, which a refactoring must not change.

    tools/same_files.py write target/debug/echostack FOLDER [--lua]
    tools/same_files.py compare FOLDER OTHER

`write` trains, proves, extracts, compiles and exports every language and grammar with fixed seeds. `compare` reports
each difference. Tensors, tables, certificates and texts must be byte-identical. Manifests, and the digests of models
that depend on them, may differ; each key that differs is listed.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TASKS = ["latch", "dyck1", "dyck2", "dyck3", "anbn", "palindrome", "json"]
GRAMMARS = sorted(path.name for path in (ROOT / "testdata/grammars").iterdir() if path.name != "lua")


def run(program, *arguments, ok=(0,)):
    done = subprocess.run([program, "--quiet", *map(str, arguments)], capture_output=True, text=True, cwd=ROOT)
    if done.returncode not in ok:
        sys.exit(f"{' '.join(map(str, arguments))}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def write(program, folder, lua):
    program = str(Path(program).resolve())
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    jobs = []
    for task in TASKS:
        for reservoir in ("cycle", "random", "legendre"):
            jobs.append((f"task-{task}-{reservoir}", [f"task:{task}", "--reservoir", reservoir], f"task:{task}"))
    for grammar in GRAMMARS:
        path = f"testdata/grammars/{grammar}"
        for encoding in ("auto", "state"):
            jobs.append((f"{grammar}-{encoding}", [path, "--encoding", encoding], f"grammar:{path}"))
    for name, subject, against in jobs:
        model, certificate = folder / f"{name}.safetensors", folder / f"{name}.certificate.json"
        run(program, "learn", *subject, "--prove", "--seed", 3, "--certificate", certificate, "-o", model, ok=(0, 1))
        run(program, "learn", *subject, "--seed", 4, "--no-prove", "--tests", 200, "--rounds", 6, "-o", folder / f"{name}.trained.safetensors",
            ok=(0, 1))
        if not certificate.exists():
            continue
        run(program, "certify", model, "--against", against, "--check", certificate, "--write-automaton",
            folder / f"{name}.automaton.json")
        against = ["--against", against]
        run(program, "compile", model, *against, "-o", folder / f"{name}.table.safetensors")
        run(program, "compile", model, *against, "--emit", "rust", "-o", folder / f"{name}.rs")
        run(program, "compile", model, *against, "--emit", "c", "-o", folder / f"{name}.c")
        if not name.endswith("-state"):
            (folder / f"{name}.rules").write_text(run(program, "extract", model))
    for task in TASKS + ["copy", "repeat-copy"]:
        run(program, "teach", f"task:{task}", "--seed", 5, "--count", 50, "-o", folder / f"{task}.traces.jsonl")
        run(program, "learn", f"task:{task}", "--seed", 6, "--tolerant", "-o", folder / f"{task}.tolerant.safetensors")
    for task in ("dyck1", "palindrome"):
        run(program, "construct", f"task:{task}", "-o", folder / f"{task}.constructed.safetensors", ok=(0, 1))
    if lua:
        path = "testdata/grammars/lua"
        run(program, "learn", path, "--seed", 3, "--prove", "-o", folder / "lua.safetensors",
            "--certificate", folder / "lua.certificate.json", ok=(0, 1))
        run(program, "compile", folder / "lua.safetensors", "--against", f"grammar:{path}", "-o",
            folder / "lua.table.safetensors")
    print(f"{sum(1 for _ in folder.iterdir())} files")


def split(data):
    """Returns the header of a safetensors file, its manifest, and its tensors."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    metadata = {key: json.loads(value) for key, value in header.pop("__metadata__").items()}
    (kind, own), = metadata.items()
    manifest = own.pop("manifest")
    return (kind, own, header), manifest, data[8 + size:]


def code(source):
    """A generated source without its comments."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", source.decode(), flags=re.S)
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def compare(one, other):
    names = {path.name for path in one.iterdir()} | {path.name for path in other.iterdir()}
    equal, comments, manifests, faults = 0, 0, {}, []
    for name in sorted(names):
        if not (one / name).exists() or not (other / name).exists():
            faults.append(f"{name}: written by only one of them")
            continue
        a, b = (one / name).read_bytes(), (other / name).read_bytes()
        if a == b:
            equal += 1
        elif name.endswith(".safetensors"):
            (header_a, manifest_a, tensors_a), (header_b, manifest_b, tensors_b) = split(a), split(b)
            if header_a != header_b:
                faults.append(f"{name}: the headers differ")
            if tensors_a != tensors_b:
                faults.append(f"{name}: the tensors differ")
            for key in sorted(manifest_a.keys() | manifest_b.keys()):
                pair = manifest_a.get(key), manifest_b.get(key)
                if pair[0] != pair[1]:
                    manifests.setdefault(key, []).append((name, *pair))
        elif name.endswith((".rs", ".c")) and code(a) == code(b):
            comments += 1
        elif name.endswith(".certificate.json"):
            a, b = json.loads(a), json.loads(b)
            differ = {key for key in a.keys() | b.keys() if a.get(key) != b.get(key)}
            if differ != {"machine"}:
                faults.append(f"{name}: {', '.join(sorted(differ))} differ")
        else:
            faults.append(f"{name}: the texts differ")
    print(f"{len(names)} files, {equal} equal to the byte, {comments} but for comments")
    for key, found in sorted(manifests.items()):
        name, before, after = found[0]
        print(f"manifest {key}: {len(found)} files, for example {name}:\n    {before}\n    {after}")
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(1)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = options.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("program")
    writing.add_argument("folder")
    writing.add_argument("--lua", action="store_true", help="prove Lua as well: minutes")
    comparing = commands.add_parser("compare")
    comparing.add_argument("one", type=Path)
    comparing.add_argument("other", type=Path)
    options = options.parse_args()
    if options.command == "write":
        write(options.program, options.folder, options.lua)
    else:
        compare(options.one, options.other)


if __name__ == "__main__":
    main()
