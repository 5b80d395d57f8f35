"""Sizes of maps: what they promise, against simulation."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.close_rows import rows
from _data.variants import COVERED, CWS, REFUSED
from _oracles import theorems
from scipy import special
from sklearn.base import clone
from sklearn.preprocessing import normalize

import sparsemaps
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
from sparsemaps.approximation import _error, min_components

N_STANDARD_ERRORS = theorems.N_STANDARD_ERRORS


def product(Z):
    """The inner product of the first two rows."""
    if not sp.issparse(Z):
        return Z[0] @ Z[1]
    cut = Z.indptr[1]
    _, one, other = np.intersect1d(Z.indices[:cut], Z.indices[cut:], return_indices=True)
    return Z.data[one] @ Z.data[cut + other]


def coverage(random_map, size, X, error, n):
    """How often the estimate for the rows of X is within `error` of the kernel."""
    resized = _error.resized(random_map, size)
    exact = clone(resized).set_params(random_state=SEED).fit(X).exact_kernel(X)[0, 1]
    found = np.empty(n)
    for seed in range(n):
        resized.random_state = SEED + seed
        found[seed] = product(resized.fit(X).transform(X))
    return np.mean(abs(found - exact) <= error + 1e-9)


def unit_rows(*values):
    return sp.csr_array(normalize(np.array(values)))


def coverage_pairs():
    """Pairs of rows of unit length, of one, two and many columns, near and far."""
    rng = np.random.default_rng(SEED)
    one, other = rng.gamma(0.5, size=(2, 30))
    few = np.zeros((4, 30))
    few[[0, 1], 3] = 1.0, 0.9
    few[2, [3, 7]] = 1.0, 0.9
    few[3, [3, 9]] = 0.2, 1.0
    return {
        "one column": sp.csr_array(few[:2]),
        "few columns": unit_rows(few[2], few[3]),
        "near": unit_rows(one, one + 0.05 * other),
        "far": unit_rows(one, other),
    }


N_SEEDS = 120


def case_id(value):
    if not hasattr(value, "fit"):
        return None
    # Addresses of functions differ between the processes that run the tests.
    return re.sub(r"\s", "", re.sub(r"<function (\w+) at 0x\w+>", r"\1", repr(value)))


@pytest.mark.parametrize(("random_map", "error", "known"), COVERED, ids=case_id)
def test_sizes_keep_their_promise(random_map, error, known):
    """A pair is within the error as often as promised, by the size for it and that for any pair."""
    level = 0.95 - N_STANDARD_ERRORS * np.sqrt(0.95 * 0.05 / N_SEEDS)
    any_size = min_components(random_map, error) if known == "any rows" else None
    for name, X in coverage_pairs().items():
        size = min_components(random_map, error, X=X)
        assert coverage(random_map, size, X, error, N_SEEDS) >= level, name
        if any_size is not None and name in ("one column", "far"):
            unit = unit_rows(*X.toarray())
            assert coverage(random_map, any_size, unit, error, N_SEEDS) >= level, name


def test_sizes_that_are_smaller_break_their_promise():
    """Over the maps whose errors have a law that is known, so that sizes are about the least."""
    X, n = coverage_pairs()["few columns"], 60
    kinds = SignProjection, RandomBinning, RandomFourier, RandomProjection
    cases = [(case, error) for case, error, _ in COVERED if type(case) in kinds]
    sizes = [min_components(case, error, X=X) for case, error in cases]

    def share(factor):
        return np.mean(
            [
                coverage(case, max(2, int(factor * size)), X, error, n)
                for (case, error), size in zip(cases, sizes, strict=True)
            ]
        )

    level = 0.95 - N_STANDARD_ERRORS * np.sqrt(0.95 * 0.05 / (n * len(cases)))
    assert share(1) >= level > share(0.6)


@pytest.mark.parametrize(("random_map", "reason"), REFUSED, ids=case_id)
def test_sizes_that_cannot_be_promised_are_refused(random_map, reason):
    with pytest.raises(ValueError, match=reason):
        min_components(random_map, 0.05)


def test_sizes_are_tested_for_every_map_and_parameter():
    tested = [case[0] for case in COVERED + REFUSED]
    public = (getattr(sparsemaps, name) for name in sparsemaps.__all__)
    maps = {value for value in public if isinstance(value, type)}
    assert {type(random_map) for random_map in tested} == maps
    sizes = {"n_components", "n_hashes", "n_grids", "random_state", "n_jobs"}
    for cls in maps:
        for name, default in cls().get_params(deep=False).items():
            values = [one.get_params(deep=False)[name] for one in tested if type(one) is cls]
            assert name in sizes or any(value != default for value in values), (cls, name)


def test_a_size_that_no_map_takes_is_refused():
    with pytest.raises(ValueError, match=r"n_hashes would have to be .* 1 to .*: allow a larger"):
        min_components(SignProjection(), 1e-5)
    X = 30 * np.eye(3) + 20
    message = r"n_components would have to be \d+, .* up to .*: scale rows to unit length"
    with pytest.raises(ValueError, match=message):
        min_components(TensorSketch(), 0.02, X=X)
    assert min_components(TensorSketch(), 0.1, X=X, relative=True) < 10**5


def test_advice_about_samples_that_agree_in_part_is_right():
    """The bits that the error names are enough; so are rows."""
    for error in (0.02, 0.05, 0.3):
        with pytest.raises(ValueError, match="t_bits=") as raised:
            min_components(CWS(), error)
        t_bits = int(re.search(r"t_bits=(\d+)", str(raised.value))[1])
        assert min_components(CWS(t_bits=t_bits), error) > 0
    with pytest.raises(ValueError, match="give X, for whose rows it is measured, or allow"):
        min_components(CWS(), 0.001)
    assert min_components(CWS(), 0.05, X=coverage_pairs()["far"]) > 0


def test_the_greater_cause_of_the_bias_is_told():
    """Of few bits, codes agree by chance; a few samples agree in i* alone beside them."""
    X = coverage_pairs()["far"]
    with pytest.raises(ValueError, match="it comes from codes that agree by chance"):
        min_components(CWS(bits=4), 0.02, X=X)
    with pytest.raises(ValueError, match="it comes from samples that agree in i") as raised:
        min_components(CWS(bits=16), 0.0001, X=X)
    assert "give X" not in str(raised.value)  # which is given
    # Of a relative error, both causes count in the same unit.
    with pytest.raises(ValueError, match="it comes from codes that agree by chance"):
        min_components(CWS(bits=4), 0.02, X=X, relative=True)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize(
    "random_map", [CountSketch(), TensorSketch(), RandomMaclaurin(), RandomFourier(),
                   RandomFourier(form="offset"), SignProjection()], ids=case_id,
)  # fmt: skip
def test_errors_and_confidences_of_every_size(random_map, scale):
    """A greater error and a smaller confidence never need more; nothing warns."""
    X = scale * rows(6)

    def size(error, confidence):
        try:
            return min_components(random_map, error, confidence=confidence, X=X, n_pairs=9)
        except ValueError:  # no map is that large
            return np.inf

    errors = (5e-324, 1e-200, 1e-160, 0.5, 1.7e308)
    confidences = (5e-324, 0.5, 1 - 2**-53)
    sizes = np.array([[size(error, level) for level in confidences] for error in errors])
    assert (sizes[1:] <= sizes[:-1]).all()
    assert (sizes[:, 1:] >= sizes[:, :-1]).all()
    assert (sizes[-1] <= 2).all()


def pair(cosine):
    """Two rows of unit length and many entries."""
    rng = np.random.default_rng(SEED)
    basis, _ = np.linalg.qr(rng.normal(size=(60, 2)))
    return np.array([basis[:, 0], cosine * basis[:, 0] + np.sqrt(1 - cosine**2) * basis[:, 1]])


WORST = {
    "signs": (SignProjection(), 0.0),
    "fourier": (RandomFourier(gamma=8.0), -1.0),
    "offset": (RandomFourier(gamma=8.0, form="offset"), -1.0),
}


@pytest.mark.parametrize("name", WORST)
def test_min_components_is_enough_and_the_least(name):
    random_map, cosine = WORST[name]
    error, n = 0.25, 400
    std_error = np.sqrt(0.95 * 0.05 / n)
    size = min_components(random_map, error)
    X = sp.csr_array(pair(cosine))
    assert coverage(random_map, size, X, error, n) > 0.95 - 5 * std_error
    assert coverage(random_map, max(2, size // 5), X, error, n) < 0.95 - 5 * std_error


@pytest.mark.parametrize("random_map", [CountSketch(), TensorSketch()])
def test_sketches_of_long_rows_have_normal_errors(random_map):
    """Five times fewer components than for rows of any kind, and still enough."""
    X = unit_rows(*np.random.default_rng(SEED).normal(size=(1, 2000)).repeat(2, axis=0))
    error, n = 0.2, 400
    size = min_components(random_map, error, X=X)
    assert size < min_components(random_map, error) / 4
    found = coverage(random_map, size, X, error, n)
    assert found > 0.95 - 5 * np.sqrt(0.95 * 0.05 / n)


def test_min_components_by_hand():
    # 1.96^2 / 4 / 0.05^2 = 384.2 for a normal error of the worst rate, 1/2; the error of 385 bits
    # is at most 0.05 for a sum that is within 19 of 192.5: a probability of 0.9473.
    assert special.bdtr(211, 385, 0.5) - special.bdtr(173, 385, 0.5) < 0.95
    assert special.bdtr(214, 390, 0.5) - special.bdtr(175, 390, 0.5) >= 0.95
    assert min_components(SignProjection(), 0.05) == 390
    assert min_components(SignProjection(n_hashes=7), 0.05) == 390
    assert 664 <= min_components(SignProjection(), 0.05, confidence=0.99) < 1.03 * 664
    assert min_components(RandomFourier(), 0.05) == 1538  # 1.96^2 / 0.05^2, even
    # Chance agreements take a part of the error.
    plain = min_components(MinHash(bits=16), 0.05)
    few_bits = min_components(MinHash(bits=5), 0.05)
    assert 385 <= plain < few_bits
    # So do 0-bit samples, of which t_bits leave a share.
    with_t = ConsistentWeightedSampling(bits=16, t_bits=8)
    assert 385 <= min_components(with_t, 0.05) < min_components(with_t.set_params(t_bits=5), 0.05)


def test_min_components_does_not_depend_on_the_size_of_the_map():
    X = rows(6)
    for random_map in (Fastfood(), RandomFourier(), CWS(), KernelProduct()):
        sizes = {min_components(_error.resized(random_map, size), 0.3, X=X) for size in (7, 400)}
        assert len(sizes) == 1


def test_min_components_of_a_product_of_products():
    """The inner product may be one of default maps; the maps of the argument keep their sizes."""
    hashes, signs = ConsistentWeightedSampling(n_hashes=9), SignProjection(n_hashes=9)
    by_default = KernelProduct(maps=(KernelProduct(), SignProjection()))
    given = KernelProduct(maps=(KernelProduct(maps=(hashes, signs)), SignProjection(n_hashes=9)))
    sizes = [min_components(product, 0.3, X=rows(6)) for product in (by_default, given)]
    assert 1 < sizes[0] == sizes[1] < 100
    assert (by_default.n_hashes, hashes.n_hashes, signs.n_hashes) == (256, 9, 9)
    assert by_default.maps[0].maps is None


def test_min_components_of_rows():
    X = rows()
    worst = min_components(MinHash(bits=16), 0.05)
    found = min_components(MinHash(bits=16), 0.05, X=X[:8])
    assert 1 <= found <= worst
    longer = min_components(CountSketch(), 0.1, X=3 * X)
    assert longer == pytest.approx(81 * min_components(CountSketch(), 0.1, X=X), rel=0.01)
