"""An index of rows by their packed codes, with the methods of scikit-learn's NearestNeighbors."""

import numbers
import os
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, overload

import numpy as np
import scipy.sparse as sp

from sparsemaps._input import _sparse
from sparsemaps._input._row_values import of_rows
from sparsemaps._tools import _checks, _sklearn, _threads
from sparsemaps._tools._parameters import ParameterError, not_with_codes
from sparsemaps._tools._typing import Array, CsrMatrix, Floats, MatrixLike, Objects, Rows, StrPath
from sparsemaps.codes._code_checks import refuse_different
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.neighbors import _index_file, _search
from sparsemaps.neighbors._index_rows import IndexRows
from sparsemaps.neighbors._index_search import IndexSearch

if TYPE_CHECKING:
    from sparsemaps.maps._sampled_map import SampledMap
    from sparsemaps.maps.random_fourier import RandomFourier

_Queries: TypeAlias = MatrixLike | PackedCodes | None

_SIMILAR = 0.5
"""Least similarity of the rows that "lsh" finds before it compares all rows."""


class KernelNeighbors(_sklearn.TransformerMixin, _sklearn.BaseEstimator):
    """Nearest neighbours by a kernel, from packed codes: an index of a few bytes per row.

    Parameters
    ----------
    map : sampled map
        Map whose codes are compared, such as `MinHash` or `ConsistentWeightedSampling`. Its kernel
        is the similarity. ``fit`` clones and fits it.
    n_neighbors : int, default=5
        Number of neighbours that ``kneighbors`` returns.
    radius : float or None, default=None
        Distance up to which ``radius_neighbors`` returns neighbours. Tables are built for this
        distance. ``transform`` returns the graph of radius neighbours, or of nearest neighbours if
        `radius` is None.
    algorithm : {"auto", "brute", "lsh"}, default="auto"
        "brute" compares a query with all codes and returns all neighbours (recall 1). "auto"
        compares all codes for nearest neighbours. For radius neighbours and pairs, it compares all
        codes or looks up tables of bands of codes, whichever costs less; the tables return a
        neighbour with probability at least `recall`. "lsh" uses the tables for nearest neighbours
        too: if they hold `n_neighbors` rows within `radius` of a query (similarity 0.5 if `radius`
        is None), it returns the nearest ones; otherwise it compares the query with all rows.
        ``recall_at`` returns the recall for a given similarity.
    recall : float, default=0.95
        Least probability with which a neighbour is returned: above 0, at most 1. See Notes.
    rerank : bool, default=False
        Whether to store the rows and compare candidates by the exact kernel. Distances are then
        exact.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The answers do not depend on it.

    Attributes
    ----------
    map_ : sampled map
        The fitted map.
    codes_ : PackedCodes
        The codes of the rows. Removed rows keep their codes, but are marked as rows without
        samples.
    n_samples_fit_ : int
        Number of rows, removed rows included.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    The distance is 1 - kernel, or 1 - estimate if `rerank` is False. It is at least 0, and exceeds
    1 if the kernel or the estimate is negative. Rows are numbered in the order in which they are
    added; removing rows does not renumber the others. Rows without samples have no neighbours and
    are neighbours of no row. If a query has fewer than `n_neighbors` neighbours, the remaining
    indices are -1 and their distances infinite.

    All methods also accept packed codes of the map in place of a matrix, such as those that
    ``encode_texts`` returns, unless `rerank` is True. Indexed codes may come from rows of any
    width.

    The index builds tables of bands when ``radius_neighbors`` or ``insert_new`` first needs them,
    then adds new rows to them and saves them. Tables are built for one similarity. They also serve
    searches for higher similarities, and are rebuilt for a lower one. The bands of searches are
    chosen again at 1,024 rows and whenever the number of rows has quadrupled. ``insert_new`` uses
    its own bands, which never change. Tables take 8 to 12 bytes per row and band. If more than
    1,000 rows share a bucket, a query is compared with the last 1,000 of them. Each index draws its
    own hash key, so that nobody can construct rows that share buckets without sharing codes.
    Results do not depend on the key.

    Threads may share an index. Each result reflects the rows at one moment. Additions and removals
    are serialised. ``fit`` must not run concurrently with other calls.

    Without `rerank`, the estimate decides whether a row is a neighbour, and hashing determines the
    recall. With `rerank`, the exact kernel decides, and the estimate of a neighbour may be too low,
    so rows with somewhat lower estimates become candidates too. A row whose kernel equals the
    threshold, or equals the kernel of the last neighbour, is a candidate with probability `recall`.
    The allowed probability of a miss is split equally between estimates below the lowered threshold
    and hashing. With a recall of 1, one row in 10**9 is missed. The higher the recall, the more
    candidates there are. This holds if codes agree at the rate of the kernel or at a higher rate,
    which is not proved for "acos_chi2" of `SignProjection`.

    See Also
    --------
    sparsemaps.neighbors.top_k, sparsemaps.neighbors.similar_pairs : The same searches on codes.
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
        map: "SampledMap[Any] | RandomFourier",
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

    _index_rows: IndexRows
    _saved = _index_file.SavedAs()

    # ---- rows ------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike | PackedCodes, y: object = None) -> Self:
        """Build an index of the rows of `X`.

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
        self._begin(X, None)
        return self

    def partial_fit(self, X: MatrixLike | PackedCodes, y: object = None) -> Self:
        """Add the rows of `X`. Numbering continues after the last row.

        New rows are also added to the tables. The cost does not depend on the size of the index.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If there are more than 2**32 - 1 rows.
        """
        if not hasattr(self, "map_"):
            return self.fit(X)
        codes, rows = self._encoded(X)
        self._index_rows.append(codes, rows)
        return self

    def insert_new(self, X: MatrixLike | PackedCodes, *, threshold: float) -> Array:
        """Add the rows of `X` that are not similar to any earlier row.

        Rows are processed in order. A row is not added if its similarity to a row of the index,
        including earlier rows of `X` that were added, is at least `threshold`. The result does not
        depend on how rows are divided among calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        threshold : float
            Similarity, above 0, at most 1: the estimate, or the exact kernel if `rerank`.

        Returns
        -------
        new : ndarray of bool, shape (n_samples,)
            Which rows were added. Added rows are numbered in their order in `X`. Rows without
            samples are always added.

        Raises
        ------
        ValueError
            If `threshold` is outside its range, or there are more rows than an index can number.

        Notes
        -----
        Tables miss a similar row with probability at most ``1 - recall``. A row is added by mistake
        only if all rows similar to it are missed. The bands are the same as in `removals`, and do
        not depend on the rows. The added rows are therefore the rows that `removals` and
        ``sparsemaps dedup`` keep, except for records without samples. Results may differ if more
        than 1,000 added rows share a bucket.

        The index rebuilds its tables when it needs other bands. It is therefore slower if calls of
        ``insert_new`` alternate with calls for another threshold, or with searches for a lower
        similarity.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsemaps import MinHash
        >>> from sparsemaps.neighbors import KernelNeighbors
        >>> index = KernelNeighbors(MinHash(random_state=0))
        >>> X = np.array([[1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [1, 1, 1, 1, 0]])
        >>> index.insert_new(X, threshold=0.7)
        array([ True,  True, False])
        >>> index.insert_new(X[1:], threshold=0.9), index.n_samples_fit_
        (array([False,  True]), 3)
        """
        threshold = _search.check_share("threshold", threshold)
        self._check_parameters()
        if hasattr(self, "map_"):
            codes, rows = self._encoded(X)
        else:
            codes, rows = self._begin(X, 0)
        if rows is None and not codes.law.needs_parts:
            return self._index_rows.insert_new(codes, self._index_search().target(threshold))
        search, new = self._index_search(), np.zeros(len(codes), bool)
        with self._index_rows.lock:
            for row in range(len(codes)):
                some = slice(row, row + 1)
                one = None if rows is None else rows[some]
                new[row] = not len(search.similar_to(codes[some], one, threshold, True)[0])
                if new[row]:
                    self._index_rows.append(codes[some], one)
        return new

    def remove(self, ids: Array) -> Self:
        """Remove rows by number. Later results do not include them.

        Parameters
        ----------
        ids : array-like of int
            Row numbers. Rows that were removed before are allowed.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a number is out of range.
        """
        _sklearn.check_is_fitted(self, "map_")
        is_one = isinstance(ids, numbers.Integral) or getattr(ids, "ndim", None) == 0
        ids = np.asarray(of_rows("ids", [ids] if is_one else ids))
        if ids.size and ids.dtype.kind not in "iu":
            raise ValueError(f"ids must be integers, got an array of {ids.dtype}")
        wrong = ids[(ids < 0) | (ids >= self.n_samples_fit_)] if ids.size else ids
        if wrong.size:
            raise ValueError(f"ids must be from 0 to {self.n_samples_fit_ - 1}, got {wrong[0]}")
        self._index_rows.remove(ids.astype(np.int64))
        return self

    # ---- neighbours ------------------------------------------------------------------------------

    @overload
    def kneighbors(
        self, X: _Queries = ..., n_neighbors: int | None = ..., return_distance: Literal[True] = ...
    ) -> tuple[Floats, Rows]: ...

    @overload
    def kneighbors(
        self, X: _Queries = ..., n_neighbors: int | None = ..., *, return_distance: Literal[False]
    ) -> Rows: ...

    @overload
    def kneighbors(
        self, X: _Queries = ..., n_neighbors: int | None = ..., return_distance: bool = ...
    ) -> tuple[Floats, Rows] | Rows: ...

    def kneighbors(
        self,
        X: _Queries = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> tuple[Floats, Rows] | Rows:
        """Return the nearest neighbours of each row of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            The queries. None takes the rows of the index; a row is then not its own neighbour.
        n_neighbors : int or None, default=None
            Number of neighbours of each query; None takes the parameter `n_neighbors`.
        return_distance : bool, default=True
            Whether to return the distances too.

        Returns
        -------
        distances : ndarray of float64, shape (n_queries, n_neighbors)
            Distances in ascending order. Only if `return_distance`.
        indices : ndarray of int64, shape (n_queries, n_neighbors)
            Numbers of rows. Of rows at equal distances, the lower number comes first.

        Raises
        ------
        ValueError
            If `n_neighbors` exceeds the number of rows.
        """
        queries, rows = self._queries(X)
        n_rows = self.n_samples_fit_ - (X is None)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        k = _checks.check_int("n_neighbors", k, 1, max(n_rows, 1))
        indices, distances = self._index_search().nearest(queries, rows, k + (X is None))
        if X is None:
            indices, distances = _without_itself(indices, distances)
        return (np.maximum(distances, 0), indices) if return_distance else indices

    @overload
    def radius_neighbors(
        self,
        X: _Queries = ...,
        radius: float | None = ...,
        return_distance: Literal[True] = ...,
        sort_results: bool = ...,
    ) -> tuple[Objects, Objects]: ...

    @overload
    def radius_neighbors(
        self,
        X: _Queries = ...,
        radius: float | None = ...,
        *,
        return_distance: Literal[False],
        sort_results: bool = ...,
    ) -> Objects: ...

    @overload
    def radius_neighbors(
        self,
        X: _Queries = ...,
        radius: float | None = ...,
        return_distance: bool = ...,
        sort_results: bool = ...,
    ) -> tuple[Objects, Objects] | Objects: ...

    def radius_neighbors(
        self,
        X: _Queries = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> tuple[Objects, Objects] | Objects:
        """Return the neighbours of each row of `X` within a radius.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            The queries. None takes the rows of the index; a row is then not its own neighbour.
        radius : float or None, default=None
            The distance, at least 0 and below 1; None takes the parameter `radius`.
        return_distance : bool, default=True
            Whether to return the distances too.
        sort_results : bool, default=False
            Whether to sort each row's neighbours by distance; otherwise they are sorted by number.

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
            np.fromiter(np.split(part, ends), object)
            for part in (graph.indices.astype(np.int64), graph.data)
        )
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(
        self,
        X: _Queries = None,
        n_neighbors: int | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
    ) -> CsrMatrix:
        """Return the graph of nearest neighbours of each row of `X`.

        Parameters
        ----------
        X, n_neighbors
            As in ``kneighbors``.
        mode : {"connectivity", "distance"}, default="connectivity"
            Entries are 1, or distances.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_fitted)
            Each row's neighbours, sorted by distance.
        """
        _checks.check_choice("mode", mode, ("connectivity", "distance"))
        distances, indices = self.kneighbors(X, n_neighbors)
        is_row = indices >= 0
        indptr = np.concatenate([[0], np.cumsum(is_row.sum(axis=1))])
        values = distances[is_row] if mode == "distance" else np.ones(indptr[-1])
        shape = len(indices), self.n_samples_fit_
        return sp.csr_matrix((values, indices[is_row], indptr), shape=shape)

    def radius_neighbors_graph(
        self,
        X: _Queries = None,
        radius: float | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
        sort_results: bool = False,
    ) -> CsrMatrix:
        """Return the graph of the neighbours of each row of `X` within a radius.

        Parameters
        ----------
        X, radius, sort_results
            As in ``radius_neighbors``.
        mode : {"connectivity", "distance"}, default="connectivity"
            Entries are 1, or distances.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_fitted)
        """
        _checks.check_choice("mode", mode, ("connectivity", "distance"))
        queries, rows = self._queries(X)
        search, threshold = self._index_search(), 1 - self._radius(radius)
        if X is not None:
            i, j, similarity = search.similar_to(queries, rows, threshold)
        else:
            i, j, similarity = search.similar_pairs(queries, rows, threshold)
            i, j = np.concatenate([i, j]), np.concatenate([j, i])
            similarity = np.concatenate([similarity, similarity])
        distances = np.maximum(1 - similarity, 0)
        order = np.lexsort((j, distances, i) if sort_results else (j, i))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=len(queries)))])
        values = distances[order] if mode == "distance" else np.ones(len(order))
        n_rows = len(queries) if X is None else self.n_samples_fit_
        return sp.csr_matrix((values, j[order], indptr), shape=(len(queries), n_rows))

    def similar_pairs(self, threshold: float) -> tuple[Array, Array, Array]:
        """Return pairs of rows of the index whose similarity is at least `threshold`.

        Parameters
        ----------
        threshold : float
            Above 0, at most 1.

        Returns
        -------
        i, j : ndarray of int64, shape (n_pairs,)
            Numbers of rows, i < j.
        similarity : ndarray of float64, shape (n_pairs,)
            The estimates, or the exact kernel if `rerank`.
        """
        return self._index_search().similar_pairs(*self._queries(None), threshold)

    def recall_at(self, similarity: float) -> float:
        """Return the probability that the tables return a row of this similarity to a query.

        Parameters
        ----------
        similarity : float
            Above 0, at most 1: the estimate, or the exact kernel if `rerank`.

        Returns
        -------
        recall : float
            Recall, with the present tables, of ``radius_neighbors``, and of ``kneighbors`` with
            algorithm="lsh" for queries that have ``n_neighbors`` rows within `radius`; 1 if all
            rows are compared. It is at least `recall` for rows within `radius` (similarity 0.5 or
            more if `radius` is None).

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> from sparsemaps import MinHash
        >>> from sparsemaps.neighbors import KernelNeighbors
        >>> X = sp.random_array((5000, 1000), density=0.01, random_state=0, format="csr")
        >>> index = KernelNeighbors(MinHash(random_state=0), radius=0.3).fit(X)
        >>> [round(index.recall_at(similarity), 2) for similarity in (0.5, 0.7, 0.9)]
        [0.77, 0.97, 1.0]
        """
        _sklearn.check_is_fitted(self, "map_")
        self._check_parameters()
        return self._index_search().recall_at(similarity)

    if TYPE_CHECKING:

        def fit_transform(self, X: MatrixLike, y: object = None) -> CsrMatrix: ...

    def transform(self, X: MatrixLike) -> CsrMatrix:
        """Return the graph of distances from the rows of `X`, for estimators with
        metric="precomputed".

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            The queries.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_fitted)
            With a `radius`, all rows within it of each query. Otherwise the ``n_neighbors + 1``
            nearest rows, because each row of the index is its own nearest neighbour. Sorted by
            distance.
        """
        if self.radius is not None:
            return self.radius_neighbors_graph(X, mode="distance", sort_results=True)
        n = min(self.n_neighbors + 1, self.n_samples_fit_)
        return self.kneighbors_graph(X, n, mode="distance")

    # ---- files -----------------------------------------------------------------------------------

    def save(self, path: StrPath) -> None:
        """Write the index to a file for `load`; with `rerank`, write its rows to ``path +
        ".rows.npz"``.

        The file holds the rows at one moment, even if other threads add rows, and the tables, which
        are built first if `radius` needs them.

        Parameters
        ----------
        path : str or path-like
            The file; its name usually ends in ".npy".

        Raises
        ------
        ValueError
            If the index was loaded from or saved to this file, and another index has been written
            there since.
        OSError
            If the file cannot be written. An existing file of this name is then left unchanged.
        """
        _sklearn.check_is_fitted(self, "map_")
        self._check_parameters()
        if self.radius is not None:
            self._index_rows.serving(self._index_search().target(1 - self._radius(self.radius)))
        parameters = self.get_params(deep=False)
        self._saved = _index_file.save(os.fspath(path), self._index_rows, parameters, self._saved)

    @classmethod
    def load(cls, path: StrPath, *, mmap_mode: Literal["r", "c"] | None = "r") -> Self:
        """Open a saved index; its codes and tables are mapped into memory.

        New rows stay in memory until the index is saved again. Until then, the file does not
        change.

        Parameters
        ----------
        path : str or path-like
            The file.
        mmap_mode : {"r", "c"} or None, default="r"
            As in ``numpy.load``; None reads the codes and tables.

        Returns
        -------
        index : KernelNeighbors

        Raises
        ------
        ValueError
            If the file does not hold an index, is truncated, or has another version or another
            scheme of random numbers.
        """
        index: Self = _index_file.load(os.fspath(path), cls, mmap_mode)
        index.map_ = index.map
        return index

    # ---- parts -----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if not isinstance(self.map, SparseMap) or not self.map.has_codes:
            raise not_with_codes(self.map)
        _checks.check_int("n_neighbors", self.n_neighbors, 1, _checks.LARGEST_INT32)
        if self.radius is not None:
            self._radius(self.radius)
        _checks.check_choice("algorithm", self.algorithm, ("auto", "brute", "lsh"))
        _search.check_share("recall", self.recall)
        _checks.check_bool("rerank", self.rerank)
        _threads.resolve_n_jobs(self.n_jobs)

    def _begin(self, X: MatrixLike | PackedCodes, n_rows: int | None) -> tuple[PackedCodes, Any]:
        """Fit the map, start the index with the first `n_rows` rows, and return the codes and the
        rows of all."""
        self._check_parameters()
        rows = None
        if isinstance(X, PackedCodes):
            fitted = _sklearn.clone(self.map).fit_any_width()
            none = fitted.encode(sp.csr_array((0, 1)), packed=True)
            codes = _given(X[np.arange(len(X))], none, self.rerank)  # a copy
        else:
            fitted = _sklearn.clone(self.map).fit(X)
            codes = fitted.encode(X, packed=True)
            rows = _sparse.own_rows(X) if self.rerank else None
        self._index_rows = IndexRows(codes[:n_rows], None if rows is None else rows[:n_rows])
        self.map_ = fitted
        return codes, rows

    def _encoded(self, X: MatrixLike | PackedCodes) -> tuple[PackedCodes, Any]:
        """Return the codes of rows, and the rows as CSR if the index stores its rows."""
        has_rows = self._index_rows.state.rows is not None
        if isinstance(X, PackedCodes):
            return _given(X, self._index_rows.like, has_rows), None
        return self.map_.encode(X, packed=True), _sparse.own_rows(X) if has_rows else None

    @property
    def codes_(self) -> PackedCodes:
        try:
            return self._index_rows.all_codes(self._index_rows.state)
        except AttributeError:
            raise AttributeError("codes_ is available after fit") from None

    @property
    def n_samples_fit_(self) -> int:
        return self._index_rows.state.n_rows

    @property
    def n_features_in_(self) -> int | None:
        return self.map_.n_columns

    def _queries(self, X: _Queries) -> tuple[PackedCodes, Any]:
        """Return the codes and rows of queries, as `_encoded` does, or of the index if `X` is
        None."""
        _sklearn.check_is_fitted(self, "map_")
        self._check_parameters()
        if X is not None:
            return self._encoded(X)
        state = self._index_rows.state  # one snapshot, because another thread may add rows
        return self._index_rows.all_codes(
            state
        ), None if state.rows is None else state.rows.stacked()

    def _radius(self, radius: float | None) -> float:
        radius = self.radius if radius is None else radius
        radius = _checks.check_real("radius", radius, 0)
        if radius >= 1:
            raise ParameterError("radius", str(radius), "at least 0 and below 1")
        return radius

    def _index_search(self) -> IndexSearch:
        """Return a search of the rows, with the present parameters."""
        least = _SIMILAR if self.radius is None else 1 - self._radius(self.radius)
        recall = 1.0 if self.algorithm == "brute" else self.recall
        return IndexSearch(
            self.map_,
            self._index_rows,
            self.algorithm == "lsh",
            recall,
            self.rerank,
            least,
            self.n_jobs,
        )


def _without_itself(indices: Array, distances: Array) -> tuple[Array, Array]:
    """Remove each row of the index from its own neighbours, or the last neighbour if the row is not
    among them."""
    kept = indices != np.arange(len(indices))[:, None]
    kept[kept.all(axis=1), -1] = False
    shape = len(indices), indices.shape[1] - 1
    return indices[kept].reshape(shape), distances[kept].reshape(shape)


def _given(codes: PackedCodes, like: PackedCodes, needs_rows: bool) -> PackedCodes:
    """Return codes that were passed instead of rows. Raise if the index needs rows, or if the codes
    cannot be compared with its own."""
    if needs_rows:
        raise ParameterError("X", "PackedCodes", "a matrix, as rerank compares the rows themselves")
    refuse_different("X and the rows of the index", codes, like)
    return codes
