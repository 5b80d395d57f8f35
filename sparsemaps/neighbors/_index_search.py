"""Queries to an index: codes choose candidates, and estimates or the exact kernel decide."""

from typing import Any, NamedTuple

import numpy as np
import scipy

from sparsemaps._tools._portable_math import weighted_sum
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes, gathered
from sparsemaps.neighbors import _bands, _brute, _search
from sparsemaps.neighbors._exact import exact_pairs, remembered_kernel
from sparsemaps.neighbors._hashing import SearchRun
from sparsemaps.neighbors._index_rows import IndexRows, State, Target

_CANDIDATES = 2**22
"""Candidates in memory at a time."""


class IndexSearch(NamedTuple):
    """The rows of an index, and the parameters of a search.

    Queries are packed codes. If the exact kernel decides, callers also pass the query rows as CSR.
    """

    map: Any
    """The fitted map."""
    index_rows: IndexRows
    by_tables: bool
    """Whether to use tables for nearest neighbours too (algorithm "lsh")."""
    recall: float
    rerank: bool
    """Whether the exact kernel decides."""
    least_similarity: float
    """Least similarity for which tables are built."""
    n_jobs: int | None

    def target(self, threshold: float) -> Target:
        """Return the number of agreeing codes and the recall at which tables find rows of a
        similarity."""
        codes = self.index_rows.like
        if self.rerank:
            return Target(*_search.for_candidates(codes, threshold, self.recall))
        return Target(_search.least_agreeing(codes, threshold), self.recall)

    def similar_to(
        self, queries: PackedCodes, rows: object, threshold: float, inserts: bool = False
    ) -> tuple[Array, Array, Array]:
        """Return pairs of a query and a row whose similarity is at least `threshold`. Set `inserts`
        if queries without a pair will be inserted."""
        target = self.target(_search.check_share("threshold", threshold))
        state, i, j, differing = self.index_rows.similar_to(queries, target, self.n_jobs, inserts)
        if state.rows is not None:
            similarity = exact_pairs(self.map, rows, state.rows, i, j)
        else:
            similarity = self._estimates(queries, state, i, j, differing)
        kept = _search.reaches(similarity, threshold)
        return i[kept], j[kept], similarity[kept]

    def similar_pairs(
        self, codes: PackedCodes, rows: Any, threshold: float
    ) -> tuple[Array, Array, Array]:
        """Return pairs of rows of the index whose similarity is at least `threshold`."""
        limits = SearchRun(n_jobs=self.n_jobs)
        if not self.rerank:
            return _search.similar_codes(codes, None, threshold, self.recall, limits)
        kernel = remembered_kernel(self.map, rows, rows)
        i, j = _search.filtered(
            codes, None, *_search.for_candidates(codes, threshold, self.recall),
            _search.filter_for(kernel, threshold), limits,
        )  # fmt: skip
        return i, j, kernel(i, j)

    def nearest(self, queries: PackedCodes, rows: object, k: int) -> tuple[Array, Array]:
        """Return the k nearest rows of each query and their distances, ascending."""
        if self.rerank:
            return self._nearest_by_kernel(queries, rows, k)
        state, indices, agreements = self._nearest_codes(queries, k)
        distances = np.full(indices.shape, np.inf)
        row, place = np.nonzero(indices >= 0)
        differing = queries.n_hashes - agreements[row, place].astype(np.int64)
        distances[row, place] = 1 - self._estimates(
            queries, state, row, indices[row, place], differing
        )
        return _by_distance(indices, distances, k)

    def recall_at(self, similarity: float) -> float:
        """Return the probability that the present tables find a row of this similarity."""
        n_hashes = self.index_rows.like.n_hashes
        target = self.target(self.least_similarity)
        wanted = self.target(_search.check_share("similarity", similarity))
        bands = self.index_rows.serving(target).bands
        if not self.rerank:
            return 1.0 if bands is None else _bands.recall_of(bands, n_hashes, wanted.least)
        counts = np.arange(target.least, n_hashes + 1)
        rate = float(self.index_rows.like.law.least_rate(similarity))
        shares = scipy.stats.binom.pmf(counts, n_hashes, rate)
        if bands is None:
            return float(shares.sum())
        recalls = [_bands.recall_of(bands, n_hashes, int(count)) for count in counts]
        return weighted_sum(shares, np.array(recalls))

    def _estimates(
        self, queries: PackedCodes, state: State, i: Array, j: Array, differing: Array
    ) -> Array:
        """Return the estimates for pairs of a query and a row that differ in `differing` codes."""
        if not queries.law.needs_parts:
            return _search.estimates_of_pairs(queries, queries, i, j, differing)
        numbers, place = np.unique(j, return_inverse=True)
        rows = gathered(self.index_rows.codes(state), numbers)
        return _search.estimates_of_pairs(queries, rows, i, place, differing)

    def _nearest_codes(self, queries: PackedCodes, k: int) -> tuple[State, Array, Array]:
        """Return the k rows that agree with each query in the most codes: indices and agreements.

        Tables answer queries that have k rows of the least similarity; other queries are compared
        with all rows.
        """
        state, few = self.index_rows.state, np.arange(len(queries))
        indices = np.full((len(queries), k), -1, np.int64)
        agreements = np.zeros((len(queries), k), np.int32)
        if self.by_tables:
            target = Target(_search.least_agreeing(queries, self.least_similarity), self.recall)
            state, i, j, differing = self.index_rows.similar_to(queries, target, self.n_jobs)
            n_similar = np.bincount(i, minlength=len(queries))
            order = np.lexsort((j, differing, i))
            first = np.concatenate([[0], np.cumsum(n_similar)])[:-1]
            rows = np.flatnonzero(n_similar >= k)
            places = order[first[rows, None] + np.arange(k)]
            indices[rows], agreements[rows] = j[places], queries.n_hashes - differing[places]
            few = np.flatnonzero(n_similar < k)
        if len(few):
            codes = self.index_rows.codes(state)
            indices[few], agreements[few] = _brute.nearest(queries[few], codes, k, self.n_jobs)
        return state, indices, agreements

    def _nearest_by_kernel(self, queries: PackedCodes, rows: Any, k: int) -> tuple[Array, Array]:
        """Return the nearest rows by the exact kernel, among candidates chosen by codes.

        The number of candidates is quadrupled for queries that may have nearer rows among the
        others, until the recall is reached.
        """
        n_rows = self.index_rows.state.n_rows
        indices = np.full((len(queries), k), -1, np.int64)
        distances = np.full((len(queries), k), np.inf)
        left, n = np.arange(len(queries)), 4 * k + 16
        while len(left):
            n = min(n, n_rows)
            incomplete = []
            step = max(1, _CANDIDATES // n)
            for some in np.split(left, range(step, len(left), step)):
                state, candidates, agreements = self._nearest_codes(queries[some], n)
                exact = np.full(candidates.shape, np.inf)
                row, place = np.nonzero(candidates >= 0)
                exact[row, place] = 1 - exact_pairs(
                    self.map, rows[some], state.rows, row, candidates[row, place]
                )
                indices[some], distances[some] = _by_distance(candidates, exact, k)
                missing = (candidates[:, -1] >= 0) & _search.may_be_missing(
                    queries, agreements[:, -1], 1 - distances[some, -1], self.recall
                )
                incomplete.append(some[missing])
            if n == n_rows:
                break
            left, n = np.concatenate(incomplete), 4 * n
        return indices, distances


def _by_distance(indices: Array, distances: Array, k: int) -> tuple[Array, Array]:
    """Return the k nearest rows of each query, ascending by distance, ties by number."""
    order = np.lexsort((indices, distances), axis=1)[:, :k]
    return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)
