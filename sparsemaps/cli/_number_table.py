"""CSV files of numbers, as `compare` reads them: a column of labels, and columns of numbers."""

import os
from array import array
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._io._sources import open_input
from sparsemaps._io._text_input import ending_of, without_compression
from sparsemaps._tools._checks import finite_or_none
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array
from sparsemaps.files._job_options import Texts
from sparsemaps.records import csv

_CURE = "turn categories and empty cells into numbers first (pandas: get_dummies, fillna)"
_ENDINGS = "", ".gz", ".bz2", ".xz"
"""Compressed files that NumPy reads, too, as the printed programs do."""


class NumberTable(NamedTuple):
    """The column of labels, all columns, which each file must have in this order, the lines of the
    first file's header, with those before it, and NumPy's type of the labels."""

    label: str
    columns: tuple[str, ...]
    n_lines: int = 1
    dtype: str = "float64"

    def read(self, path: str, *, of_numbers: bool) -> tuple[Array, list[Any]]:
        """Return the numbers and the labels of a file: strings, or numbers if `of_numbers`."""
        place, n = self.columns.index(self.label), len(self.columns)
        values, labels = array("d"), list[Any]()
        with open_input(path) as text:
            records = csv.records_of(text)
            found = tuple(next(records).values)
            if found != self.columns:
                expected = f"expected the columns {_shown(self.columns)}"
                raise ValueError(f"{path}: line 1: {expected}; found {_shown(found)}")
            for record in records:
                line = f"{path}: line {record.n_before + 1}"
                if len(record.values) != n:
                    raise ValueError(
                        f"{line}: expected {counted(n, 'fields')}, like the header; got "
                        f"{len(record.values)}"
                    )
                label = record.values.pop(place)
                labels.append(_number_in(label) if of_numbers else label)
                if labels[-1] in ("", None):
                    kind, got = "number" if of_numbers else "label", repr(label[:40])
                    raise ValueError(
                        f"{line}: expected a {kind} in the column {self.label!r}; got {got}"
                    )
                values.extend(self._numbers(record.values, line))
        return np.array(values).reshape(len(labels), n - 1), labels

    def _numbers(self, values: list[str], line: str) -> list[float]:
        numbers = [_number_in(value) for value in values]
        if None in numbers:
            place = numbers.index(None)
            name = [one for one in self.columns if one != self.label][place]
            raise ValueError(
                f"{line}: expected a number in the column {name!r}; got {values[place][:40]!r}; "
                f"{_CURE}, or name the field of texts by --field"
            )
        return numbers  # type: ignore[return-value]  # none is None

    def program(self, path: str) -> list[str]:
        """Return lines of Python that read a file."""
        place = self.columns.index(self.label)
        kind = "" if self.dtype == "float64" else f", dtype={self.dtype!r}"
        return [
            "import functools, numpy",
            f"read = functools.partial(numpy.loadtxt, {path!r}, delimiter=',', "
            f"skiprows={self.n_lines}, comments=None, quotechar='\"', encoding='utf-8')",
            f"X = read(usecols=[n for n in range({len(self.columns)}) if n != {place}], ndmin=2)",
            f"y = read(usecols={place}{kind})",
        ]


def number_table(source: Texts, paths: list[str]) -> NumberTable | None:
    """Return how to read CSV files of numbers; None if the inputs are texts.

    The columns are numbers if none has the name of the field of texts, and no option for texts is
    given but the analyzer and the field of labels.
    """
    usual = Texts()
    if not all(map(_may_be_table, paths)):
        return None
    if replace(source, analyzer=usual.analyzer, label_field=None) != usual:
        return None
    with open_input(paths[0]) as text:
        header: Any = next(csv.records_of(text), None)
    columns = () if header is None else tuple(header.values)
    if len(columns) < 2 or usual.field in columns:
        return None
    label = source.label_field
    if label is None or columns.count(label) != 1:
        got = "" if label is None else f", got {label!r}"
        if columns.count(label) > 1:
            got += f", the name of {counted(columns.count(label), 'columns')}"
        raise ValueError(
            f"{paths[0]}: --label-field must name the column of labels, one of {_shown(columns)}"
            f"{got}; for texts, name their column by --field"
        )
    return NumberTable(label, columns, header.n_before + len(header.raw.splitlines()))


def _may_be_table(path: str) -> bool:
    base = without_compression(path)
    is_read = ending_of(base) in csv.FORMAT.endings and path.lower()[len(base) :] in _ENDINGS
    return is_read and os.path.isfile(path)


def _number_in(value: str) -> float | None:
    """Return the finite number in a field, if Python and NumPy read the same; else None."""
    try:
        number = float(value)
    except ValueError:
        return None
    return finite_or_none(number) if value.isascii() and "_" not in value else None


def _shown(columns: tuple[str, ...]) -> str:
    """Return the first column names and the last one, which is often the label column."""
    if len(columns) <= 8:
        return ", ".join(map(repr, columns))
    return f"{', '.join(map(repr, columns[:6]))}, ..., {columns[-1]!r}"
