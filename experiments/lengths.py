"""``python -m experiments.lengths DIRECTORY -o RESULTS``: languages of short and of long texts.

The directory holds ``texts.jsonl``, plain or as .xz. Learners train on 4,000 texts, or on these and
two parts of each, of 4 and of 12 words (`sparsemaps.text.snippets`), and label parts of others, of
at most 4, 8, 16 and 64 words. Copies of training texts are not labelled. Each learner runs in a
process of its own, by one thread; times are of the processor.
"""

import argparse
import csv
import multiprocessing
import platform
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments import labels
from experiments.labels import Task
from experiments.runner import machine
from sparsemaps.text import snippets
from sparsemaps.text._analyzers import vectorizer_of

OF_TRAINING = (4, 12)
OF_TEST = (4, 8, 16, 64)
N_TEST = 10_000
LEARNERS = {
    "fastText": (labels.fasttext_of, "subwords of 2 to 4"),
    "Vowpal Wabbit, words": (labels.vowpal_of, ""),
    "Vowpal Wabbit, n-grams": (labels.vowpal_of, "char:1-3"),
    "linear SVM, tf-idf, 3": (labels.tfidf_of, "char:3"),
    "linear SVM, tf-idf, 1 to 3": (labels.tfidf_of, "char:1-3"),
    "sparsemaps, 3": (labels.codes_of, "char:3"),
    "sparsemaps, 1 to 3": (labels.codes_of, "char:1-3"),
}


def with_snippets(texts: list[str], y: Any) -> tuple[list[str], Any]:
    """Return the texts followed by parts of them."""
    short, index = snippets(texts, OF_TRAINING, random_state=0)
    return texts + short, np.concatenate([y, y[index]])


def cut(texts: list[str], length: int) -> list[str]:
    """Return a part of each text with the given number of words; a shorter text is returned
    whole."""
    parts = list(texts)
    for part, index in zip(*snippets(texts, [length], random_state=1), strict=True):
        parts[index] = part
    return parts


def as_rows(task: Task, tests: Sequence[list[str]], analyzer: str) -> tuple[Task, list[Any]]:
    """Counts of n-grams that replace texts, for a learner without such n-grams."""
    vectorizer = vectorizer_of(analyzer, n_features=2**22)
    rows = [vectorizer.transform(texts) for texts in (task.texts, *tests)]
    return task._replace(texts=[], X=rows[0]), rows[1:]


def measure(directory: str, learner: str, is_short: bool) -> dict[str, Any]:
    """Return the accuracy of a learner by the length of texts, and the seconds of its training."""
    task = labels.load(directory, "language")
    some = task.texts_test[:N_TEST]
    tests = [*(cut(some, length) for length in OF_TEST), some]
    if is_short:
        texts, y = with_snippets(task.texts, task.y)
        task = task._replace(texts=texts, y=y)
    train, analyzer = LEARNERS[learner]
    records: list[Any] = tests
    start = time.process_time()
    if learner == "Vowpal Wabbit, n-grams":
        task, records = as_rows(task, tests, analyzer)
        start = time.process_time()
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        trained = train(task, analyzer, folder)
        seconds = time.process_time() - start
        accuracies = [
            float(np.mean(np.asarray(trained.labels(some)) == task.y_test[:N_TEST]))
            for some in records
        ]
    names = [*map(str, OF_TEST), "whole"]
    found = {"learner": learner, "training": "and parts" if is_short else "texts"}
    return found | dict(zip(names, accuracies, strict=True)) | {"seconds": seconds}


HEADER = (
    "| learner, n-grams of characters | trained on | "
    + " | ".join(f"{length} words" for length in OF_TEST)
    + " | whole | training, s |\n"
    + "|---" * (len(OF_TEST) + 4)
    + "|"
)


def row(result: dict[str, Any]) -> str:
    accuracies = (f"{100 * result[name]:.1f}" for name in [*map(str, OF_TEST), "whole"])
    cells = [result["learner"], result["training"], *accuracies, f"{result['seconds']:.2f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.lengths", description=__doc__)
    parser.add_argument("directory", help="where the file is")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where lengths.* go")
    parser.add_argument("--learner", action="append", choices=LEARNERS, help="may be repeated")
    options = parser.parse_args()
    names = ("numpy", "scikit-learn", "fasttext-ng", "vowpalwabbit")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    about = (
        f"`python -m experiments.lengths DIRECTORY -o RESULTS`; {machine()}; "
        f"Python {platform.python_version()}, {versions}"
    )
    print(f"{about}\n\n{HEADER}")
    results = []
    for learner in options.learner or LEARNERS:
        for is_short in (False, True):
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                found = pool.submit(measure, options.directory, learner, is_short).result()
            results.append(found)
            print(row(found), flush=True)
    options.results.mkdir(exist_ok=True)
    with open(options.results / "lengths.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(results[0]))
        writer.writeheader()
        writer.writerows(results)
    table = "\n".join([HEADER, *map(row, results)])
    (options.results / "lengths.md").write_text(f"{table}\n\n{about}\n")


if __name__ == "__main__":
    main()
