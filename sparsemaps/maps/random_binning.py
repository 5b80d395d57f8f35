"""Random binning: kernels that fall with the L1 distance, as collisions in random grids."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsemaps._input._row_reader import Block, RowReader
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _seeding
from sparsemaps._tools._allowed import LARGEST_N_HASHES, About, Function, NumberOr, PowerOfTwo, Size
from sparsemaps._tools._parameters import named
from sparsemaps._tools._typing import Array, CsrMatrix, RandomState
from sparsemaps.laws._shift_invariant import BinningLaw
from sparsemaps.maps import _bandwidth
from sparsemaps.maps._draw import CodesDraw
from sparsemaps.maps._sampled_map import SampledMap
from sparsemaps.maps._sparse_map import random_map

_LARGEST_INVERSE = 2.0**25
"""A bound on the inverse pitches of the Laplacian kernel at gamma=1."""

_BIN_SCALE = 128
"""The power of two by which numbers of far bins are divided."""

_STEEPEST = 2.0**1000
"""Largest value of gamma times an inverse pitch."""


class BinningDraw(CodesDraw):
    """Random grids."""

    def prepare(self) -> None:
        self.inverse_pitches = self.law.inverse_pitches
        largest = _LARGEST_INVERSE if self.inverse_pitches is None else self.inverse_pitches.max()
        self._steepest = float(self.gamma) * float(largest)

    @np.errstate(over="ignore")
    def _check_bins(self, block: Block) -> None:
        """Raise if the bin numbers, scaled as the loops scale them, exceed the range of float64."""
        if block.indptr[0] == block.indptr[-1]:
            return
        start = block.indptr[0]
        sizes = abs(block.values[start : block.indptr[-1]].astype(float))
        in_range = np.ldexp(sizes, -_BIN_SCALE) * self._steepest < np.finfo(float).max
        if self._steepest > _STEEPEST or not in_range.all():
            entry = int(start) + int(np.argmin(in_range))
            row = int(np.searchsorted(block.indptr, entry, side="right")) - 1
            rule = f"its bins are beyond float64: scale the rows, or use a smaller {named('gamma')}"
            raise block.error(row, rule, entry)

    def write(self, block: Block, layout: int, out: Array) -> None:
        if block.is_extreme or self._steepest > 2.0**100:
            self._check_bins(block)
        key = _seeding.keys(self.seed, "random_binning", 1)[0]
        grids = key, self.gamma, self.inverse_pitches, self.size, self.law.bits
        _loops.bin_rows(*block, *grids, layout, out)


@random_map
class RandomBinning(SampledMap[CsrMatrix]):
    r"""Random binning of each row: one-hot features of the Laplacian kernel.

    A random grid cuts the space into boxes. It has a random pitch and a random shift in each
    dimension. Two rows are in the same box with probability

    .. math:: k(x, y) = e^{-\gamma \|x - y\|_1}.

    For each of `n_grids` grids, the output has a 1 for the box of the row. Boxes are hashed to
    `n_bins` columns. A linear model on the output uses this kernel.

    Parameters
    ----------
    gamma : float, "scale" or "median", default=1.0
        Factor of the distance, [allowed], as in scikit-learn's ``laplacian_kernel`` (whose default
        is one over the number of columns). "scale" takes ``1 / (n_features * X.std())`` of the
        matrix given to ``fit``; "median" makes the kernel ``exp(-1)`` at the median distance of a
        sample of 256 rows. Both are only first guesses; search around them.
    n_grids : int, default=256
        Number of grids, [allowed]. The standard error of the estimated kernel is
        ``sqrt(k * (1 - k) / n_grids)``.
    n_bins : int, default=2**12
        Number of bins to which the boxes of a grid are hashed, [allowed]. Different boxes
        share a bin with probability ``1 / n_bins``, so that the output's inner product is
        ``k + (1 - k) / n_bins``. 2**8 is as accurate for most learners, and 16 times narrower.
    pitch_density : callable or None, default=None
        Another kernel, :math:`\prod_i k(\gamma |x_i - y_i|)`: the density
        :math:`p(\delta) = \delta k''(\delta)` of its pitches at ``gamma=1``. It is called with an
        ndarray of positive pitches, and must be at least 0 (the kernel convex) and integrate to
        :math:`k(0) = 1`. The pitches are then 65,536 equally likely ones, which costs an error of
        the kernel of about 1e-5. None is the Laplacian's density :math:`\delta e^{-\delta}`.
        Maps of two densities and one seed share their random numbers: give them two seeds.
    [random_state, n_jobs, attributes, gamma_]

    See Also
    --------
    RandomFourier : The Laplacian kernel, and others, in dense features.
    ConsistentWeightedSampling : The min-max kernel, in the same form.

    Notes
    -----
    Output is CSR of shape (n_samples, n_grids * n_bins) with exactly `n_grids` entries a row, each
    ``1 / sqrt(n_grids)``; an error of at least e has probability at most
    ``2 exp(-n_grids * e**2 / 2)``. A linear model has classes * width coefficients of 8 bytes: 84
    MB for ten classes at the defaults.

    Zeros fall into bins too: a row without entries is a point like any other. The hash of a box is
    a sum over dimensions, minus the hash of the zero row. The cost is therefore O(entries *
    n_grids), and stored zeros have no effect.

    To combine binning and Fourier features, use scikit-learn's ``FeatureUnion``.

    References
    ----------
    .. [1] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS 2007,
       section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import laplacian_kernel
    >>> from sparsemaps import RandomBinning
    >>> X = np.array([[0.6, 0.8, 0.0], [0.0, 0.8, 0.3]])
    >>> Z = RandomBinning(n_grids=4096, random_state=0).fit_transform(X)
    >>> Z.shape, Z.nnz
    ((2, 16777216), 8192)
    >>> bool(abs((Z @ Z.T)[0, 1] - laplacian_kernel(X, gamma=1.0)[0, 1]) < 0.04)
    True

    The same kernel by its density:

    >>> density = lambda pitch: pitch * np.exp(-pitch)
    >>> binning = RandomBinning(pitch_density=density, n_grids=4096, random_state=0)
    >>> Z = binning.fit_transform(X)
    >>> bool(abs((Z @ Z.T)[0, 1] - laplacian_kernel(X, gamma=1.0)[0, 1]) < 0.04)
    True
    """

    _about = About(
        command="binning",
        help="Laplacian kernel, by random grids",
    )
    law_class = BinningLaw
    draw_class = BinningDraw

    gamma: _bandwidth.Gamma = NumberOr("scale", "median").default(1.0)
    n_grids: int = Size(1, LARGEST_N_HASHES).default(256)
    n_bins: int = PowerOfTwo(2, 2**24).default(4096)
    pitch_density: Callable[[Array], Array] | None = Function().default(None)
    random_state: RandomState = None
    n_jobs: int | None = None

    @property
    def n_hashes(self) -> int:  # type: ignore[override]
        """Number of samples, equal to the number of grids."""
        return self.n_grids

    def _learn(self, n_columns: int | None, rows: RowReader | None) -> dict[str, Any]:
        return {"gamma": _bandwidth.choose(self.gamma, "absolute", rows)}

    def _law_facts(self) -> dict[str, Any]:
        return {"bits": int(self.n_bins).bit_length() - 1}
