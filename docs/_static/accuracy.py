"""Draws accuracy.svg: ``python docs/_static/accuracy.py``.

Test accuracy in percent, all training rows, best C of a small grid, mean of two seeds (mnist: one).
``python -m experiments --data DIRECTORY -o RESULTS --only guide-data`` measures such figures.
"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

FOUND = {  # linear SVM, min-max map (1,024 samples of 8 bits) and linear SVM, exact min-max SVM
    "handwritten digits (optdigits)": (95.3, 97.3, 97.4),
    "word frequencies of mails (spambase)": (93.0, 95.8, 95.4),
    "scanned digits (usps)": (91.6, 94.4, 95.1),
    "handwritten digits (mnist, 10,000 rows)": (90.9, 95.6, 95.9),
    "satellite images (satimage)": (81.7, 89.1, 90.4),
    "DNA sequences (splice)": (85.7, 94.8, 95.0),
}


def main():
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sparsemaps", "font.size": 11})
    mpl.rcParams["font.family"] = "sans-serif"
    figure, ax = plt.subplots(figsize=(8.6, 3.5), layout="constrained")
    figure.patch.set_facecolor("white")
    for y, (linear, mapped, exact) in enumerate(FOUND.values()):
        first = y == 0
        ax.plot([linear, mapped], [y, y], color="#c6dbef", linewidth=7, zorder=1)
        ax.plot(linear, y, "o", color="gray", markersize=9,
                label="linear SVM" if first else None)  # fmt: skip
        ax.plot(mapped, y, "o", color="#08519c", markersize=9,
                label="linear SVM on 1 kB a row of sparsemaps" if first else None)  # fmt: skip
        ax.plot(exact, y, "|", color="black", markersize=20, markeredgewidth=2,
                label="SVM with the exact kernel" if first else None)  # fmt: skip
    ax.set_yticks(range(len(FOUND)), FOUND)
    ax.set(xlabel="test accuracy, %", xlim=(80, 98.5), ylim=(-0.6, len(FOUND) - 0.4))
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(left=False)
    ax.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=10)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
