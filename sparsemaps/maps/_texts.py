"""Codes of raw texts."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sparsemaps._input._row_reader import RowReader, SetReader
from sparsemaps._input._sparse import Csr
from sparsemaps._tools import _threads
from sparsemaps._tools._sklearn import width_of
from sparsemaps._tools._typing import Array, Bytes
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.maps._draw import CodesDraw, EncodedRows, Work


class TextEncoder:
    """An encoder of texts with a fitted map, which takes one block of texts at a time. Threads and
    calls may share an encoder, which prepares the vectorizer only once."""

    def __init__(self, map: Any, vectorizer: Any) -> None:
        if hasattr(vectorizer, "steps"):  # a pipeline
            from sparsemaps.text._weighted_ngrams import weighted

            vectorizer = weighted(vectorizer)
        self._map, self._vectorizer = map, vectorizer

    def __reduce__(self) -> Any:
        return TextEncoder, (self._map, self._vectorizer)

    @cached_property
    def compiled(self) -> Any:
        """The compiled loops of a vectorizer of this package. None for other vectorizers, and if
        the map does not accept rows of this width, which raises an error later."""
        from sparsemaps.text._descriptions import compiled_loops

        compiled = compiled_loops(self._vectorizer)
        if compiled is None or self._map.n_columns not in (None, width_of(self._vectorizer)):
            return None
        return compiled

    @cached_property
    def _config(self) -> dict[str, Any]:
        # Imported here because it imports scikit-learn's text modules, which is slow.
        from sparsemaps.text._descriptions import vectorizer_config

        return vectorizer_config(self._vectorizer, values=not self._map.draw.law.is_of_sets)

    def encode(
        self, texts: Iterable[Any], n_jobs: int | None = None, *, packed: bool
    ) -> Bytes | PackedCodes:
        """Return the codes of texts."""
        from sparsemaps.text._inputs import blocks

        encode_block = partial(self.encode_block, packed=packed)
        parts = _threads.run(encode_block, blocks(texts), n_jobs)
        if not packed:
            return np.concatenate([out for out, *_ in parts or [self._map.draw.new_codes(0)]])
        codes: PackedCodes = self._map._packed_codes(parts, self._config)
        return codes

    def encode_sets(self, sets: Iterable[tuple[Array, Array]]) -> PackedCodes:
        """Return the codes of texts whose n-grams are given. Each item of `sets` has the columns of
        some texts, and the positions (int64) that separate the texts. The n-grams that count
        replace all n-grams in place."""
        parts = []
        for columns, indptr in sets:
            own, ends = self.compiled.of_sets(columns, indptr)
            rows = SetReader(own, np.append(0, ends))
            parts.append(self._map.draw.encode(Work(rows, 1), packed=True))
        codes: PackedCodes = self._map._packed_codes(parts, self._config)
        return codes

    def encode_block(self, first: int, block: Any, *, packed: bool) -> EncodedRows:
        """Return the codes of a block. `first` is the number of the first text, for errors."""
        draw: CodesDraw = self._map.draw
        compiled = self.compiled
        if compiled is None:
            from sparsemaps.text._inputs import as_list

            work = self._map._work(self._vectorizer.transform(as_list(block)))
            work.rows.first = first
            return draw.encode(replace(work, n_jobs=1), packed=packed)
        rows: RowReader
        if draw.law.is_of_sets and compiled.has_sets:
            columns, values, ends, _ = compiled.rows(first, block, sets=True)
            rows = SetReader(columns, np.append(0, ends))
        else:
            columns, values, ends, _ = compiled.rows(first, block)
            csr = Csr(values, columns, np.append(0, ends), (len(ends), width_of(self._vectorizer)))
            rows = RowReader(csr, draw.nonnegative_rule, first=first)
        try:
            return draw.encode(Work(rows, 1), packed=packed)
        finally:
            compiled.give_back(columns, values)
