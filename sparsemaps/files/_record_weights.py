"""Weights of rows, in files next to LIBSVM files and files of codes."""

import io
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsemaps._io import _paths
from sparsemaps._io._array_files import ArrayKind, read_array
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._sources import WEIGHTS, is_regular
from sparsemaps._tools._checks import LARGEST_REAL
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array, StrPath
from sparsemaps.records._fields import ALLOWED_WEIGHTS, is_weight, number_in


def weights_beside(input: object, n_rows: int) -> Array | None:
    """Return the weights of the rows of an input, from the file next to it; None if there is no
    such file.

    The file has one number per row: an array, INPUT.weights.npy, or text, INPUT.weights.txt.
    """
    path = getattr(input, "path", input)
    if not is_regular(path):
        return None
    found = files_of_weights(path)
    if not found:
        return None
    if len(found) > 1:
        raise ValueError(f"{path} has two files of weights, {found[0]} and {found[1]}")
    weights = _of_array(found[0]) if found[0].endswith(WEIGHTS[0]) else _of_text(found[0])
    if len(weights) != n_rows:
        raise ValueError(
            f"{found[0]}: expected {counted(n_rows, 'weights')}, one for each row of {path}; found "
            f"{len(weights)}"
        )
    return weights


def files_of_weights(path: StrPath) -> list[str]:
    """Return the files of weights next to an input."""
    names = (os.fspath(path) + ending for ending in WEIGHTS)
    return [name for name in names if _paths.exists(name)]


def joined_weights(inputs: Sequence[Any], weights: Sequence[Array | None]) -> Array | None:
    """Return the weights of the rows of all inputs. Raise ValueError if only some inputs have
    weights."""
    there = [one for one in weights if one is not None]
    if not there:
        return None
    if len(there) < len(weights):
        has = [one is not None for one in weights]
        one, other = inputs[has.index(True)], inputs[has.index(False)]
        raise ValueError(f"{one} has weights beside it, and {other} has none")
    return np.concatenate(there)


def _of_array(path: str) -> Array:
    given = read_array(path, ArrayKind(None))
    weights = given.astype(np.float64)
    is_wrong = ~((weights >= 0) & (weights <= LARGEST_REAL))
    if given.dtype.kind in "iu" and given.max(initial=0) > 2**53:
        is_wrong |= weights.astype(object) != given.astype(object)
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise _no_weight(f"{path}: row {row + 1}", str(given[row]))
    return weights


def _of_text(path: str) -> Array:
    weights = []
    with open_regular(path) as raw, io.TextIOWrapper(raw, "utf-8", "replace", newline="\n") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            weight = number_in(text)
            if weight is None or not is_weight(weight):
                found = repr(text[:40]) if text else "an empty line"
                raise _no_weight(f"{path}: line {number}", found)
            weights.append(float(weight))
    return np.array(weights)


def _no_weight(place: str, found: str) -> ValueError:
    rule = f"expected a weight, {ALLOWED_WEIGHTS} that float64 holds"
    return ValueError(f"{place}: {rule}; found {found}")
