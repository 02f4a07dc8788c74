"""The estimators: the reservoir stack machine, and the echo state network."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._base import Parametrised, seed_of
from ._progress import reporter
from .errors import DataError, FitError, ParameterError, ProofError, not_fitted
from .languages import Language
from .recognizers import CompiledTable, Recognizer, Verdict, _verdict
from .reservoirs import CycleReservoir, _rows
from .traces import Trace, symbols_of, to_jsonl

__all__ = ["ReservoirStackMachine", "EchoStateNetwork", "Certificate", "Difference", "Extraction"]


@dataclass(frozen=True)
class Certificate:
    """A proof that a machine does on every word, of any length, what an automaton does."""

    _native: _native.Certificate

    @property
    def cells(self) -> int:
        """How many decisions are proved."""
        return self._native.size[0]

    def check(self, machine: ReservoirStackMachine, language: Language) -> None:
        """Verifies the proof with the checker; raises ProofError if it does not hold."""
        self._native.check(machine._fitted(), language._native)

    def save(self, path: os.PathLike[str] | str) -> None:
        """Writes the certificate, for ``echostack certify --check``."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._native.to_json())

    @classmethod
    def load(cls, path: os.PathLike[str] | str) -> Certificate:
        """Reads a certificate."""
        with open(path, encoding="utf-8") as file:
            return cls(_native.Certificate.from_json(file.read()))

    def __repr__(self) -> str:
        _, depth, tokens = self._native.size
        return f"<Certificate: {self.cells} cells, at most {depth} symbols of the stack and {tokens} of the input decide>"


@dataclass(frozen=True)
class Difference:
    """A word on which a machine and an automaton differ."""

    word: tuple[str, ...]
    machine: Verdict
    automaton: Verdict


@dataclass(frozen=True)
class Extraction:
    """The automaton that a machine is, proved by a certificate."""

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
    """An echo state network with a stack, driven like an LR(1)-automaton. Only small classifiers are trained.

    Parameters
    ----------
    reservoir : what turns sequences into states; a :class:`CycleReservoir` if None
    lookahead : "symbol": the readouts see the next token alone; "reservoir": the state over the input, as in the paper
    mode : "strict": a token that cannot follow rejects the word there; "tolerant": judged at the end, as in the paper
    actions : "separate" readouts for pop and push, or "joint"
    C, gamma, tol : of the support vector machines; gamma is a multiple of scikit-learn's "scale"
    ridge : the penalty of a ridge regression for real-valued outputs; None for classes
    max_rows : the most distinct training rows of a readout
    random_state : the seed of the reservoir and of words that are drawn
    n_jobs : 1 to judge words on the calling thread alone; else all cores are used. It never changes a result
    verbose : whether progress is shown

    Attributes
    ----------
    n_contexts_ : the distinct contexts that were learned from
    support_ : the support vectors of pop, push, shift and output
    certificate_ : the proof, after ``fit_language(prove=True)``; else None

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
        reservoir: Any = None,
        *,
        lookahead: str = "symbol",
        mode: str = "strict",
        actions: str = "separate",
        C: float = 1e4,
        gamma: float = 0.3,
        tol: float = 1e-3,
        ridge: float | None = None,
        max_rows: int = 100_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.reservoir = reservoir
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

    def _spec(self) -> dict[str, Any]:
        reservoir = CycleReservoir() if self.reservoir is None else self.reservoir
        if not hasattr(reservoir, "_spec"):
            raise ParameterError(f"reservoir is {reservoir!r}, but must be one of echostack's reservoirs or None")
        named = ["lookahead", "mode", "actions", "C", "gamma", "tol", "ridge", "max_rows"]
        return {"reservoir": reservoir._spec(self.random_state), **{name: getattr(self, name) for name in named}}

    def _fitted(self) -> _native.Machine:
        machine = self.__dict__.get("machine_")
        if machine is None:
            raise not_fitted(self)
        return machine

    @property
    def _judge(self) -> _native.Machine:
        return self._fitted()

    def fit(self, X: Sequence[Any], y: Sequence[Trace] | None = None, *, symbols: Any = None) -> ReservoirStackMachine:
        """Trains the machine.

        Parameters
        ----------
        X : the words; or the traces themselves, if y is None
        y : a trace for each word
        symbols : terminals and nonterminals, two lists; if None, those that the traces know of, else those that occur in them
        """
        traces = list(X if y is None else y)
        if y is not None and len(X) != len(traces):
            raise DataError(f"{len(X)} words, but {len(traces)} traces")
        if not all(isinstance(trace, Trace) for trace in traces):
            raise DataError("a machine learns from traces: give Trace objects as y, as Language.examples makes them")
        terminals, nonterminals = symbols_of(traces) if symbols is None else symbols
        with reporter(self.verbose) as progress:
            native = _native.Machine.fit(to_jsonl(traces, terminals, nonterminals), self._spec(), progress)
        return self._take(native)

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
        """Learns a language from its own words, until it finds no mistake on fresh ones; or until it is proved right.

        With ``prove=True`` there is a ``certificate_`` afterwards, or a ProofError. Without, a FitError says if words of the
        last test were still wrong. If it takes more than ``time_limit`` seconds, there is a ProofError.
        """
        with reporter(self.verbose) as progress:
            native, certificate, wrong = language._native.learn(
                self._spec(),
                prove=prove,
                words=n_words,
                negatives=negatives,
                max_length=max_length,
                tests=n_tests,
                test_length=test_length,
                rounds=max_rounds,
                seed=seed_of(self.random_state),
                progress=progress,
                time_limit=time_limit,
            )
        self._take(native, certificate)
        if prove and certificate is None:
            raise ProofError("no proof was found; try more rounds or more neurons, or see certify()")
        if wrong:
            raise FitError(f"after {max_rounds} rounds {wrong} words of the last test were still judged wrongly")
        return self

    def construct(self, language: Language) -> ReservoirStackMachine:
        """Makes the machine from the language's automaton without learning (the paper's Theorem 2), proved right."""
        with reporter(self.verbose) as progress:
            native, certificate = language._native.construct(self._spec(), progress)
        self._take(native, certificate)
        if certificate is None:
            raise ProofError("no proof was found; try more neurons")
        return self

    def predict(self, X: Iterable[Any]) -> NDArray[np.int64]:
        """1 for each word that is accepted, else 0."""
        return self.accepts(X).astype(np.int64)

    def predict_outputs(self, X: Iterable[Any]) -> list[NDArray[np.float64]]:
        """The outputs on each word, one row a step: the paper's y."""
        return self._fitted().outputs(self._words(X))

    def decision_function(self, X: Iterable[Any]) -> NDArray[np.float64]:
        """How surely each word is judged: the smallest margin of all its decisions, negative if it is not accepted."""
        machine, values = self._fitted(), []
        for word in self._words(X):
            events, verdict = machine.trace(word)
            least = min((event["margin"] for event in events if "margin" in event), default=np.inf)
            values.append(least if verdict[0] == "accept" else -least)
        return np.array(values)

    def score(self, X: Sequence[Any], y: Sequence[Any]) -> float:
        """The part of words that are judged rightly; y has traces, or 1 and 0."""
        truth = [int(one.accepted if isinstance(one, Trace) else one) for one in y]
        return float(np.mean(self.predict(X) == np.array(truth)))

    def certify(self, language: Language, *, time_limit: float | None = None) -> Certificate | Difference:
        """A proof that the machine does on every word what the language's automaton does, or a word on which they differ.

        Raises ProofError if neither is found, within ``time_limit`` seconds if one is given.
        """
        with reporter(self.verbose) as progress:
            certificate, difference, open_cells = self._fitted().certify(language._native, progress, time_limit)
        if certificate is not None:
            return Certificate(certificate)
        if difference is not None:
            word, machine, automaton = difference
            return Difference(tuple(word), _verdict(machine), _verdict(automaton))
        raise ProofError(f"{open_cells} decisions are not proved, but no word is known on which the two differ")

    def extract(self, *, time_limit: float | None = None) -> Extraction:
        """The automaton that the machine is, as rules, productions and a graph, with a proof.

        Raises ProofError if there is none, or if that is not known after ``time_limit`` seconds.
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
        """A table that says the same of every word, at the speed of a parser.

        The automaton is read out of the machine; or, if a language is given, the machine is proved to do what that does.
        """
        with reporter(self.verbose) as progress:
            native = self._fitted().compile(None if language is None else language._native, progress)
        return CompiledTable(native, self.n_jobs)

    def save(self, path: os.PathLike[str] | str) -> None:
        """Saves the machine, for this package and the command line."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: os.PathLike[str] | str) -> ReservoirStackMachine:
        """Loads a machine. Its parameters are only known as far as its file has them."""
        return cls._of(_native.Machine.load(path))

    @classmethod
    def _of(cls, native: _native.Machine) -> ReservoirStackMachine:
        return cls(lookahead=native.lookahead, mode=native.mode)._take(native)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "machine_" in state:
            state["machine_"] = state["machine_"].to_bytes()
        if state.get("certificate_") is not None:
            state["certificate_"] = state["certificate_"]._native.to_json()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "machine_" in state:
            self.machine_ = _native.Machine.from_bytes(state["machine_"])
        if state.get("certificate_") is not None:
            self.certificate_ = Certificate(_native.Certificate.from_json(state["certificate_"]))

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
        proof = "proved right on every word" if self.certificate_ is not None else "not proved"
        rows = {
            "reads": " ".join(self.terminals_),
            "pushes": " ".join(self.nonterminals_),
            "neurons": str(self.machine_.neurons),
            "learned from": f"{self.n_contexts_} distinct contexts",
            "support vectors": ", ".join(map(str, self.support_)),
            "proof": proof,
        }
        cells = "".join(f"<tr><th>{key}</th><td style='text-align:left'>{html.escape(text)}</td></tr>" for key, text in rows.items())
        return f"<table><caption>{html.escape(repr(self))}</caption>{cells}</table>"


class EchoStateNetwork(Parametrised):
    """A reservoir with a ridge regression on its states: sequences of vectors in, sequences of vectors out.

    Parameters
    ----------
    reservoir : what turns sequences into states; a :class:`CycleReservoir` if None
    alpha : the penalty of the regression
    washout : how many steps at the beginning of each sequence are not learned from
    random_state : the seed of the reservoir

    Examples
    --------
    >>> import numpy as np
    >>> from echostack import EchoStateNetwork
    >>> x = np.sin(np.arange(500) / 5)[:, None]
    >>> network = EchoStateNetwork(alpha=1e-8, washout=50).fit([x[:-1]], [x[1:]])
    >>> bool(np.abs(network.predict([x[:-1]])[0][50:] - x[51:]).max() < 1e-3)
    True
    """

    _estimator_type = "regressor"

    def __init__(
        self, reservoir: Any = None, *, alpha: float = 1e-6, washout: int = 0, random_state: Any = None
    ) -> None:
        self.reservoir = reservoir
        self.alpha = alpha
        self.washout = washout
        self.random_state = random_state

    def _states(self, sequences: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
        return self.reservoir_.run([_rows(one) for one in sequences])

    def fit(self, X: Sequence[ArrayLike], y: Sequence[ArrayLike]) -> EchoStateNetwork:
        """Fits the regression; X and y are lists of arrays of shape (steps, channels), of equal steps in pairs."""
        if len(X) == 0 or len(X) != len(y):
            raise DataError(f"{len(X)} sequences of inputs and {len(y)} of targets; the same number is needed, at least one")
        first = np.asarray(X[0])
        reservoir = CycleReservoir() if self.reservoir is None else self.reservoir
        self.reservoir_ = reservoir._build(first.shape[-1], self.random_state)
        states = np.concatenate([one[self.washout :] for one in self._states(X)])
        targets = np.concatenate([np.asarray(one, dtype=np.float64)[self.washout :] for one in y])
        targets = np.ascontiguousarray(targets.reshape(len(targets), -1))
        self.coef_ = _native.ridge(states, targets, float(self.alpha))
        self.n_features_in_ = int(first.shape[-1])
        return self

    def predict(self, X: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
        """The outputs for each sequence."""
        if "coef_" not in self.__dict__:
            raise not_fitted(self)
        return [states @ self.coef_ for states in self._states(X)]

    def score(self, X: Sequence[ArrayLike], y: Sequence[ArrayLike]) -> float:
        """The coefficient of determination over all steps."""
        given = np.concatenate(self.predict(X))
        rows = [np.asarray(one, dtype=np.float64) for one in y]
        wanted = np.concatenate([one.reshape(len(one), -1) for one in rows])
        residual = ((wanted - given) ** 2).sum()
        return float(1 - residual / ((wanted - wanted.mean(axis=0)) ** 2).sum())

    def __getstate__(self) -> dict[str, Any]:
        # The reservoir is made again from its parameters.
        return {key: value for key, value in self.__dict__.items() if key != "reservoir_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "n_features_in_" in state:
            reservoir = CycleReservoir() if self.reservoir is None else self.reservoir
            self.reservoir_ = reservoir._build(self.n_features_in_, self.random_state)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags  # type: ignore[import-untyped]

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True, multi_output=True),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(two_d_array=False, three_d_array=True),
        )
