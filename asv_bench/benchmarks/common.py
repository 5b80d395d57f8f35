"""Workloads, and the three measurements of every map.

The workloads are synthetic and seeded; only their shape matters. Ratios are against a peer in the
same process, in alternating runs of which the fastest count, because absolute times drift.
"""

import time
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

ZIPF = 1.1


def _csr(rng, n_rows, n_columns, mean_length, weights=None, binary=False):
    """Return rows of Poisson lengths, with columns drawn uniformly or by `weights`."""
    lengths = np.maximum(rng.poisson(mean_length, n_rows), 1)
    edges = None if weights is None else np.cumsum(weights) / np.sum(weights)
    rows = []
    for length in lengths:
        if edges is None:
            columns = np.unique(rng.integers(0, n_columns, length))
        else:
            columns = np.unique(np.searchsorted(edges, rng.random(length)))
        rows.append(columns)
    indptr = np.cumsum([0] + [len(row) for row in rows])
    values = np.ones(indptr[-1]) if binary else rng.gamma(1.0, size=indptr[-1])
    return sp.csr_matrix((values, np.concatenate(rows), indptr), shape=(n_rows, n_columns))


@lru_cache
def workload(name, n_rows=None):
    """W1 web-spam unigrams, W2 rcv1-like, W3 web-spam trigrams, W4 mnist-like, W5 adult-like."""
    rng = np.random.default_rng(0)
    if name == "W1":
        return _csr(rng, n_rows or 20_000, 254, 104)
    if name == "W2":
        weights = 1 / np.arange(1, 47_237) ** ZIPF
        return _csr(rng, n_rows or 20_000, 47_236, 110, rng.permutation(weights))
    if name == "W3":
        return _csr(rng, n_rows or 200, 16_609_143, 3_700)
    if name == "W4":
        return _csr(rng, n_rows or 10_000, 780, 166)
    if name == "W5":
        return _csr(rng, n_rows or 48_842, 123, 14.8, binary=True)
    raise ValueError(name)


def fastest(*functions, repeats=3, seconds=2):
    """Return the seconds of the fastest run of each function. The functions run in turn, at least
    `repeats` times, and more often if that takes less than `seconds`, so that each has a moment
    when the machine is otherwise idle."""
    times = [[] for _ in functions]
    began = time.perf_counter()
    while len(times[0]) < repeats or time.perf_counter() < began + seconds:
        for function, of_it in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            of_it.append(time.perf_counter() - start)
    return [min(of_it) for of_it in times]


def ratio(peer, ours, **often):
    """Return how many times faster `ours` is."""
    of_peer, of_ours = fastest(peer, ours, **often)
    return of_peer / of_ours


class MapBenchmark:
    """Base class: time, memory and ratio of one map over workloads. It defines no benchmark itself.

    A subclass defines `params` (workloads) and ``make()``, and selects methods: ``time_transform =
    MapBenchmark._time_transform`` and so on.
    """

    param_names = ("workload",)
    timeout = 600
    # Fewer rows per workload, by name, so that a smoke run of all benchmarks takes minutes.
    rows = {"W1": 5_000, "W2": 5_000, "W3": 50, "W4": 2_500, "W5": 10_000}  # noqa: RUF012

    def make(self, *parameters):
        raise NotImplementedError

    def setup(self, name, *parameters, dtype="float64"):
        self.X = workload(name, self.rows.get(name)).astype(dtype)
        self.map = self.make(*parameters).fit(self.X)
        self.map.transform(self.X[:10])

    def _time_transform(self, *_):
        self.map.transform(self.X)

    def _peakmem_transform(self, *_):
        self.map.transform(self.X)

    def _time_encode(self, *_):
        self.map.encode(self.X)
