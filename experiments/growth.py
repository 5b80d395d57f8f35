"""``python -m experiments.growth -o RESULTS``: what a row costs, from 1,000 to 10,000,000 rows.

Each task runs in one thread, and its processor time is divided by the rows; the least of several
runs counts. RESULTS/growth.csv has the times, growth.svg plots them, and growth-limits.md compares
tasks with the limits of the machine. Runs of some tasks (``--only``) or sizes (``--from``,
``--to``) are added to the file.
"""

import argparse
import csv
import ctypes
import gc
import itertools
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

import sparsemaps
from experiments import report
from sparsemaps import MinHash, RandomProjection, SignProjection, files, neighbors
from sparsemaps.linear import KernelClassifier
from sparsemaps.neighbors import KernelNeighbors
from sparsemaps.text._analyzers import vectorizer_of

Array = np.ndarray[Any, Any]

SIZES = tuple(10**power for power in range(3, 8))
N_ENTRIES = 10
N_WORDS = 20
ENOUGH = 0.3
"""Seconds after which a task is run only once."""

N_COMPONENTS = 16
N_HASHES = 64


class Work(NamedTuple):
    """``prepare(n)`` returns a function that does the task on n rows."""

    name: str
    panel: str
    prepare: Callable[[int], Any]


# ---- rows and texts ------------------------------------------------------------------------------


def rows(n: int) -> Any:
    """Return rows of ten entries in 10,000 columns, the first ones most frequent. One row in ten
    differs from the previous row in one entry."""
    rng = np.random.default_rng(0)
    columns = (1000 * rng.random((n, N_ENTRIES), dtype=np.float32) ** 3).astype(np.int32)
    columns[9::10] = columns[8::10][: len(columns[9::10])]
    columns[9::10, 0] = 999 - columns[9::10, 0]
    columns += 1000 * np.arange(N_ENTRIES, dtype=np.int32)
    values = 0.1 + rng.random(columns.size, dtype=np.float32)
    indptr = np.arange(0, columns.size + 1, N_ENTRIES, dtype=np.int32)
    return sp.csr_array((values, columns.reshape(-1), indptr), (n, 1000 * N_ENTRIES))


def texts(n: int) -> list[str]:
    """Return texts of 20 words, about 130 bytes. One in ten is the previous one with a word
    changed."""
    rng = np.random.default_rng(0)
    words = ["".join(map(chr, rng.integers(97, 123, rng.integers(2, 10)))) for _ in range(10_000)]
    chosen = (10_000 * rng.random((n, N_WORDS), dtype=np.float32) ** 3).astype(np.int32)
    chosen[9::10] = chosen[8::10][: len(chosen[9::10])]
    chosen[9::10, 0] = 9_999 - chosen[9::10, 0]
    return [" ".join([words[word] for word in some]) for some in chosen]


def codes(n: int) -> Any:
    return MinHash(n_hashes=N_HASHES, random_state=0).fit_any_width().encode(rows(n), packed=True)


# ---- works ---------------------------------------------------------------------------------------


def new_map(name: str) -> Any:
    new = getattr(sparsemaps, name)(random_state=0)
    if name == "Fastfood":
        new.set_params(hash_dim=64)
    new.set_size(N_COMPONENTS)
    return new


def transform(name: str, n: int) -> Any:
    X = rows(n)
    return partial(new_map(name).fit(X[:1]).transform, X)


def encode(name: str, n: int) -> Any:
    X = rows(n)
    return partial(new_map(name).fit(X[:1]).encode, X)


def sets_of_words() -> Any:
    return vectorizer_of("word:3", binary=True)


def texts_to_rows(n: int) -> Any:
    return partial(sets_of_words().transform, texts(n))


def texts_to_codes(n: int) -> Any:
    """For 10,000,000 texts, 1,000,000 are made and repeated ten times."""
    some = texts(min(n, 10**6))
    map = MinHash(n_hashes=N_HASHES, random_state=0).fit_any_width()

    def run() -> None:
        given = itertools.chain.from_iterable(itertools.repeat(some, n // len(some)))
        map.encode_texts(sets_of_words(), given)

    return run


def pairs(n: int) -> Any:
    return partial(neighbors.similar_pairs, codes(n), 0.8)


def removals(n: int) -> Any:
    return partial(neighbors.removals, codes(n), 0.8)


@contextmanager
def dedup(n: int) -> Iterator[Any]:
    import orjson

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        path.write_bytes(b"".join(orjson.dumps({"text": text}) + b"\n" for text in texts(n)))
        how = {"resume": False, "progress": False}
        yield lambda: files.deduplicate_files(
            None, str(path), f"{folder}/kept.jsonl", source="word:5", **how
        )


class Insertion:
    """Return rows that are inserted into an index of n rows, one per call."""

    n_calls = 300

    def __init__(self, n: int) -> None:
        X = rows(n + 10 * self.n_calls)
        self.index = KernelNeighbors(MinHash(n_hashes=N_HASHES, random_state=0)).fit(X[:n])
        self.new = [X[i : i + 1] for i in range(n, X.shape[0])]
        self.index.insert_new(self.new.pop(), threshold=0.8)  # makes the tables

    def __call__(self) -> None:
        for _ in range(self.n_calls):
            self.index.insert_new(self.new.pop(), threshold=0.8)


def model(n: int) -> tuple[Any, Any]:
    """Return a model, its codes and their labels, a tenth of which are wrong."""
    rng = np.random.default_rng(0)
    X = rows(n)
    labels = (X[:, [0, 1, 2]].sum(axis=1) > 0) ^ (rng.random(n) < 0.1)
    map = MinHash(n_hashes=N_HASHES, random_state=0)
    packed = map.fit_any_width().encode(X, packed=True)
    return partial(KernelClassifier(map, tol=0.1, random_state=0).fit, packed, labels), packed


def training(n: int) -> Any:
    return model(n)[0]


def labels(n: int) -> Any:
    return partial(model(1000)[0]().predict, codes(n))


MAPS = [name for name in sparsemaps._MAPS if name != "KernelProduct"]
WITH_CODES = [name for name in MAPS if hasattr(getattr(sparsemaps, name)(), "encode")]
WITH_CODES = [name for name in WITH_CODES if name != "RandomFourier"]
PANELS = ("transform", "encode", "texts and jobs", "codes")
WORKS = [
    *(Work(f"transform, {name}", "transform", partial(transform, name)) for name in MAPS),
    *(Work(f"encode, {name}", "encode", partial(encode, name)) for name in WITH_CODES),
    Work("texts to CSR", "texts and jobs", texts_to_rows),
    Work("texts to codes", "texts and jobs", texts_to_codes),
    Work("dedup, file to file", "texts and jobs", dedup),
    Work("similar pairs", "codes", pairs),
    Work("removals", "codes", removals),
    Work("insertion of one row", "codes", Insertion),
    Work("training", "codes", training),
    Work("labels", "codes", labels),
]


# ---- measuring -----------------------------------------------------------------------------------


def cpu_seconds(function: Callable[[], Any]) -> float:
    """Return the least processor time of several runs."""
    times: list[float] = []
    while len(times) < 2 or (len(times) < 5 and sum(times) < ENOUGH):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def measure(work: Work, n: int) -> float:
    """Return nanoseconds per row."""
    gc.collect()
    prepared = work.prepare(n)
    if hasattr(prepared, "__enter__"):
        with prepared as function:
            return 1e9 * cpu_seconds(function) / n
    return 1e9 * cpu_seconds(prepared) / getattr(prepared, "n_calls", n)


LOOPS = r"""
#include <stdint.h>
#include <string.h>
typedef float vector __attribute__((vector_size(64)));

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t hashes(uint64_t n)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < n; i++)
        all ^= mix(all_keys ^ mix(i));
    return all;
}

float sums(uint64_t n)
{
    vector of[12], product = {0}, term = {0};
    for (int j = 0; j < 16; j++)
        product[j] = 0.5f, term[j] = (float)n;
    for (int v = 0; v < 12; v++)
        of[v] = term;
    for (uint64_t i = 0; i < n; i++)
        for (int v = 0; v < 12; v++)
            of[v] = of[v] * product + term;
    for (int v = 1; v < 12; v++)
        of[0] += of[v];
    return of[0][0];
}

void copy(double *to, const double *from, uint64_t n)
{
    memcpy(to, from, n * sizeof *to);
}
""".replace("all_keys", "0x123456789abcdefu")
"""Loops that do only one thing, compiled for this machine: the hash of a column (`column_start`),
an unfused multiplication and addition of float32, and STREAM's copy."""


def limits(folder: Path) -> dict[str, float]:
    """Return the machine's rate per nanosecond, in one thread, for each of `UNITS`."""
    library = folder / "limits.so"
    flags = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", "-xc"]
    subprocess.run(["cc", *flags, "-", "-o", str(library)], input=LOOPS.encode(), check=True)
    loops = ctypes.CDLL(str(library))
    loops.hashes.restype, loops.sums.restype = ctypes.c_uint64, ctypes.c_float
    n = 2**23
    source = np.ones(n)
    target = source.copy()
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in (target, source)]
    length = ctypes.c_uint64(n)

    def fastest(function: Callable[[], Any]) -> float:
        return min(cpu_seconds(function) for _ in range(10))

    return {
        "bytes": 16 * n / fastest(lambda: loops.copy(*addresses, length)) / 1e9,
        "hashes": n / fastest(lambda: loops.hashes(length)) / 1e9,
        "sums": 12 * 16 * n / fastest(lambda: loops.sums(length)) / 1e9,
    }


class Limited(NamedTuple):
    """A task, its time in ns, and how much of each of the `limits` it needs at least."""

    name: str
    time: float
    amount: float
    limit: str


def limited(times: dict[tuple[str, int], float]) -> Iterator[Limited]:
    n = 10**6
    read = N_ENTRIES * 8 + 4
    per_row = {
        "transform, CountSketch": read + N_ENTRIES * 8 + 4,
        "transform, RandomProjection": read + 4 * N_COMPONENTS,
        "encode, MinHash": read + N_COMPONENTS,
        "labels": N_HASHES + 16,
    }
    for name, amount in per_row.items():
        if (name, n) in times:
            yield Limited(f"{name}, {n:,} rows", times[name, n], amount, "bytes")
    rng = np.random.default_rng(0)
    members = np.sort(rng.choice(2**31 - 2, 200_000, replace=False))
    sets = sp.csr_array((np.ones(len(members)), members, [0, len(members)]), (1, 2**31 - 1))
    seconds = cpu_seconds(partial(MinHash(n_hashes=128, random_state=0).fit(sets).encode, sets))
    yield Limited(
        "MinHash, a member of a set of 200,000", 1e9 * seconds / len(members), 1, "hashes"
    )
    dense = np.ones((4000, 85), np.float32)
    X = sp.csr_array(dense)
    for map in (RandomProjection(n_components=512), SignProjection(n_hashes=512)):
        call = map.fit(X).transform if isinstance(map, RandomProjection) else map.fit(X).encode
        name = f"{type(map).__name__}, 85 entries to 512"
        seconds = cpu_seconds(partial(call, X))
        yield Limited(name, 1e9 * seconds / len(dense), 85 * 512, "sums")


UNITS = {
    "bytes": "bytes read and written", "hashes": "hashes of columns",
    "sums": "multiplications and additions",
}  # fmt: skip


def write_limits(path: Path, times: dict[tuple[str, int], float]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        most = limits(Path(folder))
    notes = (
        f"One thread of this machine does at most this much in a nanosecond: "
        f"{most['bytes']:.1f} bytes read "
        f"and written by a copy (STREAM's), {most['hashes']:.2f} hashes of columns, "
        f"{most['sums']:.0f} multiplications of float32 with an addition, not fused. The last "
        "column is the least time by that limit, divided by the measured time."
    )
    header = ("work", "measured, ns", "needs", "least, ns", "share of the limit")
    table = []
    for one in limited(times):
        least = one.amount / most[one.limit]
        needs = f"{one.amount:,} {UNITS[one.limit]}" if one.amount != 1 else "1 hash of a column"
        table.append(
            (one.name, f"{one.time:.3g}", needs, f"{least:.3g}", f"{least / one.time:.0%}")
        )
    report.write_table(path, "Limits of the machine", header, table, notes)


# ---- results -------------------------------------------------------------------------------------


def read_times(path: Path) -> dict[tuple[str, int], float]:
    if not path.exists():
        return {}
    with open(path, encoding="utf-8") as file:
        return {(r["work"], int(r["rows"])): float(r["ns a row"]) for r in csv.DictReader(file)}


def draw(times: dict[tuple[str, int], float], path: Path) -> None:
    with report.plt.rc_context(report.STYLE):
        figure, axes = report.plt.subplots(
            4, 1, figsize=(5.2, 13), layout="constrained"
        )  # narrow enough for a phone
        for panel, ax in zip(PANELS, axes, strict=True):
            for number, work in enumerate(work for work in WORKS if work.panel == panel):
                found = {n: ns / 1000 for (name, n), ns in times.items() if name == work.name}
                label = work.name.rpartition(", ")[2] if panel in PANELS[:2] else work.name
                style = {"marker": "osv^Dx"[number % 6], "markersize": 4, "linewidth": 1}
                ax.plot(found.keys(), found.values(), label=label, **style)
            ax.set(title=panel, xscale="log", yscale="log")
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            ax.yaxis.set_minor_formatter(NullFormatter())
            ax.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.2))
        axes[1].set_ylim(axes[0].get_ylim())
        for ax in axes:
            ax.set(xlabel="rows", ylabel="µs a row, one thread")
        report.save(figure, path, "What a row costs")
    path.with_suffix(".md").unlink()  # the page shows the plot itself


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.growth", description=__doc__)
    parser.add_argument("-o", "--results", type=Path, required=True, help="where results go")
    parser.add_argument("--only", default="", metavar="REGEX", help="works whose names match")
    parser.add_argument("--from", type=float, default=1e3, metavar="ROWS", dest="least")
    parser.add_argument("--to", type=float, default=1e7, metavar="ROWS", dest="most")
    options = parser.parse_args(arguments)
    path = options.results / "growth"
    times = read_times(path.with_suffix(".csv"))
    for work in WORKS:
        for n in SIZES:
            is_asked = options.least <= n <= options.most
            if is_asked and re.search(options.only, work.name):
                times[work.name, n] = measure(work, n)
                print(f"{work.name}, {n:,} rows: {times[work.name, n]:,.0f} ns a row", flush=True)
    order = {work.name: number for number, work in enumerate(WORKS)}
    times = dict(sorted(times.items(), key=lambda item: (order[item[0][0]], item[0][1])))
    rows_of_csv = [(name, n, f"{ns:.4g}") for (name, n), ns in times.items()]
    report.write_csv(path, ("work", "rows", "ns a row"), rows_of_csv)
    draw(times, path)
    write_limits(options.results / "growth-limits", times)


if __name__ == "__main__":
    main()
