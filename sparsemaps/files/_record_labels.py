"""The labels of records that a model learns: one each, or lists of them."""

import contextlib
import os
from typing import Any

import numpy as np

from sparsemaps._io._array_files import ArrayKind, dimensions_of, read_array
from sparsemaps._io._sources import LABELS
from sparsemaps._tools._typing import Array, StrPath
from sparsemaps._tools._whole_numbers import MixedNumbers, joined
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.linear._indicators import LabelLists

Model = KernelClassifier | KernelRegressor

Labels = Array | LabelLists
"""One for each record, or lists if some record has a list of them."""


def values_of(labels: Labels) -> Array:
    """Return all labels, one after the other."""
    return labels.values if isinstance(labels, LabelLists) else labels


def as_lists(labels: Labels) -> LabelLists:
    """Return labels as lists. A label outside a list is the only one of its record."""
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


def name_of(label: object) -> str:
    """Return a label as text: whole numbers have no point, booleans are as in JSON."""
    if isinstance(label, bool):
        return "true" if label else "false"
    return f"{label:.17g}" if isinstance(label, float) else str(label)


def label_of(classes: Array, text: str) -> Any:
    """Return the class that a text names, as the data have it; the text itself if there is none.
    Numbers are compared by their values."""
    labels = classes.tolist()
    for label in labels:
        if name_of(label) == text:
            return label
    if classes.dtype.kind == "b":  # as Python writes them, too
        return {"true": True, "false": False}.get(text.lower(), text)
    if classes.dtype.kind in "iuf":
        for number in (int, float):
            with contextlib.suppress(ValueError):
                return number(text)
    return text
