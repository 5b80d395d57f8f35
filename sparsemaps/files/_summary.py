"""Summaries of files: LIBSVM text, packed codes (.npy), or a CSR matrix (.npz)."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsemaps._tools import _text_input
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import LABELS, QIDS, is_pipe
from sparsemaps._tools._typing import Array
from sparsemaps.files._rows import LibsvmRows, read_rows

_LARGEST_COUNT = 1000  # of different labels that are counted


class Summary:
    """Numbers of rows, entries and labels, and ranges, of blocks that are added one by one."""

    def __init__(self) -> None:
        self.n_rows = self.n_entries = self.n_qids = 0
        self._columns: tuple[int, int] | None = None
        self._values: tuple[float, float] | None = None
        self._labels: dict[float, int] = {}

    def add_entries(self, indices: Array, values: Array) -> None:
        if not len(indices):
            return
        self.n_entries += len(indices)
        low, high = self._columns or (int(indices[0]), int(indices[0]))
        self._columns = min(low, int(indices.min())), max(high, int(indices.max()))
        least, largest = self._values or (values[0], values[0])
        self._values = min(least, values.min()), max(largest, values.max())

    def add_labels(self, labels: Array) -> None:
        for label, count in zip(*np.unique(labels, return_counts=True), strict=True):
            if len(self._labels) <= _LARGEST_COUNT:
                self._labels[float(label)] = self._labels.get(float(label), 0) + int(count)

    def lines(self) -> Iterator[str]:
        yield f"rows     {self.n_rows}"
        yield "columns  " + ("{} to {}".format(*self._columns) if self._columns else "none")
        a_row = f" ({self.n_entries / self.n_rows:.1f} a row)" if self.n_rows else ""
        yield f"entries  {self.n_entries}{a_row}"
        yield "values   " + ("{:g} to {:g}".format(*self._values) if self._values else "none")
        yield f"labels   {self._label_counts()}"
        if self.n_qids:
            yield f"qids     {self.n_qids}"

    def _label_counts(self) -> str:
        labels = self._labels
        if len(labels) > 20:
            number = f"over {_LARGEST_COUNT}" if len(labels) > _LARGEST_COUNT else str(len(labels))
            return f"{number} of {min(labels):g} to {max(labels):g}"
        counts = ", ".join(f"{label:g}: {count}" for label, count in sorted(labels.items()))
        return counts or "none"


def summarize(path: Any, *, n_jobs: int | None = None, progress: bool | None = None) -> list[str]:
    """The lines of the summary of a file."""
    ending = "" if is_pipe(path) else os.path.splitext(path)[1]
    if ending in (".npy", ".npz"):
        with _text_input.arrays_of(path):
            return list((_of_npy if ending == ".npy" else _of_npz)(path))
    return list(_of_text(path, n_jobs, progress))


def _of_text(path: Any, n_jobs: int | None, progress: bool | None) -> Iterator[str]:
    summary = Summary()
    with FileProgress([path], progress) as bar:
        source = LibsvmRows(zero_based=True)
        for block in read_rows(source, path, lambda block: block, n_jobs=n_jobs, bar=bar):
            summary.n_rows += block.n_rows
            summary.n_qids += len(block.heads.qids)
            summary.add_entries(block.X.indices, block.X.data)
            summary.add_labels(block.heads.labels)
    return summary.lines()


def _of_npy(path: str) -> Iterator[str]:
    codes = np.load(path, mmap_mode="r")
    if codes.ndim != 2 or codes.dtype != np.uint8:
        raise ValueError(
            f"expected packed codes, two dimensions of uint8; found {codes.ndim} of {codes.dtype}"
        )
    summary = Summary()
    if os.path.exists(path + LABELS):
        summary.add_labels(np.load(path + LABELS))
    yield f"rows     {len(codes)}"
    yield f"codes    {codes.shape[1]} bytes a row"
    yield from (line for line in summary.lines() if line.startswith("labels"))
    if os.path.exists(path + QIDS):
        yield f"qids     {len(np.load(path + QIDS, mmap_mode='r'))}"


def _of_npz(path: str) -> Iterator[str]:
    with open(path, "rb") as file, np.load(file) as arrays:
        if "indptr" not in arrays or "format" not in arrays or arrays["format"].item() != b"csr":
            raise ValueError("expected a CSR matrix as scipy.sparse.save_npz writes it")
        summary = Summary()
        summary.n_rows, n_columns = (int(length) for length in arrays["shape"])
        summary.add_entries(arrays["indices"], arrays["data"])
        if "labels" in arrays:
            summary.add_labels(arrays["labels"])
        if "query_ids" in arrays:
            summary.n_qids = len(arrays["query_ids"])
        for line in summary.lines():
            yield f"{line} of {n_columns}, from 0" if line.startswith("columns") else line
