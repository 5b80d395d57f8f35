"""``python -m experiments.one_text DIRECTORY -o RESULTS``: the time to label one text.

The directory holds ``texts.jsonl``, plain or as .xz. Models with 512 samples, of counted n-grams
and of weighted ones, label one text at a time, in one thread. Either one text is repeated, or 48
texts take turns. The table shows the mean over texts of the least time.
"""

import argparse
import platform
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from experiments import report
from experiments.runner import machine
from experiments.texts import file_of, read
from sparsemaps import ConsistentWeightedSampling
from sparsemaps.linear import KernelClassifier
from sparsemaps.text import IdfWeights
from sparsemaps.text._analyzers import vectorizer_of

ANALYZERS = "word:1", "char:3"
LENGTHS = 200, 500, 1_000, 2_000, 4_000, 8_000, 16_000
LEVELS = 1, 2, 16
N_TRAIN, N_CLASSES = 2_000, 10
N_FRESH = 48
"""Texts that follow one another, so that tables do not stay in the second-level cache."""

N_RUNS = 200


def parts_of(texts: list[str], length: int) -> list[str]:
    """Return `N_FRESH` different texts of this many characters, made of successive ones."""
    pieces = length // 50 + 1
    return [
        " ".join(texts[(37 * number + place) % len(texts)] for place in range(pieces))[:length]
        for number in range(N_FRESH)
    ]


def models_of(analyzer: str, texts: list[str]) -> dict[tuple[str, int], KernelClassifier]:
    """Return a model of counts, and one of weights for each number of levels. The learned weights
    do not affect the time to label a text."""
    y = np.random.default_rng(0).integers(0, N_CLASSES, len(texts))
    plain, models = vectorizer_of(analyzer), {}
    for levels in LEVELS:
        for kind in ("counts", "weights"):
            cws = ConsistentWeightedSampling(
                n_hashes=512, method="levels", random_state=0,
                resolution=levels if kind == "counts" else 1,
            )  # fmt: skip
            vectorizer = plain
            if kind == "weights":
                vectorizer = make_pipeline(plain, IdfWeights(levels=levels))
            model = KernelClassifier(cws, vectorizer=vectorizer, max_iter=1, tol=1)
            with warnings.catch_warnings(action="ignore"):  # one pass is enough for a label
                models[kind, levels] = model.fit(texts, y)
    return models


def least_times(
    models: dict[tuple[str, int], KernelClassifier], texts: list[str], n_runs: int
) -> dict[tuple[str, int], float]:
    """Return the mean over texts of the least time to label one, in microseconds. Models take
    turns."""
    clock: Callable[[], int] = time.perf_counter_ns
    best = {key: np.full(len(texts), np.inf) for key in models}
    for _ in range(n_runs):
        for key, model in models.items():
            for number, text in enumerate(texts):
                start = clock()
                model.predict([text])
                best[key][number] = min(best[key][number], clock() - start)
    return {key: float(times.mean()) / 1000 for key, times in best.items()}


def row(analyzer: str, length: int, found: list[dict[tuple[str, int], float]]) -> list[Any]:
    """Return the cells of a row: the time with counts of one level, and the additional percent for
    weights, for a repeated text and for alternating texts."""
    cells: list[Any] = [analyzer, f"{length:,}"]
    for times in found:
        counts = times["counts", 1]
        cells.append(f"{counts:.0f}")
        cells += [f"{100 * (times['weights', levels] / counts - 1):+.0f}" for levels in LEVELS]
        more = times["weights", LEVELS[-1]] / times["counts", LEVELS[-1]]
        cells.append(f"{100 * (more - 1):+.0f}")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.one_text", description=__doc__)
    parser.add_argument("directory", type=Path, help="where the file is")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where one-text.* go")
    parser.add_argument(
        "--runs", type=int, default=N_RUNS, help="number of runs; the shortest one counts"
    )
    options = parser.parse_args()
    texts = read(file_of(options.directory, "texts"))[0]
    others = [text for text in texts[N_TRAIN:] if text.isascii() and len(text) > 100]
    rows = []
    for analyzer in ANALYZERS:
        models = models_of(analyzer, texts[:N_TRAIN])
        for length in LENGTHS:
            some = parts_of(others, length)
            n_repeats = N_FRESH * options.runs // 4
            found = [
                least_times(models, some[:1], n_repeats), least_times(models, some, options.runs)
            ]  # fmt: skip
            rows.append(row(analyzer, length, found))
            print(*rows[-1], flush=True)
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    header = ["n-grams", "characters"]
    for kind in ("repeated", "fresh"):
        header += [f"{kind}: counts, µs", *(f"idf {levels}, %" for levels in LEVELS), "16 to 16, %"]
    notes = (
        "The time to label one text by a model of 512 samples, and how many percent longer it "
        "takes with `IdfWeights` of 1, 2 and 16 levels. *16 to 16* compares the last one with "
        "counts of `resolution=16`, which have as many levels. A text is repeated, or it follows "
        f"{N_FRESH - 1} others, so that less of the tables is in the second-level cache. "
        f"`python -m experiments.one_text DIRECTORY -o RESULTS`; {machine()}; "
        f"Python {platform.python_version()}, {versions}."
    )
    report.write_table(options.results / "one-text", "One text with weights", header, rows, notes)


if __name__ == "__main__":
    main()
