"""Traces: what a machine is taught by. For each token of a word, and for its end: reductions, output, shift.

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
    """What happens on one token, or on the end.

    Parameters
    ----------
    reductions : pairs (pop, push): how many symbols are popped, and which is pushed then (None: none)
    output : the output after that; ``[1]`` if the word so far is accepted, else ``[0]``
    shift : whether the token is pushed then; False refuses it
    """

    reductions: Sequence[tuple[int, str | None]] = ()
    output: Sequence[float] = (0.0,)
    shift: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "reductions", tuple((int(pop), push) for pop, push in self.reductions))
        object.__setattr__(self, "output", tuple(map(float, self.output)))


@dataclass(frozen=True, repr=False)
class Trace:
    """The teaching signal for one word: a step for each token, and one for the end unless the last token is refused.

    Parameters
    ----------
    word : the tokens, or vectors
    steps : what happens on each of them, and on the end
    source : where the trace comes from, for messages
    teach : only these steps teach, from the first up to the second; all if None
    symbols : all terminals and nonterminals of the language, if they are known
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
        """Whether the word is accepted: it is read to its end, and the last output is 1."""
        whole = len(self.steps) == len(self.word) + 1
        return whole and len(self.steps[-1].output) == 1 and self.steps[-1].output[0] > 0.5

    def __repr__(self) -> str:
        return f"Trace(word={self.word!r}, accepted={self.accepted})"

    def _json(self) -> str:
        if self._line is not None:  # as it was read
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
    """The terminals and nonterminals of the language that traces are of; else those that occur, sorted."""
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
    """Traces in the form of docs/format.md."""
    return "\n".join([_header(terminals, nonterminals), *(trace._json() for trace in traces)]) + "\n"


def from_jsonl(text: str) -> list[Trace]:
    """Traces from that form."""
    lines = text.splitlines()
    header = json.loads(lines[0]) if lines else {}
    if header.get("echostack") != "traces":
        raise DataError("the first line is no header of traces")
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
    """Reads traces from a file in JSON Lines, as ``echostack teach`` writes them."""
    with open(path, encoding="utf-8") as file:
        return from_jsonl(file.read())


def write_traces(path: Any, traces: Sequence[Trace]) -> None:
    """Writes traces to a file in JSON Lines, for ``echostack learn --traces``."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(to_jsonl(traces, *symbols_of(traces)))
