"""An index of rows by their packed codes, with the methods of scikit-learn's NearestNeighbors."""

import os
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from sparsemaps import _config, _search, _sklearn, _threads, _validation
from sparsemaps._packed import PackedCodes
from sparsemaps._typing import Array, Matrix, MatrixLike

_RERANKED_QUERIES = 64
"""Queries whose candidates are compared exactly at a time."""


class KernelNeighbors(_sklearn.TransformerMixin, _sklearn.BaseEstimator):  # type: ignore[misc]
    """Nearest neighbours by a kernel, from packed codes: an index of a few bytes a row.

    Parameters
    ----------
    map : sampled map
        The map whose codes are compared, such as `MinHash` or `ConsistentWeightedSampling`; its
        kernel is the similarity. It is cloned and fitted by ``fit``.
    n_neighbors : int, default=5
        How many neighbours ``kneighbors`` returns.
    radius : float or None, default=None
        The distance up to which ``radius_neighbors`` returns neighbours. Where it is given,
        ``transform`` returns the graph of radius neighbours, otherwise that of nearest ones.
    algorithm : {"auto", "brute", "lsh"}, default="auto"
        "brute" compares all codes, and finds all neighbours. "lsh" hashes bands of codes and finds
        a neighbour with probability `recall` at least. "auto" compares all codes for nearest
        neighbours, and takes what costs less for radius neighbours and pairs.
    recall : float, default=0.95
        Above 0, at most 1. Of "lsh".
    rerank : bool, default=False
        Keep the rows, and order candidates by the exact kernel: distances are exact then.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The answers do not depend on it.

    Attributes
    ----------
    map_ : sampled map
        The fitted map.
    codes_ : PackedCodes
        The codes of the rows; those of removed rows remain, but count as rows without samples.
    n_samples_fit_ : int
        How many rows there are, with those that were removed.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    The distance is 1 - kernel, of the estimate where `rerank` is False; an estimate above 1 or a
    kernel below 0 does not occur as a distance below 0, but may as one above 1. A row is named by
    its number in the order in which rows were added, which removing others does not change. Rows
    without samples are nobody's neighbours, and have none: index -1 and an infinite distance
    stand where there are fewer neighbours than were asked for.

    See Also
    --------
    sparsemaps.neighbors.top_k, sparsemaps.neighbors.similar_pairs : The same for codes.
    sklearn.neighbors.NearestNeighbors : Exact neighbours by a metric.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.neighbors import KernelNeighbors
    >>> X, y = load_digits(return_X_y=True)
    >>> index = KernelNeighbors(ConsistentWeightedSampling(random_state=0), n_neighbors=3).fit(X)
    >>> distances, indices = index.kneighbors(X[:2])
    >>> indices[:, 0].tolist(), y[indices].tolist()
    ([0, 1], [[0, 0, 0], [1, 1, 1]])
    >>> model = make_pipeline(index, KNeighborsClassifier(3, metric="precomputed"))
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9)
    True
    """

    def __init__(
        self,
        map: Any,
        *,
        n_neighbors: int = 5,
        radius: float | None = None,
        algorithm: Literal["auto", "brute", "lsh"] = "auto",
        recall: float = 0.95,
        rerank: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.map = map
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.recall = recall
        self.rerank = rerank
        self.n_jobs = n_jobs

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
        self.map_ = _sklearn.clone(self.map).fit(X)
        self.codes_ = self.map_.encode(X, packed=True)
        self._rows = sp.csr_array(X, copy=True) if self.rerank else None
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
        more = self.map_.encode(X, packed=True)
        self.codes_ = PackedCodes(
            np.concatenate([self.codes_.array, more.array]),
            more.bits,
            self.codes_.config,
            n_hashes=more.n_hashes,
            sampled=np.concatenate([self.codes_.sampled, more.sampled]),
        )
        if self._rows is not None:
            self._rows = sp.csr_array(sp.vstack([self._rows, sp.csr_array(X)]))
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

    # ---- neighbours ------------------------------------------------------------------------------

    def kneighbors(
        self,
        X: MatrixLike | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """The nearest neighbours of each row of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            The queries; None is the rows of the index, none of which is its own neighbour.
        n_neighbors : int or None, default=None
            How many; None is the parameter.
        return_distance : bool, default=True
            Return the distances too.

        Returns
        -------
        distances : ndarray of float64, shape (n_queries, n_neighbors)
            Ascending. Only if `return_distance`.
        indices : ndarray of int64, shape (n_queries, n_neighbors)
            Numbers of rows; of equal distances the lower one first.

        Raises
        ------
        ValueError
            If there are fewer rows than neighbours.
        """
        queries = self._queries(X)
        n_rows = self.n_samples_fit_ - (X is None)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        k = _validation.check_int("n_neighbors", k, 1, max(n_rows, 1))
        wanted = k + (X is None)
        if self.rerank:
            wanted = min(4 * wanted + 16, self.n_samples_fit_)
        indices, agreements = self._nearest(queries, wanted)
        distances = 1 - self._similarities(queries)[agreements]
        if X is None:
            distances[indices == np.arange(len(indices))[:, None]] = -np.inf
        distances[indices < 0] = np.inf
        if self.rerank:
            distances = self._exact_distances(X, indices, distances)
        order = np.lexsort((indices, distances), axis=1)
        if X is None:  # a row itself is first
            order = np.where(
                np.take_along_axis(distances, order[:, :1], 1) == -np.inf,
                order[:, 1 : k + 1],
                order[:, :k],
            )
        order = order[:, :k]
        indices = np.take_along_axis(indices, order, 1)
        if not return_distance:
            return indices
        return np.maximum(np.take_along_axis(distances, order, 1), 0), indices

    def radius_neighbors(
        self,
        X: MatrixLike | None = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """The neighbours of each row of `X` within a distance.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            The queries; None is the rows of the index, none of which is its own neighbour.
        radius : float or None, default=None
            The distance, at least 0 and below 1; None is the parameter.
        return_distance : bool, default=True
            Return the distances too.
        sort_results : bool, default=False
            Order each row's neighbours by distance, not by number.

        Returns
        -------
        distances : ndarray of shape (n_queries,) of arrays of float64
            Only if `return_distance`.
        indices : ndarray of shape (n_queries,) of arrays of int64
            Numbers of rows.
        """
        graph = self.radius_neighbors_graph(X, radius, "distance", sort_results)
        ends = graph.indptr[1:-1]
        indices, distances = (
            _as_objects(np.split(part, ends))
            for part in (graph.indices.astype(np.int64), graph.data)
        )
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(
        self,
        X: MatrixLike | None = None,
        n_neighbors: int | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
    ) -> Matrix:
        """The graph of nearest neighbours of each row of `X`.

        Parameters
        ----------
        X, n_neighbors
            As of ``kneighbors``.
        mode : {"connectivity", "distance"}, default="connectivity"
            Entries are 1, or distances.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_samples_fit_)
            Each row's neighbours in the order of their distances.
        """
        _validation.check_choice("mode", mode, ("connectivity", "distance"))
        distances, indices = self.kneighbors(X, n_neighbors)
        found = indices >= 0
        indptr = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        values = distances[found] if mode == "distance" else np.ones(indptr[-1])
        shape = len(indices), self.n_samples_fit_
        return sp.csr_matrix((values, indices[found], indptr), shape=shape)

    def radius_neighbors_graph(
        self,
        X: MatrixLike | None = None,
        radius: float | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
        sort_results: bool = False,
    ) -> Matrix:
        """The graph of neighbours of each row of `X` within a distance.

        Parameters
        ----------
        X, radius, sort_results
            As of ``radius_neighbors``.
        mode : {"connectivity", "distance"}, default="connectivity"
            Entries are 1, or distances.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_samples_fit_)
        """
        _validation.check_choice("mode", mode, ("connectivity", "distance"))
        queries = self._queries(X)
        radius = self._radius(radius)
        i, j, similarity = self._similar(queries, None if X is None else self.codes_, radius)
        if self.rerank:
            similarity = exact_pairs(
                self.map_, self._rows if X is None else sp.csr_array(X), self._rows, i, j
            )
            kept = similarity >= 1 - radius
            i, j, similarity = i[kept], j[kept], similarity[kept]
        if X is None:
            i, j = np.concatenate([i, j]), np.concatenate([j, i])
            similarity = np.concatenate([similarity, similarity])
        distances = np.maximum(1 - similarity, 0)
        order = np.lexsort((j, distances, i) if sort_results else (j, i))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=len(queries)))])
        values = distances[order] if mode == "distance" else np.ones(len(order))
        return sp.csr_matrix((values, j[order], indptr), shape=(len(queries), self.n_samples_fit_))

    def similar_pairs(self, threshold: float) -> tuple[Array, Array, Array]:
        """Pairs of rows of the index whose similarity is at least `threshold`.

        Parameters
        ----------
        threshold : float
            Above 0, at most 1.

        Returns
        -------
        i, j : ndarray of int64, shape (n_pairs,)
            Numbers of rows, i < j.
        similarity : ndarray of float64, shape (n_pairs,)
            The estimate; the exact kernel with `rerank`, of those pairs whose estimate and whose
            exact kernel are at least `threshold`.
        """
        queries = self._queries(None)
        i, j, similarity = self._similar(queries, None, 1 - threshold)
        if self.rerank:
            similarity = exact_pairs(self.map_, self._rows, self._rows, i, j)
            kept = similarity >= threshold
            i, j, similarity = i[kept], j[kept], similarity[kept]
        return i, j, similarity

    def transform(self, X: MatrixLike) -> Matrix:
        """The graph of distances from the rows of `X`, for estimators with metric="precomputed".

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            The queries.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_samples_fit_)
            Of ``n_neighbors + 1`` neighbours, as a row of the index is its own first one; or of
            those within `radius`, if it is given. Sorted by distance.
        """
        if self.radius is not None:
            return self.radius_neighbors_graph(X, mode="distance", sort_results=True)
        n = min(self.n_neighbors + 1, self.n_samples_fit_)
        return self.kneighbors_graph(X, n, mode="distance")

    # ---- files -----------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Write the index to a file for `load`; with `rerank`, its rows to ``path + ".rows.npz"``.

        Parameters
        ----------
        path : str or path-like
            By custom ending in ".npy".
        """
        _sklearn.check_is_fitted(self, "codes_")
        path = os.fspath(path)
        if self._rows is not None:
            sp.save_npz(path + ".rows.npz", self._rows, compressed=False)
        names = ("n_neighbors", "radius", "algorithm", "recall", "rerank")
        self.codes_.save(path, {"index": {name: getattr(self, name) for name in names}})

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
            If the file is another, is cut short, or of another scheme of random numbers.
        """
        path = os.fspath(path)
        codes, about = PackedCodes._open(path, mmap_mode)
        if "index" not in about:
            raise ValueError(f"{path} holds packed codes and no index: use PackedCodes.load")
        fitted = _config.from_config(codes.config)
        index = cls(fitted, **about["index"])
        index.map_, index.codes_ = fitted, codes
        index._rows = sp.csr_array(sp.load_npz(path + ".rows.npz")) if index.rerank else None
        return index._count()

    # ---- parts -----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if not hasattr(self.map, "encode"):
            raise ValueError(f"map must be a map with encode, got {self.map!r}")
        _validation.check_int("n_neighbors", self.n_neighbors, 1, 2**31 - 1)
        if self.radius is not None:
            self._radius(self.radius)
        _validation.check_choice("algorithm", self.algorithm, ("auto", "brute", "lsh"))
        _search.check_share("recall", self.recall)
        _validation.check_bool("rerank", self.rerank)
        _threads.resolve_n_jobs(self.n_jobs)

    def _count(self) -> Self:
        self.n_samples_fit_ = len(self.codes_)
        self.n_features_in_ = getattr(self.map_, "n_features_in_", None)
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
            raise ValueError(f"radius must be at least 0 and below 1, got {radius}")
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
        rows = self._rows if X is None else sp.csr_array(X)
        exact = distances.copy()
        for start in range(0, len(indices), _RERANKED_QUERIES):
            some = slice(start, start + _RERANKED_QUERIES)
            finite = np.isfinite(distances[some])
            candidates, where = np.unique(indices[some][finite], return_inverse=True)
            if len(candidates):
                K = self.map_.exact_kernel(rows[some], self._rows[candidates])
                exact[some][finite] = 1 - K[np.nonzero(finite)[0], where]
        return exact


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


def _as_objects(parts: list[Array]) -> Array:
    out = np.empty(len(parts), object)
    for position, part in enumerate(parts):
        out[position] = part
    return out
