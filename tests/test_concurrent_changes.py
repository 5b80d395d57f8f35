"""Matrices that another thread changes during a call: the result may be wrong, or an error, but
nothing outside the arrays is read or written."""

import subprocess
import sys

import pytest

CHANGING = """
import sys, threading, time
import numpy as np
import scipy.sparse as sp
import sparsemaps

MAPS = [
    sparsemaps.ConsistentWeightedSampling(n_hashes=64),
    sparsemaps.ConsistentWeightedSampling(n_hashes=64, signed=True, t_bits=2),
    sparsemaps.SignProjection(n_hashes=64),
    sparsemaps.SignProjection(n_hashes=64, distribution="rademacher"),
    sparsemaps.RandomFourier(n_components=64),
    sparsemaps.RandomBinning(n_grids=32),
]
index_type, width = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)
n_rows, length = 600, 60
indices = np.sort(rng.integers(0, width // length, (n_rows, length)), axis=1)
indices += np.arange(length) * (width // length)
sound = indices.reshape(-1).astype(index_type)
X = sp.csr_matrix(
    (rng.random(sound.size), sound.copy(), np.arange(n_rows + 1) * length), shape=(n_rows, width)
)
X.indices, X.indptr = X.indices.astype(index_type), X.indptr.astype(index_type)
values = X.data.copy()
for sparse_map in MAPS:
    sparse_map.fit(X)
stop = threading.Event()


def change():
    largest = np.iinfo(index_type).max
    while not stop.is_set():
        part = slice(*np.sort(rng.integers(0, sound.size, 2)))
        X.indices[part] = rng.choice([0, largest, -1, -largest, width - 1])
        X.data[part] = rng.choice([0.0, 1.0, -1.0])
        time.sleep(1e-5)
        X.indices[part], X.data[part] = sound[part], values[part]
        time.sleep(rng.random() * 1e-3)


thread = threading.Thread(target=change, daemon=True)
thread.start()
for sparse_map in MAPS:
    print(sparse_map, flush=True)  # so that a crash tells the map
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
"""


@pytest.mark.parametrize(("index_type", "width"), [("int32", 600), ("int64", 10**9)])
def test_changes_during_a_call(index_type, width):
    """Columns few enough for a table, and too many."""
    run = subprocess.run(
        [sys.executable, "-P", "-c", CHANGING, index_type, str(width)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
