"""``python -m experiments.path_of_C DIRECTORY``: KernelClassifierCV beside GridSearchCV.

Both choose C by five folds, with the same tolerance, in one thread, and then train on all rows.
Each is given codes, and then rows. The table has seconds of CPU time, the least of a few runs of
each in turn, how many times as long the search takes, and the largest difference of mean scores.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from experiments import datasets
from experiments.runner import machine
from sparsemaps import ConsistentWeightedSampling
from sparsemaps.linear import KernelClassifier, KernelClassifierCV

SETS = (
    ("rcv1_binary20k", 8_000, ""), ("spambase", None, "range"), ("adult_a9a", 8_000, ""),
    ("satimage", None, "range"), ("optdigits", None, "range"), ("letter", 1_500, "range"),
)  # fmt: skip
"""Names, numbers of rows, and how columns are prepared."""


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time of a call, and its result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def measure(
    X: Any, y: Any, loss: Any, Cs: Sequence[float], n_runs: int
) -> tuple[list[float], float]:
    """Return the seconds of both on codes, then of both on rows, and the difference of scores."""
    map = ConsistentWeightedSampling(n_hashes=256, random_state=0)
    codes = map.fit(X).encode(X, packed=True)
    ours = KernelClassifierCV(map, Cs=Cs, loss=loss, random_state=0)
    search = GridSearchCV(KernelClassifier(map, loss=loss, random_state=0), {"C": list(Cs)})
    best: list[float] = [np.inf] * 4
    fitted: list[Any] = [None] * 4
    for _ in range(n_runs):
        for place in range(4):
            model: Any = (ours, search)[place % 2]
            spent, fitted[place] = seconds(partial(model.fit, (codes, X)[place // 2], y))
            best[place] = min(best[place], spent)
    means = fitted[0].scores_.mean(axis=0)
    return best, float(abs(means - fitted[1].cv_results_["mean_test_score"]).max())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.path_of_C")
    parser.add_argument("data", help="directory of LIBSVM files, NAME.train.svm.xz")
    parser.add_argument("--loss", default="squared_hinge")
    parser.add_argument("--Cs", nargs="+", type=float, default=[0.1, 1, 10])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{machine()}; loss {options.loss}, C {options.Cs}, {options.runs} runs\n")
    print("| rows | CV on codes, s | search | times | CV on rows, s | search | times | scores |")
    print("|---|---|---|---|---|---|---|---|")
    for name, n_rows, prepare in SETS:
        if not datasets.has(options.data, name):
            print(f"| {name} | not run |")
            continue
        X, y, *_ = datasets.load(options.data, name, n_rows, prepare)
        of, apart = measure(X, y, options.loss, options.Cs, options.runs)
        both = " | ".join(
            f"{a:.3f} | {b:.3f} | {b / a:.1f}" for a, b in ((of[0], of[1]), (of[2], of[3]))
        )
        print(f"| {len(y):,} of {name} | {both} | {apart:.4f} |", flush=True)


if __name__ == "__main__":
    main()
