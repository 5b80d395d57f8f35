"""Finite rows have finite features, right to the precision of the type, or an error names the row:
every map, of rows of every scale, and of rows far from 0."""

import re
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.variants import MAPS, make
from _oracles.angles import exact_turns, features_of

import sparsemaps
from sparsemaps import files, libsvm

N_COLUMNS = 8

TYPES = {"float32": np.float32, "float64": np.float64}

SCALES = {
    "float32": [-149, -140, -126, -110, -99, -64, -30, 0, 1, 8, 18, 21, 24, 40, 63, 90, 110, 124],
    "float64": [
        *(-1074, -1060, -1022, -900, -500, -300, -149, -99, -30, 0, 2, 24, 52, 95, 99, 101),
        *(149, 300, 500, 511, 700, 900, 1000, 1020),
    ],
}
"""Exponents of two, from that of the least number to that of the largest one of 4 bits."""

PER_TYPE = [pytest.param(name, k, id=f"{name}, 2^{k}") for name in TYPES for k in SCALES[name]]


def rows(n_rows=6, signed=True):
    """Rows of whole numbers of 4 bits."""
    rng = np.random.default_rng(SEED + 5)
    X = rng.integers(1, 16, (n_rows, N_COLUMNS)) * (rng.random((n_rows, N_COLUMNS)) < 0.8)
    X[:, 0] = rng.integers(1, 16, n_rows)
    return (X * rng.choice([-1, 1], X.shape) if signed else X).astype(float)


# ---- sums and products: the features of scaled rows are those of the rows, scaled ----------------

# Each map with the power of the scale that features have; and the parameters that have to be scaled
# by another power, where they would add to the rows.
SCALED = {
    "CountSketch": [({}, 1, {}), ({"dense_output": True}, 1, {})],
    "TensorSketch": [
        ({"degree": 2}, 2, {}),
        ({"degree": 2, "gamma": 2.0**-40}, 2, {}),
        ({"degree": 12}, 12, {}),  # beyond the range without an extreme value
        ({"degree": 3, "method": "direct", "dense_output": False}, 3, {}),
        ({"degree": 3, "method": "fft"}, 3, {}),
        ({"degree": 3, "method": "direct", "coef0": 4.0}, 3, {"coef0": -2}),
        ({"degree": 2, "method": "fft", "coef0": 4.0, "dense_output": False}, 2, {"coef0": -2}),
        ({"kernel": "exp", "degree": 4, "method": "direct"}, 0, {"gamma": 2}),
        ({"kernel": "exp", "degree": 4, "method": "fft", "dense_output": False}, 0, {"gamma": 2}),
        ({"kernel": "rbf", "degree": 4, "gamma": 0.01, "method": "direct"}, 0, {"gamma": 2}),
        ({"kernel": "exp", "degree": 12}, 0, {"gamma": 2}),
        ({"kernel": (0.5, 1.0, 0.0, 0.25)}, 0, {"gamma": 2}),
    ],
    "RandomMaclaurin": [
        ({"degree": 2}, 2, {}),
        ({"degree": 12}, 12, {}),
        ({"degree": 3, "coef0": 0.0, "gamma": 4.0}, 3, {}),
        ({"degree": 3, "coef0": 4.0}, 3, {"coef0": -2}),
        ({"degree": 3, "coef0": 4.0, "h01": True}, 3, {"coef0": -2}),
    ],
    "RandomProjection": [
        ({"distribution": "gaussian"}, 1, {}),
        ({"distribution": "rademacher"}, 1, {}),
        ({"distribution": "cauchy"}, 1, {}),
    ],
}

# Codes and signs of scaled rows are those of the rows.
UNCHANGED = {
    "SignProjection": [
        {},
        {"dense_output": True},
        {"distribution": "rademacher"},
        {"distribution": "orthogonal"},
        {"distribution": "orthogonal", "dense_output": True},
        {"kernel": "acos_chi2"},
    ],
    "MinHash": [{}],
}

# Features of angles, which are computed here by whole numbers.
ANGLES = {
    "RandomFourier": [
        {"gamma": 0.1},
        {"gamma": 0.1, "form": "offset"},
        {"gamma": 1e-60},
        {"gamma": 1e80},
        {"kernel": "laplacian", "gamma": 0.01},
        {"kernel": "cauchy", "gamma": 0.1},
        {"kernel": "matern", "gamma": 0.1},
        {"kernel": "matern", "gamma": 0.1, "nu": 0.2},  # an eighth of the angles is far, not half
        {"kernel": "folded_rbf", "gamma": 0.1},
        {"spectrum": lambda probability: 2 * probability - 1, "gamma": 0.1},
    ],
    "Fastfood": [
        {"gamma": 0.1},
        {"gamma": 1e-60},
        {"gamma": 1e-120},
        {"gamma": 1e80},
        {"transform_type": "fft", "gamma": 0.1},
        {"transform_type": "orthogonal", "gamma": 0.1},
        {"kernel": "matern", "gamma": 1.0},
    ],
}

# The rate at which codes agree is the kernel, which is known for pairs of scaled rows.
AGREEMENT = {
    "RandomBinning": [{"gamma": 1.0}, {"gamma": 1e-60}, {"gamma": 1e60}],
    "ConsistentWeightedSampling": [
        {},
        {"signed": True},
        {"power": 0.3},
        {"power": 2.0},
    ],
    "KernelProduct": [{}],
}

LISTS = (SCALED, UNCHANGED, ANGLES, AGREEMENT)


def test_every_map_is_in_one_list():
    names = [name for table in LISTS for name in table]
    assert sorted(names) == sorted(MAPS)
    assert not set.intersection(*map(set, LISTS))


def variants(table):
    for name, listed in table.items():
        for number, variant in enumerate(listed):
            yield pytest.param(name, variant, id=f"{name}-{number}")


def dense(Z):
    return Z.toarray() if sp.issparse(Z) else Z


def attempt(function, *arguments):
    """The result and "", or None and the text of a ValueError."""
    try:
        return function(*arguments), ""
    except ValueError as error:
        return None, str(error)


@pytest.mark.parametrize(("dtype", "k"), PER_TYPE)
@pytest.mark.parametrize(("name", "variant"), variants(SCALED))
def test_scaled_features(name, variant, dtype, k):
    parameters, power, others = variant
    scaled = {key: parameters.get(key, 1.0) for key in others}
    if any(abs(k * by) * parameters.get("degree", 3) > 900 for by in others.values()):
        others = None  # powers of the parameter are beyond float64
    elif others:
        scaled = {key: float(np.ldexp(scaled[key], k * by)) for key, by in others.items()}
    X = rows()
    of_type = np.ldexp(X, k).astype(TYPES[dtype])
    fitted = make(name, n_components=64, **parameters).fit(X)
    limits = np.finfo(TYPES[dtype])
    if others is None:
        expected = None
    else:
        reference = make(name, n_components=64, **{**parameters, **scaled}).fit(X)
        with np.errstate(over="ignore"):  # where no type is larger than float64
            expected = np.ldexp(dense(reference.transform(X)).astype(np.longdouble), k * power)
        largest = abs(expected).max(axis=1)
    for container in (np.asarray, sp.csr_array):
        for row in range(len(of_type)):
            Z, error = attempt(fitted.transform, container(of_type[row : row + 1]))
            if error:
                is_large = expected is None or largest[row] * 2.0**16 > limits.max
                assert is_large or parameters.get("kernel") == "rbf", (largest[row], error)
                continue
            Z = dense(Z)
            assert Z.dtype == TYPES[dtype]
            assert np.isfinite(Z).all()
            if expected is not None:
                # The least numbers are off by half of one, in each of a few steps.
                tolerance = 64 * limits.eps * largest[row] + 256 * limits.smallest_subnormal
                assert (abs(Z[0] - expected[row]) <= tolerance).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("name", "variant"), variants(SCALED))
def test_overflow_names_the_row(name, variant, dtype):
    """Of whatever rows and threads; rows beside it are no error."""
    parameters, _, _ = variant
    if parameters.get("kernel") == "rbf":
        pytest.skip("the sketch of a long row is 0")
    X = np.tile(rows(), (500, 1)).astype(TYPES[dtype])
    X[1234] = np.finfo(TYPES[dtype]).max
    n_components = 2 if name == "CountSketch" else 64  # several entries meet
    fitted = make(name, n_components=n_components, n_jobs=2, **parameters).fit(X)
    for container in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=r"in row 1234, .* is beyond float.*: scale the rows"):
            fitted.transform(container(X))
    assert np.isfinite(dense(fitted.transform(np.delete(X, 1234, axis=0)))).all()


@pytest.mark.parametrize("offset", [1.0, 1e4, 1e8])
@pytest.mark.parametrize(("name", "variant"), variants(SCALED))
def test_features_far_from_0(name, variant, offset):
    """float32 features are those of the same numbers in float64."""
    X = (rows() + offset).astype(np.float32)
    fitted = make(name, n_components=64, **variant[0]).fit(X)
    exact = dense(fitted.transform(X.astype(float)))
    if abs(exact).max() > np.finfo(np.float32).max:
        with pytest.raises(ValueError, match="is beyond float32"):
            fitted.transform(X)
        return
    scale = abs(exact).max(axis=1, keepdims=True)
    if variant[0].get("kernel") == "rbf":
        return  # a small difference of large sums
    sums = abs(X.astype(float)).sum(axis=1, keepdims=True) ** max(variant[1], 1)
    assert (abs(dense(fitted.transform(X)) - exact) <= 1e-5 * np.maximum(scale, sums)).all()


# ---- codes and signs -----------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "k"), PER_TYPE)
@pytest.mark.parametrize(("name", "parameters"), variants(UNCHANGED))
def test_unchanged_codes(name, parameters, dtype, k):
    X = rows(40, signed=parameters.get("kernel") != "acos_chi2")
    fitted = make(name, n_hashes=256, **parameters).fit(X)
    expected = fitted.transform(X)
    of_type = np.ldexp(X, k).astype(TYPES[dtype])
    # Beside rows of another scale, too.
    both = np.vstack([X.astype(TYPES[dtype]), of_type])
    Z = dense(fitted.transform(both))
    assert (abs(Z - np.tile(dense(expected), (2, 1))) < 1e-6).all()
    codes = fitted.encode(X)
    np.testing.assert_array_equal(fitted.encode(of_type), codes)
    np.testing.assert_array_equal(fitted.encode(sp.csr_array(both)), np.tile(codes, (2, 1)))


def far_from_0(rng, n_columns):
    """Yield rows whose sums with random signs cancel to the last digits, or to 0."""
    shape = (250, n_columns)
    for far in (1e4, 1e6, 3e30):
        yield far * (1 + 2.0**-20 * rng.random(shape))
        yield far * (1 + 2.0**-12 * rng.random(shape))
        for n_far in {1, n_columns // 2}:  # the other columns have less
            yield rng.random(shape) + far * (rng.permutation(n_columns) < n_far)
    yield np.full(shape, 0.1)
    yield 0.1 * (rng.random(shape) < 0.5)
    yield rng.integers(10, size=shape) / 10
    yield rng.poisson(2, shape).astype(float)
    counts = 1.0 + rng.poisson(0.5, shape)
    yield counts / np.linalg.norm(counts, axis=1, keepdims=True)
    yield 2.0 ** rng.integers(-20, 20, shape)
    yield rng.random(shape)


@pytest.mark.parametrize("n_columns", [2, 8, 300])
@pytest.mark.parametrize(("name", "parameters"), variants(UNCHANGED))
def test_signs_of_float32_are_those_of_float64(name, parameters, n_columns):
    rng = np.random.default_rng(SEED + n_columns)
    for X in far_from_0(rng, n_columns):
        X[1::4, :-1] *= -1 if parameters.get("kernel") != "acos_chi2" else 1
        X[0], X[50] = np.arange(n_columns), 1  # other rows beside them
        X = X.astype(np.float32)
        fitted = make(name, n_hashes=1500, **parameters).fit(X)
        np.testing.assert_array_equal(fitted.encode(X), fitted.encode(X.astype(float)))


# ---- angles --------------------------------------------------------------------------------------


def check_angles(fitted, X):
    turns, sums = exact_turns(fitted, X.astype(float))
    expected, per_angle = features_of(fitted, turns)
    size = np.sqrt(2 / fitted.n_components)
    for row in range(len(X)):
        spread = np.array([float(min(s, Fraction(2**60))) for s in sums[row]])
        here = np.array([float(min(abs(t), Fraction(2**60))) for t in turns[row]])
        z, error = attempt(fitted.transform, X[row : row + 1])
        if error:
            assert " in row 0, column " in error
            assert "2^44 turns" in error
            assert (here > 2.0**43).mean() > 1 / 8  # rounding may be a few units
            continue
        z = z[0] / size
        is_far = (here >= 4).mean() > 1 / 2 or (here >= 64).mean() > 1 / 8
        in_float32 = X.dtype == np.float32 and not is_far
        u = 2.0**-24 if in_float32 else 2.0**-53
        # Each of the sum's terms is rounded a few times; the scale and the feature are, too.
        error = 2 * np.pi * 4 * N_COLUMNS * u * spread
        error += 2.0**-19 if X.dtype == np.float32 else 2.0**-48
        wrong = abs(z - expected[row] / size) > np.repeat(error, per_angle)
        # Vectors of heavy tails have single angles that are beyond any precision.
        assert wrong.mean() <= 1 / 8
        assert not (wrong & np.repeat(here < 2.0**14, per_angle)).any()
        # Most bounds tell something; the terms of a sum may be larger than the angle.
        assert np.median(error) < 1
        if X.dtype == np.float32:
            of_float64 = fitted.transform(X[row : row + 1].astype(float))[0] / size
            # Half of the angles are below 4 turns: sums of N_COLUMNS terms, and two products.
            near = 2 * np.pi * 2.0**-23 * (N_COLUMNS + 2) if in_float32 else 2.0**-23
            assert np.median(abs(z - of_float64)) <= near


@pytest.mark.parametrize(("dtype", "k"), PER_TYPE)
@pytest.mark.parametrize(("name", "parameters"), variants(ANGLES))
def test_angles(name, parameters, dtype, k):
    X = rows(4)
    fitted = make(name, n_components=32, **parameters).fit(X)
    check_angles(fitted, np.ldexp(X, k).astype(TYPES[dtype]))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("offset", [1.0, 30.0, 1e3, 1e4, 1e6, 1e8])
@pytest.mark.parametrize(("name", "parameters"), variants(ANGLES))
def test_angles_far_from_0(name, parameters, dtype, offset):
    X = (rows(4) + offset).astype(TYPES[dtype])
    check_angles(make(name, n_components=32, **parameters).fit(X), X)


@pytest.mark.parametrize(("name", "parameters"), variants(ANGLES))
def test_far_float32_rows_have_the_features_of_float64(name, parameters):
    """All features, those of heavy tails too, whatever rows and blocks."""
    width = 2**12 if name == "RandomFourier" else 2**10  # rows of more than a part
    X = np.tile(rows(40) + 1e6, (10, 1)).astype(np.float32)
    X[::3] -= 1e6
    fitted = make(name, n_components=width, **parameters | {"gamma": 0.0001}).fit(X)
    Z, exact = fitted.transform(X), fitted.transform(X.astype(float)).astype(np.float32)
    is_far = np.arange(len(X)) % 3 > 0
    np.testing.assert_array_equal(Z[is_far], exact[is_far], strict=True)
    # Single far angles, which heavy tails have in any row, do not make a row far.
    assert (Z[~is_far] != exact[~is_far]).any(axis=1).mean() > 1 / 2


@pytest.mark.parametrize("parameters", ANGLES["RandomFourier"])
def test_more_components_do_not_make_rows_far(parameters):
    """Where half of the angles have 4 turns, more or less."""
    X = np.linspace(3, 300, 100, dtype=np.float32)[:, None] * rows(1).astype(np.float32)
    few, many = (
        sparsemaps.RandomFourier(n_components=n, random_state=0, **parameters | {"gamma": 0.01})
        .fit(X)
        .transform(X)
        for n in (256, 1024)
    )
    np.testing.assert_array_equal(few, 2 * many[:, :256], strict=True)


def test_far_float32_rows_are_named():
    X = np.tile(rows(40) + 1e4, (10, 1)).astype(np.float32)
    X[277] *= 1e33
    fitted = sparsemaps.RandomFourier(n_components=2**13, random_state=0).fit(X[:1])
    with pytest.raises(ValueError, match=r"in row 277, column .*2\^44 turns"):
        fitted.transform(X)


def test_bits_of_far_angles():
    X = rows(20)
    fitted = sparsemaps.RandomFourier(n_components=64, form="offset", random_state=0).fit(X)
    far = (X * 1e7).astype(np.float32)
    np.testing.assert_array_equal(fitted.encode(far), fitted.encode(far.astype(float)))
    X[7] *= 1e30
    for method in (fitted.transform, fitted.encode, fitted.numbers):
        with pytest.raises(ValueError, match=r"in row 7, column .*2\^44 turns"):
            method(X)


def test_rows_do_not_depend_on_rows_beside_them():
    X = np.vstack([rows(), 1e7 * rows(), 1e-40 * rows()]).astype(np.float32)
    for name, table in (("RandomFourier", ANGLES), ("Fastfood", ANGLES)):
        for parameters in table[name]:
            fitted = make(name, n_components=32, **parameters).fit(X)
            Z, error = attempt(fitted.transform, X)
            if error:
                continue
            np.testing.assert_array_equal(
                Z, np.vstack([fitted.transform(x[None]) for x in X]), strict=True
            )


# ---- agreement -----------------------------------------------------------------------------------


def exact_agreement(fitted, parameters, x, y):
    """The kernel of two rows, from whole numbers."""
    x, y = ([Fraction(float(v)) for v in row] for row in (x, y))
    name = type(fitted).__name__
    if name == "RandomBinning":
        distance = sum(abs(a - b) for a, b in zip(x, y, strict=True)) * Fraction(fitted.gamma)
        return np.exp(-float(min(distance, Fraction(1000))))
    if parameters.get("signed"):
        x, y = ([max(v, 0) for v in row] + [max(-v, 0) for v in row] for row in (x, y))
    largest = max(max(x), max(y))
    u, v = (
        np.array([float(a / largest) for a in row]) ** parameters.get("power", 1) for row in (x, y)
    )
    minmax = np.minimum(u, v).sum() / np.maximum(u, v).sum()
    if name == "ConsistentWeightedSampling":
        return minmax
    cosine = u @ v / np.sqrt((u @ u) * (v @ v))
    return minmax * (1 - np.arccos(min(cosine, 1)) / np.pi)


@pytest.mark.parametrize(("dtype", "k"), PER_TYPE)
@pytest.mark.parametrize(("name", "parameters"), variants(AGREEMENT))
def test_agreement(name, parameters, dtype, k):
    signed = parameters.get("signed", False)
    X = np.ldexp(rows(signed=signed), k).astype(TYPES[dtype])
    X = np.vstack([X, 2 * X[:1] if k < 0 else X[:1] / 2, X[:1]])
    samples = {"n_hashes": 2048, "bits": 8, "t_bits": 8}
    pair = make("ConsistentWeightedSampling", **samples), make("SignProjection", n_hashes=2048)
    sizes = {"RandomBinning": {"n_grids": 2048}, "KernelProduct": {"maps": pair}}
    fitted = make(name, **sizes.get(name, samples), **parameters).fit(X)
    codes, error = attempt(fitted.numbers, X)
    if error:
        assert " in row " in error
        assert "bins are beyond float64" in error
        assert k + np.log2(parameters["gamma"]) > 1024 + 128 - 30
        return
    assert (codes >= 0).all()
    np.testing.assert_array_equal(codes[0], codes[-1])  # equal rows agree always
    for i in range(len(X) - 1):
        agreement = exact_agreement(fitted, parameters, X[0], X[i])
        n = codes.shape[1]
        bias = 2.0**-8  # codes that agree by chance
        error = 5 * np.sqrt(agreement * (1 - agreement) / n + 1 / n**2)
        assert -error <= (codes[0] == codes[i]).mean() - agreement <= error + bias


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4, 1e6, 1e8])
@pytest.mark.parametrize(("name", "parameters"), variants(AGREEMENT))
def test_codes_of_both_types_are_the_same(name, parameters, offset):
    fitted = make(name, **parameters).fit(rows(signed=False))
    for k in SCALES["float32"]:
        with np.errstate(over="ignore"):
            X = np.ldexp(rows(signed=parameters.get("signed", False)) + offset, k)
            X = X.astype(np.float32)
        X = X[np.isfinite(X).all(axis=1)]
        np.testing.assert_array_equal(fitted.numbers(X), fitted.numbers(X.astype(float)))


def test_powers_beyond_range_name_the_row():
    X = rows(signed=False)
    X[3] *= 1e300
    fitted = sparsemaps.ConsistentWeightedSampling(power=3.0, random_state=0).fit(X)
    for method in (fitted.transform, fitted.encode, fitted.sample):
        with pytest.raises(ValueError, match=r"in row 3, column .*beyond e\^2000"):
            method(X)


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e300, 1e150, 1e-300, 5e-324])
@pytest.mark.parametrize("name", sorted(MAPS))
def test_files_hold_finite_numbers(tmp_path, name, scale):
    """What is written can be read; otherwise the line is named, and nothing is written."""
    X = rows(signed=False)
    X[2] = np.maximum(X[2], 1) * scale
    libsvm.dump_svmlight_file(X, np.arange(len(X)), tmp_path / "in.svm", zero_based=False)
    parameters = {"hash_dim": 64} if name == "Fastfood" else {}
    for table in LISTS:
        for variant in table.get(name, []):
            more = parameters | (variant[0] if isinstance(variant, tuple) else variant)
            if more.get("distribution") == "orthogonal" or more.get("h01"):
                continue  # of rows of any width
            new_map = make(name, **more)
            _, error = attempt(files.map_files, new_map, tmp_path / "in.svm", tmp_path / "out.svm")
            if error:
                assert re.search("line [1-6], index [1-8]: ", error)
                assert not (tmp_path / "out.svm").exists()
            else:
                Z, _ = libsvm.load_svmlight_file(tmp_path / "out.svm")
                assert np.isfinite(Z.data).all()
                (tmp_path / "out.svm").unlink()
