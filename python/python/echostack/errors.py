"""What goes wrong, as a tree of exceptions under one class."""

from __future__ import annotations

import sys

__all__ = [
    "EchostackError",
    "ParameterError",
    "DataError",
    "GrammarError",
    "FitError",
    "ProofError",
    "FileFormatError",
    "NotFittedError",
]


class EchostackError(Exception):
    """The base of all exceptions of this package."""


class ParameterError(EchostackError, ValueError):
    """A parameter is out of range, or does not fit the others."""


class DataError(EchostackError, ValueError):
    """Words, traces or arrays are not what is needed."""


class GrammarError(EchostackError, ValueError):
    """A grammar or an automaton is faulty, ambiguous or too large."""


class FitError(EchostackError, ValueError):
    """Training failed."""


class ProofError(EchostackError, ValueError):
    """Something is not proved, or a certificate does not prove it."""


class FileFormatError(EchostackError, ValueError):
    """A file is damaged, of another version, or something else."""


class NotFittedError(EchostackError, ValueError, AttributeError):
    """The estimator was not fitted before it was asked. Where scikit-learn is in use it is scikit-learn's, too."""


def not_fitted(estimator: object) -> NotFittedError:
    """The exception for an estimator that was not fitted."""
    kind: type[NotFittedError] = NotFittedError
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError as Theirs  # type: ignore[import-untyped]

        kind = type("NotFittedError", (NotFittedError, Theirs), {})
    return kind(f"this {type(estimator).__name__} is not fitted yet; call fit first")
