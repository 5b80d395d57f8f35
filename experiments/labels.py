"""``python -m experiments.labels DIRECTORY -o RESULTS``: labels of texts, beside other learners.

The directory contains ``texts.jsonl``, ``pages.jsonl`` and LIBSVM files of word counts with their
vocabularies, plain or as .xz. Each learner trains on each task in a separate process, in one
thread: fastText, Vowpal Wabbit, a linear SVM on hashed n-grams and on tf-idf, and KernelClassifier
on codes. Times are processor times; memory is the growth of the process.
"""

import argparse
import csv
import json
import lzma
import multiprocessing
import os
import pickle
import platform
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from experiments import datasets
from experiments.runner import machine
from experiments.texts import file_of, groups, read
from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier
from sparsemaps.text import HashingVectorizer, IdfWeights
from sparsemaps.text._analyzers import vectorizer_of

TEXTS = {"language": ("texts", 4000), "site": ("pages", 700)}
WORDS = {"spam": "sms_spam", "news20": "news20_bydate", "reuters52": "reuters52"}
MEASUREMENTS = {"spambase": "spambase"}
TASKS = [*TEXTS, *WORDS, *MEASUREMENTS]
ANALYZERS = {"language": "char:3"}
"""The n-grams of texts; other tasks use words."""


class Task(NamedTuple):
    """Training and test records with labels: texts, and rows if the file has rows."""

    texts: list[str]
    y: Any
    texts_test: list[str]
    y_test: Any
    X: Any = None
    X_test: Any = None


def load(directory: str, name: str) -> Task:
    if name in TEXTS:
        return texts_of(directory, *TEXTS[name])
    split = datasets.load(directory, (WORDS | MEASUREMENTS)[name])
    # fastText takes records in the order of its file, and files may be sorted by label.
    order = np.random.default_rng(0).permutation(len(split.y))
    split = split._replace(X=split.X[order], y=split.y[order])
    texts: tuple[list[str], list[str]] = ([], [])
    if name in WORDS:
        vocabulary = _lines(directory, WORDS[name] + ".vocab.txt")
        texts = _words(split.X, vocabulary), _words(split.X_test, vocabulary)
    return Task(texts[0], split.y, texts[1], split.y_test, split.X, split.X_test)


def texts_of(directory: str, name: str, n: int) -> Task:
    """Return texts for training; the others, except copies of these, are labelled."""
    texts, labels, copy_of = read(file_of(directory, name))
    group = groups(copy_of)
    order = np.random.default_rng(0).permutation(len(texts))
    train, others = order[:n], order[n:]
    test = others[~np.isin(group[others], group[train])]
    return Task([texts[i] for i in train], labels[train], [texts[i] for i in test], labels[test])


def _lines(directory: str, name: str) -> list[str]:
    path = Path(directory) / name
    if path.exists():
        return path.read_text().splitlines()
    with lzma.open(f"{path}.xz", "rt") as file:
        return file.read().splitlines()


def _words(X: Any, vocabulary: list[str]) -> list[str]:
    """Return texts that repeat the words of each row as often as they occur."""
    return [
        " ".join(
            " ".join([vocabulary[column]] * int(count))
            for column, count in zip(row.indices, row.data, strict=True)
        )
        for row in X.tocsr()
    ]


# ---- learners ------------------------------------------------------------------------------------


class Trained(NamedTuple):
    """Functions that label one record and all records, and the bytes of the model's file."""

    label: Callable[[Any], Any]
    labels: Callable[[Any], Any]
    scores: Callable[[Any], Any] | None
    n_bytes: int


def train_fasttext(task: Task, analyzer: str, folder: str) -> tuple[Any, int]:
    """Train fastText on texts. Return the model and the bytes of its file."""
    import fasttext

    path, saved = os.path.join(folder, "train.txt"), os.path.join(folder, "model.bin")
    with open(path, "w") as file:
        for text, label in zip(task.texts, task.y, strict=True):
            file.write(f"__label__{label} {' '.join(text.split())}\n")
    subwords = {"minn": 2, "maxn": 4, "dim": 16} if analyzer else {}
    model = fasttext.train_supervised(path, epoch=25, lr=0.5, thread=1, verbose=0, **subwords)
    model.save_model(saved)
    return model, os.path.getsize(saved)


def fasttext_of(task: Task, analyzer: str, folder: str) -> Trained:
    model, n_bytes = train_fasttext(task, analyzer, folder)
    names = {str(label): label for label in np.unique(task.y)}

    def label(text: str) -> Any:
        return names[model.predict(" ".join(text.split()))[0][0].removeprefix("__label__")]

    def positive(text: str) -> float:
        found = dict(zip(*model.predict(" ".join(text.split()), k=2), strict=True))
        return float(found[f"__label__{np.unique(task.y)[1]}"])

    return Trained(
        label,
        lambda texts: [label(text) for text in texts],
        lambda texts: [positive(text) for text in texts],
        n_bytes,
    )


def train_vowpal(task: Task, records: list[Any], folder: str, more: str = "") -> tuple[Any, int]:
    """Train Vowpal Wabbit on texts or single rows, with additional options. Return the model, whose
    classes are numbers from 1 in the order of labels, and the bytes of its file."""
    from vowpalwabbit import Workspace

    labels = np.unique(task.y)
    number = {label: i + 1 for i, label in enumerate(labels)}
    model = Workspace(f"--oaa {len(labels)} --loss_function logistic {more} -b 22 --quiet")
    examples = [
        model.parse(f"{number[label]} {line_of(record)}")
        for record, label in zip(records, task.y, strict=True)
    ]
    order = np.random.default_rng(0)
    for _ in range(5):
        for i in order.permutation(len(examples)):
            model.learn(examples[i])
    for example in examples:
        model.finish_example(example)
    path = os.path.join(folder, "model.vw")
    model.save(path)
    return model, os.path.getsize(path)


def vowpal_of(task: Task, analyzer: str, folder: str) -> Trained:
    model, n_bytes = train_vowpal(task, _each(_records(task)[0]), folder)
    labels = np.unique(task.y)

    def label(record: Any) -> Any:
        return labels[model.predict(line_of(record)) - 1]

    return Trained(label, lambda all: [label(one) for one in _each(all)], None, n_bytes)


def _each(records: Any) -> list[Any]:
    """Return texts, or rows as matrices of one row."""
    return (
        records
        if isinstance(records, list)
        else [records[i : i + 1] for i in range(len(records.indptr) - 1)]
    )


def line_of(record: Any) -> str:
    """Return a text or a row as a line of Vowpal Wabbit."""
    if isinstance(record, str):
        return "| " + " ".join(record.replace(":", " ").replace("|", " ").split())
    pairs = zip(record.indices, record.data, strict=True)
    return "| " + " ".join(f"{column}:{value:g}" for column, value in pairs)


def hashed_of(task: Task, analyzer: str, folder: str) -> Trained:
    vectorizer = _vectorizer(analyzer, norm="l2", n_features=2**20)
    return _svm(task, lambda records: vectorizer.transform(records))


def tfidf_of(task: Task, analyzer: str, folder: str) -> Trained:
    return _svm(task, tfidf_rows(task, analyzer))


def narrow_tfidf_of(task: Task, analyzer: str, folder: str) -> Trained:
    return _svm(task, tfidf_rows(task, analyzer, 2**16))


def tfidf_rows(task: Task, analyzer: str, n_columns: int = 2**20) -> Callable[[Any], Any]:
    """Return a function from texts to rows of tf-idf, by the frequencies in the texts of a task."""
    vectorizer, weights = tfidf_parts(task, analyzer, n_columns)
    return lambda records: weights.transform(vectorizer.transform(records))


def tfidf_parts(
    task: Task, analyzer: str, n_columns: int = 2**20
) -> tuple[HashingVectorizer, TfidfTransformer]:
    """Return the transformer from texts to tf-idf rows, with the frequencies of a task's texts."""
    vectorizer = _vectorizer(analyzer, norm=None, alternate_sign=False, n_features=n_columns)
    return vectorizer, TfidfTransformer(sublinear_tf=True).fit(vectorizer.transform(task.texts))


def scaled_of(task: Task, analyzer: str, folder: str) -> Trained:
    """Train a linear SVM on measurements, each divided by its largest value."""
    scale = 1 / np.maximum(task.X.max(axis=0).toarray(), 1e-300)
    return _svm(task, lambda rows: rows.multiply(scale).tocsr())


def codes_of(task: Task, analyzer: str, folder: str) -> Trained:
    """MinHash of the n-grams of a text; min-max samples of weighted words or of measurements."""
    vectorizer, classes = None, None
    map: Any = ConsistentWeightedSampling(n_hashes=1024, random_state=0)
    if task.X is None:
        map = MinHash(n_hashes=256, random_state=0)
        vectorizer = _vectorizer(analyzer, norm=None, alternate_sign=False, n_features=2**31 - 2)
    elif task.texts:
        map = ConsistentWeightedSampling(method="levels", n_hashes=512, random_state=0)
        words = _vectorizer("", norm=None, alternate_sign=False, n_features=2**31 - 2)
        vectorizer, classes = make_pipeline(words, IdfWeights()), "balanced"
    model = KernelClassifier(map, vectorizer=vectorizer, class_weight=classes, random_state=0)
    model.fit(_records(task)[0], task.y)
    path = os.path.join(folder, "model")
    model.save(path)
    served = KernelClassifier.load(path)
    return Trained(
        lambda record: served.predict([record] if isinstance(record, str) else record)[0],
        served.predict,
        served.decision_function,
        os.path.getsize(path),
    )


def _vectorizer(analyzer: str, **options: Any) -> HashingVectorizer:
    """Of words, or of the n-grams that an analyzer such as "char:1-3" says."""
    if not analyzer:
        return HashingVectorizer(**options)
    return vectorizer_of(analyzer).set_params(**options)


def _svm(task: Task, rows_of: Callable[[Any], Any]) -> Trained:
    model = LinearSVC(random_state=0).fit(rows_of(_records(task)[0]), task.y)

    def all(records: Any) -> Any:
        return model.predict(rows_of(records))

    return Trained(
        lambda record: all([record] if isinstance(record, str) else record)[0],
        all,
        lambda records: model.decision_function(rows_of(records)),
        len(pickle.dumps(model)),
    )


LEARNERS = {
    "fastText": fasttext_of,
    "Vowpal Wabbit": vowpal_of,
    "linear SVM, hashed n-grams": hashed_of,
    "linear SVM, tf-idf": tfidf_of,
    "linear SVM, tf-idf, 65,536 columns": narrow_tfidf_of,
    "linear SVM, scaled": scaled_of,
    "sparsemaps": codes_of,
}
OF_TEXTS = (
    "fastText", "linear SVM, hashed n-grams", "linear SVM, tf-idf",
    "linear SVM, tf-idf, 65,536 columns",
)  # fmt: skip


def _records(task: Task) -> tuple[Any, Any]:
    return (task.texts, task.texts_test) if task.texts else (task.X, task.X_test)


# ---- measuring -----------------------------------------------------------------------------------

N_ALONE = 500
"""Number of records that are labelled one by one."""


def measure(directory: str, name: str, learner: str) -> dict[str, Any]:
    """Accuracy, AUC, seconds, µs and bytes of one learner on one task."""
    task = load(directory, name)
    records = _records(task)[1]
    alone = _each(records[:N_ALONE])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        start = time.process_time()
        trained = LEARNERS[learner](task, ANALYZERS.get(name, ""), folder)
        trained_at = time.process_time()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        predicted = trained.labels(records)
        labelled_at = time.process_time()
        trained.label(alone[0])
        one_at = time.process_time()
        for record in alone:
            trained.label(record)
        end = time.process_time()
        auc = None
        if trained.scores is not None and len(np.unique(task.y)) == 2:
            auc = float(roc_auc_score(task.y_test == np.unique(task.y)[1], trained.scores(records)))
    return {
        "task": name,
        "learner": learner,
        "accuracy": float(np.mean(np.asarray(predicted) == task.y_test)),
        "auc": auc,
        "training_seconds": trained_at - start,
        "microseconds_in_batch": 1e6 * (labelled_at - trained_at) / len(task.y_test),
        "microseconds_alone": 1e6 * (end - one_at) / len(alone),
        "model_bytes": trained.n_bytes,
        "megabytes": memory / 1024,
    }


def suits(task: str, learner: str) -> bool:
    if task in MEASUREMENTS:
        return learner not in OF_TEXTS
    return learner != "linear SVM, scaled"


def run(directory: str, tasks: list[str]) -> list[dict[str, Any]]:
    results = []
    context = multiprocessing.get_context("spawn")
    for task in tasks:
        for learner in LEARNERS:
            if suits(task, learner):
                with ProcessPoolExecutor(1, mp_context=context) as pool:
                    results.append(pool.submit(measure, directory, task, learner).result())
                print(row(results[-1]), flush=True)
    return results


HEADER = ("| task | learner | accuracy, % | AUC | training, s | µs a record, all at once "
          "| µs a record, one by one | model, MB | memory, MB |\n" + "|---" * 9 + "|")  # fmt: skip


def row(result: dict[str, Any]) -> str:
    auc = "" if result["auc"] is None else f"{result['auc']:.4f}"
    return (
        f"| {result['task']} | {result['learner']} | {100 * result['accuracy']:.2f} | {auc} "
        f"| {result['training_seconds']:.2f} | {result['microseconds_in_batch']:.0f} "
        f"| {result['microseconds_alone']:.0f} | {result['model_bytes'] / 1e6:.2f} "
        f"| {result['megabytes']:.0f} |"
    )


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Accuracy against training time, a panel for each task."""
    tasks = list(dict.fromkeys(result["task"] for result in results))
    figure, axes = plt.subplots(3, 2, figsize=(5.2, 7.6), layout="constrained")
    for ax, task in zip(axes.flat, tasks, strict=False):
        for i, learner in enumerate(LEARNERS):
            for result in results:
                if (result["task"], result["learner"]) == (task, learner):
                    ax.plot(
                        result["training_seconds"],
                        100 * result["accuracy"],
                        marker="osDd^vP"[i],
                        color=f"C{i}",
                        linestyle="none",
                        markersize=8,
                    )
        ax.set(title=task, xscale="log", xlabel="training, s of CPU", ylabel="test accuracy, %")
        ax.set_xlim(0.003, 40)
        ax.margins(y=0.12)
        ax.set_ylim(top=min(ax.get_ylim()[1], 100.3))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.grid(alpha=0.3)
    for ax in axes.flat[len(tasks) :]:
        ax.set_visible(False)
    handles = [
        plt.Line2D([], [], marker="osDd^vP"[i], color=f"C{i}", linestyle="none", label=learner)
        for i, learner in enumerate(LEARNERS)
    ]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize="small"
    )
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.labels", description=__doc__)
    parser.add_argument("directory", help="where the files are")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where labels.* go")
    parser.add_argument("--task", action="append", choices=TASKS, help="may be repeated")
    options = parser.parse_args()
    names = ("numpy", "scikit-learn", "fasttext-ng", "vowpalwabbit")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    about = f"{machine()}; Python {platform.python_version()}, {versions}"
    print(f"{about}\n\n{HEADER}")
    results = run(options.directory, options.task or TASKS)
    options.results.mkdir(exist_ok=True)
    with open(options.results / "labels.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(results[0]))
        writer.writeheader()
        writer.writerows(results)
    table = "\n".join([HEADER, *map(row, results)])
    (options.results / "labels.md").write_text(f"{table}\n\n{about}\n")
    (options.results / "labels.json").write_text(json.dumps(results))
    draw(results, options.results / "labels.svg")


if __name__ == "__main__":
    main()
