"""Pairs of rows on which samples of the min-max kernel are tested, by whichever method."""

import numpy as np
from _oracles import theorems

from _data.chance import SEED
from sparsemaps import ConsistentWeightedSampling

METHODS = [{"method": "icws"}, {"method": "levels", "resolution": 1e6}]
"""Parameters of each way to sample real values."""

CWS = ConsistentWeightedSampling().fit_any_width()


def make_pairs():
    """Pairs of rows (u, v) with kernels from 0.02 to 0.98, of several kinds."""
    rng = np.random.default_rng(SEED)
    pairs = []
    for target in (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98):
        u = rng.gamma(1.0, size=40)
        v = u.copy()
        shared = max(1, round(40 * 2 * target / (1 + target)))
        v[shared:] = 0  # disjoint but for the first columns
        v = np.concatenate([v, rng.gamma(1.0, size=40 - shared)])
        pairs.append((np.concatenate([u, np.zeros(40 - shared)]), v))
        pairs.append((u, u * target))  # one scaled
        wide = rng.lognormal(0, 3.0, size=30)  # weights over orders of magnitude
        pairs.append((wide, wide * rng.uniform(target, 1.0, size=30)))
    pairs.append(((rng.random(50) < 0.6) * 1.0, (rng.random(50) < 0.6) * 1.0))  # binary
    pairs.append((np.array([3.0]), np.array([2.0])))  # one entry
    return pairs


def collisions(sampler, pairs):
    for number, (u, v) in enumerate(pairs):
        samples = [sampler(np.flatnonzero(w), w[w > 0], number) for w in (u, v)]
        exact = CWS.exact_kernel(u[None], v[None]).item()
        yield exact, samples[0], samples[1]


def assert_theorem(sampler, pairs=None):
    """P{(i*, t*) agree} = min-max, exactly."""
    for exact, (i, t), (i2, t2) in collisions(sampler, pairs or make_pairs()):
        theorems.assert_rate((i == i2) & (t == t2), exact)
