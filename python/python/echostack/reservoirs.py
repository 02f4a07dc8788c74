"""Reservoirs: fixed recurrent networks that map a sequence to a state.

>>> import numpy as np
>>> from echostack import CycleReservoir
>>> states = CycleReservoir(neurons=50).run(np.eye(3))
>>> states.shape
(3, 50)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._base import Parametrised, seed_of
from .errors import DataError

__all__ = ["RandomReservoir", "CycleReservoir", "LegendreReservoir", "MatrixReservoir"]

_RANDOM, _CYCLE, _LEGENDRE = (_native.defaults(kind)["reservoir"] for kind in ("random", "cycle", "legendre"))


def _rows(inputs: ArrayLike) -> NDArray[np.float64]:
    rows = np.ascontiguousarray(inputs, dtype=np.float64)
    if rows.ndim != 2:
        raise DataError(f"a sequence has {rows.ndim} dimensions, but must have two: steps and channels")
    return rows


class _Reservoir(Parametrised):
    _kind: str

    def _spec(self, random_state: Any = None) -> dict[str, Any]:
        raise NotImplementedError

    def run(self, inputs: ArrayLike, start: ArrayLike | None = None, random_state: Any = None) -> NDArray[np.float64]:
        """Runs the reservoir on a sequence.

        Parameters
        ----------
        inputs : array-like of shape (n_steps, n_channels)
            Input sequence.
        start : array-like of shape (n_neurons,), default=None
            Initial state. If None, the zero state is used.
        random_state : int, NumPy random generator or None, default=None
            Seed that is used if the reservoir has no ``random_state`` of its own.

        Returns
        -------
        states : ndarray of shape (n_steps, n_neurons)
            State after each row of the inputs.
        """
        rows = _rows(inputs)
        first = None if start is None else np.ascontiguousarray(start, dtype=np.float64)
        return self._build(rows.shape[1], random_state).run([rows], first)[0]

    def _build(self, channels: int, random_state: Any = None) -> _native.Reservoir:
        return _native.Reservoir(self._spec(random_state), channels)


class RandomReservoir(_Reservoir):
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

    def _spec(self, random_state: Any = None) -> dict[str, Any]:
        seed = seed_of(random_state if self.random_state is None else self.random_state)
        return {"kind": "random", "seed": seed, **{name: getattr(self, name) for name in self._names()[:-1]}}


class CycleReservoir(_Reservoir):
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

    def _spec(self, random_state: Any = None) -> dict[str, Any]:
        seed = seed_of(random_state if self.random_state is None else self.random_state)
        return {"kind": "cycle", "seed": seed, **{name: getattr(self, name) for name in self._names()[:-1]}}


class LegendreReservoir(_Reservoir):
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

    def _spec(self, random_state: Any = None) -> dict[str, Any]:
        return {"kind": "legendre", "neurons": self.neurons, "theta": self.theta}


class MatrixReservoir(_Reservoir):
    """A reservoir with user-defined matrices: ``h' = (1 - leak) h + leak activation(W h + Win x + bias)``.

    Parameters
    ----------
    W : array-like of shape (n_neurons, n_neurons)
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
        W: ArrayLike,
        Win: ArrayLike,
        *,
        bias: ArrayLike | None = None,
        leak: float = 1.0,
        activation: str = "tanh",
    ) -> None:
        self.W = W
        self.Win = Win
        self.bias = bias
        self.leak = leak
        self.activation = activation

    def _spec(self, random_state: Any = None) -> dict[str, Any]:
        return {
            "kind": "matrix",
            "W": np.asarray(self.W),
            "Win": np.asarray(self.Win),
            "bias": None if self.bias is None else np.asarray(self.bias),
            "leak": self.leak,
            "activation": self.activation,
        }
