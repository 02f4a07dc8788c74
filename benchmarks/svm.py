"""Times scikit-learn's SVC on the rows written by examples/svm_speed.rs, and compares with the seconds that it printed.

Usage: svm.py FOLDER SECONDS. `make speed` calls it.
"""
import pathlib
import sys
import time

import numpy as np
from sklearn.svm import SVC


def main():
    folder, ours = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    sets = []
    for name in ("pop", "push", "output"):
        y = np.fromfile(folder / f"{name}.y", dtype="<i8")
        sets.append((np.fromfile(folder / f"{name}.x", dtype="<f8").reshape(len(y), -1), y))
    start = time.perf_counter()
    for x, y in sets:
        SVC(kernel="rbf", gamma="scale", C=100.0).fit(x, y)
    theirs = time.perf_counter() - start
    shapes = ", ".join(f"{x.shape[0]} x {x.shape[1]} in {len(set(y))} classes" for x, y in sets)
    print(f"support vector machines on {shapes}: ours {ours:.4f} s, scikit-learn {theirs:.4f} s, {theirs / ours:.2f} times faster")


main()
