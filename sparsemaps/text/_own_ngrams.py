"""The n-grams of a text that few records share.

Boilerplate that thousands of records share, such as a menu or a licence, makes distinct records
similar. A record is therefore compared by its own n-grams, which at most `max_df` records have, if
it has at least `min_own` of them. Any other record, such as a member of a large family of near
copies, is compared by all of its n-grams.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._input import _sparse
from sparsemaps._loops import text as _text
from sparsemaps._tools._blocks import sums_of_rows
from sparsemaps._tools._sklearn import width_of
from sparsemaps._tools._typing import Array, Vectorizer
from sparsemaps.text import _frequencies
from sparsemaps.text._csr import Loops
from sparsemaps.text._descriptions import DerivedVectorizer, compiled_loops
from sparsemaps.text._frequencies import Frequencies
from sparsemaps.text._ngram_places import ngrams_of


class OwnNgrams(DerivedVectorizer):
    """A vectorizer whose rows have only the own n-grams of each text, or all n-grams if these are
    too few.

    Parameters
    ----------
    vectorizer : HashingVectorizer or ByteNgrams
        Makes the rows with all n-grams.
    table : str or None
        Path of a table written by `sparsemaps.text._frequencies.write`. It is read when the first
        text arrives, so that the pickled vectorizer is small. None stands for a table that has
        not been counted yet: rows cannot be made, and the description differs from all others.
    max_df : int
        Largest number of records that have an own n-gram.
    min_own : int
        Least number of own n-grams of a text that is compared by them.
    """

    def __init__(
        self, vectorizer: Vectorizer, table: str | None, max_df: int, min_own: int
    ) -> None:
        self.vectorizer, self.table = vectorizer, table
        self.max_df, self.min_own = max_df, min_own

    def __reduce__(self) -> Any:
        return OwnNgrams, (self.vectorizer, self.table, self.max_df, self.min_own)

    @cached_property
    def frequencies(self) -> Frequencies:
        """The frequency table."""
        assert self.table is not None
        return _frequencies.read(self.table)[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return width_of(self.vectorizer)

    def transform(self, texts: Iterable[Any]) -> Any:
        """Return the rows of texts as a CSR array."""
        X = sp.csr_array(self.vectorizer.transform(texts))
        columns, values, ends = self.own(X.indices, X.data, X.indptr[1:])
        index_type = _sparse.index_type(max(X.shape[1], len(columns)))
        indptr = np.concatenate([[0], ends]).astype(index_type)
        columns = columns.astype(index_type, copy=False)
        return _sparse.csr_of(sp.csr_array, (values, columns, indptr), X.shape)

    def own(self, columns: Array, values: Any, ends: Array) -> tuple[Array, Any, Array]:
        """Move the entries that count to the front of the arrays, in place, and return them with
        the new ends of rows. `ends` are the old ends. For sets, `values` is None."""
        ends = np.asarray(ends, np.int64)
        own_ends = np.empty_like(ends)
        n = _text.take_rare(
            self.frequencies.of(columns), min(self.max_df, 2**32 - 1), self.min_own,
            columns, values, ends, columns, values, own_ends,
        )  # fmt: skip
        return columns[:n], None if values is None else values[:n], own_ends

    def n_own(self, columns: Array, ends: Array) -> Array:
        """Return the number of own n-grams of each row; rows end at `ends`."""
        return sums_of_rows(~self.common(columns), ends)

    def common(self, columns: Array) -> Array:
        """Return a mask of the n-grams that more than `max_df` records have."""
        found: Array = self.frequencies.of(np.ascontiguousarray(columns)) > self.max_df
        return found

    def is_common(self, text: str) -> Array:
        """Return, for each character of a text, whether it is in an n-gram that more than `max_df`
        records have. If the places of n-grams are unknown, return False for all characters."""
        found = ngrams_of(self.vectorizer, text)
        if found is None:
            return np.zeros(len(text), bool)
        common = self.common(found.columns)
        steps = np.zeros(len(found.pieces) + 1, np.int64)
        np.add.at(steps, found.first[common], 1)
        np.add.at(steps, found.last[common] + 1, -1)
        return np.repeat(np.cumsum(steps[:-1]) > 0, [len(piece) for piece in found.pieces])

    def describe(self) -> dict[str, Any]:
        """Return a JSON-serializable description of all that determines the rows except the
        vectorizer."""
        counts = "counted from the inputs" if self.table is None else self.frequencies.digest()
        return {"own": {"max_df": self.max_df, "min_own": self.min_own, "frequencies": counts}}

    def _compiled(self) -> Loops | None:
        loops = compiled_loops(self.vectorizer)
        return None if loops is None else _OwnLoops(self, loops)


class _OwnLoops(NamedTuple):
    """The compiled loops of a vectorizer, restricted to the entries that count."""

    own: OwnNgrams
    loops: Loops

    @property
    def has_sets(self) -> bool:
        return self.loops.has_sets

    def rows(self, first: int, block: object, sets: bool = False) -> tuple[Array, Any, Array, int]:
        """Return the same as the loops, for the entries that count."""
        columns, values, ends, _ = self.loops.rows(first, block, sets)
        found = self.own.own(columns, values, ends)
        return *found, len(found[0])

    def of_sets(self, columns: Array, indptr: Array) -> tuple[Array, Array]:
        """Return the columns that count in sets of all n-grams, moved in place, and the new ends of
        the sets."""
        own, _, ends = self.own.own(columns, None, indptr[1:])
        return own, ends

    def give_back(self, columns: Array, values: object) -> None:
        self.loops.give_back(columns, values)
