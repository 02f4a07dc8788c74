"""Traces: the training data of a machine.

A trace specifies the reductions, the output and the shift for each token of a word and for its end.

>>> from echostack import Step, Trace
>>> Trace("ab", [Step(output=[0]), Step(output=[0]), Step(reductions=[(2, "S")], output=[1])])
Trace(word=('a', 'b'), accepted=True)
"""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _native
from .errors import DataError

__all__ = ["Step", "Trace", "read_traces", "write_traces"]


@dataclass(frozen=True)
class Step:
    """The actions on one token, or on the end of a word.

    Parameters
    ----------
    reductions : sequence of (int, str or None), default=()
        Pairs ``(pop, push)``: the number of symbols to pop, and the symbol to push afterwards, or None to push nothing.
    output : sequence of float, default=(0.0,)
        Output after the reductions: ``[1]`` if the word read so far is accepted, ``[0]`` otherwise.
    shift : bool, default=True
        If True, the token is pushed after the output. If False, it is rejected.
    """

    reductions: Sequence[tuple[int, str | None]] = ()
    output: Sequence[float] = (0.0,)
    shift: bool = True

    def __post_init__(self) -> None:
        try:
            reductions = tuple((operator.index(pop), push) for pop, push in self.reductions)
            output = tuple(map(float, self.output))
        except (TypeError, ValueError):
            raise DataError(
                f"a step has the reductions {self.reductions!r} and the output {self.output!r}, but needs pairs "
                "(number of symbols to pop, symbol to push or None) and a list of numbers"
            ) from None
        object.__setattr__(self, "reductions", reductions)
        object.__setattr__(self, "output", output)
        object.__setattr__(self, "shift", bool(self.shift))


@dataclass(frozen=True, repr=False)
class Trace:
    """The training signal for one word.

    A trace has one step per token, and one for the end unless the last token is rejected.

    Parameters
    ----------
    word : sequence
        Tokens or vectors of the word.
    steps : sequence of Step
        Actions on each token, and on the end.
    source : str, default="trace"
        Origin of the trace, for messages.
    teach : (int, int) or None, default=None
        Range of the steps to train on: from the first index up to, but not including, the second. If None, all steps
        are used.
    symbols : tuple of tuples of str or None, default=None
        All terminals and nonterminals of the language, if known; optionally followed by those of the nonterminals that
        are parser states.
    """

    word: Sequence[Any]
    steps: Sequence[Step]
    source: str = "trace"
    teach: tuple[int, int] | None = field(default=None, compare=False)
    symbols: tuple[tuple[str, ...], ...] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "word", tuple(self.word))
        object.__setattr__(self, "steps", tuple(self.steps))

    @property
    def accepted(self) -> bool:
        """True if the word is accepted: it is read to its end, and the last output is 1."""
        whole = len(self.steps) == len(self.word) + 1
        return whole and len(self.steps[-1].output) == 1 and self.steps[-1].output[0] > 0.5

    def __repr__(self) -> str:
        return f"Trace(word={self.word!r}, accepted={self.accepted})"

    def _native(self) -> tuple[Any, ...]:
        steps = [(list(step.reductions), list(step.output), step.shift) for step in self.steps]
        word = tuple(token if isinstance(token, str) else tuple(map(float, token)) for token in self.word)
        return word, steps, self.source, self.teach


_Symbols = tuple[list[str], list[str], list[str]]


def symbols_of(traces: Sequence[Trace]) -> _Symbols:
    """Returns the terminals, the nonterminals and the parser states that traces declare.

    If the traces declare none, or do not agree, those that occur in the traces are returned, sorted.
    """
    known = {trace.symbols for trace in traces}
    if len(known) == 1 and (only := known.pop()) is not None:
        return complete(only)
    terminals: set[str] = set()
    nonterminals: set[str] = set()
    width = 0
    for trace in traces:
        for token in trace.word:
            if isinstance(token, str):
                terminals.add(token)
            else:
                width = max(width, len(token))
        nonterminals.update(push for step in trace.steps for _, push in step.reductions if push is not None)
    if width:
        return complete(([f"x{channel + 1}" for channel in range(width)], sorted(nonterminals)))
    return complete((sorted(terminals), sorted(nonterminals)))


def complete(symbols: Sequence[Sequence[str]]) -> _Symbols:
    """Returns symbols with their parser states, which are by convention the nonterminals that begin with ``#``."""
    if isinstance(symbols, str) or len(symbols) not in (2, 3):
        raise DataError(f"symbols is {symbols!r}, but must be a pair of lists: the terminals and the nonterminals")
    terminals, nonterminals = list(symbols[0]), list(symbols[1])
    states = symbols[2] if len(symbols) == 3 else [name for name in nonterminals if name.startswith("#")]
    return terminals, nonterminals, list(states)


def from_native(traces: list[Any], symbols: _Symbols) -> list[Trace]:
    """Returns the traces that the native module has read or made."""
    terminals, nonterminals, states = symbols
    known: tuple[tuple[str, ...], ...] = (tuple(terminals), tuple(nonterminals), tuple(states))
    if complete(known[:2])[2] == states:
        known = known[:2]
    return [Trace(word, [Step(*step) for step in steps], source, teach, known) for word, steps, source, teach in traces]


def to_native(traces: Sequence[Trace]) -> list[tuple[Any, ...]]:
    """Returns traces in the form that the native module takes."""
    return [trace._native() for trace in traces]


def read_traces(path: os.PathLike[str] | str) -> list[Trace]:
    """Reads traces from a JSON Lines file, such as those written by ``echostack teach``.

    Parameters
    ----------
    path : str or path-like
        File to read.

    Returns
    -------
    traces : list of Trace
        Traces in the file.
    """
    return from_native(*_native.read_traces(path))


def write_traces(path: os.PathLike[str] | str, traces: Sequence[Trace]) -> None:
    """Writes traces to a JSON Lines file that ``echostack learn --traces`` can read.

    Parameters
    ----------
    path : str or path-like
        File to write.
    traces : sequence of Trace
        Traces to write.
    """
    _native.write_traces(path, to_native(traces), symbols_of(traces))
