"""Trigonometric features, and rows whose angles are too large for the type of the input."""

from collections.abc import Callable

import numpy as np

from sparsemaps._input._row_reader import Block
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _blocks
from sparsemaps._tools._parameters import named
from sparsemaps._tools._typing import Array
from sparsemaps.maps._draw import call_quietly


def write_features(block: Block, out: Array, write: Callable[[Block, Array], list[int]]) -> None:
    """Write the features of a block with ``write(block, out)``, in the type of the block's values.

    ``write`` returns the numbers of far rows, whose angles are too large for the type: of the first
    64 angles, more than an eighth have 2^44 turns or more, or in float32 64 turns, or more than
    half have 4 turns. Far float32 rows and float32 rows of extreme values are written again in
    float64, so that their features equal the features of the same numbers in float64. Rows that are
    far in float64 raise an error.
    """
    far = call_quietly(write, block, out)
    if (far or block.is_extreme) and block.values.dtype == np.float32:
        rows = np.union1d(far, block.extreme_rows()).astype(np.intp)
        far = _write_in_float64(block, rows, out, write)
    if far:
        raise block.error(
            far[0],
            f"the angles of this row are above 2^{int(np.log2(_loops.FAR_TURNS))} turns, beyond "
            f"the precision of float64: scale the rows, or use a smaller {named('gamma')}",
        )


def _write_in_float64(
    block: Block, rows: Array, out: Array, write: Callable[[Block, Array], list[int]]
) -> list[int]:
    """Write the features of some rows, computed in float64. Return the numbers of the rows that are
    far even so."""
    far = []
    for first, last in _blocks.cut_by_bytes(len(rows), 8 * out.shape[1]):
        here = rows[first:last]
        start = here.item(0)
        part = block.rows(start, here.item(-1) + 1).chosen(here - start)
        features = np.empty((len(here), out.shape[1]))
        far += here[call_quietly(write, part, features)].tolist()
        out[here] = features
    return far
