"""Base class of all estimators: named parameters that follow scikit-learn's conventions without depending on it."""

from __future__ import annotations

import inspect
import numbers
from typing import Any

import numpy as np

from .errors import ParameterError


class Parametrised:
    """An object whose parameters are the arguments of ``__init__``, stored as attributes of the same names."""

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the parameters of the estimator.

        Parameters
        ----------
        deep : bool, default=True
            If True, also return the parameters of nested objects, named ``outer__inner``.

        Returns
        -------
        params : dict
            Parameter names mapped to their values.
        """
        all_: dict[str, Any] = {}
        for name in self._names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                all_.update((f"{name}__{inner}", own) for inner, own in value.get_params().items())
            all_[name] = value
        return all_

    def set_params(self, **params: Any) -> Any:
        """Sets parameters of the estimator by name.

        Parameters
        ----------
        **params : dict
            New values. Parameters of nested objects are named ``outer__inner``.

        Returns
        -------
        self : object
            The estimator.
        """
        inner: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            outer, nested, rest = name.partition("__")
            if outer not in self._names():
                known = ", ".join(self._names())
                raise ParameterError(f"{type(self).__name__} has no parameter {outer!r}; its parameters are {known}")
            if nested:
                inner.setdefault(outer, {})[rest] = value
            else:
                setattr(self, outer, value)
        for outer, own in inner.items():
            if getattr(self, outer) is None:
                setattr(self, outer, self._default(outer))
            if not hasattr(getattr(self, outer), "set_params"):
                named = ", ".join(f"{outer}__{name}" for name in own)
                raise ParameterError(f"{outer} is {getattr(self, outer)!r}, which has no parameters; it cannot take {named}")
            getattr(self, outer).set_params(**own)
        return self

    def _default(self, name: str) -> Any:
        """Returns the object that None stands for, as the value of a parameter."""
        return None

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        shown = []
        for name in self._names():
            value = getattr(self, name)
            default = defaults[name].default
            try:
                same = value is default or bool(value == default)
            except ValueError:  # The comparison of arrays has no single truth value.
                same = False
            if not same:
                shown.append(f"{name}={_short(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def seed_of(random_state: Any) -> int:
    """Returns a seed for anything scikit-learn accepts as one: None, an integer, or a NumPy random generator.

    As in scikit-learn, None draws from NumPy's global generator.
    """
    if random_state is None:
        return int(np.random.randint(2**31))
    if isinstance(random_state, numbers.Integral) and 0 <= int(random_state) < 2**64:
        return int(random_state)
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**63))
    raise ParameterError(
        f"random_state is {random_state!r}, but must be None, an integer from 0 to 2^64 - 1 or a NumPy random generator"
    )


def whole(name: str, value: Any, least: int = 0) -> int:
    """Returns a parameter that is a number of things, or raises an exception that names it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise ParameterError(f"{name} is {value!r}, but must be an integer of at least {least}")
    return int(value)
