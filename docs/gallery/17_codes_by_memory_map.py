"""
Codes on disk: how long until the first answer?
===============================================

`PackedCodes.save` writes codes and the configuration of their map to a file. `PackedCodes.load`
maps the file into memory without reading it. The operating system loads only the parts that are
used.
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
# The codes take 128 bytes per row. Each row is a set of 40 among a million columns. (The files
# repeat the same 4,000 rows, because the time to open a file does not depend on its content.)

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
# The first answer is the similarity of the first and the last row.


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

figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
ax.loglog(sizes, read, "o-", color="C7", markersize=4, label="read into memory")
ax.loglog(sizes, mapped, "o-", color="C0", markersize=4, label="memory map (default)")
ax.set(xlabel="size of the file, MB", ylabel="ms until the first answer")
ax.set_xticks(sizes, [f"{size:.0f}" for size in sizes])
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# With a memory map, the first answer takes a few milliseconds at most for every file size here.
# Without it, the time grows with the size of the file.
