"""Trigonometric features, and rows whose angles are too large for the input type."""

from collections.abc import Callable

import numpy as np

from sparsemaps._input._row_reader import Block
from sparsemaps._loops import maps as _loops
from sparsemaps._tools._parameters import named
from sparsemaps._tools._typing import Array
from sparsemaps.maps._draw import call_quietly


def write_features(block: Block, out: Array, write: Callable[[Block, Array], list[int]]) -> None:
    """Write the features of a block with ``write(block, out)``, in the type of the block's values.

    ``write`` returns the numbers of far rows: their angles span so many turns that hardly any bit
    of the fraction of a turn is left. Far float32 rows and float32 rows of extreme values are
    written again in float64. Rows that are far in float64 raise an error.
    """
    far = call_quietly(write, block, out)
    if (far or block.is_extreme) and block.values.dtype == np.float32:
        rows = np.union1d(far, block.extreme_rows()).astype(np.intp)
        features = np.empty((len(rows), out.shape[1]))
        far = rows[call_quietly(write, block.chosen(rows), features)].tolist()
        out[rows] = features
    if far:
        raise block.error(
            far[0],
            f"the angles of this row are above 2^{int(np.log2(_loops.FAR_TURNS))} turns, beyond "
            f"the precision of float64: scale the rows, or take a smaller {named('gamma')}",
        )
