"""Rows that are close to one another."""

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from _data.chance import SEED

N_COLUMNS = 400


def rows(n=40, seed=0):
    """Rows of unit length with values >= 0, close and far ones."""
    rng = np.random.default_rng(SEED + seed)
    base = rng.gamma(0.3, size=N_COLUMNS) * (rng.random(N_COLUMNS) < 0.4)
    others = rng.gamma(0.3, size=(n, N_COLUMNS)) * (rng.random((n, N_COLUMNS)) < 0.4)
    weights = np.linspace(0, 1, n)[:, None]
    return sp.csr_array(normalize(weights * base + (1 - weights) * others))


def close_pairs():
    """Two rows each: a large part in common, differences of any size, columns of one row only."""
    rng = np.random.default_rng(SEED)
    for common in (0.0, 1.0, 1e8, 1e15, -1e150, 1e-160):
        for difference in (1.0, 1e-3, 1e-9, 1e-20, 1e-170, 5e-324, 0.0):
            for length in (1, 3, 200):
                columns = np.sort(rng.choice(2 * length, length, replace=False))
                x, y = np.zeros((2, 2 * length + 2))
                x[columns] = common * (1 + rng.random(length))
                y[columns] = x[columns] + difference * rng.choice([-1, 0, 1], length)
                x[-1], y[-2] = rng.choice([0, difference], 2)
                yield x, y
