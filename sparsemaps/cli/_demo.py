"""``sparsemaps demo``: the comparison and a search, on data that every installation has.

It has three parts: handwritten digits; texts, by counts of their bytes; and pairs of near-duplicate
texts. The first two parts work like ``sparsemaps compare``.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

import sparsemaps
from sparsemaps import neighbors
from sparsemaps._io import _output_files
from sparsemaps._tools._typing import Array
from sparsemaps.cli._compare import figures_of, picture_of, progress
from sparsemaps.cli._demo_data import DemoText, LearningTask, digits, texts
from sparsemaps.comparison import Comparison, compare_by
from sparsemaps.comparison._budget import Budget
from sparsemaps.libsvm import dump_svmlight_file
from sparsemaps.maps.weighted_sampling import ConsistentWeightedSampling
from sparsemaps.text import ByteNgrams

BITS = 8
N_HASHES = 256
"""Number of hashes of the codes by which pairs of texts are found."""

THRESHOLD = 0.8
"""The least similarity of these pairs."""

N_SHOWN = 3
WRITTEN = "texts.train", "texts.test"

T = TypeVar("T")


class DemoSizes(NamedTuple):
    """Sizes of the demonstration."""

    texts_each: int = 1200  # per package
    n_hashes: int = 256  # of the written map
    seconds: float = 25.0  # per comparison


def timed(function: Callable[[], T]) -> tuple[T, float]:
    """Return (result, seconds) of a call."""
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def compared(task: LearningTask, seconds: float) -> Comparison:
    """Compare models on a task within the given time."""
    budget = Budget(seconds)
    with progress(None, budget):
        return compare_by(
            budget, task.X_train, task.y_train, test=(task.X_test, task.y_test), random_state=0,
            n_jobs=-1,
        )  # fmt: skip


def table(task: LearningTask, comparison: Comparison) -> Iterator[str]:
    """Yield the results of a task as lines of text."""
    n, d = task.X_train.shape
    yield task.title
    density = task.X_train.nnz / n
    yield f"{n} + {len(task.y_test)} rows, {d} columns, {density:.0f} non-zeros a row"
    yield ""
    yield from str(comparison).splitlines()
    yield ""


class NearPairs(NamedTuple):
    """Pairs of texts with nearly the same trigrams."""

    n_trigrams: int
    """Total over all texts."""
    first: Array
    second: Array
    similarity: Array
    encode_seconds: float
    seconds: float


def near_pairs(texts: list[DemoText]) -> NearPairs:
    """Return the pairs of texts with nearly the same trigrams."""
    trigrams = ByteNgrams(binary=True, lowercase=True, n_jobs=-1)
    X = trigrams.transform([text for _, _, text in texts])
    minhash = sparsemaps.MinHash(n_hashes=N_HASHES, bits=BITS, random_state=0, n_jobs=-1).fit(X)
    codes, encode_seconds = timed(lambda: minhash.encode(X, packed=True))
    found, seconds = timed(lambda: neighbors.similar_pairs(codes, THRESHOLD, n_jobs=-1))
    return NearPairs(X.nnz, *found, encode_seconds, seconds)


def near_duplicates(texts: list[DemoText], found: NearPairs) -> Iterator[str]:
    """Yield lines about the pairs of texts with nearly the same trigrams."""
    yield "3. Near-duplicates among the same texts: sets of trigrams, 2**24 columns"
    n_trigrams, first, second, similarity, encode_seconds, seconds = found
    n = len(texts)
    yield f"  {n} texts of {n_trigrams / n:.0f} trigrams on average, {n * (n - 1) // 2} pairs"
    yield (
        f"  {len(first)} pairs of similarity {THRESHOLD} or more, by {N_HASHES} bytes a text: "
        f"codes {encode_seconds:.3f} s, pairs {seconds:.3f} s"
    )
    packages, files = (np.array([text[part] for text in texts]) for part in (0, 1))
    same_package = packages[first] == packages[second]
    same_file = files[first] == files[second]
    yield f"  The {N_SHOWN} most surprising, pairs of two packages first and then of two files:"
    for pair in np.lexsort((-similarity, same_file, same_package))[:N_SHOWN]:
        yield f"  similarity {similarity[pair]:.2f}"
        for row in (first[pair], second[pair]):
            package, place, text = texts[row]
            line = " ".join(text.decode(errors="replace").split())
            yield f"    {package:17.17} {place:26.26} {line[:52]}"
    yield "  What to see: texts that were copied and changed a little, found by their codes alone."
    yield ""


def write(task: LearningTask, n_hashes: int, directory: Path) -> Iterator[str]:
    """Write the texts, mapped by a min-max map, as LIBSVM files, and yield lines on how to use
    them."""
    cws = ConsistentWeightedSampling(n_hashes=n_hashes, bits=BITS, random_state=0, n_jobs=-1)
    cws.fit(task.X_train)
    train, test, model = (directory / name for name in (*WRITTEN, "texts.model"))
    for X, y, path in ((task.X_train, task.y_train, train), (task.X_test, task.y_test, test)):
        dump_svmlight_file(cws.transform(X), y, path, zero_based=False)
    yield f"Written: {train} and {test}, the texts under the map with k = {n_hashes}."
    yield "With LIBLINEAR (its programs have the prefix liblinear- in Debian's liblinear-tools):"
    yield f"  train -c 1 {train} {model}"
    yield f"  predict {test} {model} {directory / 'texts.predicted'}"


def run(
    directory: str | Path,
    plot: str | None = None,
    say: Callable[[str], None] = print,
    sizes: DemoSizes = DemoSizes(),  # noqa: B008
) -> dict[str, Any]:
    """Run the demonstration and return its figures. LIBSVM files are written to `directory`, a
    picture to `plot`."""
    outputs = [(str(Path(directory, name)), "a file of the texts") for name in WRITTEN]
    if plot is not None:
        outputs.append((plot, "the picture of --plot"))
    _output_files.refuse_clashes([], outputs, [directory])
    Path(directory).mkdir(parents=True, exist_ok=True)
    comparisons = {}

    def compare(task: LearningTask) -> None:
        comparisons[task.short] = compared(task, sizes.seconds)
        for line in table(task, comparisons[task.short]):
            say(line)

    compare(digits())
    of_texts = texts(sizes.texts_each)
    compare(of_texts)
    found = near_pairs(of_texts.texts)
    lines = (
        near_duplicates(of_texts.texts, found),
        write(of_texts, sizes.n_hashes, Path(directory)),
    )
    for line in itertools.chain.from_iterable(lines):
        say(line)
    if plot is not None:
        picture_of(comparisons, plot)
        say(f"Written: {plot}, accuracy against bytes per row.")
    figures = dict(zip(("digits", "texts"), map(figures_of, comparisons.values()), strict=True))
    return {**figures, "pairs": len(found.first)}
