"""Finite rows have finite features, right to the precision of the type, or an error names the row:
every map, of rows of every scale, and of rows far from 0."""

import re
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.variants import MAPS, make

import sparsemaps
from sparsemaps import files, libsvm
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _seeding

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


@pytest.mark.parametrize("far", [1e8, 2.0**24, 3e30])
@pytest.mark.parametrize(("name", "parameters"), variants(UNCHANGED))
def test_codes_far_from_0(name, parameters, far):
    """The sums of signs cancel to the last digits; float64 holds them."""
    rng = np.random.default_rng(SEED + 3)
    X = (far * (1 + 2.0**-20 * rng.random((50, N_COLUMNS)))).astype(np.float32)
    fitted = make(name, n_hashes=256, **parameters).fit(X)
    np.testing.assert_array_equal(fitted.encode(X), fitted.encode(X.astype(float)))


# ---- angles --------------------------------------------------------------------------------------


def exact_turns(fitted, X):
    """The angles in turns, of float64 numbers without rounding; and the sums of the absolute values
    of what is added."""
    draw = fitted.draw
    if type(fitted).__name__ == "Fastfood":
        W = draw.multiply(np.eye(draw.dense_width))[:N_COLUMNS, : len(draw.scales)]
        scales = draw.scales.astype(float)
    else:
        vectors, lengths, _ = draw.keys()
        folded = fitted.kernel == "folded_rbf"
        paired = fitted.form == "paired" and not folded
        n = fitted.n_components // 2 if paired else fitted.n_components
        kinds = {"laplacian": _loops.CAUCHY, "cauchy": _loops.LAPLACE}
        kind = kinds.get(fitted.kernel, _loops.NORMAL)
        W = np.empty((N_COLUMNS, 64), np.float32)
        for column in range(N_COLUMNS):
            of = (_loops.QUANTILES, column, W[column], draw.quantiles)
            _loops.draw(vectors, *(of if draw.quantiles is not None else (kind, *of[1:3])))
        W, scales = W[:, :n], draw._scales(lengths, n)
    (X, unit_of_rows), (W, unit) = whole(X), whole(W)
    units = [unit_of_rows * unit * Fraction(scale) for scale in scales.tolist()]
    return tuple(
        [[number * unit for number, unit in zip(row, units, strict=True)] for row in found.tolist()]
        for found in (X @ W, abs(X) @ abs(W))
    )


def whole(numbers):
    """Whole numbers, and the power of 2 that these numbers are multiples of."""
    ratios = [number.as_integer_ratio() for number in numbers.ravel().tolist()]
    divisor = max(divisor for _, divisor in ratios)
    found = [number * (divisor // of_number) for number, of_number in ratios]
    return np.array(found, object).reshape(numbers.shape), Fraction(1, divisor)


def features_of(fitted, turns):
    """The features of angles."""
    draw = fitted.draw
    name, n = type(fitted).__name__, fitted.n_components
    paired = name == "Fastfood" or (fitted.form == "paired" and fitted.kernel != "folded_rbf")
    if paired:
        angles = np.array([[2 * np.pi * float(t % 1) for t in row] for row in turns])
        pairs = np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(len(turns), -1)
        return np.sqrt(2 / n) * pairs, 2
    folded = fitted.kernel == "folded_rbf"
    phases = np.zeros(n) if folded else _seeding.uniforms(draw.keys()[2], n)
    shifted = np.array(turns, object) + np.array([Fraction(p) for p in phases.tolist()])
    angles = 2 * np.pi * (shifted % 1).astype(float)
    return np.sqrt((1 if folded else 2) / n) * np.cos(angles), 1


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
        in_float32 = X.dtype == np.float32 and (here >= 2.0**15).mean() <= 1 / 8
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


@pytest.mark.parametrize(("dtype", "k"), PER_TYPE)
@pytest.mark.parametrize(("name", "parameters"), variants(ANGLES))
def test_angles(name, parameters, dtype, k):
    X = rows(4)
    fitted = make(name, n_components=32, **parameters).fit(X)
    check_angles(fitted, np.ldexp(X, k).astype(TYPES[dtype]))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("offset", [1.0, 1e4, 1e8])
@pytest.mark.parametrize(("name", "parameters"), variants(ANGLES))
def test_angles_far_from_0(name, parameters, dtype, offset):
    X = (rows(4) + offset).astype(TYPES[dtype])
    check_angles(make(name, n_components=32, **parameters).fit(X), X)


@pytest.mark.parametrize("form", ["paired", "offset"])
def test_bits_of_far_angles(form):
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


@pytest.mark.parametrize("parameters", AGREEMENT["ConsistentWeightedSampling"])
@pytest.mark.parametrize("k", SCALES["float32"])
def test_samples_of_both_types_are_the_same(parameters, k):
    X = np.ldexp(rows(signed=parameters.get("signed", False)), k).astype(np.float32)
    fitted = make("ConsistentWeightedSampling", **parameters).fit(X)
    for one, other in zip(fitted.sample(X), fitted.sample(X.astype(float)), strict=True):
        np.testing.assert_array_equal(one, other)


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
