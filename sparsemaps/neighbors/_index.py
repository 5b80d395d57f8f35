"""An index of rows by their packed codes, with the methods of scikit-learn's NearestNeighbors."""

import os
import secrets
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
import scipy.sparse as sp
from scipy import stats

from sparsemaps._input import _sparse
from sparsemaps._tools import _checks, _output_files, _sklearn, _text_input, _threads
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import Array, CsrMatrix, Floats, MatrixLike, Objects, Rows
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.maps import _config
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.neighbors import _bands, _search
from sparsemaps.neighbors._exact import exact_pairs
from sparsemaps.neighbors._kept import MAX_BUCKET, KeptRows, State, Target

if TYPE_CHECKING:
    from sparsemaps.maps._sampled_map import SampledMap
    from sparsemaps.maps.random_fourier import RandomFourier

_SAVED_PARAMETERS = ("n_neighbors", "radius", "algorithm", "recall", "rerank")

_VERSION = 1
"""Of the files of an index."""

ROWS = ".rows.npz"
"""What the name of the file of rows beside an index ends with."""

_CANDIDATES = 2**22
"""Candidates that are held at a time."""

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
        How many neighbours ``kneighbors`` returns.
    radius : float or None, default=None
        The distance up to which ``radius_neighbors`` returns neighbours, and for which tables are
        made. Where it is given, ``transform`` returns the graph of radius neighbours, otherwise
        that of nearest ones.
    algorithm : {"auto", "brute", "lsh"}, default="auto"
        "brute" compares all codes, and finds all neighbours: its recall is 1. "auto" compares all
        codes for nearest neighbours, and for radius neighbours and pairs takes what costs less:
        that, or tables of bands of codes, which find a neighbour with probability `recall` at
        least. "lsh" takes tables for nearest neighbours too: of a query that has `n_neighbors` rows
        within `radius` (of a similarity of 0.5 where it is None), it returns the nearest that the
        tables find; other queries are compared with all rows. ``recall_at`` says how probable it is
        that a row is found.
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

    Tables of bands are made when ``radius_neighbors`` or ``insert_new`` first needs them, and kept:
    they grow as rows come, and are saved with the index. They are made for one similarity, serve
    higher ones too, and are made anew for a lower one; at 1,024 rows and whenever there are four
    times as many, bands are chosen anew. They take some 8 to 12 bytes a row and band. Where more
    than 1,000 rows share a bucket, a query is compared with the last 1,000 of them. Hashes have a
    key that each index draws, so that nobody can choose rows which share buckets without sharing
    codes; answers do not depend on it.

    Threads may share an index: an answer is that of the rows of one moment, while one thread after
    the other adds or removes rows. ``fit`` alone must not run beside other calls.

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

    _kept: KeptRows
    _saved: tuple[str, Any] = ("", None)  # the file that holds it, and which save that was

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
        self._begin(X, None)
        return self

    def partial_fit(self, X: MatrixLike, y: Any = None) -> Self:
        """Add the rows of `X`, whose numbers follow those of the rows before.

        Tables that are kept grow with the rows: the cost does not depend on how many there are.

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
        self._kept.append(codes, rows)
        return self

    def insert_new(self, X: MatrixLike, *, threshold: float) -> Array:
        """Add those rows of `X` that are similar to no row before.

        Row by row, a row is added where no row of the index, earlier rows of `X` that were added
        among them, has a similarity of `threshold` or more. How the rows are divided among calls
        does not matter.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        threshold : float
            The similarity, above 0, at most 1: the estimate, or with `rerank` the exact kernel.

        Returns
        -------
        new : ndarray of bool, shape (n_samples,)
            Which rows were added; they are numbered in their order. Rows without samples are.

        Raises
        ------
        ValueError
            If `threshold` is outside its range, or there are more rows than an index can number.

        Notes
        -----
        A similar row is found with probability `recall` at least: where there are several, one of
        them is found more often. One that is missed lets a copy in.

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
        if rows is None and not codes._takes_parts:
            return self._kept.insert_new(codes, self._target(codes, threshold))
        new = np.zeros(len(codes), bool)
        with self._kept.lock:
            for row in range(len(codes)):
                some = slice(row, row + 1)
                one = None if rows is None else rows[some]
                new[row] = not len(self._similar_to(codes[some], one, threshold)[0])
                if new[row]:
                    self._kept.append(codes[some], one)
        return new

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
        _sklearn.check_is_fitted(self, "map_")
        ids = np.atleast_1d(np.asarray(ids))
        if ids.size and ids.dtype.kind not in "iu":
            raise ValueError(f"ids must be integers, got an array of {ids.dtype}")
        wrong = ids[(ids < 0) | (ids >= self.n_samples_fit_)] if ids.size else ids
        if wrong.size:
            raise ValueError(f"ids must be from 0 to {self.n_samples_fit_ - 1}, got {wrong[0]}")
        self._kept.remove(ids.astype(np.int64))
        return self

    # ---- neighbours ------------------------------------------------------------------------------

    @overload
    def kneighbors(
        self,
        X: MatrixLike | None = ...,
        n_neighbors: int | None = ...,
        return_distance: Literal[True] = ...,
    ) -> tuple[Floats, Rows]: ...

    @overload
    def kneighbors(
        self,
        X: MatrixLike | None = ...,
        n_neighbors: int | None = ...,
        *,
        return_distance: Literal[False],
    ) -> Rows: ...

    @overload
    def kneighbors(
        self,
        X: MatrixLike | None = ...,
        n_neighbors: int | None = ...,
        return_distance: bool = ...,
    ) -> tuple[Floats, Rows] | Rows: ...

    def kneighbors(
        self,
        X: MatrixLike | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> tuple[Floats, Rows] | Rows:
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
            indices, distances = self._nearest_by_kernel(self._rows_of(X), queries, wanted)
        else:
            indices, distances = self._nearest_by_estimate(queries, wanted)
        if X is None:
            indices, distances = _without_itself(indices, distances)
        return (np.maximum(distances, 0), indices) if return_distance else indices

    @overload
    def radius_neighbors(
        self,
        X: MatrixLike | None = ...,
        radius: float | None = ...,
        return_distance: Literal[True] = ...,
        sort_results: bool = ...,
    ) -> tuple[Objects, Objects]: ...

    @overload
    def radius_neighbors(
        self,
        X: MatrixLike | None = ...,
        radius: float | None = ...,
        *,
        return_distance: Literal[False],
        sort_results: bool = ...,
    ) -> Objects: ...

    @overload
    def radius_neighbors(
        self,
        X: MatrixLike | None = ...,
        radius: float | None = ...,
        return_distance: bool = ...,
        sort_results: bool = ...,
    ) -> tuple[Objects, Objects] | Objects: ...

    def radius_neighbors(
        self,
        X: MatrixLike | None = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> tuple[Objects, Objects] | Objects:
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
    ) -> CsrMatrix:
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
    ) -> CsrMatrix:
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
        if X is not None:
            i, j, similarity = self._similar_to(queries, self._rows_of(X), 1 - radius)
        else:
            i, j, similarity = self.similar_pairs(1 - radius)
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
        codes = self._queries(None)
        if not self.rerank:
            recall, n_jobs = self._recall, self.n_jobs
            return _search.similar(codes, None, threshold, recall, MAX_BUCKET, n_jobs)
        i, j = _search.candidates(codes, None, threshold, self._recall, self.n_jobs)
        rows = self._rows_of(None)
        return self._exactly(i, j, rows, rows, threshold)

    def recall_at(self, similarity: float) -> float:
        """The probability with which a row of this similarity to a query is found by hashing.

        Parameters
        ----------
        similarity : float
            Above 0, at most 1: the estimate, or with `rerank` the exact kernel.

        Returns
        -------
        recall : float
            What ``radius_neighbors`` reaches, and ``kneighbors`` with algorithm="lsh" for queries
            that have ``n_neighbors`` rows within `radius` (of a similarity of 0.5, where it is
            None), by the tables as they are now; 1 where all rows are compared. It is at least
            `recall` down to that similarity.

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
        codes = self._kept.like
        target = self._target(codes, self._least_similarity)
        asked = self._target(codes, _search.check_share("similarity", similarity))
        state = self._kept.serving(target)
        n_hashes = codes.n_hashes
        if not self.rerank:
            if state is None or state.bands is None:
                return 1.0
            return _bands.recall_of(state.bands, n_hashes, asked.least)
        counts = np.arange(target.least, n_hashes + 1)
        shares = stats.binom.pmf(counts, n_hashes, float(codes._least_rate(similarity)))
        if state is None or state.bands is None:
            return float(shares.sum())
        found = [_bands.recall_of(state.bands, n_hashes, int(count)) for count in counts]
        return float(shares @ found)

    if TYPE_CHECKING:

        def fit_transform(self, X: MatrixLike, y: Any = None) -> CsrMatrix: ...

    def transform(self, X: MatrixLike) -> CsrMatrix:
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

    # ---- files -----------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Write the index to a file for `load`; with `rerank`, its rows to ``path + ".rows.npz"``.

        The index is that of one moment, also while other threads add rows. Its tables are saved
        too: those for `radius`, and any that were made for a lower similarity.

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
            If the file cannot be written. The file before is then still there.
        """
        _sklearn.check_is_fitted(self, "map_")
        self._check_parameters()
        path = os.fspath(path)
        if self.radius is not None:
            self._kept.serving(self._target(self._kept.like, 1 - self._radius(self.radius)))
        with self._kept.lock:
            self._refuse_overwriting(path)
            own = secrets.token_hex(8)
            about = {
                "index": {name: getattr(self, name) for name in _SAVED_PARAMETERS},
                "index_version": _VERSION,
                "saved": own,
            }
            rows = self._kept.state.rows
            if rows is None:
                self._kept.save(path, about)
            else:
                with _output_files.atomic_output(path + ROWS) as file:
                    sp.save_npz(file, rows.joined(), compressed=False)
                    self._kept.save(path, about)  # the rows appear after the codes
            self._saved = os.path.realpath(path), own

    def _refuse_overwriting(self, path: str) -> None:
        """Raise where another writer would lose what it has written."""
        before, own = self._saved
        if before != os.path.realpath(path) or not os.path.exists(path):
            return
        there = PackedCodes._open(path, "r")[1].about.get("saved")
        if there != own:
            raise ValueError(
                f"{path} has another index than the one that was opened: save under another name"
            )

    @classmethod
    def load(cls, path: Any, *, mmap_mode: Literal["r", "c"] | None = "r") -> Self:
        """Open an index that was saved; its codes and tables are mapped into memory.

        Rows that are added to it stay in memory until it is saved again: the file is not changed.

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
        path = os.fspath(path)
        codes, contents = PackedCodes._open(path, mmap_mode)
        about = contents.about
        if "index" not in about:
            raise ValueError(f"{path} holds packed codes and no index: use PackedCodes.load")
        version = about.get("index_version")
        if version != _VERSION:
            raise ValueError(
                f"{path} holds an index of version {version}; this version of sparsemaps reads "
                f"version {_VERSION}"
            )
        parameters = about["index"]
        if not isinstance(parameters, dict) or set(parameters) != set(_SAVED_PARAMETERS):
            raise ValueError(f"{path} is damaged: its parameters cannot be read")
        try:
            index = cls(**{"map": _config.from_config(codes.config), **parameters})
            index._check_parameters()
        except (ValueError, OverflowError, RecursionError) as error:
            raise ValueError(f"{path} is damaged: {error}") from None
        if not _are_codes_of(codes, index.map):
            raise ValueError(f"{path} is damaged: its codes are not those of its map")
        rows = _load_rows(path + ROWS, len(codes)) if index.rerank else None
        index._kept = KeptRows.opened(path, codes, rows, contents)
        index.map_ = index.map
        index._saved = os.path.realpath(path), about.get("saved")
        return index

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

    def _begin(self, X: MatrixLike, n_rows: int | None) -> tuple[PackedCodes, Any]:
        """Fit the map; the index has the first `n_rows` rows of `X`. Codes and rows of all."""
        self._check_parameters()
        fitted = _sklearn.clone(self.map).fit(X)
        codes, rows = fitted.encode(X, packed=True), None
        if self.rerank:
            rows = _sparse.own_rows(X)
        self._kept = KeptRows(codes[:n_rows], None if rows is None else rows[:n_rows])
        self.map_ = fitted
        return codes, rows

    def _encoded(self, X: MatrixLike) -> tuple[PackedCodes, Any]:
        """The codes of rows that are to be added, and the rows themselves if they are kept."""
        rows = None if self._kept.state.rows is None else _sparse.own_rows(X)
        return self.map_.encode(X, packed=True), rows

    @property
    def codes_(self) -> PackedCodes:
        try:
            return self._kept.all_codes()
        except AttributeError:
            raise AttributeError("codes_ is there after fit") from None

    @property
    def n_samples_fit_(self) -> int:
        return self._kept.state.n_rows

    @property
    def n_features_in_(self) -> int | None:
        return self.map_._n_columns

    def _queries(self, X: MatrixLike | None) -> PackedCodes:
        _sklearn.check_is_fitted(self, "map_")
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
        """The queries as CSR, if the rows are kept."""
        rows = self._kept.state.rows
        if rows is None:
            return None
        return rows.joined() if X is None else _sparse.own_rows(X)

    def _target(self, codes: PackedCodes, threshold: float) -> Target:
        """What tables must find for a similarity."""
        if self.rerank:
            return Target(*_search.for_candidates(codes, threshold, self._recall))
        return Target(_search.least_agreeing(codes, threshold), self._recall)

    def _similar_to(
        self, queries: PackedCodes, rows: Any, threshold: float
    ) -> tuple[Array, Array, Array]:
        """Pairs of a query and a row whose similarity is at least `threshold`."""
        target = self._target(queries, _search.check_share("threshold", threshold))
        state, i, j, differing = self._kept.similar(queries, target, self.n_jobs)
        if state.rows is not None:
            return self._exactly(i, j, rows, state.rows, threshold)
        return _at_least(threshold, i, j, self._estimates(queries, state, i, j, differing))

    def _exactly(
        self, i: Array, j: Array, X: Any, Y: Any, threshold: float
    ) -> tuple[Array, Array, Array]:
        """Those of the pairs whose exact kernel is at least `threshold`."""
        return _at_least(threshold, i, j, exact_pairs(self.map_, X, Y, i, j))

    def _estimates(
        self, queries: PackedCodes, state: State, i: Array, j: Array, differing: Array
    ) -> Array:
        """The estimates of pairs of a query and a row, of which so many codes differ."""
        if not queries._takes_parts:
            return _search.estimates(queries, queries, i, j, differing)
        numbers, place = np.unique(j, return_inverse=True)
        return _search.estimates(queries, self._kept.gathered(state, numbers), i, place, differing)

    def _nearest(self, queries: PackedCodes, k: int) -> tuple[State, Array, Array]:
        """As `_brute.nearest`; by "lsh", of queries with enough similar rows, these."""
        if self.algorithm != "lsh":
            return self._kept.nearest(queries, k, self.n_jobs)
        target = Target(_search.least_agreeing(queries, self._least_similarity), self.recall)
        state, i, j, differing = self._kept.similar(queries, target, self.n_jobs)
        n_found = np.bincount(i, minlength=len(queries))
        indices = np.full((len(queries), k), -1, np.int64)
        agreements = np.zeros((len(queries), k), np.int32)
        order = np.lexsort((j, differing, i))
        first = np.concatenate([[0], np.cumsum(n_found)])[:-1]
        complete = np.flatnonzero(n_found >= k)
        places = order[first[complete, None] + np.arange(k)]
        indices[complete], agreements[complete] = j[places], queries.n_hashes - differing[places]
        few = np.flatnonzero(n_found < k)
        if len(few):
            state, indices[few], agreements[few] = self._kept.nearest(queries[few], k, self.n_jobs)
        return state, indices, agreements

    @property
    def _least_similarity(self) -> float:
        """That of the rows which "lsh" looks for before all rows."""
        return _SIMILAR if self.radius is None else 1 - self._radius(self.radius)

    def _nearest_by_estimate(self, queries: PackedCodes, k: int) -> tuple[Array, Array]:
        """Of each query, the k nearest rows and their distances, ascending."""
        state, indices, agreements = self._nearest(queries, k)
        distances = np.full(indices.shape, np.inf)
        row, place = np.nonzero(indices >= 0)
        differing = queries.n_hashes - agreements[row, place].astype(np.int64)
        distances[row, place] = 1 - self._estimates(
            queries, state, row, indices[row, place], differing
        )
        return _by_distance(indices, distances, k)

    def _nearest_by_kernel(self, rows: Any, queries: PackedCodes, k: int) -> tuple[Array, Array]:
        """The same by the exact kernel of candidates, which are taken by the codes.

        Of queries that may have nearer rows beyond their candidates, four times as many are taken,
        until the recall is reached.
        """
        indices = np.full((len(queries), k), -1, np.int64)
        distances = np.full((len(queries), k), np.inf)
        left, n = np.arange(len(queries)), 4 * k + 16
        while len(left):
            n = min(n, self.n_samples_fit_)
            incomplete = []
            step = max(1, _CANDIDATES // n)
            for some in np.split(left, range(step, len(left), step)):
                state, found, agreements = self._nearest(queries[some], n)
                exact = np.full(found.shape, np.inf)
                row, place = np.nonzero(found >= 0)
                exact[row, place] = 1 - exact_pairs(
                    self.map_, rows[some], state.rows, row, found[row, place]
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


def _at_least(
    threshold: float, i: Array, j: Array, similarity: Array
) -> tuple[Array, Array, Array]:
    kept = similarity >= threshold - 1e-12
    return i[kept], j[kept], similarity[kept]


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
