"""Loading of model files, which contain a machine or a table."""

from __future__ import annotations

import os
from collections.abc import Mapping

from . import _native
from .machines import ReservoirStackMachine
from .recognizers import CompiledTable

__all__ = ["load"]


def load(
    path: os.PathLike[str] | str, *, limits: Mapping[str, int] | None = None
) -> ReservoirStackMachine | CompiledTable:
    """Loads a machine or a table that was saved by this package or by the command line.

    Parameters
    ----------
    path : str or path-like
        File to load.
    limits : mapping of str to int, optional
        What the file may contain at most, for untrusted files: ``bytes``, ``symbols``, ``neurons``, ``centers`` (of
        support vectors) and ``states`` (of a table). By default, what the largest model has.

    Returns
    -------
    recognizer : ReservoirStackMachine or CompiledTable
        The machine or table in the file.

    Raises
    ------
    FileFormatError
        If the file is not a model, is damaged, or exceeds a limit.
    """
    native = _native.load(path, limits)
    return CompiledTable(native) if isinstance(native, _native.Table) else ReservoirStackMachine._of(native)
