"""The base class of maps that draw codes: packed codes and one-hot features."""

from abc import abstractmethod
from typing import Any, Literal, overload

import numpy as np

from sparsemaps._input import _sparse
from sparsemaps._input._row_reader import Block, RowReader
from sparsemaps._loops.code_output import NUMBERS, ONE_HOT_COLUMNS, PACKED
from sparsemaps._tools import _checks
from sparsemaps._tools._growing_array import keep_rows
from sparsemaps._tools._typing import Array, Bytes, Matrix, MatrixLike, Output
from sparsemaps.codes._code_checks import LARGEST_SET, rows_with_bits
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.maps._texts import EncodesTexts


class SampledMap(SparseMap[Output], EncodesTexts):
    """A map that draws `n_hashes` codes of a few bits for each row, such that the rate at which two
    rows' codes agree is the kernel.

    A subclass has the methods that `SparseMap` lists, and

    - ``_code_bits``, the number of bits of a code;
    - ``_write_codes(block, layout, out)``, which writes the codes of a block's rows in one of three
      layouts: ``PACKED`` into bytes, all 0 in a row that has no sample; ``NUMBERS``, the codes as
      int32; ``ONE_HOT_COLUMNS``, of int32 or int64, ``j * 2**bits + code`` for code j. Numbers and
      columns are -1 in a row that has no sample.
    """

    n_hashes: int

    _size_name = "n_hashes"

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
    def _one_hot_width(self) -> int:
        return self.n_hashes << self._code_bits

    @property
    def _width(self) -> int:
        return self._one_hot_width

    @overload
    def encode(self, X: MatrixLike, *, packed: Literal[False] = False) -> Bytes: ...

    @overload
    def encode(self, X: MatrixLike, *, packed: Literal[True]) -> PackedCodes: ...

    @overload
    def encode(self, X: MatrixLike, *, packed: bool) -> Bytes | PackedCodes: ...

    def encode(self, X: MatrixLike, *, packed: bool = False) -> Bytes | PackedCodes:
        """Map each row of `X` to packed codes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in ``transform``.
        packed : bool, default=False
            Whether to return `PackedCodes`, which hold the map and which rows have samples.

        Returns
        -------
        codes : ndarray of uint8, shape (n_samples, ceil(n_hashes * bits / 8)), or PackedCodes
            Each row has its codes one behind the other, lowest bit first, in the order of
            ``np.packbits(..., bitorder="little")``. `bits` includes `t_bits`, for a map that has
            them. A row that has no sample is all zeros.

        Raises
        ------
        ValueError
            As in ``transform``.
        """
        _checks.check_bool("packed", packed)
        fitted = self._fitted()
        rows = self._read_input(X, reset=False)
        out = np.empty((rows.n_rows, (fitted.n_hashes * fitted._code_bits + 7) // 8), np.uint8)
        sampled = np.ones(rows.n_rows, bool)
        law: Any = fitted.law
        sizes = np.empty(rows.n_rows, np.uint32) if law.knows_sizes else None

        def write(block: Block, start: int, stop: int) -> None:
            fitted._write_codes(block, PACKED, out[start:stop])
            if packed:
                fitted._find_samples(block, out[start:stop], sampled[start:stop])
                if sizes is not None:
                    sizes[start:stop] = np.minimum(np.diff(block.indptr), LARGEST_SET)

        fitted._for_each_block(rows, write)
        if not packed:
            return out
        return PackedCodes(
            out,
            fitted._code_bits,
            self.to_config(),
            n_hashes=fitted.n_hashes,
            sampled=sampled,
            chance=law.chance,
            estimator=law.estimator,
            parts=law.parts,
            sizes=sizes,
        )

    def _find_samples(self, block: Block, codes: Array, sampled: Array) -> None:
        """Mark the rows of a block that have samples. Of a row whose codes are all 0, the code as a
        number tells it."""
        number = np.empty((1, self.n_hashes), np.int32)
        for row in np.flatnonzero(~rows_with_bits(codes)).tolist():
            self._write_codes(block.rows(row, row + 1), NUMBERS, number)
            sampled[row] = number[0, 0] >= 0

    def _codes_as_numbers(self, X: MatrixLike) -> Array:
        """The codes of each row as int32; -1 in rows without samples."""
        fitted = self._fitted()
        rows = self._read_input(X, reset=False)
        out = np.empty((rows.n_rows, fitted.n_hashes), np.int32)
        fitted._for_each_block(
            rows, lambda block, start, stop: fitted._write_codes(block, NUMBERS, out[start:stop])
        )
        return out

    def _transform(self, rows: RowReader) -> Matrix:
        values = np.empty((rows.n_rows, self.n_hashes), rows.dtype)
        columns, indptr, _ = self._one_hot(rows, values)
        values = values.reshape(-1)[: len(columns)]
        return rows.container((values, columns, indptr), shape=(rows.n_rows, self._width))

    def _one_hot(self, rows: RowReader, values: Array | None = None) -> tuple[Array, Array, Array]:
        """Columns and indptr of the output as CSR, and which rows have entries.

        Threads that write the columns of rows also write their `values`, unless that is None.
        """
        n_stored = rows.n_rows * self.n_hashes
        index_type = _sparse.index_type(max(self._one_hot_width, n_stored))
        columns = np.empty((rows.n_rows, self.n_hashes), index_type)

        def write(block: Block, start: int, stop: int) -> None:
            self._write_codes(block, ONE_HOT_COLUMNS, columns[start:stop])
            if values is not None:
                values[start:stop] = 1 / np.sqrt(self.n_hashes)

        self._for_each_block(rows, write)
        sampled = columns[:, 0] >= 0
        indptr = np.zeros(rows.n_rows + 1, index_type)
        np.cumsum(sampled, out=indptr[1:])
        indptr *= self.n_hashes
        return keep_rows(columns, sampled).reshape(-1), indptr, sampled
