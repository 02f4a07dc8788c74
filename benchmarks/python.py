"""Compares the Python package with the Rust library, one thread with four, and the package with ReservoirPy.

    python benchmarks/python.py target/release/examples/fit_and_judge

Requires the package, and reservoirpy for the last part.
"""

import subprocess
import sys
import threading
import time

import numpy as np

import echostack as es


def least(run, times=5):
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def beside_rust(binary):
    language = es.Language.task("dyck3")
    X, y = language.examples(100, negatives=0.5, max_length=50, random_state=0)
    machine = es.ReservoirStackMachine(random_state=0)
    fit = least(lambda: machine.fit(X, y))
    words, _ = language.examples(1000, test=True, random_state=1, strict=False)
    predict = least(lambda: machine.predict(words))
    rust_fit, rust_judge = map(float, subprocess.run([binary], capture_output=True, text=True, check=True).stdout.split())
    print(f"fit:     {fit * 1e3:.1f} ms, in Rust {rust_fit * 1e3:.1f} ms: {fit / rust_fit:.2f}")
    print(f"predict: {predict * 1e3:.1f} ms, in Rust {rust_judge * 1e3:.1f} ms: {predict / rust_judge:.2f}")
    return machine, words


def threads(machine, words):
    machine.set_params(n_jobs=1)

    def work():
        machine.predict(words)

    def at_once():
        workers = [threading.Thread(target=work) for _ in range(4)]
        [worker.start() for worker in workers]
        [worker.join() for worker in workers]

    alone, together = least(lambda: [work() for _ in range(4)], 3), least(at_once, 3)
    print(f"four predictions: {alone * 1e3:.0f} ms in turn, {together * 1e3:.0f} ms on four threads: {alone / together:.2f} times")


def beside_reservoirpy():
    import reservoirpy
    from reservoirpy.nodes import Reservoir

    steps, neurons = 100_000, 500
    x = np.random.default_rng(0).normal(size=(steps, 1))
    y = np.roll(x, 1, axis=0)
    theirs = Reservoir(neurons, sr=0.9, input_scaling=0.5, seed=1)
    states = theirs.run(x)
    dense = lambda matrix: np.asarray(matrix.todense() if hasattr(matrix, "todense") else matrix)  # noqa: E731
    W, Win, bias = dense(theirs.W), dense(theirs.Win), np.ravel(dense(theirs.bias))
    own = es.MatrixReservoir(W, Win, bias=bias if bias.size == neurons else None)
    print(f"reservoirpy {reservoirpy.__version__}: {neurons} neurons, {np.count_nonzero(W)} weights, {steps} steps")
    mine = own.run(x)
    print(f"states differ by at most {np.abs(mine - states).max():.1e}")
    run_theirs, run_mine = least(lambda: (theirs.reset(), theirs.run(x)), 2), least(lambda: own.run(x), 3)
    print(f"run:   theirs {run_theirs:.2f} s, ours {run_mine:.2f} s: {run_theirs / run_mine:.1f} times faster")

    def fit_theirs():
        from reservoirpy.nodes import Ridge

        node = Ridge(ridge=1e-6, fit_bias=False)
        node.fit(states, y)
        return node.Wout

    def fit_mine():
        return es._native.ridge(states, y, 1e-6)

    difference = np.abs(np.asarray(fit_theirs()).reshape(fit_mine().shape) - fit_mine()).max()
    time_theirs, time_mine = least(fit_theirs, 2), least(fit_mine, 3)
    print(f"ridge: theirs {time_theirs:.2f} s, ours {time_mine:.2f} s: {time_theirs / time_mine:.1f} times; differ by {difference:.1e}")
    total = (run_theirs + time_theirs) / (run_mine + time_mine)
    print(f"both:  {total:.1f} times faster")


if __name__ == "__main__":
    threads(*beside_rust(sys.argv[1]))
    beside_reservoirpy()
