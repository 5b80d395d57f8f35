"""Rows of snippets of texts, which `sparsemaps train` appends to the rows of whole texts."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from sparsemaps._tools import _threads
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.text._snippets import snippets

T = TypeVar("T")


class SnippetRows:
    """The codes of snippets of the texts of some inputs.

    Snippets depend on the seed and on the number of a record among all records of all inputs, not
    on the blocks in which records are read. Records of weight 0 have no number and no snippets.
    """

    def __init__(self, lengths: tuple[int, ...], seed: int, encoder: TextEncoder) -> None:
        self._lengths, self._seed, self._encoder = lengths, seed, encoder
        self._n_records = self._n_numbered = 0
        self._codes: list[PackedCodes] = []
        self._records: list[Array] = []

    def take(self, parts: Iterable[tuple[T, Any]], n_jobs: int | None) -> Iterator[T]:
        """Yield the parts of an input, which come with their texts, and collect snippets of the
        texts."""

        def numbered() -> Iterator[tuple[T, Any, Array, int]]:
            for part, texts in parts:
                n, rows, first = len(texts), np.arange(len(texts)), self._n_numbered
                weights = getattr(part, "weights", None)
                if weights is not None:
                    rows = np.flatnonzero(weights)
                    texts = [str(texts[row]) for row in rows.tolist()]
                yield part, texts, self._n_records + rows, first
                self._n_records += n
                self._n_numbered += len(rows)

        for part, codes, records in _threads.stream(self._cut, numbered(), n_jobs):
            self._codes.append(codes)
            self._records.append(records)
            yield part

    def _cut(self, part: T, texts: Any, rows: Array, first: int) -> tuple[T, Any, Array]:
        """Return a part with the codes of its snippets and the numbers of their records. `rows` are
        the records of the texts, and `first` is the number of the first text in the random
        sequence."""
        found, index = snippets(texts, self._lengths, random_state=self._seed, first=first)
        return part, self._encoder.encode(found, packed=True), rows[index]

    def after(self, codes: PackedCodes) -> tuple[PackedCodes, Array]:
        """Return the codes of the records followed by the codes of the snippets, and the number of
        the record of each row."""
        records = np.concatenate([np.arange(len(codes)), *self._records])
        return PackedCodes.concatenate([codes, *self._codes]), records
