"""Times echostack and the peers in turns; `make speed` calls it.

    speed.py RELEASE FOLDER [TURNS] [OTHER]

RELEASE is the folder of the release build, FOLDER a place for files, OTHER another program `echostack`. Every turn runs
each program once, on one thread. The figures are CPU seconds: the median of all turns, with the smallest and the largest
in brackets; a ratio is computed within each turn.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

from svm import SETS, train

PEER = Path(__file__).parent / "peer.py"


def spread(values: list[float], form: str) -> str:
    low, middle, high = (format(value, form) for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} [{low} to {high}]"


def printed(*command: object) -> str:
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def compare(task: str, programs: dict[str, list[object]], turns: int) -> None:
    """Runs all programs in turns on one work item; the first one is the one that the others are compared with."""
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
    for _ in range(turns):
        for name, command in programs.items():
            runs[name].append(json.loads(printed(*command)))
    total = {name: [run["train_s"] + run["test_s"] for run in all] for name, all in runs.items()}
    ours = next(iter(total.values()))
    for name, all in runs.items():
        ratio = spread([theirs / our for theirs, our in zip(total[name], ours, strict=True)], ".1f")
        parts = (spread([run[part] for run in all], ".4f") for part in ("train_s", "test_s"))
        print(f"| {task}, {name} | {' | '.join(parts)} | {ratio} | {max(run['error'] for run in all):g} |", flush=True)


def main() -> None:
    release, folder = Path(sys.argv[1]), Path(sys.argv[2])
    turns = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    print(f"{turns} turns\n\n| | training, s | testing, s | times our time | error |\n|---|---|---|---|---|")
    for task in ("dyck1", "json"):
        work = folder / f"{task}.json"
        printed(release / "echostack", "lab", "work", f"task:{task}", "--reservoir", "cycle", "--seed", 0, "-o", work)
        bench = ["lab", "bench", "--threads", 1, "--work", work, "--json"]
        peer = [sys.executable, PEER, work]
        programs = {"echostack": [release / "echostack", *bench]}
        programs |= {"the other build": [program, *bench] for program in sys.argv[4:5]}
        programs["peer as in the paper"] = [*peer, "--stack", "recompute"]
        programs["peer, vectorised vote, cached stacks"] = [*peer, "--stack", "cached", "--vote", "numpy"]
        compare(task, programs, turns)
    ours, theirs = [], []
    for _ in range(turns):
        ours.append(float(printed(release / "svm_speed", folder)))
        theirs.append(train(folder))
    ratio = spread([theirs / ours for theirs, ours in zip(theirs, ours, strict=True)], ".2f")
    print(f"\nsupport vector machines on the {', '.join(SETS)} rows of a latch machine: ours {spread(ours, '.4f')} s, "
          f"scikit-learn {spread(theirs, '.4f')} s, {ratio} times our time")


if __name__ == "__main__":
    main()
