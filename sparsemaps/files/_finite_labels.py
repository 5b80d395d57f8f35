"""Checks that labels are finite. This module does not import models, since jobs that write rows
need it too."""

import numpy as np

from sparsemaps._tools._typing import Array
from sparsemaps.records._batch import Batch

ALL_FINITE = "all labels must be finite"


def not_finite(labels: Array) -> int | None:
    """Return the place of the first label that is NaN or infinite; None if all are finite."""
    wrong = ~np.isfinite(labels) if labels.dtype.kind == "f" else np.zeros(0, bool)
    return int(wrong.argmax()) if wrong.any() else None


def check_labels(block: Batch) -> None:
    """Raise an error that names the line if the label of a record is NaN or infinite."""
    heads = block.heads
    place = not_finite(heads.labels)
    if place is not None:
        row = int(np.searchsorted(heads.label_ends, place, "right"))
        raise block.error(row, 0, f": the label is {heads.labels[place]}; {ALL_FINITE}")
