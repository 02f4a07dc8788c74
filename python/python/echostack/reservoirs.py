"""Reservoirs: fixed recurrent networks that map a sequence to a state.

>>> import numpy as np
>>> from echostack import CycleReservoir
>>> states = CycleReservoir(neurons=50).run(np.eye(3))
>>> states.shape
(3, 50)
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._base import Parametrised, seed_of, whole
from .errors import DataError, ParameterError

__all__ = ["Reservoir", "RandomReservoir", "CycleReservoir", "LegendreReservoir", "MatrixReservoir"]

_RANDOM, _CYCLE, _LEGENDRE = (_native.defaults(kind)["reservoir"] for kind in ("random", "cycle", "legendre"))


def rows_of(inputs: Any, name: str = "a sequence") -> NDArray[np.float64]:
    """Returns a sequence as a matrix of finite numbers, with a row for each step."""
    if hasattr(inputs, "toarray"):
        raise DataError(f"{name} is a sparse matrix, but must be an array; pass its toarray()")
    if np.iscomplexobj(inputs):
        raise DataError(f"{name} holds complex numbers. Complex data not supported; pass the parts as two channels")
    try:
        rows = np.ascontiguousarray(inputs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be an array of numbers: {error}") from None
    if rows.ndim != 2:
        hint = ". Reshape your data: for a single channel, use x.reshape(-1, 1)" if rows.ndim == 1 else ""
        raise DataError(f"{name} has {rows.ndim} dimensions, but must have two: steps and channels{hint}")
    if not np.isfinite(rows).all():
        step = int(np.argwhere(~np.isfinite(rows))[0, 0])
        raise DataError(f"{name} has a NaN or infinite value at step {step}")
    return rows


class Reservoir(Parametrised):
    """Base class of all reservoirs."""

    def _spec(self, seed: int) -> dict[str, Any]:
        raise NotImplementedError

    def run(self, inputs: ArrayLike, start: ArrayLike | None = None, random_state: Any = None) -> NDArray[np.float64]:
        """Runs the reservoir on a sequence.

        Parameters
        ----------
        inputs : array-like of shape (n_steps, n_channels)
            Input sequence.
        start : array-like of shape (n_neurons,), default=None
            Initial state, for example the last state of an earlier call. If None, the zero state is used.
        random_state : int, NumPy random generator or None, default=None
            Seed that is used if the reservoir has no ``random_state`` of its own. If both are None, a seed is drawn at
            the first call, and later calls use the same one.

        Returns
        -------
        states : ndarray of shape (n_steps, n_neurons)
            State after each row of the inputs.
        """
        rows = rows_of(inputs, "inputs")
        first = None if start is None else rows_of(np.reshape(start, (1, -1)), "start")[0]
        return self.build(rows.shape[1], random_state).run([rows], first)[0]

    def build(self, n_channels: int, random_state: Any = None) -> _native.Reservoir:
        """Draws the weights for a number of input channels.

        Parameters
        ----------
        n_channels : int
            Number of input channels.
        random_state : int, NumPy random generator or None, default=None
            Seed; see :meth:`run`.

        Returns
        -------
        reservoir : object
            Reservoir with the attributes ``W``, ``W_in``, ``bias``, ``leak``, ``activation`` and ``neurons``.
        """
        if random_state is None and getattr(self, "random_state", None) is None:
            random_state = self.__dict__.setdefault("_drawn", seed_of(None))
        return _native.Reservoir(spec_of(self, random_state), whole("n_channels", n_channels, 1))


def spec_of(reservoir: Any, random_state: Any) -> dict[str, Any]:
    """Returns the parameters of a reservoir in the form that the native module takes.

    The seed is that of the reservoir or, if it has none, the given one.
    """
    if not isinstance(reservoir, Reservoir):
        hint = f"; try {reservoir.capitalize()}Reservoir()" if reservoir in ("random", "cycle", "legendre") else ""
        raise ParameterError(f"reservoir is {reservoir!r}, but must be a reservoir object or None{hint}")
    own = getattr(reservoir, "random_state", None)
    return reservoir._spec(seed_of(random_state if own is None else own))


def from_spec(spec: dict[str, Any]) -> Reservoir:
    """Returns the reservoir with these parameters, which :func:`spec_of` has made."""
    kinds = {"random": RandomReservoir, "cycle": CycleReservoir, "legendre": LegendreReservoir}
    rest = {"random_state" if name == "seed" else name: value for name, value in spec.items() if name != "kind"}
    return kinds[spec["kind"]](**rest)


class RandomReservoir(Reservoir):
    """A reservoir with sparse Gaussian weights.

    The recurrence is weak by default, because machines are then proved correct quickly.

    Parameters
    ----------
    neurons : int, default=256
        Number of neurons in the reservoir.
    radius : float, default=0.2
        Spectral radius of the recurrent weights.
    density : float, default=0.02
        Fraction of recurrent weights that are nonzero.
    input_scale : float, default=1.0
        Standard deviation of the input weights.
    bias_scale : float, default=0.0
        Standard deviation of the biases.
    leak : float, default=1.0
        Leak rate, greater than 0 and at most 1: the fraction of the new state that is mixed with the old one.
    random_state : int, NumPy random generator or None, default=None
        Seed of the weights. If None, the seed of the estimator is used.
    """

    def __init__(
        self,
        neurons: int = _RANDOM["neurons"],
        *,
        radius: float = _RANDOM["radius"],
        density: float = _RANDOM["density"],
        input_scale: float = _RANDOM["input_scale"],
        bias_scale: float = _RANDOM["bias_scale"],
        leak: float = _RANDOM["leak"],
        random_state: Any = None,
    ) -> None:
        self.neurons = neurons
        self.radius = radius
        self.density = density
        self.input_scale = input_scale
        self.bias_scale = bias_scale
        self.leak = leak
        self.random_state = random_state

    def _spec(self, seed: int) -> dict[str, Any]:
        return {"kind": "random", "seed": seed, **{name: getattr(self, name) for name in self._names()[:-1]}}


class CycleReservoir(Reservoir):
    """A cycle reservoir with jumps. Three numbers determine all weights except for their signs.

    Parameters
    ----------
    neurons : int, default=256
        Number of neurons in the reservoir.
    input_scale : float, default=1.0
        Absolute value of the input weights.
    cycle : float, default=0.2
        Weight of the connections on the cycle.
    jump : float, default=0.1
        Weight of the jumps.
    jump_length : int, default=16
        Number of neurons that a jump spans.
    bias_scale : float, default=0.0
        Absolute value of the biases.
    leak : float, default=1.0
        Leak rate, greater than 0 and at most 1: the fraction of the new state that is mixed with the old one.
    random_state : int, NumPy random generator or None, default=None
        Seed of the signs. If None, the seed of the estimator is used.
    """

    def __init__(
        self,
        neurons: int = _CYCLE["neurons"],
        *,
        input_scale: float = _CYCLE["input_scale"],
        cycle: float = _CYCLE["cycle"],
        jump: float = _CYCLE["jump"],
        jump_length: int = _CYCLE["jump_length"],
        bias_scale: float = _CYCLE["bias_scale"],
        leak: float = _CYCLE["leak"],
        random_state: Any = None,
    ) -> None:
        self.neurons = neurons
        self.input_scale = input_scale
        self.cycle = cycle
        self.jump = jump
        self.jump_length = jump_length
        self.bias_scale = bias_scale
        self.leak = leak
        self.random_state = random_state

    def _spec(self, seed: int) -> dict[str, Any]:
        return {"kind": "cycle", "seed": seed, **{name: getattr(self, name) for name in self._names()[:-1]}}


class LegendreReservoir(Reservoir):
    """A Legendre delay network, which is linear and deterministic.

    Parameters
    ----------
    neurons : int, default=256
        Maximum number of neurons in the reservoir. Every input channel gets the same number of them.
    theta : float, default=3.0
        Number of steps that the network remembers.
    """

    def __init__(self, neurons: int = _LEGENDRE["neurons"], *, theta: float = _LEGENDRE["theta"]) -> None:
        self.neurons = neurons
        self.theta = theta

    def _spec(self, seed: int) -> dict[str, Any]:
        return {"kind": "legendre", "neurons": self.neurons, "theta": self.theta}


class MatrixReservoir(Reservoir):
    """A reservoir with user-defined matrices: ``h' = (1 - leak) h + leak activation(W h + Win x + bias)``.

    Parameters
    ----------
    W : array-like or SciPy sparse matrix of shape (n_neurons, n_neurons)
        Recurrent weights.
    Win : array-like of shape (n_neurons, n_channels)
        Input weights.
    bias : array-like of shape (n_neurons,) or None, default=None
        Biases. If None, there are none.
    leak : float, default=1.0
        Leak rate, greater than 0 and at most 1: the fraction of the new state that is mixed with the old one.
    activation : {"tanh", "identity"}, default="tanh"
        Activation function.
    """

    def __init__(
        self,
        W: Any,
        Win: ArrayLike,
        *,
        bias: ArrayLike | None = None,
        leak: float = 1.0,
        activation: Literal["tanh", "identity"] = "tanh",
    ) -> None:
        self.W = W
        self.Win = Win
        self.bias = bias
        self.leak = leak
        self.activation = activation

    def _spec(self, seed: int) -> dict[str, Any]:
        leak = {"leak": self.leak, "activation": self.activation}
        Win = rows_of(self.Win, "Win")
        bias = np.zeros(0) if self.bias is None else rows_of(np.reshape(self.bias, (1, -1)), "bias")[0]
        weights: dict[str, Any]
        if hasattr(self.W, "tocoo"):
            entries = self.W.tocoo(copy=True)
            entries.sum_duplicates()
            order = np.lexsort((entries.col, entries.row))
            shape, values = entries.shape, rows_of([entries.data], "W")[0]
            rows, columns = entries.row[order].astype(np.uint32), entries.col[order].astype(np.uint32)
            weights = {"rows": rows, "columns": columns, "weights": values[order]}
        else:
            W = rows_of(self.W, "W")
            shape, weights = W.shape, {"W": W}
        if shape[0] != shape[1] or len(Win) != shape[0] or len(bias) not in (0, shape[0]):
            raise ParameterError(
                f"W has the shape {shape}, Win {Win.shape} and bias {bias.shape}, but W must be square, and Win and bias "
                "must have a row for each neuron"
            )
        parts = {"kind": "matrix", "W_in": Win, "bias": bias, **weights, **leak}
        return {"kind": "given", "reservoir": _native.Reservoir.from_parts(parts)}

    @classmethod
    def _of(cls, native: _native.Reservoir) -> MatrixReservoir:
        return cls(native.W, native.W_in, bias=native.bias, leak=native.leak, activation=native.activation)
