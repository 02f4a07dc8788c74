"""The curve of distinct contexts, from the table of a record.

    python benchmarks/scale/plot.py benchmarks/record/DATE-scale.md docs/images/contexts.svg

Needs matplotlib.
"""

import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "contexts"})
from matplotlib import pyplot


def rows(path):
    """The lines of the table whose second column is tokens and whose fourth is contexts."""
    wanted = False
    with open(path) as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if cells[:2] == ["language", "tokens"]:
                wanted = True
            elif not line.startswith("|"):
                wanted = False
            elif wanted and not cells[0].startswith("-"):
                yield cells[0], int(cells[1]), int(cells[3]), float(cells[6])


def main():
    path, picture = sys.argv[1:]
    languages = {}
    for language, tokens, contexts, learning in rows(path):
        languages.setdefault(language, []).append((tokens, contexts, learning))
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    # The colors of Okabe and Ito, which people with any kind of color vision can tell apart, and different markers.
    styles = zip(["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000"], "os^Dv")
    for (language, points), (color, marker) in zip(languages.items(), styles):
        tokens, contexts, learning = zip(*points)
        axes[0].semilogx(tokens, contexts, marker + "-", color=color, markersize=5, label=language)
        # Times vary from run to run, so no line connects them.
        axes[1].semilogx(tokens, learning, marker, color=color, markersize=6, label=language)
    axes[0].set_title("Distinct contexts stop growing")
    axes[0].set_ylabel("distinct contexts")
    axes[1].set_title("The time to learn from them stays small")
    axes[1].set_ylabel("milliseconds, one run each")
    axes[0].set_ylim(bottom=0)
    axes[1].set_ylim(0, 200)
    for axis in axes:
        axis.set_xlabel("tokens in the corpus (log scale)")
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False)
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
