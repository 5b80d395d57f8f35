"""``python -m experiments.calibration DIRECTORY -o RESULTS``: ways to calibrate probabilities.

Three ways: by a fifth of the records that is held out from training, as ``train --calibrate`` does;
by scores out of five folds, of a model that is then trained on all records; and by these with
``s |s|`` beside each score s, with a slope of its own. The directory has LIBSVM files and
texts.jsonl.
"""

import argparse
import csv
import platform
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.optimize
from sklearn.exceptions import ConvergenceWarning

from experiments import datasets, labels, lengths
from experiments.runner import machine, versions
from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier, _calibration

SETS = ["optdigits", "letter", "spambase", "sms_spam", "reuters52", "language"]
N_BINS, N_FOLDS, N_WORDS = 15, 5, 8
FIELDS = ("accuracy", "error", "log_loss")


def load(directory: str, name: str, seed: int) -> tuple[Any, ...]:
    """A map; codes and labels of training rows, with the number of the record of each; and codes
    and labels of test rows."""
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
    """The mean difference of confidence and accuracy over bins of as many rows."""
    confidence = probabilities.max(axis=1)
    bins = np.array_split(np.argsort(confidence, kind="stable"), N_BINS)
    differences = [abs(confidence[b].mean() - is_right[b].mean()) * len(b) for b in bins]
    return float(sum(differences) / len(confidence))


def _scores(model: KernelClassifier, codes: Any) -> Any:
    scores = model.decision_function(codes)
    return np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores


def out_of_folds(map: Any, codes: Any, y: Any, records: Any, classes: Any, seed: int) -> Any:
    """The scores of each row by a model that is trained on the other folds of records. A class that
    these lack has -1."""
    fold = np.random.default_rng(seed).integers(0, N_FOLDS, records.max() + 1)[records]
    scores = np.full((len(y), len(classes)), -1.0)
    for number in range(N_FOLDS):
        model = KernelClassifier(map, random_state=0).fit(codes[fold != number], y[fold != number])
        columns = np.searchsorted(classes, model.classes_)
        scores[np.ix_(fold == number, columns)] = _scores(model, codes[fold == number])
    return scores


def bent(scores: Any, y: Any, others: Any) -> Any:
    """Probabilities of other scores by the softmax of ``a * s + b * s * |s| + offsets``, where a
    and b are at least 0, of the least log loss on some."""
    powers = scores, scores * abs(scores)
    n_classes = scores.shape[1]
    own = np.arange(len(y)), y

    def logits(variables: Any, first: Any, second: Any) -> Any:
        return variables[0] * first + variables[1] * second + variables[2:]

    def objective(variables: Any) -> tuple[float, Any]:
        logs = _calibration.log_softmax(logits(variables, *powers))
        offsets = variables[2:]
        value = -logs[own].sum() + _calibration.RIDGE * offsets @ offsets
        excess = np.exp(logs)
        excess[own] -= 1
        slopes = [(excess * power).sum() for power in powers]
        return value, np.r_[slopes, excess.sum(axis=0) + 2 * _calibration.RIDGE * offsets]

    found = scipy.optimize.minimize(
        objective, np.r_[1.0, 1.0, np.zeros(n_classes)], jac=True, method="L-BFGS-B",
        bounds=[(0, None)] * 2 + [(None, None)] * n_classes, options={"maxiter": 1000},
    )  # fmt: skip
    return _calibration.softmax(logits(found.x, others, others * abs(others)))


def measure(directory: str, name: str, seed: int) -> Iterator[dict[str, Any]]:
    map, codes, y, records, codes_test, y_test = load(directory, name, seed)
    held_out = (np.random.default_rng(seed).random(records.max() + 1) < 1 / N_FOLDS)[records]
    part = KernelClassifier(map, random_state=0).fit(codes[~held_out], y[~held_out])
    known = held_out & np.isin(y, part.classes_)
    part.calibrate(codes[known], y[known])
    full = KernelClassifier(map, random_state=0).fit(codes, y)
    classes, scores_test = full.classes_, _scores(full, codes_test)
    scores = out_of_folds(map, codes, y, records, classes, seed)
    numbers = np.searchsorted(classes, y)
    fitted = _calibration.fit(scores, numbers, None)
    for way, known_classes, probabilities in (
        ("a fifth", part.classes_, part.predict_proba(codes_test)),
        ("folds", classes, _calibration.softmax(_calibration.logits_of(scores_test, fitted))),
        ("folds, s |s|", classes, bent(scores, numbers, scores_test)),
    ):
        is_right = known_classes[probabilities.argmax(axis=1)] == y_test
        of_labels = np.where(known_classes == y_test[:, None], probabilities, 0).sum(axis=1)
        yield {
            "records": name, "seed": seed, "way": way, "accuracy": float(is_right.mean()),
            "error": calibration_error(probabilities, is_right),
            "log_loss": float(-np.log(of_labels[of_labels > 0]).mean()),
        }  # fmt: skip


WAYS = "a fifth", "folds", "folds, s |s|"
HEADER = (
    "| records | " + " | ".join(f"{way.replace('|', chr(92) + '|')}" for way in WAYS) + " |\n"
    + "|---" * 4 + "|"
)  # fmt: skip


def row(name: str, results: list[dict[str, Any]]) -> str:
    cells = []
    for way in WAYS:
        some = [result for result in results if (result["records"], result["way"]) == (name, way)]
        means = [float(np.mean([one[field] for one in some])) for field in FIELDS]
        most = max(one["error"] for one in some)
        cells.append(f"{means[1]:.3f} ({most:.3f}), {means[2]:.3f}, {100 * means[0]:.1f}")
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.calibration", description=__doc__)
    parser.add_argument("directory", help="where the files are")
    parser.add_argument("-o", "--results", type=Path, required=True, help="calibration.* go there")
    parser.add_argument("--seeds", type=int, default=3, help="repetitions (default: 3)")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
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
