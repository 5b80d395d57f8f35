"""Matrices that another thread changes during a call: the result may be wrong, or an error, but
nothing outside the arrays is read or written."""

import threading
import time

import numpy as np
import programs
import pytest
import scipy.sparse as sp

from sparsemaps import ConsistentWeightedSampling, RandomBinning, RandomFourier, SignProjection

MAPS = [
    ConsistentWeightedSampling(n_hashes=64),
    ConsistentWeightedSampling(n_hashes=64, signed=True, t_bits=2),
    SignProjection(n_hashes=64),
    SignProjection(n_hashes=64, distribution="rademacher"),
    RandomFourier(n_components=64),
    RandomBinning(n_grids=32),
]


def matrix(rng, index_type, width):
    n_rows, length = 600, 60
    indices = np.sort(rng.integers(0, width // length, (n_rows, length)), axis=1)
    indices += np.arange(length) * (width // length)
    X = sp.csr_matrix((n_rows, width))
    X.data, X.indices = rng.random(indices.size), indices.reshape(-1).astype(index_type)
    X.indptr = (np.arange(n_rows + 1) * length).astype(index_type)
    return X


def change(X, rng, stop):
    """Damage a part of the matrix for a moment, again and again."""
    sound, values = X.indices.copy(), X.data.copy()
    largest = np.iinfo(X.indices.dtype).max
    while not stop.is_set():
        part = slice(*np.sort(rng.integers(0, sound.size, 2)))
        X.indices[part] = rng.choice([0, largest, -1, -largest, X.shape[1] - 1])
        X.data[part] = rng.choice([0.0, 1.0, -1.0])
        time.sleep(1e-5)
        X.indices[part], X.data[part] = sound[part], values[part]
        time.sleep(rng.random() * 1e-3)


def call_all(index_type, width, number):
    """Call each map for a while; `number` tells which one is being called."""
    rng = np.random.default_rng(0)
    X = matrix(rng, index_type, width)
    for sparse_map in MAPS:
        sparse_map.fit(X)
    stop = threading.Event()
    thread = threading.Thread(target=change, args=(X, rng, stop), daemon=True)
    thread.start()
    for number.value, sparse_map in enumerate(MAPS):
        done, end = 0, time.monotonic() + 0.2
        # On a busy machine every call of the first moments may find a matrix that is unsound.
        while time.monotonic() < end or (not done and time.monotonic() < end + 60):
            for method in (sparse_map.transform, sparse_map.encode):
                try:
                    method(X)
                    done += 1
                except ValueError:
                    pass
        assert done > 0
    stop.set()
    thread.join()


@pytest.mark.parametrize(("index_type", "width"), [("int32", 600), ("int64", 10**9)])
def test_changes_during_a_call(index_type, width):
    """Columns few enough for a table, and too many."""
    context = programs.context()
    number = context.Value("i", 0)
    process = context.Process(target=call_all, args=(index_type, width, number))
    process.start()
    process.join()
    assert process.exitcode == 0, MAPS[number.value]
