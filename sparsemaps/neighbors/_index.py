"""An index of rows by their packed codes, with the methods of scikit-learn's NearestNeighbors."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Array, Matrix, MatrixLike
from sparsemaps.neighbors._row_index import RowIndex


class KernelNeighbors(RowIndex):
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
        "brute" compares all codes, and finds all neighbours: its recall is 1. "lsh" hashes bands of
        codes and finds a neighbour with probability `recall` at least. "auto" compares all codes
        for nearest neighbours, and takes what costs less for radius neighbours and pairs.
    recall : float, default=0.95
        The least probability that a neighbour is found: above 0, at most 1. See Notes.
    rerank : bool, default=False
        Whether to keep the rows and to compare candidates by the exact kernel: distances are then
        exact.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The answers do not depend on it.

    Attributes
    ----------
    map_ : sampled map
        The fitted map.
    codes_ : PackedCodes
        The codes of the rows; those of removed rows remain, but count as rows without samples.
    n_samples_fit_ : int
        Number of rows, with those that were removed.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    The distance is 1 - kernel, or 1 - estimate where `rerank` is False. It is at least 0, and above
    1 where the kernel or the estimate is negative. Rows are numbered in the order in which they are
    added; removing rows does not change the numbers of others. Rows without samples are not
    neighbours of any row and have no neighbours. Where there are fewer neighbours than were asked
    for, the index is -1 and the distance infinite.

    Without `rerank`, neighbours are those by the estimate, and the recall is that of hashing. With
    `rerank`, neighbours are those by the exact kernel, and the estimate of one may be too low. So
    rows with somewhat lower estimates are candidates too: a row whose kernel is just the threshold,
    or that of the last neighbour, is found with probability `recall`. Half of what may be missed
    are estimates below the lowered threshold; hashing may miss the other half. With a recall of 1,
    one in 10**9 is missed. The higher the recall, the more candidates there are. This holds where
    codes agree at the rate of the kernel or at a higher one: for "acos_chi2" of `SignProjection` it
    is not sure.

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
        k = _checks.check_int("n_neighbors", k, 1, max(n_rows, 1))
        wanted = k + (X is None)
        if self.rerank:
            indices, distances = self._nearest_by_kernel(X, queries, wanted)
        else:
            indices, distances = self._nearest_by_estimate(queries, wanted)
        if X is None:
            indices, distances = _without_itself(indices, distances)
        return (np.maximum(distances, 0), indices) if return_distance else indices

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
            As in ``radius_neighbors``.
        mode : {"connectivity", "distance"}, default="connectivity"
            Entries are 1, or distances.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_fitted)
        """
        _checks.check_choice("mode", mode, ("connectivity", "distance"))
        queries = self._queries(X)
        radius = self._radius(radius)
        i, j, similarity = self._similar(X, queries, 1 - radius)
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
            The estimate. With `rerank` the exact kernel, which is then at least `threshold` as
            well.
        """
        return self._similar(None, self._queries(None), threshold)

    def transform(self, X: MatrixLike) -> Matrix:
        """The graph of distances from the rows of `X`, for estimators with metric="precomputed".

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            The queries.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_fitted)
            Of each query, the ``n_neighbors + 1`` nearest rows, as a row of the index is nearest to
            itself; or all rows within `radius`, if it is given. Sorted by distance.
        """
        if self.radius is not None:
            return self.radius_neighbors_graph(X, mode="distance", sort_results=True)
        n = min(self.n_neighbors + 1, self.n_samples_fit_)
        return self.kneighbors_graph(X, n, mode="distance")


def _without_itself(indices: Array, distances: Array) -> tuple[Array, Array]:
    """Neighbours of the rows of an index without the row itself, or without the last where the row
    is not among them."""
    kept = indices != np.arange(len(indices))[:, None]
    kept[kept.all(axis=1), -1] = False
    shape = len(indices), indices.shape[1] - 1
    return indices[kept].reshape(shape), distances[kept].reshape(shape)


def _as_objects(parts: list[Array]) -> Array:
    out = np.empty(len(parts), object)
    for position, part in enumerate(parts):
        out[position] = part
    return out
