"""N-grams of texts, weighted by inverse document frequency.

Users express this as a pipeline of a vectorizer and an `IdfWeights`. Within the package it becomes
one vectorizer, whose rows are weighted in place.
"""

import copy
import itertools
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

from sparsemaps._tools import _sklearn
from sparsemaps._tools._parameters import named
from sparsemaps._tools._sklearn import width_of
from sparsemaps._tools._typing import Array, CsrMatrix, Vectorizer
from sparsemaps.text import _frequencies, _inputs
from sparsemaps.text._csr import Loops
from sparsemaps.text._descriptions import DerivedVectorizer, compiled_loops
from sparsemaps.text._frequencies import Frequencies
from sparsemaps.text._idf import IdfWeights


class WeightedNgrams(DerivedVectorizer):
    """A vectorizer that weights the rows of another one by a fitted `IdfWeights`."""

    def __init__(self, vectorizer: Vectorizer, weights: IdfWeights) -> None:
        self.vectorizer, self.weights = vectorizer, weights

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.weights.n_features_in_

    def transform(self, texts: Iterable[Any]) -> CsrMatrix:
        """Return the weighted rows of texts as CSR."""
        return self.weights.transform(self.vectorizer.transform(texts))

    def describe(self) -> dict[str, Any]:
        """Return a JSON-serializable description of all that determines the rows except the
        vectorizer."""
        return {"idf": self.weights.to_config()}

    def _compiled(self) -> Loops | None:
        loops = compiled_loops(self.vectorizer)
        return None if loops is None else _WeightedLoops(loops, self.weights.weighting().weigh)


class NgramsByTable(WeightedNgrams):
    """A `WeightedNgrams` whose frequencies are in a file, read when the first text arrives, so that
    the pickled vectorizer is small."""

    def __init__(self, vectorizer: object, table: str, power: float, levels: float) -> None:
        self.vectorizer, self.table, self.power, self.levels = vectorizer, table, power, levels

    def __reduce__(self) -> Any:
        return NgramsByTable, (self.vectorizer, self.table, self.power, self.levels)

    @property
    def n_features(self) -> int:
        """Number of columns. The table is not read."""
        return width_of(self.vectorizer)

    @cached_property
    def weights(self) -> IdfWeights:  # type: ignore[override]
        """The weights with the frequencies of the table."""
        return IdfWeights.of_frequencies(
            read_table(self.table), self.n_features, power=self.power, levels=self.levels
        )


def read_table(path: str) -> Frequencies:
    """Return the frequency table for weights in a file."""
    table, _ = _frequencies.read(path)
    if table.counts.shape[0] != 1 or table.counts.itemsize != 4:
        raise ValueError(
            f"{path} has counts of {8 * table.counts.itemsize} bits, from a run with "
            f"{named('max_df')}; {named('idf')} needs the table of a run with {named('idf')}"
        )
    return table


class _WeightedLoops(NamedTuple):
    """The compiled loops of a vectorizer, with weighted values."""

    loops: Loops
    weigh: Callable[..., None]

    @property
    def has_sets(self) -> bool:
        return False

    def rows(self, first: int, block: object, sets: bool = False) -> tuple[Array, Any, Array, int]:
        assert not sets
        columns, values, ends, n = self.loops.rows(first, block)
        self.weigh(columns, values, values)
        return columns, values, ends, n

    def give_back(self, columns: Array, values: object) -> None:
        self.loops.give_back(columns, values)


def weighted(vectorizer: Vectorizer) -> Any:
    """Return one vectorizer for a pipeline of a vectorizer and a fitted `IdfWeights`; return
    anything else unchanged."""
    parts = _parts_of(vectorizer)
    if parts is None or not parts[1].__sklearn_is_fitted__():
        return vectorizer
    return WeightedNgrams(*parts)


def to_fit(vectorizer: Any) -> tuple[Any, IdfWeights] | None:
    """Return the vectorizer and the weights of a combination whose weights are not fitted; None for
    anything else."""
    parts = _parts_of(vectorizer)
    if type(vectorizer) is WeightedNgrams:
        parts = vectorizer.vectorizer, vectorizer.weights
    return None if parts is None or parts[1].__sklearn_is_fitted__() else parts


def plain(vectorizer: Any) -> Any:
    """Return the vectorizer of a combination with weights; return a vectorizer without weights
    unchanged."""
    if isinstance(vectorizer, WeightedNgrams):
        return vectorizer.vectorizer
    parts = _parts_of(vectorizer)
    return vectorizer if parts is None else parts[0]


def fitted(vectorizer: Any, texts: Iterable[Any] | None, sample_weight: Array | None) -> Any:
    """Return a copy of the vectorizer for a model that learns from texts. An `IdfWeights` that is
    not fitted counts the texts, except texts of weight 0. `texts` is None if only codes are
    given."""
    if isinstance(vectorizer, WeightedNgrams):
        return vectorizer
    parts = _parts_of(vectorizer)
    if parts is None:
        return _sklearn.clone(vectorizer)
    inner, weights = _sklearn.clone(parts[0]), parts[1]
    if weights.__sklearn_is_fitted__():
        return WeightedNgrams(inner, copy.deepcopy(weights))
    if texts is None:
        raise ValueError(
            "the IdfWeights of `vectorizer` is not fitted, and cannot count texts by their codes: "
            "fit it first, or fit the model to texts"
        )
    weights = _sklearn.clone(weights)
    for first, block in _inputs.blocks(texts):
        some = _inputs.as_list(block)
        if sample_weight is not None:
            counts = sample_weight[first : first + len(some)] > 0
            some = list(itertools.compress(some, counts.tolist()))
        weights.partial_fit(inner.transform(some))
    return WeightedNgrams(inner, weights)


def _parts_of(vectorizer: Vectorizer) -> tuple[Any, IdfWeights] | None:
    """Return the vectorizer and the weights of a pipeline of these two; None for anything else."""
    steps = [step for _, step in getattr(vectorizer, "steps", ())]
    if len(steps) != 2 or not isinstance(steps[1], IdfWeights):
        return None
    return steps[0], steps[1]
