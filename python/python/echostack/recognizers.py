"""Recognition of words: verdicts, sessions, parses, and the tables that machines are compiled to."""

from __future__ import annotations

import html
import numbers
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._base import whole
from .errors import DataError, ParameterError

__all__ = ["END", "Token", "Verdict", "Session", "Parse", "Recognizer", "CompiledTable"]

END = None
"""The end of a word in a list of expected tokens."""


class Token(NamedTuple):
    """A token of a text.

    Attributes
    ----------
    name : str
        Name of the token.
    start : int
        Position of its first character.
    end : int
        Position after its last character.
    """

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Verdict:
    """The verdict of a recognizer on a word. It is true if the word is accepted.

    Attributes
    ----------
    verdict : {"accept", "incomplete", "reject", "stopped"}
        The verdict. "incomplete" means that the word is a prefix of a valid word, and "stopped" that a limit was
        reached.
    position : int or None
        Index of the token that cannot occur at its position, starting at 0; None if there is none.
    expected : tuple of (str or None)
        Tokens that could have occurred at that position, or that could follow; None stands for the end.
    limit : str or None
        The limit that was reached, if any.
    """

    verdict: Literal["accept", "incomplete", "reject", "stopped"]
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
    """A word that is read token by token. A session can be queried at any time, and it can be forked."""

    def __init__(self, native: _native.Session) -> None:
        self._native = native

    def feed(self, *tokens: Any) -> bool:
        """Reads tokens.

        Parameters
        ----------
        *tokens : str or int
            Names or numbers of the tokens.

        Returns
        -------
        open : bool
            True if more tokens can follow.
        """
        return all([self._native.feed(token) for token in tokens])

    @property
    def expected(self) -> tuple[str | None, ...]:
        """The tokens that can come next; None stands for the end."""
        return tuple(self._native.expected())

    @property
    def position(self) -> int:
        """The number of tokens read."""
        return self._native.position

    def verdict(self) -> Verdict:
        """Returns the verdict on the word if it ended here. More tokens can still be fed afterwards."""
        return _verdict(self._native.verdict())

    def fork(self) -> Session:
        """Returns an independent session in the same state."""
        return Session(self._native.fork())

    def __repr__(self) -> str:
        return f"<Session after {self.position} tokens: {self.verdict()}>"


@dataclass(frozen=True)
class Parse:
    """A record of every step on a word.

    Attributes
    ----------
    word : tuple of str
        Tokens of the word.
    rows : tuple of (str, str, str, float)
        Remaining input, stack, action and margin of each step.
    verdict : Verdict
        Verdict on the word.
    """

    word: tuple[str, ...]
    rows: tuple[tuple[str, str, str, float], ...]
    verdict: Verdict

    @property
    def margins(self) -> NDArray[np.float64]:
        """The margin of each decision."""
        return np.array([row[3] for row in self.rows])

    def show(self) -> str:
        """Returns the steps as a text table."""
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
"""Placeholder for a character at which no token begins; it is not a token of any language."""


@lru_cache(maxsize=64)
def _lexer(source: str) -> _native.Lexer:
    return _native.Lexer(source)


def _lexed(lexer: _native.Lexer, text: str) -> list[str]:
    tokens, bad = lexer.tokens(text)
    return [name for name, _, _ in tokens] + ([] if bad is None else [_NO_TOKEN])


def _is_arrow(words: Any) -> bool:
    # pandas supports the interface only if pyarrow is installed, and its columns of lists hold Python objects.
    if type(words).__module__.startswith("pandas."):
        return False
    return hasattr(words, "__arrow_c_array__") or hasattr(words, "__arrow_c_stream__")


def _limits(max_depth: int | None, max_actions: int | None) -> tuple[int | None, int | None]:
    depth = None if max_depth is None else whole("max_depth", max_depth)
    return depth, None if max_actions is None else whole("max_actions", max_actions)


class Recognizer:
    """Common base class of machines and tables, which delegates to the native object ``self._judge``.

    A word is a sequence of tokens, given by name or by number. A string is also a word: its tokens are produced by the
    lexer of the language, or, if there is none, are its characters.
    """

    @property
    def _judge(self) -> _native.Model:
        raise NotImplementedError

    @property
    def _in_turn(self) -> bool:
        n_jobs = getattr(self, "n_jobs", None)
        if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0):
            raise ParameterError(f"n_jobs is {n_jobs!r}, but must be None or an integer other than 0")
        return n_jobs == 1

    def _word(self, word: Any) -> Any:
        return next(iter(self._words([word])))

    def _words(self, words: Iterable[Any]) -> Iterable[Any]:
        source = self._judge.manifest.get("lexer")
        if _is_arrow(words):
            raise DataError("expected a list of words; pass Arrow columns to accepts, predict or check_arrow")
        if isinstance(words, (str, bytes)) or not hasattr(words, "__iter__"):
            raise DataError(f"expected a list of words, but got {words!r}; to judge one word, pass a list with this word")
        if source is None:
            return words
        return [_lexed(_lexer(source), word) if isinstance(word, str) else word for word in words]

    def tokens(self, text: str) -> list[Token]:
        """Splits a text into tokens.

        If the text is rejected, ``tokens(text)[verdict.position]`` is the token at which it is rejected.

        Parameters
        ----------
        text : str
            Text to split.

        Returns
        -------
        tokens : list of Token
            Tokens with their positions in the text.
        """
        source = self._judge.manifest.get("lexer")
        if source is None:
            return [Token(letter, at, at + 1) for at, letter in enumerate(text)]
        tokens, bad = _lexer(source).tokens(text)
        return [Token(*token) for token in tokens] + ([] if bad is None else [Token(text[bad], bad, bad + 1)])

    @property
    def terminals_(self) -> list[str]:
        """The names of the tokens, in the order of their numbers."""
        return self._judge.symbols[0]

    @property
    def nonterminals_(self) -> list[str]:
        """The names of the symbols that reductions push."""
        return self._judge.symbols[1]

    def check(self, word: Any, max_depth: int | None = None, max_actions: int | None = None) -> Verdict:
        """Judges one word.

        Parameters
        ----------
        word : sequence of str or int, or str
            Word to judge.
        max_depth : int or None, default=None
            Maximum number of symbols on the stack.
        max_actions : int or None, default=None
            Maximum number of actions on one token, in addition to eight for each symbol on the stack.

        Returns
        -------
        verdict : Verdict
            The verdict, with the position at which an invalid word is rejected and the tokens expected there.
        """
        return _verdict(self._judge.judge([self._word(word)], _limits(max_depth, max_actions), True)[0])

    def check_all(self, words: Iterable[Any], max_depth: int | None = None, max_actions: int | None = None) -> list[Verdict]:
        """Judges many words on all cores.

        Parameters
        ----------
        words : iterable
            Words to judge.
        max_depth : int or None, default=None
            Maximum number of symbols on the stack.
        max_actions : int or None, default=None
            Maximum number of actions on one token, in addition to eight for each symbol on the stack.

        Returns
        -------
        verdicts : list of Verdict
            One verdict per word.
        """
        return [_verdict(given) for given in self._judge.judge(self._words(words), _limits(max_depth, max_actions), self._in_turn)]

    def accepts(self, words: Iterable[Any], max_depth: int | None = None, max_actions: int | None = None) -> NDArray[np.bool_]:
        """Determines which words are accepted.

        Parameters
        ----------
        words : iterable or Arrow column
            Words to judge. An Arrow column may come from pyarrow, polars or any other library that implements the Arrow
            C data interface, and contains lists of names, lists of numbers, or strings. No Python objects are created
            for its tokens. Nulls are not allowed; see :meth:`check_arrow`.
        max_depth : int or None, default=None
            Maximum number of symbols on the stack.
        max_actions : int or None, default=None
            Maximum number of actions on one token, in addition to eight for each symbol on the stack.

        Returns
        -------
        accepted : ndarray of bool of shape (n_words,)
            True for each accepted word.
        """
        if _is_arrow(words):
            return self._judge.accepts_arrow(words, _limits(max_depth, max_actions), self._in_turn)
        return self._judge.accepts(self._words(words), _limits(max_depth, max_actions), self._in_turn)

    def check_arrow(self, words: Any, max_depth: int | None = None, max_actions: int | None = None) -> Any:
        """Judges an Arrow column of words.

        Parameters
        ----------
        words : Arrow column
            Lists of names, lists of numbers, or strings.
        max_depth : int or None, default=None
            Maximum number of symbols on the stack.
        max_actions : int or None, default=None
            Maximum number of actions on one token, in addition to eight for each symbol on the stack.

        Returns
        -------
        batch : Arrow record batch
            Record batch with the columns ``verdict`` and ``position``, which can be passed directly to
            ``pyarrow.record_batch(...)`` or ``polars.DataFrame(...)``. Null words have null verdicts.
        """
        return self._judge.check_arrow(words, _limits(max_depth, max_actions), self._in_turn)

    def session(self, max_depth: int | None = None, max_actions: int | None = None) -> Session:
        """Starts a session that reads a word token by token.

        Parameters
        ----------
        max_depth : int or None, default=None
            Maximum number of symbols on the stack.
        max_actions : int or None, default=None
            Maximum number of actions on one token, in addition to eight for each symbol on the stack.

        Returns
        -------
        session : Session
            Session that has read no tokens yet.
        """
        return Session(_native.Session(self._judge, _limits(max_depth, max_actions)))

    def parse(self, word: Any) -> Parse:
        """Parses a word and records every step.

        Parameters
        ----------
        word : sequence of str or int, or str
            Word to parse.

        Returns
        -------
        parse : Parse
            Steps and verdict.
        """
        word = self._word(word)
        known = dict(enumerate(self.terminals_))
        names = [token if isinstance(token, str) else known.get(token, "?") for token in word]
        events, verdict = self._judge.trace(word)
        return _parse(names, events, _verdict(verdict))

    trace = parse


class CompiledTable(Recognizer):
    """A machine compiled to a table, which returns the same verdicts at the speed of a parser.

    Tables are created by :meth:`ReservoirStackMachine.compile` or :func:`load`.
    """

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
        """Saves the table to a file that this package and the command line can read."""
        self._table.save(path)

    def source(self, language: Literal["rust", "c"] = "rust") -> str:
        """Returns the table, with its lexer if it has one, as a source file that does not depend on any library.

        Parameters
        ----------
        language : {"rust", "c"}, default="rust"
            Programming language.

        Returns
        -------
        source : str
            Contents of the source file.
        """
        return self._table.source(language)

    def __reduce__(self) -> tuple[Any, ...]:
        return _table_from_bytes, (self._table.to_bytes(), self.n_jobs)

    def __repr__(self) -> str:
        states, actions, size = self._table.size
        return f"<CompiledTable: {states} states, {actions} actions in {size} bytes>"


def _table_from_bytes(data: bytes, n_jobs: int | None = None) -> CompiledTable:
    return CompiledTable(_native.Table.from_bytes(data), n_jobs)
