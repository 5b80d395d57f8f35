"""The labels of records that a model learns: one each, or lists of them."""

import os
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._io._array_files import ArrayKind, dimensions_of, read_array
from sparsemaps._io._sources import LABELS
from sparsemaps._tools._typing import Array, StrPath
from sparsemaps._tools._whole_numbers import MixedNumbers, joined
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.linear._indicators import LabelLists

Labels = Array | LabelLists
"""One for each record, or lists if some record has a list of them."""


def values_of(labels: Labels) -> Array:
    """Return all labels, one after the other."""
    return labels.values if isinstance(labels, LabelLists) else labels


def as_lists(labels: Labels) -> LabelLists:
    """Return labels as lists. A label that is no list is the only one of its record."""
    return labels if isinstance(labels, LabelLists) else LabelLists.of_one_each(labels)


def with_values(labels: Labels, values: Array) -> Labels:
    """Return labels with others in their places."""
    return LabelLists(values, labels.ends) if isinstance(labels, LabelLists) else values


def joined_labels(paths: list[Any], parts: list[Labels]) -> Labels:
    """Return the labels of several blocks, with all digits of whole numbers: lists, if some block
    has lists."""
    has_lists = any(isinstance(some, LabelLists) for some in parts)
    arrays = [values_of(some) for some in parts]
    try:
        values = joined([some for some in arrays if len(some)] or arrays)
    except MixedNumbers as error:
        raise ValueError(
            f"{', '.join(str(path) for path in paths)}: of the labels, {error}"
        ) from None
    if not has_lists:
        return values
    starts = np.cumsum([0, *map(len, arrays[:-1])])
    ends = [start + as_lists(some).ends for start, some in zip(starts, parts, strict=True)]
    return LabelLists(values, np.concatenate(ends))


def labels_beside(path: StrPath, n_rows: int) -> Labels:
    """Return the labels beside a file of codes: a number for each row, or pairs of the number of a
    row, from 0, and a label of it, in the order of rows."""
    beside = os.fspath(path) + LABELS
    if dimensions_of(beside) != 2:
        return read_array(beside, ArrayKind(None, (n_rows,)))
    rows, labels = read_array(beside, ArrayKind(None, (None, 2))).T
    if not ((rows >= 0) & (rows < n_rows) & (rows % 1 == 0)).all() or (rows[1:] < rows[:-1]).any():
        raise ValueError(f"{beside} is damaged: expected rows from 0 to {n_rows - 1} in order")
    ends = np.cumsum(np.bincount(rows.astype(np.intp), minlength=n_rows))
    return LabelLists(np.ascontiguousarray(labels), ends)


class ListFigures(NamedTuple):
    """How well a model finds the labels of records, of which each may have several."""

    micro_f1: float
    """F1 of all labels of all records together."""
    macro_f1: float
    """The mean of the F1 of each label that a record has, or that is found for one."""
    precisions: dict[int, float]
    """The share of right labels among the k best of each record, by k."""

    def line(self) -> str:
        shares = [f"{share:.4f}" for share in (self.micro_f1, self.macro_f1)]
        at = [f"at {k} {share:.4f}" for k, share in self.precisions.items()]
        return f"micro F1 {shares[0]}, macro F1 {shares[1]}, precision {', '.join(at)}"


_BEST = 1, 3, 5
"""Numbers of labels whose precision is computed."""


def figures_of_lists(
    model: Any, codes: PackedCodes, labels: LabelLists, weights: Array | None
) -> ListFigures:
    """Return how well a model finds the labels of some records, by their weights. Labels that it
    does not know are not found."""
    known = model.classes_.tolist()
    unknown = sorted(set(labels.values.tolist()).difference(known))
    wanted = labels.matrix(np.array([*known, *unknown], object)).astype(np.float64)
    found = sp.csc_array(model.predict(codes)).astype(np.float64)
    each = np.ones(len(labels)) if weights is None else weights
    right, counts = np.zeros(wanted.shape[1]), wanted.T @ each
    right[: len(known)] = wanted[:, : len(known)].multiply(found).T @ each
    counts[: len(known)] += found.T @ each
    there = counts > 0
    best = best_labels(model, codes, max(_BEST))
    hits = sp.csr_array(wanted)[np.arange(len(labels))[:, None], best].toarray()
    return ListFigures(
        float(2 * right.sum() / counts.sum()) if there.any() else 0.0,
        float((2 * right[there] / counts[there]).mean()) if there.any() else 0.0,
        {
            k: float(np.average(hits[:, :k].mean(axis=1), weights=each))
            for k in _BEST
            if k <= len(known)
        },
    )


def best_labels(model: Any, codes: PackedCodes, n: int) -> Array:
    """Return the numbers of the classes with the highest scores, the best first, for each row."""
    best: Array = model._of_codes(
        codes, lambda scores: np.argsort(-scores, axis=1, kind="stable")[:, :n]
    )
    return best
