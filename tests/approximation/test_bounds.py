"""Sizes for relative errors, the bias of series, and peaks of rows, by simulation."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    MinHash,
    RandomFourier,
    RandomMaclaurin,
    RandomProjection,
    TensorSketch,
)
from sparsemaps.approximation import _error, kernel_error, min_components

N_SEEDS = 200
LEVEL = 0.95 - theorems.N_STANDARD_ERRORS * np.sqrt(0.95 * 0.05 / N_SEEDS)


def pair(angle, n=50):
    """Two rows of unit length of n entries, at an angle."""
    basis, _ = np.linalg.qr(np.random.default_rng(SEED).normal(size=(n, 2)))
    return np.array([basis[:, 0], np.cos(angle) * basis[:, 0] + np.sin(angle) * basis[:, 1]])


def errors(random_map, size, X):
    """The errors of the kernel of the first two rows, for many seeds, and that kernel."""
    resized = _error.resized(random_map, size)
    found = []
    for seed in range(N_SEEDS):
        Z = resized.set_params(random_state=SEED + seed).fit_transform(X)
        found.append((Z @ Z.T)[0, 1])
    exact = resized.exact_kernel(X)[0, 1]
    return np.array(found) - exact, exact


# ---- relative errors -----------------------------------------------------------------------------

RELATIVE = [
    (CountSketch(dense_output=True), 0.3),
    (TensorSketch(degree=2), 0.5),
    (TensorSketch(degree=3), 0.8),
    (TensorSketch(kernel="exp", gamma=0.5), 0.3),
    (RandomMaclaurin(kernel="exp", gamma=0.5), 0.4),
    (RandomProjection(), 0.3),
]


@pytest.mark.parametrize(("random_map", "error"), RELATIVE, ids=str)
def test_relative_errors(random_map, error):
    """Sizes are enough at the largest angle, for any rows and for these, and a tenth is not."""
    angle = np.pi / 4
    size = min_components(random_map, error, relative=True, angle=angle)
    X = pair(angle)
    assert min_components(random_map, error, relative=True, X=X) <= size
    found, exact = errors(random_map, size, X)
    assert np.mean(abs(found) <= error * exact) >= LEVEL
    found, exact = errors(random_map, max(size // 30, 1), X)
    assert np.mean(abs(found) <= error * exact) < LEVEL


@pytest.mark.parametrize("degree", [1, 2, 4])
@pytest.mark.parametrize("angle", [0.0, 0.4, 1.2])
def test_lemma_7(degree, angle):
    """The size is at most that of the lemma with the variance that holds, whatever the lengths."""
    sketch, error = TensorSketch(degree=degree), 0.2
    size = min_components(sketch, error, relative=True, angle=angle)
    limit = (2 + 3**degree) / (error**2 * 0.05) / np.cos(angle) ** (2 * degree)
    assert size <= limit + 1
    X = np.array([[3.0], [0.1]]) * pair(angle)
    assert min_components(sketch, error, relative=True, X=X) <= size + 1


def test_relative_errors_of_other_maps():
    """By X: those of a tenth of the kernels, the least of which decides."""
    X = random_csr(12, 30, density=0.6)[1:6]
    cws = ConsistentWeightedSampling(t_bits=8, bits=12)
    least = cws.fit(X).exact_kernel(X).min()
    size = min_components(cws, 0.3, relative=True, X=X)
    assert size > 1.9**2 * (1 - least) / least / 0.3**2
    assert min_components(cws, 0.3 * least, X=X) >= size


@pytest.mark.parametrize("random_map", [CountSketch(), TensorSketch(), RandomProjection()], ids=str)
def test_relative_errors_of_obtuse_pairs(random_map):
    """A kernel below 0 has the error of its absolute value; no angle below a right one has it."""
    X = pair(1.0)
    obtuse = X * np.array([[1], [-1]])
    size = min_components(random_map, 0.2, relative=True, X=X)
    assert min_components(random_map, 0.2, relative=True, X=obtuse) == size
    with pytest.raises(ValueError, match="no pair of rows of X is within"):
        min_components(random_map, 0.2, relative=True, X=obtuse, angle=1.1)
    both = np.vstack([X, -X[1]])
    assert min_components(random_map, 0.2, relative=True, X=both, angle=1.1) == size


def test_relative_errors_that_cannot_be_promised():
    apart = np.eye(3)
    near = np.array([[1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 0.0, 1.0]])
    sketch = CountSketch()
    cases = [
        ({"relative": True}, "relative=True needs X or angle"),
        ({"relative": True, "X": apart}, "kernels that are not 0, got 3 pairs with 0"),
        ({"relative": True, "X": apart, "angle": 1.0}, r"no pair of rows of X is within .* 1\.0"),
        ({"relative": True, "angle": 1.6}, "angle must be below pi / 2, got 1.6"),
        ({"relative": True, "angle": -1}, "angle must be a finite number of at least 0"),
        ({"relative": 1}, "relative must be True or False"),
        ({"angle": 1.0}, "angle must be None unless relative is True"),
    ]
    for parameters, message in cases:
        with pytest.raises(ValueError, match=message):
            min_components(sketch, 0.1, **parameters)
    assert min_components(sketch, 0.1, relative=True, angle=0.5, X=near) > 1
    with pytest.raises(ValueError, match="relative=True needs X for RandomFourier"):
        min_components(RandomFourier(), 0.1, relative=True, angle=1.0)


def test_relative_biases():
    """Of a kernel value: 0.1 of a value of 0.5 is a fifth."""
    X = random_csr(12, 30, density=0.6)[1:6]
    minhash = MinHash(bits=1)
    kernel = minhash.fit(X).exact_kernel(X)[np.triu_indices(5, 1)]
    worst = (0.5 * (1 - kernel) / kernel).max()
    with pytest.raises(ValueError, match=f"error must be above {worst:.3g}"):
        min_components(minhash, 0.99 * worst, relative=True, X=X)
    assert min_components(minhash, 1.5 * worst, relative=True, X=X) > 1


# ---- series --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["exp", "rbf"])
def test_the_bias_of_a_series_counts(kernel):
    """Little of the error is left beside the bias; without it, the size would be far too small."""
    X = pair(0.2)
    sketch = TensorSketch(kernel=kernel, gamma=0.5, degree=1)
    fitted = _error.resized(sketch, 1).fit(X)
    moments = fitted.law.moments(_error.exact_pairs(fitted, sp.csr_array(X)))
    bias = abs(float(moments.bias[0]))
    error = 2 * bias
    size = min_components(sketch, error, X=X)
    found, _ = errors(sketch, size, X)
    assert np.mean(abs(found) <= error) >= LEVEL
    assert size == np.ceil(moments.unit[0] / (0.05 * bias**2))  # Chebyshev's inequality
    with pytest.raises(
        ValueError, match=r"above 0\.\d+, the largest bias .* higher degree or a smaller tolerance"
    ):
        min_components(sketch, 0.99 * bias, X=X)


def test_kernel_error_knows_the_bias_of_a_series():
    X = np.vstack([pair(0.2), pair(1.0)])
    error = kernel_error(TensorSketch(kernel="exp", degree=1, n_components=4096), X, n_seeds=40)
    n_errors = theorems.N_STANDARD_ERRORS
    assert abs(error.bias - error.theory_bias) <= n_errors * error.bias_std_error
    assert error.theory_bias < -n_errors * error.bias_std_error
    assert error.theory_rmse > error.theory_std
    poly = kernel_error(TensorSketch(n_components=64), X, n_seeds=2)
    assert poly.theory_bias == 0


# ---- peaks ---------------------------------------------------------------------------------------


def equal_entries(n):
    return sp.csr_array(np.full((1, n), n**-0.5))


def failures(n_components, X, n_seeds=2000):
    """How often the squared length of a row of unit length is off by more than a tenth."""
    found = 0
    for seed in range(n_seeds):
        Z = (
            CountSketch(n_components=n_components, random_state=SEED + seed)
            .fit_any_width()
            .transform(X)
        )
        found += abs(Z.power(2).sum() - 1) > 0.1
    return found / n_seeds


@pytest.mark.parametrize("n_components", [1024, 2048])
def test_safe_peaks(n_components):
    """Rows below it keep their lengths in 95 % of the seeds."""
    safe = CountSketch().law.safe_peak(n_components)
    n_entries = int(np.ceil(safe**-2))
    rate = failures(n_components, equal_entries(n_entries))
    assert rate <= 0.05 + theorems.N_STANDARD_ERRORS * np.sqrt(0.05 * 0.95 / 2000)


def test_peaks_above_it_are_not_safe():
    """At 1,024 components, rows of 20 equal entries: two of them share a bucket too often."""
    assert CountSketch().law.safe_peak(1024) < 20**-0.5
    assert failures(1024, equal_entries(20)) > 0.05


def test_safe_peaks_at_the_ends():
    sizes = [100, 768, 769, 1024, 4000, 2**20]
    found = [CountSketch().law.safe_peak(size) for size in sizes]
    assert found[:2] == [0, 0]
    assert found[-2:] == [1, 1]
    assert found == sorted(found)


def test_peaks_are_printed():
    """The largest entry over the norm of its row, of the rows that are compared."""
    X = np.array([[3.0, -4.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    error = kernel_error(CountSketch(n_components=1024), X, n_seeds=2)
    assert error.peak == pytest.approx(0.8)
    assert "largest |x| / norm  0.800  (above 0.170 single errors may be large)" in str(error)
    error = kernel_error(TensorSketch(n_components=16), X, n_seeds=2)
    assert (error.peak, error.safe_peak) == (pytest.approx(0.8), None)
    assert str(error).endswith("largest |x| / norm  0.800")
    error = kernel_error(RandomProjection(n_components=16), X, n_seeds=2)
    assert (error.peak, error.safe_peak) == (None, None)
    assert "norm" not in str(error)
