"""Plots of machines: their states, the margins of their decisions, and their errors.

Plotting requires matplotlib (``pip install echostack[plot]``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .errors import DataError
from .recognizers import Parse, Recognizer

if TYPE_CHECKING:
    from .languages import Language
    from .machines import ReservoirStackMachine

__all__ = ["plot_states", "plot_margins", "plot_error_by_length"]


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # type: ignore[import-not-found,unused-ignore]

    return plt.subplots(figsize=size, layout="constrained")[1]


def plot_states(machine: ReservoirStackMachine, words: Iterable[Any], ax: Any = None) -> Any:
    """Plots the reservoir states of all stacks that occur on the given words.

    The states are projected onto their first two principal components and colored by the top of the stack.

    Parameters
    ----------
    machine : ReservoirStackMachine
        Fitted machine.
    words : iterable
        Words to parse.
    ax : matplotlib axes or None, default=None
        Axes to plot on. If None, a new figure is created.

    Returns
    -------
    ax : matplotlib axes
        Axes with the plot.
    """
    symbols = machine.terminals_ + machine.nonterminals_
    stacks = {tuple(stack.split()) for word in words for _, stack, _, _ in machine.parse(word).rows if stack}
    if len(stacks) < 2:
        raise DataError("the words lead to fewer than two distinct nonempty stacks; give longer words")
    ordered = sorted(stacks)
    one_hot = np.eye(len(symbols))
    runs = machine._fitted().reservoir.run([one_hot[[symbols.index(symbol) for symbol in stack]] for stack in ordered])
    states = np.array([run[-1] for run in runs])
    centered = states - states.mean(axis=0)
    _, lengths, directions = np.linalg.svd(centered, full_matrices=False)
    places = centered @ directions[:2].T
    ax = _axes(ax, (6, 4.5))
    for top in sorted({stack[-1] for stack in ordered}, key=symbols.index):
        mine = np.array([stack[-1] == top for stack in ordered])
        ax.scatter(*places[mine].T, s=18, alpha=0.7, label=top)
    share = lengths[:2] ** 2 / (lengths**2).sum()
    ax.set_xlabel(f"first principal component ({share[0]:.0%} of the variance)")
    ax.set_ylabel(f"second principal component ({share[1]:.0%})")
    ax.set_title(f"{len(ordered)} stacks by their top symbol")
    ax.legend(title="top", fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def plot_margins(parse: Parse, ax: Any = None) -> Any:
    """Plots the margin of each decision on a word: its distance to a different decision.

    Parameters
    ----------
    parse : Parse
        Result of :meth:`Recognizer.parse`.
    ax : matplotlib axes or None, default=None
        Axes to plot on. If None, a new figure is created.

    Returns
    -------
    ax : matplotlib axes
        Axes with the plot.
    """
    ax = _axes(ax, (max(5.0, 0.45 * len(parse.rows)), 4))
    actions = [action for _, _, action, _ in parse.rows]
    colours = {"shift": "tab:blue", "refuse": "tab:red"}
    ax.bar(range(len(actions)), parse.margins, color=[colours.get(action, "tab:orange") for action in actions])
    ax.set_xticks(range(len(actions)), actions, rotation=60, ha="right", rotation_mode="anchor", fontsize="small")
    ax.set_ylabel("margin")
    shown = " ".join(parse.word)
    ax.set_title(f"{shown if len(shown) <= 50 else shown[:47] + '...'}: {parse.verdict.verdict}")
    return ax


def plot_error_by_length(
    judges: dict[str, Recognizer] | Recognizer,
    language: Language,
    lengths: Sequence[int] = (10, 20, 50, 100, 200, 500),
    *,
    n: int = 100,
    random_state: Any = 0,
    ax: Any = None,
) -> Any:
    """Plots the fraction of valid words and of near misses that are misjudged, as a function of their length.

    Parameters
    ----------
    judges : Recognizer or dict of str to Recognizer
        Recognizer to test, or several by name.
    language : Language
        Language that the words are drawn from.
    lengths : sequence of int, default=(10, 20, 50, 100, 200, 500)
        Maximum lengths of the words. The minimum length is nine tenths of the maximum.
    n : int, default=100
        Number of words of each kind per length.
    random_state : int, NumPy random generator or None, default=0
        Seed of the words.
    ax : matplotlib axes or None, default=None
        Axes to plot on. If None, a new figure is created.

    Returns
    -------
    ax : matplotlib axes
        Axes with the plot.
    """
    ax = _axes(ax, (7.5, 4))
    named = judges if isinstance(judges, dict) else {"": judges}
    styles = {"valid": "-", "near-miss": "--"}
    kinds: tuple[tuple[Literal["valid", "near-miss"], bool], ...] = (("valid", True), ("near-miss", False))
    for kind, wanted in kinds:
        parts = [
            language.sample(n, kind=kind, min_length=max(1, length * 9 // 10), max_length=length, random_state=random_state)
            for length in lengths
        ]
        for number, (name, judge) in enumerate(named.items()):
            wrong = [float(np.mean(judge.accepts(part) != wanted)) for part in parts]
            ax.plot(lengths, wrong, styles[kind], marker="o", color=f"C{number}", label=f"{name}, {kind}".lstrip(", "))
    ax.set_xscale("log")
    ax.set_ylim(-0.02, None)
    ax.set_xlabel("word length")
    ax.set_ylabel("fraction misjudged")
    ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
