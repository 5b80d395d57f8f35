"""Fixtures, and the list of maps that the tests over all maps run through."""

import bz2
import gzip
import os
import signal

# Matrices here are small: threads of linear algebra would only wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
import scipy.sparse as sp
from variants import MAPS

import sparsemaps
from sparsemaps.libsvm import dump_svmlight_file
from sparsemaps.maps._sparse_map import SparseMap


def pytest_configure():
    # A shell starts what it runs in the background with interrupts ignored; tests send some.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def make(name, random_state=0, **parameters):
    return getattr(sparsemaps, name)(random_state=random_state, **parameters)


def _maps():
    for name, variants in MAPS.items():
        for parameters in variants:
            # A function by its name: its address is another one in each process of pytest-xdist.
            named = {key: getattr(value, "__name__", value) for key, value in parameters.items()}
            text = ",".join(f"{key}={value}" for key, value in named.items())
            yield pytest.param((name, parameters), id=f"{name}({text})")


@pytest.fixture(params=_maps())
def new_map(request):
    """A function that makes a new map, of each class and variant in turn."""
    name, parameters = request.param
    return lambda **more: make(name, **{**parameters, **more})


@pytest.fixture(params=[(name, variants[0]) for name, variants in MAPS.items()], ids=MAPS)
def first_variant(request):
    """A function that makes a new map, of each class in turn: for what all variants share."""
    name, parameters = request.param
    return lambda **more: make(name, **{**parameters, **more})


def map_classes():
    """The maps that the package exports."""
    exported = (getattr(sparsemaps, name) for name in sparsemaps.__all__)
    return [obj for obj in exported if isinstance(obj, type) and issubclass(obj, SparseMap)]


def random_csr(n_rows=40, n_columns=300, density=0.05, dtype=np.float64, seed=0):
    """Random non-negative rows, some of them empty, in canonical CSR."""
    rng = np.random.default_rng(seed)
    dense = rng.gamma(2.0, size=(n_rows, n_columns)).astype(dtype)
    dense[rng.random((n_rows, n_columns)) > density] = 0
    dense[[0, n_rows // 2, n_rows - 1]] = 0
    return sp.csr_array(dense)


def families(n_rows=600, n_members=40, seed=0):
    """Sets of which many are like another one, to every degree; some are empty."""
    rng = np.random.default_rng(seed)
    rows = []
    for row in range(n_rows):
        if row % 50 == 7:
            rows.append(np.empty(0, int))
        elif row == 0 or rng.random() < 0.3:
            rows.append(rng.choice(5_000, n_members, replace=False))
        else:
            members = rows[rng.integers(max(0, row - 30), row)].copy()
            changed = rng.random(len(members)) < rng.choice([0.0, 0.02, 0.05, 0.1, 0.3])
            members[changed] = rng.choice(5_000, changed.sum())
            rows.append(np.unique(members))
    indptr = np.cumsum([0] + [len(row) for row in rows])
    return sp.csr_array((np.ones(indptr[-1]), np.concatenate(rows), indptr), shape=(n_rows, 5_000))


@pytest.fixture
def X():
    return random_csr()


def write(path, n_rows=60, seed=0):
    """A LIBSVM file of random rows."""
    X = random_csr(n_rows, seed=seed)
    dump_svmlight_file(X, np.arange(n_rows) % 3, str(path), zero_based=False)
    return path


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "in.svm", 40)


@pytest.fixture
def folder(tmp_path):
    """A folder of files with different rows."""
    (tmp_path / "in").mkdir()
    for i in range(7):
        write(tmp_path / "in" / f"p{i}.svm", 10 + i, seed=i)
    return tmp_path / "in"


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """Files with all that a LIBSVM file may have; one is compressed, one has no row."""
    folder = tmp_path_factory.mktemp("inputs")
    write(folder / "a.svm")
    text = write(folder / "b.svm", 40, seed=1).read_bytes()
    odd = b"\n\n# a comment\n  # another\n" + text.replace(b"\n", b"\r\n\n \t\n", 9) + b"1 3:1 7:2"
    (folder / "b.svm").write_bytes(odd)
    (folder / "c.svm.gz").write_bytes(gzip.compress(text))
    (folder / "d.svm").write_bytes(b"")
    (folder / "e.svm.bz2").write_bytes(bz2.compress(text))
    write(folder / "f.svm", 20, seed=2)
    return sorted(map(str, folder.iterdir()))


def arrays_of(output):
    """The arrays that make up a map's output, for comparing bit by bit."""
    if sp.issparse(output):
        return [output.data, output.indices, output.indptr]
    return [output]


def assert_same(one, other):
    """Equal bit for bit, but for the width of sparse index arrays."""
    assert sp.issparse(one) == sp.issparse(other)
    assert one.shape == other.shape
    for a, b in zip(arrays_of(one), arrays_of(other), strict=True):
        np.testing.assert_array_equal(a, b, strict=a.dtype.kind == "f")
