"""``python -m experiments.peers DIRECTORY -o RESULTS``: probabilities of labels, beside other
learners that have them.

Each learner trains on each task of `experiments.labels` that is of texts, in a process of its own,
by one thread: fastText, Vowpal Wabbit, logistic loss of LIBLINEAR and of Snap ML on tf-idf, and
KernelClassifier with ``calibrate`` by a fifth of the records. Times are of the processor.
"""

import argparse
import csv
import multiprocessing
import os
import platform
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from experiments import labels
from experiments.calibration import calibration_error
from experiments.labels import Task
from experiments.runner import machine
from sparsemaps import MinHash
from sparsemaps.linear import KernelClassifier
from sparsemaps.text._analyzers import vectorizer_of

TASKS = ["language", "spam", "reuters52"]
PACKAGES = "numpy", "scikit-learn", "fasttext-ng", "vowpalwabbit", "liblinear-official", "snapml"


class Trained(NamedTuple):
    """From texts to the probabilities of the sorted labels, and the bytes of the model."""

    probabilities: Callable[[list[str]], Any]
    n_bytes: int


def fasttext_of(task: Task, analyzer: str, folder: str) -> Trained:
    model, n_bytes = labels.train_fasttext(task, analyzer, folder)
    names = np.unique(task.y)
    number = {f"__label__{label}": i for i, label in enumerate(names)}

    def probabilities(texts: list[str]) -> Any:
        found = np.zeros((len(texts), len(names)))
        for row, text in enumerate(texts):
            for label, share in zip(*model.predict(" ".join(text.split()), k=-1), strict=True):
                found[row, number[label]] = share
        return found

    return Trained(probabilities, n_bytes)


def vowpal_of(task: Task, analyzer: str, folder: str) -> Trained:
    model, n_bytes = labels.train_vowpal(task, task.texts, folder, "--probabilities")
    return Trained(
        lambda texts: np.array([model.predict(labels.line_of(text)) for text in texts]), n_bytes
    )


C_OF_LOGISTIC = 100
"""Rows of tf-idf have length 1, so that C = 1 underfits."""


def liblinear_of(task: Task, analyzer: str, folder: str) -> Trained:
    from liblinear import liblinearutil

    rows_of, names = labels.tfidf_rows(task, analyzer), np.unique(task.y)
    numbers = np.searchsorted(names, task.y).astype(float)
    model = liblinearutil.train(numbers, rows_of(task.texts), f"-s 7 -c {C_OF_LOGISTIC} -q")
    path = os.path.join(folder, "model")
    liblinearutil.save_model(path, model)
    order = np.argsort(model.get_labels())

    def probabilities(texts: list[str]) -> Any:
        found = liblinearutil.predict([], rows_of(texts), model, "-b 1 -q")[2]
        return np.array(found)[:, order]

    return Trained(probabilities, os.path.getsize(path))


def snap_of(task: Task, analyzer: str, folder: str) -> Trained:
    import pickle

    import snapml

    rows_of, names = labels.tfidf_rows(task, analyzer), np.unique(task.y)
    model = snapml.LogisticRegression(
        n_jobs=1, regularizer=1 / C_OF_LOGISTIC, fit_intercept=True, random_state=0, normalize=False
    )
    X = rows_of(task.texts)
    model.fit(X, np.searchsorted(names, task.y).astype(float))
    return Trained(lambda texts: model.predict_proba(rows_of(texts)), len(pickle.dumps(model)))


def codes_of(task: Task, analyzer: str, folder: str) -> Trained:
    vectorizer = vectorizer_of(analyzer or "word:1", binary=True)
    model = KernelClassifier(
        MinHash(n_hashes=256, random_state=0), vectorizer=vectorizer, random_state=0
    )
    is_held_out = np.random.default_rng(0).random(len(task.y)) < 0.2
    texts = np.array(task.texts, object)
    model.fit(texts[~is_held_out], task.y[~is_held_out])
    known = is_held_out & np.isin(task.y, model.classes_)
    model.calibrate(texts[known], task.y[known])
    path = os.path.join(folder, "model")
    model.save(path)
    columns = np.searchsorted(np.unique(task.y), model.classes_)

    def probabilities(texts: list[str]) -> Any:
        found = np.zeros((len(texts), len(np.unique(task.y))))
        found[:, columns] = model.predict_proba(texts)
        return found

    return Trained(probabilities, os.path.getsize(path))


LEARNERS = {
    "fastText": fasttext_of,
    "Vowpal Wabbit": vowpal_of,
    "LIBLINEAR, logistic, tf-idf": liblinear_of,
    "Snap ML, logistic, tf-idf": snap_of,
    "sparsemaps, calibrated": codes_of,
}


def measure(directory: str, name: str, learner: str) -> dict[str, Any]:
    task = labels.load(directory, name)
    n_test = min(len(task.y_test), 20_000)
    texts, y = task.texts_test[:n_test], task.y_test[:n_test]
    analyzer = "char:1-3" if name == "language" else ""
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        start = time.process_time()
        trained = LEARNERS[learner](task, analyzer, folder)
        trained_at = time.process_time()
        found = trained.probabilities(texts)
        end = time.process_time()
    is_right = np.unique(task.y)[found.argmax(axis=1)] == y
    return {
        "task": name,
        "learner": learner,
        "accuracy": float(is_right.mean()),
        "calibration_error": calibration_error(found, is_right),
        "training_seconds": trained_at - start,
        "microseconds": 1e6 * (end - trained_at) / n_test,
        "model_bytes": trained.n_bytes,
    }


HEADER = (
    "| task | learner | accuracy, % | calibration error | training, s | µs a record | model, MB |\n"
    + "|---" * 7 + "|"
)  # fmt: skip


def row(result: dict[str, Any]) -> str:
    return (
        f"| {result['task']} | {result['learner']} | {100 * result['accuracy']:.2f} "
        f"| {result['calibration_error']:.3f} | {result['training_seconds']:.2f} "
        f"| {result['microseconds']:.0f} | {result['model_bytes'] / 1e6:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.peers", description=__doc__)
    parser.add_argument("directory", help="where the files are")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where peers.* go")
    parser.add_argument("--task", action="append", choices=TASKS, help="may be repeated")
    options = parser.parse_args()
    about = (
        f"`python -m experiments.peers DIRECTORY -o RESULTS`; {machine()}; "
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    )
    print(f"{about}\n\n{HEADER}")
    results = []
    for task in options.task or TASKS:
        for learner in LEARNERS:
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                results.append(pool.submit(measure, options.directory, task, learner).result())
            print(row(results[-1]), flush=True)
    options.results.mkdir(exist_ok=True)
    with open(options.results / "peers.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(results[0]))
        writer.writeheader()
        writer.writerows(results)
    table = "\n".join([HEADER, *map(row, results)])
    (options.results / "peers.md").write_text(f"{table}\n\n{about}\n")


if __name__ == "__main__":
    main()
