"""``python -m experiments.calibration DIRECTORY -o RESULTS``: ways to calibrate probabilities.

``KernelClassifier.calibrate`` by a fifth of the records that is held out from training; by scores
out of five folds, of a model that is trained on all records, as ``train --calibrate`` does; and so
without a bend. scikit-learn's CalibratedClassifierCV by the same folds. The directory has LIBSVM
files and texts.jsonl.
"""

import argparse
import csv
import platform
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator

from experiments import datasets, labels, lengths
from experiments.runner import machine, versions
from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier, _calibration

SETS = [
    *("optdigits", "letter", "spambase", "sms_spam", "reuters52", "language"),
    "satimage",
]
N_BINS, N_FOLDS, N_WORDS = 15, 5, 8
METHODS = "sigmoid", "isotonic"
WAYS = "a fifth", "folds", "no bend", *METHODS
LEAST = 1e-6
"""Probabilities of 0, which isotonic regression produces, still get a log loss."""
FIELDS = ("accuracy", "error", "log_loss", "by_chance")


def load(directory: str, name: str, seed: int) -> tuple[Any, ...]:
    """A map; the codes and labels of training rows, with their record numbers; and the codes and
    labels of test rows."""
    if name == "language":
        task = labels.load(directory, name)
        short, index = lengths.snippets(task.texts, lengths.OF_TRAINING, random_state=seed)
        records = np.concatenate([np.arange(len(task.y)), index])
        map: Any = MinHash(n_hashes=256, random_state=seed).fit_any_width()
        test = lengths.cut(task.texts_test[: lengths.N_TEST], N_WORDS)
        codes = [
            map.encode_texts("char:1-3", some, packed=True) for some in (task.texts + short, test)
        ]
        return map, codes[0], task.y[records], records, codes[1], task.y_test[: lengths.N_TEST]
    split = datasets.load(directory, name)
    map = ConsistentWeightedSampling(n_hashes=256, random_state=seed).fit(split.X)
    codes = [map.encode(X, packed=True) for X in (split.X, split.X_test)]
    return map, codes[0], split.y, np.arange(len(split.y)), codes[1], split.y_test


def calibration_error(probabilities: Any, is_right: Any) -> float:
    """Return the mean difference of confidence and accuracy over bins of equal numbers of rows."""
    confidence = probabilities.max(axis=1)
    bins = np.array_split(np.argsort(confidence, kind="stable"), N_BINS)
    differences = [abs(confidence[b].mean() - is_right[b].mean()) * len(b) for b in bins]
    return float(sum(differences) / len(confidence))


def error_by_chance(probabilities: Any, seed: int) -> float:
    """Return the mean error that correct probabilities would have: labels are drawn from them."""
    rng, confidence = np.random.default_rng(seed), probabilities.max(axis=1)
    drawn = (rng.random(len(confidence)) < confidence for _ in range(50))
    return float(np.mean([calibration_error(probabilities, is_right) for is_right in drawn]))


class Scores(NamedTuple):
    """Scores of models, one column per class. `y` are indices of classes, or -1 for test rows of a
    class that is not in training."""

    y: Any
    out_of_folds: Any
    """Out-of-fold scores. A class that the other folds lack has -1."""
    held_out: Any
    """Numbers of the rows that are held out from a model."""
    of_held_out: Any
    """Their scores by that model."""
    y_test: Any
    by_part: Any
    """Of test rows, by the model that some rows are held out from."""
    by_full: Any
    """Of test rows, by the model of all rows."""


def scored(directory: str, name: str, seed: int) -> Scores:
    map, codes, y, records, codes_test, y_test = load(directory, name, seed)
    classes = np.unique(y)

    def fitted(rows: Any) -> Callable[[Any], Any]:
        model = KernelClassifier(map, random_state=0).fit(codes[rows], y[rows])

        def scores(codes: Any) -> Any:
            found = np.full((len(codes), len(classes)), -1.0)
            own = model.decision_function(codes)
            own = np.column_stack([-own / 2, own / 2]) if own.ndim == 1 else own
            found[:, np.searchsorted(classes, model.classes_)] = own
            return found

        return scores

    fold = np.random.default_rng(seed).integers(0, N_FOLDS, records.max() + 1)[records]
    out_of_folds = np.empty((len(y), len(classes)))
    for number in range(N_FOLDS):
        out_of_folds[fold == number] = fitted(fold != number)(codes[fold == number])
    held_out = np.random.default_rng(seed).random(records.max() + 1)[records] < 1 / N_FOLDS
    part, full = fitted(~held_out), fitted(np.full(len(y), True))
    known = held_out & np.isin(y, y[~held_out])
    numbers = np.where(np.isin(y_test, classes), np.searchsorted(classes, y_test), -1)
    return Scores(
        np.searchsorted(classes, y), out_of_folds, np.flatnonzero(known), part(codes[known]),
        numbers, part(codes_test), full(codes_test),
    )  # fmt: skip


def without_bend(scores: Any, y: Any) -> _calibration.Calibration:
    """Return the calibration with the least log loss among those with bend 0, without prior
    counts."""
    own, n_classes = (np.arange(len(y)), y), scores.shape[1]

    def objective(variables: Any) -> tuple[float, Any]:
        slope, offsets = variables[0], variables[1:]
        logs = _calibration.log_softmax(slope * scores + offsets)
        value = -logs[own].sum() + _calibration.RIDGE * offsets @ offsets
        excess = np.exp(logs)
        excess[own] -= 1
        of_offsets = excess.sum(axis=0) + 2 * _calibration.RIDGE * offsets
        return value, np.r_[(excess * scores).sum(), of_offsets]

    found = scipy.optimize.minimize(
        objective, np.r_[1.0, np.zeros(n_classes)], jac=True, method="L-BFGS-B",
        bounds=[(0, None)] + [(None, None)] * n_classes, options={"maxiter": 1000},
    )  # fmt: skip
    return _calibration.Calibration(found.x[0], 0.0, found.x[1:])


class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose rows are scores."""

    def fit(self, X: Any, y: Any) -> "Given":
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return X[:, 1] - X[:, 0] if X.shape[1] == 2 else X

    def predict(self, X: Any) -> Any:
        return self.classes_[X.argmax(axis=1)]


def by_scikit_learn(method: str, scores: Scores) -> Any:
    """Return probabilities of test rows by CalibratedClassifierCV with ``ensemble=False``: from
    out-of-fold scores and the scores of the model of all rows."""
    given = Given().fit(scores.out_of_folds, scores.y)
    every = np.arange(len(scores.y))
    made = CalibratedClassifierCV(FrozenEstimator(given), method=method, cv=[(every, every)])
    return made.fit(scores.out_of_folds, scores.y).predict_proba(scores.by_full)


def measure(directory: str, name: str, seed: int) -> Iterator[dict[str, Any]]:
    scores = scored(directory, name, seed)
    by_folds = scores.out_of_folds, scores.y
    by_a_fifth = scores.of_held_out, scores.y[scores.held_out]
    for way, calibration, of_test in (
        ("a fifth", _calibration.fit(*by_a_fifth, None), scores.by_part),
        ("folds", _calibration.fit(*by_folds, None), scores.by_full),
        ("no bend", without_bend(*by_folds), scores.by_full),
        *((method, None, None) for method in METHODS),
    ):
        if calibration is None:
            shares = by_scikit_learn(way, scores)
        else:
            shares = _calibration.softmax(_calibration.logits_of(of_test, calibration))
        y, known = scores.y_test, scores.y_test >= 0
        is_right = shares.argmax(axis=1) == y
        of_labels = shares[np.flatnonzero(known), y[known]]
        yield {
            "records": name, "seed": seed, "way": way, "accuracy": float(is_right.mean()),
            "error": calibration_error(shares, is_right),
            "by_chance": error_by_chance(shares, seed),
            "log_loss": float(-np.log(np.maximum(of_labels, LEAST)).mean()),
        }  # fmt: skip


HEADER = (
    "| records | by chance | a fifth | folds | no bend | sigmoid | isotonic |\n"
    + "|---" * 7 + "|"
)  # fmt: skip


def row(name: str, results: list[dict[str, Any]]) -> str:
    cells = []
    for way in WAYS:
        some = [result for result in results if (result["records"], result["way"]) == (name, way)]
        means = {field: float(np.mean([one[field] for one in some])) for field in FIELDS}
        if way == "folds":
            cells.insert(0, f"{means['by_chance']:.3f}")
        most = max(one["error"] for one in some)
        cells.append(
            f"{means['error']:.3f} ({most:.3f}), {means['log_loss']:.3f}, "
            f"{100 * means['accuracy']:.1f}"
        )
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.calibration", description=__doc__)
    parser.add_argument("directory", help="where the files are")
    parser.add_argument("-o", "--results", type=Path, required=True, help="calibration.* go there")
    parser.add_argument("--seeds", type=int, default=5, help="repetitions (default: 5)")
    options = parser.parse_args()
    for category in (ConvergenceWarning, RuntimeWarning):  # the latter of rare classes
        warnings.simplefilter("ignore", category)
    about = (
        "`python -m experiments.calibration DIRECTORY -o RESULTS`; "
        f"{machine()}; Python {platform.python_version()}, "
        + ", ".join(f"{name} {number}" for name, number in versions().items())
    )
    print(HEADER)
    results: list[dict[str, Any]] = []
    for name in SETS:
        for seed in range(options.seeds):
            results += measure(options.directory, name, seed)
        print(row(name, results), flush=True)
    options.results.mkdir(exist_ok=True)
    with open(options.results / "calibration.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(results[0]))
        writer.writeheader()
        writer.writerows(results)
    table = "\n".join([HEADER, *(row(name, results) for name in SETS)])
    (options.results / "calibration.md").write_text(f"{table}\n\n{about}\n")


if __name__ == "__main__":
    main()
