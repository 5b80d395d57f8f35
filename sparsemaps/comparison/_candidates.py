"""The candidates for given rows: preparation, learner and parameters."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import scipy.sparse as sp

import sparsemaps
from sparsemaps import kernels
from sparsemaps._tools import _sklearn
from sparsemaps.comparison._facts import Facts, median_distance, rounded
from sparsemaps.comparison._learners import (
    ByKernel,
    ByRbf,
    ByTrees,
    Learner,
    OnCodes,
    OnFeatures,
    OnRows,
)
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.text import IdfWeights
from sparsemaps.text._analyzers import as_vectorizer

LINEAR = "linear model"

MOST_COLUMNS = 2**20
"""Largest number of columns of linear models. Larger numbers are hashed down."""

MOST_EXACT_ROWS = 5000
"""Largest number of rows of exact kernels whose matrix is held in memory."""

_GAMMAS = 1.0, 4.0, 0.25
"""Values of gamma to try, in units of the inverse median distance."""

_POWERS = 0.5, 1.0, 2.0
_LEVELS_OF_ROW = 4000
_BITS = 8

FEWER = "hashed columns"

COUNTS, SETS, HASHED = "counts of n-grams", "sets of n-grams", "hashed n-grams"
OF_LINEAR_TEXTS = f"{HASHED} + tf-idf"
_OF_TEXTS = COUNTS, SETS, HASHED
"""Rows of texts: counts or sets in exact columns or nearly so, and hashed columns, 2**20, for
linear models."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way to learn: a preparation of rows and a learner."""

    family: str
    details: str
    preparation: str
    learner: Learner
    gamma: float | None = None

    @property
    def name(self) -> str:
        """The name in a table."""
        said = ", ".join(part for part in (self.preparation, self.details) if part)
        return f"{self.family} ({said})" if said else self.family


class Preparations:
    """The preparations of rows by name, as unfitted transformers."""

    def __init__(self, analyzer: Any = None) -> None:
        self.analyzer = analyzer
        """Specification of the n-grams of texts; None for rows."""

    def steps(self, name: str) -> list[Any]:
        """Return the transformers of a preparation."""
        if name == OF_LINEAR_TEXTS and self._has_exact_columns():
            name = f"{COUNTS} + idf + unit rows + {FEWER}"
        return [self._step(part) for part in name.split(" + ")] if name else []

    def _has_exact_columns(self) -> bool:
        """Return whether the vectorizer of texts has exact columns, like `ByteNgrams`, and cannot
        hash them."""
        return not hasattr(as_vectorizer(self.analyzer, binary=False), "n_features")

    def _step(self, name: str) -> Any:
        if name in _OF_TEXTS:
            made = as_vectorizer(self.analyzer, binary=name == SETS)
            return made.set_params(n_features=MOST_COLUMNS) if name == HASHED else made
        if name == FEWER:
            sketch = sparsemaps.CountSketch(n_components=MOST_COLUMNS, random_state=0)
            return sketch.set_params(dense_output=False)
        return {
            "unit rows": _sklearn.Normalizer,
            "columns to 1": _sklearn.MaxAbsScaler,
            "columns 0 to 1": partial(_sklearn.MinMaxScaler, clip=True),
            "variance 1": _sklearn.StandardScaler,
            "one-hot": partial(_sklearn.OneHotEncoder, handle_unknown="ignore"),
            "tf-idf": partial(_sklearn.TfidfTransformer, sublinear_tf=True),
            "idf": IdfWeights,
        }[name]()


def candidates_of(facts: Facts, X: Any) -> list[Candidate]:
    """Return the candidates for rows with the given facts; `X` is a sample of the rows."""
    if facts.is_text:
        return list(_of_texts(facts))
    # The families that users compare with come first, in case of little time.
    return [*_linear(facts), *_trees(facts), *_min_max(facts, X), *_of_distances(facts, X),
            *_exact(facts, X), *_polynomial(facts), *_of_angles(facts)]  # fmt: skip


def _of_texts(facts: Facts) -> Iterator[Candidate]:
    yield Candidate(LINEAR, "", OF_LINEAR_TEXTS, OnRows())
    for name, map in (
        (SETS, sparsemaps.MinHash(bits=_BITS, random_state=0)),
        (COUNTS, _sampling(method="levels")),
        (f"{COUNTS} + idf", _sampling(method="levels")),
    ):
        yield Candidate(_command(map), "", name, OnCodes(map))


def _command(map: SparseMap) -> str:
    """Return the command's name of a map."""
    return str(type(map)._about.command)


def _sampling(**how: Any) -> Any:
    return sparsemaps.ConsistentWeightedSampling(bits=_BITS, random_state=0, **how)


def _linear(facts: Facts) -> Iterator[Candidate]:
    names = ["unit rows"]
    if facts.is_narrow:
        names += ["variance 1"]
    if not facts.is_binary:
        names += ["columns to 1"]
    if facts.has_few_values:
        names += ["one-hot"]
    if facts.are_counts and not facts.is_narrow:
        names += ["tf-idf"]
    if facts.n_columns > MOST_COLUMNS:  # parameters for each column would be too many
        names = [f"unit rows + {FEWER}"]
        if facts.are_counts:
            names += [f"idf + unit rows + {FEWER}"]
    for name in reversed(names):  # strongest first, in case of little time
        yield Candidate(LINEAR, "", name, OnRows())


def _trees(facts: Facts) -> Iterator[Candidate]:
    if facts.is_narrow:
        yield Candidate("boosted trees", "", "", ByTrees())
        some = (("max_features", 0.3),)
        yield Candidate("boosted trees", "a third of the columns", "", ByTrees(some))


def _min_max(facts: Facts, X: Any) -> Iterator[Candidate]:
    family = "minmax"
    if facts.is_binary and facts.is_nonnegative:
        minhash = sparsemaps.MinHash(bits=_BITS, random_state=0)
        yield Candidate(_command(minhash), "", "", OnCodes(minhash))
        return
    method: dict[str, Any] = {}
    if facts.takes_levels:
        method = {"method": "levels"}
    elif not facts.is_narrow:
        method = {"method": "levels", "resolution": _resolution(facts)}
    if facts.is_nonnegative:
        for power in _POWERS if facts.is_narrow else (1.0,):
            yield _of_power(family, "", power, _sampling(**method, power=power))
        if facts.are_counts and not facts.is_narrow:
            yield Candidate(family, "levels", "idf", OnCodes(_sampling(method="levels")))
    elif facts.is_narrow:
        signed = OnCodes(_sampling(signed=True, t_bits=4))
        yield Candidate(family, "signed", "variance 1", signed)
        yield Candidate(family, "signed", "", signed)
    if facts.is_narrow:
        for power in _POWERS:
            yield _of_power(family, "columns 0 to 1", power, _sampling(power=power))


def _resolution(facts: Facts) -> float:
    return rounded(_LEVELS_OF_ROW / max(facts.sum_of_row, 1e-300))


def _of_power(family: str, preparation: str, power: float, map: SparseMap) -> Candidate:
    details = "" if power == 1 else f"power {power:g}"
    return Candidate(family, details, preparation, OnCodes(map))


def _of_distances(facts: Facts, X: Any) -> Iterator[Candidate]:
    scaled = list(_scaled(facts, X))
    for family, order in (("binning", 1), ("fourier", 2)):
        for name, gamma in _gammas(scaled, order):
            yield _of_gamma(family, name, gamma)


def _gammas(scaled: Iterable[tuple[str, Any]], order: int) -> Iterator[tuple[str, float]]:
    """Yield (preparation, gamma) pairs, beginning with the usual gamma of each preparation."""
    units = {name: 1 / median_distance(rows, order) for name, rows in scaled}
    for factor in _GAMMAS:
        for name, unit in units.items():
            yield name, rounded(factor * unit)


def _scaled(facts: Facts, X: Any) -> Iterator[tuple[str, Any]]:
    """Yield (preparation, prepared rows) pairs for kernels of distances."""
    names = [""] if facts.is_narrow else ["unit rows"]
    if facts.is_narrow and not facts.is_binary:
        names = ["variance 1", ""]
    preparations = Preparations()
    for name in names:
        rows = X
        for step in preparations.steps(name):
            rows = step.fit_transform(rows)
        yield name, sp.csr_array(rows) if sp.issparse(rows) else rows


def _of_gamma(
    family: str, preparation: str, gamma: float, *, in_memory: bool = True
) -> Candidate:  # fmt: skip
    """Return a candidate with a given gamma. `in_memory` tells whether the matrix of an exact
    kernel is held in memory."""
    learner: Learner
    if not in_memory:
        learner = ByRbf(gamma)
    elif family == "binning":
        map = sparsemaps.RandomBinning(gamma=gamma, n_bins=2**_BITS, random_state=0)
        learner = OnCodes(map)
    elif family == "fourier":
        learner = OnFeatures(sparsemaps.RandomFourier(gamma=gamma, random_state=0))
    else:
        kernel = {"rbf": kernels.rbf_kernel, "laplacian": kernels.laplacian_kernel}[_of(family)]
        learner = ByKernel(partial(kernel, gamma=gamma))
    return Candidate(family, f"gamma {gamma:g}", preparation, learner, gamma)


def _of(family: str) -> str:
    """Return the kernel of a family of exact kernels."""
    return family.removeprefix("exact ").removesuffix(" kernel")


def neighbours_of(
    candidate: Candidate, factors: Sequence[float] = (0.5, 2.0)
) -> list[Candidate]:  # fmt: skip
    """Return copies of a candidate with the gamma multiplied by each of the factors."""
    if candidate.gamma is None:
        return []
    in_memory = not isinstance(candidate.learner, ByRbf)
    return [
        _of_gamma(
            candidate.family, candidate.preparation, rounded(candidate.gamma * factor),
            in_memory=in_memory,
        )
        for factor in factors
    ]  # fmt: skip


def _of_angles(facts: Facts) -> Iterator[Candidate]:
    for kernel in ("acos", "acos_chi2"):
        if kernel == "acos" or facts.is_nonnegative:
            signs = sparsemaps.SignProjection(kernel=kernel, random_state=0)
            names = ["", "columns 0 to 1"] if facts.is_narrow and not facts.is_binary else [""]
            for name in names:
                family = f"signs {kernel.replace('_', '-')}"
                yield Candidate(family, "", name, OnCodes(signs, bits=1))


def _polynomial(facts: Facts) -> Iterator[Candidate]:
    names = ["unit rows"]
    if facts.is_narrow and not facts.is_binary:
        names = ["variance 1 + unit rows"]
    for name in names:
        for degree in (2, 3):
            sketch = sparsemaps.TensorSketch(degree=degree, coef0=1.0, random_state=0)
            yield Candidate("tensor-sketch", f"degree {degree}", name, OnFeatures(sketch))


def _exact(facts: Facts, X: Any) -> Iterator[Candidate]:
    in_memory = facts.n_rows <= MOST_EXACT_ROWS
    if not in_memory and not facts.is_narrow:
        return
    if in_memory and facts.is_nonnegative:
        minmax = ByKernel(kernels.min_max_kernel)
        yield Candidate("exact min-max kernel", "", "", minmax)
        if facts.is_narrow and not facts.is_binary:
            yield Candidate("exact min-max kernel", "", "columns 0 to 1", minmax)
        yield Candidate("exact acos-chi2 kernel", "", "", ByKernel(kernels.acos_chi2_kernel))
    scaled = list(_scaled(facts, X))
    for kernel, order in (("laplacian", 1), ("rbf", 2)):
        if kernel == "rbf" or in_memory:
            for name, gamma in _gammas(scaled, order):
                yield _of_gamma(f"exact {kernel} kernel", name, gamma, in_memory=in_memory)
