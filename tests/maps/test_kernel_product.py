"""Products of two maps estimate the product of their kernels."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    KernelProduct,
    MinHash,
    RandomFourier,
    RandomMaclaurin,
    RandomProjection,
    SignProjection,
    codes,
)

K = 100_000


def rows():
    """Rows whose min-max and acos kernels are from small to large; of fewer than 2^8 columns."""
    rng = np.random.default_rng(SEED)
    X = rng.gamma(1.0, size=(4, 40)) * (rng.random((4, 40)) < 0.7)
    X[1] = X[0] + 0.3 * X[1]
    X[2] = 0.5 * X[0] + 0.5 * X[2]
    return sp.csr_array(X / 4)


def sampled(**parameters):
    return ConsistentWeightedSampling(n_hashes=K, bits=8, t_bits=8, **parameters)


def assert_codes(agree, expected):
    theorems.assert_rate(agree, expected)


def agreements(product, X):
    """Whether each joint code agrees, for all pairs of rows."""
    numbers = codes.unpack(product.encode(X), product.law.bits, n_hashes=K)
    one, other = np.triu_indices(X.shape[0], 1)
    return numbers[one] == numbers[other]


def pairs_of(gram):
    return gram[np.triu_indices(len(gram), 1)]


def test_min_max_times_acos():
    """The rate of joint agreement is the product of the kernels, exactly."""
    X = rows()
    product = KernelProduct(maps=(sampled(), SignProjection(n_hashes=K)), random_state=SEED).fit(X)
    assert_codes(agreements(product, X), pairs_of(product.exact_kernel(X)))


@theorems.each_structure(16)
def test_disjoint_rows_agree_by_chance(columns):
    """Both samples differ: at the product of both chances, whatever the columns."""
    X = sp.csr_array((np.ones(16), np.concatenate([columns[::2], columns[1::2]]), [0, 8, 16]),
                     (2, 2**62))  # fmt: skip
    maps = (
        ConsistentWeightedSampling(n_hashes=20_000, bits=1, t_bits=1),
        MinHash(n_hashes=20_000, bits=1),
    )
    product = KernelProduct(maps=maps, random_state=SEED).fit(X)
    assert [law.codes.chance for law in product.law.factors] == [1 / 4, 1 / 2]
    assert product.law.codes.chance == 1 / 8
    numbers = codes.unpack(product.encode(X), 3, n_hashes=20_000)
    theorems.assert_rate(numbers[0] == numbers[1], 1 / 8)


def test_estimate_of_the_docstring():
    """By the shares of samples in which both maps' codes agree, and each one's. Of binary rows, as
    equal columns of other weights agree more often than by chance."""
    n_hashes, X = 20_000, (rows() > 0).astype(float)
    maps = (
        ConsistentWeightedSampling(n_hashes=n_hashes, bits=1, t_bits=1),
        MinHash(n_hashes=n_hashes, bits=1),
    )
    product = KernelProduct(maps=maps, random_state=SEED).fit(X)
    p, q = (law.codes.chance for law in product.law.factors)
    numbers = codes.unpack(product.encode(X), 3, n_hashes=n_hashes)
    one, other = np.triu_indices(4, 1)
    first = numbers[one] >> 1 == numbers[other] >> 1
    second = (numbers[one] ^ numbers[other]) & 1 == 0
    estimates = (1.0 * (first & second) - p * second - q * first + p * q) / ((1 - p) * (1 - q))
    theorems.assert_mean(estimates.T, pairs_of(product.exact_kernel(X)))


def test_min_max_times_acos_chi2():
    """To the approximation that acos_chi2 is: the signs' own rate times the min-max kernel."""
    X = rows()
    signs = SignProjection(kernel="acos_chi2", n_hashes=K)
    product = KernelProduct(maps=(sampled(), signs), random_state=SEED).fit(X)
    agree = agreements(product, X).mean(axis=1)
    exact = pairs_of(product.exact_kernel(X))
    assert (np.abs(agree - exact) < 0.033 + 5 * np.sqrt(0.25 / K)).all()


DENSE = {
    "rbf, offset": RandomFourier(gamma=0.5, n_components=K, form="offset"),
    "rbf, paired": RandomFourier(gamma=0.5, n_components=K),
    "laplacian": RandomFourier(kernel="laplacian", gamma=0.1, n_components=K, form="offset"),
    "polynomial": RandomMaclaurin(coef0=1.0, n_components=K),
    "signs, dense": SignProjection(n_hashes=K, dense_output=True),
}


@pytest.mark.parametrize("other", DENSE.values(), ids=DENSE.keys())
def test_min_max_times_a_dense_map(other):
    X = rows()
    product = KernelProduct(maps=(sampled(), other), random_state=SEED)
    Z = product.fit_transform(X)
    assert not any(hasattr(product, name) for name in ("encode", "encode_texts", "numbers"))
    assert (np.diff(Z.indptr) == K).all()
    one, other = np.triu_indices(4, 1)
    agree = Z.indices.reshape(4, K)
    values = Z.data.reshape(4, K) * np.sqrt(K)
    found = (agree[one] == agree[other]) * values[one] * values[other]
    pairs = found.reshape(len(one), -1, 2).mean(axis=2)  # cosine and sine are not independent
    theorems.assert_mean(pairs.T, pairs_of(product.exact_kernel(X)))


MUTANTS = {
    "the first map alone": lambda a, b: a,
    "the second map alone": lambda a, b: b,
    "the sum, not the product": lambda a, b: a | b,
    "all agree": lambda a, b: np.ones_like(a),
}


@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS.keys())
def test_mutants_are_rejected(change):
    X = rows()
    product = KernelProduct(maps=(sampled(), SignProjection(n_hashes=K)), random_state=SEED).fit(X)
    numbers = codes.unpack(product.encode(X), product.law.bits, n_hashes=K)
    one, other = np.triu_indices(4, 1)
    first = numbers[one] >> 1 == numbers[other] >> 1
    second = (numbers[one] ^ numbers[other]) & 1 == 0
    expected = pairs_of(product.exact_kernel(X))
    assert_codes(first & second, expected)
    with pytest.raises(AssertionError):
        assert_codes(change(first, second), expected)


def test_positions():
    """The one-hot position of the first map, doubled, plus the sign bit."""
    X = random_csr()
    maps = (ConsistentWeightedSampling(n_hashes=20, bits=3), SignProjection(n_hashes=20))
    product = KernelProduct(maps=maps, random_state=SEED + 1).fit(X)
    first, second = product.maps_
    Z = product.transform(X)
    filled = np.diff(X.indptr) > 0
    assert Z.shape == (40, 20 * 16)
    assert (np.diff(Z.indptr) == 20 * filled).all()
    hot = first.transform(X[filled]).indices
    sign = second.transform(X[filled]).indices % 2
    np.testing.assert_array_equal(Z.indices, 2 * hot + sign)
    np.testing.assert_array_equal(
        codes.to_csr(product.encode(X[filled]), 4, n_hashes=20).indices, Z.indices
    )


def test_maps_get_seeds_of_their_own():
    """Two maps of one kind are independent, whatever random_state they came with."""
    X = rows()
    twice = (sampled(random_state=SEED + 3), sampled(random_state=SEED + 3))
    twice = tuple(one.set_params(bits=6, t_bits=4) for one in twice)
    product = KernelProduct(maps=twice, random_state=SEED).fit(X)
    assert [one.random_state for one in twice] == [SEED + 3, SEED + 3]
    assert not hasattr(twice[0], "seed_")
    square = pairs_of(product.exact_kernel(X))
    rates = agreements(product, X).mean(axis=1)
    assert (np.abs(rates - square) < 0.01).all()  # 40 columns of 6 bits, t* of 4: no chance to meet
    again = KernelProduct(maps=twice, random_state=product.seed_).fit(X)
    np.testing.assert_array_equal(again.encode(X), product.encode(X))


DENSE_PRODUCT = SignProjection(), RandomMaclaurin(n_components=256)


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        (3, "maps must be a sampled map and another map of sparsemaps, or None, got 3"),
        ((SignProjection(),), "maps must be a sampled map and another map"),
        ((CountSketch(), SignProjection()), "maps must be a sampled map and another map"),
        ((SignProjection(), SignProjection(n_hashes=3)), "components, got 256 and 3"),
        ((SignProjection(), RandomProjection()), "components, got 256 and 1024"),
        (
            (SignProjection(), CountSketch(n_components=256)),
            "must not be a count sketch, as the error of the product would not fall",
        ),
        (
            (SignProjection(), RandomProjection(n_components=256, distribution="cauchy")),
            "must have a mean, which Cauchy projections do not",
        ),
        (
            (SignProjection(dense_output=True), SignProjection()),
            r"the first of maps must have one-hot output, got SignProjection\(dense_output=True\)",
        ),
        (
            (KernelProduct(maps=DENSE_PRODUCT), SignProjection()),
            "the first of maps must have one-hot output, got KernelProduct",
        ),
        ((SignProjection(n_hashes=0), SignProjection(n_hashes=0)), "n_hashes must be from 1"),
        (
            (SignProjection(), RandomMaclaurin(n_components=256, h01=True)),
            "must give codes or one number for each component",
        ),
        (
            (
                ConsistentWeightedSampling(bits=16, t_bits=8),
                ConsistentWeightedSampling(bits=1),
            ),
            "at most 24 bits together, got 25",
        ),
    ],
)
def test_bad_parameters(maps, message):
    with pytest.raises(ValueError, match=message):
        KernelProduct(maps=maps).fit(np.ones((2, 4)))


# ---- names ---------------------------------------------------------------------------------------


def test_names_of_maps():
    cws, signs = ConsistentWeightedSampling(n_hashes=8), SignProjection(n_hashes=8)
    assert {"signprojection", "consistentweightedsampling__bits"} <= set(
        KernelProduct(maps=(cws, signs)).get_params()
    )
    assert "signprojection-2__n_hashes" in KernelProduct(maps=(signs, signs)).get_params()
    product = KernelProduct(maps=[("weights", cws), ("signs", signs)])
    product.set_params(weights__bits=3, signs=SignProjection(n_hashes=8, kernel="acos_chi2"))
    assert cws.bits == 3
    assert product.get_params()["signs__kernel"] == "acos_chi2"
    X = random_csr()
    np.testing.assert_array_equal(
        clone(product).set_params(random_state=SEED + 1).fit(X).encode(X),
        KernelProduct(maps=(cws, product.maps[1][1]), random_state=SEED + 1).fit(X).encode(X),
    )
    default = KernelProduct().set_params(signprojection__kernel="acos_chi2")
    assert default.get_params()["signprojection__kernel"] == "acos_chi2"
    with pytest.raises(ValueError, match="Invalid parameter 'signs__bits'"):
        KernelProduct().set_params(signs__bits=3)
    for names in (("a", "a"), ("a__b", "c"), ("n_jobs", "c")):
        with pytest.raises(ValueError, match="the names of maps must"):
            KernelProduct(maps=list(zip(names, (cws, signs), strict=True))).fit(X)


def test_grid_search():
    X, y = random_csr(), np.arange(40) % 2
    maps = [
        ("weights", ConsistentWeightedSampling(n_hashes=16)),
        ("signs", SignProjection(n_hashes=16)),
    ]
    model = Pipeline([("map", KernelProduct(maps=maps, random_state=SEED)), ("svm", LinearSVC())])
    search = GridSearchCV(model, {"map__weights__bits": [2, 5]}, cv=2).fit(X, y)
    assert search.cv_results_["param_map__weights__bits"].tolist() == [2, 5]
    assert maps[0][1].bits == 8


@pytest.mark.parametrize("order", [1, -1])
def test_rows_of_which_one_map_has_no_sample(order):
    """They have no joint sample: neither codes nor entries."""
    X = sp.csr_array([[0.0, 0.0], [1.0, 2.0]])
    maps = (SignProjection(n_hashes=9), MinHash(n_hashes=9, bits=3))[::order]
    product = KernelProduct(maps=maps, random_state=SEED).fit(X)
    packed = product.encode(X, packed=True)
    assert packed.sampled.tolist() == [False, True]
    assert not packed.array[0].any()
    assert np.diff(product.transform(X).indptr).tolist() == [0, 9]
    assert (product.numbers(X)[0] == -1).all()
