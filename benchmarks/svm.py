"""Times scikit-learn's SVC on the rows written by src/bin/svm_speed.rs; benchmarks/speed.py calls it."""

import time
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

SETS = ("pop", "push", "output")


def train(folder: Path) -> float:
    """Returns the CPU seconds of training on all sets of rows."""
    sets = []
    for name in SETS:
        y = np.fromfile(folder / f"{name}.y", dtype="<i8")
        sets.append((np.fromfile(folder / f"{name}.x", dtype="<f8").reshape(len(y), -1), y))
    start = time.process_time()
    for x, y in sets:
        SVC(kernel="rbf", gamma="scale", C=100.0).fit(x, y)
    return time.process_time() - start
