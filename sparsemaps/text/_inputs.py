"""Blocks of texts from lists, generators, arrays, series and Arrow strings."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from sparsemaps._loops import text as _text

BLOCK_CHARACTERS = 2**17
"""Approximate number of characters of a block. A longer text is a block by itself."""

_AT_ONCE = 1024  # texts of an array that become Python strings at once


def blocks(texts: Iterable[Any], n_characters: int = BLOCK_CHARACTERS) -> Iterator[tuple[int, Any]]:
    """Yield blocks of about `n_characters`, each with the number of its first text.

    A block is a list of items of `texts`, or ``(chunk, start, stop)`` for Arrow strings.
    """
    first = 0
    chunks = _arrow_chunks(texts)
    if chunks is not None:
        for chunk in chunks:
            start = 0
            while start < len(chunk):
                stop = chunk.stop(start, n_characters)
                yield first, (chunk, start, stop)
                first += stop - start
                start = stop
        return
    if not hasattr(texts, "__iter__") and not hasattr(texts, "__getitem__"):
        raise TypeError(f"texts must be an iterable of texts, got {texts!r:.100}")
    iterator = iter(texts)
    if isinstance(texts, np.ndarray):
        iterator = _of_array(texts)
    elif type(texts).__module__.split(".")[0] == "pyarrow":  # dictionary-encoded strings
        iterator = _of_scalars(iterator)
    while block := _text.take_block(iterator, n_characters):
        yield first, block
        first += len(block)


def as_list(block: Any) -> list[Any]:
    """Return the texts of a block as a list."""
    if isinstance(block, list):
        return block
    chunk, start, stop = block
    return [chunk.item(i) for i in range(start, stop)]


def _arrow_chunks(texts: Iterable[Any]) -> Iterator[Any] | None:
    """Return chunks of strings in Arrow's memory; None for other texts, and for columns of Python
    objects, which Arrow would copy."""
    if isinstance(texts, _text.Chunk):
        return iter((texts,))
    if isinstance(getattr(texts, "dtype", None), np.dtype):
        return None
    try:
        if hasattr(texts, "__arrow_c_stream__"):
            chunks, capsules = _text.chunks_of_stream, (texts.__arrow_c_stream__(),)
        elif hasattr(texts, "__arrow_c_array__"):
            chunks, capsules = _text.chunks_of_array, texts.__arrow_c_array__()
        else:
            return None
    except (ImportError, NotImplementedError, TypeError, ValueError):
        return None  # the object needs a missing library, or has a type that Arrow lacks
    return chunks(*capsules)


def _of_scalars(scalars: Iterator[Any]) -> Iterator[Any]:
    for scalar in scalars:
        yield scalar.as_py() if hasattr(scalar, "as_py") else scalar


def _of_array(texts: Any) -> Iterator[Any]:
    if texts.ndim != 1:
        yield from texts
        return
    for start in range(0, len(texts), _AT_ONCE):
        yield from texts[start : start + _AT_ONCE].tolist()
