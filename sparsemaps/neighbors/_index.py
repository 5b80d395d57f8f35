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
"""The least similarity of the rows that "lsh" looks at before all rows."""


class KernelNeighbors(_sklearn.TransformerMixin, _sklearn.BaseEstimator):
    """Nearest neighbours by a kernel, from packed codes: an index of a few bytes a row.

    Parameters
    ----------
    map : sampled map
        The map whose codes are compared, such as `MinHash` or `ConsistentWeightedSampling`; its
        kernel is the similarity. It is cloned and fitted by ``fit``.
    n_neighbors : int, default=5
        Number of neighbours that ``kneighbors`` returns.
    radius : float or None, default=None
        The distance up to which ``radius_neighbors`` returns neighbours, and for which tables are
        made. With a radius, ``transform`` returns the graph of radius neighbours; with None, it
        returns the graph of nearest neighbours.
    algorithm : {"auto", "brute", "lsh"}, default="auto"
        "brute" compares a query with all codes, and returns all neighbours: its recall is 1. "auto"
        compares all codes for nearest neighbours. For radius neighbours and pairs, it compares all
        codes or looks up tables of bands of codes, whichever costs less; the tables return a
        neighbour with probability `recall` at least. "lsh" looks up tables for nearest neighbours
        too: if they hold `n_neighbors` rows within `radius` of a query (a similarity of 0.5 where
        `radius` is None), it returns the nearest of them; it compares other queries with all rows.
        ``recall_at`` returns the probability of a row of some similarity.
    recall : float, default=0.95
        The least probability with which a neighbour is returned: above 0, at most 1. See Notes.
    rerank : bool, default=False
        Whether to keep the rows and to compare candidates by the exact kernel. Distances are then
        exact.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The answers do not depend on it.

    Attributes
    ----------
    map_ : sampled map
        The fitted map.
    codes_ : PackedCodes
        The codes of the rows. Removed rows keep their codes, but count as rows without samples.
    n_samples_fit_ : int
        Number of rows, removed rows included.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    The distance is 1 - kernel, or 1 - estimate if `rerank` is False. It is at least 0, and above
    1 if the kernel or the estimate is negative. Rows are numbered in the order in which they are
    added; removing rows does not change the numbers of others. Rows without samples are not
    neighbours of any row and have no neighbours. If a query has fewer neighbours than
    `n_neighbors`, the other indices are -1 and their distances infinite.

    Instead of a matrix, all methods take packed codes of the map, such as ``encode_texts``
    returns, unless `rerank` needs rows. Indexed codes may come from rows of any width.

    The index makes tables of bands when ``radius_neighbors`` or ``insert_new`` first needs them. It
    keeps them, adds new rows to them, and saves them. Tables are made for one similarity. They
    serve searches for higher similarities too, and are made anew for a lower one. Bands that a
    search has chosen are chosen anew at 1,024 rows, and whenever the number of rows has grown
    fourfold. ``insert_new`` has bands of its own, which stay. Tables take 8 to 12 bytes for each
    row and band. If more than 1,000 rows share a bucket, a query is compared with the last 1,000
    of them. Each index draws a key for its hashes, so that nobody can choose rows which share
    buckets without sharing codes. Answers do not depend on the key.

    Threads may share an index. Each answer refers to the rows of one moment. Threads add and remove
    rows one after the other. ``fit`` must not run beside other calls.

    Without `rerank`, estimates decide who is a neighbour, and hashing decides the recall. With
    `rerank`, the exact kernel decides, and the estimate of a neighbour may be too low. So rows with
    somewhat lower estimates are candidates too: a row whose kernel is just the threshold, or
    equal to the kernel of the last neighbour, is a candidate with probability `recall`. It is
    missed as often by an estimate below the lowered threshold as by hashing. With a recall of 1,
    one row in 10**9 is missed. The higher the recall, the more candidates there are. This holds if
    codes agree at the rate of the kernel or at a higher rate, which is not proved for "acos_chi2"
    of `SignProjection`.

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
        self._begin(X, None)
        return self

    def partial_fit(self, X: MatrixLike | PackedCodes, y: object = None) -> Self:
        """Add the rows of `X`. Their numbers continue from the rows before.

        New rows are added to the tables. The cost does not depend on the number of rows before.

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
            If there are more rows than an index can number, 2**32 - 1.
        """
        if not hasattr(self, "map_"):
            return self.fit(X)
        codes, rows = self._encoded(X)
        self._index_rows.append(codes, rows)
        return self

    def insert_new(self, X: MatrixLike | PackedCodes, *, threshold: float) -> Array:
        """Add the rows of `X` that are similar to no row before.

        Rows are taken one after the other. A row is not added if a row of the index has a
        similarity of `threshold` or more to it. Earlier rows of `X` that were added count too. The
        answer does not depend on how rows are divided among calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        threshold : float
            The similarity, above 0, at most 1: the estimate, or with `rerank` the exact kernel.

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
        Tables miss a similar row with probability ``1 - recall`` at most. A row is
        added by mistake only if all rows similar to it are missed. The bands are chosen as by
        `removals`, and do not depend on the rows. So the rows that are added are those that
        `removals` keeps, and ``sparsemaps dedup`` too, up to records without samples. The answers
        may differ if more than 1,000 added rows share a bucket.

        Tables of other bands are made anew. So an index takes longer if calls of ``insert_new``
        alternate with others of another threshold, or with searches for a lower similarity.

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
        """Remove rows by their numbers. No answer has them then.

        Parameters
        ----------
        ids : array-like of int
            Numbers of rows. A row that was removed before may be among them.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If no row has such a number.
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
            If the index has fewer rows than `n_neighbors`.
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
        """Return the neighbours of each row of `X` within a distance.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            The queries. None takes the rows of the index; a row is then not its own neighbour.
        radius : float or None, default=None
            The distance, at least 0 and below 1; None takes the parameter `radius`.
        return_distance : bool, default=True
            Whether to return the distances too.
        sort_results : bool, default=False
            Whether to order each row's neighbours by distance; otherwise they are in the order of
            their numbers.

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
            Each row's neighbours in the order of their distances.
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
        """Return the graph of neighbours of each row of `X` within a distance.

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
            The estimates; with `rerank`, the exact kernel.
        """
        return self._index_search().similar_pairs(*self._queries(None), threshold)

    def recall_at(self, similarity: float) -> float:
        """Return the probability with which tables return a row of this similarity to a query.

        Parameters
        ----------
        similarity : float
            Above 0, at most 1: the estimate, or with `rerank` the exact kernel.

        Returns
        -------
        recall : float
            The recall of ``radius_neighbors``, and of ``kneighbors`` with algorithm="lsh" for
            queries that have ``n_neighbors`` rows within `radius`, by the present tables; 1 where
            all rows are compared. For rows within `radius` (for a similarity of 0.5 or more where
            `radius` is None) it is at least `recall`.

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
            nearest rows, as a row of the index is nearest to itself. Sorted by distance.
        """
        if self.radius is not None:
            return self.radius_neighbors_graph(X, mode="distance", sort_results=True)
        n = min(self.n_neighbors + 1, self.n_samples_fit_)
        return self.kneighbors_graph(X, n, mode="distance")

    # ---- files -----------------------------------------------------------------------------------

    def save(self, path: StrPath) -> None:
        """Write the index to a file for `load`; with `rerank`, its rows to ``path + ".rows.npz"``.

        The file has the rows of one moment, even if other threads add rows. It has the tables too.
        They are made first if `radius` needs them.

        Parameters
        ----------
        path : str or path-like
            The file; its name usually ends in ".npy".

        Raises
        ------
        ValueError
            If the index was loaded from this file, or saved to it, and another index has been
            written there since.
        OSError
            If the file cannot be written. An earlier file of this name then stays.
        """
        _sklearn.check_is_fitted(self, "map_")
        self._check_parameters()
        if self.radius is not None:
            self._index_rows.serving(self._index_search().target(1 - self._radius(self.radius)))
        parameters = self.get_params(deep=False)
        self._saved = _index_file.save(os.fspath(path), self._index_rows, parameters, self._saved)

    @classmethod
    def load(cls, path: StrPath, *, mmap_mode: Literal["r", "c"] | None = "r") -> Self:
        """Open an index that was saved; its codes and tables are mapped into memory.

        New rows stay in memory until the index is saved again. The file does not change before.

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
            If the file does not hold an index, is cut short, or is of another version or scheme of
            random numbers.
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
        """Fit the map, begin with the first `n_rows` rows, and return codes and rows of all."""
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
        """Return the codes of rows, and the rows as CSR if the index keeps its rows."""
        has_rows = self._index_rows.state.rows is not None
        if isinstance(X, PackedCodes):
            return _given(X, self._index_rows.like, has_rows), None
        return self.map_.encode(X, packed=True), _sparse.own_rows(X) if has_rows else None

    @property
    def codes_(self) -> PackedCodes:
        try:
            return self._index_rows.all_codes(self._index_rows.state)
        except AttributeError:
            raise AttributeError("codes_ is there after fit") from None

    @property
    def n_samples_fit_(self) -> int:
        return self._index_rows.state.n_rows

    @property
    def n_features_in_(self) -> int | None:
        return self.map_.n_columns

    def _queries(self, X: _Queries) -> tuple[PackedCodes, Any]:
        """Encode queries as `_encoded` does; None takes the rows of the index."""
        _sklearn.check_is_fitted(self, "map_")
        self._check_parameters()
        if X is not None:
            return self._encoded(X)
        state = self._index_rows.state  # another thread may add rows meanwhile
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
        """Return the search of the rows, by the present parameters."""
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
    """Return the neighbours of the rows of an index without the row itself, or without the last
    if the row is not among them."""
    kept = indices != np.arange(len(indices))[:, None]
    kept[kept.all(axis=1), -1] = False
    shape = len(indices), indices.shape[1] - 1
    return indices[kept].reshape(shape), distances[kept].reshape(shape)


def _given(codes: PackedCodes, like: PackedCodes, needs_rows: bool) -> PackedCodes:
    """Return codes that are passed instead of rows. Raise unless they compare with the codes of an
    index that needs no rows."""
    if needs_rows:
        raise ParameterError("X", "PackedCodes", "a matrix, as rerank compares the rows themselves")
    refuse_different("X and the rows of the index", codes, like)
    return codes
