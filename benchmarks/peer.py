"""A reservoir stack machine in plain numpy and scikit-learn, the peer of the benchmarks.

It stands in for the code of the authors of "Reservoir Stack Machines" (Paaßen, Schulz, Hammer, 2021). They describe
their pipeline as numpy plus scikit-learn's RBF-SVMs, but their code is not available to us. The peer is written as a
careful Python user would write it from the paper, without optimizations of its own, so that echostack can be timed
against it on the same words.

    pip install numpy scipy scikit-learn
    python benchmarks/peer.py work.json [--stack recompute|cached] [--vote predict|numpy] [--seed 0]

With `--vote numpy`, a decision does not call scikit-learn's `predict`, whose overhead for a single row is most of the
time, but computes the same vote from the support vectors in a few numpy operations.

The work item is a JSON object:

    terminals, nonterminals, accepting   lists of symbols
    rules      in order: {"suffix": [symbol, ...], "lookahead": symbol or null, "pop": count, "push": symbol}
    reservoir  {"kind": "rand", "neurons", "radius", "density", "input_scale"}
               {"kind": "crj", "neurons", "input", "cycle", "jump", "jump_length"}
               {"kind": "ldn", "neurons", "theta"}
    svm_c      the SVMs' regularization parameter C
    train      the training words, each a list of terminals
    test       the test words

The program prints one line of JSON: `error` (the mean over the test words of the mean absolute error of a word's T + 1
outputs), `train_s` (drawing the reservoir and training), `test_s` (running the test words and tracing them for
comparison), both in seconds of CPU time, `test_tokens`, `stack` and `vote`. Set OMP_NUM_THREADS=1 to time it on one core.

Two interpretations of the paper matter. First, pop and push are decided on the same state, as in Algorithm 4 and in the
proof of Theorem 3, whereas Algorithm 2 as printed decides on the push after the pop. Second, every token is shifted, as
in all of the LR(1) tasks, so there is no shift readout to learn.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm
from sklearn.svm import SVC

Vector = NDArray[np.floating]
Matrix = NDArray[np.floating]
Word = list[str]
Token = str | None  # None is the end of the word

NOTHING = ""  # the label of "push nothing"
SPARE_ACTIONS = 5  # the number of actions allowed at a token, beyond the number of letters in the word


class Rule(TypedDict):
    """One rule of an LR(1) automaton (Definition 2)."""

    suffix: list[str]
    lookahead: str | None
    pop: int
    push: str


class WorkItem(TypedDict):
    """The input of one run of this program; the fields are explained at the top of the file."""

    terminals: list[str]
    nonterminals: list[str]
    accepting: list[str]
    rules: list[Rule]
    reservoir: dict[str, Any]
    svm_c: float
    train: list[Word]
    test: list[Word]


def tokens_of(word: Word) -> list[Token]:
    return [*word, None]


# The teacher


class Action(NamedTuple):
    pop_count: int
    push: str


IDLE = Action(0, NOTHING)


class Step(NamedTuple):
    """The automaton's actions at one token before it is shifted, and whether the automaton would accept there."""

    actions: list[Action]
    output: int


class Automaton:
    """An LR(1) automaton, run by Algorithm 1."""

    def __init__(self, rules: list[Rule], accepting: list[str]) -> None:
        self.rules = rules
        self.accepted_stacks = [[symbol] for symbol in accepting]

    def trace(self, word: Word) -> list[Step]:
        """Returns one step for each token. Its last action is the idle one that ends the loop of Algorithm 2."""
        stack: list[Token] = []
        steps = []
        for token in tokens_of(word):
            actions = []
            while rule := self._first_match(stack, token):
                del stack[len(stack) - rule["pop"] :]
                stack.append(rule["push"])
                actions.append(Action(rule["pop"], rule["push"]))
            steps.append(Step([*actions, IDLE], int(stack in self.accepted_stacks)))
            stack.append(token)
        return steps

    def outputs(self, word: Word) -> NDArray[np.int64]:
        return np.array([step.output for step in self.trace(word)])

    def _first_match(self, stack: list[Token], token: Token) -> Rule | None:
        for rule in self.rules:
            if rule["lookahead"] is not None and rule["lookahead"] != token:
                continue
            depth = len(rule["suffix"])
            if depth <= len(stack) and stack[len(stack) - depth :] == rule["suffix"]:
                return rule
        return None


# Reservoirs


def identity(x: Vector) -> Vector:
    return x


@dataclass(frozen=True)
class Reservoir:
    """The fixed recurrent network of Equation (1), for inputs in one-hot coding."""

    input_weights: Matrix  # one row per symbol: the transpose of the paper's U
    recurrent_weights: Matrix
    activation: Callable[[Vector], Vector]

    def start(self) -> Vector:
        return np.zeros(len(self.recurrent_weights))

    def step(self, state: Vector, symbol: int | None) -> Vector:
        """Returns the state after `symbol`; None is the zero input at the end of the word."""
        drive = self.recurrent_weights @ state
        if symbol is not None:
            drive = drive + self.input_weights[symbol]
        return self.activation(drive)

    def encode(self, symbols: Iterable[int | None]) -> Vector:
        state = self.start()
        for symbol in symbols:
            state = self.step(state, symbol)
        return state


def random_reservoir(
    inputs: int, rng: np.random.Generator, neurons: int, radius: float, density: float, input_scale: float
) -> Reservoir:
    """Builds a reservoir with sparse Gaussian weights, scaled to a spectral radius."""
    shape = (neurons, neurons)
    weights = rng.normal(size=shape) * (rng.random(shape) < density)
    weights *= radius / np.abs(np.linalg.eigvals(weights)).max()
    input_weights = input_scale * rng.normal(size=(neurons, inputs))
    return Reservoir(np.ascontiguousarray(input_weights.T), weights, np.tanh)


def cycle_reservoir(
    inputs: int,
    rng: np.random.Generator,
    neurons: int,
    input_weight: float,
    cycle_weight: float,
    jump_weight: float,
    jump_length: int,
) -> Reservoir:
    """Builds a cycle with jumps: a ring with links in both directions between every `jump_length`-th neuron."""
    weights = np.zeros((neurons, neurons))
    ring = np.arange(neurons)
    weights[(ring + 1) % neurons, ring] = cycle_weight
    departures = np.arange(0, neurons - jump_length + 1, jump_length)
    arrivals = (departures + jump_length) % neurons
    weights[departures, arrivals] = jump_weight
    weights[arrivals, departures] = jump_weight
    signs = np.sign(rng.random((neurons, inputs)) - 0.5)
    return Reservoir(np.ascontiguousarray(input_weight * signs.T), weights, np.tanh)


def legendre_reservoir(inputs: int, neurons: int, theta: float) -> Reservoir:
    """Builds a Legendre delay network: a linear filter per symbol, discretized with a zero-order hold of a token."""
    order = neurons // inputs
    row, column = np.ogrid[:order, :order]
    gain = 2 * np.arange(order) + 1
    sign = np.where(row < column, -1, 1 - 2 * ((row - column + 1) % 2))
    feedback = gain[:, None] * sign / theta
    feedforward = gain * (1 - 2 * (np.arange(order) % 2)) / theta
    transition = expm(feedback)
    gate = np.linalg.solve(feedback, (transition - np.eye(order)) @ feedforward)
    filters = np.eye(inputs)
    return Reservoir(np.kron(filters, gate), np.kron(filters, transition), identity)


def build_reservoir(config: dict[str, Any], inputs: int, rng: np.random.Generator) -> Reservoir:
    neurons = config["neurons"]
    match config["kind"]:
        case "rand":
            return random_reservoir(inputs, rng, neurons, config["radius"], config["density"], config["input_scale"])
        case "crj":
            return cycle_reservoir(
                inputs, rng, neurons, config["input"], config["cycle"], config["jump"], config["jump_length"]
            )
        case "ldn":
            return legendre_reservoir(inputs, neurons, config["theta"])
        case other:
            raise ValueError(f"the reservoir's kind is {other!r}; it must be 'rand', 'crj' or 'ldn'")


# Stacks


class Stack(Protocol):
    """A stack of symbols that knows the state of the reservoir after reading the stack from the bottom."""

    def __len__(self) -> int: ...

    @property
    def state(self) -> Vector: ...

    def push(self, symbol: int | None) -> None: ...

    def pop(self, count: int) -> None: ...


class RecomputedStack:
    """A stack that is encoded again after each pop (lines 11 to 14 of Algorithm 2 as printed)."""

    def __init__(self, reservoir: Reservoir) -> None:
        self.reservoir = reservoir
        self.symbols: list[int | None] = []
        self.state = reservoir.start()

    def __len__(self) -> int:
        return len(self.symbols)

    def push(self, symbol: int | None) -> None:
        self.symbols.append(symbol)
        self.state = self.reservoir.step(self.state, symbol)

    def pop(self, count: int) -> None:
        del self.symbols[len(self.symbols) - count :]
        self.state = self.reservoir.encode(self.symbols)


class CachedStack:
    """A stack that keeps the state above each element, so a pop costs nothing; it needs no symbols."""

    def __init__(self, reservoir: Reservoir) -> None:
        self.reservoir = reservoir
        self.states = [reservoir.start()]

    def __len__(self) -> int:
        return len(self.states) - 1

    @property
    def state(self) -> Vector:
        return self.states[-1]

    def push(self, symbol: int | None) -> None:
        self.states.append(self.reservoir.step(self.states[-1], symbol))

    def pop(self, count: int) -> None:
        del self.states[len(self.states) - count :]


STACKS: dict[str, Callable[[Reservoir], Stack]] = {"recompute": RecomputedStack, "cached": CachedStack}


# The machine


class Readout(Protocol):
    def predict(self, rows: Matrix) -> NDArray[Any]: ...


class ConstantReadout:
    """A replacement for an SVM if the training set has only one class, which SVC refuses to fit."""

    def __init__(self, label: int | str) -> None:
        self.label = label

    def predict(self, rows: Matrix) -> NDArray[Any]:
        return np.full(len(rows), self.label)


class VectorisedReadout:
    """A fitted SVC whose vote is computed in numpy: one kernel vector, and one matrix product for all pairs of classes."""

    def __init__(self, svc: SVC) -> None:
        self.classes = svc.classes_
        self.vectors = svc.support_vectors_
        self.squares = (self.vectors**2).sum(axis=1)
        self.gamma = svc._gamma
        pairs = [(i, j) for i in range(len(self.classes)) for j in range(i + 1, len(self.classes))]
        ends = np.cumsum([0, *svc.n_support_])
        self.weights = np.zeros((len(pairs), len(self.vectors)))
        for row, (i, j) in zip(self.weights, pairs, strict=True):
            row[ends[i] : ends[i + 1]] = svc.dual_coef_[j - 1, ends[i] : ends[i + 1]]
            row[ends[j] : ends[j + 1]] = svc.dual_coef_[i, ends[j] : ends[j + 1]]
        # scikit-learn stores the only decision of two classes with the opposite sign.
        sign = -1 if len(self.classes) == 2 else 1
        self.weights, self.offsets = sign * self.weights, sign * svc.intercept_
        self.winners, self.losers = np.array(pairs).T

    def predict(self, rows: Matrix) -> NDArray[Any]:
        return self.classes[[self._vote(row) for row in rows]]

    def _vote(self, row: Vector) -> int:
        kernel = np.exp(-self.gamma * (self.squares + row @ row - 2 * (self.vectors @ row)))
        won = self.weights @ kernel + self.offsets > 0
        return int(np.bincount(np.where(won, self.winners, self.losers)).argmax())


VOTES: dict[str, Callable[[SVC], Readout]] = {"predict": lambda svc: svc, "numpy": VectorisedReadout}


def fit_readout(rows: Matrix, labels: Sequence[int] | Sequence[str], svm_c: float, vote: str) -> Readout:
    if len(set(labels)) == 1:
        return ConstantReadout(labels[0])
    return VOTES[vote](SVC(C=svm_c, kernel="rbf", gamma="scale").fit(rows, labels))


class Machine:
    """A reservoir stack machine (Definition 4) with RBF-SVMs as readouts. Call `fit` before `run`."""

    pop_readout: Readout
    push_readout: Readout
    out_readout: Readout

    def __init__(
        self,
        symbols: list[str],
        reservoir: Reservoir,
        new_stack: Callable[[Reservoir], Stack],
        svm_c: float,
        vote: str = "predict",
    ) -> None:
        self.ids: dict[Token, int | None] = {None: None} | {symbol: i for i, symbol in enumerate(symbols)}
        self.reservoir = reservoir
        self.new_stack = new_stack
        self.svm_c = svm_c
        self.vote = vote

    def fit(self, words: list[Word], teacher: Automaton) -> None:
        """Follows the teacher's actions and learns them from the states in which they were taken (Algorithm 4)."""
        action_rows: list[Vector] = []
        actions: list[Action] = []
        output_rows: list[Vector] = []
        outputs: list[int] = []
        for word in words:
            history = self.reservoir.start()
            stack = self.new_stack(self.reservoir)
            for token, step in zip(tokens_of(word), teacher.trace(word), strict=True):
                history = self.reservoir.step(history, self.ids[token])
                for action in step.actions:
                    action_rows.append(np.concatenate([history, stack.state]))
                    actions.append(action)
                    self._apply(action, stack)
                output_rows.append(np.concatenate([history, stack.state]))
                outputs.append(step.output)
                stack.push(self.ids[token])
        rows = np.array(action_rows)
        self.pop_readout = fit_readout(rows, [action.pop_count for action in actions], self.svm_c, self.vote)
        self.push_readout = fit_readout(rows, [action.push for action in actions], self.svm_c, self.vote)
        self.out_readout = fit_readout(np.array(output_rows), outputs, self.svm_c, self.vote)

    def run(self, word: Word) -> NDArray[np.int64]:
        """Returns the outputs at each letter of the word and at its end (Algorithm 2)."""
        history = self.reservoir.start()
        stack = self.new_stack(self.reservoir)
        outputs = []
        for token in tokens_of(word):
            history = self.reservoir.step(history, self.ids[token])
            for _ in range(len(word) + SPARE_ACTIONS):
                action = self._decide(history, stack)
                if action == IDLE:
                    break
                self._apply(action, stack)
            row = np.concatenate([history, stack.state])[np.newaxis]
            outputs.append(int(self.out_readout.predict(row)[0]))
            stack.push(self.ids[token])
        return np.array(outputs)

    def _decide(self, history: Vector, stack: Stack) -> Action:
        row = np.concatenate([history, stack.state])[np.newaxis]
        pop_count = int(self.pop_readout.predict(row)[0])
        push = str(self.push_readout.predict(row)[0])
        return Action(min(pop_count, len(stack)), push)

    def _apply(self, action: Action, stack: Stack) -> None:
        if action.pop_count > 0:
            stack.pop(action.pop_count)
        if action.push != NOTHING:
            stack.push(self.ids[action.push])


def measure(work: WorkItem, stack: str, vote: str, seed: int) -> dict[str, float | int | str]:
    automaton = Automaton(work["rules"], work["accepting"])
    symbols = work["terminals"] + work["nonterminals"]
    started = time.process_time()
    reservoir = build_reservoir(work["reservoir"], len(symbols), np.random.default_rng(seed))
    machine = Machine(symbols, reservoir, STACKS[stack], work["svm_c"], vote)
    machine.fit(work["train"], automaton)
    trained = time.process_time()
    errors = [np.mean(np.abs(machine.run(word) - automaton.outputs(word))) for word in work["test"]]
    tested = time.process_time()
    return {
        "error": float(np.mean(errors)),
        "train_s": trained - started,
        "test_s": tested - trained,
        "test_tokens": sum(len(word) for word in work["test"]),
        "stack": stack,
        "vote": vote,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, help="the work item, a JSON file")
    parser.add_argument("--stack", choices=STACKS, default="recompute", help="what a pop does (default: %(default)s)")
    parser.add_argument("--vote", choices=VOTES, default="predict", help="how a readout decides (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the reservoir (default: %(default)s)")
    arguments = parser.parse_args()
    work: WorkItem = json.loads(arguments.work.read_text(encoding="utf-8"))
    print(json.dumps(measure(work, arguments.stack, arguments.vote, arguments.seed)))


if __name__ == "__main__":
    main()
