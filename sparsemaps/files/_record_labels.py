"""The labels of records that a model learns: one each, or lists."""

import contextlib
import math
import os
from fractions import Fraction
from typing import Any

import numpy as np

from sparsemaps._io._array_files import ArrayKind, dimensions_of, read_array
from sparsemaps._io._sources import LABELS
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._sklearn import check_is_fitted
from sparsemaps._tools._typing import Array, StrPath
from sparsemaps._tools._whole_numbers import MixedNumbers, joined
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.linear._indicators import LabelLists

Model = KernelClassifier | KernelRegressor

Labels = Array | LabelLists
"""One per record, or lists if any record has a list."""


def check_model(model: object) -> None:
    """Raise an error unless `model` is a fitted model."""
    if not isinstance(model, (KernelClassifier, KernelRegressor)):
        allowed = "a fitted KernelClassifier or KernelRegressor, such as load_model returns"
        raise ParameterError("model", repr(model), allowed)
    check_is_fitted(model, "map_")


def values_of(labels: Labels) -> Array:
    """Return all labels, concatenated."""
    return labels.values if isinstance(labels, LabelLists) else labels


def as_lists(labels: Labels) -> LabelLists:
    """Return labels as lists. A label outside a list becomes a list of one."""
    return labels if isinstance(labels, LabelLists) else LabelLists.of_one_each(labels)


def with_values(labels: Labels, values: Array) -> Labels:
    """Return labels with the values replaced."""
    return LabelLists(values, labels.ends) if isinstance(labels, LabelLists) else values


def joined_labels(paths: list[Any], parts: list[Labels]) -> Labels:
    """Return the labels of several blocks, with all digits of whole numbers. They are lists if any
    block has lists."""
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
    """Return the labels stored next to a file of codes. The file has one number per row, or pairs
    of a row number, from 0, and a label, ordered by row."""
    beside = os.fspath(path) + LABELS
    if dimensions_of(beside) != 2:
        return read_array(beside, ArrayKind(None, (n_rows,)))
    rows, labels = read_array(beside, ArrayKind(None, (None, 2))).T
    if not ((rows >= 0) & (rows < n_rows) & (rows % 1 == 0)).all() or (rows[1:] < rows[:-1]).any():
        raise ValueError(f"{beside} is damaged: expected rows from 0 to {n_rows - 1} in order")
    ends = np.cumsum(np.bincount(rows.astype(np.intp), minlength=n_rows))
    return LabelLists(np.ascontiguousarray(labels), ends)


def name_of(label: object) -> str:
    """Return a label as text. Whole numbers have no decimal point; booleans are written as in
    JSON."""
    if isinstance(label, bool):
        return "true" if label else "false"
    return f"{label:.17g}" if isinstance(label, float) else str(label)


def plain_label(label: object) -> Any:
    """Return a label for JSON. Floats that are whole numbers become int."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def name_of_score(model: Model) -> tuple[str, str]:
    """Return the name of the score that compares models like this one, in words and in JSON."""
    if isinstance(model, KernelRegressor):
        return "R2", "r2"
    return ("micro F1", "micro_f1") if model.multilabel_ else ("accuracy", "accuracy")


def label_of(classes: Array, text: str) -> Any:
    """Return the class that a text names, in the type of the data; the text itself if there is no
    such class. Numbers are compared by value."""
    labels = classes.tolist()
    for label in labels:
        if name_of(label) == text:
            return label
    if classes.dtype.kind == "b":  # also as Python writes them
        return {"true": True, "false": False}.get(text.lower(), text)
    if classes.dtype.kind == "f":
        with contextlib.suppress(ValueError):
            return float(text)
    if classes.dtype.kind in "iu":  # float64 may round the digits of "9007199254740993.0"
        with contextlib.suppress(ValueError):
            if math.isfinite(float(text)) and (number := Fraction(text)).denominator == 1:
                return int(number)
    return text
