"""``python -m experiments.peers DIRECTORY -o RESULTS``: probabilities of labels, beside other
learners that have them.

Each learner trains on each task of `experiments.labels` that has texts, in a separate process and
one thread: fastText, Vowpal Wabbit, the logistic loss of LIBLINEAR and of Snap ML on tf-idf, and of
scikit-learn on vectors of model2vec; and KernelClassifier with ``calibrate``, by a fifth of the
records or by folds, and on words also with weights. Then another process loads the model from its
files to label one text. Times are processor times.

model2vec's own models are on a hub, in no package. The vectors here are those that the package
wordllama has: English, 32,000 tokens, 256 numbers each. fasttext-ng and fasttext-turbo are both the
module `fasttext`, so that an environment has one of them: rows of learners that are measured take
the place of earlier ones in RESULTS.
"""

import argparse
import csv
import multiprocessing
import os
import pickle
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.metadata import distribution, distributions
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from experiments import labels
from experiments.calibration import calibration_error
from experiments.labels import Task
from experiments.runner import machine
from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier
from sparsemaps.text import IdfWeights
from sparsemaps.text._analyzers import vectorizer_of

TASKS = ["language", "spam", "reuters52"]
PACKAGES = [
    *("numpy", "scikit-learn", "fasttext-ng", "fasttext-turbo", "vowpalwabbit"),
    *("liblinear-official", "snapml", "model2vec", "wordllama"),
]


def installed() -> dict[str, str]:
    """Return the versions of the installed packages."""
    return {name: found.version for name in PACKAGES for found in distributions(name=name)}


def versions_with_earlier(path: Path) -> str:
    """Return the versions of the packages. For missing packages, return those of an earlier table,
    whose rows are retained."""
    line = path.read_text().splitlines()[-1] if path.exists() else ""
    known = {name: re.search(rf" {name} ([\w.]+)", line) for name in PACKAGES}
    versions = {name: found[1] for name, found in known.items() if found} | installed()
    return ", ".join(f"{name} {versions[name]}" for name in PACKAGES if name in versions)


class Trained(NamedTuple):
    """From texts to the probabilities of the sorted labels; the bytes of the model; and a program
    that opens the model in the current folder, and labels `text`."""

    probabilities: Callable[[list[str]], Any]
    n_bytes: int
    start: str


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

    start = "import fasttext; fasttext.load_model('model.bin').predict(text)"
    return Trained(probabilities, n_bytes, start)


def vowpal_of(task: Task, analyzer: str, folder: str) -> Trained:
    model, n_bytes = labels.train_vowpal(task, task.texts, folder, "--probabilities")
    start = (
        "from vowpalwabbit import Workspace; "
        f"Workspace('-i model.vw --quiet').predict({labels.line_of(task.texts[0])!r})"
    )
    return Trained(
        lambda texts: np.array([model.predict(labels.line_of(text)) for text in texts]),
        n_bytes,
        start,
    )


C_OF_LOGISTIC = 100
"""Rows of tf-idf have length 1, so that C = 1 underfits."""

N_COLUMNS = 2**16
"""As accurate as 2^20 columns, within .2 %, with a sixteenth of the weights."""

OPEN_ROWS = """
import pickle
vectorizer, weights = pickle.load(open("rows", "rb"))
X = weights.transform(vectorizer.transform([text]))
"""


def saved_rows(task: Task, analyzer: str, folder: str) -> tuple[Callable[[Any], Any], int]:
    """Return a function from texts to rows of tf-idf, which is saved, and its bytes."""
    parts = labels.tfidf_parts(task, analyzer, N_COLUMNS)
    content = pickle.dumps(parts)
    Path(folder, "rows").write_bytes(content)
    vectorizer, weights = parts
    return lambda texts: weights.transform(vectorizer.transform(texts)), len(content)


def liblinear_of(task: Task, analyzer: str, folder: str) -> Trained:
    from liblinear import liblinearutil

    (rows_of, n_bytes), names = saved_rows(task, analyzer, folder), np.unique(task.y)
    numbers = np.searchsorted(names, task.y).astype(float)
    model = liblinearutil.train(numbers, rows_of(task.texts), f"-s 7 -c {C_OF_LOGISTIC} -q")
    path = os.path.join(folder, "model")
    liblinearutil.save_model(path, model)
    order = np.argsort(model.get_labels())

    def probabilities(texts: list[str]) -> Any:
        found = liblinearutil.predict([], rows_of(texts), model, "-b 1 -q")[2]
        return np.array(found)[:, order]

    start = OPEN_ROWS + (
        "from liblinear import liblinearutil as lib\n"
        "lib.predict([], X, lib.load_model('model'), '-q')"
    )
    return Trained(probabilities, n_bytes + os.path.getsize(path), start)


def snap_of(task: Task, analyzer: str, folder: str) -> Trained:
    import snapml

    (rows_of, n_bytes), names = saved_rows(task, analyzer, folder), np.unique(task.y)
    model = snapml.LogisticRegression(
        n_jobs=1, regularizer=1 / C_OF_LOGISTIC, fit_intercept=True, random_state=0, normalize=False
    )
    X = rows_of(task.texts)
    model.fit(X, np.searchsorted(names, task.y).astype(float))
    content = pickle.dumps(model)
    Path(folder, "model").write_bytes(content)
    start = OPEN_ROWS + "pickle.load(open('model', 'rb')).predict(X)"
    return Trained(lambda texts: model.predict_proba(rows_of(texts)), n_bytes + len(content), start)


def vectors_of(task: Task, analyzer: str, folder: str) -> Trained:
    from model2vec import StaticModel
    from safetensors.numpy import load_file
    from sklearn.linear_model import LogisticRegression
    from tokenizers import Tokenizer

    shipped, name = Path(str(distribution("wordllama").locate_file("wordllama"))), "l2_supercat"
    table = load_file(shipped / "weights" / f"{name}_256.safetensors")["embedding.weight"]
    tokens = Tokenizer.from_file(str(shipped / "tokenizers" / f"{name}_tokenizer_config.json"))
    vectors = StaticModel(table.astype(np.float32), tokens)
    vectors.save_pretrained(os.path.join(folder, "vectors"))

    def rows_of(texts: list[str]) -> Any:
        return vectors.encode(texts, use_multiprocessing=False)

    X = rows_of(task.texts)
    model = LogisticRegression(C=C_OF_VECTORS, max_iter=1000).fit(X, task.y)
    Path(folder, "model").write_bytes(pickle.dumps(model))
    start = (
        "import pickle; from model2vec import StaticModel; "
        "X = StaticModel.from_pretrained('vectors').encode([text]); "
        "pickle.load(open('model', 'rb')).predict(X)"
    )
    n_bytes = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return Trained(lambda texts: model.predict_proba(rows_of(texts)), n_bytes, start)


C_OF_VECTORS = 10
"""Chosen from 1, 10, 100 and 1,000 as the best on reuters52; within .2 % of the best on the other
tasks."""


def codes_of(
    task: Task, analyzer: str, folder: str, cv: int | None = None, *, is_weighted: bool = False
) -> Trained:
    """MinHash of sets of n-grams; or samples of words that are weighted by their rarity."""
    map: Any = MinHash(n_hashes=256, random_state=0)
    vectorizer: Any = vectorizer_of(analyzer or "word:1", binary=True)
    if is_weighted:
        map = ConsistentWeightedSampling(method="levels", n_hashes=512, random_state=0)
        vectorizer = make_pipeline(vectorizer.set_params(binary=False), IdfWeights())
    model = KernelClassifier(map, vectorizer=vectorizer, random_state=0)
    texts = np.array(task.texts, object)
    if cv is None:
        is_held_out = np.random.default_rng(0).random(len(task.y)) < 0.2
        model.fit(texts[~is_held_out], task.y[~is_held_out])
        known = is_held_out & np.isin(task.y, model.classes_)
        model.calibrate(texts[known], task.y[known])
    else:
        model.fit(texts, task.y).calibrate(texts, task.y, cv=cv)
    path = os.path.join(folder, "model")
    model.save(path)
    columns = np.searchsorted(np.unique(task.y), model.classes_)

    def probabilities(texts: list[str]) -> Any:
        found = np.zeros((len(texts), len(np.unique(task.y))))
        found[:, columns] = model.predict_proba(texts)
        return found

    start = "from sparsemaps.linear import load_model; load_model('model').predict([text])"
    return Trained(probabilities, os.path.getsize(path), start)


LEARNERS: dict[str, Callable[..., Trained]] = {
    "fasttext-turbo" if "fasttext-turbo" in installed() else "fasttext-ng": fasttext_of,
    "Vowpal Wabbit": vowpal_of,
    "LIBLINEAR, logistic, tf-idf": liblinear_of,
    "Snap ML, logistic, tf-idf": snap_of,
    "model2vec, logistic": vectors_of,
    "sparsemaps, a fifth calibrates": codes_of,
    "sparsemaps, five folds calibrate": partial(codes_of, cv=5),
    "sparsemaps, weighted words, five folds": partial(codes_of, cv=5, is_weighted=True),
}
OF_WORDS = "sparsemaps, weighted words, five folds"
ANALYZERS = {"language": "char:1-3"}
"""The n-grams of texts; other tasks use words."""


class Start(NamedTuple):
    """Return the cost of the first label of a text in a new process."""

    seconds: float
    n_bytes: int


def start_of(program: str, text: str, folder: str) -> Start:
    """Return the processor time and the memory of a new process that loads a model."""
    ending = (
        "import time\n"
        "most = [line for line in open('/proc/self/status') if line.startswith('VmHWM')]\n"
        "print(time.process_time(), 1024 * int(most[0].split()[1]))"
    )
    command = [sys.executable, "-c", f"text = {text!r}\n{program}\n{ending}"]
    said = [
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
        for _ in range(3)
    ]
    seconds, n_bytes = zip(*(line.split()[-2:] for line in said), strict=True)
    return Start(min(map(float, seconds)), min(map(int, n_bytes)))


def measure(directory: str, name: str, learner: str) -> dict[str, Any]:
    task = labels.load(directory, name)
    n_test = min(len(task.y_test), 20_000)
    texts, y = task.texts_test[:n_test], task.y_test[:n_test]
    analyzer = ANALYZERS.get(name, "")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        start = time.process_time()
        trained = LEARNERS[learner](task, analyzer, folder)
        trained_at = time.process_time()
        found = trained.probabilities(texts)
        end = time.process_time()
        started = start_of(trained.start, " ".join(task.texts[0].split())[:2000], folder)
    is_right = np.unique(task.y)[found.argmax(axis=1)] == y
    return {
        "task": name,
        "learner": learner,
        "accuracy": float(is_right.mean()),
        "calibration_error": calibration_error(found, is_right),
        "training_seconds": trained_at - start,
        "microseconds": 1e6 * (end - trained_at) / n_test,
        "model_bytes": trained.n_bytes,
        "start_seconds": started.seconds,
        "start_bytes": started.n_bytes,
    }


HEADER = (
    "| task | learner | accuracy, % | calibration error | training, s | µs a record | model, MB "
    "| start, s | start, MB |\n" + "|---" * 9 + "|"
)


def row(result: dict[str, Any]) -> str:
    return (
        f"| {result['task']} | {result['learner']} | {100 * float(result['accuracy']):.2f} "
        f"| {float(result['calibration_error']):.3f} | {float(result['training_seconds']):.2f} "
        f"| {float(result['microseconds']):.0f} | {float(result['model_bytes']) / 1e6:.2f} "
        f"| {float(result['start_seconds']):.2f} | {float(result['start_bytes']) / 1e6:.0f} |"
    )


def with_earlier(path: Path, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return results together with those of other learners in an earlier table, in the order of
    tasks."""
    earlier: list[dict[str, Any]] = []
    if path.exists():
        with open(path, newline="") as file:
            earlier = list(csv.DictReader(file))
    new = {(one["task"], one["learner"]) for one in results}
    every = [one for one in earlier if (one["task"], one["learner"]) not in new] + results
    order = ["fasttext-ng", "fasttext-turbo", *LEARNERS]
    return sorted(every, key=lambda one: (TASKS.index(one["task"]), order.index(one["learner"])))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.peers", description=__doc__)
    parser.add_argument("directory", help="where the files are")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where peers.* go")
    parser.add_argument("--task", action="append", choices=TASKS, help="may be repeated")
    parser.add_argument("--learner", action="append", choices=LEARNERS, help="may be repeated")
    options = parser.parse_args()
    about = (
        f"`python -m experiments.peers DIRECTORY -o RESULTS`; {machine()}; "
        f"Python {platform.python_version()}, "
        f"{versions_with_earlier(options.results / 'peers.md')}"
    )
    print(f"{about}\n\n{HEADER}")
    results = []
    for task in options.task or TASKS:
        for learner in options.learner or LEARNERS:
            if learner == OF_WORDS and task in ANALYZERS:
                continue
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                results.append(pool.submit(measure, options.directory, task, learner).result())
            print(row(results[-1]), flush=True)
    options.results.mkdir(exist_ok=True)
    results = with_earlier(options.results / "peers.csv", results)
    with open(options.results / "peers.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(results[0]))
        writer.writeheader()
        writer.writerows(results)
    table = "\n".join([HEADER, *map(row, results)])
    (options.results / "peers.md").write_text(f"{table}\n\n{about}\n")


if __name__ == "__main__":
    main()
