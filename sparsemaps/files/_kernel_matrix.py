"""Exact kernels in LIBSVM's precomputed format."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsemaps._io import _output_files
from sparsemaps._io._progress import with_step_bar
from sparsemaps._io._sources import Input, known_inputs, refuse_changes
from sparsemaps._tools import _blocks, _threads
from sparsemaps._tools._typing import Array
from sparsemaps._tools._whole_numbers import joined
from sparsemaps.files._formats import rows_at_once
from sparsemaps.files._job_options import Svmlight
from sparsemaps.files._libsvm_rows import LibsvmRows
from sparsemaps.files._rows import of_rows, read_rows, with_width
from sparsemaps.libsvm._write import format_rows, one_label_each
from sparsemaps.records._batch import Batch


def write_kernel_file(
    function: Callable[[Any, Any], Any],
    train: str,
    test: str | None,
    output: str,
    *,
    source: Svmlight,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> int:
    """Write ``function(X, X_train)``, in which X has the rows of `test` or else of `train`, and
    return their number.

    A line has the label, the row's number at index 0, and the kernel with each row of `train`.
    """
    paths = [train] if test is None else [train, test]
    _output_files.refuse_clashes(paths, [(output, _output_files.OUTPUT)])
    function(sp.csr_array((0, 1)), sp.csr_array((0, 1)))  # raises for invalid parameters
    read = LibsvmRows(source, multilabel=False)
    inputs = known_inputs(paths)
    loaded = [_load(function, read, input, n_jobs) for input in inputs]
    width = max(int(source.zero_based), *(X.shape[1] for X, _ in loaded))
    (X_train, _), (X, y) = loaded[0], loaded[-1]
    X_train, X = with_width(X_train, width), with_width(X, width)
    n_train = X_train.shape[0]
    step = rows_at_once(n_train + 1)

    def lines(start: int, stop: int) -> bytes:
        K = np.empty((stop - start, n_train + 1))
        K[:, 0] = np.arange(start + 1, stop + 1)
        K[:, 1:] = function(X[start:stop], X_train)
        ends = np.arange(0, K.size + 1, n_train + 1)
        block = sp.csr_array((K.ravel(), np.tile(np.arange(n_train + 1), len(K)), ends))
        return format_rows(block, one_label_each(y[start:stop]), zero_based=True)

    blocks = _blocks.ranges(0, X.shape[0], step)
    with _output_files.atomic_output(output) as out:
        texts = _threads.stream(lines, blocks, n_jobs)
        out.writelines(with_step_bar(texts, len(blocks), progress, "kernel"))
        refuse_changes(inputs)
    return int(X.shape[0])


def _load(
    function: Callable[[Any, Any], Any], source: LibsvmRows, input: Input, n_jobs: int | None
) -> tuple[Any, Array]:
    """Return the rows of a file and their labels, after checking that the kernel supports the
    rows."""

    def check(block: Batch) -> tuple[Any, Array]:
        of_rows(lambda X: function(X, X[:0]), block, block.X, block.X.shape[1])
        return block.X, block.exact_heads().labels

    blocks = list(read_rows(source, input, check, n_jobs=n_jobs))
    if not blocks:
        return sp.csr_array((0, 0)), np.empty(0)
    width = max(X.shape[1] for X, _ in blocks)
    X = sp.vstack([with_width(X, width) for X, _ in blocks], format="csr")
    return sp.csr_array(X), joined([y for _, y in blocks])
