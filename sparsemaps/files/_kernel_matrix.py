"""Exact kernels in LIBSVM's precomputed format."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

from sparsemaps._input import _row_reader
from sparsemaps._tools import _output_files, _text_input, _threads
from sparsemaps._tools._sources import is_pipe, source
from sparsemaps.libsvm._parse import rows_of
from sparsemaps.libsvm._pipeline import BLOCK_BYTES
from sparsemaps.libsvm._read import load_svmlight_files
from sparsemaps.libsvm._write import format_rows, one_label_each

_LINES_BYTES = 2**22
"""About how much text is made at a time."""

_VALUE_BYTES = 28  # of text: index, colon, the digits of a number, blank


def write_kernel_file(
    function: Callable[[Any, Any], Any],
    train: str,
    test: str | None,
    output: str,
    *,
    zero_based: bool = False,
    n_jobs: int | None = None,
    progress: bool | None = None,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> int:
    """Write ``function(X, X_train)`` of the rows X of `test`, or of `train`; returns their number.

    A line has the label, the row's number as index 0, and its kernel with each row of `train`.
    """
    paths = [train] if test is None else [train, test]
    _output_files.refuse_clashes(paths, [(output, _output_files.OUTPUT)])
    function(sp.csr_array((0, 1)), sp.csr_array((0, 1)))  # bad parameters end it here
    loaded = load_svmlight_files(
        [source(path) for path in paths], zero_based=zero_based, n_jobs=n_jobs,
        max_line_bytes=max_line_bytes,
    )  # fmt: skip
    X_train, (X, y) = loaded[0], loaded[-2:]
    n_train = X_train.shape[0]
    step = max(1, _LINES_BYTES // (_VALUE_BYTES * (n_train + 1)))

    def lines(start: int, stop: int) -> bytes:
        K = np.empty((stop - start, n_train + 1))
        K[:, 0] = np.arange(start + 1, stop + 1)
        K[:, 1:] = function(X[start:stop], X_train)
        ends = np.arange(0, K.size + 1, n_train + 1)
        block = sp.csr_array((K.ravel(), np.tile(np.arange(n_train + 1), len(K)), ends))
        return format_rows(block, one_label_each(y[start:stop]), zero_based=True)

    for path, matrix in zip(paths, loaded[::2], strict=True):
        _check_rows(function, path, matrix, step, zero_based)
    blocks = [(start, min(start + step, X.shape[0])) for start in range(0, X.shape[0], step)]
    with (
        _output_files.atomic_output(output) as out,
        tqdm(
            total=X.shape[0], unit=" rows", unit_scale=True,
            disable=None if progress is None else not progress,
        ) as bar,
    ):  # fmt: skip
        stream = _threads.stream(lines, blocks, n_jobs)
        for (start, stop), text in zip(blocks, stream, strict=True):
            out.write(text)
            bar.update(stop - start)
    return int(X.shape[0])


def _check_rows(
    function: Callable[[Any, Any], Any], path: str, matrix: Any, step: int, zero_based: bool
) -> None:
    """Raise the error that a kernel has for a row, with its line in the file."""
    for start in range(0, matrix.shape[0], step):
        try:
            function(matrix[start : start + step], matrix[:0])
        except _row_reader.EntryError as error:
            row = start + error.row
            place = f"row {row + 1}" if is_pipe(path) else f"line {_line_in_file(path, row)}"
            name = "standard input" if is_pipe(path) else path
            raise ValueError(
                f"{name}: {place}, index {error.column + (not zero_based)}: {error.found}; "
                f"{error.rule}"
            ) from error


def _line_in_file(path: str, row: int) -> int:
    """The line of a row; rows count from 0, lines from 1."""
    n_lines = n_rows = 0
    with _text_input.open_text(path) as text:
        for block in text.blocks(BLOCK_BYTES):
            for line, _ in rows_of(block):
                if n_rows == row:
                    return n_lines + line
                n_rows += 1
            n_lines += block.count(b"\n")
    raise ValueError(f"{path} has changed while it was read")
