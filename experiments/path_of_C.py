"""``python -m experiments.path_of_C DIRECTORY``: KernelClassifierCV beside GridSearchCV.

All choose C by five folds, with the same tolerance, and then train on all rows. GridSearchCV
searches with a KernelClassifier, and with a LinearSVC on one-hot features of the same codes. Inputs
are codes (or their features for LinearSVC), and then rows or texts, which GridSearchCV encodes in
each fold for each C. The table has seconds of CPU time, or of elapsed time with two threads, the
least of a few alternating runs; the time ratios of the searches; and the largest difference of mean
scores from the search with a KernelClassifier.
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
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from experiments import datasets
from experiments.labels import texts_of
from experiments.runner import machine
from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier, KernelClassifierCV
from sparsemaps.text._analyzers import vectorizer_of

SETS = (
    ("rcv1_binary20k", 8_000, ""), ("spambase", None, "range"), ("adult_a9a", 8_000, ""),
    ("satimage", None, "range"), ("optdigits", None, "range"), ("letter", 1_500, "range"),
)  # fmt: skip
"""Names, numbers of rows, and preparation of columns."""

N_TEXTS = 4_000

LEARNERS = "KernelClassifierCV", "KernelClassifier", "LinearSVC"


def seconds(function: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
    """Return the time of a call, and its result."""
    start = clock()
    result = function()
    return clock() - start, result


def measure(
    X: Any, y: Any, map: Any, analyzer: str | None, options: argparse.Namespace
) -> tuple[list[float], float]:
    """Return the seconds of each learner on codes, then of each on rows, and the difference of
    scores."""
    Cs, n_jobs = list(options.Cs), options.jobs
    own: dict[str, Any] = {"loss": options.loss, "random_state": 0}
    vectorizer = None if analyzer is None else vectorizer_of(analyzer)
    rows = X if vectorizer is None else vectorizer.fit_transform(X)
    codes = map.fit(rows).encode(rows, packed=True)
    # LIBLINEAR's log loss is logistic regression's, which LinearSVC does not have.
    has_svm = options.loss != "log_loss" and not options.without_svm
    svm = LinearSVC(tol=1e-3, **own) if has_svm else None
    searched: list[tuple[Any, Any, Any]] = []
    for on_rows in False, True:
        of_texts: dict[str, Any] = {"vectorizer": vectorizer} if on_rows else {}
        plain: list[Any] = [map] if vectorizer is None else [vectorizer, map]
        searched += [
            (KernelClassifierCV(map, Cs=Cs, n_jobs=n_jobs, **of_texts, **own), X, codes),
            (KernelClassifier(map, **of_texts, **own), X, codes),
            (svm and (make_pipeline(*plain, svm) if on_rows else svm), X, map.transform(rows)),
        ]
    best: list[float] = [np.inf] * len(searched)
    fitted: list[Any] = [None] * len(searched)
    for _ in range(options.runs):
        for place, (model, X_rows, X_codes) in enumerate(searched):
            if model is None:
                continue
            if not isinstance(model, KernelClassifierCV):
                name = "linearsvc__C" if hasattr(model, "steps") else "C"
                model = GridSearchCV(model, {name: Cs}, n_jobs=n_jobs)
            given = X_rows if place >= len(LEARNERS) else X_codes
            clock = time.process_time if n_jobs == 1 else time.perf_counter
            spent, fitted[place] = seconds(partial(model.fit, given, y), clock)
            best[place] = min(best[place], spent)
    means = [
        one.scores_.mean(axis=0)
        if isinstance(one, KernelClassifierCV)
        else one.cv_results_["mean_test_score"]
        for one in fitted
        if one is not None
    ]
    return best, float(max(abs(some - means[1]).max() for some in means))


def row(name: str, n_rows: int, best: Sequence[float], apart: float) -> str:
    cells = [f"{n_rows:,} of {name}"]
    for first in 0, len(LEARNERS):
        ours = best[first]
        cells.append(f"{ours:.3f}")
        cells += [
            f"{some:.3f} ({some / ours:.1f})" if np.isfinite(some) else "–"
            for some in best[first + 1 : first + len(LEARNERS)]
        ]
    return "| " + " | ".join([*cells, f"{apart:.4f}"]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.path_of_C", description=__doc__)
    parser.add_argument("data", help="directory of NAME.train.svm.xz and texts.jsonl.xz")
    parser.add_argument("--loss", default="squared_hinge")
    parser.add_argument("--Cs", nargs="+", type=float, default=[0.1, 1, 10])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--without-svm", action="store_true", help="leave out LinearSVC")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{machine()}; loss {options.loss}, C {options.Cs}, {options.runs} runs, "
          f"{options.jobs} threads\n")  # fmt: skip
    heads = [f"{learner}, {on}" for on in ("codes", "rows") for learner in LEARNERS]
    print("| rows | " + " | ".join(heads) + " | scores |\n" + "|---" * 8 + "|")
    cws = ConsistentWeightedSampling(n_hashes=256, random_state=0)
    for name, n_rows, prepare in SETS:
        if not datasets.has(options.data, name):
            print(f"| {name} | not run |")
            continue
        X, y, *_ = datasets.load(options.data, name, n_rows, prepare)
        print(row(name, len(y), *measure(X, y, cws, None, options)), flush=True)
    task = texts_of(options.data, "texts", N_TEXTS)
    minhash = MinHash(n_hashes=256, random_state=0)
    measured = measure(task.texts, task.y, minhash, "char:3", options)
    print(row("texts", N_TEXTS, *measured), flush=True)


if __name__ == "__main__":
    main()
