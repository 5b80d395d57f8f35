"""Measuring the estimates of a map against its exact kernel, on a sample of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps import _sklearn, _validation, _variance
from sparsemaps.fastfood import Fastfood
from sparsemaps.kernel_product import KernelProduct
from sparsemaps.random_fourier import RandomFourier

Array = npt.NDArray[np.float64]

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class KernelError:
    """What `kernel_error` found: errors are estimate minus exact kernel, over pairs of rows.

    Attributes
    ----------
    size : int
        Number of components, hashes or grids of the map.
    n_pairs, n_seeds : int
        Number of pairs of rows, and of seeds for each pair.
    rmse : float
        Root of the mean squared error.
    bias, bias_std_error : float
        The mean error and its standard error. More components do not make it smaller.
    rms_bias : float
        Root of the mean over pairs of their squared bias: what is left of `rmse` when the size
        grows. It is at least the absolute value of `bias`, up to chance.
    std, std_std_error : float
        The standard deviation of one pair's error over seeds (the root of its mean square over
        pairs), and its standard error. It falls as one over the root of the size.
    quantiles : dict of float to float
        Quantiles of the error.
    theory_std : float or None
        `std` as the published variance of the map says; None where there is no formula.
    theory_bias : float or None
        The mean bias of codes that agree by chance; None where there is no formula. Two maps have
        a further bias: 0-bit samples, and the acos-chi2 kernel, which is an approximation itself.
    theory_rmse : float or None
        `rmse` by `theory_std` and `theory_bias`; None where there is no formula.
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
    theory_std: float | None
    theory_bias: float | None
    theory_rmse: float | None

    def __str__(self) -> str:
        def theory(value: float | None) -> str:
            return "unknown" if value is None else f"{value:.5f}"

        quantiles = ", ".join(f"{100 * q:g} %: {e:+.4f}" for q, e in self.quantiles.items())
        return "\n".join(
            [
                f"error of the kernel at size {self.size}: {self.n_pairs} pairs of rows, "
                f"{self.n_seeds} seeds",
                f"  root mean square  {self.rmse:.5f}  (theory: {theory(self.theory_rmse)})",
                f"  deviation         {self.std:.5f} +- {self.std_std_error:.5f}  "
                f"(theory: {theory(self.theory_std)})",
                f"  bias              {self.bias:+.5f} +- {self.bias_std_error:.5f}  "
                f"(chance agreements: {theory(self.theory_bias)}); of one pair {self.rms_bias:.5f}",
                f"  quantiles         {quantiles}",
            ]
        )


def resized(random_map: Any, size: int) -> Any:
    """A copy with another number of components."""
    copy = _sklearn.clone(random_map)
    if isinstance(copy, KernelProduct):
        for name, part in copy._named_maps():
            copy.set_params(**{f"{name}__{part._size_name}": size})
        return copy
    return copy.set_params(**{copy._size_name: size})


def sample_rows(random_map: Any, X: Any, n_pairs: int, rng: np.random.Generator) -> Any:
    """A copy of the map that is fitted to `X`, whose parameters hold what ``fit`` computed from the
    data; and a sample of the rows."""
    fitted = _sklearn.clone(random_map).set_params(random_state=0).fit(X)
    fitted.set_params(**fitted._learned_parameters)
    rows: Any = _validation.sound_matrix(X) if sp.issparse(X) else np.asarray(X)
    if rows.shape[0] < 2:
        raise ValueError(f"X must have at least two rows, got {rows.shape[0]}")
    n_rows = min(rows.shape[0], int(np.ceil(0.5 + np.sqrt(0.25 + 2 * n_pairs))))
    chosen = np.sort(rng.choice(rows.shape[0], n_rows, replace=False))
    return fitted, sp.csr_array(rows[chosen])


def upper(gram: Any) -> Array:
    """The values of all pairs of different rows."""
    values: Any = gram.toarray() if sp.issparse(gram) else np.asarray(gram)
    return np.asarray(values[np.triu_indices(len(values), 1)], dtype=np.float64)


def exact_pairs(fitted: Any, sample: Any) -> tuple[Array, _variance.Pairs]:
    """The exact kernel of all pairs of rows, and what the variance formulas ask of them."""
    kernel = upper(fitted.exact_kernel(sample))
    doubled = kernel
    if isinstance(fitted, (RandomFourier, Fastfood)) and fitted.kernel != "folded_rbf":
        doubled = upper(fitted.exact_kernel(2 * sample))
    sample = _used_columns(sample)
    squares = np.asarray(sample.power(2).sum(axis=1)).reshape(-1)
    first, second = np.triu_indices(sample.shape[0], 1)
    pairs = _variance.Pairs(
        kernel=kernel,
        doubled=doubled,
        inner=upper(sample @ sample.T),
        square_x=squares[first],
        square_y=squares[second],
        overlap=upper(sample.power(2) @ sample.power(2).T),
        peak=_peaks(sample, first, second),
    )
    return kernel, pairs


def _peaks(sample: Any, first: Any, second: Any) -> Array:
    """For each pair, the sum of (x_i - y_i)^4 over the squared sum of (x_i - y_i)^2."""
    cubes, fourth = sample.power(3) @ sample.T, sample.power(2) @ sample.power(2).T
    own = np.asarray(sample.power(4).sum(axis=1)).reshape(-1)
    fourths = own[first] + own[second] + 6 * upper(fourth) - 4 * (upper(cubes) + upper(cubes.T))
    squares = np.asarray(sample.power(2).sum(axis=1)).reshape(-1)
    distances = squares[first] + squares[second] - 2 * upper(sample @ sample.T)
    peaks = np.divide(fourths, distances**2, out=np.zeros_like(fourths), where=distances > 0)
    return np.asarray(peaks.clip(0, 1), dtype=np.float64)


def estimates(fitted: Any, sample: Any, seeds: Sequence[int]) -> Array:
    """For each seed a row of the estimates for all pairs of rows."""
    out = []
    features = _sklearn.clone(fitted)
    for seed in seeds:
        features.random_state = seed
        Z = _used_columns(features.fit(sample).transform(sample))
        out.append(upper(Z @ Z.T))
    return np.array(out)


def _used_columns(Z: Any) -> Any:
    """Sparse rows without the columns that none of them has: products take time and memory for
    each."""
    if not sp.issparse(Z):
        return Z
    used, indices = np.unique(Z.indices, return_inverse=True)
    return sp.csr_array((Z.data, indices, Z.indptr), shape=(Z.shape[0], len(used)))


def summary(fitted: Any, exact: Array, pairs: _variance.Pairs, errors: Array) -> KernelError:
    n_seeds = len(errors)
    means = errors.mean(axis=0)
    variances = ((errors - means) ** 2).mean(axis=1) * n_seeds / (n_seeds - 1)  # one of each seed
    variance = float(variances.mean())
    std = float(np.sqrt(variance))
    of_seeds = errors.mean(axis=1)
    variance_error = float(variances.std(ddof=1) / np.sqrt(n_seeds))
    theory: tuple[float | None, float | None, float | None] = (None, None, None)
    try:
        bias, unit = _variance.of_pairs(fitted, pairs)
    except _variance.UnknownVarianceError:
        pass
    else:
        expected = unit / fitted._size
        theory = (
            float(np.sqrt(expected.mean())),
            float(bias.mean()),
            float(np.sqrt((expected + bias**2).mean())),
        )
    return KernelError(
        size=fitted._size,
        n_pairs=errors.shape[1],
        n_seeds=n_seeds,
        rmse=float(np.sqrt((errors**2).mean())),
        bias=float(of_seeds.mean()),
        bias_std_error=float(of_seeds.std(ddof=1) / np.sqrt(n_seeds)),
        rms_bias=float(np.sqrt(max(0.0, (means**2).mean() - variance / n_seeds))),
        std=std,
        std_std_error=variance_error / (2 * std) if std > 0 else 0.0,
        quantiles=dict(zip(QUANTILES, np.quantile(errors, QUANTILES).tolist(), strict=True)),
        theory_std=theory[0],
        theory_bias=theory[1],
        theory_rmse=theory[2],
    )
