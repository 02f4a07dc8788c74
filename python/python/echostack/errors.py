"""Exceptions of the package, all derived from :class:`EchostackError`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .languages import Language

__all__ = [
    "EchostackError",
    "ParameterError",
    "DataError",
    "GrammarError",
    "FitError",
    "NotSettledError",
    "ProofError",
    "FileFormatError",
    "NotFittedError",
]


class EchostackError(Exception):
    """Base class of all exceptions of this package."""


class ParameterError(EchostackError, ValueError):
    """Raised if a parameter is out of range or inconsistent with the others."""


class DataError(EchostackError, ValueError):
    """Raised if words, traces or arrays do not have the required form."""


class GrammarError(EchostackError, ValueError):
    """Raised if a grammar or an automaton is invalid, ambiguous or too large."""


class FitError(EchostackError, ValueError):
    """Raised if training fails."""


class NotSettledError(FitError):
    """Raised if a language could not be inferred.

    Attributes
    ----------
    language : Language or None
        The best grammar so far, which is a guess.
    report : str
        What is known about it, and where it is still growing.
    """

    def __init__(self, message: str, language: Language | None = None, report: str = "") -> None:
        super().__init__(message)
        self.language = language
        self.report = report

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.language, self.report)


class ProofError(EchostackError, ValueError):
    """Raised if no proof is found, or if a certificate does not prove what it claims."""


class FileFormatError(EchostackError, ValueError):
    """Raised if a file is damaged, has a different version, or is of a different kind."""


class NotFittedError(EchostackError, ValueError, AttributeError):
    """Raised if an estimator is used before it is fitted.

    If scikit-learn has been imported, the exception is also an instance of scikit-learn's ``NotFittedError``.
    """


def not_fitted(estimator: object) -> NotFittedError:
    """Returns the exception for an estimator that is not fitted."""
    kind: type[NotFittedError] = NotFittedError
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError as Theirs  # type: ignore[import-untyped]

        kind = type("NotFittedError", (NotFittedError, Theirs), {})
    return kind(f"this {type(estimator).__name__} is not fitted yet; call fit first")
