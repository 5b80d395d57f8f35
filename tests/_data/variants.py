"""The maps with sets of parameters that use other code, for tests and fuzzing over all maps."""

import numpy as np

import sparsemaps
from sparsemaps import (
    ConsistentWeightedSampling,
    MinHash,
    RandomFourier,
    RandomProjection,
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
        {"n_hashes": 40, "method": "dart"},
        {"n_hashes": 9, "method": "dart", "signed": True, "t_bits": 3},
        {"n_hashes": 9, "signed": True, "power": 0.3},
    ],
}


def make(name, random_state=0, **parameters):
    return getattr(sparsemaps, name)(random_state=random_state, **parameters)


def map_classes():
    """The maps that the package exports."""
    exported = (getattr(sparsemaps, name) for name in sparsemaps.__all__)
    return [obj for obj in exported if isinstance(obj, type) and issubclass(obj, SparseMap)]
