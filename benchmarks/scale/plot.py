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
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    for language, points in languages.items():
        tokens, contexts, learning = zip(*points)
        axes[0].semilogx(tokens, contexts, "o-", markersize=4, label=language)
        axes[1].semilogx(tokens, learning, "o-", markersize=4, label=language)
    for axis, title in zip(axes, ["distinct contexts", "milliseconds to learn from them"]):
        axis.set_xlabel("tokens in the corpus")
        axis.set_title(title)
        axis.grid(alpha=0.3)
        axis.set_ylim(bottom=0)
        axis.legend()
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
