"""Rows of unit length."""

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

N_COLUMNS = 400


def rows(n=40, seed=0):
    """Rows of unit length with values >= 0, close and far ones."""
    rng = np.random.default_rng(seed)
    base = rng.gamma(0.3, size=N_COLUMNS) * (rng.random(N_COLUMNS) < 0.4)
    others = rng.gamma(0.3, size=(n, N_COLUMNS)) * (rng.random((n, N_COLUMNS)) < 0.4)
    weights = np.linspace(0, 1, n)[:, None]
    return sp.csr_array(normalize(weights * base + (1 - weights) * others))
