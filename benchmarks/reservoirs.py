"""Compares EchoStateNetwork with its defaults, and ReservoirPy with the settings of its tutorial, over several seeds.

    python benchmarks/reservoirs.py [SEEDS]

Both get the same series, with 500 neurons. Mackey-Glass (tau 17, rescaled to -1 to 1 as in the tutorial): 10 steps
ahead, 4,000 steps for training and 2,000 for the test, as root mean square error divided by the standard deviation.
Lorenz (h 0.02, standardized): trained on 5,000 steps to predict the next one, then run freely from five places; the
valid time is the time until the error exceeds 0.4 of the standard deviation, in Lyapunov times (the exponent is 0.906).
"""

import sys
import time

import numpy as np
import reservoirpy
from reservoirpy.nodes import Reservoir, Ridge

import echostack as es
from echostack.datasets import lorenz, mackey_glass

NEURONS, AHEAD, FREE = 500, 10, 1000
PLACES = range(5200, 10_200, 1000)


class Theirs:
    """The settings of ReservoirPy's introductory tutorial."""

    def __init__(self, seed):
        self.reservoir = Reservoir(
            NEURONS, lr=0.3, sr=1.25, input_scaling=1.0, rc_connectivity=0.1, input_connectivity=0.2, seed=seed
        )
        self.model = self.reservoir >> Ridge(ridge=1e-8)

    def fit(self, x, y):
        self.model.fit(x, y, warmup=100)

    def predict(self, x):
        self.model.reset()
        return self.model.run(x)

    def forecast(self, x, steps):
        output = self.predict(x)[-1:]
        all_ = [output]
        for _ in range(steps - 1):
            output = self.model.run(output.reshape(1, -1))
            all_.append(output)
        return np.vstack(all_)


class Ours:
    def __init__(self, seed):
        self.network = es.EchoStateNetwork(random_state=seed)

    def fit(self, x, y):
        self.network.fit(x, y)

    def predict(self, x):
        return self.network.predict(x)

    def forecast(self, x, steps):
        return self.network.forecast(steps, x)


class Quiet(Ours):
    """Settings for a series that is run freely: weaker inputs and less memory than the defaults."""

    def __init__(self, seed):
        quiet = es.RandomReservoir(NEURONS, radius=0.9, density=0.1, input_scale=0.1, bias_scale=0.3, leak=0.5)
        self.network = es.EchoStateNetwork(quiet, random_state=seed)


def timed(call):
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def glass(kind, seed, x):
    model = kind(seed)

    def run():
        model.fit(x[: 4000 - AHEAD], x[AHEAD:4000])
        return model.predict(x[:-AHEAD])[4000 - AHEAD :]

    given, wall, cpu = timed(run)
    wanted = x[4000:]
    return np.sqrt(np.mean((given - wanted) ** 2)) / wanted.std(), wall, cpu


def free(kind, seed, x):
    model = kind(seed)
    _, wall, cpu = timed(lambda: model.fit(x[:4999], x[1:5000]))
    times = []
    for place in PLACES:
        given = model.forecast(x[place - 200 : place], FREE)
        error = np.sqrt(((given - x[place : place + FREE]) ** 2).sum(axis=1) / 3)
        times.append((np.argmax(error > 0.4) if (error > 0.4).any() else FREE) * 0.02 * 0.906)
    return float(np.mean(times)), wall, cpu


def main(seeds):
    series = mackey_glass(6000)
    series = 2 * (series - series.min()) / (series.max() - series.min()) - 1
    chaos = lorenz(PLACES[-1] + FREE)
    chaos = (chaos - chaos.mean(axis=0)) / chaos.std(axis=0)
    print(f"echostack {es.__version__}, ReservoirPy {reservoirpy.__version__}, {seeds} seeds: mean (lowest to highest)")
    for name, measure, data, form in (("Mackey-Glass, NRMSE", glass, series, ".1e"), ("Lorenz, valid time", free, chaos, ".1f")):
        for kind in (Ours, Quiet, Theirs):
            results = np.array([measure(kind, seed, data) for seed in range(1, seeds + 1)])
            shown = f"{results[:, 0].mean():{form}} ({results[:, 0].min():{form}} to {results[:, 0].max():{form}})"
            print(f"| {name} | {kind.__name__} | {shown} | {results[:, 1].mean():.2f} s | {results[:, 2].mean():.2f} s |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
