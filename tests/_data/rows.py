"""Random rows of CSR."""

import numpy as np
import scipy.sparse as sp

from _data.chance import SEED


def random_csr(n_rows=40, n_columns=300, density=0.05, dtype=np.float64, seed=0):
    """Random non-negative rows, some of them empty, in canonical CSR."""
    rng = np.random.default_rng(SEED + seed)
    dense = rng.gamma(2.0, size=(n_rows, n_columns)).astype(dtype)
    dense[rng.random((n_rows, n_columns)) > density] = 0
    dense[[0, n_rows // 2, n_rows - 1]] = 0
    return sp.csr_array(dense)


def families(n_rows=600, n_members=40, seed=0):
    """Sets of which many are like another one, to every degree; some are empty."""
    rng = np.random.default_rng(SEED + seed)
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
