"""Traces: the training data of a machine.

A trace specifies the reductions, the output and the shift for each token of a word and for its end.

>>> from echostack import Step, Trace
>>> Trace("ab", [Step(output=[0]), Step(output=[0]), Step(reductions=[(2, "S")], output=[1])])
Trace(word=('a', 'b'), accepted=True)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

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
        object.__setattr__(self, "reductions", tuple((int(pop), push) for pop, push in self.reductions))
        object.__setattr__(self, "output", tuple(map(float, self.output)))


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
    symbols : (tuple of str, tuple of str) or None, default=None
        All terminals and nonterminals of the language, if known.
    """

    word: Sequence[Any]
    steps: Sequence[Step]
    source: str = "trace"
    teach: tuple[int, int] | None = field(default=None, compare=False)
    symbols: tuple[tuple[str, ...], tuple[str, ...]] | None = field(default=None, compare=False)
    _line: str | None = field(default=None, compare=False)

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

    def _json(self) -> str:
        if self._line is not None:  # Keep the line exactly as it was read.
            return self._line
        steps = [
            {"reductions": [list(pair) for pair in step.reductions], "output": list(step.output), "shift": step.shift}
            for step in self.steps
        ]
        word = [list(map(float, token)) if not isinstance(token, str) else token for token in self.word]
        line: dict[str, Any] = {"source": self.source, "word": word, "steps": steps}
        if self.teach is not None:
            line["teach"] = list(self.teach)
        return json.dumps(line)


def _header(terminals: Iterable[str], nonterminals: Iterable[str]) -> str:
    form = {"echostack": "traces", "version": 1, "terminals": list(terminals), "nonterminals": list(nonterminals)}
    return json.dumps(form)


def symbols_of(traces: Sequence[Trace]) -> tuple[list[str], list[str]]:
    """Returns the terminals and nonterminals that traces declare.

    If the traces declare none, or do not agree, those that occur in the traces are returned, sorted.
    """
    known = {trace.symbols for trace in traces}
    if len(known) == 1 and (only := known.pop()) is not None:
        return list(only[0]), list(only[1])
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
        return [f"x{channel + 1}" for channel in range(width)], sorted(nonterminals)
    return sorted(terminals), sorted(nonterminals)


def to_jsonl(traces: Sequence[Trace], terminals: Iterable[str], nonterminals: Iterable[str]) -> str:
    """Returns traces in JSON Lines, in the format of docs/format.md."""
    return "\n".join([_header(terminals, nonterminals), *(trace._json() for trace in traces)]) + "\n"


def from_jsonl(text: str) -> list[Trace]:
    """Parses traces in JSON Lines, in the format of docs/format.md."""
    lines = text.splitlines()
    header = json.loads(lines[0]) if lines else {}
    if header.get("echostack") != "traces":
        raise DataError("the first line is not a trace header; see docs/format.md for the format")
    symbols = (tuple(header["terminals"]), tuple(header["nonterminals"]))
    traces = []
    for line in lines[1:]:
        form = json.loads(line)
        steps = [
            Step(step.get("reductions", []), step["output"], step.get("shift", True)) for step in form["steps"]
        ]
        word = [token if isinstance(token, str) else tuple(token) for token in form["word"]]
        teach = tuple(form["teach"]) if form.get("teach") else None
        traces.append(Trace(word, steps, form.get("source", "trace"), teach, symbols, line))
    return traces


def read_traces(path: Any) -> list[Trace]:
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
    with open(path, encoding="utf-8") as file:
        return from_jsonl(file.read())


def write_traces(path: Any, traces: Sequence[Trace]) -> None:
    """Writes traces to a JSON Lines file that ``echostack learn --traces`` can read.

    Parameters
    ----------
    path : str or path-like
        File to write.
    traces : sequence of Trace
        Traces to write.
    """
    with open(path, "w", encoding="utf-8") as file:
        file.write(to_jsonl(traces, *symbols_of(traces)))
