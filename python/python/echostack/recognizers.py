"""What judges words: verdicts, sessions, parses, and the tables that machines are compiled to."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from .errors import DataError

__all__ = ["END", "Token", "Verdict", "Session", "Parse", "Recognizer", "CompiledTable", "load"]

END = None
"""The end of a word, among expected tokens."""


class Token(NamedTuple):
    """A token of a text: its name, its first character, and the one after its last."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Verdict:
    """What a recogniser says of a word.

    Attributes
    ----------
    verdict : "accept", "incomplete" (the beginning of a word), "reject" or "stopped" (a limit was reached)
    position : the token that cannot stand where it stands, counted from 0; None if there is none
    expected : what could have stood there, or could follow; ``None`` is the end
    limit : the limit that was reached, if one was
    """

    verdict: str
    position: int | None = None
    expected: tuple[str | None, ...] = ()
    limit: str | None = None

    def __bool__(self) -> bool:
        return self.verdict == "accept"

    def __str__(self) -> str:
        names = ["the end" if token is None else token for token in self.expected]
        hint = f", expected {' or '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}" if names else ""
        place = "" if self.position is None else f" at token {self.position}"
        return f"{self.verdict}{place}{hint}"


def _verdict(given: tuple[Any, ...]) -> Verdict:
    name, position, expected, limit = given
    return Verdict(name, position, tuple(expected), limit)


class Session:
    """The reading of one word, token by token. It can be forked, and asked at any time."""

    def __init__(self, native: _native.Session) -> None:
        self._native = native

    def feed(self, *tokens: Any) -> bool:
        """Reads tokens and says whether more can follow."""
        return all([self._native.feed(token) for token in tokens])

    @property
    def expected(self) -> tuple[str | None, ...]:
        """What could come next; None is the end."""
        return tuple(self._native.expected())

    @property
    def position(self) -> int:
        """The number of tokens read."""
        return self._native.position

    def verdict(self) -> Verdict:
        """The verdict, if the word ended here. The session can still be fed."""
        return _verdict(self._native.verdict())

    def fork(self) -> Session:
        """Another session that stands where this one does."""
        return Session(self._native.fork())

    def __repr__(self) -> str:
        return f"<Session after {self.position} tokens: {self.verdict()}>"


@dataclass(frozen=True)
class Parse:
    """Everything that happened on a word: a table with input, stack, decision and margin for each step."""

    word: tuple[str, ...]
    rows: tuple[tuple[str, str, str, float], ...]
    verdict: Verdict

    @property
    def margins(self) -> NDArray[np.float64]:
        """The margin of each decision."""
        return np.array([row[3] for row in self.rows])

    def show(self) -> str:
        """The steps as text."""
        lines = [f"{'input':12} {'stack':24} {'action':20} margin"]
        lines += [f"{rest[:12]:12} {stack[-24:]:24} {action:20} {margin:.3g}" for rest, stack, action, margin in self.rows]
        return "\n".join([*lines, str(self.verdict)])

    __str__ = show

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td><code>{html.escape(rest)}</code></td><td style='text-align:right'><code>{html.escape(stack)}</code>"
            f"</td><td style='text-align:left'>{html.escape(action)}</td><td>{margin:.3g}</td></tr>"
            for rest, stack, action, margin in self.rows
        )
        head = "<tr><th>input</th><th>stack</th><th>action</th><th>margin</th></tr>"
        return f"<table>{head}{cells}</table><p>{html.escape(str(self.verdict))}</p>"


def _parse(word: Sequence[str], events: Iterable[dict[str, Any]], verdict: Verdict) -> Parse:
    stack: list[str] = []
    rows: list[tuple[str, str, str, float]] = []
    for event in events:
        at = event["position"]
        rest = " ".join(word[at:]) or "(end)"
        shown = " ".join(stack)
        if event["event"] == "reduce" and (event["pop"] or event["push"]):
            rows.append((rest, shown, f"pop {event['pop']}, push {event['push']}", event["margin"]))
            del stack[len(stack) - event["pop"] :]
            if event["push"] is not None:
                stack.append(event["push"])
        elif event["event"] == "shift":
            rows.append((rest, shown, "shift" if event["shifted"] else "refuse", event["margin"]))
            if event["shifted"]:
                stack.append(word[at])
    return Parse(tuple(word), tuple(rows), verdict)


_NO_TOKEN = "\ufffd"
"""Stands for what begins no token in a text; no language has it."""


@lru_cache(maxsize=64)
def _lexer(source: str) -> _native.Lexer:
    return _native.Lexer(source)


def _lexed(lexer: _native.Lexer, text: str) -> list[str]:
    tokens, bad = lexer.tokens(text)
    return [name for name, _, _ in tokens] + ([] if bad is None else [_NO_TOKEN])


def _is_arrow(words: Any) -> bool:
    # Pandas speaks the interface only if pyarrow is there, and its columns of lists are Python's own.
    if type(words).__module__.startswith("pandas."):
        return False
    return hasattr(words, "__arrow_c_array__") or hasattr(words, "__arrow_c_stream__")


class Recognizer:
    """What machines and tables share. ``self._judge`` is what does the work.

    A word is a sequence of tokens, names or numbers. A text is one, too: its characters are the tokens, or, if the language has
    a lexer, what that makes of it.
    """

    @property
    def _judge(self) -> Any:
        raise NotImplementedError

    @property
    def _in_turn(self) -> bool:
        return getattr(self, "n_jobs", None) == 1

    def _word(self, word: Any) -> Any:
        return next(iter(self._words([word])))

    def _words(self, words: Iterable[Any]) -> Iterable[Any]:
        source = self._judge.manifest.get("lexer")
        if _is_arrow(words):
            raise DataError("this takes a list of words; an Arrow column goes to accepts, predict or check_arrow")
        if source is None:
            return words
        return [_lexed(_lexer(source), word) if isinstance(word, str) else word for word in words]

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text, with their places: ``tokens(text)[verdict.position]`` is where it goes wrong."""
        source = self._judge.manifest.get("lexer")
        if source is None:
            return [Token(letter, at, at + 1) for at, letter in enumerate(text)]
        tokens, bad = _lexer(source).tokens(text)
        return [Token(*token) for token in tokens] + ([] if bad is None else [Token(text[bad], bad, bad + 1)])

    @property
    def terminals_(self) -> list[str]:
        """The tokens, by number."""
        return self._judge.symbols[0]

    @property
    def nonterminals_(self) -> list[str]:
        """The symbols that reductions push."""
        return self._judge.symbols[1]

    def check(self, word: Any, max_depth: int | None = None) -> Verdict:
        """The verdict on one word: where it goes wrong, and what could have stood there."""
        return _verdict(self._judge.judge([self._word(word)], max_depth)[0])

    def check_all(self, words: Iterable[Any], max_depth: int | None = None) -> list[Verdict]:
        """The verdicts on many words, on all cores."""
        return [_verdict(given) for given in self._judge.judge(self._words(words), max_depth, self._in_turn)]

    def accepts(self, words: Iterable[Any], max_depth: int | None = None) -> NDArray[np.bool_]:
        """Whether each word is accepted.

        The words may be an Arrow column (of pyarrow, polars or any other library that speaks the Arrow C interface): lists of names, lists
        of numbers, or texts. No Python object is made of its tokens. A null is an error; see :meth:`check_arrow`.
        """
        if _is_arrow(words):
            return self._judge.accepts_arrow(words, max_depth, self._in_turn)
        return self._judge.accepts(self._words(words), max_depth, self._in_turn)

    def check_arrow(self, words: Any, max_depth: int | None = None) -> Any:
        """The verdicts on an Arrow column of words, as an Arrow record batch with the columns ``verdict`` and ``position``.

        ``pyarrow.record_batch(...)`` and ``polars.DataFrame(...)`` take it as it is. Null words have null verdicts.
        """
        return self._judge.check_arrow(words, max_depth, self._in_turn)

    def session(self, max_depth: int | None = None) -> Session:
        """Begins a word that is read token by token."""
        return Session(_native.Session(self._judge, max_depth))

    def parse(self, word: Any) -> Parse:
        """Everything that happens on a word, step by step."""
        word = self._word(word)
        names = [token if isinstance(token, str) else self.terminals_[token] for token in word]
        events, verdict = self._judge.trace(word)
        return _parse(names, events, _verdict(verdict))

    trace = parse


class CompiledTable(Recognizer):
    """A machine compiled to a table: the same verdicts at the speed of a parser. Made by ``compile()`` or ``load``."""

    def __init__(self, native: _native.Table, n_jobs: int | None = None) -> None:
        self._table = native
        self.n_jobs = n_jobs

    @property
    def _judge(self) -> _native.Table:
        return self._table

    @property
    def n_states(self) -> int:
        """The number of states."""
        return self._table.size[0]

    def save(self, path: os.PathLike[str] | str) -> None:
        """Saves the table, for this package and the command line."""
        self._table.save(path)

    def source(self, language: str = "rust") -> str:
        """The table as a source file in "rust" or "c" that needs no library."""
        return self._table.source(language)

    def __reduce__(self) -> tuple[Any, ...]:
        return _table_from_bytes, (self._table.to_bytes(),)

    def __repr__(self) -> str:
        states, actions, size = self._table.size
        return f"<CompiledTable: {states} states, {actions} actions in {size} bytes>"


def _table_from_bytes(data: bytes) -> CompiledTable:
    return CompiledTable(_native.Table.from_bytes(data))


def load(path: os.PathLike[str] | str) -> Any:
    """Loads a machine or a table that was saved here or by the command line."""
    from .errors import FileFormatError
    from .machines import ReservoirStackMachine

    try:
        return CompiledTable(_native.Table.load(path))
    except FileFormatError:
        return ReservoirStackMachine.load(path)
