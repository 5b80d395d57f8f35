"""Objects whose attributes lie, or that hardly anybody meant to give, and what takes them.

``python -m _scripts.hostile`` gives each object to each function, and prints what ended in
anything but a result, a ValueError or a TypeError. ``python -m _scripts.hostile 2`` gives each
object to every other function, and each function every other object. On standard error stands what
it is at, so that a crash names the object. `fuzz/fuzz_hostile.py` makes more of them for ever.
"""

import contextlib
import faulthandler
import io
import pickle
import sys
import warnings

import numpy as np
import scipy.sparse as sp
from _data.matrices import set_arrays
from _data.variants import MAPS, make

from sparsemaps import approximation, codes, kernels, libsvm, neighbors

N_COLUMNS = 4


# ---- objects -------------------------------------------------------------------------------------


def csr(dtype=np.float64):
    """A sound matrix of shape (3, 4)."""
    return sp.csr_array((np.ones(3, dtype), np.array([0, 2, 1], np.int32), [0, 2, 2, 3]), (3, 4))


def ones(dtype=np.float64):
    return np.ones((3, N_COLUMNS), dtype)


def with_value(value, dtype=np.float64):
    X = ones(dtype)
    X[1, 2] = value
    return X


def lying(base, **attributes):
    """An object of a subclass of which some attributes say something else."""
    told = {name: property(lambda self, value=value: value) for name, value in attributes.items()}
    return type("Lying", (base,), told)


class Raises:
    """It becomes no array."""

    shape, dtype, ndim = (3, N_COLUMNS), np.dtype(float), 2

    def __array__(self, dtype=None, copy=None):
        raise ValueError("it becomes no array")

    def __len__(self):
        return 3


class Becomes:
    """It becomes the given array, whatever else it says of itself."""

    def __init__(self, array, **attributes):
        self.array = array
        vars(self).update(attributes)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype)


def as_lying_matrix(**attributes):
    X = csr()
    liar = lying(sp.csr_matrix, **attributes)
    return liar((X.data, X.indices, X.indptr), shape=X.shape)


def dok(key, value=1.0):
    X = sp.dok_array((3, 4))
    X[0, 1] = 1
    X._dict[key] = value
    return X


def lil(rows, data):
    X = sp.lil_array((3, 4))
    X[0, 1] = 1
    X.rows[0], X.data[0] = rows, data
    return X


def changed_shape(X, shape):
    X._shape = shape
    return X


def read_only(X):
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    return X


ARRAYS = {
    "zero dimensions": lambda: np.array(5.0),
    "one dimension": lambda: np.ones(N_COLUMNS),
    "three dimensions": lambda: np.ones((3, N_COLUMNS, 2)),
    "64 dimensions": lambda: np.ones((1,) * 32),
    "no rows": lambda: np.ones((0, N_COLUMNS)),
    "no columns": lambda: np.ones((3, 0)),
    "nothing": lambda: np.ones((0, 0)),
    "a column more": lambda: np.ones((3, N_COLUMNS + 1)),
    "numbers as objects": lambda: ones(object),
    "None among objects": lambda: with_value(None, object),
    "strings": lambda: ones().astype(str),
    "bytes": lambda: ones().astype("S3"),
    "records": lambda: np.ones((3, N_COLUMNS), [("a", float), ("b", int)]),
    "dates": lambda: np.zeros((3, N_COLUMNS), "datetime64[s]"),
    "complex": lambda: ones(complex),
    "bool": lambda: ones(bool),
    "float16": lambda: ones(np.float16),
    "longdouble": lambda: ones(np.longdouble),
    "longdouble beyond float64": lambda: with_value(np.longdouble(1e308) * 100, np.longdouble),
    "a whole number beyond float64": lambda: with_value(10**400, object),
    "uint64 beyond int64": lambda: with_value(2**64 - 1, np.uint64),
    "byteswapped": lambda: ones(">f8"),
    "byteswapped integers": lambda: ones(">i2"),
    "Fortran's order": lambda: np.asfortranarray(ones()),
    "negative strides": lambda: ones()[::-1, ::-1],
    "every other": lambda: np.ones((6, 2 * N_COLUMNS))[::2, ::2],
    "one number for all": lambda: np.broadcast_to(1.0, (3, N_COLUMNS)),
    "unaligned": lambda: np.zeros(8 * 3 * N_COLUMNS + 1, np.uint8)[1:].view(float).reshape(3, -1),
    "NaN": lambda: with_value(np.nan),
    "infinity": lambda: with_value(np.inf),
    "negative": lambda: with_value(-1.0),
    "negative zero": lambda: with_value(-0.0),
    "subnormal": lambda: with_value(5e-324),
    "largest": lambda: with_value(np.finfo(float).max),
    "masked": lambda: np.ma.masked_array(ones(), ones() > 2),
    "np.matrix": lambda: np.asmatrix(ones()),
    "an array that says it is longer": lambda: ones().view(lying(np.ndarray, shape=(10**9, 4))),
    "an array that says it is wider": lambda: ones().view(lying(np.ndarray, shape=(3, 2**40))),
    "an array that says it is of integers": lambda: ones().view(
        lying(np.ndarray, dtype=np.dtype(int))
    ),
    "raises": Raises,
    "becomes a number": lambda: Becomes(1.0, shape=(3, N_COLUMNS)),
    "becomes text": lambda: Becomes("text"),
    "becomes shorter": lambda: Becomes(np.ones((1, N_COLUMNS)), shape=(3, N_COLUMNS)),
    "None": lambda: None,
    "a number": lambda: 5,
    "text": lambda: "text",
    "bytes of text": lambda: b"1 1:1\n",
    "a dictionary": lambda: {0: {1: 1.0}},
    "a set": lambda: {1, 2, 3},
    "a generator": lambda: (row for row in ones()),
    "lists": lambda: ones().tolist(),
    "a list of a number beyond float64": lambda: [[10**400, 1, 1, 1]],
    "a list of matrices": lambda: [csr(), csr()],
    "lists of different lengths": lambda: [[1.0, 2.0], [3.0]],
    "a list in itself": lambda: (lambda x: x.append(x) or x)([]),
    "a type": lambda: np.ndarray,
    "a file": lambda: io.BytesIO(b"1 1:1\n"),
}

MATRICES = {
    "CSR: indptr of objects": lambda: set_arrays(csr(), indptr=np.array([0, 2, 2, 3], object)),
    "CSR: indices of objects": lambda: set_arrays(csr(), indices=np.array([0, 2, 1], object)),
    "CSR: data of objects": lambda: set_arrays(csr(), data=np.array([1.0, None, "a"], object)),
    "CSR: data of a number beyond float64": lambda: set_arrays(
        csr(), data=np.array([10**400, 1, 1], object)
    ),
    "CSR: data None": lambda: set_arrays(csr(), data=None),
    "CSR: data a list": lambda: set_arrays(csr(), data=[1.0, 2.0, 3.0]),
    "CSR: indices and indptr lists": lambda: set_arrays(
        csr(), indices=[0, 2, 1], indptr=[0, 2, 2, 3]
    ),
    "CSR: data of text": lambda: set_arrays(csr(), data=np.array(["1", "2", "3"])),
    "CSR: indices None": lambda: set_arrays(csr(), indices=None),
    "CSR: strided": lambda: set_arrays(
        csr(), data=np.ones(6)[::2], indices=np.array([0, 9, 2, 9, 1, 9])[::2]
    ),
    "CSR: negative strides": lambda: set_arrays(
        csr(), data=np.ones(3)[::-1], indices=np.array([1, 2, 0])[::-1]
    ),
    "CSR: byteswapped": lambda: set_arrays(
        csr(),
        data=np.ones(3, ">f4"),
        indices=np.array([0, 2, 1], ">i4"),
        indptr=np.array([0, 2, 2, 3], ">i8"),
    ),
    "CSR: read-only": lambda: read_only(csr()),
    "CSR: indices of uint64": lambda: set_arrays(csr(), indices=np.array([0, 2**64 - 1, 1], "u8")),
    "CSR: data an array that lies": lambda: set_arrays(
        csr(), data=np.ones(3).view(lying(np.ndarray, shape=(10**9,), size=10**9))
    ),
    "CSR: indices an array that lies": lambda: set_arrays(
        csr(), indices=np.array([0, 2, 1]).view(lying(np.ndarray, shape=(10**9,), size=10**9))
    ),
    "CSR: indptr an array that lies": lambda: set_arrays(
        csr(), indptr=np.array([0, 2, 2, 3]).view(lying(np.ndarray, shape=(10**9,), size=10**9))
    ),
    "CSR: says it is longer": lambda: as_lying_matrix(shape=(10**6, 4)),
    "CSR: says it is narrower": lambda: as_lying_matrix(shape=(3, 1)),
    "CSR: says it has no shape": lambda: as_lying_matrix(shape=None),
    "CSR: says its shape is a dictionary": lambda: as_lying_matrix(shape={"a": 3, "b": 4}),
    "CSR: says its shape is an array": lambda: as_lying_matrix(shape=np.array([3, 4])),
    "CSR: says its format is a list": lambda: as_lying_matrix(format=["csr"]),
    "CSR: says it is of integers": lambda: as_lying_matrix(dtype=np.dtype(int)),
    "CSR: says it is of text": lambda: as_lying_matrix(dtype=np.dtype("U3")),
    "CSR: says it has many entries": lambda: as_lying_matrix(nnz=10**9),
    "CSR: says it is COO": lambda: as_lying_matrix(format="coo"),
    "CSR: says it is of no format": lambda: as_lying_matrix(format="xyz"),
    "CSR: says it has one dimension": lambda: as_lying_matrix(ndim=1),
    "CSR: says it is sorted": lambda: as_lying_matrix(
        has_sorted_indices=True, has_canonical_format=True
    ),
    "CSR: longer since": lambda: changed_shape(csr(), (10**6, 4)),
    "CSR: shorter since": lambda: changed_shape(csr(), (1, 4)),
    "CSR: narrower since": lambda: changed_shape(csr(), (3, 1)),
    "CSR: of negative shape since": lambda: changed_shape(csr(), (-3, 4)),
    "CSR: of half a row since": lambda: changed_shape(csr(), (2.5, 4)),
    "CSR: of text as shape since": lambda: changed_shape(csr(), ("3", "4")),
    "CSR: of a dictionary as shape since": lambda: changed_shape(csr(), {"a": 3, "b": 4}),
    "CSR: of a list as shape since": lambda: changed_shape(csr(), [3, 4]),
    "CSR: of an array as shape since": lambda: changed_shape(csr(), np.array([3, 4])),
    "CSR: of an empty list as shape since": lambda: changed_shape(csr(), []),
    "CSR: wider than int64 since": lambda: changed_shape(csr(), (3, 10**30)),
    "CSR: of one dimension since": lambda: changed_shape(csr(), (4,)),
    "CSR: of three dimensions since": lambda: changed_shape(csr(), (3, 4, 1)),
    "CSC: longer since": lambda: changed_shape(csr().tocsc(), (3, 10**6)),
    "COO: of one dimension": lambda: sp.coo_array(np.ones(N_COLUMNS)),
    "COO: more columns than values": lambda: set_arrays(
        csr().tocoo(), coords=(np.array([0, 0, 2]), np.array([0, 2, 1, 3]))
    ),
    "COO: of floats": lambda: set_arrays(
        csr().tocoo(), coords=(np.array([0.0, 0.0, 2.0]), np.array([0.0, 2.5, 1.0]))
    ),
    "COO: twice the same": lambda: sp.coo_array(
        ([1.0, 2.0, -3.0], ([1, 1, 1], [2, 2, 2])), shape=(3, 4)
    ),
    "DIA: offsets of floats": lambda: set_arrays(csr().todia(), offsets=np.array([0.5, 1.5])),
    "BSR": lambda: csr().tobsr(),
    "BSR: of another block": lambda: set_arrays(csr().tobsr(), data=np.ones((3, 10**3, 10**3))),
    "DOK: a key of text": lambda: dok("ab"),
    "DOK: a key of floats": lambda: dok((0.5, 1.5)),
    "DOK: a negative key": lambda: dok((-1, -1)),
    "DOK: three numbers as key": lambda: dok((0, 1, 2)),
    "DOK: None as value": lambda: dok((0, 2), None),
    "DOK: text as value": lambda: dok((0, 2), "1"),
    "LIL: a negative column": lambda: lil([-1], [1.0]),
    "LIL: columns of floats": lambda: lil([0.5], [1.0]),
    "LIL: columns that are text": lambda: lil("ab", [1.0, 2.0]),
    "LIL: values None": lambda: lil([1], None),
    "LIL: text as value": lambda: lil([1], ["a"]),
    "LIL: the same column twice": lambda: lil([1, 1], [1.0, 2.0]),
    "no entries": lambda: sp.csr_array((3, 4)),
    "no rows": lambda: sp.csr_array((0, 4)),
    "zeros": lambda: sp.csr_array(([0.0, -0.0], [1, 2], [0, 1, 1, 2]), shape=(3, 4)),
    "complex values": lambda: csr(complex),
    "values of one byte": lambda: csr(np.int8),
}  # fmt: skip

OBJECTS = {
    **{f"array, {name}": make_object for name, make_object in ARRAYS.items()},
    **{f"matrix, {name}": make_object for name, make_object in MATRICES.items()},
}


# ---- functions -----------------------------------------------------------------------------------


def of_maps():
    for name, variants in MAPS.items():
        parameters = variants[0]
        fitted = make(name, **parameters).fit(ones())
        yield f"{name}.fit", make(name, **parameters).fit
        for method in ("transform", "encode", "sample", "exact_kernel"):
            if hasattr(fitted, method):
                yield f"{name}.{method}", getattr(fitted, method)
        if hasattr(fitted, "encode"):
            yield (
                f"{name}.encode(packed=True)",
                lambda X, fitted=fitted: fitted.encode(X, packed=True),
            )


def of_kernels():
    for name in kernels.__all__:
        function = getattr(kernels, name)
        yield f"{name}(X)", function
        yield f"{name}(Y, X)", lambda X, function=function: function(ones(), X)


def of_codes():
    C = np.arange(24, dtype=np.uint8).reshape(3, 8)
    yield "hamming", lambda X: codes.hamming(X, C)
    yield "collisions", lambda X: codes.collisions(C, X, 8)
    yield "kernel_from_collisions", lambda X: codes.kernel_from_collisions(X, 16, 8)
    pair = [("a", make("MinHash", n_hashes=16)), ("b", make("MinHash", n_hashes=16))]
    joint = make("KernelProduct", maps=pair).fit(ones()).encode(ones(), packed=True)
    counts = np.zeros((3, N_COLUMNS))
    yield "kernel", lambda X: joint.kernel(codes.ProductCounts(X, counts, counts))
    yield "kernel(first)", lambda X: joint.kernel(codes.ProductCounts(counts, X, counts))
    yield "kernel(second)", lambda X: joint.kernel(codes.ProductCounts(counts, counts, X))
    yield "unpack", lambda X: codes.unpack(X, 8)
    yield "to_csr", lambda X: codes.to_csr(X, 8)
    yield "codes.dump", lambda X: codes.dump_svmlight_file(X, np.zeros(3), io.BytesIO(), 8)
    yield "PackedCodes", lambda X: codes.PackedCodes(X, 8, {})
    yield "top_k", lambda X: neighbors.top_k(X, C, 2, bits=8)
    yield "top_k(C, X)", lambda X: neighbors.top_k(C, X, 2, bits=8)
    yield "similar_pairs", lambda X: neighbors.similar_pairs(X, 0.5, bits=8)
    yield "similar_pairs(other)", lambda X: neighbors.similar_pairs(C, 0.5, bits=8, other=X)


def of_neighbors():
    new = neighbors.KernelNeighbors(make("MinHash", n_hashes=16), n_neighbors=1)
    index = neighbors.KernelNeighbors(make("MinHash", n_hashes=16), n_neighbors=1).fit(ones())
    yield "KernelNeighbors.fit", new.fit
    yield "KernelNeighbors.kneighbors", index.kneighbors
    yield "KernelNeighbors.radius_neighbors", lambda X: index.radius_neighbors(X, 0.5)
    yield "KernelNeighbors.remove", lambda X: pickle.loads(pickle.dumps(index)).remove(X)


def of_files():
    def dump(X, y, **options):
        libsvm.dump_svmlight_file(X, y, io.BytesIO(), **options)

    yield "dump(X)", lambda X: dump(X, np.zeros(3))
    yield "dump(y)", lambda X: dump(ones(), X)
    yield "dump(Y)", lambda X: dump(ones(), X, multilabel=True)
    yield "dump(query_id)", lambda X: dump(ones(), np.zeros(3), query_id=X)

    def load(X):
        with contextlib.suppress(OSError):  # of a name that no file has
            libsvm.load_svmlight_file(X)

    yield "load", load


def of_errors():
    sketch = make("CountSketch", n_components=8)
    yield "kernel_error", lambda X: approximation.kernel_error(sketch, X, n_seeds=2)
    yield "min_components", lambda X: approximation.min_components(sketch, 0.5, X=X)


GROUPS = (of_maps, of_kernels, of_codes, of_neighbors, of_files, of_errors)


def functions():
    for group in GROUPS:
        yield from group()


def call(function, X):
    """What is wrong with how a call ended, or None."""
    try:
        function(X)
    except (ValueError, TypeError) as error:
        return None if str(error) else f"{type(error).__name__} without a word"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def damaged_pickles():
    """Fitted maps of which one attribute is missing, as bytes, and their names."""
    for name, variants in MAPS.items():
        fitted = make(name, **variants[0]).fit(ones())
        for owner in (fitted, fitted.draw):
            for missing in list(vars(owner)):
                kept = vars(owner).pop(missing)
                yield f"{name} without {missing}", pickle.dumps(fitted)
                vars(owner)[missing] = kept


def transform_pickled(text):
    with contextlib.suppress(AttributeError):  # which says what is missing
        pickle.loads(text).transform(ones())


def cases(step):
    """Each function that is to be called, the name of the call, and what makes its argument."""
    for number, (name, function) in enumerate(functions()):
        for what, make_object in list(OBJECTS.items())[number % step :: step]:
            yield f"{name}, {what}", function, make_object
    for name, text in list(damaged_pickles())[::step]:
        yield f"pickle, {name}", transform_pickled, lambda text=text: text


def main(step):
    n_calls = 0
    for name, function, make_object in cases(step):
        print(f"\r{name}\033[K", end="", file=sys.stderr, flush=True)
        try:
            X = make_object()
        except (TypeError, ValueError):
            continue  # NumPy or SciPy makes no such object
        wrong = call(function, X)
        if wrong is not None:
            print(f"{name}: {wrong[:200]}", flush=True)
        n_calls += 1
    print(n_calls)


if __name__ == "__main__":
    faulthandler.enable()
    warnings.simplefilter("ignore")
    with np.errstate(all="ignore"):
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
