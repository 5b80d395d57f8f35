"""Bad input gets one clear error, that says what was found, where, and what is allowed."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import map_classes

from sparsemaps import ConsistentWeightedSampling, CountSketch


def csr(data=None, indices=None, indptr=None, shape=(3, 4)):
    """A sound matrix, parts of which are replaced behind SciPy's back."""
    X = sp.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([0, 2, 1]), np.array([0, 2, 2, 3])), shape=shape
    )
    for name, values in (("data", data), ("indices", indices), ("indptr", indptr)):
        if values is not None:
            setattr(X, name, np.array(values, dtype=getattr(X, name).dtype))
    return X


def broken_coo():
    X = csr().tocoo()
    X.coords[1][0] = 9
    return X


def broken_csc():
    X = csr().tocsc()
    X.indices[0] = 77
    return X


def objects():
    return np.array([["a", 1.0], [2.0, 3.0]], dtype=object)


BAD = {
    "NaN": (csr(data=[1, np.nan, 3]), "NaN in row 0, column 2"),
    "infinity": (csr(data=[1, 2, np.inf]), "infinity in row 2, column 1"),
    "minus infinity": (csr(data=[1, 2, -np.inf]), "infinity in row 2, column 1"),
    "dense NaN": (np.array([[1.0, 0.0], [0.0, np.nan]]), "NaN in row 1, column 1"),
    "duplicates overflow": (
        csr(data=[1e308, 1e308, 1], indices=[2, 2, 1]), "infinity in row 0, column 2",
    ),
    "index beyond the width": (
        csr(indices=[0, 4, 1]), "row 0, column 4; allowed are columns 0 to 3",
    ),
    "negative index": (csr(indices=[0, 2, -1]), "row 2, column -1"),
    "decreasing indptr": (csr(indptr=[0, 3, 2, 3]), "entry 2 is 2 after 3"),
    "negative indptr": (csr(indptr=[0, -5, 2, 3]), "entry 1 is -5"),
    "indptr not from 0": (csr(indptr=[1, 2, 2, 3]), "entry 0 is 1"),
    "indptr beyond the data": (csr(indptr=[0, 2, 9, 3]), "entry 2 is 9"),
    "indptr ends beyond the data": (csr(indptr=[0, 2, 2, 9]), None),
    "indptr too short": (csr(indptr=[0, 2, 3]), None),
    "indices too short": (csr(indices=[0, 2]), None),
    "data too short": (csr(data=[1.0, 2.0]), None),
    "broken COO": (broken_coo(), "COO"),
    "broken CSC": (broken_csc(), "CSC"),
    "one dimension": (np.array([1.0, 2.0]), "1D array"),
    "three dimensions": (np.ones((2, 2, 2)), "dim 3"),
    "objects": (objects(), "could not convert string to float"),
    "strings": (np.array([["a", "b"]]), "could not convert string to float|Unable to convert"),
    "complex": (np.array([[1 + 2j]]), "Complex data not supported"),
    "no columns": (np.ones((3, 0)), r"0 feature\(s\)"),
    "None": (None, None),
}  # fmt: skip


@pytest.mark.parametrize("cls", map_classes(), ids=lambda cls: cls.__name__)
@pytest.mark.parametrize(("X", "message"), BAD.values(), ids=BAD.keys())
def test_bad_matrices(cls, X, message):
    fitted = cls(random_state=0).fit(np.ones((2, 4)))
    with pytest.raises((ValueError, TypeError), match=message):
        cls(random_state=0).fit(X)
    with pytest.raises((ValueError, TypeError), match=message):
        cls(random_state=0).fit_transform(X)
    if getattr(X, "shape", (0, 0))[-1] == 4:
        with pytest.raises(ValueError, match=message):
            fitted.transform(X)


def test_width():
    with pytest.raises(ValueError, match="X has 3 features, but CountSketch is expecting 4"):
        CountSketch().fit(np.ones((2, 4))).transform(np.ones((2, 3)))


def test_negative_values():
    X = csr(data=[1, 2, -3])
    message = r"-3.0 in row 2, column 1; .*signed=True"
    with pytest.raises(ValueError, match=message):
        ConsistentWeightedSampling().fit(X)
    with pytest.raises(ValueError, match=message):
        ConsistentWeightedSampling().fit(abs(X)).transform(X)
    ConsistentWeightedSampling(signed=True).fit(X).transform(X)
    CountSketch().fit(X).transform(X)


def test_duplicates_are_judged_by_their_sum():
    X = csr(data=[3, -1, 2], indices=[2, 2, 1])
    assert ConsistentWeightedSampling(random_state=0).fit_transform(X).nnz == 2 * 256
    cancelled = csr(data=[1, -1, 2], indices=[2, 2, 1])
    Z = ConsistentWeightedSampling(random_state=0).fit_transform(cancelled)
    assert np.diff(Z.indptr).tolist() == [0, 0, 256]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be from 1 to 2147483647, got 0"),
        ({"n_components": 2**31}, "n_components must be from 1 to 2147483647, got 2147483648"),
        ({"n_components": "8"}, "n_components must be an integer"),
        ({"n_components": True}, "n_components must be an integer"),
        ({"dense_output": "yes"}, "dense_output must be True or False"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        CountSketch(**parameters).fit(np.ones((2, 4)))
