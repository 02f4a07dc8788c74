"""Opening grammars, tables and machines."""

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
    """Opens a grammar, or loads a table or a machine that was saved by this package or by the command line.

    A grammar is compiled to a table, which takes no training.

    Parameters
    ----------
    path : str or path-like
        A grammar, which is a folder with ``grammar.y`` and perhaps ``lexer.l`` or a file ``NAME.y``; or the file of a
        table or a machine.
    limits : mapping of str to int, optional
        What the file may contain at most, for untrusted files: ``bytes``, ``symbols``, ``neurons``, ``centers`` (of
        support vectors) and ``states`` (of a table). By default, what the largest model has.

    Returns
    -------
    recognizer : ReservoirStackMachine or CompiledTable
        The machine or table.

    Raises
    ------
    FileFormatError
        If the file is not a model, is damaged, or exceeds a limit.
    GrammarError
        If the grammar or its lexer cannot be used.
    """
    native = _native.load(path, limits)
    return CompiledTable(native) if isinstance(native, _native.Table) else ReservoirStackMachine._of(native)
