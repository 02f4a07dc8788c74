#!/usr/bin/env python3
"""Runs a cluster with two executors, kills one of them at a random moment, and checks that every row has exactly one
verdict, the one that a single process gives. Needs pyarrow.

    faults.py target/release/echostack-engine json.table --rows 10000000 --runs 10
"""

import argparse
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq


def write_words(folder, rows, files, symbols, generator):
    """Writes rows of random words, as numbers of terminals, with the number of each row."""
    folder.mkdir()
    pool = [[generator.randrange(symbols) for _ in range(generator.randrange(24))] for _ in range(10_000)]
    pool = pa.array(pool, pa.list_(pa.int32()))
    for file in range(files):
        first, end = rows * file // files, rows * (file + 1) // files
        picks = pa.array([generator.randrange(len(pool)) for _ in range(first, end)])
        table = pa.table({"row": pa.array(range(first, end), pa.int64()), "words": pool.take(picks)})
        pq.write_table(table, folder / f"{file:03}.parquet")


def verdicts(folder):
    """Returns the rows of all outputs, sorted by their numbers."""
    files = sorted(str(path) for path in folder.glob("*.parquet"))
    table = ds.dataset(files).to_table(columns=["row", "verdict", "position"])
    return table.sort_by("row").combine_chunks()


def port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(engine, listens, *options):
    process = subprocess.Popen(
        [engine, "cluster", *options], env={**os.environ, "RUST_LOG": "error"}, stderr=subprocess.DEVNULL
    )
    for _ in range(600):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", listens)) == 0:
                return process
        time.sleep(0.05)
    sys.exit(f"nothing listens on port {listens}")


def cluster(engine, folder):
    """Starts a scheduler and two executors, which may read the folder."""
    scheduler, read = port(), ("--read", str(folder))
    running = [start(engine, scheduler, "scheduler", "--bind", f"127.0.0.1:{scheduler}", "--timeout", "10", *read)]
    for _ in range(2):
        own = port()
        options = ("--scheduler", f"127.0.0.1:{scheduler}", "--bind", f"127.0.0.1:{own}", "--slots", "1", "--allow-root")
        running.append(start(engine, own, "executor", *options, *read))
    return f"127.0.0.1:{scheduler}", running


def score(engine, folder, output, *options):
    command = [engine, "score", "table", "in", "-q", "-o", output, *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", type=pathlib.Path)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--symbols", type=int, default=9, help="the number of terminals that words are made of")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    engine, generator = str(args.engine.resolve()), random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copy(args.table, folder / "table")
        write_words(folder / "in", args.rows, args.files, args.symbols, generator)
        assert score(engine, folder, "alone").wait() == 0
        alone = verdicts(folder / "alone")
        assert alone["row"].combine_chunks().equals(pa.array(range(args.rows), pa.int64()))
        counts = pc.value_counts(alone["verdict"]).to_pylist()
        print(f"{args.rows} rows in {args.files} files, seed {args.seed}; " + ", ".join(
            f"{count['values']} {count['counts']}" for count in counts
        ))
        print("\n| run | killed after, s | seconds | rows | equal to one process |\n|---|---|---|---|---|")
        whole = None
        for run in range(args.runs + 1):
            address, running = cluster(engine, folder)
            begin = time.monotonic()
            client = score(engine, folder, "out", "--cluster", address)
            # The first run is undisturbed; it tells how long a run takes.
            moment = generator.uniform(0, whole) if whole else None
            if moment is not None:
                time.sleep(moment)
                running[generator.choice([1, 2])].kill()
            code = client.wait()
            seconds = time.monotonic() - begin
            whole = whole or seconds
            for process in running:
                process.kill()
                process.wait()
            assert code == 0, f"run {run} ended with code {code}"
            found = verdicts(folder / "out")
            killed = "none" if moment is None else f"{moment:.2f}"
            print(f"| {run} | {killed} | {seconds:.1f} | {found.num_rows} | {found.equals(alone)} |", flush=True)
            assert found.equals(alone)
            shutil.rmtree(folder / "out")


if __name__ == "__main__":
    main()
