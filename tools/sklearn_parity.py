"""Fits scikit-learn's SVC to training rows from a test, and compares its decisions on unseen states with the test's.

Called by crates/echostack/tests/sklearn_parity.rs with a folder. Exits with 1 if decision values differ by more than 1e-4,
if a prediction differs, or (for reservoirs with long memory) if the number of support vectors differs.
"""
import pathlib
import sys

import numpy as np
from sklearn.svm import SVC


def compare(folder, name):
    columns, support = map(int, (folder / f"{name}.size").read_text().split())

    def read(suffix, kind):
        return np.fromfile(folder / f"{name}.{suffix}", dtype=kind)

    x, y = read("x", "<f8").reshape(-1, columns), read("y", "<i8")
    states, classes = read("states", "<f8").reshape(-1, columns), read("classes", "<i8")
    values = read("values", "<f8").reshape(len(states), -1)
    svc = SVC(kernel="rbf", gamma="scale", C=100.0, tol=1e-6, decision_function_shape="ovo").fit(x, y)
    theirs = svc.decision_function(states)
    if theirs.ndim == 1:  # two classes: positive values of scikit-learn mean the second
        theirs = -theirs[:, None]
    difference = np.abs(theirs - values).max()
    wrong = int((svc.predict(states) != classes).sum())
    same_support = svc.n_support_.sum() == support or "-short-" in name  # see long_memory in the test
    good = difference <= 1e-4 and wrong == 0 and same_support
    print(f"{'ok  ' if good else 'BAD '}{name}: {len(x)} rows, {len(svc.classes_)} classes, {len(states)} states; values "
          f"differ by {difference:.1e} at most, {wrong} predictions; support {support} and {svc.n_support_.sum()}")
    return good


def main():
    folder = pathlib.Path(sys.argv[1])
    names = sorted(path.stem for path in folder.glob("*.size"))
    good = [compare(folder, name) for name in names]
    print(f"{sum(good)} of {len(good)} classifiers agree")
    sys.exit(0 if good and all(good) else 1)


main()
