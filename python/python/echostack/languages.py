"""Languages, given by the paper's tasks, by grammars or by automata, or inferred from examples.

A language generates words, provides training traces for machines, and serves as the reference in proofs.

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
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from . import _native
from ._base import seed_of, whole
from ._progress import reporter
from .errors import NotSettledError, ParameterError
from .traces import Trace, from_native

_Encoding = Literal["auto", "suffix", "state"]

__all__ = ["Language", "from_grammar", "infer", "task_names"]


def task_names() -> list[str]:
    """Returns the names of the paper's nine tasks.

    Returns
    -------
    names : list of str
        Names that :meth:`Language.task` accepts.
    """
    return _native.Language.tasks()


class Language:
    """A language and its automaton, created with :meth:`task`, :meth:`grammar` or :meth:`automaton`.

    Attributes
    ----------
    report : str or None
        What is known about a language that :func:`infer` has inferred, in Markdown. None for other languages.
    """

    def __init__(self, native: _native.Language) -> None:
        self._native = native
        self.report: str | None = None

    @classmethod
    def task(cls, name: str) -> Language:
        """Returns the language of one of the paper's tasks.

        Parameters
        ----------
        name : str
            Name of the task, one of :func:`task_names`.
        """
        return cls(_native.Language.task(name))

    @classmethod
    def grammar(
        cls,
        yacc: str,
        lexer: str | None = None,
        *,
        encoding: _Encoding = "auto",
        name: str = "grammar",
        limits: Mapping[str, int] | None = None,
    ) -> Language:
        """Creates a language from a grammar.

        Parameters
        ----------
        yacc : str
            Grammar in Yacc syntax.
        lexer : str, default=None
            Lexer in Lex syntax, needed if words are given as text.
        encoding : {"auto", "suffix", "state"}, default="auto"
            Contents of the stack: the symbols of the grammar ("suffix") or the states of its LR(1) table ("state").
            "auto" chooses "suffix" if it suffices, and "state" otherwise. See docs/grammars.md.
        name : str, default="grammar"
            Name of the language.
        limits : mapping of str to int, optional
            What the grammar and the lexer may have at most, for untrusted files: ``bytes``, ``symbols``,
            ``productions``, ``states`` and ``entries`` (of the LR(1) table), ``transitions`` (between viable stacks)
            and ``lexer_states``. By default, what large grammars need.
        """
        return cls(_native.Language.grammar(yacc, lexer, encoding, name, limits))

    @classmethod
    def automaton(cls, json: str, name: str = "automaton") -> Language:
        """Creates a language from an automaton.

        Parameters
        ----------
        json : str
            Automaton in JSON, in the format of docs/format.md, as written by ``extract``.
        name : str, default="automaton"
            Name of the language.
        """
        return cls(_native.Language.automaton(json, name))

    @property
    def name(self) -> str:
        """The name of the language."""
        return self._native.name

    @property
    def lexer(self) -> str | None:
        """The lexer in Lex syntax, if there is one."""
        return self._native.lexer

    @property
    def terminals(self) -> list[str]:
        """The names of the tokens."""
        return self._native.symbols[0]

    @property
    def nonterminals(self) -> list[str]:
        """The names of the symbols that reductions push."""
        return self._native.symbols[1]

    @property
    def rules(self) -> str:
        """The rules in the paper's notation, one per line.

        A rule consists of a stack suffix, a lookahead, the number of symbols to pop, and the symbol to push.
        """
        return self._native.rules().rstrip("\n")

    def to_json(self) -> str:
        """Returns the automaton in JSON, in the format of docs/format.md."""
        return self._native.to_json()

    def sample(
        self,
        n: int,
        *,
        kind: Literal["valid", "near-miss", "random"] = "valid",
        min_length: int = 1,
        max_length: int = 50,
        random_state: Any = None,
    ) -> list[list[str]]:
        """Draws words of one kind.

        Parameters
        ----------
        n : int
            Number of words.
        kind : {"valid", "near-miss", "random"}, default="valid"
            Kind of words. A near miss is an invalid word that is one to three edits away from a valid one.
        min_length : int, default=1
            Minimum length of a word.
        max_length : int, default=50
            Maximum length of a word.
        random_state : int, NumPy random generator or None, default=None
            Seed of the words.

        Returns
        -------
        words : list of list of str
            Words as lists of token names.
        """
        lengths = whole("min_length", min_length), whole("max_length", max_length)
        return self._native.sample(whole("n", n), lengths, kind, seed_of(random_state))

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
        """Draws words together with their traces, as ``X`` and ``y`` for ``fit``.

        Parameters
        ----------
        n : int
            Number of words.
        negatives : float, default=0.0
            Fraction of invalid words, half near misses and half random words.
        strict : bool, default=True
            If True, invalid words are rejected at the first token that cannot follow. Otherwise, they are judged at
            their end.
        min_length, max_length : int, default=None
            Minimum and maximum length of a word. If both are None, lengths range from 1 to 50, or from 50 to 200 if
            ``test`` is true. If only one is None, it is 1 or 50, respectively.
        test : bool, default=False
            If True, draw from a different random stream than for training.
        random_state : int, NumPy random generator or None, default=None
            Seed of the words.

        Returns
        -------
        X : list
            Words.
        y : list of Trace
            One trace per word.
        """
        lengths = None
        if min_length is not None or max_length is not None:
            lengths = (
                whole("min_length", 1 if min_length is None else min_length),
                whole("max_length", 50 if max_length is None else max_length),
            )
        drawn = self._native.examples(whole("n", n), lengths, negatives, strict, seed_of(random_state), test)
        traces = from_native(*drawn)
        return [trace.word for trace in traces], traces

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (*self._native.recipe(), self.report)

    def __copy__(self) -> Language:
        return self  # A language never changes.

    def __deepcopy__(self, memo: Any) -> Language:
        return self

    def __repr__(self) -> str:
        return f"<Language {self.name}: {' '.join(self.terminals)}>"


def _remade(method: str, arguments: tuple[Any, ...], report: str | None) -> Language:
    language = Language(getattr(_native.Language, method)(*arguments))
    language.report = report
    return language


def language_of(given: Any) -> _native.Language:
    """Returns the native object of an argument that must be a language."""
    if isinstance(given, Language):
        return given._native
    hint = f"; try Language.task({given!r})" if given in task_names() else ""
    raise ParameterError(f"language is {given!r}, but must be a Language{hint}")


def from_grammar(
    source: os.PathLike[str] | str,
    lexer: str | None = None,
    *,
    encoding: _Encoding = "auto",
    limits: Mapping[str, int] | None = None,
) -> Language:
    """Creates a language from a grammar in Yacc syntax.

    Parameters
    ----------
    source : str or path-like
        Text of the grammar, a grammar file, or a folder that contains ``grammar.y`` and optionally ``lexer.l``.
    lexer : str, default=None
        Lexer in Lex syntax. If None and ``source`` is a folder, its ``lexer.l`` is used, if there is one.
    encoding : {"auto", "suffix", "state"}, default="auto"
        Contents of the stack; see :meth:`Language.grammar`.
    limits : mapping of str to int, optional
        What the grammar and the lexer may have at most; see :meth:`Language.grammar`.

    Returns
    -------
    language : Language
        Language that the grammar describes.

    Examples
    --------
    >>> from echostack import from_grammar
    >>> from_grammar("%start L\\n%%\\nL: '[' ']' | '[' E ']';\\nE: 'x' | E ',' 'x';\\n")
    <Language grammar: [ ] x ,>
    """
    text = os.fspath(source)
    # The text of a grammar has a line %%.
    if "%%" not in text or ("\n" not in text and os.path.exists(text)):
        return Language(_native.Language.open_grammar(text, lexer, encoding, limits))
    return Language.grammar(text, lexer, encoding=encoding, limits=limits)


def infer(
    examples: Iterable[str],
    oracle: Callable[[str], object],
    *,
    name: str = "inferred",
    tests: int = 4000,
    rounds: int = 1000,
    hold_out: float | None = None,
    max_queries: int = 2_000_000,
    time_limit: float = 3600.0,
    random_state: Any = 0,
    verbose: bool = False,
) -> Language:
    """Infers a lexer and a grammar from valid texts and a function that says whether a text is valid.

    See docs/infer.md for what can be learned, and for what is known about the result.

    Parameters
    ----------
    examples : iterable of str
        Valid texts. They should be short, and each should show something new.
    oracle : callable
        Takes a text, and returns whether it is valid, as a value that is true or false. The answer must depend on the
        text only. No text is asked twice. An exception ends the run, and is raised again. The function is called on
        texts that nobody has looked at: it should not execute them.
    name : str, default="inferred"
        Name of the language.
    tests : int, default=4000
        Number of random tests in a round.
    rounds : int, default=1000
        Maximum number of rounds.
    hold_out : float, default=None
        Fraction of the examples to hold out, to measure recall. If None, it is a fifth of at least 50 examples, and 0 for
        fewer.
    max_queries : int, default=2000000
        Maximum number of texts to ask about.
    time_limit : float, default=3600.0
        Maximum time in seconds.
    random_state : int, NumPy random generator or None, default=0
        Seed of all random choices.
    verbose : bool, default=False
        If True, show progress.

    Returns
    -------
    language : Language
        Language with a grammar and a lexer. Its ``report`` says what is known about it.

    Raises
    ------
    NotSettledError
        If learning does not converge. The exception has the best grammar so far, which is a guess.

    Examples
    --------
    Nested parentheses around at least one x:

    >>> import echostack as es
    >>> def is_nested(text):
    ...     while "(x)" in text or "xx" in text:
    ...         text = text.replace("(x)", "x").replace("xx", "x")
    ...     return text == "x"
    >>> language = es.infer(["x", "(x)", "x(x)x"], is_nested)
    >>> sorted(language.terminals)
    ['(', ')', 'x']
    >>> machine = es.ReservoirStackMachine(random_state=0).fit_language(language, prove=True)
    >>> bool(machine.check("((x)x)(x)")), bool(machine.check("((x)"))
    (True, False)
    """
    if isinstance(examples, str):
        raise ParameterError("examples is one text, but must be a list of texts")
    with reporter(verbose) as progress:
        native, report, reason = _native.infer(
            list(examples),
            oracle,
            name=name,
            tests=tests,
            rounds=rounds,
            hold_out=hold_out,
            queries=max_queries,
            time_limit=time_limit,
            seed=seed_of(random_state),
            progress=progress,
        )
    language = None if native is None else Language(native)
    if language is not None:
        language.report = report
    if language is None or reason is not None:
        raise NotSettledError(f"not settled: {reason or 'the language is empty'}", language, report)
    return language
