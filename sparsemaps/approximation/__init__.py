"""The error of a map on rows, and the size that an error needs.

`kernel_error` measures a map against its exact kernel and reports the theoretical values;
`min_components` converts an error to a size; `KernelApproximationDisplay` draws both.

- This file has `kernel_error`, `min_components`, and the display.
- ``_error`` has the estimates and the exact kernel of a sample of pairs, and a summary of errors.
- ``_coverage`` has the probability of an error, from the moments that the law of the map gives.

No other part of the package uses these modules.

>>> from sklearn.datasets import load_digits
>>> from sparsemaps import ConsistentWeightedSampling
>>> from sparsemaps.approximation import kernel_error, min_components
>>> X, _ = load_digits(return_X_y=True)
>>> cws = ConsistentWeightedSampling(n_hashes=256, bits=8).fit(X)
>>> error = kernel_error(cws, X, random_state=0)
>>> bool(0.02 < error.rmse < 0.04)
True
>>> 400 < min_components(cws, 0.05, X=X, n_pairs=1000) < 700
True
>>> min_components(ConsistentWeightedSampling(t_bits=8), 0.05)
400
"""

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsemaps._tools import _checks, _seeding, _sklearn
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array, MatrixLike, RandomState
from sparsemaps.approximation import _error
from sparsemaps.approximation._coverage import coverage
from sparsemaps.approximation._error import KernelError
from sparsemaps.laws._law import Law
from sparsemaps.laws._moments import N_GRID, Moments, Pairs
from sparsemaps.maps._sparse_map import SparseMap

__all__ = ["KernelApproximationDisplay", "KernelError", "kernel_error", "min_components"]

_LARGEST_SIZE = 2**40
"""A size that no map reaches, at which `min_components` stops its search."""


def kernel_error(
    map: SparseMap,
    X: MatrixLike,
    *,
    n_pairs: int = 10_000,
    n_seeds: int = 10,
    random_state: RandomState = None,
) -> KernelError:
    """Measure how far a map's kernel estimates are from the exact kernel on rows of `X`.

    Copies of the map with different seeds map a random sample of the rows. Their inner products are
    compared with the exact kernel. The bias does not depend on the size of the map, whereas the
    standard deviation falls with the size. Several seeds are needed to separate the two.

    Parameters
    ----------
    map : estimator
        A map of sparsemaps, fitted or not. Only its parameters are used, not its seed.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows. All pairs of different rows of a sample of about ``sqrt(2 * n_pairs)`` are used.
    n_pairs : int, default=10_000
        Least number of pairs to compare, if X has enough rows.
    n_seeds : int, default=10
        Number of copies, at least 2.
    random_state : int, Generator, RandomState or None, default=None
        Determines the sample of rows and the seeds.

    Returns
    -------
    error : KernelError
        Attributes `rmse`, `bias`, `std` with standard errors, `quantiles`, and the theoretical
        values. ``print(error)`` prints a summary.

    Raises
    ------
    ValueError
        If X has fewer than two rows, `n_pairs` is below 1, `n_seeds` is below 2, or the map rejects
        its parameters or X.

    Examples
    --------
    Codes of few bits agree by chance; the resulting bias does not fall with the size:

    >>> from sklearn.datasets import load_digits
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.approximation import kernel_error
    >>> X, _ = load_digits(return_X_y=True)
    >>> cws = ConsistentWeightedSampling(n_hashes=1024, bits=2)
    >>> error = kernel_error(cws, X, random_state=0)
    >>> bool(error.bias > 0.1), bool(error.std < 0.02)
    (True, True)
    """
    fitted, sample, pairs, seeds = _sampled(map, X, n_pairs, n_seeds, random_state)
    pairs = _error.measured(fitted, sample, pairs, seeds)
    estimates = _error.estimates_by_seed(fitted, sample, seeds)
    return _error.summary(fitted, pairs, estimates - pairs.kernel, sample)


def _sampled(
    map: SparseMap, X: MatrixLike, n_pairs: int, n_seeds: int, random_state: RandomState
) -> tuple[Any, Any, Pairs, list[int]]:
    """Return the fitted map, a sample of rows, its pairs with their exact kernel, and seeds."""
    _check_at_least("n_pairs", n_pairs, 1)
    _check_at_least("n_seeds", n_seeds, 2)
    rng = np.random.default_rng(int(_seeding.draw_seed(random_state)))
    fitted, sample = _error.sample_rows(map, X, n_pairs, rng)
    pairs = _error.exact_pairs(fitted, sample)
    return fitted, sample, pairs, rng.integers(2**31, size=n_seeds).tolist()


def min_components(
    map: SparseMap,
    error: float,
    *,
    confidence: float = 0.95,
    X: MatrixLike | None = None,
    n_pairs: int = 10_000,
    relative: bool = False,
    angle: float | None = None,
) -> int:
    """Return a size of a map at which the error of a kernel value is at most `error`.

    The result is an `n_components`, `n_hashes` or `n_grids`. With this size, the estimate for each
    pair of rows is within `error` of the exact kernel with probability `confidence`. The estimate
    is the inner product of two outputs of ``transform``, including the bias of codes. If no size is
    sufficient, an error gives the reason.

    With `relative`, the error is relative to the kernel value.

    Parameters
    ----------
    map : estimator
        A map of sparsemaps; its own size does not matter.
    error : float
        The allowed error, above 0, in units of the kernel.
    confidence : float, default=0.95
        Probability that the error of a pair is at most `error`, above 0 and below 1.
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or None, default=None
        Rows for whose pairs the result holds; a sample of them is used. None considers the worst
        pair: over all kernel values and, if the variance depends on the rows' lengths
        (`CountSketch`, `TensorSketch`, `RandomMaclaurin`, the folded RBF kernel), over rows of unit
        length. For these maps, give X if rows do not have unit length.
    n_pairs : int, default=10_000
        Number of pairs of rows of X to use.
    relative : bool, default=False
        Whether `error` is relative to the kernel value: 0.1 means 10 %. No size is sufficient for a
        kernel value of 0, so `angle` excludes pairs that are farther apart.
    angle : float or None, default=None
        With `relative`, the largest angle between two rows, in radians, from 0 to below pi / 2.
        None uses all pairs of X. Without X, the angle is required, and the result is for rows of
        unit length within this angle; such a result exists for `CountSketch`, `TensorSketch`,
        `RandomMaclaurin` and `RandomProjection`.

    Returns
    -------
    size : int
        Even for the paired forms of `RandomFourier` and for `Fastfood`.

    Raises
    ------
    ValueError
        If no size is sufficient because the bias is too large; if the map has no variance formula
        (`Fastfood` with `hash_dim` or for "matern", `KernelProduct` with a map of dense output), or
        none without X (`SignProjection` for "acos_chi2" or with "rademacher" vectors); or if a
        parameter is invalid.

    Notes
    -----
    The variance is given in the Notes of each map. The probability of an error follows from it in
    one of four ways.

    - Codes: the number of agreeing samples is binomial, which is exact. The rate includes
      agreements by chance. The rate of 0-bit samples (see `zero_bit_bias` of `KernelError`) is
      counted in 4,096 samples of the rows if X is given. Without X, it may be ``(1 - K) *
      2**-t_bits`` for a kernel value K, as for rows with a single column. The map then needs
      `t_bits`, and `error` must exceed ``2**-t_bits``. The bias of "acos_chi2" and "rademacher" is
      measured in 16,384 samples.
    - Paired Fourier features: ``1 - estimate`` is treated as gamma distributed, which holds for
      "rbf" and close rows; for other rows, this is close to the normal distribution.
    - Other Fourier features: errors are treated as normal. In simulations with 2,000 seeds, sizes
      for 0.95 of any Fourier features had errors within the limit for at least 0.935 of the seeds.
    - `CountSketch`, `TensorSketch`, `RandomMaclaurin`: Chebyshev's inequality, which always holds.
      Rows with few entries need it: their errors are a few jumps, from columns that share a bucket.
      At 0.95, the size is five times what normal errors need. If X is given, errors of the first
      two maps are treated as normal if the largest jump, about twice the product of the largest
      entries of the two rows, is below `error`; half of the jump is subtracted from the error.

    For `TensorSketch`, the variance is not the bound stated there, but the variance of a sketch
    with fully random hashes, up to terms of order ``1 / n_components**2``: with :math:`a = \\langle
    x, y \\rangle^2`, :math:`b = \\|x\\|^2 \\|y\\|^2 - o`, :math:`c = a - o` and :math:`o = \\sum_i
    x_i^2 y_i^2`, it is :math:`((a + b)^p + (a + c)^p - 2 a^p) / D`. For `Fastfood`, it includes the
    covariance of the features in a block. It is exact for rows that differ in one column, and
    otherwise at most too large: up to twice as large for rows of at most 16 columns, and for "fft".
    For a `Fastfood` that is not fitted, the result holds for any width up to 131,072 columns.

    A series of `TensorSketch` is truncated at a degree; the resulting bias is subtracted from the
    error.

    The relative error of `TensorSketch` with ``coef0=0`` depends only on the angle. Lemma 7 of [1]_
    bounds the probability that it is at least e by :math:`2 / (D e^2 \\cos^{2 p} \\theta)`, using a
    variance that is too small; with the variance of [2]_, the factor 2 becomes :math:`2 + 3^p`. The
    size here is at most the size by the latter bound.

    References
    ----------
    .. [1] N. Pham, R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD
       2013, section 5.
    .. [2] H. Avron, H. Nguyen, D. Woodruff, "Subspace embeddings for the polynomial kernel", NIPS
       2014, lemma 2.

    Examples
    --------
    >>> from sparsemaps import RandomFourier, SignProjection
    >>> from sparsemaps.approximation import min_components
    >>> min_components(SignProjection(), 0.05), min_components(SignProjection(), 0.005)
    (390, 38500)
    >>> min_components(RandomFourier(), 0.05)
    1538

    An error of 10 % for rows at angles of up to 45 degrees:

    >>> import numpy as np
    >>> from sparsemaps import CountSketch
    >>> min_components(CountSketch(), 0.1, relative=True, angle=np.pi / 4)
    6000
    """
    if not (np.isfinite(error) and error > 0):
        raise ParameterError("error", repr(error), "a finite number above 0")
    if not 0 < confidence < 1:
        raise ParameterError("confidence", repr(confidence), "above 0 and below 1")
    _checks.check_bool("relative", relative)
    if angle is not None:
        if not relative:
            raise ParameterError("angle", repr(angle), "None unless relative is True")
        if _checks.check_real("angle", angle, 0) >= np.pi / 2:
            raise ParameterError("angle", repr(angle), "below pi / 2")
    map.check_parameters()
    law = map.law
    if X is not None:
        _check_at_least("n_pairs", n_pairs, 1)
        law, pairs = _pairs_of_rows(map, X, n_pairs, angle)
    else:
        pairs = _pairs_at_angles(map, angle) if relative else law.any_pairs()
    is_any = X is None and not relative
    moments = law.moments_of_any_pair() if is_any else law.moments(pairs)
    unit = np.abs(moments.kernel) if relative else np.ones(1)
    _check_bias(law, pairs, moments, float(error), unit, X is not None)
    _check_rounding(law, pairs, moments, float(error) * unit, confidence)
    step = 2 if moments.paired else 1
    size = step * _least(
        lambda n: bool((coverage(moments, step * n, float(error) * unit) >= confidence).all())
    )
    try:
        _error.resized(map, size).check_parameters()
    except ParameterError as refused:
        raise _too_large(map, size, moments, refused) from None
    return size


def _too_large(map: SparseMap, size: int, moments: Moments, refused: ParameterError) -> ValueError:
    """Return the error for a size that the map rejects."""
    needed = f"{map.size_name} would have to be {size}, and it must be {refused.allowed}"
    largest = float(np.abs(moments.kernel).max())
    if largest <= 1 + 1e-6:
        return ValueError(f"{needed}: allow a larger error")
    return ValueError(
        f"{needed}: kernel values of the rows are up to {largest:.3g}, and errors grow with "
        "them: scale rows to unit length, allow a larger error, or a relative one (relative=True)"
    )


def _check_bias(
    law: Law, pairs: Pairs, moments: Moments, error: float, unit: Array, is_of_rows: bool
) -> None:
    """Raise if no size is sufficient, with advice on how to reduce the bias."""
    if not unit.all():
        raise ValueError(
            "relative=True needs kernels that are not 0, got "
            f"{counted(np.sum(unit == 0), 'pairs')} with 0: "
            "angle leaves out rows that are far apart"
        )
    of_pairs = np.broadcast_to(np.abs(moments.bias) / unit, np.shape(moments.kernel))
    worst = float(of_pairs.max())
    if worst < error:
        return
    known = law.bias(pairs)
    zero_bits = np.broadcast_to(np.abs(known.zero_bit) / unit, of_pairs.shape)
    zero_bit = zero_bits[of_pairs.argmax()]
    if zero_bit > worst / 2:
        t_bits = int(np.ceil(np.log2(2 / error)))
        remedies = [] if is_of_rows else ["give X, for whose rows it is measured"]
        if t_bits <= 8:
            remedies.append(f"keep t_bits={t_bits}")
        cause = "samples that agree in i* alone (0-bit)"
    elif np.abs(known.chance).max() > 0:
        cause, remedies = "codes that agree by chance", ["use more bits (n_bins)"]
    else:
        cause = "an approximation of the kernel"
        remedies = ["use a higher degree or a smaller tolerance of a series, or other vectors"]
    remedies.append("allow a larger error")
    raise ValueError(
        f"error must be above {worst:.3g}, the largest bias of the estimate, got {error!r}: it "
        f"comes from {cause}, whatever the size: {', or '.join(remedies)}"
    )


def _check_rounding(
    law: Law, pairs: Pairs, moments: Moments, error: Array, confidence: float
) -> None:
    """Raise if no size is sufficient because values are rounded to whole levels."""
    rounding = law.common_variance(pairs)
    if rounding.any() and not (coverage(moments, _ANY_SIZE, error) >= confidence).all():
        raise ValueError(
            f"the standard error of the kernel is up to {np.sqrt(rounding.max()):.3g} at any "
            "size, because values are rounded to whole levels: use a larger resolution, or allow a "
            "larger error"
        )


_ANY_SIZE = 2**60
"""A size at which all errors that fall with the size are negligible."""


def _pairs_at_angles(map: SparseMap, angle: float | None) -> Pairs:
    """Return pairs of unit-length rows at angles of up to `angle`."""
    law = map.law
    if not law.is_of_inner_products:
        raise ValueError(f"relative=True needs X for {type(map).__name__}")
    if angle is None:
        raise ValueError("relative=True needs X or angle: no size is enough for a kernel of 0")
    angles = np.linspace(0, float(angle), N_GRID)
    rows = np.array([np.cos(angles), np.sin(angles)]).T
    fitted = _sklearn.clone(map).fit_any_width()
    kernel = fitted.exact_kernel(rows, rows[:1])[:, 0]
    return replace(law.any_pairs(), inner=rows[:, 0], kernel=kernel)


def _pairs_of_rows(
    map: SparseMap, X: MatrixLike, n_pairs: int, angle: float | None
) -> tuple[Law, Pairs]:
    """Return the law of the map fitted to X, and pairs of a sample of rows, with measured rates."""
    fitted, sample = _error.sample_rows(map, X, n_pairs, np.random.default_rng(0))
    pairs = _error.exact_pairs(fitted, sample)
    signs = any(leaf.measured == "signs" for leaf in fitted.law.leaves())
    measured = _error.resized(fitted, 4096 if signs else 1024)
    pairs = _error.measured(measured, sample, pairs, range(4), signs=signs)
    if angle is not None:
        pairs = pairs.within(float(angle))
        if not len(pairs.kernel):
            raise ValueError(f"no pair of rows of X is within the angle {angle!r}")
    return fitted.law, pairs


def _least(enough: Callable[[int], bool]) -> int:
    """Return a number n with ``enough(n)``: the least one, if all larger numbers are enough too."""
    high = 1
    while high < _LARGEST_SIZE and not enough(high):
        high *= 2
    return bisect.bisect_left(range(high), True, lo=high // 2 + 1, key=enough)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelApproximationDisplay:
    """Two plots: exact against estimated kernel, and error against the size of the map.

    Use `from_estimator` to create one. Needs matplotlib (``pip install sparsemaps[plot]``).

    Parameters
    ----------
    exact, estimate : ndarray of shape (n_pairs,)
        Kernel values of pairs of rows, and a map's estimates of them.
    errors : list of KernelError
        Errors at several sizes, in ascending order.
    name : str
        Name of the map, for titles.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.approximation import KernelApproximationDisplay
    >>> X, _ = load_digits(return_X_y=True)
    >>> cws = ConsistentWeightedSampling(n_hashes=256, random_state=0)
    >>> display = KernelApproximationDisplay.from_estimator(cws, X)  # doctest: +SKIP
    """

    exact: Array
    estimate: Array
    errors: Sequence[KernelError]
    name: str = "map"

    @classmethod
    def from_estimator(
        cls,
        map: SparseMap,
        X: MatrixLike,
        *,
        sizes: Sequence[int] | None = None,
        n_pairs: int = 10_000,
        n_seeds: int = 10,
        random_state: RandomState = None,
        ax: object = None,
    ) -> "KernelApproximationDisplay":
        """Measure a map on rows of `X`, and draw it.

        Parameters
        ----------
        map : estimator
            A map of sparsemaps, fitted or not.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        sizes : sequence of int or None, default=None
            Sizes (`n_components`, `n_hashes` or `n_grids`) for the second plot; None means the
            map's own size and 1/2 to 1/16 of it.
        n_pairs, n_seeds, random_state
            As for `kernel_error`.
        ax : matplotlib Axes, pair of Axes or None, default=None
            Where to draw: two axes, or one to be replaced by two. None creates a figure.

        Returns
        -------
        display : KernelApproximationDisplay
        """
        fitted, sample, pairs, seeds = _sampled(map, X, n_pairs, n_seeds, random_state)
        own = fitted.size
        if sizes is None:
            sizes = sorted({max(2, own >> shift) for shift in range(5)})
        errors = []
        for size in sizes:
            resized = _error.resized(fitted, size).fit(sample)
            with_rates = _error.measured(resized, sample, pairs, seeds)
            estimates = _error.estimates_by_seed(resized, sample, seeds)
            errors.append(_error.summary(resized, with_rates, estimates - pairs.kernel, sample))
        estimate = _error.estimates_by_seed(fitted, sample, seeds[:1])[0]
        display = cls(exact=pairs.kernel, estimate=estimate, errors=errors, name=type(map).__name__)
        return display.plot(ax=ax)

    def plot(self, *, ax: object = None) -> "KernelApproximationDisplay":
        """Draw both plots.

        Parameters
        ----------
        ax : matplotlib Axes, pair of Axes or None, default=None
            As for `from_estimator`.

        Returns
        -------
        display : KernelApproximationDisplay
        """
        self.axes_ = _two_axes(ax)
        self.figure_ = self.axes_[0].figure
        scatter, curve = self.axes_
        scatter.plot(self.exact, self.estimate, ".", markersize=2, alpha=0.3, rasterized=True)
        low, high = float(self.exact.min()), float(self.exact.max())
        scatter.plot([low, high], [low, high], color="black", linewidth=1)
        scatter.set(xlabel="exact kernel", ylabel="estimate", title=self.name)
        sizes = [error.size for error in self.errors]
        curve.loglog(sizes, [error.rmse for error in self.errors], "o-", label="measured")
        theory = [error.theory_rmse for error in self.errors]
        if None not in theory:
            curve.loglog(sizes, theory, "--", color="black", linewidth=1, label="theory")
        curve.set(xlabel="size of the map", ylabel="root mean square error", title="error")
        curve.set_xticks(sizes, [str(size) for size in sizes])
        curve.minorticks_off()
        curve.legend()
        return self


def _two_axes(ax: Any) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "KernelApproximationDisplay needs matplotlib: pip install sparsemaps[plot]"
        ) from error
    if ax is None:
        _, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
        return axes
    if np.ndim(ax) == 0:  # draw the two within the place of this one
        ax.set_axis_off()
        grid = ax.get_subplotspec().subgridspec(1, 2)
        return np.array([ax.figure.add_subplot(grid[0, number]) for number in range(2)])
    axes = np.asarray(ax).reshape(-1)
    if len(axes) != 2:
        raise ValueError(f"ax must be one Axes or two, got {len(axes)}")
    return axes


def _check_at_least(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(name, repr(value), f"an int of at least {least}")
