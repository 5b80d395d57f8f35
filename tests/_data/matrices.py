"""Sparse matrices for tests: Hypothesis strategies of sound ones, and every way to be unsound."""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

VALUE_TYPES = (
    *("bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "longdouble", "complex64", "complex128", "object"),
    *(">f8", ">i4"),
)

INDEX_TYPES = ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", ">i4", ">i8")


def set_arrays(X, **arrays):
    """`X` with some of its arrays replaced, so that SciPy checks nothing."""
    for name, array in arrays.items():
        setattr(X, name, array)
    return X


def _csr(dtype):
    values = np.ones(3, np.float64).astype(dtype)
    return sp.csr_array((values, np.array([0, 2, 1], np.int32), np.array([0, 2, 2, 3])), (3, 4))


# Each takes the type of the values, and gives a matrix of shape (3, 4).
UNSOUND = {
    "indptr far beyond": lambda dtype: set_arrays(
        _csr(dtype), indptr=np.array([0, 20000, 20000, 3])
    ),
    "indptr falls": lambda dtype: set_arrays(_csr(dtype), indptr=np.array([0, 3, 2, 3])),
    "indptr negative": lambda dtype: set_arrays(_csr(dtype), indptr=np.array([0, -5, 2, 3])),
    "indptr not from 0": lambda dtype: set_arrays(_csr(dtype), indptr=np.array([1, 2, 2, 3])),
    "indptr ends beyond": lambda dtype: set_arrays(_csr(dtype), indptr=np.array([0, 2, 2, 9])),
    "indptr overflows": lambda dtype: set_arrays(
        _csr(dtype), indptr=np.array([0, 2**63, 2, 3], np.uint64)
    ),
    "indptr too short": lambda dtype: set_arrays(_csr(dtype), indptr=np.array([0, 3])),
    "indptr too long": lambda dtype: set_arrays(_csr(dtype), indptr=np.array([0, 2, 2, 3, 3])),
    "indptr empty": lambda dtype: set_arrays(_csr(dtype), indptr=np.array([], np.int32)),
    "indptr of floats": lambda dtype: set_arrays(
        _csr(dtype), indptr=np.array([0.0, 2.0, 2.0, 3.0])
    ),
    "indptr of two dimensions": lambda dtype: set_arrays(
        _csr(dtype), indptr=np.array([[0, 2, 2, 3]])
    ),
    "indptr None": lambda dtype: set_arrays(_csr(dtype), indptr=None),
    "column far beyond": lambda dtype: set_arrays(
        _csr(dtype), indices=np.array([0, 2**31 - 1, 1], np.int32)
    ),
    "column beyond by one": lambda dtype: set_arrays(_csr(dtype), indices=np.array([0, 4, 1])),
    "column negative": lambda dtype: set_arrays(_csr(dtype), indices=np.array([0, -(2**31), 1])),
    "column overflows": lambda dtype: set_arrays(
        _csr(dtype), indices=np.array([0, 2**64 - 1, 1], np.uint64)
    ),
    "columns of floats": lambda dtype: set_arrays(_csr(dtype), indices=np.array([0.0, 2.0, 1.0])),
    "columns too few": lambda dtype: set_arrays(_csr(dtype), indices=np.array([0, 2])),
    "values too few": lambda dtype: set_arrays(_csr(dtype), data=np.ones(2).astype(dtype)),
    "values of two dimensions": lambda dtype: set_arrays(
        _csr(dtype), data=np.ones((3, 2)).astype(dtype)
    ),
    "CSC: row beyond": lambda dtype: set_arrays(
        _csr(dtype).tocsc(), indices=np.array([0, 2**30, 1], np.int32)
    ),
    "CSC: indptr falls": lambda dtype: set_arrays(
        _csr(dtype).tocsc(), indptr=np.array([0, 30000, 2, 2, 3])
    ),
    "BSR: block beyond": lambda dtype: set_arrays(
        sp.bsr_array((np.ones((2, 1, 2)).astype(dtype), [0, 1], [0, 1, 1, 2]), shape=(3, 4)),
        indices=np.array([0, 2**20]),
    ),
    "BSR: indptr beyond": lambda dtype: set_arrays(
        sp.bsr_array((np.ones((2, 1, 2)).astype(dtype), [0, 1], [0, 1, 1, 2]), shape=(3, 4)),
        indptr=np.array([0, 1, 40000, 2]),
    ),
    "BSR: blocks do not fit": lambda dtype: set_arrays(
        sp.bsr_array((np.ones((2, 1, 2)).astype(dtype), [0, 1], [0, 1, 1, 2]), shape=(3, 4)),
        data=np.ones((2, 7, 5)).astype(dtype),
    ),
    "COO: row beyond": lambda dtype: set_arrays(
        sp.coo_array((np.ones(2).astype(dtype), ([0, 1], [0, 1])), shape=(3, 4)),
        coords=(np.array([0, 2**30]), np.array([0, 1])),
    ),
    "COO: too few columns": lambda dtype: set_arrays(
        sp.coo_array((np.ones(2).astype(dtype), ([0, 1], [0, 1])), shape=(3, 4)),
        coords=(np.array([0, 1]), np.array([0])),
    ),
    "COO: one axis": lambda dtype: set_arrays(
        sp.coo_array((np.ones(2).astype(dtype), ([0, 1], [0, 1])), shape=(3, 4)),
        coords=(np.array([0, 1]),),
    ),
    "DIA: offset far beyond": lambda dtype: set_arrays(
        sp.dia_array((np.ones((1, 4)).astype(dtype), [0]), shape=(3, 4)),
        offsets=np.array([2**31 - 1], np.int32),
    ),
    "DIA: too few offsets": lambda dtype: set_arrays(
        sp.dia_array((np.ones((2, 4)).astype(dtype), [0, 1]), shape=(3, 4)), offsets=np.array([0])
    ),
    "LIL: column beyond": lambda dtype: _lil(dtype, [77]),
    "LIL: no list": lambda dtype: _lil(dtype, None),
    "LIL: too few values": lambda dtype: _lil(dtype, [1, 2, 3]),
    "DOK: key beyond": lambda dtype: _dok(dtype, (0, 2**30)),
    "DOK: key beyond int64": lambda dtype: _dok(dtype, (0, 2**70)),
    "DOK: key of a fraction": lambda dtype: _dok(dtype, (0, 0.5)),
    "LIL: column beyond int64": lambda dtype: _lil(dtype, [2**70]),
    "LIL: column of a fraction": lambda dtype: _lil(dtype, [0.5]),
    "DOK: no position": lambda dtype: _dok(dtype, "ab"),
}  # fmt: skip


def _lil(dtype, row):
    X = sp.lil_array((3, 4), dtype="float64" if dtype in _NOT_EVERYWHERE else dtype)
    X[0, 1] = 1
    X.rows[0] = row
    return X


def _dok(dtype, key):
    X = sp.dok_array((3, 4), dtype="float64" if dtype in _NOT_EVERYWHERE else dtype)
    X[0, 1] = 1
    X._dict[key] = X.dtype.type(1)
    return X


_NOT_EVERYWHERE = ("float16", "object", ">f8", ">i4")


@st.composite
def csr_parts(draw, max_rows=6, max_columns=8):
    """(values, indices, indptr, shape) of a sound matrix: rows in any order, with duplicates,
    explicit zeros and values of small size, of any type; unused entries behind the last row."""
    n_columns = draw(st.sampled_from([1, 2, max_columns, 2**31 - 1, 2**31, 2**33, 2**62]))
    index_type = np.dtype(draw(st.sampled_from(INDEX_TYPES)))
    largest = min(n_columns - 1, np.iinfo(index_type).max)
    column = st.one_of(st.integers(0, min(largest, max_columns)), st.integers(0, largest))
    rows = draw(
        st.lists(st.lists(st.tuples(column, st.integers(0, 9)), max_size=6), max_size=max_rows)
    )
    spare = draw(st.integers(0, 2))
    entries = [entry for row in rows for entry in row] + [(0, 5)] * spare
    lengths = np.cumsum([0, *map(len, rows)])
    values = np.array([value for _, value in entries], draw(st.sampled_from(VALUE_TYPES[:11])))
    indices = np.array([column for column, _ in entries], index_type)
    indptr = lengths.astype(draw(st.sampled_from(INDEX_TYPES)))
    return values, indices, indptr, (len(rows), n_columns)


def as_csr(values, indices, indptr, shape):
    """The matrix, of exactly these arrays."""
    return set_arrays(sp.csr_array(shape), data=values, indices=indices, indptr=indptr)


def as_dict(values, indices, indptr):
    """Position to value, duplicates summed in their type, zeros left out."""
    zero, sums = values.dtype.type(0), {}
    for row, (start, stop) in enumerate(pairwise(indptr)):
        for column, value in zip(indices[start:stop], values[start:stop], strict=True):
            key = row, int(column)
            sums[key] = sums.get(key, zero) + value
    return {key: float(value) for key, value in sums.items() if value != 0}


@st.composite
def damaged_csr(draw):
    """A matrix one of whose index arrays is not sound."""
    values, indices, indptr, shape = draw(csr_parts())
    indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    used = int(indptr[-1])
    places = ["indptr", "length"] + (["indices"] if used else [])
    place = draw(st.sampled_from(places))
    if place == "indptr":
        at = draw(st.integers(0, len(indptr) - 1))
        low = int(indptr[at - 1]) - 1 if at else -1
        beyond = st.integers(len(values) + 1, 2**63 - 1)
        indptr[at] = draw(st.one_of(st.integers(-(2**63), low), beyond))
    elif place == "length":
        indptr = draw(st.sampled_from([indptr[:-1], np.append(indptr, indptr[-1])]))
    else:
        at = draw(st.integers(0, used - 1))
        beyond = st.integers(shape[1], 2**63 - 1)
        indices[at] = draw(st.one_of(st.integers(-(2**63), -1), beyond))
    return as_csr(values, indices, indptr, shape)
