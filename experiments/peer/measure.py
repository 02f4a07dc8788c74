"""Times the Python peer on the cells of a record: the same words, the same reservoirs' parameters, the same cost.

    tools/python-env numpy scipy scikit-learn
    .venv/bin/python experiments/peer/measure.py experiments/reservoir/DATE/record.jsonl experiments/peer/DATE --repeats 3

For each stack machine of the record and each task that has an automaton, `echostack sample --work` writes the words of a
repeat, and benchmarks/peer.py trains and tests on them, on one core. Its states on the stack are kept (`--stack cached`), which is the faster of
its two ways. Each finished cell is appended as a line of a record, under the model's name with "-Python" behind it;
cells that are there are not done again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"rand": "random", "CRJ": "cycle", "LDN": "legendre"}


def reservoir(kind: str, choice: dict[str, float]) -> dict[str, Any]:
    """The reservoir as the peer reads it."""
    if kind == "rand":
        names = {"radius": "radius", "density": "density", "input": "input_scale"}
    elif kind == "CRJ":
        names = {"input": "input", "cycle": "cycle", "jump": "jump", "jump_length": "jump_length"}
    else:
        names = {"theta": "theta"}
    values: dict[str, Any] = {theirs: choice[ours] for ours, theirs in names.items()}
    if kind == "CRJ":
        values["jump_length"] = int(values["jump_length"])
    return {"kind": kind.lower(), "neurons": 256, **values}


def measure(echostack: Path, cell: dict[str, Any]) -> dict[str, Any]:
    kind = cell["model"].removesuffix("-RSM")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "work.json")
        sample = [str(echostack), "sample", f"task:{cell['task']}", "--work", str(path)]
        subprocess.run([*sample, "--reservoir", KINDS[kind], "--seed", str(cell["seed"])], check=True)
        work = json.loads(path.read_text())
        work["reservoir"] = reservoir(kind, cell["choice"])
        work["svm_c"] = cell["choice"]["cost"]
        path.write_text(json.dumps(work))
        peer = [sys.executable, str(ROOT / "benchmarks/peer.py"), str(path), "--stack", "cached"]
        one_core = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        seed = ["--seed", str(cell["seed"])]
        done = subprocess.run([*peer, *seed], check=True, env=os.environ | one_core, capture_output=True, text=True)
    result = json.loads(done.stdout)
    return {
        **{name: cell[name] for name in ("line", "task", "words", "repeat", "choice", "seed")},
        "model": cell["model"] + "-Python",
        "errors": {"valid": result["error"]},
        "train_seconds": result["train_s"],
        "test_seconds": result["test_s"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, help="the record whose cells are measured")
    parser.add_argument("output", type=Path, help="the folder for the peer's record")
    parser.add_argument("--repeats", type=int, default=3, help="the repeats of each cell (default: %(default)s)")
    parser.add_argument("--echostack", type=Path, default=ROOT / "target/release/echostack", help="the program")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.output / "record.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    known = {(line["task"], line["model"], line["repeat"]) for line in map(json.loads, lines)}
    cells = [json.loads(line) for line in arguments.record.read_text().splitlines()]
    cells = [cell for cell in cells if cell["line"] == "repeat" and cell["model"].endswith("-RSM")]
    cells = [cell for cell in cells if "copy" not in cell["task"] and cell["repeat"] < arguments.repeats]
    for cell in sorted(cells, key=lambda cell: (cell["repeat"], cell["task"], cell["model"])):
        if (cell["task"], cell["model"] + "-Python", cell["repeat"]) in known:
            continue
        line = measure(arguments.echostack, cell)
        with path.open("a") as record:
            record.write(json.dumps(line) + "\n")
        seconds = line["train_seconds"] + line["test_seconds"]
        print(f"{line['model']} on {line['task']}: error {line['errors']['valid']:.3f}, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
