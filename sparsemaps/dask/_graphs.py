"""Dask's graphs."""

from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import numpy as np


def for_each(items: Sequence[Any], function: Callable[..., Any], **options: Any) -> Any:
    """``function(item, **options)`` of each item, one task each, as a Dask array of objects.

    As an array, the graph has one layer however many items there are; the time that Dask takes for
    as many delayed objects grows with their square. Options may be delayed objects.
    """
    if not items:
        return da.from_array(np.empty(0, object), chunks=1)
    boxed = np.empty(len(items), object)
    for place, item in enumerate(items):
        boxed[place] = item
    return da.from_array(boxed, chunks=1).map_blocks(
        _call, function=function, dtype=object, meta=np.empty(0, object), **options
    )


def _call(boxed: Any, *, function: Callable[..., Any], **options: Any) -> Any:
    result = np.empty(1, object)
    result[0] = function(boxed.item(), **options)
    return result
