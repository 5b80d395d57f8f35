"""Random binning: kernels that fall with the L1 distance, as collisions in random grids."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsemaps._input._row_reader import Block, RowReader
from sparsemaps._loops import maps as _kernel
from sparsemaps._tools import _checks, _portable_math, _seeding
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import Array, CsrMatrix, RandomState
from sparsemaps.codes._code_checks import LARGEST_BITS, LARGEST_N_HASHES
from sparsemaps.laws._shift_invariant import BinningLaw
from sparsemaps.maps import _bandwidth
from sparsemaps.maps._draw import CodesDraw
from sparsemaps.maps._sampled_map import SampledMap


class RandomBinning(SampledMap[CsrMatrix]):
    r"""Random binning of each row: one-hot features of the Laplacian kernel.

    A random grid cuts the space into boxes; its pitch and shift in each dimension are drawn such
    that two rows are in one box with probability

    .. math:: k(x, y) = e^{-\gamma \|x - y\|_1}.

    For each of `n_grids` grids the output has a 1 for the box that holds the row. Boxes are hashed
    to `n_bins` columns. A linear learner on the output works with that kernel.

    Parameters
    ----------
    gamma : float, "scale" or "median", default=1.0
        Factor of the distance, above 0, as of scikit-learn's ``laplacian_kernel`` (whose default is
        one over the number of columns). "scale" takes ``1 / (n_features * X.std())`` of the matrix
        given to ``fit``; "median" makes the kernel ``exp(-1)`` at the median distance of a sample
        of 256 rows. Both are a first guess: search around it.
    n_grids : int, default=256
        Number of grids, 1 to 2**24. The standard error of the estimated kernel is
        ``sqrt(k * (1 - k) / n_grids)``.
    n_bins : int, default=2**12
        How many bins the boxes of a grid are hashed to: a power of two, 2 to 2**24. Different boxes
        meet in one with probability ``1 / n_bins``, so that the output's inner product is
        ``k + (1 - k) / n_bins``. 2**8 is as accurate for most learners, and 16 times narrower.
    pitch_density : callable or None, default=None
        Another kernel, :math:`\prod_i k(\gamma |x_i - y_i|)`: the density
        :math:`p(\delta) = \delta k''(\delta)` of its pitches at ``gamma=1``. It is called with an
        ndarray of positive pitches, and must be at least 0 (the kernel convex) and integrate to
        :math:`k(0) = 1`. The pitches are then 65,536 equally likely ones, which costs an error of
        the kernel of about 1e-5. None is the Laplacian's density :math:`\delta e^{-\delta}`.
        Maps of two densities and one seed share their random numbers: give them two seeds.
    [random_state, n_jobs]

    Attributes
    ----------
    gamma_ : float
        The value of `gamma` in use.
    [n_features_in_, feature_names_in_, seed_]

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

    Zeros fall into bins too: a row without entries is a point like others. The hash of a box is a
    sum over dimensions, from which the hash for the row of zeros is subtracted. So the cost is
    O(entries * n_grids), and stored zeros change nothing.

    To have both binning and Fourier features, use scikit-learn's ``FeatureUnion``.

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

    _summary = "Laplacian, other mixtures of hats", "one-hot CSR, packed codes"
    _command = "binning", "Laplacian kernel, by random grids"
    demo = "Laplacian", {"gamma": 0.3, "n_bins": 256}

    gamma: _bandwidth.Gamma

    size_name = "n_grids"

    def __init__(
        self,
        *,
        gamma: _bandwidth.Gamma = 1.0,
        n_grids: int = 256,
        n_bins: int = 4096,
        pitch_density: Callable[[Array], Array] | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.n_grids = n_grids
        self.n_bins = n_bins
        self.pitch_density = pitch_density
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        _bandwidth.check(self.gamma)
        _checks.check_int("n_grids", self.n_grids, 1, LARGEST_N_HASHES)
        _checks.check_int("n_bins", self.n_bins, 2, 2**LARGEST_BITS)
        if self.n_bins & (self.n_bins - 1):
            raise ParameterError("n_bins", str(self.n_bins), "a power of two")
        if self.pitch_density is not None and not callable(self.pitch_density):
            raise ParameterError("pitch_density", repr(self.pitch_density), "callable or None")

    @property
    def n_hashes(self) -> int:  # type: ignore[override]
        """Number of samples, which is the number of grids."""
        return self.n_grids

    def _learn(self, n_columns: int | None, rows: RowReader | None) -> dict[str, Any]:
        return {"gamma": _bandwidth.choose(self.gamma, "absolute", rows)}

    def _make_inverse_pitches(self) -> Array | None:
        """Of a `pitch_density`, the inverses of equally likely pitches."""
        if self.pitch_density is None:
            return None
        return 1 / _equally_likely(self.pitch_density, _kernel.N_PITCHES)

    def _draw_class(self) -> "type[BinningDraw]":
        return BinningDraw

    def _law(self) -> BinningLaw:
        bits = int(self.n_bins).bit_length() - 1
        gamma = self._parameters_in_use()["gamma"]
        return BinningLaw(bits=bits, gamma=gamma, inverse_pitches=self._make_inverse_pitches())


class BinningDraw(CodesDraw):
    """Random grids."""

    def write(self, block: Block, layout: int, out: Array) -> None:
        key = _seeding.keys(self.seed, "random_binning", 1)[0]
        grids = key, self.gamma, self.law.inverse_pitches, self.size, self.law.bits
        _kernel.bin_rows(*block, *grids, layout, out)


def _equally_likely(density: Callable[[Array], Array], n: int) -> Array:
    """The middles of n equally likely parts of a density on (0, inf), in order."""
    # Steps are even in the logarithm, where d p = (density * pitch) d log(pitch).
    logarithms = np.linspace(-50, 50, 2**20 + 1)
    pitches = _portable_math.exp(logarithms)
    values = np.asarray(density(pitches), float)
    if values.shape != pitches.shape or not (values >= 0).all() or not np.isfinite(values).all():
        raise ValueError("pitch_density must return a finite number of at least 0 for each pitch")
    steps = values * pitches * (logarithms[1] - logarithms[0])
    below = np.concatenate([[0], np.cumsum((steps[1:] + steps[:-1]) / 2)])
    if abs(below[-1] - 1) > 1e-3:
        raise ValueError(
            "pitch_density must integrate to 1, the kernel's value at 0; its integral is "
            f"{below[-1]:.4g}"
        )
    # Not np.interp, which compilers may round otherwise on other machines.
    wanted = (np.arange(n) + 0.5) / n * below[-1]
    step = np.searchsorted(below, wanted, side="right") - 1
    fraction = (wanted - below[step]) / (below[step + 1] - below[step])
    middles = logarithms[step] + fraction * (logarithms[step + 1] - logarithms[step])
    return _portable_math.exp(middles)
