"""``python -m experiments.idf DIRECTORY -o RESULTS``: topics of texts by codes of weighted words.

Counts of words (NAME.train.svm and NAME.test.svm) are weighted by `IdfWeights` and sampled by
``ConsistentWeightedSampling(method="levels")``, and a `KernelClassifier` is trained on the codes.
For texts (texts.jsonl, pages.jsonl), words are counted, or words and pairs of words. For
comparison, there are linear models on tf-idf (sublinear, rows of unit length), and codes of
unweighted counts. The exact min-max and cosine kernels of weighted words bound the accuracy of
samples; they are compared on the sets of `EXACT`. Each accuracy is the best over C, on the test
rows. Accuracies that `idf.csv` already has are not measured again.
"""

import argparse
import csv
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from experiments import datasets, labels, report
from experiments.runner import machine
from sparsemaps import ConsistentWeightedSampling
from sparsemaps.kernels import min_max_kernel
from sparsemaps.linear import KernelClassifier
from sparsemaps.text import HashingVectorizer, IdfWeights

COUNTS = "news20_bydate", "sector", "reuters52"
TEXTS = {
    "languages": ("texts", 4000, 1),
    "languages, pairs": ("texts", 4000, 2),
    "pages": ("pages", 700, 1),
    "pages, pairs": ("pages", 700, 2),
}
"""The file of texts, the number of training texts, and the largest n-gram size in words."""

TASKS = [*COUNTS, *TEXTS]
MOST_TEST = 10_000
LINEAR_CS = 0.1, 1, 10, 100
CODES_CS = 1, 3, 10
EXACT_CS = 0.3, 1, 3, 10, 30
EXACT = ("reuters52",)
"""The tasks on which exact kernels are compared; their time and memory are quadratic in the
rows."""


class Setting(NamedTuple):
    """The weighting of words, and the number of samples per row. With a power of None, words are
    not weighted. Rows of length 1 use hundredths of their values as levels."""

    power: float | None
    levels: float = 16
    n_hashes: int = 512
    class_weight: str | None = None
    sublinear: bool = True
    has_length_1: bool = False


SETTINGS = [
    Setting(None),
    *(Setting(power) for power in (1, 2, 3, 4)),
    *(Setting(2, levels) for levels in (4, 64)),
    *(Setting(power, n_hashes=2048) for power in (1, 2, 3, 4)),
    Setting(2, class_weight="balanced"),
    Setting(2, class_weight="balanced", sublinear=False),
    *(
        Setting(2, n_hashes=n, class_weight=classes, sublinear=False, has_length_1=True)
        for n in (512, 2048)
        for classes in (None, "balanced")
    ),
]

KERNELS = {
    "power 2, 16 levels": Setting(2),
    "power 2, counts": Setting(2, sublinear=False),
    "power 2, counts, length 1": Setting(2, sublinear=False, has_length_1=True),
    "tf-idf (sublinear, rows of length 1)": None,
}
"""Weightings of words for the exact kernels."""


def load(directory: str, task: str) -> datasets.Split:
    if task in COUNTS:
        return datasets.load(directory, task)
    name, n, longest = TEXTS[task]
    texts = labels.texts_of(directory, name, n)
    words = HashingVectorizer(ngram_range=(1, longest), norm=None, alternate_sign=False)
    test = texts.texts_test[:MOST_TEST]
    return datasets.Split(
        words.transform(texts.texts), texts.y, words.transform(test), texts.y_test[:MOST_TEST]
    )


def of_linear(split: datasets.Split, kind: str, class_weight: str | None = None) -> float:
    """Return the accuracy in percent of a linear model on tf-idf."""
    weigh = weights_of(split, None)
    T, T_test = weigh(split.X), weigh(split.X_test)

    def model(C: float) -> Any:
        if kind == "LinearSVC":
            return LinearSVC(C=C, class_weight=class_weight, random_state=0)
        return OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear"))

    return max(100 * model(C).fit(T, split.y).score(T_test, split.y_test) for C in LINEAR_CS)


def of_kernel(split: datasets.Split, kernel: Any, setting: Setting | None) -> float:
    """Return the accuracy in percent of one-vs-rest SVMs with balanced classes and an exact kernel,
    given as a function of two matrices."""
    weigh = weights_of(split, setting)
    X = weigh(split.X)
    K, K_test = kernel(X, X), kernel(weigh(split.X_test), X)
    classes = np.unique(split.y)

    def accuracy(C: float) -> float:
        scores = [
            SVC(C=C, kernel="precomputed", class_weight="balanced")
            .fit(K, split.y == one)
            .decision_function(K_test)
            for one in classes
        ]
        return float(100 * np.mean(classes[np.argmax(scores, axis=0)] == split.y_test))

    return max(map(accuracy, EXACT_CS))


def of_codes(split: datasets.Split, setting: Setting, n_jobs: int | None = None) -> float:
    """Return the accuracy in percent of `KernelClassifier` on codes of weighted words."""
    resolution = 100 if setting.has_length_1 else 1
    levels = ConsistentWeightedSampling(
        method="levels",
        resolution=resolution,
        n_hashes=setting.n_hashes,
        random_state=0,
        n_jobs=n_jobs,
    )
    weigh = weights_of(split, setting)
    rows = levels.fit(weigh(split.X)).encode(weigh(split.X), packed=True)
    test = levels.encode(weigh(split.X_test), packed=True)
    return max(
        100
        * KernelClassifier(
            levels, C=C, class_weight=setting.class_weight, random_state=0, n_jobs=n_jobs
        )
        .fit(rows, split.y)
        .score(test, split.y_test)
        for C in CODES_CS
    )


def weights_of(split: datasets.Split, setting: Setting | None) -> Any:
    """Return the function that weights rows: tf-idf without a setting."""
    if setting is None:
        return TfidfTransformer(sublinear_tf=True).fit(split.X).transform
    if setting.power is None:
        return lambda X: logarithms(X, setting.levels)
    weights = IdfWeights(
        power=setting.power, levels=setting.levels, sublinear_tf=setting.sublinear
    ).fit(split.X)
    if setting.has_length_1:
        return lambda X: normalize(weights.transform(X))
    return weights.transform


def logarithms(X: Any, levels: float) -> Any:
    """The values of `IdfWeights` where all words weigh 1."""
    X = X.copy()
    X.data = levels * (1 + np.log(X.data))
    return X


def name_of(setting: Setting) -> str:
    words = f"{setting.n_hashes:,} samples, "
    if setting.power is None:
        words += "no weights"
    else:
        words += f"power {setting.power:g}, "
        words += "length 1" if setting.has_length_1 else f"{setting.levels:g} levels"
    words += "" if setting.sublinear else ", counts"
    return words + (", balanced" if setting.class_weight else "")


def learners(n_jobs: int | None) -> dict[str, Callable[[datasets.Split], float]]:
    """Return the measurement of each row of the table."""
    found: dict[str, Callable[[datasets.Split], float]] = {
        f"tf-idf, {kind}": partial(of_linear, kind=kind)
        for kind in ("LinearSVC", "LogisticRegression")
    }
    found["tf-idf, LinearSVC, balanced"] = partial(
        of_linear, kind="LinearSVC", class_weight="balanced"
    )
    for setting in SETTINGS:
        found[name_of(setting)] = partial(of_codes, setting=setting, n_jobs=n_jobs)
    return found


def read_cells(path: Path) -> dict[tuple[str, str], str]:
    """Return the accuracies of an earlier run, by learner and task."""
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {
            (row[""], task): cell
            for row in csv.DictReader(file)
            for task, cell in row.items()
            if task and cell != report.NOT_RUN
        }


def of_kernels(split: datasets.Split) -> Iterator[tuple[str, float, float]]:
    """The weightings of words, with the accuracies of the min-max kernel and the cosine."""
    for name, setting in KERNELS.items():
        yield (
            name,
            of_kernel(split, min_max_kernel, setting),
            of_kernel(split, cosine_similarity, setting),
        )


def write(results: Path, names: Iterable[str], cells: dict[tuple[str, str], str]) -> None:
    notes = (
        "Test accuracy in percent, at the best C of "
        f"{', '.join(map(str, LINEAR_CS))} (linear models) or {', '.join(map(str, CODES_CS))} "
        f"(codes of 8 bits). {machine()}."
    )
    measured = {name for name, _ in cells}
    rows = [
        [name, *(cells.get((name, task), report.NOT_RUN) for task in TASKS)]
        for name in names
        if name in measured
    ]
    report.write_table(results / "idf", "Weighted words", ["", *TASKS], rows, notes)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.idf", description=__doc__)
    parser.add_argument("directory", help="where the files are")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where idf.* go")
    parser.add_argument("--task", action="append", help="may be repeated")
    parser.add_argument("--only", default="", help="part of the names of learners")
    parser.add_argument("--n-jobs", type=int, help="threads")
    options = parser.parse_args(arguments)
    tasks = options.task or TASKS
    every = learners(options.n_jobs)
    cells = read_cells(options.results / "idf.csv")
    for task in tasks:
        split = load(options.directory, task)
        for name, measure in every.items():
            if options.only in name and (name, task) not in cells:
                cells[name, task] = f"{measure(split):.1f}"
                print(f"{task}: {name}: {cells[name, task]}", flush=True)
                write(options.results, every, cells)
    exact: dict[str, list[str]] = {}
    for task in () if options.only else [task for task in tasks if task in EXACT]:
        for name, *both in of_kernels(load(options.directory, task)):
            exact.setdefault(name, []).extend(f"{accuracy:.1f}" for accuracy in both)
            print(f"{task}: {name}: min-max, cosine: {both}", flush=True)
    if exact:
        kernels = [f"{task}, {k}" for task in tasks if task in EXACT for k in ("min-max", "cosine")]
        report.write_table(
            options.results / "idf-kernels",
            "Exact kernels of weighted words",
            ["", *kernels],
            [[name, *accuracies] for name, accuracies in exact.items()],
            "Test accuracy in percent of SVMs, one class against the rest, with balanced classes. "
            f"Each is at the best C of {', '.join(map(str, EXACT_CS))}.",
        )


if __name__ == "__main__":
    main()
