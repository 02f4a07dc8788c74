"""Tries reservoirs of several sizes and seeds with joblib, and prints which ones learn a language without mistakes.

    python search_with_joblib.py [TASK]

The trials run on all cores, and each result depends only on the parameters of its trial. Machines are transferred
between processes in the form of their model files.
"""

import sys

from joblib import Parallel, delayed

import echostack as es


def trial(task: str, neurons: int, seed: int) -> tuple[int, int, float, es.ReservoirStackMachine]:
    language = es.Language.task(task)
    words, traces = language.examples(100, negatives=0.5, random_state=seed)
    machine = es.ReservoirStackMachine(es.CycleReservoir(neurons), random_state=seed, n_jobs=1).fit(words, traces)
    return neurons, seed, machine.score(*language.examples(100, test=True, random_state=seed + 1000)), machine


def search(task: str = "dyck2", sizes: tuple[int, ...] = (16, 64, 256), seeds: int = 4, workers: int = 2):
    trials = (delayed(trial)(task, neurons, seed) for neurons in sizes for seed in range(seeds))
    return Parallel(n_jobs=workers)(trials)


if __name__ == "__main__":
    for neurons, seed, score, _ in search(*sys.argv[1:]):
        print(f"{neurons:4} neurons, seed {seed}: {score:.2f}")
