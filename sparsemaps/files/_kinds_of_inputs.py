"""Kinds of the inputs of a job, as given or determined by their names."""

import os
from collections.abc import Iterable
from typing import Any

from sparsemaps._tools._parameters import ParameterError, setting
from sparsemaps.files._job_options import GivenSource, Svmlight, Texts
from sparsemaps.records._table import cannot_be_rows, format_by_name


def as_source(source: GivenSource) -> Texts | Svmlight | None:
    """Return the parameter `source` of a job as a value. A string is an analyzer of texts; None is
    left to the job."""
    if isinstance(source, str):
        return Texts(source)
    if source is None or isinstance(source, (Texts, Svmlight)):
        return source
    rule = "Texts, Svmlight, an analyzer of texts such as 'auto:5', or None"
    raise ParameterError("source", repr(source), rule)


def texts_in(source: object) -> Texts | None:
    """Return the description of the inputs if they are texts; otherwise None."""
    return source if isinstance(source, Texts) else None


def by_names(source: GivenSource, paths: Iterable[Any]) -> Texts | Svmlight:
    """Return the kind of the inputs, determined by their names if `source` is None."""
    return as_source(source) or (Texts() if are_texts(paths) else Svmlight())


def are_texts(paths: Iterable[Any]) -> bool:
    """Return whether the names of inputs say that they are texts. Raise ValueError if only
    some do."""
    kinds = {format_by_name(path) is not None: path for path in paths}
    if len(kinds) > 1:
        raise ValueError(
            f"by their names, {kinds[True]} is a file of texts, and {kinds[False]} is not; "
            "process one kind at a time"
        )
    return True in kinds


def rows_unless_said(source: GivenSource, paths: Iterable[Any]) -> Texts | Svmlight:
    """Return the kind of the inputs. If `source` is None, they must be LIBSVM files, because rows
    of texts depend on the analyzer."""
    given = as_source(source)
    if given is not None:
        return given
    for path in paths:
        if cannot_be_rows(path):
            said = setting("source", Texts.analyzer)
            raise ValueError(f"{os.fspath(path)} is a file of texts: give {said}")
    return Svmlight()
