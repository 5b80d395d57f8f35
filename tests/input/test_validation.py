"""Parameters and data are checked in one place: here, directly."""

import pickle
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from _data.matrices import as_csr, as_dict, csr_parts, damaged_csr, set_arrays
from _data.rows import random_csr
from _data.variants import make, map_classes
from _oracles.equal import assert_same
from hypothesis import given, settings

from sparsemaps import ConsistentWeightedSampling, CountSketch, TensorSketch
from sparsemaps._input import _row_reader, _sparse
from sparsemaps._tools import _checks
from sparsemaps._tools._parameters import ParameterError

# ---- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1, np.int8(1), np.uint64(7), 7])
def test_integers(value):
    found = _checks.check_int("n", value, 1, 7)
    assert (type(found), found) == (int, int(value))


@pytest.mark.parametrize(
    "value", [0, 8, -(2**70), True, np.True_, 1.0, np.float64(1), "1", None, [1]]
)
def test_what_is_no_integer_in_the_range(value):
    with pytest.raises(ValueError, match=r"^n must be (an integer )?from 1 to 7, got "):
        _checks.check_int("n", value, 1, 7)


@pytest.mark.parametrize("value", [2, 2.5, np.float32(2.5), np.int64(3), Fraction(5, 2), 2**80])
def test_real_numbers(value):
    found = _checks.check_real("gamma", value, 2)
    assert (type(found), found) == (float, float(value))


@pytest.mark.parametrize("value", [1.9, -1, 10**400, np.nan, -np.inf, True, "3", None, 1j])
def test_what_is_no_real_number_in_the_range(value):
    with pytest.raises(ValueError, match=r"^gamma must be a finite number of at least 2, got "):
        _checks.check_real("gamma", value, 2)
    with pytest.raises(ValueError, match=r"^gamma must be a finite number above 2, got "):
        _checks.check_real("gamma", 2.0, 2, open_low=True)


def test_errors_keep_their_parts():
    """Also in another process; the sentence is the same."""
    with pytest.raises(ParameterError) as caught:
        _checks.check_int("bits", 40, 1, 16)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.name, error.value, error.allowed) == ("bits", "40", "from 1 to 16")
        assert str(error) == "bits must be from 1 to 16, got 40"
    X = sp.csr_array(np.array([[1.0, -2.0]]))
    with pytest.raises(_row_reader.EntryError) as caught:
        ConsistentWeightedSampling().fit_transform(X)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert vars(again) == vars(caught.value)
    assert (again.row, again.column, again.value) == (0, 1, "the value -2 is negative")
    with pytest.raises(ValueError, match="n must be from 1 to 2, got a number of thousands of"):
        _checks.check_int("n", 10**5000, 1, 2)


@pytest.mark.parametrize("key", [(0, 2**40), (2**40, 1), (0, 2**70), (-(2**40), 0)])
def test_dok_keys_beyond_the_index_type(key):
    X = sp.dok_array((3, 5))
    X._dict[key] = 1.0
    with pytest.raises(ValueError, match=r"DOK matrix X has the index|X is not a valid DOK matrix"):
        CountSketch().fit(X)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("TensorSketch", {"gamma": 0.5, "coef0": 0.25}),
        ("RandomMaclaurin", {"gamma": 0.5, "coef0": 0.25}),
        ("RandomFourier", {"gamma": 0.5, "kernel": "matern", "nu": 0.25}),
        ("RandomBinning", {"gamma": 0.5}),
        ("Fastfood", {"gamma": 0.5, "hash_dim": 16}),
    ],
)
def test_numbers_of_any_type(name, parameters):
    X = random_csr(9)
    one = make(name, **parameters).fit(X)
    exact = {
        key: Fraction(value) if isinstance(value, float) else value
        for key, value in parameters.items()
    }
    other = make(name, **exact).fit(X)
    assert_same(other.transform(X), one.transform(X))
    np.testing.assert_array_equal(other.exact_kernel(X), one.exact_kernel(X))


def test_choices_and_booleans():
    assert _checks.check_bool("signed", np.False_) is False
    assert _checks.check_choice("form", "b", ("a", "b")) == "b"
    for value in (0, 1, "True", None):
        with pytest.raises(ValueError, match=r"^signed must be True or False, got "):
            _checks.check_bool("signed", value)
    for value in ("c", "", None, 1, ["a"]):
        with pytest.raises(ValueError, match=r"^form must be 'a' or 'b', got "):
            _checks.check_choice("form", value, ("a", "b"))


# ---- values and shapes ---------------------------------------------------------------------------

NOT_DATA = {
    "NaN": (sp.csr_array([[1.0, 0], [0, np.nan]]), "NaN in row 1, column 1"),
    "infinity": (sp.csr_array([[1.0, 0], [np.inf, 1]]), "infinity in row 1, column 0"),
    "minus infinity": (sp.csr_array([[-np.inf, 1]]), "infinity in row 0, column 0"),
    "dense NaN": (np.array([[1.0, 0], [0, np.nan]]), "NaN in row 1, column 1"),
    "duplicates overflow": (
        sp.csr_array(([1e308, 1e308], [1, 1], [0, 2]), (1, 2)), "infinity in row 0, column 1",
    ),
    "one dimension": (np.array([1.0, 2.0]), "1D array"),
    "sparse, one dimension": (sp.coo_array([1.0, 2.0]), "two dimensions|1D"),
    "three dimensions": (np.ones((2, 2, 2)), "dim 3"),
    "objects": (np.array([["a", 1.0]], object), "takes a matrix, got strings in column 0: sk"),
    "a later column": (np.array([[1.0, "a"]], object), "strings in column 1: .*OneHotEncoder"),
    "strings": (np.array([["a", "b"]]), "takes a matrix, got strings in column 0: sk"),
    "complex": (np.array([[1 + 2j, 0]]), "Complex data not supported"),
    "sparse, complex": (sp.csr_array([[1 + 2j, 0]]), "Complex data not supported"),
    "no rows": (np.ones((0, 2)), r"0 sample\(s\)"),
    "sparse, no rows": (sp.csr_array((0, 2)), r"0 sample\(s\)"),
    "no columns": (np.ones((3, 0)), r"0 feature\(s\)"),
    "sparse, no columns": (sp.csr_array((3, 0)), r"0 feature\(s\)"),
    "None": (None, "2D array"),
}  # fmt: skip


@pytest.mark.parametrize(("X", "message"), NOT_DATA.values(), ids=NOT_DATA.keys())
def test_what_is_not_data(X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        CountSketch().fit(X)
    if getattr(X, "shape", ()) in ((1, 2), (2, 2)):
        with pytest.raises((ValueError, TypeError), match=message):
            CountSketch().fit(np.ones((1, 2))).transform(X)


@pytest.mark.parametrize("cls", map_classes(), ids=lambda cls: cls.__name__)
def test_every_map_checks_every_entry(cls):
    X = sp.csr_array([[1.0, 0], [0, np.nan]])
    with pytest.raises(ValueError, match="NaN in row 1, column 1"):
        cls().fit(X)
    with pytest.raises(ValueError, match="NaN in row 1, column 1"):
        cls().fit(abs(np.nan_to_num(X.toarray()))).transform(X)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_another_width(container):
    fitted = CountSketch().fit(np.ones((2, 4)))
    with pytest.raises(ValueError, match="X has 3 features, but CountSketch is expecting 4"):
        fitted.transform(container(np.ones((2, 3))))


# ---- unsound matrices ----------------------------------------------------------------------------


def test_unsound_matrices_are_refused_everywhere():
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "_scripts.unsound"],
        cwd=tests,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"it ended with {done.returncode} at: {done.stderr[-300:]}"
    assert len(done.stdout.split()) == 3, done.stdout[-2000:]
    assert min(map(int, done.stdout.split())) > 1000


@given(damaged_csr())
@settings(max_examples=100, deadline=None)
def test_any_damage_is_found(X):
    with pytest.raises(ValueError, match=r"^X\b"):
        _sparse.sound_csr(X)
    with pytest.raises(ValueError, match=r"^X\b"):
        read(_row_reader.open_matrix(X))


def read(rows, step=2):
    """Position to value, of blocks of a few rows; each block must be canonical."""
    found = {}
    for start in range(0, rows.n_rows, step):
        block = rows.block(start, min(start + step, rows.n_rows))
        for first, last in pairwise(block.indptr):
            assert (np.diff(block.indices[first:last]) > 0).all()
        found |= {(start + row, column): value for (row, column), value in as_dict(*block).items()}
    return found


@given(csr_parts())
@settings(max_examples=100, deadline=None)
def test_sound_matrices_are_read_as_they_are(parts):
    values, indices, indptr, shape = parts
    before = [array.copy() for array in (values, indices, indptr)]
    X = as_csr(*parts)
    # Duplicates of small types are summed in that type, as in SciPy.
    expected = as_dict(values, indices, indptr)
    rows = _row_reader.open_matrix(X)
    assert rows.dtype == (np.float32 if values.dtype == np.float32 else np.float64)
    assert read(rows) == expected
    sound = _sparse.sound_csr(X)
    assert sound.shape == shape
    assert as_dict(*sound[:3]) == expected
    for array, untouched in zip((values, indices, indptr), before, strict=True):
        np.testing.assert_array_equal(array, untouched)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_a_negative_column_is_none_of_a_wide_matrix(index_type):
    X = sp.csr_array((2, 2**40))
    indices = np.array([5, -1], index_type)
    set_arrays(X, data=np.ones(2), indices=indices, indptr=np.array([0, 1, 2], index_type))
    with pytest.raises(ValueError, match=r"X has row 1, column -1; allowed are columns 0 to"):
        CountSketch().fit(X)


def test_an_array_of_more_columns_than_int32_numbers():
    X = np.broadcast_to(np.float32(0), (1, 2**31))  # takes no memory
    with pytest.raises(ValueError, match=r"at most 2147483647 columns, got 2147483648; pass a"):
        _row_reader.open_matrix(X)
    assert _row_reader.open_matrix(X[:, 1:]).n_columns == 2**31 - 1


@pytest.mark.parametrize("to_format", ["csc", "bsr", "coo", "dia", "lil", "dok"])
def test_other_formats(to_format):
    """Zeros that are stored, empty rows, a width that is no multiple of anything, duplicates."""
    X = random_csr(n_rows=9, n_columns=13, density=0.3)
    X.data[2] = 0
    other = X.asformat(to_format)
    if to_format == "coo":
        other = sp.coo_array(
            (np.repeat(X.data / 2, 2), [np.repeat(x, 2) for x in X.tocoo().coords])
        )
        other.resize(X.shape)
    for sound in (_sparse.sound_matrix(other), _sparse.own_rows(other)):
        assert sound.shape == X.shape
        np.testing.assert_array_equal(sound.toarray(), X.toarray())
    empty = _sparse.sound_matrix(sp.csr_array((3, 4)).asformat(to_format))
    assert (empty.shape, empty.nnz) == ((3, 4), 0)


def test_dictionaries_of_wide_matrices():
    X = sp.dok_array((2, 2**40))
    X._dict[1, 2**39] = 3.0
    sound = _sparse.sound_csr(X)
    assert (sound.indices.tolist(), sound.indptr.tolist()) == ([2**39], [0, 0, 1])


def test_what_is_checked_is_a_copy():
    X = random_csr(9)
    sound, kept = _sparse.sound_matrix(X), _sparse.own_rows(X)
    for array in (sound.indices, sound.indptr, kept.indices, kept.indptr, kept.data):
        assert not any(np.shares_memory(array, of_X) for of_X in (X.data, X.indices, X.indptr))


@pytest.mark.parametrize("to_format", ["csr", "csc", "bsr", "coo"])
def test_the_copy_is_made_before_the_check(to_format, monkeypatch):
    """Another thread that changes the matrix while it is checked changes nothing."""
    X = random_csr(9).asformat(to_format)
    expected = X.toarray()
    check = _sparse.check_indices

    def change_and_check(*arguments):
        for indices in X.coords[:1] if to_format == "coo" else (X.indices, X.indptr):
            indices[:] = 2**31 - 1
        check(*arguments)

    monkeypatch.setattr(_sparse, "check_indices", change_and_check)
    np.testing.assert_array_equal(_sparse.sound_matrix(X).toarray(), expected)


def test_what_is_wrong_is_named():
    X = sp.csr_array((np.ones(3, np.int64), [0, 2, 1], [0, 2, 2, 3]), (3, 4))
    set_arrays(X, indptr=np.array([0, 20000, 2, 3]))
    with pytest.raises(ValueError, match=r"within the 3 stored entries; entry 1 is 20000"):
        _sparse.sound_csr(X)
    set_arrays(X, indptr=np.array([0, 2, 1, 3]))
    with pytest.raises(ValueError, match=r"within the 3 stored entries; entry 2 is 1 after 2"):
        _sparse.sound_csr(X)
    y = sp.csr_array((np.ones(1), [7], [0, 1]), (1, 9))
    set_arrays(y, indices=np.array([9]))
    with pytest.raises(ValueError, match=r"y has row 0, column 9; allowed are columns 0 to 8"):
        _sparse.sound_matrix(y, "y")


def test_the_check_holds_for_a_copy():
    """What another thread does to indptr after the check does not matter."""
    X = sp.csr_array((np.ones(3), [0, 2, 1], [0, 2, 2, 3]), (3, 4))
    sound = _sparse.sound_csr(X)
    X.indptr[1] = 20000
    assert sound.indptr.tolist() == [0, 2, 2, 3]


def test_no_entries_at_all():
    for method in ("direct", "fft", "auto"):
        sketch = TensorSketch(coef0=1.0, method=method, n_components=16, random_state=0)
        for X in (
            sp.csr_array((3, 5)),
            np.zeros((3, 5)),
            sp.csr_array(([0.0], [1], [0, 1]), (1, 5)),
        ):
            Z = sketch.fit_transform(X)
            assert np.count_nonzero(Z.round(9)) == len(Z)


def test_the_largest_unsigned_integers():
    """They stay positive."""
    X = sp.csr_array(np.array([[2**63 + 5, 1]], np.uint64))
    assert _sparse.sound_matrix(X).data.tolist() == [2**63 + 5, 1]
    assert _row_reader.open_matrix(X, "values >= 0").block(0, 1).values.tolist() == [2.0**63, 1.0]
