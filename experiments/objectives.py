"""``python -m experiments.objectives DIRECTORY -o RESULTS``: the optimum, beside LIBLINEAR's.

The three losses of `KernelClassifier` on eight data sets, the two of `KernelRegressor` on four, and
C from 1e-3 to 1e3, on 128 min-max samples of 8 bits of the first 1,000 rows. The objective is
computed from its definition. Several classes make one problem: that of the largest class against
the rest. Targets of regression have mean 0 and variance 1.
"""

import argparse
import csv
import platform
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC, LinearSVR

from experiments import datasets
from experiments.runner import machine
from sparsemaps import ConsistentWeightedSampling
from sparsemaps.linear import KernelClassifier, KernelRegressor

SETS = (
    *("adult_a9a", "ijcnn1", "letter", "mnist", "news20_bydate", "rcv1_binary20k", "spambase"),
    "usps",
)
LOSSES = "squared_hinge", "hinge", "log_loss"
REGRESSION_SETS = "cpu_act", "cpusmall", "wine_red", "wine_white"
REGRESSION_LOSSES = "squared_epsilon_insensitive", "epsilon_insensitive"
EPSILON = 0.1
COSTS = [10.0**power for power in range(-3, 4)]
TOL, MAX_ITER, N_ROWS = 1e-5, 2000, 1000


def objective(loss: str, C: float, Z: Any, y: Any, model: Any) -> float:
    """Return half the squared norm of the weights and intercept, plus C times the losses; `y` is -1
    and 1, or the targets."""
    intercept = float(np.ravel(model.intercept_)[0])
    scores = Z @ model.coef_.ravel() + intercept
    if loss == "log_loss":
        losses = np.logaddexp(0, -y * scores)
    elif loss in REGRESSION_LOSSES:
        losses = np.maximum(np.abs(scores - y) - EPSILON, 0)
    else:
        losses = np.maximum(1 - y * scores, 0)
    if loss.startswith("squared"):
        losses = losses**2
    square = float((model.coef_**2).sum() + intercept**2)
    return square / 2 + C * float(losses.sum())


def ours(loss: str, map: Any, how: dict[str, Any]) -> Any:
    if loss in REGRESSION_LOSSES:
        return KernelRegressor(map, loss=loss, epsilon=EPSILON, **how)
    return KernelClassifier(map, loss=loss, **how)


def theirs(loss: str, how: dict[str, Any]) -> Any:
    if loss == "log_loss":
        return LogisticRegression(solver="liblinear", dual=True, **how)
    if loss in REGRESSION_LOSSES:
        return LinearSVR(loss=loss, dual=True, epsilon=EPSILON, **how)
    return LinearSVC(loss=loss, dual=True, **how)


def fitted(model: Any, X: Any, y: Any) -> tuple[Any, bool, float]:
    """Return the model, whether it has converged, and the training time in seconds."""
    start = time.process_time()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.fit(X, y)
    is_late = any(issubclass(one.category, ConvergenceWarning) for one in found)
    return model, not is_late, time.process_time() - start


def measure(directory: str, name: str) -> list[dict[str, Any]]:
    data = datasets.load(directory, name, n_rows=N_ROWS)
    signed = data.X.min() < 0
    map = ConsistentWeightedSampling(n_hashes=128, signed=signed, random_state=0).fit(data.X)
    packed, Z = map.encode(data.X, packed=True), map.transform(data.X)
    Z_test = map.transform(data.X_test[:N_ROWS])
    regression = name in REGRESSION_SETS
    if regression:
        y = (data.y - data.y.mean()) / data.y.std()
    else:
        labels, counts = np.unique(data.y, return_counts=True)
        y = np.where(data.y == labels[counts.argmax()], 1, -1)
    results = []
    for loss in REGRESSION_LOSSES if regression else LOSSES:
        for C in COSTS:
            how = {"C": C, "tol": TOL, "max_iter": MAX_ITER, "random_state": 0}
            own, ends, seconds = fitted(ours(loss, map, how), packed, y)
            other, other_ends, other_seconds = fitted(theirs(loss, how), Z, y)
            one = objective(loss, C, Z, y, own)
            two = objective(loss, C, Z, y, other)
            scores, other_scores = (
                Z_test @ model.coef_.ravel() + np.ravel(model.intercept_)[0]
                for model in (own, other)
            )
            differ = None if regression else int(((scores > 0) != (other_scores > 0)).sum())
            results.append({
                "data": name, "loss": loss, "C": C, "objective": one, "liblinear": two,
                "relative": one / two - 1, "ends": ends, "liblinear_ends": other_ends,
                "labels_differ": differ,
                "scores_differ": float(np.abs(scores - other_scores).max()),
                "passes": own.n_iter_, "liblinear_passes": int(np.max(other.n_iter_)),
                "seconds": seconds, "liblinear_seconds": other_seconds,
            })  # fmt: skip
        print(name, loss, flush=True)
    return results


def table(results: list[dict[str, Any]]) -> str:
    """Return, for each loss and C, the worst of the data sets on which both solvers converge."""
    lines = [
        "| loss | C | ours ends | LIBLINEAR ends | largest difference of objectives, relative "
        "| labels that differ | largest difference of scores |",
        "|---|---|---|---|---|---|---|",
    ]
    for loss in (*LOSSES, *REGRESSION_LOSSES):
        for C in COSTS:
            some = [one for one in results if (one["loss"], one["C"]) == (loss, C)]
            n, own, others = (
                len(some),
                *(sum(one[key] for one in some) for key in ("ends", "liblinear_ends")),
            )
            some = [one for one in some if one["ends"] and one["liblinear_ends"]]
            worst, scores = (
                f"{max(abs(one[key]) for one in some):.1e}" if some else ""
                for key in ("relative", "scores_differ")
            )
            labels = "" if loss in REGRESSION_LOSSES else sum(one["labels_differ"] for one in some)
            lines.append(
                f"| {loss} | {C:g} | {own} of {n} | {others} of {n} | {worst} "
                f"| {labels} | {scores} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.objectives", description=__doc__)
    parser.add_argument("directory", help="where the files are")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where objectives.* go")
    options = parser.parse_args()
    results = [
        one for name in (*SETS, *REGRESSION_SETS) for one in measure(options.directory, name)
    ]
    options.results.mkdir(exist_ok=True)
    with open(options.results / "objectives.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(results[0]))
        writer.writeheader()
        writer.writerows(results)
    about = f"{machine()}; Python {platform.python_version()}"
    (options.results / "objectives.md").write_text(f"{table(results)}\n\n{about}\n")


if __name__ == "__main__":
    main()
