"""Classes that are trained together, and the threads that train them."""

import numpy as np
import pytest

from sparsemaps import ConsistentWeightedSampling
from sparsemaps._loops import linear as kernel
from sparsemaps.linear import KernelClassifier, _solver


@pytest.mark.parametrize("n_models", [1, 2, 3, 8, 9, 20, 52])
def test_groups_of_models(n_models):
    for n_jobs in (1, 2, 3, 16, 100):
        cuts = _solver._cuts(n_models, n_jobs)
        sizes = np.diff(cuts)
        assert cuts[0] == 0
        assert cuts[-1] == n_models
        full = kernel.most_models()
        assert 1 <= sizes.min() <= sizes.max() <= full
        if n_models > n_jobs * full:  # as few groups as there can be
            assert len(sizes) == -(-n_models // full)
            assert (sizes[1:] == full).all()
        else:  # one for each thread
            assert len(sizes) == min(n_jobs, n_models)
            assert sizes.max() <= sizes.min() + 1


def test_threads_take_turns_and_change_no_bit(monkeypatch):
    """20 classes in turns of a few rows. No more groups are begun than the threads and one."""
    monkeypatch.setattr(_solver, "_TURN_CODES", 2**10)
    rng = np.random.default_rng(0)
    X, y = rng.gamma(0.5, size=(200, 12)), rng.integers(0, 20, 200)
    map = ConsistentWeightedSampling(n_hashes=50, bits=4, random_state=0)
    alive, most = set(), 0

    class Group(_solver._Group):
        def turn(self, *arguments):
            nonlocal most
            alive.add(self)
            most = max(most, len(alive))
            return super().turn(*arguments)

        def solutions(self):
            alive.discard(self)
            return super().solutions()

    monkeypatch.setattr(_solver, "_Group", Group)
    found = []
    for n_jobs in (1, 2, 3, 30):
        most = 0
        model = KernelClassifier(map, random_state=0, n_jobs=n_jobs).fit(X, y)
        found.append((model.coef_, model.intercept_, model.n_iter_))
        assert most <= (n_jobs + 1 if n_jobs > 1 else 1)
    for coef, intercept, n_iter in found[1:]:
        assert (coef == found[0][0]).all()
        assert (intercept == found[0][1]).all()
        assert n_iter == found[0][2]
