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

name, parameters, index_type, width = sys.argv[1], eval(sys.argv[2]), sys.argv[3], int(sys.argv[4])
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
sparse_map = getattr(sparsemaps, name)(**parameters).fit(X)
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


thread = threading.Thread(target=change)
thread.start()
done = 0
end = time.monotonic() + 0.3
while time.monotonic() < end:
    for method in ("transform", "encode"):
        try:
            getattr(sparse_map, method, sparse_map.transform)(X)
            done += 1
        except ValueError:
            pass
stop.set()
thread.join()
assert done > 0
"""

MAPS = [
    ("ConsistentWeightedSampling", "{'n_hashes': 64}"),
    ("ConsistentWeightedSampling", "{'n_hashes': 64, 'signed': True, 't_bits': 2}"),
    ("SignProjection", "{'n_hashes': 64}"),
    ("SignProjection", "{'n_hashes': 64, 'distribution': 'rademacher'}"),
    ("RandomFourier", "{'n_components': 64}"),
    ("RandomBinning", "{'n_grids': 32}"),
]


@pytest.mark.parametrize(("index_type", "width"), [("int32", 600), ("int64", 10**9)])
@pytest.mark.parametrize(("name", "parameters"), MAPS)
def test_changes_during_a_call(name, parameters, index_type, width):
    """Columns few enough for a table, and too many."""
    run = subprocess.run(
        [sys.executable, "-c", CHANGING, name, parameters, index_type, str(width)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
