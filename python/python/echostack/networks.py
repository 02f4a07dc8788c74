"""The echo state network: a reservoir with a linear readout, for time series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._base import Parametrised, seed_of, whole
from .errors import DataError, ParameterError, not_fitted
from .reservoirs import CycleReservoir, RandomReservoir, Reservoir, rows_of, spec_of

__all__ = ["EchoStateNetwork", "NetworkState", "memory_capacity"]

_Matrix = NDArray[np.float64]


class NetworkState(NamedTuple):
    """The state of a network after a sequence, from which another call can continue.

    Attributes
    ----------
    neurons : ndarray of shape (n_neurons,)
        State of the reservoir.
    output : ndarray of shape (n_outputs,)
        Last output, which a network with feedback reads next.
    """

    neurons: _Matrix
    output: _Matrix


class EchoStateNetwork(Parametrised):
    """A reservoir with a ridge regression on its states, which maps sequences of vectors to sequences of vectors.

    Data is one sequence, given as an array of shape (n_steps, n_channels), or a list of such arrays. What is fitted or
    predicted for one sequence is an array, and for a list it is a list.

    Parameters
    ----------
    reservoir : reservoir object or None, default=None
        Reservoir that maps sequences to states. If None, a :class:`RandomReservoir` for time series is used, with 500
        neurons, ``radius=1.2``, ``density=0.1``, ``input_scale=0.5``, ``bias_scale=0.3`` and ``leak=0.5``. The
        defaults suit inputs with a standard deviation of about 1 or less.
    alpha : float, default=1e-10
        Penalty of the regression.
    fit_intercept : bool, default=True
        If True, the regression has an intercept, which is not penalized.
    feedback : bool, default=False
        If True, the reservoir also reads the last output: the target during training, its own output afterwards.
    washout : int or None, default=None
        Number of steps at the beginning of each sequence that are excluded from training. If None, a tenth of the
        sequence, but at most 100 steps.
    random_state : int, NumPy random generator or None, default=None
        Seed of the reservoir. If None, the reservoir is different each time.

    Attributes
    ----------
    reservoir_ : object
        Reservoir with its weights ``W``, ``W_in`` and ``bias``.
    coef_ : ndarray of shape (n_neurons, n_outputs)
        Weights of the regression.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of the regression.
    state_ : NetworkState
        State after the last training sequence.
    n_features_in_ : int
        Number of input channels.

    Examples
    --------
    >>> import numpy as np
    >>> from echostack import EchoStateNetwork
    >>> x = np.sin(np.arange(500) / 5).reshape(-1, 1)
    >>> network = EchoStateNetwork(random_state=0).fit(x[:-1], x[1:])
    >>> bool(np.abs(network.predict(x[:-1])[100:] - x[101:]).max() < 1e-3)
    True
    >>> network.forecast(3, x).shape
    (3, 1)
    """

    _estimator_type = "regressor"

    def __init__(
        self,
        reservoir: Reservoir | None = None,
        *,
        alpha: float = 1e-10,
        fit_intercept: bool = True,
        feedback: bool = False,
        washout: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.reservoir = reservoir
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.feedback = feedback
        self.washout = washout
        self.random_state = random_state

    def _default(self, name: str) -> Any:
        if name == "reservoir":
            return RandomReservoir(500, radius=1.2, density=0.1, input_scale=0.5, bias_scale=0.3, leak=0.5)
        return None

    def fit(self, X: ArrayLike | Sequence[ArrayLike], y: ArrayLike | Sequence[ArrayLike]) -> EchoStateNetwork:
        """Fits the regression.

        Parameters
        ----------
        X : array-like of shape (n_steps, n_channels), or list of them
            Input sequences.
        y : array-like of shape (n_steps, n_outputs) or (n_steps,), or list of them
            Target sequences, each with as many steps as the corresponding input sequence.

        Returns
        -------
        self : EchoStateNetwork
            The fitted network.
        """
        inputs, single = _sequences(X, "X")
        targets, flat = _targets(y, single)
        if len(inputs) != len(targets):
            raise DataError(f"X has {len(inputs)} sequences, but y has {len(targets)}; give one target per sequence")
        for number, (one, target) in enumerate(zip(inputs, targets)):
            place = ("", "") if single else (f"[{number}]", f"[{number}]")
            if len(one) != len(target):
                raise DataError(f"X{place[0]} has {len(one)} steps, but y{place[1]} has {len(target)}; give one target per step")
        alpha, skipped = self._number("alpha"), [self._skipped(len(one)) for one in inputs]
        n_outputs = _width(targets, "y", "outputs")
        n_features = _width(inputs, "X", "channels")
        reservoir = self._default("reservoir") if self.reservoir is None else self.reservoir
        channels = n_features + (n_outputs if self.feedback else 0)
        native = _native.Reservoir(spec_of(reservoir, seed_of(self.random_state)), channels)
        driven = inputs
        if self.feedback:
            driven = [np.hstack([one, np.vstack([np.zeros(n_outputs), target[:-1]])]) for one, target in zip(inputs, targets)]
        runs = native.run([np.ascontiguousarray(one) for one in driven])
        states = np.concatenate([run[skip:] for run, skip in zip(runs, skipped)])
        wanted = np.concatenate([target[skip:] for target, skip in zip(targets, skipped)])
        means = (states.mean(axis=0), wanted.mean(axis=0)) if self.fit_intercept else (0.0, 0.0)
        self.coef_ = _native.ridge(states - means[0], wanted - means[1], alpha)
        self.intercept_ = np.broadcast_to(means[1] - means[0] @ self.coef_ if self.fit_intercept else 0.0, (n_outputs,)).copy()
        self.reservoir_ = native
        self.state_ = NetworkState(runs[-1][-1].copy(), targets[-1][-1].copy())
        self.n_features_in_ = n_features
        self._flat = flat
        self._feeds_back = bool(self.feedback)
        return self

    def _number(self, name: str) -> float:
        value = getattr(self, name)
        if isinstance(value, (bool, str)) or np.ndim(value) != 0 or not np.isfinite(value) or value < 0:
            raise ParameterError(f"{name} is {value!r}, but must be a number of at least 0")
        return float(value)

    def _skipped(self, steps: int) -> int:
        if self.washout is None:
            return min(steps // 10, 100)
        washout = whole("washout", self.washout)
        if washout >= steps:
            raise ParameterError(f"washout is {washout}, but a sequence has only {steps} steps; lower it or give longer ones")
        return washout

    def _fitted(self) -> _native.Reservoir:
        if "reservoir_" not in self.__dict__:
            raise not_fitted(self)
        return self.reservoir_

    def _inputs(self, X: Any) -> tuple[list[_Matrix], bool]:
        self._fitted()
        inputs, single = _sequences(X, "X")
        if (given := _width(inputs, "X", "channels")) != self.n_features_in_:
            raise DataError(
                f"X has {given} features, but EchoStateNetwork is expecting {self.n_features_in_} features as input: "
                "the number of channels must be the same as in fit"
            )
        return inputs, single

    def _run(self, rows: _Matrix, start: NetworkState | None) -> tuple[_Matrix, NetworkState]:
        """Returns the outputs on a sequence, and the state after it."""
        reservoir, n_outputs = self._fitted(), self.coef_.shape[1]
        state = NetworkState(np.zeros(reservoir.neurons), np.zeros(n_outputs)) if start is None else start
        if not self._feeds_back:
            states = reservoir.run([rows], state.neurons)[0]
            outputs = states @ self.coef_ + self.intercept_
            return outputs, NetworkState(states[-1].copy(), outputs[-1].copy())
        outputs = np.empty((len(rows), n_outputs))
        for step, row in enumerate(rows):
            neurons = reservoir.run([np.concatenate([row, state.output])[None, :]], state.neurons)[0][0]
            outputs[step] = neurons @ self.coef_ + self.intercept_
            state = NetworkState(neurons, outputs[step].copy())
        return outputs, state

    def _shaped(self, outputs: _Matrix) -> _Matrix:
        return outputs[:, 0] if self._flat else outputs

    @overload
    def predict(self, X: _Matrix) -> _Matrix: ...

    @overload
    def predict(self, X: list[_Matrix]) -> list[_Matrix]: ...

    @overload
    def predict(self, X: ArrayLike | Sequence[ArrayLike]) -> Any: ...

    def predict(self, X: Any) -> Any:
        """Returns the outputs for each sequence, starting from the zero state.

        Parameters
        ----------
        X : array-like of shape (n_steps, n_channels), or list of them
            Input sequences.

        Returns
        -------
        outputs : ndarray of shape (n_steps, n_outputs) or (n_steps,), or list of them
            Outputs, in the form of the targets in ``fit``.
        """
        inputs, single = self._inputs(X)
        if self._feeds_back:
            outputs = [self._shaped(self._run(one, None)[0]) for one in inputs]
        else:
            runs = self._fitted().run(inputs)
            outputs = [self._shaped(states @ self.coef_ + self.intercept_) for states in runs]
        return outputs[0] if single else outputs

    def run(self, X: ArrayLike, start: NetworkState | None = None) -> tuple[_Matrix, NetworkState]:
        """Returns the outputs on one sequence and the state after it, from which the next call can continue.

        Parameters
        ----------
        X : array-like of shape (n_steps, n_channels)
            Input sequence.
        start : NetworkState or None, default=None
            State to start from, such as ``state_`` or the result of an earlier call. If None, the zero state is used.

        Returns
        -------
        outputs : ndarray of shape (n_steps, n_outputs) or (n_steps,)
            Outputs.
        state : NetworkState
            State after the last step.
        """
        inputs, single = self._inputs(X)
        if not single:
            raise DataError("X is a list of sequences, but run takes one sequence: an array of steps and channels")
        outputs, state = self._run(inputs[0], start)
        return self._shaped(outputs), state

    def forecast(self, n_steps: int, X: ArrayLike | None = None, *, start: NetworkState | None = None) -> _Matrix:
        """Runs the network freely: each output is its next input.

        The network must have been trained to predict the next input.

        Parameters
        ----------
        n_steps : int
            Number of steps to forecast.
        X : array-like of shape (n_steps, n_channels), default=None
            Sequence to forecast. If None, the training sequence is continued.
        start : NetworkState or None, default=None
            State before X; see :meth:`run`.

        Returns
        -------
        outputs : ndarray of shape (n_steps, n_outputs) or (n_steps,)
            The values after X. The first one is the network's output on the last step of X.
        """
        reservoir = self._fitted()
        if self.coef_.shape[1] != self.n_features_in_:
            raise DataError(
                f"the network has {self.n_features_in_} inputs but {self.coef_.shape[1]} outputs; to run freely, it must "
                "be trained to predict its next input"
            )
        n_steps = whole("n_steps", n_steps)
        if X is None:
            state = self.state_ if start is None else start
            output = state.neurons @ self.coef_ + self.intercept_
        else:
            outputs, state = self._run(rows_of(X, "X"), start)
            output = outputs[-1]
        forecast = np.empty((n_steps, len(output)))
        neurons = state.neurons
        for step in range(n_steps):
            forecast[step] = output
            row = np.concatenate([output, output]) if self._feeds_back else output
            neurons = reservoir.run([row[None, :]], neurons)[0][0]
            output = neurons @ self.coef_ + self.intercept_
        return self._shaped(forecast)

    def score(self, X: ArrayLike | Sequence[ArrayLike], y: ArrayLike | Sequence[ArrayLike]) -> float:
        """Returns the coefficient of determination over all steps.

        Parameters
        ----------
        X : array-like of shape (n_steps, n_channels), or list of them
            Input sequences.
        y : array-like of shape (n_steps, n_outputs) or (n_steps,), or list of them
            Target sequences.

        Returns
        -------
        score : float
            R² of ``predict(X)`` with respect to ``y``.
        """
        inputs, single = self._inputs(X)
        targets, _ = _targets(y, single)
        if [len(one) for one in inputs] != [len(one) for one in targets]:
            raise DataError("X and y have different numbers of steps; give one target per step")
        outputs = [one.reshape(len(one), -1) for one in self.predict(inputs)]
        given, wanted = np.concatenate(outputs), np.concatenate(targets)
        if given.shape != wanted.shape:
            raise DataError(f"y has {wanted.shape[1]} outputs, but the network has {given.shape[1]}")
        residual = ((wanted - given) ** 2).sum()
        return float(1 - residual / ((wanted - wanted.mean(axis=0)) ** 2).sum())

    def __setstate__(self, state: dict[str, Any]) -> None:
        older = {"fit_intercept": False, "feedback": False, "_flat": False, "_feeds_back": False}
        self.__dict__.update(state if "feedback" in state else {**older, **state})
        if "coef_" in state and "reservoir_" not in state:
            # Older pickles do not hold the weights, which depended on the parameters only. None was the seed 0.
            if not isinstance(self.random_state, (int, np.integer, type(None))):
                raise DataError("this pickle holds no weights, and its random_state has moved on; fit the network again")
            reservoir = CycleReservoir() if self.reservoir is None else self.reservoir
            native = _native.Reservoir(spec_of(reservoir, self.random_state or 0), self.n_features_in_)
            self.reservoir_, self.intercept_ = native, np.zeros(self.coef_.shape[1])

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags  # type: ignore[import-untyped]

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True, multi_output=True),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(two_d_array=True, three_d_array=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "reservoir_" in self.__dict__


def _sequences(X: Any, name: str) -> tuple[list[_Matrix], bool]:
    """Returns sequences, and whether they were given as one sequence rather than as a list."""
    if not hasattr(X, "toarray") and hasattr(X, "__array__"):
        X = np.asarray(X)
    if hasattr(X, "toarray") or not hasattr(X, "__len__"):
        return [rows_of(X, name)], True
    if len(X) == 0:
        raise DataError(f"{name} has 0 sample(s), but a minimum of 1 is required: give at least one sequence")
    is_array = isinstance(X, np.ndarray) and X.dtype != object
    if (X.ndim if is_array else np.ndim(X[0]) + 1) == 3:
        sequences = [rows_of(one, f"{name}[{number}]") for number, one in enumerate(X)]
        if not all(len(one) for one in sequences):
            raise DataError(f"{name} has a sequence without steps; leave it out")
        return sequences, False
    return [rows_of(X, name)], True


def _targets(y: Any, single: bool) -> tuple[list[_Matrix], bool]:
    """Returns targets, and whether they were given without a dimension for the outputs."""
    if y is None:
        raise DataError("requires y to be passed, but the target y is None")
    all_ = [np.asarray(y) if hasattr(y, "__array__") else y] if single else list(y)
    flat = bool(all_) and np.ndim(all_[0]) == 1
    shaped = [np.reshape(one, (-1, 1)) if flat and np.ndim(one) == 1 else one for one in all_]
    return [rows_of(one, "y" if single else f"y[{number}]") for number, one in enumerate(shaped)], flat


def _width(sequences: list[_Matrix], name: str, what: str) -> int:
    widths = {one.shape[1] for one in sequences}
    if 0 in widths:
        raise DataError(f"{name} has 0 feature(s) (shape={sequences[0].shape}) while a minimum of 1 is required.")
    if len(widths) != 1:
        raise DataError(f"{name} has sequences with {sorted(widths)} {what}; all need the same number")
    return widths.pop()


def memory_capacity(
    reservoir: Reservoir, *, n_delays: int = 100, n_steps: int = 5000, alpha: float = 1e-9, random_state: Any = None
) -> tuple[float, _Matrix]:
    """Returns how much of a random input a reservoir remembers (Jaeger, 2001).

    The input is drawn uniformly from -0.8 to 0.8. For each delay, a linear readout reconstructs the delayed input from
    the state.

    Parameters
    ----------
    reservoir : reservoir object
        Reservoir to measure.
    n_delays : int, default=100
        Number of delays, from one step on.
    n_steps : int, default=5000
        Number of steps, half of which are for training and half for the test.
    alpha : float, default=1e-9
        Penalty of the readout.
    random_state : int, NumPy random generator or None, default=None
        Seed of the input, and of the reservoir, if it has none of its own.

    Returns
    -------
    capacity : float
        Sum over all delays; at most the number of neurons.
    by_delay : ndarray of shape (n_delays,)
        Squared correlation of the delayed input and its reconstruction on the test steps.
    """
    n_delays, n_steps = whole("n_delays", n_delays, 1), whole("n_steps", n_steps, 1)
    if n_steps < 4 * n_delays:
        raise ParameterError(f"n_steps is {n_steps}, but must be at least four times n_delays, which is {n_delays}")
    seed = seed_of(random_state)
    u = np.random.default_rng(seed).uniform(-0.8, 0.8, n_steps + n_delays)
    delayed = np.stack([u[n_delays - delay : n_delays - delay + n_steps] for delay in range(1, n_delays + 1)], axis=1)
    half = n_steps // 2
    network = EchoStateNetwork(reservoir, alpha=alpha, random_state=seed).fit(u[n_delays:][:half, None], delayed[:half])
    given, _ = network.run(u[n_delays:][half:, None], network.state_)
    wanted = delayed[half:]
    centered = given - given.mean(axis=0), wanted - wanted.mean(axis=0)
    products = (centered[0] * centered[1]).sum(axis=0) ** 2
    by_delay = products / np.maximum((centered[0] ** 2).sum(axis=0) * (centered[1] ** 2).sum(axis=0), 1e-300)
    return float(by_delay.sum()), by_delay
