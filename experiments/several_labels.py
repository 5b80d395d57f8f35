"""``python -m experiments.several_labels DIRECTORY -o RESULTS``: records with several labels.

Each record of "reuters52" is made of one to three documents, whose labels it has. Records of "made"
have three labels of a thousand or ten thousand, with words of each. Each learner trains in a
process of its own, by one thread: a linear SVM for each label on tf-idf, fastText with the loss
"ova", omikuji's trees, and KernelClassifier on codes of the same rows. Times are of the processor;
memory is what a process needs beyond what it had before.
"""

import argparse
import csv
import multiprocessing
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from experiments import datasets
from experiments.runner import machine
from sparsemaps import ConsistentWeightedSampling
from sparsemaps.linear import KernelClassifier

TASKS = {"reuters52": 0, "made, 1,000 labels": 1_000, "made, 10,000 labels": 10_000}
BEST = 1, 3, 5


class Task(NamedTuple):
    """Counts of words, and indicator matrices of labels."""

    X: Any
    Y: Any
    X_test: Any
    Y_test: Any


def load(directory: str, name: str) -> Task:
    rng = np.random.default_rng(0)
    if not TASKS[name]:
        split = datasets.load(directory, name)
        labels = np.unique(split.y)
        train = _together(split.X, np.searchsorted(labels, split.y), len(labels), rng)
        return Task(*train, *_together(split.X_test, np.searchsorted(labels, split.y_test),
                                       len(labels), rng))  # fmt: skip
    topics = rng.integers(0, 50_000, (TASKS[name], 30))
    return Task(*_made(topics, 6_000, rng), *_made(topics, 2_000, rng))


def _together(X: Any, y: Any, n_labels: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """As many records as documents: each is one of them, with up to two others."""
    n = len(y)
    documents = [np.append(row, rng.choice(n, rng.integers(0, 3))) for row in range(n)]
    rows = np.repeat(np.arange(n), list(map(len, documents)))
    which = np.concatenate(documents)
    sums = sp.csr_array((np.ones(len(which)), (rows, which)), (n, n))
    one_each = sp.csr_array((np.ones(n), (np.arange(n), y)), (n, n_labels))
    return _short(sums @ X), _marks(sums @ one_each)


def _made(topics: Any, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Three labels a record, a few of them frequent; ten words of each, and thirty others."""
    n_labels = len(topics)
    shares = 1 / np.arange(10, n_labels + 10)
    labels = rng.choice(n_labels, (n, 3), p=shares / shares.sum())
    words = topics[labels[:, :, None], rng.integers(0, 30, (n, 3, 10))].reshape(n, 30)
    words = np.hstack([words, (50_000 * rng.random((n, 30)) ** 3).astype(int)])
    rows = np.arange(n)
    X = sp.csr_array((np.ones(words.size), (np.repeat(rows, 60), words.ravel())), (n, 50_000))
    return _short(X), _marks(sp.csr_array((np.ones(3 * n), (np.repeat(rows, 3), labels.ravel())),
                                  (n, n_labels)))  # fmt: skip


def _short(X: Any) -> Any:
    """Return rows whose indices have 32 bits, as LIBLINEAR takes them."""
    X = sp.csr_array(X)
    X.sum_duplicates()
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sp.csr_array((X.data, indices, indptr), X.shape)


def _marks(Y: Any) -> Any:
    Y = sp.csr_array(Y)
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y.astype(np.int64)


# ---- learners ------------------------------------------------------------------------------------


class Trained(NamedTuple):
    """A function of rows to the best labels of each, best first, and to its labels as an indicator
    matrix, if the learner says which these are; and the bytes of the model."""

    found: Callable[[Any], tuple[Any, Any]]
    n_bytes: int


def codes_of(task: Task, folder: str) -> Trained:
    bits = 8 if task.Y.shape[1] <= 1_000 else 4
    map = ConsistentWeightedSampling(n_hashes=256, bits=bits, method="levels", random_state=0)
    weights = TfidfTransformer(sublinear_tf=True, norm=None).fit(task.X)

    def rows(X: Any) -> Any:
        return 4 * weights.transform(X)

    model = KernelClassifier(map, random_state=0).fit(rows(task.X), task.Y)
    model.save(os.path.join(folder, "model"))
    return Trained(
        lambda X: _by_scores(model.decision_function, rows(X)),
        os.path.getsize(os.path.join(folder, "model")),
    )


def svm_of(task: Task, folder: str) -> Trained:
    weights = TfidfTransformer(sublinear_tf=True).fit(task.X)
    model = OneVsRestClassifier(LinearSVC(random_state=0)).fit(weights.transform(task.X), task.Y)
    is_known = np.array([hasattr(one, "coef_") for one in model.estimators_])  # has a record

    def scores(X: Any) -> Any:
        return np.where(is_known, model.decision_function(X), -np.inf)

    return Trained(
        lambda X: _by_scores(scores, weights.transform(X)),
        sum(getattr(one, "coef_", np.empty(0)).nbytes for one in model.estimators_),
    )


def _by_scores(scores_of: Callable[[Any], Any], X: Any) -> tuple[Any, Any]:
    best, found = [], []
    for start in range(0, X.shape[0], 500):
        scores = scores_of(X[start : start + 500])
        best.append(np.argsort(-scores, axis=1)[:, : max(BEST)])
        found.append(sp.csr_array(scores > 0))
    return np.concatenate(best), sp.vstack(found, format="csr")


def fasttext_of(task: Task, folder: str) -> Trained:
    import fasttext

    def text(row: Any) -> str:
        words = zip(row.indices, row.data, strict=True)
        return " ".join(" ".join([f"w{word}"] * int(n)) for word, n in words)

    path = os.path.join(folder, "train.txt")
    with open(path, "w") as file:
        for i in np.random.default_rng(0).permutation(task.X.shape[0]):
            labels = " ".join(f"__label__{label}" for label in task.Y[[i]].indices)
            file.write(f"{labels} {text(task.X[[i]])}\n")
    model = fasttext.train_supervised(path, loss="ova", epoch=25, lr=0.5, thread=1, verbose=0)
    model.save_model(os.path.join(folder, "model.bin"))

    def found(X: Any) -> tuple[Any, Any]:
        best, marks = (
            np.zeros((X.shape[0], max(BEST)), int),
            np.zeros((X.shape[0], task.Y.shape[1])),
        )
        for row in range(X.shape[0]):
            names, shares = model.predict(text(X[[row]]), k=20)
            numbers = [int(name.removeprefix("__label__")) for name in names]
            best[row] = numbers[: max(BEST)]
            marks[row, [n for n, share in zip(numbers, shares, strict=True) if share > 0.5]] = 1
        return best, sp.csr_array(marks)

    return Trained(found, os.path.getsize(os.path.join(folder, "model.bin")))


def omikuji_of(task: Task, folder: str) -> Trained:
    os.environ["RAYON_NUM_THREADS"] = "1"  # others wait for work meanwhile, which takes time too
    import omikuji

    weights = TfidfTransformer(sublinear_tf=True).fit(task.X)
    rows, path = sp.csr_array(weights.transform(task.X)), os.path.join(folder, "train.txt")
    with open(path, "w") as file:
        file.write(f"{rows.shape[0]} {rows.shape[1]} {task.Y.shape[1]}\n")
        for row in range(rows.shape[0]):
            one = rows[[row]]
            labels = ",".join(map(str, task.Y[[row]].indices))
            pairs = zip(one.indices, one.data, strict=True)
            file.write(labels + "".join(f" {i}:{v:.6g}" for i, v in pairs) + "\n")
    hyper = omikuji.Model.default_hyper_param()
    model = omikuji.Model.train_on_data(path, hyper, 1)
    model.save(os.path.join(folder, "model"))

    def found(X: Any) -> tuple[Any, Any]:
        best = np.zeros((X.shape[0], max(BEST)), int)
        rows = sp.csr_array(weights.transform(X))
        for row in range(rows.shape[0]):
            one = rows[[row]]
            pairs = list(zip(one.indices.tolist(), one.data.tolist(), strict=True))
            some = [label for label, _ in model.predict(pairs, top_k=max(BEST))]
            best[row, : len(some)] = some
        return best, None

    size = sum(file.stat().st_size for file in Path(folder, "model").rglob("*") if file.is_file())
    return Trained(found, size)


LEARNERS = {
    "OneVsRestClassifier(LinearSVC), tf-idf": svm_of,
    "fastText, ova": fasttext_of,
    "omikuji": omikuji_of,
    "sparsemaps": codes_of,
}


# ---- measuring -----------------------------------------------------------------------------------


def measure(directory: str, name: str, learner: str) -> dict[str, Any]:
    """Seconds, megabytes, precisions and F1 of one learner on one task."""
    task = load(directory, name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        start = time.process_time()
        trained = LEARNERS[learner](task, folder)
        trained_at = time.process_time()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        best, found = trained.found(task.X_test)
        end = time.process_time()
    rows = np.arange(len(best))[:, None]
    hits = sp.csr_array(task.Y_test)[rows, best].toarray()
    f1 = None
    if found is not None:
        f1 = float(f1_score(task.Y_test, found.astype(np.int8), average="micro", zero_division=0))
    return {
        "task": name,
        "learner": learner,
        **{f"p{k}": float(hits[:, :k].mean()) for k in BEST},
        "micro_f1": f1,
        "training_seconds": trained_at - start,
        "labelling_microseconds": 1e6 * (end - trained_at) / len(best),
        "model_bytes": trained.n_bytes,
        "megabytes": memory / 1024,
    }


HEADER = ("| records | learner | P@1, % | P@3, % | P@5, % | micro F1, % | training, s "
          "| µs a record | model, MB | memory, MB |\n" + "|---" * 10 + "|")  # fmt: skip


def row(result: dict[str, Any]) -> str:
    f1 = "" if result["micro_f1"] is None else f"{100 * result['micro_f1']:.1f}"
    precisions = " | ".join(f"{100 * result[f'p{k}']:.1f}" for k in BEST)
    return (
        f"| {result['task']} | {result['learner']} | {precisions} | {f1} "
        f"| {result['training_seconds']:.1f} | {result['labelling_microseconds']:.0f} "
        f"| {result['model_bytes'] / 1e6:.1f} | {result['megabytes']:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.several_labels", description=__doc__
    )
    parser.add_argument("directory", help="where the files are")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where the table goes")
    parser.add_argument("--task", action="append", choices=TASKS, help="may be repeated")
    parser.add_argument("--learner", action="append", choices=LEARNERS, help="may be repeated")
    options = parser.parse_args()
    names = ("numpy", "scikit-learn", "fasttext-ng", "omikuji")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    about = f"{machine()}; Python {platform.python_version()}, {versions}"
    print(f"{about}\n\n{HEADER}", flush=True)
    results: list[dict[str, Any]] = []
    context = multiprocessing.get_context("spawn")
    options.results.mkdir(exist_ok=True)
    for task in options.task or TASKS:
        for learner in options.learner or LEARNERS:
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                results.append(pool.submit(measure, options.directory, task, learner).result())
            print(row(results[-1]), flush=True)
    with open(options.results / "several-labels.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(results[0]))
        writer.writeheader()
        writer.writerows(results)
    table = "\n".join([HEADER, *map(row, results)])
    (options.results / "several-labels.md").write_text(f"{table}\n\n{about}\n")


if __name__ == "__main__":
    main()
