"""Rows that are kept by their packed codes: added, removed, saved, and searched."""

import os
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from sparsemaps._input import _sparse
from sparsemaps._tools import _checks, _output_files, _sklearn, _text_input, _threads
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.codes import _packed
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.maps import _config
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.neighbors import _search

_SAVED_PARAMETERS = ("n_neighbors", "radius", "algorithm", "recall", "rerank")

_ROWS_ENDING = ".rows.npz"

_RERANKED_QUERIES = 64
"""Queries whose candidates are compared exactly at a time."""

_PAIRS = 2**15
"""Pairs of them at most."""

_CANDIDATES = 2**22
"""Candidates that are held at a time."""

_MAX_BUCKET = 1000
"""As in `sparsemaps.neighbors.similar_pairs`."""

_SIMILAR = 0.5
"""The least similarity of the rows that "lsh" looks at before all rows."""


class RowIndex(_sklearn.TransformerMixin, _sklearn.BaseEstimator):
    """The codes and rows of a `sparsemaps.neighbors.KernelNeighbors`, and search among them."""

    map: Any
    n_neighbors: int
    radius: float | None
    algorithm: str
    recall: float
    rerank: bool
    n_jobs: int | None
    map_: Any
    codes_: PackedCodes
    n_samples_fit_: int
    _rows: Any  # as CSR, or None

    # ---- rows ------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: Any = None) -> Self:
        """Make an index of the rows of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        self._check_parameters()
        rows = _sparse.own_rows(X) if self.rerank else None
        fitted = _sklearn.clone(self.map).fit(X)
        self.codes_ = fitted.encode(X, packed=True)
        self.map_, self._rows = fitted, rows
        return self._count()

    def partial_fit(self, X: MatrixLike, y: Any = None) -> Self:
        """Add the rows of `X`, whose numbers follow those of the rows before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        if not hasattr(self, "codes_"):
            return self.fit(X)
        rows = None if self._rows is None else _sparse.own_rows(X)
        self.codes_ = _packed.joined([self.codes_, self.map_.encode(X, packed=True)])
        if self._rows is not None:
            self._rows = sp.csr_array(sp.vstack([self._rows, rows]))
        return self._count()

    def remove(self, ids: Array) -> Self:
        """Remove rows by their numbers: they are no longer found.

        Parameters
        ----------
        ids : array-like of int
            Numbers of rows. To remove a row again does nothing.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If there is no such row.
        """
        _sklearn.check_is_fitted(self, "codes_")
        ids = np.atleast_1d(np.asarray(ids))
        if ids.size and ids.dtype.kind not in "iu":
            raise ValueError(f"ids must be integers, got an array of {ids.dtype}")
        wrong = ids[(ids < 0) | (ids >= self.n_samples_fit_)] if ids.size else ids
        if wrong.size:
            raise ValueError(f"ids must be from 0 to {self.n_samples_fit_ - 1}, got {wrong[0]}")
        self.codes_.sampled = self.codes_.sampled.copy()
        self.codes_.sampled[ids.astype(np.int64)] = False
        return self

    # ---- files -----------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Write the index to a file for `load`; with `rerank`, its rows to ``path + ".rows.npz"``.

        Parameters
        ----------
        path : str or path-like
            The file; its name usually ends in ".npy".
        """
        _sklearn.check_is_fitted(self, "codes_")
        path = os.fspath(path)
        about = {"index": {name: getattr(self, name) for name in _SAVED_PARAMETERS}}
        if self._rows is None:
            self.codes_.save(path, about)
            return
        with _output_files.atomic_output(path + _ROWS_ENDING) as file:  # appears after the codes
            sp.save_npz(file, self._rows, compressed=False)
            self.codes_.save(path, about)

    @classmethod
    def load(cls, path: Any, *, mmap_mode: str | None = "r") -> Self:
        """Open an index that was saved; its codes are mapped into memory.

        Parameters
        ----------
        path : str or path-like
            The file.
        mmap_mode : {"r", "c"} or None, default="r"
            As in ``numpy.load``; None reads the codes.

        Returns
        -------
        index : KernelNeighbors

        Raises
        ------
        ValueError
            If the file does not hold an index, is cut short, or has another scheme of random
            numbers.
        """
        path = os.fspath(path)
        codes, about = PackedCodes._open(path, mmap_mode)
        if "index" not in about:
            raise ValueError(f"{path} holds packed codes and no index: use PackedCodes.load")
        parameters = about["index"]
        if not isinstance(parameters, dict) or set(parameters) != set(_SAVED_PARAMETERS):
            raise ValueError(f"{path} is damaged: its parameters cannot be read")
        try:
            index = cls(**{"map": _config.from_config(codes.config), **parameters})
            index._check_parameters()
        except (ValueError, OverflowError, RecursionError) as error:
            raise ValueError(f"{path} is damaged: {error}") from None
        index.map_, index.codes_ = index.map, codes
        if not _are_codes_of(codes, index.map_):
            raise ValueError(f"{path} is damaged: its codes are not those of its map")
        index._rows = _load_rows(path + _ROWS_ENDING, len(codes)) if index.rerank else None
        return index._count()

    # ---- parts -----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if not isinstance(self.map, SparseMap) or not self.map.has_codes:
            raise ParameterError("map", repr(self.map), "a map with encode")
        _checks.check_int("n_neighbors", self.n_neighbors, 1, 2**31 - 1)
        if self.radius is not None:
            self._radius(self.radius)
        _checks.check_choice("algorithm", self.algorithm, ("auto", "brute", "lsh"))
        _search.check_share("recall", self.recall)
        _checks.check_bool("rerank", self.rerank)
        _threads.resolve_n_jobs(self.n_jobs)

    def _count(self) -> Self:
        self.n_samples_fit_ = len(self.codes_)
        self.n_features_in_ = self.map_._n_columns
        return self

    def _queries(self, X: MatrixLike | None) -> PackedCodes:
        _sklearn.check_is_fitted(self, "codes_")
        self._check_parameters()
        if X is None:
            return self.codes_
        queries: PackedCodes = self.map_.encode(X, packed=True)
        return queries

    def _radius(self, radius: float | None) -> float:
        radius = self.radius if radius is None else radius
        radius = _checks.check_real("radius", radius, 0)
        if radius >= 1:
            raise ParameterError("radius", str(radius), "at least 0 and below 1")
        return radius

    @property
    def _recall(self) -> float:
        return 1.0 if self.algorithm == "brute" else self.recall

    def _rows_of(self, X: MatrixLike | None) -> Any:
        """The queries as CSR."""
        return self._rows if X is None else _sparse.own_rows(X)

    def _similar(
        self, X: MatrixLike | None, queries: PackedCodes, threshold: float
    ) -> tuple[Array, Array, Array]:
        """Pairs of a query and a row whose similarity is at least `threshold`; if `X` is None, of
        two rows."""
        other = None if X is None else self.codes_
        if not self.rerank:
            return _search.similar(
                queries, other, threshold, self._recall, _MAX_BUCKET, self.n_jobs
            )
        i, j = _search.candidates(queries, other, threshold, self._recall, self.n_jobs)
        rows = self._rows_of(X)
        similarity = exact_pairs(self.map_, rows, self._rows, i, j)
        kept = similarity >= threshold - 1e-12
        return i[kept], j[kept], similarity[kept]

    def _nearest(self, queries: PackedCodes, k: int) -> tuple[Array, Array]:
        """As `_search.nearest`; by "lsh", of queries with enough similar rows, these."""
        codes, n_hashes = self.codes_, queries.n_hashes
        if self.algorithm != "lsh":
            return _search.nearest(queries, codes, k, self.n_jobs)
        least = _search.least_agreeing(queries, _SIMILAR)
        i, j, differing = _search.pairs_of(
            queries, codes, least, self.recall, _MAX_BUCKET, self.n_jobs
        )
        n_found = np.bincount(i, minlength=len(queries))
        indices = np.full((len(queries), k), -1, np.int64)
        agreements = np.zeros((len(queries), k), np.int32)
        order = np.lexsort((j, differing, i))
        first = np.concatenate([[0], np.cumsum(n_found)])[:-1]
        complete = np.flatnonzero(n_found >= k)
        places = order[first[complete, None] + np.arange(k)]
        indices[complete], agreements[complete] = j[places], n_hashes - differing[places]
        few = np.flatnonzero(n_found < k)
        indices[few], agreements[few] = _search.nearest(queries[few], codes, k, self.n_jobs)
        return indices, agreements

    def _nearest_by_estimate(self, queries: PackedCodes, k: int) -> tuple[Array, Array]:
        """Of each query, the k nearest rows and their distances, ascending."""
        indices, agreements = self._nearest(queries, k)
        distances = np.full(indices.shape, np.inf)
        row, place = np.nonzero(indices >= 0)
        differing = queries.n_hashes - agreements[row, place].astype(np.int64)
        distances[row, place] = 1 - _search.estimates(
            queries, self.codes_, row, indices[row, place], differing
        )
        return _by_distance(indices, distances, k)

    def _nearest_by_kernel(
        self, X: MatrixLike | None, queries: PackedCodes, k: int
    ) -> tuple[Array, Array]:
        """The same by the exact kernel of candidates, which are taken by the codes.

        Of queries that may have nearer rows beyond their candidates, four times as many are taken,
        until the recall is reached.
        """
        rows = self._rows_of(X)
        indices = np.full((len(queries), k), -1, np.int64)
        distances = np.full((len(queries), k), np.inf)
        left, n = np.arange(len(queries)), 4 * k + 16
        while len(left):
            n = min(n, self.n_samples_fit_)
            incomplete = []
            step = max(1, _CANDIDATES // n)
            for some in np.split(left, range(step, len(left), step)):
                found, agreements = self._nearest(queries[some], n)
                exact = np.full(found.shape, np.inf)
                row, place = np.nonzero(found >= 0)
                exact[row, place] = 1 - exact_pairs(
                    self.map_, rows[some], self._rows, row, found[row, place]
                )
                indices[some], distances[some] = _by_distance(found, exact, k)
                missing = (found[:, -1] >= 0) & _search.may_be_missing(
                    queries, agreements[:, -1], 1 - distances[some, -1], self._recall
                )
                incomplete.append(some[missing])
            if n == self.n_samples_fit_:
                break
            left, n = np.concatenate(incomplete), 4 * n
        return indices, distances


def _by_distance(indices: Array, distances: Array, k: int) -> tuple[Array, Array]:
    """The k nearest of each row in ascending order, equal ones by their numbers."""
    order = np.lexsort((indices, distances), axis=1)[:, :k]
    return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)


def _are_codes_of(codes: PackedCodes, map: Any) -> bool:
    """Whether codes have the form of those of a map."""
    if map._size != codes.n_hashes:  # before rows of that size are made
        return False
    made = map.encode(sp.csr_array((1, map._n_columns or 1)), packed=True)
    return bool((made.bits, made._facts()) == (codes.bits, codes._facts())) and (
        made.shape[1] == codes.shape[1]
    )


def _load_rows(path: str, n_rows: int) -> Any:
    """The rows of an index, as sound CSR."""
    with _text_input.arrays_of(f"{path} holds no sound sparse matrix"), open(path, "rb") as file:
        rows = _sparse.sound_matrix(sp.load_npz(file), "the matrix")
    if rows.shape[0] != n_rows:
        raise ValueError(f"{path} must have the {n_rows} rows of the index, got {rows.shape[0]}")
    return rows


def exact_pairs(map: Any, X: Any, Y: Any, i: Array, j: Array) -> Array:
    """The exact kernel of row i of `X` and row j of `Y`, of CSR, i ascending."""
    kernel = np.empty(len(i))
    first = 0
    while first < len(i):
        last = first + _PAIRS
        last = first + int(np.searchsorted(i[first:last], i[first] + _RERANKED_QUERIES))
        queries, row = np.unique(i[first:last], return_inverse=True)
        others, column = np.unique(j[first:last], return_inverse=True)
        A, B = _on_few_columns(X[queries], Y[others])
        kernel[first:last] = map._fitted()._exact_kernel(A, B)[row, column]
        first = last
    return kernel


def _on_few_columns(A: Any, B: Any) -> tuple[Any, Any]:
    """Rows on the columns that they have entries in: a kernel does not depend on which these are,
    and memory not on how many others there are."""
    columns, indices = np.unique(np.concatenate([A.indices, B.indices]), return_inverse=True)
    width = max(1, len(columns))
    ends = A.nnz
    return (
        sp.csr_array((A.data, indices[:ends], A.indptr), shape=(A.shape[0], width)),
        sp.csr_array((B.data, indices[ends:], B.indptr), shape=(B.shape[0], width)),
    )
