"""Blocks of texts from whatever holds texts."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from sparsemaps._kernels import text as _text

BLOCK_CHARACTERS = 2**17
"""About so many characters are in a block (a single longer text makes a block of its own)."""

_AT_ONCE = 1024  # texts of an array that become Python's at the same time


def blocks(texts: Iterable[Any], characters: int = BLOCK_CHARACTERS) -> Iterator[tuple[int, Any]]:
    """Blocks of texts, each with the number of its first text."""
    iterator = _one_by_one(texts)
    first = 0
    while block := _text.take_block(iterator, characters):
        yield first, block
        first += len(block)


def _one_by_one(texts: Iterable[Any]) -> Iterator[Any]:
    if isinstance(texts, np.ndarray) and texts.ndim == 1:
        return _of_array(texts)
    return iter(texts)


def _of_array(texts: Any) -> Iterator[Any]:
    for start in range(0, len(texts), _AT_ONCE):
        yield from texts[start : start + _AT_ONCE].tolist()
