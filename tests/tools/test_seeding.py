"""Maps of one seed are independent where their keys are to differ, and share draws elsewhere."""

import functools
import json

import numpy as np
import pytest
from _data.chance import SEED
from _data.variants import make
from _oracles import theorems
from scipy import stats

from sparsemaps import from_config
from sparsemaps._tools import _seeding

N_SEEDS = 200

X = np.array([[0.6, 0.3, 0.0, 0.7], [0.4, 0.2, 0.1, 0.7]])

# A class, a size, and sets of parameters whose maps are to be independent.
INDEPENDENT = {
    "TensorSketch": (
        "n_components",
        [
            {"degree": 2},
            {"degree": 3},
            {"kernel": "exp", "degree": 3},
            {"kernel": "exp", "degree": 4},
            {"kernel": "rbf", "degree": 4},
            {"kernel": (0.0, 0.0, 1.0)},
        ],
    ),
    "RandomMaclaurin": (
        "n_components",
        [
            {"degree": 2},
            {"degree": 3},
            {"kernel": "exp"},
            {"kernel": (0.0, 0.0, 1.0)},
            {"kernel": (0.0, 0.0, 1.0, 0.5)},
        ],
    ),
    "RandomProjection": ("n_components", [{}, {"distribution": "rademacher"}]),
    "RandomFourier": (
        "n_components",
        [{"kernel": name} for name in ("rbf", "laplacian", "cauchy", "matern", "folded_rbf")]
        + [{"spectrum": stats.norm.ppf}],
    ),
    "Fastfood": (
        "n_components",
        [
            {"gamma": 0.5},
            {"gamma": 0.5, "transform_type": "fft"},
            {"gamma": 0.5, "transform_type": "orthogonal"},
            {"kernel": "matern", "gamma": 2.0},
            {"kernel": "matern", "gamma": 2.0, "degree": 3},
        ],
    ),
    "SignProjection": (
        "n_hashes",
        [
            {},
            {"distribution": "rademacher"},
            {"distribution": "orthogonal"},
            {"kernel": "acos_chi2"},
        ],
    ),
    "ConsistentWeightedSampling": (
        "n_hashes",
        [{"t_bits": 8}, {"method": "levels", "resolution": 1e3}],
    ),
}  # fmt: skip

# Maps that differ in these share their draws.
SHARED = {
    "TensorSketch": ("n_components", [{"method": "fft"}, {"method": "direct"}, {"gamma": 2.0}]),
    "RandomMaclaurin": ("n_components", [{"coef0": 1.0}, {"coef0": 1.5}, {"coef0": 1, "gamma": 2}]),
    "RandomFourier": (
        "n_components",
        [{"kernel": "matern", "nu": 1.5}, {"kernel": "matern", "nu": 2, "gamma": 1.5}],
    ),
    "Fastfood": ("n_components", [{"gamma": 0.5}, {"gamma": 1.0}, {"degree": 3}]),
    "RandomBinning": ("n_grids", [{}, {"n_bins": 2**10}, {"gamma": 1.1}]),
    "MinHash": ("n_hashes", [{}, {"bits": 12}]),
    "ConsistentWeightedSampling": ("n_hashes", [{"bits": 8}, {"bits": 16}, {"power": 0.9}]),
}


@functools.cache
def _estimates(name, parameters):
    found = []
    for seed in range(N_SEEDS):
        Z = make(name, random_state=SEED + seed, **dict(parameters)).fit_transform(X)
        found.append((Z @ Z.T)[0, 1])
    return np.array(found)


def correlations(name, size, variants):
    """The correlations over seeds of the estimates of each variant with the others'."""
    found = [
        _estimates(name, tuple(sorted({size: 16, **parameters}.items()))) for parameters in variants
    ]
    assert min(estimates.std() for estimates in found) > 0
    return np.corrcoef(found)[np.triu_indices(len(variants), 1)]


LIMIT = theorems.N_STANDARD_ERRORS / np.sqrt(N_SEEDS)


@pytest.mark.parametrize("name", INDEPENDENT)
def test_maps_of_one_seed_are_independent(name):
    assert np.abs(correlations(name, *INDEPENDENT[name])).max() < LIMIT


@pytest.mark.parametrize("name", SHARED)
def test_maps_of_one_seed_that_share_draws(name):
    assert correlations(name, *SHARED[name]).min() > LIMIT


def test_classes_are_independent():
    """Of one kernel each: the Gaussian, and the min-max kernel of sets."""
    for one, other in (
        (("RandomFourier", "n_components"), ("Fastfood", "n_components")),
        (("ConsistentWeightedSampling", "n_hashes"), ("MinHash", "n_hashes")),
        (("TensorSketch", "n_components"), ("CountSketch", "n_components")),
        (("RandomProjection", "n_components"), ("CountSketch", "n_components")),
    ):
        found = [_estimates(name, ((size, 16),)) for name, size in (one, other)]
        assert abs(np.corrcoef(found)[0, 1]) < LIMIT


def test_signed_shares_draws():
    """Column 2 i of a map is column i of a map of values of both signs."""
    doubled = np.zeros((2, 8))
    doubled[:, ::2] = X
    plain, signed = (
        make("ConsistentWeightedSampling", signed=s).fit(rows).encode(rows)
        for s, rows in ((False, doubled), (True, X))
    )
    np.testing.assert_array_equal(plain, signed)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("TensorSketch", {"degree": 3}, {"degree": np.int64(3)}),
        ("RandomMaclaurin", {"kernel": (0, 1, 2)}, {"kernel": [-0.0, np.float32(1), 2.0]}),
        ("RandomMaclaurin", {"kernel": (0.1, 0.2)}, {"kernel": np.array([0.1, 0.2])}),
        ("RandomMaclaurin", {"kernel": "exp", "degree": 2}, {"kernel": "exp", "degree": 3}),
        ("Fastfood", {"kernel": "matern", "degree": 3}, {"kernel": "matern", "degree": np.int8(3)}),
        ("RandomFourier", {"kernel": "matern", "nu": 2}, {"kernel": np.str_("matern"), "nu": 2.0}),
    ],
)
def test_equal_parameters_give_equal_maps(name, one, other):
    maps = []
    for parameters in (one, other):
        _seeding.keys.cache_clear()  # 0.0 and -0.0 would be one entry
        maps.append(make(name, n_components=20, **parameters).fit(X))
    maps += [from_config(json.loads(json.dumps(fitted.to_config()))) for fitted in maps]
    expected = maps[0].transform(X)
    for fitted in maps:
        Z = fitted.transform(X)
        np.testing.assert_array_equal(getattr(Z, "toarray", lambda Z=Z: Z)(), expected)


def test_keys_of_a_scheme():
    """They stay what they are, on every platform."""
    found = _seeding.keys(7, "random_maclaurin", 2, "poly", 3, 0.1, None).tolist()
    assert found == KEYS
    assert _seeding.keys(7, "random_maclaurin", 1, "poly", 3, 0.1, None).tolist() == KEYS[:1]


KEYS = [3176949453354042357, 12250006658215192987]


@pytest.mark.parametrize(
    ("make_source", "limit"),
    [(np.random.default_rng, 2**63), (np.random.RandomState, 2**31 - 1)],
    ids=["Generator", "RandomState"],
)
def test_seeds_of_sources_are_spread(make_source, limit):
    """Over all numbers below the limit: among 1,000 no two are the same, in any of the bits."""
    source = make_source(0)
    seeds = np.array([_seeding.draw_seed(source) for _ in range(1000)])
    assert len(np.unique(seeds)) == len(seeds)
    theorems.assert_uniform(seeds / limit)
    theorems.assert_uniform(
        seeds % 1024 / 1024 + np.random.default_rng(SEED + 1).random(1000) / 1024
    )
