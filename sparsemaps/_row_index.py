"""Rows that are kept by their packed codes: added, removed, saved, and searched."""

import os
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from sparsemaps import _config, _files, _search, _sklearn, _threads, _validation
from sparsemaps._base import SparseMap
from sparsemaps._packed import PackedCodes
from sparsemaps._parameters import ParameterError
from sparsemaps._typing import Array, MatrixLike

_SAVED_PARAMETERS = ("n_neighbors", "radius", "algorithm", "recall", "rerank")

_ROWS_ENDING = ".rows.npz"

_RERANKED_QUERIES = 64
"""Queries whose candidates are compared exactly at a time."""


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
        rows = _validation.own_rows(X) if self.rerank else None
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
        rows = None if self._rows is None else _validation.own_rows(X)
        more = self.map_.encode(X, packed=True)
        self.codes_ = PackedCodes(
            np.concatenate([self.codes_.array, more.array]),
            more.bits,
            self.codes_.config,
            n_hashes=more.n_hashes,
            sampled=np.concatenate([self.codes_.sampled, more.sampled]),
        )
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
        with _files.atomic_output(path + _ROWS_ENDING) as file:  # appears after the codes
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
        parameters = {"map": _config.from_config(codes.config), **parameters}
        index = cls(**parameters)
        index._check_parameters()
        index.map_, index.codes_ = index.map, codes
        width = index.map_._n_columns or 1
        made = index.map_.encode(sp.csr_array((1, width)), packed=True)
        if (made.bits, made.n_hashes, made.shape[1]) != (
            codes.bits,
            codes.n_hashes,
            codes.shape[1],
        ):
            raise ValueError(f"{path} is damaged: its codes are not those of its map")
        index._rows = _load_rows(path + _ROWS_ENDING, len(codes)) if index.rerank else None
        return index._count()

    # ---- parts -----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if not isinstance(self.map, SparseMap) or not self.map.has_codes:
            raise ParameterError("map", repr(self.map), "a map with encode")
        _validation.check_int("n_neighbors", self.n_neighbors, 1, 2**31 - 1)
        if self.radius is not None:
            self._radius(self.radius)
        _validation.check_choice("algorithm", self.algorithm, ("auto", "brute", "lsh"))
        _search.check_share("recall", self.recall)
        _validation.check_bool("rerank", self.rerank)
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
        radius = _validation.check_real("radius", radius, 0)
        if radius >= 1:
            raise ParameterError("radius", str(radius), "at least 0 and below 1")
        return radius

    def _similarities(self, queries: PackedCodes) -> Array:
        return np.asarray(queries.kernel(np.arange(queries.n_hashes + 1)))

    def _similar(
        self, codes: PackedCodes, other: PackedCodes | None, radius: float
    ) -> tuple[Array, Array, Array]:
        recall = 1.0 if self.algorithm == "brute" else self.recall
        if other is None:
            searched = _search.operand(codes, codes.array, codes.bits, codes.n_hashes)
            others = None
        else:
            searched, others = _search.operands(("X", "the index"), codes, other, None, None)
        return _search.similar(codes, searched, others, 1 - radius, recall, 1000, self.n_jobs)

    def _nearest(self, queries: PackedCodes, k: int) -> tuple[Array, Array]:
        codes, others = _search.operands(("the index", "X"), self.codes_, queries, None, None)
        if self.algorithm != "lsh":
            return _search.nearest(others, codes, k, self.n_jobs)
        # Queries with enough neighbours among similar rows are done; the others see all rows.
        found = self._similar(queries, self.codes_, 0.5)
        n_found = np.bincount(found[0], minlength=len(queries))
        few = np.flatnonzero(n_found < k)
        indices = np.full((len(queries), k), -1, np.int64)
        agreements = np.zeros((len(queries), k), np.int32)
        counts = np.searchsorted(self._similarities(queries), found[2] - 1e-12)
        order = np.lexsort((found[1], -counts, found[0]))
        first = np.concatenate([[0], np.cumsum(n_found)])[:-1]
        done = np.flatnonzero(n_found >= k)
        places = order[first[done, None] + np.arange(k)]
        indices[done], agreements[done] = found[1][places], counts[places]
        rest = others._replace(array=others.array[few], sampled=others.sampled[few])
        indices[few], agreements[few] = _search.nearest(rest, codes, k, self.n_jobs)
        return indices, agreements

    def _exact_distances(self, X: MatrixLike | None, indices: Array, distances: Array) -> Array:
        """Distances by the exact kernel, in place of finite ones."""
        rows = self._rows if X is None else _validation.own_rows(X)
        exact = distances.copy()
        for start in range(0, len(indices), _RERANKED_QUERIES):
            some = slice(start, start + _RERANKED_QUERIES)
            finite = np.isfinite(distances[some])
            candidates, where = np.unique(indices[some][finite], return_inverse=True)
            if len(candidates):
                K = self.map_.exact_kernel(rows[some], self._rows[candidates])
                exact[some][finite] = 1 - K[np.nonzero(finite)[0], where]
        return exact


def _load_rows(path: str, n_rows: int) -> Any:
    """The rows of an index, as sound CSR."""
    with _files.arrays_of(f"{path} holds no sound sparse matrix"), open(path, "rb") as file:
        rows = _validation.sound_matrix(sp.load_npz(file), "the matrix")
    if rows.shape[0] != n_rows:
        raise ValueError(f"{path} must have the {n_rows} rows of the index, got {rows.shape[0]}")
    return rows


def exact_pairs(map: Any, X: Any, Y: Any, i: Array, j: Array) -> Array:
    """The exact kernel of row i of `X` and row j of `Y`, of CSR, i ascending."""
    kernel = np.empty(len(i))
    starts = np.arange(0, X.shape[0], _RERANKED_QUERIES)
    ends = np.append(np.searchsorted(i, starts[1:]), len(i))
    for first, last in zip(np.searchsorted(i, starts), ends, strict=True):
        if last > first:
            queries, row = np.unique(i[first:last], return_inverse=True)
            others, column = np.unique(j[first:last], return_inverse=True)
            kernel[first:last] = map.exact_kernel(X[queries], Y[others])[row, column]
    return kernel
