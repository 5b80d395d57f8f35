"""Dask's graphs with one task for each item."""

from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import dask.base
import numpy as np
from dask.callbacks import Callback


def for_each(items: Sequence[Any], function: Callable[..., Any], **options: Any) -> Any:
    """Return ``function(item, **options)`` of each item, one task each, as a Dask array of objects.

    The graph of an array has one layer, whatever the number of items. For delayed objects instead,
    Dask's time grows with the square of their number. Options may be delayed objects.
    """
    if not items:
        return da.from_array(np.empty(0, object), chunks=1)
    boxed = np.empty(len(items), object)
    for place, item in enumerate(items):
        boxed[place] = item
    return da.from_array(boxed, chunks=1).map_blocks(
        _call, function=function, dtype=object, meta=np.empty(0, object), **options
    )


def compute_each(
    items: Sequence[Any],
    function: Callable[..., Any],
    take: Callable[[Any, Any], None],
    client: Any = None,
    **options: Any,
) -> None:
    """Compute ``function(item, **options)`` of each item, and call ``take(item, result)`` for each
    result, in the order in which results arrive.

    A cluster forgets a result after it has arrived. So it is not made again if its worker is lost.
    """
    if not items:
        return
    array = for_each(items, function, **options)
    client = client or getattr(dask.base.get_scheduler(), "__self__", None)
    if not hasattr(client, "persist"):  # a scheduler of this process

        def note(key: Any, result: Any, *state: Any) -> None:
            if key[0] == array.name:
                take(items[key[1]], result.item())

        with Callback(posttask=note):
            array.persist(**({} if client is None else {"scheduler": client}))
        return
    import distributed

    futures = distributed.futures_of(client.persist(array))
    try:
        for future, result in distributed.as_completed(futures, with_results=True):
            take(items[future.key[1]], result.item())
            future.release()
    finally:
        for future in futures:
            future.release()


def _call(boxed: Any, *, function: Callable[..., Any], **options: Any) -> Any:
    result = np.empty(1, object)
    result[0] = function(boxed.item(), **options)
    return result
