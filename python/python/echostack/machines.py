"""The reservoir stack machine, and the proofs and automata that come from it."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._base import Parametrised, seed_of, whole
from ._progress import reporter
from .errors import DataError, FileFormatError, FitError, ProofError, not_fitted
from .languages import Language, language_of
from .recognizers import CompiledTable, Recognizer, Verdict, _lexed, _lexer, _verdict
from .reservoirs import CycleReservoir, MatrixReservoir, Reservoir, from_spec, spec_of
from .traces import Trace, complete, from_native, symbols_of, to_native

__all__ = ["ReservoirStackMachine", "Certificate", "Difference", "Extraction"]

_DEFAULTS = _native.defaults("cycle")


@dataclass(frozen=True)
class Certificate:
    """A proof that a machine does the same as an automaton on every word of any length.

    If the language is a grammar, the proof begins at its text: the automaton is checked to accept exactly the words of
    the grammar's LR(1) parser. The lexer is trusted, but bound to the certificate.
    """

    _native: _native.Certificate

    @property
    def cells(self) -> int:
        """The number of decisions that are proved."""
        return self._native.size[0]

    def check(self, machine: ReservoirStackMachine, language: Language) -> None:
        """Verifies the proof with the checker.

        Parameters
        ----------
        machine : ReservoirStackMachine
            Machine that the proof is about.
        language : Language
            Language whose automaton the machine is compared with. If it is a grammar, the automaton is compared with the
            grammar's text.

        Raises
        ------
        ProofError
            If the proof does not hold, or if the machine has another lexer than the grammar.
        """
        self._native.check(machine._fitted(), language_of(language))

    def save(self, path: os.PathLike[str] | str) -> None:
        """Writes the certificate to a file that ``echostack certify --check`` can read."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._native.to_json())

    @classmethod
    def load(cls, path: os.PathLike[str] | str) -> Certificate:
        """Reads a certificate from a file."""
        with open(path, encoding="utf-8") as file:
            return cls(_native.Certificate.from_json(file.read()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _certificate_from_json, (self._native.to_json(),)

    def __repr__(self) -> str:
        _, depth, tokens = self._native.size
        return (
            f"<Certificate: {self.cells} cells, "
            f"each decided by at most {depth} symbols of the stack and {tokens} of the input>"
        )


def _certificate_from_json(text: str) -> Certificate:
    return Certificate(_native.Certificate.from_json(text))


@dataclass(frozen=True)
class Difference:
    """A word on which a machine and an automaton differ.

    Attributes
    ----------
    word : tuple of str
        Tokens of the word.
    machine : Verdict
        Verdict of the machine.
    automaton : Verdict
        Verdict of the automaton.
    """

    word: tuple[str, ...]
    machine: Verdict
    automaton: Verdict


@dataclass(frozen=True)
class Extraction:
    """The automaton that a machine implements, with a certificate that proves it.

    Attributes
    ----------
    rules : tuple of str
        Rules in the paper's notation: stack suffix, lookahead, number of symbols to pop, symbol to push.
    productions : tuple of (str, tuple of str)
        Productions of the grammar: left-hand side and right-hand side.
    dot : str
        Graph of the automaton in the DOT language.
    language : Language
        Language of the automaton.
    certificate : Certificate
        Proof that the machine does the same as the automaton on every word.
    """

    rules: tuple[str, ...]
    productions: tuple[tuple[str, tuple[str, ...]], ...]
    dot: str
    language: Language
    certificate: Certificate

    def __str__(self) -> str:
        return "\n".join(self.rules)

    def _repr_html_(self) -> str:
        return "<pre>" + html.escape(str(self)) + "</pre>"


class ReservoirStackMachine(Parametrised, Recognizer):
    """An echo state network with a stack, driven like an LR(1) automaton. Only small classifiers are trained.

    Parameters
    ----------
    reservoir : reservoir object or None, default=None
        Reservoir that maps sequences to states. If None, a :class:`CycleReservoir` is used.
    language : Language or None, default=None
        Language that teaches the machine if it is fitted to labels. It is not needed to fit traces.
    lookahead : {"symbol", "reservoir"}, default="symbol"
        Input of the readouts: only the next token ("symbol"), or the reservoir state over the input ("reservoir"), as
        in the paper.
    mode : {"strict", "tolerant"}, default="strict"
        Treatment of tokens that cannot follow. In "strict" mode, such a token rejects the word at its position. In
        "tolerant" mode, the word is judged at its end, as in the paper.
    actions : {"separate", "joint"}, default="separate"
        Readouts for pop and push: two separate ones or a joint one.
    C : float, default=1e4
        Penalty parameter of the support vector machines.
    gamma : float, default=0.3
        Kernel coefficient of the support vector machines, as a multiple of scikit-learn's ``gamma="scale"``.
    tol : float, default=1e-3
        Tolerance for the stopping criterion of the support vector machines.
    ridge : float or None, default=None
        Penalty of the ridge regression that computes real-valued outputs. If None, outputs are classes.
    max_rows : int, default=100_000
        Maximum number of distinct training rows per readout.
    random_state : int, NumPy random generator or None, default=None
        Seed of the reservoir and of the words that are drawn. If None, they are different each time, and the machine
        records the seed that was drawn.
    n_jobs : int or None, default=None
        If 1, words are judged on the calling thread only. Otherwise, all cores are used. Results never depend on it.
    verbose : bool, default=False
        If True, show progress.

    Attributes
    ----------
    n_contexts_ : int
        Number of distinct contexts in the training data.
    support_ : tuple of int
        Number of support vectors of the readouts for pop, push, shift and output.
    certificate_ : Certificate or None
        The proof, after ``fit_language(prove=True)`` or ``construct``; otherwise None.

    Examples
    --------
    >>> from echostack import Language, ReservoirStackMachine
    >>> brackets = Language.task("dyck1")
    >>> X, y = brackets.examples(100, negatives=0.5, random_state=0)
    >>> machine = ReservoirStackMachine(random_state=0).fit(X, y)
    >>> machine.predict(["(()())", "(()"])
    array([1, 0])
    >>> print(machine.check("())"))
    reject at token 2, expected ( or the end
    """

    _estimator_type = "classifier"

    def __init__(
        self,
        reservoir: Reservoir | None = None,
        *,
        language: Language | None = None,
        lookahead: Literal["symbol", "reservoir"] = "symbol",
        mode: Literal["strict", "tolerant"] = "strict",
        actions: Literal["separate", "joint"] = "separate",
        C: float = _DEFAULTS["C"],
        gamma: float = _DEFAULTS["gamma"],
        tol: float = _DEFAULTS["tol"],
        ridge: float | None = None,
        max_rows: int = _DEFAULTS["max_rows"],
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.reservoir = reservoir
        self.language = language
        self.lookahead = lookahead
        self.mode = mode
        self.actions = actions
        self.C = C
        self.gamma = gamma
        self.tol = tol
        self.ridge = ridge
        self.max_rows = max_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _default(self, name: str) -> Any:
        return CycleReservoir() if name == "reservoir" else None

    def _spec(self, seed: int) -> dict[str, Any]:
        reservoir = self._default("reservoir") if self.reservoir is None else self.reservoir
        named = ["lookahead", "mode", "actions", "C", "gamma", "tol", "ridge", "max_rows"]
        return {"reservoir": spec_of(reservoir, seed), **{name: getattr(self, name) for name in named}}

    def _fitted(self) -> _native.Machine:
        machine = self.__dict__.get("machine_")
        if machine is None:
            raise not_fitted(self)
        return machine

    @property
    def _judge(self) -> _native.Machine:
        return self._fitted()

    def fit(
        self, X: Sequence[Any], y: Sequence[Any] | None = None, *, symbols: Sequence[Sequence[str]] | None = None
    ) -> ReservoirStackMachine:
        """Trains the machine on traces or on labels.

        Parameters
        ----------
        X : sequence
            Words, or the traces themselves if ``y`` is None.
        y : sequence of Trace or int, default=None
            One trace per word, or one label: 1 for words of the language and 0 for others. A label says nothing about
            the stack, so labels need the parameter ``language``, whose automaton then teaches the machine what to do on
            these words.
        symbols : pair of lists of str, default=None
            Terminals and nonterminals. If None, the symbols that the traces declare are used, or, if they declare none,
            those that occur in them.

        Returns
        -------
        self : ReservoirStackMachine
            The fitted machine.
        """
        given = list(X if y is None else y)
        if y is not None and len(X) != len(given):
            raise DataError(f"X has {len(X)} words, but y has {len(given)} entries; give one per word")
        teacher = None
        if all(isinstance(trace, Trace) for trace in given):
            traces = given
            if y is not None:
                _compare(X, traces)
        elif y is None:
            raise DataError("X must hold Trace objects if there is no y; pass words as X, and traces or labels as y")
        else:
            traces, teacher = self._taught(X, _labels(given)), language_of(self.language)
        used = symbols_of(traces) if symbols is None else complete(symbols)
        seed = seed_of(self.random_state)
        with reporter(self.verbose) as progress:
            native = _native.Machine.fit(to_native(traces), used, self._spec(seed), seed, teacher, progress)
        return self._take(native)

    def _taught(self, X: Sequence[Any], labels: list[int]) -> list[Trace]:
        """Returns the traces of the language's automaton on words with these labels."""
        if self.language is None:
            raise DataError(
                "y holds labels, but a machine learns from Trace objects; pass language=..., which then teaches the "
                "machine, or pass traces as y, such as those from Language.examples"
            )
        native, lexer = language_of(self.language), self.language.lexer
        words = [_lexed(_lexer(lexer), word) if lexer is not None and isinstance(word, str) else word for word in X]
        traces, symbols, accepted = native.teach(words, self.mode == "strict")
        for number, (label, truth) in enumerate(zip(labels, accepted)):
            if label != truth:
                says = "in" if truth else "not in"
                raise DataError(f"y[{number}] is {label}, but X[{number}] is {says} the language {self.language.name}")
        return from_native(traces, symbols)

    def _take(self, native: _native.Machine, certificate: _native.Certificate | None = None) -> ReservoirStackMachine:
        self.machine_ = native
        self.certificate_ = None if certificate is None else Certificate(certificate)
        self.n_contexts_ = native.contexts
        self.support_ = tuple(native.support)
        self.classes_ = np.array([0, 1])
        return self

    def fit_language(
        self,
        language: Language,
        *,
        prove: bool = False,
        n_words: int = 100,
        negatives: float = 0.5,
        max_length: int = 50,
        n_tests: int = 10_000,
        test_length: int = 200,
        max_rounds: int = 30,
        time_limit: float | None = None,
    ) -> ReservoirStackMachine:
        """Learns a language from words that the language generates.

        Training is repeated until the machine makes no mistake on fresh words or, with ``prove=True``, until it is
        proved correct on every word.

        Parameters
        ----------
        language : Language
            Language to learn.
        prove : bool, default=False
            If True, train until the machine is proved correct and store the proof in ``certificate_``.
        n_words : int, default=100
            Number of words drawn for the first round, in addition to those that cover the language.
        negatives : float, default=0.5
            Fraction of these words that are invalid, half near misses and half random words.
        max_length : int, default=50
            Maximum length of these words.
        n_tests : int, default=10_000
            Number of fresh words, a third of each kind, that must be judged correctly; 0 for no test. Not used with
            ``prove=True``.
        test_length : int, default=200
            Maximum length of the test words.
        max_rounds : int, default=30
            Maximum number of times that the machine is trained.
        time_limit : float or None, default=None
            Time limit in seconds.

        Returns
        -------
        self : ReservoirStackMachine
            The fitted machine.

        Raises
        ------
        FitError
            If words of the last test are still misjudged.
        ProofError
            If ``prove`` is true and no proof is found, or if the time limit is exceeded.
        """
        seed = seed_of(self.random_state)
        with reporter(self.verbose) as progress:
            native, certificate, wrong = language_of(language).learn(
                self._spec(seed),
                prove=prove,
                words=whole("n_words", n_words),
                negatives=negatives,
                max_length=whole("max_length", max_length, 1),
                tests=whole("n_tests", n_tests),
                test_length=whole("test_length", test_length, 1),
                rounds=whole("max_rounds", max_rounds, 1),
                seed=seed,
                progress=progress,
                time_limit=time_limit,
            )
        self._take(native, certificate)
        if prove and certificate is None:
            raise ProofError("no proof was found; try more rounds or more neurons, or call certify() to find out why")
        if wrong:
            raise FitError(
                f"after {max_rounds} rounds, {wrong} words of the last test are still misjudged; "
                "try more rounds or more neurons"
            )
        return self

    def construct(self, language: Language) -> ReservoirStackMachine:
        """Constructs the machine from the automaton of a language without learning (the paper's Theorem 3).

        The machine is proved correct, and the proof is stored in ``certificate_``.

        Parameters
        ----------
        language : Language
            Language whose automaton is used.

        Returns
        -------
        self : ReservoirStackMachine
            The constructed machine.

        Raises
        ------
        ProofError
            If no proof is found.
        """
        seed = seed_of(self.random_state)
        with reporter(self.verbose) as progress:
            native, certificate = language_of(language).construct(self._spec(seed), seed, progress)
        self._take(native, certificate)
        if certificate is None:
            raise ProofError("no proof was found; try more neurons")
        return self

    def predict(self, X: Iterable[Any]) -> NDArray[np.int64]:
        """Predicts whether words are accepted.

        Parameters
        ----------
        X : iterable or Arrow column
            Words; see :meth:`accepts`.

        Returns
        -------
        y : ndarray of shape (n_words,)
            1 for each accepted word, 0 for all others.
        """
        return self.accepts(X).astype(np.int64)

    def predict_outputs(self, X: Iterable[Any]) -> list[NDArray[np.float64]]:
        """Returns the outputs on each word (the paper's y).

        Parameters
        ----------
        X : iterable
            Words.

        Returns
        -------
        outputs : list of ndarray
            One array per word, with one row per step.
        """
        return self._fitted().outputs(self._words(X), self._in_turn)

    def decision_function(self, X: Iterable[Any]) -> NDArray[np.float64]:
        """Returns the confidence with which each word is judged.

        Parameters
        ----------
        X : iterable
            Words.

        Returns
        -------
        margins : ndarray of shape (n_words,)
            The smallest margin of all decisions on the word, negated if the word is not accepted. The largest float
            stands for a margin that is infinite, because there was no alternative.
        """
        largest = float(np.finfo(np.float64).max)
        return np.clip(self._fitted().margins(self._words(X), self._in_turn), -largest, largest)

    def score(self, X: Sequence[Any], y: Sequence[Any]) -> float:
        """Returns the fraction of words that are judged correctly.

        Parameters
        ----------
        X : sequence
            Words.
        y : sequence of Trace or int
            One trace per word, or 1 for words to accept and 0 for words to reject.

        Returns
        -------
        score : float
            Accuracy of ``predict(X)``.
        """
        truth = _labels([int(one.accepted) if isinstance(one, Trace) else one for one in y])
        given = self.predict(X)
        if len(given) != len(truth):
            raise DataError(f"X has {len(given)} words, but y has {len(truth)} entries; give one per word")
        if not truth:
            raise DataError("X has no words; give at least one")
        return float(np.mean(given == np.array(truth)))

    def certify(
        self, language: Language, *, time_limit: float | None = None, max_cells: int | None = None
    ) -> Certificate | Difference:
        """Proves that the machine does the same as a language's automaton on every word, or finds a counterexample.

        Parameters
        ----------
        language : Language
            Language whose automaton the machine is compared with.
        time_limit : float or None, default=None
            Time limit in seconds.
        max_cells : int or None, default=None
            Maximum number of cells that the search for a proof examines, 1,000,000 if None.

        Returns
        -------
        result : Certificate or Difference
            The proof, or a word on which the machine and the automaton differ.

        Raises
        ------
        ProofError
            If neither is found, or if the time limit is exceeded.
        """
        with reporter(self.verbose) as progress:
            certificate, difference, open_cells = self._fitted().certify(
                language_of(language), progress, time_limit, max_cells
            )
        if certificate is not None:
            return Certificate(certificate)
        if difference is not None:
            word, machine, automaton = difference
            return Difference(tuple(word), _verdict(machine), _verdict(automaton))
        raise ProofError(
            f"{open_cells} decisions are not proved, but no word was found on which the machine and the automaton differ"
        )

    def extract(self, *, time_limit: float | None = None) -> Extraction:
        """Extracts the automaton that the machine implements, as rules, productions and a graph, with a proof.

        Parameters
        ----------
        time_limit : float or None, default=None
            Time limit in seconds.

        Returns
        -------
        extraction : Extraction
            The automaton and its certificate.

        Raises
        ------
        ProofError
            If no automaton can be extracted and proved, or if this is still unknown after ``time_limit`` seconds.
        """
        with reporter(self.verbose) as progress:
            json, rules, productions, dot, certificate = self._fitted().extract(progress, time_limit)
        return Extraction(
            rules=tuple(rules.splitlines()),
            productions=tuple((push, tuple(symbols)) for push, symbols in productions),
            dot=dot,
            language=Language.automaton(json, "extracted"),
            certificate=Certificate(certificate),
        )

    def compile(self, language: Language | None = None) -> CompiledTable:
        """Compiles the machine to a table that returns the same verdict on every word, at the speed of a parser.

        Parameters
        ----------
        language : Language, default=None
            If None, the automaton is extracted from the machine. Otherwise, the automaton of the language is used, and
            the machine is first proved to do the same.

        Returns
        -------
        table : CompiledTable
            The compiled table.

        Raises
        ------
        ProofError
            If no automaton can be extracted, or if the machine cannot be proved to do the same as the language's.
        """
        with reporter(self.verbose) as progress:
            native = self._fitted().compile(None if language is None else language_of(language), progress)
        return CompiledTable(native, self.n_jobs)

    def save(self, path: os.PathLike[str] | str) -> None:
        """Saves the machine, with its parameters and its certificate, to a file that the command line can read, too."""
        self._fitted().save(path, None if self.certificate_ is None else self.certificate_._native)

    @classmethod
    def load(cls, path: os.PathLike[str] | str) -> ReservoirStackMachine:
        """Loads a machine from a file, with its parameters and its certificate, as far as the file contains them.

        A certificate in a file proves nothing before :meth:`Certificate.check` has verified it.
        """
        native = _native.load(path)
        if isinstance(native, _native.Table):
            raise FileFormatError(f"{os.fspath(path)} is the file of a table; use echostack.load")
        return cls._of(native)

    @classmethod
    def _of(cls, native: _native.Machine) -> ReservoirStackMachine:
        native, certificate = native.apart()
        params = native.params
        spec = params.pop("reservoir", None)
        # A reservoir of the user's own, and those of the command line without a seed, are restored as matrices.
        reservoir = MatrixReservoir._of(native.reservoir) if spec is None else from_spec(spec)
        return cls(reservoir, **params)._take(native, certificate)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "machine_" in state:
            state["machine_"] = state["machine_"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"language": None, **state})  # Older pickles have no language.
        if "machine_" in state:
            self.machine_ = _native.Machine.from_bytes(state["machine_"])
        if isinstance(state.get("certificate_"), str):  # Older pickles hold the certificate as text.
            self.certificate_ = _certificate_from_json(state["certificate_"])

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags  # type: ignore[import-untyped]

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=False),
            input_tags=InputTags(two_d_array=False, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "machine_" in self.__dict__

    def _repr_html_(self) -> str:
        if "machine_" not in self.__dict__:
            return f"<pre>{html.escape(repr(self))}</pre>"
        proof = f"a certificate of {self.certificate_.cells} cells" if self.certificate_ is not None else "none"
        rows = {
            "reads": " ".join(self.terminals_),
            "pushes": " ".join(self.nonterminals_),
            "neurons": str(self.machine_.reservoir.neurons),
            "learned from": f"{self.n_contexts_} distinct contexts",
            "support vectors": ", ".join(map(str, self.support_)),
            "proof": proof,
        }
        cells = "".join(f"<tr><th>{key}</th><td style='text-align:left'>{html.escape(text)}</td></tr>" for key, text in rows.items())
        return f"<table><caption>{html.escape(repr(self))}</caption>{cells}</table>"


def _labels(given: Sequence[Any]) -> list[int]:
    """Returns labels as 0 and 1."""
    for number, label in enumerate(given):
        if isinstance(label, Trace):
            raise DataError(f"y[{number}] is a trace, but other entries are labels; give only one kind")
        if isinstance(label, (str, bytes)) or np.ndim(label) != 0 or label not in (0, 1):
            raise DataError(f"y[{number}] is {label!r}, but must be 1 for a word of the language, or 0")
    return [int(label) for label in given]


def _compare(X: Sequence[Any], traces: Sequence[Trace]) -> None:
    """Verifies that traces are about the given words."""
    for number, (word, trace) in enumerate(zip(X, traces)):
        tokens = [token if isinstance(token, str) else np.asarray(token, dtype=float).tolist() for token in word]
        taught = [token if isinstance(token, str) else list(token) for token in trace.word]
        if tokens != taught:
            raise DataError(f"y[{number}] is the trace of another word than X[{number}]; pass the words of the traces as X")
