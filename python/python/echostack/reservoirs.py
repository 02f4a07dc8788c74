"""Reservoirs: fixed recurrent networks that turn a sequence into a state.

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


def _rows(inputs: ArrayLike) -> NDArray[np.float64]:
    rows = np.ascontiguousarray(inputs, dtype=np.float64)
    if rows.ndim != 2:
        raise DataError(f"a sequence has {rows.ndim} dimensions, but needs two: steps and channels")
    return rows


class _Reservoir(Parametrised):
    _kind: str

    def _spec(self, random_state: Any = None) -> dict[str, Any]:
        raise NotImplementedError

    def run(self, inputs: ArrayLike, start: ArrayLike | None = None, random_state: Any = None) -> NDArray[np.float64]:
        """The state after each row of the inputs.

        Parameters
        ----------
        inputs : array of shape (steps, channels)
        start : array of shape (neurons,), the state to begin with; zero if not given
        random_state : used if the reservoir has none of its own

        Returns
        -------
        array of shape (steps, neurons)
        """
        rows = _rows(inputs)
        first = None if start is None else np.ascontiguousarray(start, dtype=np.float64)
        return self._build(rows.shape[1], random_state).run([rows], first)[0]

    def _build(self, channels: int, random_state: Any = None) -> _native.Reservoir:
        return _native.Reservoir(self._spec(random_state), channels)


class RandomReservoir(_Reservoir):
    """Sparse Gaussian weights; by default with weak recurrence, with which machines are proved right quickly.

    Parameters
    ----------
    neurons : the number of neurons
    radius : the spectral radius of the recurrent weights
    density : the part of recurrent weights that is not zero
    input_scale, bias_scale : the size of input weights and biases
    leak : how much of the new state is taken, from 0 to 1
    random_state : the seed; if None, that of the estimator
    """

    def __init__(
        self,
        neurons: int = 256,
        *,
        radius: float = 0.2,
        density: float = 0.02,
        input_scale: float = 1.0,
        bias_scale: float = 0.0,
        leak: float = 1.0,
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
    """A cycle with jumps: all weights but their signs are given by three numbers.

    Parameters
    ----------
    neurons : the number of neurons
    input_scale, bias_scale : the size of input weights and biases
    cycle, jump : the weights of the cycle and of the jumps
    jump_length : how far a jump goes
    leak : how much of the new state is taken, from 0 to 1
    random_state : the seed of the signs; if None, that of the estimator
    """

    def __init__(
        self,
        neurons: int = 256,
        *,
        input_scale: float = 1.0,
        cycle: float = 0.2,
        jump: float = 0.1,
        jump_length: int = 16,
        bias_scale: float = 0.0,
        leak: float = 1.0,
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
    """A Legendre delay network: linear, with nothing random in it.

    Parameters
    ----------
    neurons : the number of neurons
    theta : how many steps it remembers
    """

    def __init__(self, neurons: int = 256, *, theta: float = 3.0) -> None:
        self.neurons = neurons
        self.theta = theta

    def _spec(self, random_state: Any = None) -> dict[str, Any]:
        return {"kind": "legendre", "neurons": self.neurons, "theta": self.theta}


class MatrixReservoir(_Reservoir):
    """A reservoir of your own matrices: ``h' = (1 - leak) h + leak activation(W h + Win x + bias)``.

    Parameters
    ----------
    W : array of shape (neurons, neurons)
    Win : array of shape (neurons, channels)
    bias : array of shape (neurons,), or None
    leak : how much of the new state is taken, from 0 to 1
    activation : "tanh" or "identity"
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
