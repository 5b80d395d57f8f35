"""Measuring the estimates of a map against its exact kernel, on a sample of rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsemaps._input import _sparse
from sparsemaps._tools import _sklearn
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array, CsrMatrix, MatrixLike
from sparsemaps.laws._moments import Pairs, UnknownVarianceError
from sparsemaps.maps._sparse_map import SparseMap

_N_COMPARED = 2**20
"""Samples of pairs of rows that are compared at a time."""

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class KernelError:
    """The result of `kernel_error`: errors are estimate minus exact kernel, over pairs of rows.

    Attributes
    ----------
    size : int
        Number of components, hashes or grids of the map.
    n_pairs, n_seeds : int
        Numbers of pairs of rows, and of seeds for each pair.
    rmse : float
        Root of the mean squared error.
    bias, bias_std_error : float
        Mean error and its standard error. It does not fall with the number of components.
    rms_bias : float
        Root of the mean squared bias over pairs: the limit of `rmse` as the size grows. It is at
        least the absolute value of `bias`, up to chance.
    std, std_std_error : float
        Standard deviation of a pair's error over seeds (root mean square over pairs), and its
        standard error. It falls as one over the root of the size.
    quantiles : dict of float to float
        Quantiles of the error.
    chance_bias : float
        Part of `bias` from codes of different samples that agree by chance, by formula. It falls
        with the bits of a code (or the bins), not with the size. 0 for maps without codes.
    zero_bit_bias : float
        Part of `bias` from samples of `ConsistentWeightedSampling` that agree in i* and not in t*
        ("0-bit"), as counted in the samples of the same rows and seeds. `t_bits` reduces it by a
        factor of ``2**-t_bits``; the size does not reduce it. 0 for other maps.
    other_bias : float
        The rest of `bias`, with the standard error `bias_std_error`: 0 up to chance, except for the
        acos-chi2 kernel and "rademacher" vectors of `SignProjection`, `hash_dim` of `Fastfood` and
        series of `TensorSketch`, which are approximations.
    theory_std : float or None
        `std` according to the variance formula of the map; None without a formula.
    theory_bias : float
        ``chance_bias + zero_bit_bias``; for a series of `TensorSketch`, the truncation error.
    theory_rmse : float or None
        `rmse` according to `theory_std` and the biases whose mean is `theory_bias`; None without a
        formula.
    peak : float or None
        For `CountSketch` and `TensorSketch`, the largest ``max(abs(x)) / norm(x)`` of the rows x;
        None for other maps. If it is large, heavy columns share a bucket for few seeds, but the
        error is then far above `std`.
    safe_peak : float or None
        For `CountSketch`, the largest `peak` at which a row's squared length is off by more than a
        tenth for at most 5 % of the seeds, by [1]_ with a constant of 1: a guide, not a bound. 0 if
        the size is too small for such errors at all, 1 if it is sufficient for any row. None for
        other maps.

    References
    ----------
    .. [1] C. Freksen, L. Kamma, K. Larsen, "Fully understanding the hashing trick", NeurIPS 2018,
       theorem 2. Lemma 10 of N. Pham, R. Pagh, "Fast and scalable polynomial kernels via explicit
       feature maps", KDD 2013, is an earlier bound.
    """

    size: int
    n_pairs: int
    n_seeds: int
    rmse: float
    bias: float
    bias_std_error: float
    rms_bias: float
    std: float
    std_std_error: float
    quantiles: dict[float, float]
    chance_bias: float
    zero_bit_bias: float
    other_bias: float
    theory_std: float | None
    theory_bias: float
    theory_rmse: float | None
    peak: float | None = None
    safe_peak: float | None = None

    def __str__(self) -> str:
        def theory(value: float | None) -> str:
            return "unknown" if value is None else f"{value:.5f}"

        quantiles = ", ".join(f"{100 * q:g} %: {e:+.4f}" for q, e in self.quantiles.items())
        lines = [] if self.peak is None else [f"  largest |x| / norm  {self.peak:.3f}"]
        if self.safe_peak is not None:
            lines[0] += f"  (above {self.safe_peak:.3f} single errors may be large)"
        return "\n".join(
            [
                f"error of the kernel at size {self.size}: "
                f"{counted(self.n_pairs, 'pairs')} of rows, {counted(self.n_seeds, 'seeds')}",
                f"  root mean square  {self.rmse:.5f}  (theory: {theory(self.theory_rmse)})",
                f"  deviation         {self.std:.5f} +- {self.std_std_error:.5f}  "
                f"(theory: {theory(self.theory_std)})",
                f"  bias              {self.bias:+.5f} +- {self.bias_std_error:.5f}  "
                f"(of one pair {self.rms_bias:.5f})",
                f"    of chance agreements  {self.chance_bias:+.5f}",
                f"    of 0-bit samples      {self.zero_bit_bias:+.5f}",
                f"    of other causes       {self.other_bias:+.5f} +- {self.bias_std_error:.5f}",
                f"  quantiles         {quantiles}",
                *lines,
            ]
        )


def resized(random_map: SparseMap, size: int) -> Any:
    """Return an unfitted copy of the map with another number of components."""
    copy = _sklearn.clone(random_map)
    copy.set_size(size)
    return copy


def sample_rows(
    random_map: SparseMap, X: MatrixLike, n_pairs: int, rng: np.random.Generator
) -> Any:
    """Return a copy of the map fitted to `X`, whose parameters have the values that ``fit``
    computed from the data, and a private copy of a sample of the rows."""
    fitted = _sklearn.clone(random_map).set_params(random_state=0).fit(X)
    fitted.set_params(**fitted._learned)
    csr = _sparse.sound_csr(X if sp.issparse(X) else sp.csr_array(np.asarray(X, float)))
    n_all = csr.shape[0]
    if n_all < 2:
        raise ValueError(f"X must have at least two rows, got {n_all}")
    n_rows = min(n_all, int(np.ceil(0.5 + np.sqrt(0.25 + 2 * n_pairs))))
    chosen = np.sort(rng.choice(n_all, n_rows, replace=False))
    rows = sp.csr_array((csr.values, csr.indices, csr.indptr), shape=csr.shape)
    sample = rows[chosen].astype(float)
    sample.sum_duplicates()
    return fitted, sample


def upper(gram: Any) -> Array:
    """Return the values for all pairs of different rows, from a matrix of all pairs."""
    values: Any = gram.toarray() if sp.issparse(gram) else np.asarray(gram)
    return np.asarray(values[np.triu_indices(len(values), 1)], dtype=np.float64)


def exact_pairs(fitted: SparseMap, sample: CsrMatrix) -> Pairs:
    """Return the exact kernel of all pairs of rows, and the other quantities in variance
    formulas."""
    # Drop unused columns, on which kernels do not depend, so that products take less memory.
    sample = _sparse.used_columns(sample)
    kernel = upper(fitted.exact_kernel(sample))
    doubled = kernel
    if fitted.law.uses_doubled_rows:
        doubled = upper(fitted.exact_kernel(2 * sample))
    factors = tuple(exact_pairs(part, sample) for part in fitted.factors)
    squares = np.asarray(sample.power(2).sum(axis=1)).reshape(-1)
    largest = abs(sample).max(axis=1).toarray().reshape(-1)
    first, second = np.triu_indices(sample.shape[0], 1)
    inner = upper(sample @ sample.T)
    return Pairs(
        kernel=kernel,
        doubled=doubled,
        inner=inner,
        square_x=squares[first],
        square_y=squares[second],
        overlap=upper(sample.power(2) @ sample.power(2).T),
        peak=_peaks(sample) if fitted.law.uses_peaks else np.zeros_like(kernel),
        longest=largest[first] * largest[second],
        measured=np.zeros_like(kernel),
        rounding=fitted.law.rounding(sample, kernel),
        factors=factors,
    )


def _peaks(sample: CsrMatrix) -> Array:
    """Return, for each pair of rows, the sum of (x_i - y_i)^4 over the squared sum of (x_i -
    y_i)^2. Rows are subtracted first, because sums of powers would lose digits for rows far from
    0."""
    n_rows, peaks = sample.shape[0], [np.zeros(0)]
    for row in range(n_rows - 1):
        others = sample[row + 1 :]
        own = sp.csr_array(np.ones((n_rows - row - 1, 1))) @ sample[row : row + 1]
        differences = abs(others - own)
        largest = differences.max(axis=1).toarray().reshape(-1)
        scales = np.divide(1, largest, out=np.zeros_like(largest), where=largest > 0)
        squares = (sp.diags_array(scales) @ differences).power(2)
        sums, fourths = squares.sum(axis=1), squares.power(2).sum(axis=1)
        peaks.append(np.divide(fourths, sums**2, out=np.zeros_like(sums), where=sums > 0))
    return np.concatenate(peaks)


def measured(
    fitted: SparseMap, sample: CsrMatrix, pairs: Pairs, seeds: Sequence[int], *, signs: bool = False
) -> Pairs:
    """Return `pairs` with the rates of 0-bit samples, averaged over the seeds; with `signs`, also
    with the mean errors of signs that agree at nearly the rate of the kernel."""
    kinds = ("zero bits", "signs") if signs else ("zero bits",)
    if not any(leaf.measured in kinds for leaf in fitted.law.leaves()):
        return pairs
    features = _sklearn.clone(fitted)
    for seed in seeds:
        features.random_state = seed
        pairs = _add_measured(features.fit(sample), sample, pairs, 1 / len(seeds), kinds)
    return pairs


def _add_measured(
    features: Any, sample: CsrMatrix, pairs: Pairs, weight: float, kinds: tuple[str, ...]
) -> Pairs:
    """Return `pairs` with the rates for one seed, times `weight`, added to its rates."""
    if features.factors:
        factors = tuple(
            _add_measured(part, sample, factor, weight, kinds)
            for part, factor in zip(features.factors, pairs.factors, strict=True)
        )
        return replace(pairs, factors=factors)
    if features.law.measured not in kinds:
        return pairs
    if features.law.measured == "signs":
        Z = _sparse.used_columns(features.transform(sample))
        rates = upper(Z @ Z.T) - pairs.kernel
    else:
        rates = _rates_of_zero_bits(*features.sample(sample))
    return replace(pairs, measured=pairs.measured + weight * rates)


def _rates_of_zero_bits(i: Array, t: Array) -> Array:
    """Return, for each pair of rows, the share of samples that agree in i* but not in t*."""
    first, second = np.triu_indices(len(i), 1)
    total = np.zeros(len(first))
    step = max(1, _N_COMPARED // len(first))
    for start in range(0, i.shape[1], step):
        columns, numbers = i[:, start : start + step], t[:, start : start + step]
        same = columns[first] == columns[second]
        total += (same & (numbers[first] != numbers[second])).sum(axis=1)
    return total / i.shape[1]


def estimates_by_seed(fitted: SparseMap, sample: CsrMatrix, seeds: Sequence[int]) -> Array:
    """Return the estimates for all pairs of rows, in one row per seed."""
    out = []
    features = _sklearn.clone(fitted)
    for seed in seeds:
        features.random_state = seed
        Z = _sparse.used_columns(features.fit(sample).transform(sample))
        out.append(upper(Z @ Z.T))
    return np.array(out)


def _peak(sample: CsrMatrix) -> float:
    """Return the largest ratio of an entry to the norm of its row."""
    squares = np.asarray(sample.power(2).max(axis=1).todense()).reshape(-1)
    norms = np.asarray(sample.power(2).sum(axis=1)).reshape(-1)
    return float(np.sqrt((squares[norms > 0] / norms[norms > 0]).max(initial=0)))


def summary(
    fitted: SparseMap, pairs: Pairs, errors: Array, sample: CsrMatrix | None = None
) -> KernelError:
    """Return the result. `errors` has one row per seed, `pairs` has the measured rates, and
    `sample` the rows."""
    n_seeds = len(errors)
    means = errors.mean(axis=0)
    variances = ((errors - means) ** 2).mean(axis=1) * n_seeds / (n_seeds - 1)  # one per seed
    variance = float(variances.mean())
    std = float(np.sqrt(variance))
    of_seeds = errors.mean(axis=1)
    variance_error = float(variances.std(ddof=1) / np.sqrt(n_seeds))
    known = fitted.law.bias(pairs)
    chance_bias, zero_bit_bias = float(known.chance.mean()), float(known.zero_bit.mean())
    bias = float(of_seeds.mean())
    theory_std = theory_rmse = None
    try:
        expected = fitted.law.moments(pairs).variance(fitted.size)
    except UnknownVarianceError:
        pass
    else:
        theory_std = float(np.sqrt(expected.mean()))
        theory_rmse = float(np.sqrt((expected + known.total**2).mean()))
    return KernelError(
        size=fitted.size,
        n_pairs=errors.shape[1],
        n_seeds=n_seeds,
        rmse=float(np.sqrt((errors**2).mean())),
        bias=bias,
        bias_std_error=float(of_seeds.std(ddof=1) / np.sqrt(n_seeds)),
        rms_bias=float(np.sqrt(max(0.0, (means**2).mean() - variance / n_seeds))),
        std=std,
        std_std_error=variance_error / (2 * std) if std > 0 else 0.0,
        quantiles=dict(zip(QUANTILES, np.quantile(errors, QUANTILES).tolist(), strict=True)),
        chance_bias=chance_bias,
        zero_bit_bias=zero_bit_bias,
        other_bias=bias - chance_bias - zero_bit_bias,
        theory_std=theory_std,
        theory_bias=chance_bias + zero_bit_bias + float(known.approximate.mean()),
        theory_rmse=theory_rmse,
        peak=_peak(sample) if sample is not None and fitted.law.shares_buckets else None,
        safe_peak=fitted.law.safe_peak(fitted.size),
    )
