"""Time series that reservoirs are commonly tested on.

>>> from echostack.datasets import lorenz, mackey_glass, narma
>>> mackey_glass(100).shape, lorenz(100).shape
((100, 1), (100, 3))
>>> u, y = narma(100, random_state=0)
>>> u.shape, y.shape
((100, 1), (100, 1))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import seed_of, whole
from .errors import DataError, ParameterError

__all__ = ["lorenz", "mackey_glass", "narma"]

_Matrix = NDArray[np.float64]
_SUBSTEPS = 10
"""The number of steps of the Runge-Kutta method for one step of a series."""


def _runge_kutta(slope: Callable[[Any], Any], x: Any, h: float) -> Any:
    """Takes one step of the classical Runge-Kutta method."""
    k1 = slope(x)
    k2 = slope(x + h / 2 * k1)
    k3 = slope(x + h / 2 * k2)
    k4 = slope(x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def mackey_glass(n_steps: int, *, tau: int = 17, random_state: Any = 0) -> _Matrix:
    """Returns the Mackey-Glass series: ``x' = 0.2 x(t - tau) / (1 + x(t - tau)^10) - 0.1 x``.

    Parameters
    ----------
    n_steps : int
        Number of steps, each of one unit of time.
    tau : int, default=17
        Delay. The series is chaotic from 17 on.
    random_state : int, NumPy random generator or None, default=0
        Seed of the values before the series, which are drawn from 1.1 to 1.3. The first 300 steps are left out.

    Returns
    -------
    series : ndarray of shape (n_steps, 1)
        The series.
    """
    n_steps, delay = whole("n_steps", n_steps), whole("tau", tau, 1) * _SUBSTEPS
    h = 1 / _SUBSTEPS
    past = list(np.random.default_rng(seed_of(random_state)).uniform(1.1, 1.3) * np.ones(delay + 1))
    for _ in range((n_steps + 300) * _SUBSTEPS):
        # The delayed value at the beginning, in the middle and at the end of the step.
        begin, end = past[-delay - 1], past[-delay]
        gains = [0.2 * value / (1 + value**10) for value in (begin, (begin + end) / 2, end)]
        x = past[-1]
        k1 = gains[0] - 0.1 * x
        k2 = gains[1] - 0.1 * (x + h / 2 * k1)
        k3 = gains[1] - 0.1 * (x + h / 2 * k2)
        k4 = gains[2] - 0.1 * (x + h * k3)
        past.append(x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.array(past[-(n_steps * _SUBSTEPS) :: _SUBSTEPS] if n_steps else []).reshape(-1, 1)


def lorenz(n_steps: int, *, h: float = 0.02, start: ArrayLike = (1.0, 1.0, 1.0)) -> _Matrix:
    """Returns the Lorenz series with the parameters 10, 28 and 8/3. Its largest Lyapunov exponent is 0.906.

    Parameters
    ----------
    n_steps : int
        Number of steps.
    h : float, default=0.02
        Time between two steps.
    start : array-like of shape (3,), default=(1.0, 1.0, 1.0)
        State before the series. The first 1,000 steps after it are left out.

    Returns
    -------
    series : ndarray of shape (n_steps, 3)
        The series.
    """
    n_steps, x = whole("n_steps", n_steps), np.array(start, dtype=np.float64)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise DataError(f"start is {start!r}, but must be three finite numbers")
    if not 0 < h <= 1:
        raise ParameterError(f"h is {h!r}, but must be above 0 and at most 1")

    def slope(x: _Matrix) -> _Matrix:
        return np.array([10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]])

    series = np.empty((n_steps, 3))
    for step in range(-1000, n_steps):
        for _ in range(_SUBSTEPS):
            x = _runge_kutta(slope, x, h / _SUBSTEPS)
        if step >= 0:
            series[step] = x
    return series


def narma(n_steps: int, *, order: int = 10, random_state: Any = None) -> tuple[_Matrix, _Matrix]:
    """Returns a nonlinear autoregressive moving average: ``y' = 0.3 y + 0.05 y Σ y + 1.5 u(t - order + 1) u + 0.1``.

    Parameters
    ----------
    n_steps : int
        Number of steps.
    order : int, default=10
        Number of past values of y in the sum.
    random_state : int, NumPy random generator or None, default=None
        Seed of the input, which is drawn uniformly from 0 to 0.5.

    Returns
    -------
    u : ndarray of shape (n_steps, 1)
        Input.
    y : ndarray of shape (n_steps, 1)
        Target.
    """
    n_steps, order = whole("n_steps", n_steps), whole("order", order, 1)
    u = np.random.default_rng(seed_of(random_state)).uniform(0, 0.5, n_steps + order)
    y = np.zeros(n_steps + order)
    for t in range(order - 1, n_steps + order - 1):
        past = y[t - order + 1 : t + 1]
        y[t + 1] = 0.3 * y[t] + 0.05 * y[t] * past.sum() + 1.5 * u[t - order + 1] * u[t] + 0.1
    return u[order - 1 : -1, None], y[order:, None]
