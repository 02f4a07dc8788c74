"""Base class of all estimators: named parameters that follow scikit-learn's conventions without depending on it."""

from __future__ import annotations

import inspect
from typing import Any


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
                from .errors import ParameterError

                known = ", ".join(self._names())
                raise ParameterError(f"{type(self).__name__} has no parameter {outer!r}; its parameters are {known}")
            if nested:
                inner.setdefault(outer, {})[rest] = value
            else:
                setattr(self, outer, value)
        for outer, own in inner.items():
            getattr(self, outer).set_params(**own)
        return self

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
    """Returns a seed for anything scikit-learn accepts as one: None, an integer, or a NumPy random generator."""
    import numbers

    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return int(random_state) & (2**64 - 1)
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**63))
    from .errors import ParameterError

    raise ParameterError(f"random_state is {random_state!r}, but must be None, an integer or a NumPy random generator")
