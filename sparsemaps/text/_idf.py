"""Inverse document frequency weights of columns."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from sparsemaps._input import _sparse
from sparsemaps._input._estimator_input import read_input
from sparsemaps._input._row_reader import RowReader
from sparsemaps._io import _text_input
from sparsemaps._io._described_files import damage_named
from sparsemaps._loops import text as _text
from sparsemaps._tools import _checks, _sklearn, _threads
from sparsemaps._tools._allowed import Allowed, Bool, PowerOfTwo, Real
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import Array, CsrMatrix, MatrixLike, StrPath
from sparsemaps.text import _frequencies
from sparsemaps.text._frequencies import KEY, LARGEST_N_BUCKETS, Frequencies

LARGEST_N_KNOWN = 2**15
"""Largest number of precomputed weights; they stay in the second-level cache."""

_SAVED = "power", "levels", "n_buckets", "sublinear_tf"


class IdfWeights(_sklearn.OneToOneFeatureMixin, _sklearn.TransformerMixin, _sklearn.BaseEstimator):
    r"""Inverse document frequency weights for rows of hashed n-grams.

    If :math:`\mathrm{df}` of :math:`N` counted records have a column, a value :math:`x` of the
    column becomes

    .. math::

        \mathrm{levels} \cdot w \cdot (1 + \ln x), \qquad
        w = \left(\frac{\ln((N + 1) / (\mathrm{df} + 1))}{\ln((N + 1) / 2)}\right)^p.

    The weight :math:`w` is 1 for a column that one record has, and 0 for a column that all records
    have. The values are real numbers of levels, for
    ``ConsistentWeightedSampling(method="levels")``.

    Parameters
    ----------
    power : float, default=2.0
        The power :math:`p` of weights, from 0 to 100. With 0, all columns have the weight 1, except
        those that all records have.
    levels : float, default=16
        The value of a count of 1 in a column that one record has, above 0. If values are rounded to
        whole numbers, more levels distinguish weights more finely.
    n_buckets : int, default=2**22
        Number of counts in the table, a power of two from 2 to 2**32. Each takes 4 bytes of memory
        and little more than one byte in a file. Columns whose hashes share a bucket share one
        weight, by the number of records that have any of them. :doc:`/frequencies` shows the
        effect.
    sublinear_tf : bool, default=True
        Whether a value above 1 counts as :math:`1 + \ln x`, as in scikit-learn's
        ``TfidfTransformer``, instead of :math:`x`. Values below 1 count unchanged.
    n_jobs : int or None, default=None
        Number of threads: None is one, -1 all processors. The output does not depend on it.

    Attributes
    ----------
    n_records_ : int
        Number of counted records.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if ``fit`` saw names.

    See Also
    --------
    HashingVectorizer : Makes the rows, with ``norm=None`` and ``alternate_sign=False``.
    sparsemaps.ConsistentWeightedSampling : Takes the weighted rows.

    Notes
    -----
    A record has a column if its value is not 0. The memory is fixed: columns are counted by a hash,
    whatever their number. Collisions can make a rare column look more frequent, never less
    frequent. Counts of shards add up to the counts of the whole: ``partial_fit`` counts more
    records, ``merge`` adds another table. A column that no record has gets the weight 1, like a
    column of a single record. If at most two records were counted, each column has the weight 1.
    The weighted value of a negative number is the negative of the weighted value of its absolute
    value. Zeros due to a weight stay stored.

    `power`, `levels` and `sublinear_tf` do not change the table; new values take effect at once.
    Rows that were weighted by different tables or parameters are not comparable; ``to_config``
    tells them apart.

    References
    ----------
    K. Spärck Jones, "A statistical interpretation of term specificity and its application in
    retrieval", Journal of Documentation 28, 1972.

    Examples
    --------
    >>> from sparsemaps.text import HashingVectorizer, IdfWeights
    >>> texts = ["the cat sat", "the dog sat", "the cow ate", "the end"]
    >>> X = HashingVectorizer(norm=None, alternate_sign=False).transform(texts)
    >>> weights = IdfWeights(levels=16).fit(X)
    >>> weights.transform(X)[0].data.round(1).tolist()  # "sat", "the", "cat"
    [5.0, 0.0, 16.0]
    """

    _allowed: ClassVar[Mapping[str, Allowed]] = {
        "power": Real(least=0.0, most=100),
        "levels": Real(above=0, most=2**31),
        "n_buckets": PowerOfTwo(2, LARGEST_N_BUCKETS),
        "sublinear_tf": Bool(),
    }

    _table: Frequencies
    n_features_in_: int

    def __init__(
        self,
        *,
        power: float = 2.0,
        levels: float = 16,
        n_buckets: int = 2**22,
        sublinear_tf: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.power = power
        self.levels = levels
        self.n_buckets = n_buckets
        self.sublinear_tf = sublinear_tf
        self.n_jobs = n_jobs

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Count the records that have each column.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Each row is a record.
        y : None
            Ignored. scikit-learn's pipelines pass it.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter is not allowed, or if X is malformed or not finite.
        """
        self._check_parameters()
        rows = read_input(self, X, None, reset=True)
        table = Frequencies(self.n_buckets)
        table.add(rows, self.n_jobs)
        self._table = table
        return self

    def partial_fit(self, X: MatrixLike, y: object = None) -> Self:
        """Count further records.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Each row is a record.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The transformer, as if one ``fit`` had counted all records.

        Raises
        ------
        ValueError
            As in ``fit``, and if the number of columns or `n_buckets` differs from the earlier
            records. In these cases no row of X is counted.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X)
        self._check_parameters()
        self._refuse_other_n_buckets()
        rows = read_input(self, X, None, reset=False)
        blocks = rows.blocks(self.n_jobs)
        _threads.run(lambda *block: len(rows.block(*block)), blocks, self.n_jobs)  # checks entries
        self._table.add(rows, self.n_jobs)
        return self

    def merge(self, other: "IdfWeights") -> Self:
        """Add the counts of other records, such as another shard.

        Parameters
        ----------
        other : IdfWeights
            A fitted transformer with the same `n_buckets` and number of columns.

        Returns
        -------
        self : object
            The transformer, as if it had counted the records of both.

        Raises
        ------
        ValueError
            If `other` is not a fitted transformer with a table of the same form.
        """
        _sklearn.check_is_fitted(self, "_table")
        if not isinstance(other, IdfWeights) or not other.__sklearn_is_fitted__():
            raise ParameterError("other", repr(other), "a fitted IdfWeights")
        if other.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"both must be fitted to rows of as many columns, got {self.n_features_in_} and "
                f"{other.n_features_in_}"
            )
        self._table.merge(other._table)
        return self

    def transform(self, X: MatrixLike) -> CsrMatrix:
        """Weight each value by how few records have its column.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with int32 or int64 indices is read in place; other formats are converted.

        Returns
        -------
        X_new : CSR matrix of shape (n_samples, n_features)
            float32 if `X` is float32, otherwise float64. A ``csr_array`` if `X` is a sparse array
            or scikit-learn's ``sparse_interface`` asks for it, otherwise a ``csr_matrix``.

        Raises
        ------
        ValueError
            As in ``fit``; if the number of columns differs from ``fit``; or if a value times
            `levels` is beyond its type.
        """
        _sklearn.check_is_fitted(self, "_table")
        self._check_parameters()
        rows = read_input(self, X, None, reset=False)
        weigh = self.weighting(rows.work_before(rows.n_rows)).weigh
        parts = _threads.run(
            partial(self._weighted, rows, weigh), rows.blocks(self.n_jobs), self.n_jobs
        )
        values, columns, lengths = (
            (np.concatenate(arrays) if len(arrays) > 1 else arrays[0])
            for arrays in zip(*parts or [_nothing(rows)], strict=True)
        )
        index_type = _sparse.index_type(max(rows.n_columns, len(columns)))
        indptr = np.zeros(rows.n_rows + 1, index_type)
        np.cumsum(lengths, out=indptr[1:])
        arrays = values, columns.astype(index_type, copy=False), indptr
        return _sparse.csr_of(rows.container, arrays, (rows.n_rows, rows.n_columns))

    if TYPE_CHECKING:

        def fit_transform(self, X: MatrixLike, y: object = None) -> CsrMatrix: ...

    @property
    def n_records_(self) -> int:
        """Number of counted records."""
        _sklearn.check_is_fitted(self, "_table")
        return self._table.n_records

    def to_config(self) -> dict[str, Any]:
        """Describe the fitted transformer by a dictionary that ``json.dumps`` accepts.

        Returns
        -------
        config : dict
            "class" and "parameters" without `n_jobs`, "n_features", "n_records", and "table", a
            digest of the counts. Two transformers have equal dictionaries if and only if they have
            the same parameters and the same counts.
        """
        _sklearn.check_is_fitted(self, "_table")
        return {
            **self._about(),
            "n_records": self._table.n_records,
            "table": self._table.digest(),
        }

    def save(self, path: StrPath) -> None:
        """Write the table and the parameters to a file for `load`.

        Parameters
        ----------
        path : str or path-like
            The file, which appears when it is complete. It takes little more than one byte per
            bucket. `n_jobs` and the names of columns are not saved.

        Raises
        ------
        OSError
            If the file cannot be written. An earlier file of this name is then left unchanged.
        """
        _sklearn.check_is_fitted(self, "_table")
        if _text_input.without_compression(os.fspath(path)) != os.fspath(path):
            raise ValueError(f"{path}: a table of frequencies is not compressed")
        _frequencies.write(path, self._table, self._about())

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Read a saved transformer.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        weights : IdfWeights
            Its output has the same bits as the output of the saved transformer. It can count
            further records and be merged in the same way.

        Raises
        ------
        ValueError
            If the file does not hold a transformer of this class, is truncated or damaged, or has
            another version.
        """
        path = os.fspath(path)
        table, description = _frequencies.read(path)
        if description.get("class") != "IdfWeights":
            raise ValueError(f"{path} holds a {description.get('class')!r}, not an IdfWeights")
        with damage_named(path, "its parameters"):
            return cls._of_table(description, table)

    @classmethod
    def _of_table(cls, description: dict[str, Any], table: Frequencies) -> Self:
        """Return the transformer of a description and a table. Raise KeyError, TypeError or
        ValueError if they are invalid."""
        parameters = description["parameters"]
        if sorted(parameters) != sorted(_SAVED):
            raise ValueError("its parameters differ from those of IdfWeights")
        weights = cls(**parameters)
        weights._check_parameters()
        if table.counts.shape != (1, weights.n_buckets) or table.counts.itemsize != 4:
            raise ValueError("its table does not have its number of buckets")
        weights.n_features_in_ = _checks.check_int(
            "n_features", description["n_features"], 1, _checks.LARGEST_INT
        )
        weights._table = table
        return weights

    @classmethod
    def of_frequencies(cls, table: Frequencies, n_features: int, **parameters: Any) -> Self:
        """Return a fitted transformer with a table that was counted elsewhere."""
        weights = cls(n_buckets=table.counts.shape[1], **parameters)
        weights._check_parameters()
        weights.n_features_in_, weights._table = n_features, table
        return weights

    # ---- in the files of others ------------------------------------------------------------------

    def describe_table(self) -> dict[str, Any]:
        """Return the description that `read_before` needs, for JSON."""
        return {**self._about(), **_frequencies.facts_of(self._table)}

    def table_bytes(self) -> Iterator[memoryview]:
        """Yield the bytes of the table in a file."""
        return _frequencies.bytes_of(self._table)

    @classmethod
    def read_before(
        cls, file: IO[bytes], description: dict[str, Any], end: int
    ) -> tuple[Self, int]:
        """Return the transformer of a description whose table ends before byte `end` of a file, and
        the place where the table begins. Raise KeyError, TypeError or ValueError if they are
        invalid."""
        table, start = _frequencies.read_before(file, description, end)
        return cls._of_table(description, table), start

    def _about(self) -> dict[str, Any]:
        return {
            "class": "IdfWeights",
            "parameters": {
                "power": float(self.power),
                "levels": float(self.levels),
                "n_buckets": int(self._table.counts.shape[1]),
                "sublinear_tf": bool(self.sublinear_tf),
            },
            "n_features": int(self.n_features_in_),
        }

    def _check_parameters(self) -> None:
        for name, allowed in self._allowed.items():
            allowed.check(name, getattr(self, name))

    def _refuse_other_n_buckets(self) -> None:
        counted = self._table.counts.shape[1]
        if counted != self.n_buckets:
            raise ParameterError(
                "n_buckets", str(self.n_buckets), f"{counted}, as before, to count more records"
            )

    def _weighted(
        self, rows: RowReader, weigh: Callable[..., Any], start: int, stop: int
    ) -> tuple[Array, Array, Array]:
        """Return the weighted values, the columns, and the numbers of entries of some rows."""
        block = rows.block(start, stop)
        entries = slice(block.indptr[0], block.indptr[-1])
        columns = block.indices[entries].copy()
        if len(columns) and not 0 <= columns.min() <= columns.max() < rows.n_columns:
            raise ValueError("X changed while it was read: a column is out of range")
        values = np.empty(len(columns), block.values.dtype)
        weigh(columns, block.values[entries], values)
        if not np.isfinite(values).all():
            wrong = int(np.argmin(np.isfinite(values)))
            row = start + int(np.searchsorted(block.indptr, entries.start + wrong, "right")) - 1
            raise ValueError(
                f"X has {block.values[entries][wrong]:g} in row {row}, column {columns[wrong]}; "
                f"times levels={self.levels} it is beyond {values.dtype}"
            )
        return values, columns, np.diff(block.indptr)

    def weighting(self, n_entries: int = LARGEST_N_KNOWN) -> Any:
        """Return the compiled weighting by the current table and parameters. With enough entries to
        weigh, the weights of the lowest frequencies are precomputed."""
        table = self._table
        n_known = min(table.n_records + 1, n_entries, LARGEST_N_KNOWN)
        return _text.IdfWeighting(
            table.counts, KEY, table.n_records, self.power, self.levels, self.sublinear_tf, n_known
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_table" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _nothing(rows: RowReader) -> tuple[Array, Array, Array]:
    """Return the values, columns and numbers of entries of no rows."""
    return np.empty(0, rows.dtype), np.empty(0, np.int32), np.empty(0, np.int64)
