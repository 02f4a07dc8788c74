"""Tests of echo state networks on time series, with defaults."""

import numpy as np
import pytest

import echostack as es
from echostack.datasets import lorenz, mackey_glass, narma


def nrmse(given, wanted):
    return np.sqrt(np.mean((given - wanted) ** 2)) / wanted.std()


@pytest.mark.parametrize("seed", range(3))
def test_mackey_glass_ten_steps_ahead_with_defaults(seed):
    x = mackey_glass(6000)
    network = es.EchoStateNetwork(random_state=seed).fit(x[:3990], x[10:4000])
    assert network.reservoir_.neurons == 500
    assert nrmse(network.predict(x[:-10])[3990:], x[4000:]) <= 4e-4


def test_lorenz_runs_freely():
    x = lorenz(6000)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    reservoir = es.RandomReservoir(500, radius=0.9, density=0.1, input_scale=0.1, bias_scale=0.3, leak=0.5)
    network = es.EchoStateNetwork(reservoir, random_state=0).fit(x[:4999], x[1:5000])
    steps = int(5 / 0.906 / 0.02)  # five Lyapunov times
    given = network.forecast(steps)  # the last input was x[4998]
    assert np.sqrt(((given - x[4999 : 4999 + steps]) ** 2).sum(axis=1) / 3).max() < 0.4
    np.testing.assert_allclose(network.forecast(20, x[4700:4999]), given[:20], atol=1e-3)


def test_states_are_carried_over():
    x = mackey_glass(500)
    for feedback in (False, True):
        network = es.EchoStateNetwork(es.RandomReservoir(50, density=0.2), feedback=feedback, random_state=0).fit(x[:-1], x[1:])
        whole, end = network.run(x)
        first, state = network.run(x[:200])
        second, state = network.run(x[200:], state)
        np.testing.assert_allclose(np.concatenate([first, second]), whole, atol=1e-12)
        np.testing.assert_allclose(state.neurons, end.neurons, atol=1e-12)
        np.testing.assert_allclose(network.predict(x), whole, atol=1e-12)
    reservoir = es.CycleReservoir(50)
    states = reservoir.run(x)
    np.testing.assert_allclose(reservoir.run(x[200:], start=states[199]), states[200:], atol=1e-12)


def test_feedback_remembers_for_as_long_as_needed():
    # A flip-flop: rare pulses on two channels set the output to 1 and to -1.
    pulses = np.random.default_rng(0).choice(3, size=3000, p=[0.98, 0.01, 0.01])
    u, y, last = np.eye(3)[pulses][:, 1:], np.zeros(3000), 1.0
    for step, pulse in enumerate(pulses):
        last = (last, 1.0, -1.0)[pulse]
        y[step] = last
    right = []
    for feedback in (True, False):
        reservoir = es.RandomReservoir(200, density=0.1, radius=0.5)
        network = es.EchoStateNetwork(reservoir, feedback=feedback, alpha=1e-2, random_state=0).fit(u[:2000], y[:2000])
        assert network.reservoir_.W_in.shape == (200, 3 if feedback else 2)
        right.append(np.mean(np.sign(network.run(u[2000:], network.state_)[0]) == y[2000:]))
    assert right[0] == 1.0 > 0.9 > right[1]


def test_the_intercept_is_not_penalized():
    x = mackey_glass(800)
    fits = [es.EchoStateNetwork(alpha=1e9, fit_intercept=one, random_state=0).fit(x, x + 100) for one in (True, False)]
    assert abs(fits[0].predict(x)[100:].mean() - 101) < 0.2
    assert abs(fits[1].predict(x)[100:].mean()) < 1


@pytest.mark.parametrize("reservoir", [es.RandomReservoir(60, leak=0.4, bias_scale=0.2, density=0.1), es.CycleReservoir(60), es.LegendreReservoir(60)])
def test_weights_are_read_and_given(reservoir):
    built = reservoir.build(2, random_state=3)
    x = np.random.default_rng(0).normal(size=(50, 2))
    again = es.MatrixReservoir(built.W, built.W_in, bias=built.bias, leak=built.leak, activation=built.activation)
    wanted = built.run([x])[0]
    np.testing.assert_allclose(again.run(x), wanted, atol=1e-12)
    state = np.zeros(60)
    function = np.tanh if built.activation == "tanh" else lambda values: values
    for row, after in zip(x, wanted):
        state = (1 - built.leak) * state + built.leak * function(built.W @ state + built.W_in @ row + built.bias)
        np.testing.assert_allclose(after, state, atol=1e-12)
    sparse = pytest.importorskip("scipy.sparse")
    np.testing.assert_allclose(
        es.MatrixReservoir(sparse.csr_array(built.W), built.W_in, bias=built.bias, leak=built.leak, activation=built.activation).run(x),
        wanted,
        atol=1e-12,
    )


def test_memory_capacity():
    delays = np.diag(np.ones(9), -1)  # a delay line with ten neurons remembers ten inputs, the last one included
    line = es.MatrixReservoir(delays, np.eye(10, 1), activation="identity")
    capacity, by_delay = es.memory_capacity(line, n_delays=20, random_state=0)
    np.testing.assert_allclose(by_delay[:9], 1, atol=1e-6)
    assert abs(capacity - 9) < 0.2


def test_series_follow_their_equations():
    u, y = narma(200, order=10, random_state=0)
    t = 100
    assert abs(y[t + 1, 0] - (0.3 * y[t, 0] + 0.05 * y[t, 0] * y[t - 9 : t + 1].sum() + 1.5 * u[t - 8, 0] * u[t + 1, 0] + 0.1)) < 1e-12
    x = lorenz(2000, h=0.001)
    slope = (x[2:] - x[:-2]) / 0.002
    wanted = np.stack([10 * (x[:, 1] - x[:, 0]), x[:, 0] * (28 - x[:, 2]) - x[:, 1], x[:, 0] * x[:, 1] - 8 / 3 * x[:, 2]], axis=1)
    assert np.abs(slope - wanted[1:-1]).max() < 0.05
    m = mackey_glass(3000)
    assert 0.2 < m.min() and m.max() < 1.5 and 0.2 < m.std() < 0.25
    slope = (m[18:-1] - m[16:-3])[:, 0] / 2  # to second order
    delayed = m[:-19, 0]
    assert np.abs(slope - (0.2 * delayed / (1 + delayed**10) - 0.1 * m[17:-2, 0])).max() < 0.01


def test_twenty_thousand_neurons():
    x = mackey_glass(700)
    reservoir = es.RandomReservoir(20_000, density=0.001, radius=1.2, input_scale=0.5, bias_scale=0.3, leak=0.5)
    network = es.EchoStateNetwork(reservoir, random_state=0).fit(x[:500], x[10:510])
    assert network.coef_.shape == (20_000, 1)
    assert nrmse(network.predict(x[:-10])[500:], x[510:]) < 0.02
    with pytest.raises(es.errors.ParameterError, match="neurons is 20000, but must be from 1 to 4096"):
        es.ReservoirStackMachine(es.RandomReservoir(20_000, density=0.001)).fit(*es.Language.task("dyck1").examples(5))
