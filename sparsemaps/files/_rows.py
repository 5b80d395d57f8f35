"""Blocks of rows of an input, read by threads, in order."""

import contextlib
import dataclasses
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from sparsemaps._input._row_reader import EntryError, RowReader
from sparsemaps._input._sparse import open_sparse
from sparsemaps._io._progress import Progress
from sparsemaps._io._sources import Input, open_input
from sparsemaps._tools import _threads
from sparsemaps._tools._plurals import counted
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._bad_records import BadTable
from sparsemaps.files._row_source import Piece, Source
from sparsemaps.libsvm._pipeline import in_order
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.records._batch import Batch, CountedBatch
from sparsemaps.records._format import Raw

T = TypeVar("T")


def read_rows(
    source: Source,
    input: Input,
    convert: Callable[[Batch], T],
    *,
    aside: BadTable | None = None,
    **how: Any,
) -> Generator[T, None, None]:
    """Yield the results of `convert` for each block of rows of an input, in order. `how` is passed
    to `read_pieces`. Bad records go to the table `aside`.

    Threads read and convert blocks. Errors name the input and the line.
    """

    def step(piece: Any) -> tuple[tuple[tuple[T, Any], int], int]:
        block = source.block(piece)
        records = None if aside is None else block.bad_and_good()
        return ((convert(block), records), block.n_rows), block.n_lines

    with contextlib.closing(read_pieces(source, input, step, **how)) as pieces:
        yield from _without_bad(pieces, input, aside)


def read_counted(
    source: Source,
    input: Input,
    batches: Iterator[CountedBatch],
    convert: Callable[[Batch], T],
    *,
    n_jobs: int | None = None,
    aside: BadTable | None = None,
) -> Generator[T, None, None]:
    """Yield the same as `read_rows`, for the records of an input whose n-grams have been
    counted."""

    def step(block: Batch) -> tuple[T, Any]:
        return convert(block), block.bad_and_good()

    def each() -> Iterator[tuple[Batch]]:
        for batch in batches:
            yield (dataclasses.replace(batch, encoder=source.encoder),)

    yield from _without_bad(_threads.stream(step, each(), n_jobs), input, aside)


def _without_bad(
    pieces: Iterable[tuple[T, Any]], input: Input, aside: BadTable | None
) -> Iterator[T]:
    """Yield the results of the pieces of an input. Their bad records go to the table `aside`."""
    n_before = 0
    for converted, records in pieces:
        if aside is not None:
            bad, n_lines, n_good, n_leading = records
            aside.add(input, n_before, bad, n_good, n_leading)
            n_before += n_lines
        yield converted


def read_pieces(
    source: Source,
    input: Input,
    step: Callable[[Any], tuple[tuple[T, int], int]],
    *,
    n_jobs: int | None = None,
    bar: Progress | None = None,
    max_rows: int | None = None,
) -> Generator[T, None, None]:
    """Yield the results of `step` for each piece of an input, in order. `step` also returns the
    numbers of rows, for the bar, and of line ends."""
    format = source.format(input)
    with open_input(input, source.given.max_line_bytes) as text:
        text.unit = format.unit
        update = None if bar is None else bar.reading(text)
        pieces = format.pieces(text, source.fields, n_jobs, max_rows)
        some = (Piece(format, content) for content in pieces)
        for found, n_rows in in_order(step, some, n_jobs, text):
            yield found
            if update is not None:
                update(n_rows)


def read_raw(source: Source, input: Input, n_jobs: int | None, bar: Progress) -> Iterator[Raw]:
    """Yield the good records of an input in parts, in order, in the form in which they are written
    back."""
    format, fields = source.format(input), dataclasses.replace(source.fields, records=True)

    def step(piece: object) -> tuple[Raw, int]:  # fields store the kind of labels of a piece
        return format.raw(piece, dataclasses.replace(fields)), 0

    with open_input(input, source.given.max_line_bytes) as text:
        text.unit = format.unit
        update = bar.reading(text)
        for raw in in_order(step, format.raw_pieces(text, fields, n_jobs), n_jobs, text):
            yield raw
            update(raw.n)


def read_each(
    source: Source, input: Input, take: Callable[[Any], Any], **how: Any
) -> Generator[Any, None, None]:
    """Yield the records that `take` returns for each piece of an input, in order."""

    def step(piece: object) -> tuple[tuple[Any, int], int]:
        records = take(piece)
        return (records, len(records)), 0

    return read_pieces(source, input, step, **how)


def apply(map: SparseMap, function: Callable[[Any], T], block: Batch) -> T:
    """Return ``function(X)`` for the rows of a block. The function may be a method of `map`, which
    must be fitted.

    Errors name the line, and the index as numbered in the input.
    """
    X = block.X
    n_columns = map.n_columns
    if n_columns is not None and X.shape[1] > n_columns:
        entry = int(np.argmax(X.indices >= n_columns))
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        rule = f": index {{index}}, but the map was fitted to {counted(n_columns, 'columns')}"
        raise block.error(row, int(X.indices[entry]), rule)
    return of_rows(function, block, X, X.shape[1] if n_columns is None else n_columns)


def codes_of(map: Any, block: Batch) -> PackedCodes:
    codes: Any
    with errors_of(block):
        if isinstance(block, CountedBatch):
            codes = block.encoder.encode_sets(block.ngrams)
        elif block.encoder is not None:
            codes = block.encoder.encode(block.texts, packed=True)
        else:
            codes = apply(map, partial(map.encode, packed=True), block)
    return codes


def of_rows(function: Callable[[Any], T], block: Batch, X: object, width: int) -> T:
    """Return ``function(X)`` for the rows `X` of a block, with `width` columns but at least one."""
    with errors_of(block):
        return function(with_width(X, max(width, 1)))


@contextlib.contextmanager
def errors_of(block: Batch) -> Iterator[None]:
    """Convert errors about entries to errors that name the line, and the index as numbered in the
    input."""
    try:
        yield
    except EntryError as error:
        message = f", index {{index}}: {error.value}; {error.allowed}"
        raise block.error(error.row, error.column, message) from error


def reader_of(block: Batch) -> RowReader:
    """Return a reader of the rows of a block that checks their entries."""
    return RowReader(open_sparse(block.X, "the rows"), None)


def with_width(X: Any, width: int) -> Any:
    """Return rows with another number of columns, which must be sufficient for their entries."""
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
