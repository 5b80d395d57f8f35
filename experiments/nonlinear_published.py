"""Published figures of Li's comparison study: Tables 1 to 3."""

import csv
from pathlib import Path

KERNELS = ("min-max", "RBF", "folded RBF", "acos", "acos-chi2")

with open(Path(__file__).with_suffix(".csv"), encoding="utf-8", newline="") as _file:
    PUBLISHED = {row["data"]: row for row in csv.DictReader(_file)}
"""For each data set its sizes, and accuracies in percent, with the best gamma of RBF kernels."""

BEST_GAMMA = {
    name: float(row["RBF"].partition("(")[2].rstrip(")"))
    for name, row in PUBLISHED.items()
    if row["RBF"]
}
"""Of the RBF kernel, in Table 2."""
