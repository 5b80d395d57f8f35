"""What tests over all maps, and fuzzing, ask of each: parameters, kernel, sizes."""

import numpy as np
from scipy import special

import sparsemaps
from _data.chance import SEED
from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    Fastfood,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    RandomMaclaurin,
    RandomProjection,
    SignProjection,
    TensorSketch,
)
from sparsemaps.maps._sparse_map import SparseMap


def _hats(pitch):
    """Pitches of the kernel (1 + d) exp(-2 d)."""
    return 4 * pitch**2 * np.exp(-2 * pitch)


def _uniform(probability):
    """The spectrum of the kernel that is a product of sin(t) / t."""
    return 2 * probability - 1


# Every map, with the parameters that choose other branches of its code.
MAPS = {
    "CountSketch": [{"n_components": 24}, {"n_components": 24, "dense_output": True}],
    "TensorSketch": [
        {"n_components": 24, "method": "direct"},
        {"n_components": 24, "degree": 3, "method": "direct", "dense_output": False},
        {"n_components": 24, "degree": 4, "gamma": 0.5, "coef0": 4.0},
        {"n_components": 24, "method": "fft", "dense_output": False},
        {"n_components": 24, "kernel": "rbf", "gamma": 0.01, "degree": 4, "method": "direct"},
        {"n_components": 24, "kernel": (0.5, 1.0, 0.0, 0.25), "dense_output": False},
    ],
    "RandomMaclaurin": [
        {"n_components": 80},
        {"n_components": 30, "kernel": "exp", "gamma": 0.5},
        {"n_components": 70, "kernel": (0.0, 1.0, 0.0, 0.25)},
        {"n_components": 24, "degree": 3, "coef0": 4.0, "h01": True},
    ],
    "RandomProjection": [
        {"n_components": 70},
        {"n_components": 70, "distribution": "rademacher"},
    ],
    "RandomFourier": [
        {"n_components": 75, "gamma": 0.1},
        {"n_components": 40, "kernel": "laplacian", "gamma": 0.005, "form": "offset"},
        {"n_components": 20, "kernel": "cauchy", "gamma": 0.1},
        {"n_components": 20, "kernel": "matern", "gamma": 0.1},
        {"n_components": 20, "kernel": "folded_rbf", "gamma": 0.1},
        {"n_components": 21, "spectrum": _uniform, "gamma": 0.1},
    ],
    "Fastfood": [
        {"n_components": 75, "gamma": 0.1, "hash_dim": 60},
        {"n_components": 40, "gamma": 0.1, "transform_type": "fft", "hash_dim": 16},
        {"n_components": 20, "kernel": "matern", "gamma": 1.0, "hash_dim": 32},
        {"n_components": 300, "gamma": 0.1, "transform_type": "orthogonal", "hash_dim": 60},
    ],
    "RandomBinning": [
        {"n_grids": 50, "gamma": 0.05, "n_bins": 64},
        {"n_grids": 20, "pitch_density": _hats},
    ],
    "KernelProduct": [
        {},
        {
            "maps": (
                ConsistentWeightedSampling(n_hashes=30, bits=3, signed=True),
                RandomFourier(n_components=30, gamma=0.1),
            )
        },
        {
            "maps": (
                MinHash(n_hashes=30),
                RandomProjection(n_components=30),
            )
        },
    ],
    "SignProjection": [
        {"n_hashes": 70},
        {"n_hashes": 20, "distribution": "rademacher"},
        {"n_hashes": 20, "kernel": "acos_chi2", "dense_output": True},
    ],
    "MinHash": [{"n_hashes": 70}, {"n_hashes": 5, "bits": 3}],
    "ConsistentWeightedSampling": [
        {"n_hashes": 70},
        {"n_hashes": 5, "bits": 3, "t_bits": 2},
        {"n_hashes": 20, "signed": True},
        {"n_hashes": 9, "signed": True, "power": 0.3},
        {"n_hashes": 40, "method": "levels"},
        {"n_hashes": 200, "method": "levels", "resolution": 1e3, "signed": True, "bits": 3},
        {"n_hashes": 9, "method": "levels", "resolution": 30.0, "power": 1.5},
    ],
}


def make(name, random_state=SEED, **parameters):
    return getattr(sparsemaps, name)(random_state=random_state, **parameters)


def map_classes():
    """The maps that the package exports."""
    exported = (getattr(sparsemaps, name) for name in sparsemaps.__all__)
    return [obj for obj in exported if isinstance(obj, type) and issubclass(obj, SparseMap)]


# ---- the kernels, as formulas for dense rows -----------------------------------------------------


def differences(X, Y):
    return abs(X[:, None] - Y)


def count_sketch(fitted, X, Y):
    return X @ Y.T


def tensor_sketch(fitted, X, Y):
    if fitted.kernel == "rbf":
        return np.exp(-fitted.gamma * (differences(X, Y) ** 2).sum(axis=-1))
    if fitted.kernel != "poly":
        return sum(a * (fitted.gamma * X @ Y.T) ** n for n, a in enumerate(fitted.kernel))
    return (fitted.gamma * X @ Y.T + fitted.coef0) ** (fitted.degree or 2)


def random_maclaurin(fitted, X, Y):
    products = X @ Y.T
    if fitted.kernel == "exp":
        return np.exp(fitted.gamma * products)
    if fitted.kernel == "poly":
        return (fitted.gamma * products + fitted.coef0) ** fitted.degree
    return sum(a * (fitted.gamma * products) ** n for n, a in enumerate(fitted.kernel))


def random_fourier(fitted, X, Y):
    d, gamma = differences(X, Y), fitted.gamma_
    squares = (d**2).sum(axis=-1)
    if fitted.spectrum is not None:
        return np.sinc(gamma * d / np.pi).prod(axis=-1)
    if fitted.kernel == "laplacian":
        return np.exp(-gamma * d.sum(axis=-1))
    if fitted.kernel == "cauchy":
        return (1 / (1 + gamma**2 * d**2)).prod(axis=-1)
    if fitted.kernel == "matern":
        assert fitted.nu == 1.5
        z = np.sqrt(6 * gamma * squares)
        return (1 + z) * np.exp(-z)
    if fitted.kernel == "folded_rbf":
        far = ((X[:, None] + Y) ** 2).sum(axis=-1)
        return (np.exp(-gamma / 2 * squares) + np.exp(-gamma / 2 * far)) / 2
    return np.exp(-gamma * squares)


def fastfood(fitted, X, Y):
    squares = (differences(X, Y) ** 2).sum(axis=-1)
    if fitted.kernel == "rbf":
        return np.exp(-fitted.gamma_ * squares)
    assert fitted.hash_dim == 32
    h, z = 32 / 2, np.maximum(np.sqrt(2 * fitted.gamma_ * squares), 1e-3)
    return (special.gamma(h + 1) * (2 / z) ** h * special.jv(h, z)) ** fitted.degree


def random_binning(fitted, X, Y):
    d = fitted.gamma_ * differences(X, Y)
    if fitted.pitch_density is None:
        return np.exp(-d.sum(axis=-1))
    return ((1 + d) * np.exp(-2 * d)).prod(axis=-1)


def sign_projection(fitted, X, Y):
    if fitted.kernel == "acos":
        cosines = [a / np.linalg.norm(a, axis=1, keepdims=True) for a in (X, Y)]
        similarity = cosines[0] @ cosines[1].T
    else:
        u, v = (a / a.sum(axis=1, keepdims=True) for a in (X, Y))
        u, v = u[:, None], v[None]
        similarity = (2 * u * v / np.where(u + v > 0, u + v, 1)).sum(axis=-1)
    agreement = 1 - np.arccos(similarity.clip(-1, 1)) / np.pi
    return 2 * agreement - 1 if fitted.dense_output else agreement


def consistent_weighted_sampling(fitted, X, Y):
    if fitted.signed:
        X, Y = (np.hstack([np.maximum(a, 0), np.maximum(-a, 0)]) for a in (X, Y))
    u, v = X[:, None] ** fitted.power, Y[None] ** fitted.power
    return np.minimum(u, v).sum(axis=-1) / np.maximum(u, v).sum(axis=-1)


def min_hash(fitted, X, Y):
    u, v = X[:, None] != 0, Y[None] != 0
    return (u & v).sum(axis=-1) / (u | v).sum(axis=-1)


def kernel_product(fitted, X, Y):
    sampled, other = fitted.maps_
    return kernel_by_formula(sampled, X, Y) * kernel_by_formula(other, X, Y)


FORMULAS = {
    "ConsistentWeightedSampling": consistent_weighted_sampling,
    "CountSketch": count_sketch,
    "Fastfood": fastfood,
    "KernelProduct": kernel_product,
    "MinHash": min_hash,
    "RandomBinning": random_binning,
    "RandomFourier": random_fourier,
    "RandomMaclaurin": random_maclaurin,
    "RandomProjection": count_sketch,
    "SignProjection": sign_projection,
    "TensorSketch": tensor_sketch,
}


def kernel_by_formula(fitted, X, Y):
    """The kernel of the rows of X and Y."""
    return FORMULAS[type(fitted).__name__](fitted, X, Y)


# ---- sizes of maps -------------------------------------------------------------------------------


def laplacian_density(pitch):
    return pitch * np.exp(-pitch)


def ends(probability):
    """The spectrum of the kernel that is a product of cosines."""
    return np.where(probability < 0.5, -1.0, 1.0)


CWS = ConsistentWeightedSampling

COVERED = [
    (CWS(bits=12, t_bits=8), 0.2, "any rows"),
    (CWS(bits=16), 0.9, "these rows"),
    (CWS(bits=12, method="levels", resolution=20), 0.3, "these rows"),
    (CWS(bits=12, t_bits=8, signed=True), 0.3, "any rows"),
    (CWS(bits=12, t_bits=8, power=0.5), 0.3, "any rows"),
    (MinHash(bits=2), 0.4, "any rows"),
    (MinHash(), 0.2, "any rows"),
    (RandomBinning(n_bins=8), 0.3, "any rows"),
    (RandomBinning(gamma="median"), 0.2, "these rows"),
    (SignProjection(), 0.2, "any rows"),
    (SignProjection(dense_output=True), 0.4, "any rows"),
    (SignProjection(distribution="orthogonal"), 0.2, "any rows"),
    (SignProjection(kernel="acos_chi2"), 0.2, "these rows"),
    (SignProjection(distribution="rademacher"), 0.4, "these rows"),
    (KernelProduct(), 0.9, "these rows"),
    (KernelProduct(maps=(MinHash(bits=2), SignProjection())), 0.4, "any rows"),
    (KernelProduct(maps=[("a", MinHash(bits=4)), ("b", CWS(bits=12, t_bits=8))]), 0.2, "any rows"),
    (RandomFourier(), 0.2, "any rows"),
    (RandomFourier(gamma=0.01), 0.02, "any rows"),
    (RandomFourier(form="offset"), 0.3, "any rows"),
    (RandomFourier(kernel="laplacian"), 0.3, "any rows"),
    (RandomFourier(kernel="cauchy"), 0.3, "any rows"),
    (RandomFourier(kernel="matern", nu=0.5), 0.3, "any rows"),
    (RandomFourier(kernel="folded_rbf"), 0.2, "any rows"),
    (RandomFourier(spectrum=ends), 0.2, "any rows"),
    (Fastfood(), 0.2, "any rows"),
    (Fastfood(gamma=0.01), 0.01, "these rows"),
    (Fastfood(transform_type="fft"), 0.2, "any rows"),
    (Fastfood(transform_type="orthogonal"), 0.2, "any rows"),
    (CountSketch(), 0.4, "any rows"),
    (CountSketch(dense_output=True), 0.4, "any rows"),
    (RandomProjection(), 0.4, "any rows"),
    (RandomProjection(distribution="rademacher"), 0.4, "any rows"),
    (KernelProduct(maps=(MinHash(n_hashes=9), RandomProjection(n_components=9))), 0.4, "any rows"),
    (TensorSketch(), 0.6, "any rows"),
    (TensorSketch(degree=3, gamma=0.5, coef0=1.0, dense_output=False), 2.0, "any rows"),
    (TensorSketch(method="fft"), 0.6, "any rows"),
    (TensorSketch(kernel="exp", gamma=0.5, max_norm=1.5, tolerance=0.01), 0.6, "any rows"),
    (TensorSketch(kernel="rbf", gamma=0.5), 0.4, "these rows"),
    (RandomMaclaurin(), 0.6, "any rows"),
    (RandomMaclaurin(kernel="exp", gamma=0.5), 0.6, "any rows"),
    (RandomMaclaurin(degree=3, coef0=1.0, h01=True), 3.0, "any rows"),
]
"""Maps, errors, and whether `min_components` answers for any rows or for given ones alone."""

REFUSED = [
    (CWS(), "above 1, the largest bias .*0-bit.*: give X, .*, or keep t_bits=6, or allow"),
    (CWS(method="levels"), "rounding to whole levels depends on the rows: give X"),
    (KernelProduct(), "above 1, the largest bias of the estimate, got 0.05: it comes from samples"),
    (
        SignProjection(kernel="acos_chi2"),
        "for 'acos_chi2', .* only approximates .* give X",
    ),
    (
        SignProjection(distribution="rademacher"),
        "for distribution='rademacher', .* only",
    ),
    (Fastfood(hash_dim=64), "Fastfood has no variance formula if hash_dim shortens"),
    (Fastfood(kernel="matern", degree=3), "Fastfood has no variance formula with kernel='matern'"),
    (
        KernelProduct(maps=(SignProjection(n_hashes=16), RandomFourier(n_components=16))),
        "KernelProduct has no variance formula with a map of dense output",
    ),
    (RandomBinning(n_bins=16), "above 0.0625, .* from codes that agree by chance.* more bits"),
    (
        TensorSketch(kernel="exp", degree=2),
        "above .* from an approximation of the kernel.* higher degree",
    ),
    (RandomBinning(pitch_density=laplacian_density, n_bins=16), "error must be above 0.0625"),
    (RandomProjection(distribution="cauchy"), "inner products of Cauchy projections have no mean"),
    (KernelProduct(maps=(KernelProduct(), MinHash())), "the product of a KernelProduct needs X"),
]
"""Maps for which there is no size for an error of 0.05 and any rows, and why."""
