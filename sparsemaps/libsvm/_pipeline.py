"""Conversion of blocks of text in threads. Results are in order; errors name file and line."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

from sparsemaps._io import _text_input
from sparsemaps._loops import text as _loops
from sparsemaps._tools import _blocks, _threads

BLOCK_BYTES = 2**19
"""Bytes of text parsed at a time, chosen so that the text and its arrays stay in the cache."""

_SMALLEST_BLOCK_BYTES = 2**16  # smaller blocks cost too much overhead

P = TypeVar("P")
T = TypeVar("T")


def blocks_of(text: _text_input.Text, n_jobs: int | None) -> Iterator[bytes]:
    """Return the blocks of a file. Blocks of short files are smaller, so that all threads get work
    and the memory of a block is small compared to the result."""
    size, block_bytes = text.length(), BLOCK_BYTES
    if size is not None:
        share = size // (_blocks.BLOCKS_A_THREAD * _threads.resolve_n_jobs(n_jobs))
        block_bytes = min(block_bytes, max(share, _SMALLEST_BLOCK_BYTES))
    return text.blocks(block_bytes)


def in_order(
    convert: Callable[[P], tuple[T, int]],
    pieces: Iterable[P],
    n_jobs: int | None,
    text: _text_input.Text,
) -> Iterator[T]:
    """Yield the results of ``convert(piece)`` for consecutive pieces of a text, in order.

    ``convert`` returns its result and the number of line ends, or raises a `LineError` that counts
    lines from the beginning of its piece. Errors raised here begin with the file's name and count
    lines from the beginning of the file, because the line counts of all earlier pieces are known by
    then.
    """

    def attempt(piece: P) -> tuple[T, int] | ValueError:
        try:
            return convert(piece)
        except ValueError as error:
            return error

    n_lines = 0
    try:
        for outcome in _threads.stream(attempt, ((piece,) for piece in pieces), n_jobs):
            if isinstance(outcome, _text_input.LineError):
                before = text.lines_before() + n_lines
                message = f"{text.name}{outcome.after(before, text.unit)}"
                if isinstance(outcome, _text_input.BadLine):
                    number = before + outcome.line
                    raise _text_input.UnreadableRecord(
                        message, number, outcome.is_of_length, outcome.remedy
                    ) from outcome
                raise ValueError(message) from outcome
            if isinstance(outcome, ValueError):
                raise ValueError(f"{text.name}{outcome}") from outcome
            result, n_more = outcome
            n_lines += n_more
            yield result
    except _text_input.LineTooLong as error:
        line = f"line {text.lines_before() + n_lines + 1}"
        raise ValueError(f"{text.name}{line} is {error}") from error


def cut_lines(text: bytes, max_lines: int) -> Iterator[bytes]:
    """Yield `text` in pieces of at most `max_lines` lines."""
    if _loops.count_line_ends(text) <= max_lines:
        yield text
        return
    line_ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    start = 0
    for end in [*(line_ends[max_lines - 1 :: max_lines] + 1).tolist(), len(text)]:
        if start < end:
            yield text[start:end]
        start = end
