"""What all maps share: scikit-learn's estimator API, checks, threads, and output containers.

There are two kinds of maps. A plain `SparseMap` makes its output in ``_transform``. A `SampledMap`
draws `n_hashes` small integers for each row, and has its one-hot and packed output from here.
"""

import copy
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, TypeVar, overload

import numpy as np
import scipy.sparse as sp

from sparsemaps import _rows, _seeding, _sklearn, _threads, _validation
from sparsemaps._arrays import GrowingArray, keep_rows
from sparsemaps._kernels.code_output import NUMBERS, ONE_HOT_COLUMNS, PACKED
from sparsemaps._packed import PackedCodes, rows_with_bits
from sparsemaps._rows import Block, RowReader
from sparsemaps._typing import Array, Matrix, MatrixLike

T = TypeVar("T")

_PART_SIZE = 2**18
"""Entries of CSR output that a thread writes before they are appended to the output."""

_NOT_IN_CONFIG = ("random_state", "n_jobs")
"""Parameters that `to_config` leaves out: the seed has an entry of its own."""


class SparseMap(
    _sklearn.ClassNamePrefixFeaturesOutMixin,
    _sklearn.TransformerMixin,
    _sklearn.BaseEstimator,
    ABC,
):
    """A random feature map: a pure function of (seed, row), the same for every row.

    ``fit`` draws the seed and makes a frozen copy of the map, with all its parameters as they are
    then. Everything that uses a fitted map is done by that copy, so that ``set_params`` takes
    effect at the next ``fit``. A subclass has

    - ``_check_parameters()``, which raises where a parameter is not what is allowed;
    - ``_width``, the width of the output;
    - ``_transform(rows)``, the output for a `RowReader`;
    - ``_exact_kernel(X, Y)``, the kernel that it approximates;

    and, where it differs from what is here,

    - ``_prepare(n_columns, rows)``, which computes once what ``_transform`` needs beside the
      parameters, and those that depend on the data;
    - ``_nonnegative_rule``, ``_shares_columns``, ``_n_samples``, ``has_codes``, ``is_one_hot``.

    These methods see the frozen copy as ``self``.
    """

    n_jobs: int | None
    random_state: Any
    seed_: int
    n_features_in_: int

    _shares_columns: ClassVar[bool] = False
    """Whether larger blocks of rows are cheaper, because rows share what is made of a column."""

    @property
    def _nonnegative_rule(self) -> str | None:
        """Where values must be >= 0, the sentence that tells a user how to go on."""
        return None

    @property
    def has_codes(self) -> bool:
        """Whether the map has ``encode``."""
        return False

    @property
    def is_one_hot(self) -> bool:
        """Whether ``transform`` gives the codes of the map as one-hot features."""
        return False

    _sparse_components: ClassVar[bool] = False
    """Whether ``dense_output=True`` is needed for one number for each component in a row."""

    @property
    def _has_components(self) -> bool:
        """Whether the output, if dense, is one number for each component."""
        return True

    @property
    def _n_samples(self) -> int:
        """Number of random components that the estimate is a mean of."""
        return int(self.n_components)  # type: ignore[attr-defined]  # the others override this

    # ---- for users -------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: Any = None) -> Self:
        """Check parameters and data, and draw the seed.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Only its number of columns is kept.
        y : None
            Ignored; here for scikit-learn's pipelines.

        Returns
        -------
        self : object
            The fitted map.

        Raises
        ------
        ValueError
            If a parameter is not one of the allowed, or X is not finite, sound and, where the
            kernel needs it, non-negative.
        """
        self._check_parameters()
        rows = self._read_input(X, reset=True)
        self._for_each_block(rows, lambda block, start, stop: None)  # which checks every entry
        return self._finish_fit(rows.n_columns, rows)

    def fit_any_width(self) -> Self:
        """Fit the map without data, for rows of any width.

        For streams and files, whose number of columns nobody knows beforehand. ``transform`` then
        takes matrices of any number of columns, and the map has no ``n_features_in_``. The numbers
        are those of a map that is fitted to data.

        Returns
        -------
        self : object
            The fitted map.

        Raises
        ------
        ValueError
            If a parameter is not one of the allowed, or is to be taken from the data.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> from sparsemaps import CountSketch
        >>> sketch = CountSketch(n_components=8, random_state=0).fit_any_width()
        >>> sketch.transform(sp.eye_array(2, 5)).shape, sketch.transform(sp.eye_array(3)).shape
        ((2, 8), (3, 8))
        """
        self._check_parameters()
        for name in ("n_features_in_", "feature_names_in_"):
            vars(self).pop(name, None)
        return self._finish_fit(None, None)

    def transform(self, X: MatrixLike) -> Matrix:
        """Map each row of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with int32 or int64 indices is read in place; other formats are converted.

        Returns
        -------
        X_new : {ndarray, sparse matrix} of shape (n_samples, n_features_out)
            float32 if `X` is float32, otherwise float64. Sparse output is CSR: a ``csr_array`` if
            `X` is a sparse array or scikit-learn's ``sparse_interface`` asks for it, otherwise a
            ``csr_matrix``.

        Raises
        ------
        ValueError
            As in ``fit``, and if the number of columns is another.
        """
        fitted = self._fitted()
        return fitted._transform(self._read_input(X, reset=False))

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None = None) -> Array:
        """The exact kernel that the fitted map approximates, for all pairs of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_X, n_features)
            Rows as ``transform`` takes them; sparse ones are not made dense.
        Y : {array-like, sparse matrix} of shape (n_Y, n_features) or None, default=None
            The other rows; None is `X`.

        Returns
        -------
        K : ndarray of shape (n_X, n_Y)
            What the inner products of the rows of ``transform(X)`` and ``transform(Y)`` estimate.

        Raises
        ------
        ValueError
            As in ``transform``.
        """
        fitted = self._fitted()
        X = _validation.sound_matrix(X, "X")
        if Y is not None:
            Y = _validation.sound_matrix(Y, "Y")
        return np.asarray(fitted._exact_kernel(X, Y))

    def to_config(self) -> dict[str, Any]:
        """What makes this fitted map again, as a dictionary for ``json.dumps``.

        Returns
        -------
        config : dict
            "class" and "parameters" of the map, "seed", "scheme" (the number of the family of
            random numbers) and "n_features" (None where the map was fitted for any width).
            Parameters that were taken from the data are there as numbers. `random_state`, `n_jobs`
            and the names of columns are left out.

        Raises
        ------
        ValueError
            If a parameter has no JSON, such as a function.

        See Also
        --------
        sparsemaps.from_config : The way back.

        Examples
        --------
        >>> from sparsemaps import CountSketch, from_config
        >>> config = CountSketch(n_components=8, random_state=3).fit_any_width().to_config()
        >>> config["class"], config["parameters"], config["seed"], config["n_features"]
        ('CountSketch', {'dense_output': False, 'n_components': 8}, 3, None)
        >>> from_config(config).seed_
        3
        """
        fitted = self._fitted()
        return {
            **fitted._describe(),
            "seed": self.seed_,
            "scheme": _seeding.SCHEME,
            "n_features": vars(fitted).get("n_features_in_"),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._nonnegative_rule is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_frozen" in vars(self)

    # ---- what a subclass has ---------------------------------------------------------------------

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise a ValueError that names the parameter which is not allowed."""

    @property
    @abstractmethod
    def _width(self) -> int:
        """Width of the output."""

    @abstractmethod
    def _transform(self, rows: RowReader) -> Matrix:
        """Output for `rows`: an ndarray, or CSR of ``rows.container``."""

    @abstractmethod
    def _exact_kernel(self, X: MatrixLike, Y: MatrixLike | None) -> Array:
        """The kernel of the rows of `X` and `Y`, None for `X` again; sparse matrices are sound."""

    def _prepare(self, n_columns: int | None, rows: RowReader | None) -> None:
        """Compute what ``_transform`` needs beside the parameters.

        Both arguments are None where the width is not known, and `rows` where there are no data.
        Attributes whose name ends in an underscore become public ones of the fitted map.
        """

    def _describe(self) -> dict[str, Any]:
        """Class and parameters, as JSON has them."""
        parameters = self.get_params(deep=False).items()
        return {
            "class": type(self).__name__,
            "parameters": {
                name: _as_json(name, value)
                for name, value in parameters
                if name not in _NOT_IN_CONFIG
            },
        }

    # ---- fitting ---------------------------------------------------------------------------------

    def _finish_fit(self, n_columns: int | None, rows: RowReader | None) -> Self:
        """Draw the seed and freeze the map."""
        vars(self).pop("_frozen", None)
        self.seed_ = _seeding.draw_seed(self.random_state)
        frozen = copy.copy(self)
        frozen.random_state = self.seed_
        for name, value in self.get_params(deep=False).items():
            if name not in _NOT_IN_CONFIG:
                # NumPy's numbers become Python's, whose arithmetic does not overflow.
                value = value.item() if isinstance(value, np.generic) else copy.deepcopy(value)
                setattr(frozen, name, value)
        frozen._prepare(n_columns, rows)
        public = {name: value for name, value in vars(frozen).items() if name.endswith("_")}
        vars(self).update(public)
        self._frozen: Self = frozen
        return self

    def _fitted(self) -> Self:
        """The map as it was at ``fit``, with the present number of threads."""
        if "_frozen" not in vars(self):
            _sklearn.check_is_fitted(self)
        fitted = copy.copy(self._frozen)
        fitted.n_jobs = self.n_jobs
        return fitted

    @property
    def _n_features_out(self) -> int:
        """Width of the output of the fitted map: scikit-learn asks for it by this name."""
        return self._frozen._width

    # ---- reading ---------------------------------------------------------------------------------

    def _read_input(self, X: MatrixLike, *, reset: bool) -> RowReader:
        """`X`, with the checks of scikit-learn; its entries are checked when they are read."""
        # What is read by a fitted map must suit the map as it was at ``fit``.
        rule = (self if reset else self._frozen)._nonnegative_rule
        if sp.issparse(X):
            rows = _rows.open_rows(X, rule)
            self._check_shape(X, reset)
            return rows
        X = _sklearn.validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",  # data frames of sparse columns become that
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,  # RowReader does, and names the row
            ensure_min_samples=1 if reset else 0,
        )
        return _rows.open_rows(X, rule) if sp.issparse(X) else _rows.open_dense(X, rule)

    def _check_shape(self, X: Any, reset: bool) -> None:
        """What scikit-learn asks of the shape of a sparse matrix."""
        minima = (("sample(s)", int(reset)), ("feature(s)", 1))
        for length, (what, minimum) in zip(X.shape, minima, strict=True):
            if length < minimum:
                raise ValueError(
                    f"Found array with {length} {what} (shape={X.shape}) while a minimum of "
                    f"{minimum} is required by {type(self).__name__}."
                )
        known = vars(self)
        if (
            reset
            or "feature_names_in_" in known
            or known.get("n_features_in_", X.shape[1]) != X.shape[1]
        ):
            _sklearn.validate_data(self, X, reset=reset, skip_check_array=True)

    # ---- making output ---------------------------------------------------------------------------

    def _for_each_block(self, rows: RowReader, function: Callable[[Block, int, int], T]) -> list[T]:
        """Call ``function(block, start, stop)`` for blocks of `rows`; results in order."""
        return _threads.run(
            lambda start, stop: function(rows.block(start, stop), start, stop),
            self._cut(rows),
            self.n_jobs,
        )

    def _make_csr(
        self,
        rows: RowReader,
        max_entries: Callable[[Array], Array],
        write: Callable[[Block, Array, Array, Array], int],
        width: int,
    ) -> Matrix:
        """CSR output whose rows have as many entries as ``write`` finds.

        ``write(block, values, columns, lengths)`` fills rows one behind the other and returns how
        many entries there are; ``max_entries(lengths)`` gives the largest possible number of
        entries in the output of rows of so many input entries.
        """
        blocks = [
            (start + first, start + last)
            for start, stop in self._cut(rows)
            for first, last in _threads.cut_by_size(
                max_entries(rows.lengths(start, stop)), _PART_SIZE
            )
        ]
        sizes = [int(max_entries(rows.lengths(*block)).sum()) for block in blocks]
        capacity, max_size = sum(sizes), max(sizes, default=0)
        index_type = _validation.index_type(max(capacity, width))
        values, columns = GrowingArray(rows.dtype, capacity), GrowingArray(index_type, capacity)
        indptr = np.zeros(rows.n_rows + 1, index_type)
        # Arrays that are free again, as touching new memory costs time.
        spare: deque[tuple[Array, Array]] = deque()

        def write_block(start: int, stop: int) -> tuple[tuple[Array, Array], int]:
            block = rows.block(start, stop)
            if max_entries(np.diff(block.indptr)).sum() > max_size:
                raise ValueError("X has got more entries while it was read")
            try:
                part = spare.pop()
            except IndexError:
                part = np.empty(max_size, rows.dtype), np.empty(max_size, index_type)
            return part, write(block, *part, indptr[1 + start : 1 + stop])

        for part, n in _threads.stream(write_block, blocks, self.n_jobs):
            values.append(part[0][:n])
            columns.append(part[1][:n])
            spare.append(part)
        np.cumsum(indptr, out=indptr)
        arrays = values.finish(), columns.finish(), indptr
        return rows.container(arrays, shape=(rows.n_rows, width))

    def _cut(self, rows: RowReader) -> list[tuple[int, int]]:
        """The blocks (start, stop) in which `rows` are read."""
        n_jobs = _threads.resolve_n_jobs(self.n_jobs)
        max_work = _threads.BLOCK_ENTRIES * (2 if self._shares_columns else 1)
        return _threads.cut_rows(rows.n_rows, rows.work_before, n_jobs, max_work)


class SampledMap(SparseMap):
    """A map that draws `n_hashes` codes of a few bits for each row, such that the rate at which two
    rows' codes agree is the kernel.

    A subclass has, beside what `SparseMap` says,

    - ``_code_bits``, the number of bits of a code;
    - ``_write_codes(block, layout, out)``, which writes the codes of a block's rows in one of three
      layouts: ``PACKED`` into bytes, all 0 in a row that has no sample; ``NUMBERS``, the codes as
      int32; ``ONE_HOT_COLUMNS``, of int32 or int64, ``j * 2**bits + code`` for code j. Numbers and
      columns are -1 in a row that has no sample.
    """

    n_hashes: int

    @property
    @abstractmethod
    def _code_bits(self) -> int:
        """Bits of one code."""

    @abstractmethod
    def _write_codes(self, block: Block, layout: int, out: Array) -> None:
        """Write the codes of a block's rows into `out`."""

    @property
    def has_codes(self) -> bool:
        return True

    @property
    def is_one_hot(self) -> bool:
        return True

    @property
    def _n_samples(self) -> int:
        return int(self.n_hashes)

    @property
    def _one_hot_width(self) -> int:
        return self.n_hashes << self._code_bits

    @property
    def _width(self) -> int:
        return self._one_hot_width

    @overload
    def encode(self, X: MatrixLike, *, packed: Literal[False] = False) -> Array: ...

    @overload
    def encode(self, X: MatrixLike, *, packed: Literal[True]) -> PackedCodes: ...

    def encode(self, X: MatrixLike, *, packed: bool = False) -> Array | PackedCodes:
        """Map each row of `X` to packed codes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in ``transform``.
        packed : bool, default=False
            Return `PackedCodes`, which know the map and which rows have samples.

        Returns
        -------
        codes : ndarray of uint8, shape (n_samples, ceil(n_hashes * bits / 8)), or PackedCodes
            The codes of a row one behind the other, lowest bit first, as
            ``np.packbits(..., bitorder="little")`` lays them out; `bits` includes `t_bits` where a
            map has them. A row that has no sample is all zeros.

        Raises
        ------
        ValueError
            As in ``transform``.
        """
        _validation.check_bool("packed", packed)
        fitted = self._fitted()
        rows = self._read_input(X, reset=False)
        out = np.empty((rows.n_rows, (fitted.n_hashes * fitted._code_bits + 7) // 8), np.uint8)
        sampled = np.ones(rows.n_rows, bool)

        def write(block: Block, start: int, stop: int) -> None:
            fitted._write_codes(block, PACKED, out[start:stop])
            if packed:
                fitted._find_samples(block, out[start:stop], sampled[start:stop])

        fitted._for_each_block(rows, write)
        if not packed:
            return out
        return PackedCodes(
            out, fitted._code_bits, self.to_config(), n_hashes=fitted.n_hashes, sampled=sampled
        )

    def _find_samples(self, block: Block, codes: Array, sampled: Array) -> None:
        """Which rows of a block have samples: of rows whose codes are all 0, their numbers tell."""
        number = np.empty((1, self.n_hashes), np.int32)
        for row in np.flatnonzero(~rows_with_bits(codes)).tolist():
            self._write_codes(block.rows(row, row + 1), NUMBERS, number)
            sampled[row] = number[0, 0] >= 0

    def _codes_as_numbers(self, X: MatrixLike) -> Array:
        """The codes of each row as int32, -1 in rows without."""
        fitted = self._fitted()
        rows = self._read_input(X, reset=False)
        return fitted._make_codes(rows, NUMBERS, fitted.n_hashes, np.int32)

    def _make_codes(self, rows: RowReader, layout: int, width: int, dtype: Any) -> Array:
        out = np.empty((rows.n_rows, width), dtype)
        self._for_each_block(
            rows, lambda block, start, stop: self._write_codes(block, layout, out[start:stop])
        )
        return out

    def _transform(self, rows: RowReader) -> Matrix:
        columns, indptr, _ = self._one_hot(rows)
        values = np.full(len(columns), 1 / np.sqrt(self.n_hashes), rows.dtype)
        return rows.container((values, columns, indptr), shape=(rows.n_rows, self._width))

    def _one_hot(self, rows: RowReader) -> tuple[Array, Array, Array]:
        """Columns and indptr of the output as CSR; which rows have any entries."""
        n_stored = rows.n_rows * self.n_hashes
        index_type = _validation.index_type(max(self._one_hot_width, n_stored))
        columns = self._make_codes(rows, ONE_HOT_COLUMNS, self.n_hashes, index_type)
        sampled = columns[:, 0] >= 0
        indptr = np.zeros(rows.n_rows + 1, index_type)
        np.cumsum(sampled, out=indptr[1:])
        indptr *= self.n_hashes
        return keep_rows(columns, sampled).reshape(-1), indptr, sampled


def _as_json(name: str, value: Any) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, SparseMap):
        return value._describe()
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_as_json(name, item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{name} must be a number, a string or a sequence of them, got {value!r}")
