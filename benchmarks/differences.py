"""Compares the Python package and the engine with LR(1) automata, on words that `differential` has written.

    ECHOSTACK_WRITE=FOLDER cargo run --release --manifest-path fuzz/Cargo.toml --example differential -- 80000 5 testdata/grammars/*
    python benchmarks/differences.py echostack-engine testdata/grammars FOLDER

Each file of words is judged by a proved machine and by its table: as lists of tokens, as an Arrow column, and by
`echostack-engine score`. Verdict and position must be those of the automaton. Requires the package and pyarrow.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import echostack as es


def differences(found, truth):
    """Counts the verdicts that differ."""
    assert len(found) == len(truth), f"{len(found)} verdicts on {len(truth)} words"
    return sum(one != (verdict, at) for one, (verdict, at) in zip(found, truth))


def place(verdict, position):
    """Leaves out the positions that need not be the same: only those of rejected words must be."""
    return verdict, position if verdict in ("reject", "stopped") else None


def by_lists(recognizer, words):
    return [place(one.verdict, one.position) for one in recognizer.check_all(words)]


def by_arrow(recognizer, words):
    batch = pa.record_batch(recognizer.check_arrow(pa.array(words, pa.list_(pa.string()))))
    return list(map(place, batch["verdict"].to_pylist(), batch["position"].to_pylist()))


def by_engine(engine, recognizer, path):
    with tempfile.TemporaryDirectory() as folder:
        recognizer.save(Path(folder) / "model")
        out = Path(folder) / "out"
        command = [engine, "score", Path(folder) / "model", path, "--output", out, "--keep", "row", "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        tables = [pq.read_table(file) for file in sorted(out.rglob("*.parquet"))]
    table = pa.concat_tables(tables).sort_by("row")
    assert table["row"].to_pylist() == list(range(len(table))), "a row is missing or comes twice"
    return list(map(place, table["verdict"].to_pylist(), table["position"].to_pylist()))


def main(engine, grammars, folder):
    total = wrong = 0
    print("| grammar | words | machine, lists | table, lists | table, Arrow | engine | CPU s |\n|---|---|---|---|---|---|---|")
    for path in sorted(Path(folder).glob("*.jsonl")):
        start = time.process_time()
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        words = [line["words"] for line in lines]
        truth = [place(line["truth"], line["at"]) for line in lines]
        language = es.from_grammar(Path(grammars) / path.stem)
        machine = es.ReservoirStackMachine(random_state=0).fit_language(language, prove=True)
        table = machine.compile(language)
        found = [
            differences(by_lists(machine, words), truth),
            differences(by_lists(table, words), truth),
            differences(by_arrow(table, words), truth),
            differences(by_engine(engine, table, path), truth),
        ]
        total, wrong = total + len(words), wrong + sum(found)
        cells = " | ".join(map(str, found))
        print(f"| {path.stem} | {len(words)} | {cells} | {time.process_time() - start:.0f} |", flush=True)
    print(f"| together | {total} | {wrong} differences |")
    return wrong != 0 or total == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
