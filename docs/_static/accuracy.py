"""Draws accuracy.svg from the guide's figures: ``python docs/_static/accuracy.py``.

``python -m experiments --data DIRECTORY -o RESULTS --only guide-advice`` measures them.
"""

import csv
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
FIGURES = HERE.parent / "results" / "guide-advice-figures.csv"

SETS = {
    "letter": "letters,\n16 measurements",
    "covtype29k": "forests,\n54 measurements",
    "satimage": "satellite images,\n36 measurements",
    "spambase": "mails,\n57 frequencies",
    "mnist": "digits (mnist),\n784 pixels",
    "usps": "digits (usps),\n256 pixels",
    "optdigits": "digits (optdigits),\n64 pixels",
    "splice": "DNA,\n60 categories",
    "news20_bydate": "20 newsgroups,\nwords",
}
MODELS = {
    "linear": ("o", "gray", "linear, the best of scaled, one-hot, tf-idf"),
    "boosted trees": ("^", "#d95f0e", "boosted trees"),
    "exact kernel": ("s", "black", "exact kernel (of up to 5,000 rows, or Gaussian)"),
    "best map": ("D", "#08519c", "linear on a map of sparsemaps"),
}

NEAR = 0.8
"""Points that are less than this apart, in percent, would hide each other."""


def height(key, found):
    """Return how far above its line a point is drawn: points near each other stand one above the
    other."""
    group = [key]
    for _ in found:
        group = [one for one in found if any(abs(found[one] - found[k]) < NEAR for k in group)]
    return 0.3 * ((len(group) - 1) / 2 - group.index(key))


def main():
    """Draw a line for each set: from the least to the best of the models."""
    with open(FIGURES, encoding="utf-8") as file:
        rows = {row["set"]: row for row in csv.DictReader(file)}
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sparsemaps", "font.size": 10})
    mpl.rcParams["font.family"] = "sans-serif"
    figure, ax = plt.subplots(figsize=(5.2, 5.6), layout="constrained")
    figure.patch.set_facecolor("white")
    for y, name in enumerate(reversed(SETS)):
        cells = {key: rows[name][key].strip("*") for key in MODELS}
        found = {
            key: float(cell.removeprefix("<u>").removesuffix("</u>"))
            for key, cell in cells.items() if cell
        }  # fmt: skip
        ax.plot([min(found.values()), max(found.values())], [y, y], color="#c6dbef",
                linewidth=6, zorder=1, solid_capstyle="round")  # fmt: skip
        for key, value in found.items():
            marker, color, label = MODELS[key]
            hollow = "none" if key == "exact kernel" else color
            ax.plot(value, y + height(key, found), marker, color=color, markersize=8,
                    markerfacecolor=hollow,
                    label=label, zorder=3 if key == "best map" else 2)  # fmt: skip
    ax.set_yticks(range(len(SETS)), reversed(SETS.values()))
    ax.set(xlabel="test accuracy, %", ylim=(-0.6, len(SETS) - 0.4))
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(left=False)
    ax.grid(axis="x", alpha=0.3)
    labels = {}
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        labels.setdefault(label, handle)
    order = [label for _, _, label in MODELS.values()]
    figure.legend([labels[one] for one in order], order, loc="outside lower center", frameon=False)
    figure.savefig(HERE / "accuracy.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
