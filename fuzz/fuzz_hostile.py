"""Matrices and arrays whose attributes lie, for every public function: an error, or a result."""

import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import atheris, run

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from _scripts import hostile

FUNCTIONS = list(hostile.functions())
OBJECTS = list(hostile.OBJECTS.values())
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
ATTRIBUTES = ["data", "indices", "indptr", "coords", "offsets", "rows", "_shape", "_dict"]
TYPES = ["f8", "f4", ">f8", "i4", "i8", ">i4", "u8", "u1", "O", "S2", "c16", "bool", "longdouble"]


def array(data):
    """An array of any type, size and stride."""
    n = data.ConsumeIntInRange(0, 8)
    numbers = [data.ConsumeInt(data.ConsumeIntInRange(0, 8)) for _ in range(n)]
    try:
        found = np.array(numbers, object).astype(data.PickValueInList(TYPES))
    except (OverflowError, TypeError, ValueError):
        found = np.array(numbers, float)
    if data.ConsumeBool():
        found = found[:: data.PickValueInList([-1, 2, -2])]
    if data.ConsumeBool():
        found = found.reshape(data.PickValueInList([(-1, 1), (1, -1), (-1, 1, 1)]))
    return found


def anything(data):
    kind = data.ConsumeIntInRange(0, 4)
    if kind == 0:
        return None
    if kind == 1:
        return (data.ConsumeInt(8), data.ConsumeInt(2))
    if kind == 2:
        return array(data).tolist()
    if kind == 3:
        return {(data.ConsumeInt(4), data.ConsumeInt(4)): data.ConsumeFloat()}
    return array(data)


def matrix(data):
    """A sparse matrix of which some attributes were replaced, and others lie."""
    X = hostile.csr().asformat(data.PickValueInList(FORMATS))
    for _ in range(data.ConsumeIntInRange(1, 3)):
        name = data.PickValueInList(ATTRIBUTES)
        if name in vars(X) or hasattr(type(X), name):
            setattr(X, name, anything(data))
    if data.ConsumeBool():
        lies = {data.PickValueInList(["shape", "nnz", "ndim", "format"]): anything(data)}
        X.__class__ = hostile.lying(type(X), **lies)
    return X


def large(shape):
    try:
        return bool(max(shape) >= 10**4)
    except (TypeError, ValueError):
        return False  # it is no shape


def target(data):
    data = atheris.FuzzedDataProvider(data)
    name, function = FUNCTIONS[data.ConsumeIntInRange(0, len(FUNCTIONS) - 1)]
    kind = data.ConsumeIntInRange(0, 2)
    try:
        if kind == 0:
            X = OBJECTS[data.ConsumeIntInRange(0, len(OBJECTS) - 1)]()
        else:
            X = matrix(data) if kind == 1 else array(data)
    except (AttributeError, TypeError, ValueError):
        return  # SciPy makes no such object
    if sp.issparse(X) and (large(X.shape) or large(vars(X).get("_shape"))):
        return  # outputs are as large as the shape that is said
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = hostile.call(function, X)
    assert wrong is None, f"{name}: {wrong}"


if __name__ == "__main__":
    run(target)
