"""The formats that jobs write: LIBSVM text, packed codes, and codes of records.

An `OutputFormat` writes one output. ``convert`` takes a block and is thread-safe. ``write`` takes
the results in order, and ``finish`` completes the file.
"""

import hashlib
import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._io import _output_files, _sources
from sparsemaps._io._array_files import header_of, lasting_header, pieces_of
from sparsemaps._io._regular_files import open_regular
from sparsemaps._tools._blocks import ranges, sums_of_rows
from sparsemaps._tools._parameters import offered
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array, Destination
from sparsemaps._tools._whole_numbers import joined
from sparsemaps.codes._file import write_rest
from sparsemaps.codes._packed import PackedCodes, rest_of_file
from sparsemaps.files._bad_records import BadTable
from sparsemaps.files._finite_labels import check_labels
from sparsemaps.files._libsvm_rows import comments_of_rows, with_comments
from sparsemaps.files._row_names import comment_lines
from sparsemaps.files._rows import apply, codes_of
from sparsemaps.libsvm._write import format_codes, format_rows
from sparsemaps.records._batch import Batch

_LINES_BYTES = 2**22
"""Approximate number of bytes of text that are made at once. Short lines may become long."""

_VALUE_BYTES = 28  # of text: index, colon, digits of a number, blank


def rows_at_once(n_values: int) -> int:
    """Return the number of rows, with `n_values` entries each, whose text is made at once."""
    return max(1, _LINES_BYTES // (_VALUE_BYTES * n_values))


class FormatOptions(NamedTuple):
    """The options that determine the content of an output, besides the map and the input."""

    ones: bool
    comments: bool
    header: str
    texts: dict[str, Any] | None = None
    """The description of the vectorizer, for rows of texts."""
    ids: bool = False
    """Whether the rows have ids."""
    checksums: bool = False
    """Whether checksums of the records are stored next to codes."""
    weights: str | None = None
    """The field of the weights of records, which are stored next to codes."""


class OutputFormat(ABC):
    """The writer of one output. `stack` closes its files; after an exception, none of them
    appears."""

    is_text: ClassVar[bool] = False
    """Whether the output is text, which has values and comments and may be a pipe or compressed."""
    beside: ClassVar[Mapping[str, Any]] = {}
    """Name endings of the files written next to an output, with the types of their numbers, or None
    for text."""

    def __init__(
        self, map: Any, path: Destination, options: FormatOptions, stack: ExitStack
    ) -> None:
        self._map, self._options, self._stack = map, options, stack
        self._beside = self.files_beside(path, stack)
        self._begin(path)

    @classmethod
    def files_beside(cls, path: Any, stack: ExitStack) -> dict[str, "_FileBeside"]:
        """Return the files next to an output, by their name endings."""
        return {
            ending: _FileBeside(os.fspath(path) + ending, stack, dtype)
            for ending, dtype in cls.beside.items()
        }

    @abstractmethod
    def _begin(self, path: Destination) -> None:
        """Open the output files."""

    def aside(self, is_first: bool) -> BadTable | None:
        """Return the table of bad records, if the format stores one. `is_first` says whether the
        first record of the job is among the records."""
        return None

    @abstractmethod
    def convert(self, block: Batch) -> tuple[Any, int]:
        """Return the argument of ``write`` for a block, and the number of its rows without an
        entry."""

    @abstractmethod
    def write(self, converted: Any) -> None:
        """Append a converted block."""

    def finish(self) -> None:
        """Complete the files, after all blocks."""
        for file in self._beside.values():
            file.finish()


class SvmlightFormat(OutputFormat):
    """LIBSVM text, with indices that count from 1."""

    is_text = True

    def _begin(self, path: Destination) -> None:
        self._file = self._stack.enter_context(_output_files.atomic_output(path))
        self._n_rows = self._n_qids = 0
        self._header = b""  # written with the first rows, or at the end
        if self._options.header:
            self._header = b"# " + " ".join(self._options.header.split()).encode() + b"\n"

    def convert(self, block: Batch) -> tuple[tuple[bytes, int, int], int]:
        lines, n_empty = self._lines(block)
        return (lines, block.n_rows, len(block.heads.qids)), n_empty

    def _lines(self, block: Batch) -> tuple[bytes, int]:
        """Return the lines of a block, and the number of rows without an entry."""
        map, heads = self._map, block.exact_heads()
        if map is None:
            X = block.X
            lines, n_empty = format_rows(X, heads), _n_empty(X)
        elif map.is_one_hot:
            codes = apply(map, map.numbers, block)
            lines = format_codes(codes, map.law.bits, heads, ones=self._options.ones)
            n_empty = int((codes[:, 0] < 0).sum())
        else:
            Z, n_empty = apply(map, lambda X: (map.transform(X), _n_empty(X)), block)
            lines = format_rows(sp.csr_array(Z), heads)
        _check_rows_have_lines(block, lines)
        if block.id_columns is not None:
            pairs = zip(lines.splitlines(), block.id_columns, strict=True)
            lines = b"".join(b"%s # %s\n" % (line.rstrip(), id.encode()) for line, id in pairs)
        elif self._options.comments:
            lines = with_comments(block.text, lines)
        return lines, n_empty

    def write(self, converted: tuple[bytes, int, int]) -> None:
        lines, n_rows, n_qids = converted
        self._n_rows += n_rows
        self._n_qids += n_qids
        if lines:
            self._file.write(self._header + lines)
            self._header = b""

    def finish(self) -> None:
        self._file.write(self._header)
        super().finish()
        _check_qids(self._n_qids, self._n_rows)


class _CodesFormat(OutputFormat):
    """Packed codes for `PackedCodes.load`, with ids in a file next to them."""

    beside: ClassVar[Mapping[str, Any]] = {_sources.IDS: None}

    def _begin(self, path: Any) -> None:
        self._path = os.fspath(path)
        # The stack closes in reverse order, so the files next to the codes appear before the codes.
        self._output = self._stack.enter_context(_output_files.atomic_output(path))
        self._file = self._output
        if not self._output.seekable():  # the header is completed last
            self._file = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        if self._options.ids:
            self._beside[_sources.IDS].append(b"")  # the file exists even without rows
        self._codes = self._map._packed_codes([], self._options.texts)
        self._kept = [self._codes]  # the codes of each block, without their arrays
        self._file.write(header_of("|u1", self._codes.shape))

    def _append(self, codes: PackedCodes, ids: list[str] | None) -> None:
        """Append the codes and ids of a block to the files. Replace the array of `codes` in place
        by an empty one, because the other facts of all blocks stay in memory."""
        with _output_files.errors_naming(self._path):  # not the file opened last
            self._file.writelines(pieces_of(codes.array))
        codes.array = self._codes.array  # the array is in the file
        self._kept.append(codes)
        if ids is not None:
            self._beside[_sources.IDS].append("".join(f"{id}\n" for id in ids).encode())

    def finish(self) -> None:
        super().finish()
        rest = rest_of_file(self._kept)
        with _output_files.errors_naming(self._path):  # not the file opened last
            write_rest(self._file, rest)
            self._file.seek(0)
            self._file.write(header_of("|u1", rest.shape))  # as long as the header without rows
            if self._file is not self._output:
                self._file.seek(0)
                shutil.copyfileobj(self._file, self._output)


NOTHING = np.empty(0)
"""Appended to files that must exist even without rows."""


class NpyFormat(_CodesFormat):
    """Packed codes, with labels, query ids, ids and weights in files next to them."""

    beside: ClassVar[Mapping[str, Any]] = {
        _sources.LABELS: np.float64,
        _sources.QIDS: np.int64,
        _sources.IDS: None,
        _sources.WEIGHTS[0]: np.float64,
    }

    def _begin(self, path: Any) -> None:
        super()._begin(path)
        self._beside[_sources.LABELS].append(NOTHING)
        if self._options.weights is not None:
            self._beside[_sources.WEIGHTS[0]].append(NOTHING)
        folder = os.path.dirname(os.path.realpath(path))
        self._labels = LabelSpool(folder, np.float64, self._stack)
        self._n_rows = 0
        self._rows: Spool | None = None
        """The row number of each label, if any row has a list of labels."""

    def convert(self, block: Batch) -> tuple[tuple[PackedCodes, Batch], int]:
        check_labels(block)
        codes = codes_of(self._map, block)
        return (codes, block.without_rows()), int((~codes.sampled).sum())

    def write(self, converted: tuple[PackedCodes, Batch]) -> None:
        codes, block = converted
        self._append(codes, block.id_columns)
        if self._rows is None and block.has_lists:
            self._rows = Spool(os.path.dirname(os.path.realpath(self._path)), np.int64, self._stack)
            for start, stop in ranges(0, self._n_rows, _NUMBERS):
                self._rows.append(np.arange(start, stop))
        if self._rows is not None:
            counts = np.diff(block.heads.label_ends, prepend=0)
            self._rows.append(self._n_rows + np.repeat(np.arange(block.n_rows), counts))
        self._labels.append(block.heads.labels)
        self._n_rows += block.n_rows
        if len(block.heads.qids):
            self._beside[_sources.QIDS].append(block.heads.qids)
        if self._options.weights is not None:
            self._beside[_sources.WEIGHTS[0]].append(block.weights)

    def finish(self) -> None:
        """Copy the labels from their temporary file to the file next to the codes, in a type that
        holds all of them. If any row has a list, each label is preceded by its row."""
        _check_qids(self._beside[_sources.QIDS].n, self._n_rows)
        file = self._beside[_sources.LABELS]
        file.dtype = self._labels.dtype
        if self._rows is None:
            for labels in self._labels.blocks():
                file.append(labels)
        else:
            file.width = 2
            for rows, labels in zip(self._rows.blocks(), self._labels.blocks(), strict=True):
                file.append(np.column_stack([rows.astype(file.dtype), labels]))
        super().finish()


class RecordsFormat(_CodesFormat):
    """The codes of records. Files next to them have the length of each record, and the number and a
    digest of each record without samples. Further files, if needed, have checksums, numbers that
    order records, comments of lines, and bad lines."""

    beside: ClassVar[Mapping[str, Any]] = {
        _sources.LENGTHS: np.uint32,
        _sources.DIGESTS: np.uint64,
        _sources.CHECKSUMS: np.uint32,
        _sources.KEYS: np.complex128,
        **dict.fromkeys((_sources.IDS, _sources.COMMENTS, _sources.BAD)),
    }

    def _begin(self, path: object) -> None:
        super()._begin(path)
        for ending in (
            _sources.LENGTHS,
            _sources.DIGESTS,
            *([_sources.CHECKSUMS] if self._options.checksums else []),
        ):
            self._beside[ending].append(NOTHING)

    def convert(self, block: Batch) -> tuple[Any, int]:
        codes = codes_of(self._map, block)
        empty = np.flatnonzero(~codes.sampled)
        contents = block.contents(empty)
        digests = [hashlib.blake2b(content, digest_size=16).digest() for content in contents]
        words = np.frombuffer(b"".join(digests), "<u8").reshape(-1, 2)
        columns = np.column_stack([empty.astype(np.uint64), words])
        comments = list(comments_of_rows(block.text)) if self._options.comments else []
        checksums = block.checksums() if self._options.checksums else None
        beside = block.lengths(), checksums, columns
        return (codes, beside, comments, block.keys, block.id_columns), len(empty)

    def aside(self, is_first: bool) -> BadTable:
        return BadTable(self._beside[_sources.BAD].append, is_first)

    def write(self, converted: Any) -> None:
        codes, (lengths, checksums, digests), comments, keys, ids = converted
        if keys is not None:
            self._beside[_sources.KEYS].append(keys)
        if checksums is not None:
            self._beside[_sources.CHECKSUMS].append(checksums)
        self._append(codes, ids)
        n = self._beside[_sources.LENGTHS].n
        if comments:
            self._beside[_sources.COMMENTS].append(comment_lines(comments, n))
        digests[:, 0] += np.uint64(n)
        self._beside[_sources.LENGTHS].append(lengths)
        self._beside[_sources.DIGESTS].append(digests.reshape(-1))


class Spool:
    """A temporary file of numbers."""

    def __init__(self, folder: str, dtype: npt.DTypeLike, stack: ExitStack) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        stack.callback(self._close)
        self.dtype, self.n = np.dtype(dtype), 0

    def append(self, array: Array) -> None:
        self._file.write(np.ascontiguousarray(array, self.dtype).data)
        self.n += len(array)

    def _close(self) -> None:
        """Close the file, without an error if the last numbers cannot be written: an earlier error,
        which names an output, was about them."""
        with suppress(OSError):
            self._file.close()

    def array(self) -> Array:
        """Return the numbers, memory-mapped."""
        self._file.flush()
        empty = np.empty(0, self.dtype)
        return np.memmap(self._file, self.dtype, "r", shape=self.n) if self.n else empty

    def blocks(self) -> Iterator[Array]:
        """Yield the numbers in parts."""
        numbers = self.array()
        for start in range(0, self.n, _NUMBERS):
            yield np.array(numbers[start : start + _NUMBERS])


_NUMBERS = 2**17  # read from a temporary file at once


class LabelSpool(Spool):
    """A temporary file of labels: float64, or int64 or uint64 if there are whole numbers that
    float64 cannot hold."""

    _decisive = np.empty(0)
    """Earlier labels, which decide the type as all of them do: the least and the largest label, and
    a fraction if there is one."""

    def append(self, array: Array) -> None:
        """Append labels. Earlier labels are converted if all labels together need another type."""
        labels = joined([self._decisive, array])
        if labels.dtype != self.dtype:
            self._convert(labels.dtype)
        super().append(labels[len(self._decisive) :])
        if len(labels):
            fractions = labels[labels % 1 != 0]
            extremes = labels.min(), labels.max()
            self._decisive = np.array([*extremes, *fractions[:1]], labels.dtype)

    def _convert(self, dtype: np.dtype[Any]) -> None:
        """Convert the labels in place: all types have 64 bits."""
        for start, labels in zip(range(0, self.n, _NUMBERS), self.blocks(), strict=True):
            self._file.seek(start * self.dtype.itemsize)
            self._file.write(labels.astype(dtype).data)
            self._file.flush()
        self._file.seek(0, os.SEEK_END)
        self.dtype = dtype


FORMATS: dict[str, type[OutputFormat]] = {
    "svmlight": SvmlightFormat,
    "npy": NpyFormat,
    "records": RecordsFormat,
}


@dataclass
class _FileBeside:
    """A file next to an output: text, or with a `dtype` a .npy file, whose header is completed
    last. It is opened by the first call of `append`, even without data."""

    path: str
    stack: ExitStack
    dtype: npt.DTypeLike | None = None
    width: int | None = None
    """The number of columns of a two-dimensional array."""
    n: int = 0
    """Number of bytes of text, or rows of numbers, so far."""
    _file: IO[bytes] | None = None

    def append(self, what: Any) -> None:
        if self._file is None:
            self._file = self.stack.enter_context(_output_files.atomic_output(self.path))
            if self.dtype is not None:
                self._file.write(lasting_header(self.dtype, (0,)))
        if self.dtype is not None:
            what = np.ascontiguousarray(what, self.dtype).data
        with _output_files.errors_naming(self.path):  # not the file opened last
            self._file.write(what)
        self.n += len(what)

    def append_file(self, path: str) -> None:
        self.append(b"")  # the file exists even if the other one is empty
        with open_regular(path) as file:
            for block in iter(partial(file.read, 2**20), b""):
                self.append(block)

    def finish(self) -> None:
        if self._file is not None and self.dtype is not None:
            with _output_files.errors_naming(self.path):
                self._file.seek(0)
                shape = (self.n,) if self.width is None else (self.n, self.width)
                self._file.write(lasting_header(self.dtype, shape))


def _n_empty(X: Any) -> int:
    """Return the number of CSR rows without a nonzero entry."""
    return int((sums_of_rows(X.data != 0, X.indptr[1:]) == 0).sum())


def _check_rows_have_lines(block: Batch, lines: bytes) -> None:
    """Raise a ValueError if a row would become a blank line, which LIBSVM text cannot represent."""
    without = np.flatnonzero(np.diff(block.heads.label_ends, prepend=0) == 0)
    if not len(without):
        return
    texts = lines.split(b"\n")
    for row in without.tolist():
        if not texts[row].strip():
            npy = offered("format", "npy")
            advice = f"; {npy} takes it" if npy else ""
            raise block.error(
                row, 0, f": a row with neither labels nor entries cannot be written{advice}"
            )


def _check_qids(n_qids: int, n_rows: int) -> None:
    if n_qids not in (0, n_rows):
        given = f"{counted(n_qids, 'qids')} for {n_rows} rows"
        raise ValueError(f"all rows or none must have a qid, got {given}")
