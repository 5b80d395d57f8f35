"""
Codes on disk: how soon is the first answer?
============================================

`PackedCodes.save` writes codes and their map to a file. `PackedCodes.load` opens it by memory map,
without reading it: the system brings in only the parts that are looked at.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from sparsemaps import MinHash
from sparsemaps.codes import PackedCodes, collisions

# %%
# Codes of 128 bytes, of sets of 40 among a million columns, in files of several sizes. (The same
# 4,000 rows again and again: how long a file takes to open does not depend on what it holds.)

columns = np.random.default_rng(0).integers(0, 10**6, (4000, 40))
X = sp.csr_array((np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, 40)))
codes = MinHash(n_hashes=128, random_state=0).fit(X).encode(X, packed=True)
repeats = [4, 16, 64, 256]
directory = tempfile.TemporaryDirectory()
paths = []
for times in repeats:
    path = Path(directory.name) / f"{times}.npy"
    PackedCodes.concatenate([codes] * times).save(path)
    paths.append(path)

# %%
# The first answer is the similarity of the first row and the last one.


def milliseconds(path, mmap_mode):
    """The least time of five from the file's name to the answer."""
    found = []
    for _ in range(5):
        start = time.perf_counter()
        opened = PackedCodes.load(path, mmap_mode=mmap_mode)
        similarity = opened.kernel(collisions(opened[:1], opened[-1:]))
        found.append(time.perf_counter() - start)
    assert similarity.shape == (1, 1)
    return 1e3 * min(found)


sizes = [path.stat().st_size / 2**20 for path in paths]
mapped = [milliseconds(path, "r") for path in paths]
read = [milliseconds(path, None) for path in paths]
directory.cleanup()

# %%

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.loglog(sizes, read, "o-", color="C7", markersize=4, label="read into memory")
ax.loglog(sizes, mapped, "o-", color="C0", markersize=4, label="by memory map, the default")
ax.set(xlabel="size of the file, MB", ylabel="ms until the first answer")
ax.set_xticks(sizes, [f"{size:.0f}" for size in sizes])
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# By memory map a file of any size here answers within some milliseconds; reading a file takes a
# time that grows with its size.
