"""Languages: the paper's tasks, grammars, automata. They draw words, teach machines, and are what proofs compare with.

>>> from echostack import Language
>>> brackets = Language.task("dyck1")
>>> print(brackets.rules)
(S S, ε, 2, S)
(( S ), ε, 3, S)
((, ), 0, S)
>>> brackets.sample(2, max_length=6, random_state=1)
[['(', ')'], ['(', '(', ')', ')']]
"""

from __future__ import annotations

import os
from typing import Any

from . import _native
from ._base import seed_of
from .traces import Trace, from_jsonl

__all__ = ["Language", "from_grammar", "task_names"]


def task_names() -> list[str]:
    """The names of the paper's nine tasks."""
    return _native.Language.tasks()


class Language:
    """A language with its automaton. Make one with :meth:`task`, :meth:`grammar` or :meth:`automaton`."""

    def __init__(self, native: _native.Language) -> None:
        self._native = native

    @classmethod
    def task(cls, name: str) -> Language:
        """One of the paper's tasks."""
        return cls(_native.Language.task(name))

    @classmethod
    def grammar(cls, yacc: str, lexer: str | None = None, *, encoding: str = "auto", name: str = "grammar") -> Language:
        """A grammar in Yacc's syntax, and a lexer in Lex's, if words are texts."""
        return cls(_native.Language.grammar(yacc, lexer, encoding, name))

    @classmethod
    def automaton(cls, json: str, name: str = "automaton") -> Language:
        """An automaton in JSON (docs/format.md), as ``extract`` gives it."""
        return cls(_native.Language.automaton(json, name))

    @property
    def name(self) -> str:
        """The name."""
        return self._native.name

    @property
    def terminals(self) -> list[str]:
        """The tokens."""
        return self._native.symbols[0]

    @property
    def nonterminals(self) -> list[str]:
        """The symbols that reductions push."""
        return self._native.symbols[1]

    @property
    def rules(self) -> str:
        """The rules in the paper's form, one a line: suffix, lookahead, pop, push."""
        return self._native.rules().rstrip("\n")

    def to_json(self) -> str:
        """The automaton in JSON."""
        return self._native.to_json()

    def sample(
        self,
        n: int,
        *,
        kind: str = "valid",
        min_length: int = 1,
        max_length: int = 50,
        random_state: Any = None,
    ) -> list[list[str]]:
        """Words of a kind: "valid", "near-miss" (one to three edits away from a valid one, and wrong) or "random"."""
        return self._native.sample(n, (min_length, max_length), kind, seed_of(random_state))

    def examples(
        self,
        n: int,
        *,
        negatives: float = 0.0,
        strict: bool = True,
        min_length: int | None = None,
        max_length: int | None = None,
        test: bool = False,
        random_state: Any = None,
    ) -> tuple[list[Any], list[Trace]]:
        """Words and their traces, as ``X, y`` for ``fit``.

        Parameters
        ----------
        n : how many
        negatives : the part of them that is wrong: near misses and random words, half each
        strict : whether wrong words are refused where they go wrong, or judged at their end
        min_length, max_length : lengths; by default 1 to 50, and 50 to 200 for a test
        test : draw from another stream than for training
        random_state : the seed
        """
        lengths = None
        if min_length is not None or max_length is not None:
            lengths = (1 if min_length is None else min_length, 50 if max_length is None else max_length)
        text = self._native.examples(n, lengths, negatives, strict, seed_of(random_state), test)
        traces = from_jsonl(text)
        return [trace.word for trace in traces], traces

    def __repr__(self) -> str:
        return f"<Language {self.name}: {' '.join(self.terminals)}>"


def from_grammar(source: os.PathLike[str] | str, lexer: str | None = None, *, encoding: str = "auto") -> Language:
    """A language from a grammar in Yacc's syntax: its text, a file, or a folder with ``grammar.y`` and ``lexer.l``.

    >>> from echostack import from_grammar
    >>> from_grammar("%start L\\n%%\\nL: '[' ']' | '[' E ']';\\nE: 'x' | E ',' 'x';\\n")
    <Language grammar: [ ] x ,>
    """
    text = os.fspath(source)
    name = "grammar"
    if "\n" not in text and os.path.exists(text):
        name = os.path.splitext(os.path.basename(os.path.normpath(text)))[0]
        path = text
        if os.path.isdir(text):
            path = os.path.join(text, "grammar.y")
            lexer_path = os.path.join(text, "lexer.l")
            if lexer is None and os.path.exists(lexer_path):
                with open(lexer_path, encoding="utf-8") as file:
                    lexer = file.read()
        with open(path, encoding="utf-8") as file:
            text = file.read()
    return Language.grammar(text, lexer, encoding=encoding, name=name)
