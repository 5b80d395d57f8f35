"""Classes that are trained together, and the threads that train them."""

import threading

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps import ConsistentWeightedSampling
from sparsemaps._loops import codes as kernel
from sparsemaps.codes import PackedCodes
from sparsemaps.linear import KernelClassifier, _solver


@pytest.mark.parametrize("n_models", [1, 2, 3, 8, 9, 20, 52])
def test_groups_of_models(n_models):
    for n_jobs in (1, 2, 3, 16, 100):
        cuts = _solver.cuts(n_models, n_jobs)
        sizes = np.diff(cuts)
        assert cuts[0] == 0
        assert cuts[-1] == n_models
        full = kernel.most_models
        assert 1 <= sizes.min() <= sizes.max() <= full
        if n_models > n_jobs * full:  # as few groups as there can be
            assert len(sizes) == -(-n_models // full)
            assert (sizes[1:] == full).all()
        else:  # one for each thread
            assert len(sizes) == min(n_jobs, n_models)
            assert sizes.max() <= sizes.min() + 1


class Count:
    """The groups that have begun and are not solved, and the largest number of them."""

    def __init__(self):
        self.groups, self.most = set(), 0

    def begin(self, group):
        self.groups.add(group)
        self.most = max(self.most, len(self.groups))


def counted(monkeypatch, n_together=1):
    """The count of groups from here on. The first `n_together` ones wait for each other."""
    count = Count()
    barrier = threading.Barrier(n_together, timeout=60)

    class Group(_solver._Group):
        def turn(self, *arguments):
            is_new = self not in count.groups
            count.begin(self)
            if is_new and self.numbers[0] < n_together * kernel.most_models:
                barrier.wait()
            return super().turn(*arguments)

        def solutions(self):
            count.groups.discard(self)
            return super().solutions()

    monkeypatch.setattr(_solver, "_Group", Group)
    return count


def rows_and_classes(n_classes):
    rng = np.random.default_rng(SEED)
    return rng.gamma(0.5, size=(200, 12)), rng.integers(0, n_classes, 200)


MAP = ConsistentWeightedSampling(n_hashes=50, bits=4, random_state=0)


def test_threads_take_turns_and_change_no_bit(monkeypatch, set_limits):
    """20 classes in turns of a few rows. A thread has one group, and there are fewer than one more
    for each thread."""
    set_limits(_solver, _TURN_CODES=2**10, _SECONDS=1e-4)
    X, y = rows_and_classes(20)
    count = counted(monkeypatch)
    found = []
    for n_jobs in (1, 2, 3, 30):
        count.most = 0
        model = KernelClassifier(MAP, random_state=0, n_jobs=n_jobs).fit(X, y)
        found.append((model.coef_, model.intercept_, model.n_iter_))
        assert count.most < 2 * n_jobs
    for coef, intercept, n_iter in found[1:]:
        assert (coef == found[0][0]).all()
        assert (intercept == found[0][1]).all()
        assert n_iter == found[0][2]


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_the_last_groups_take_turns(monkeypatch, set_limits, seconds):
    """Of three groups and two threads, the third begins before one of the others is solved."""
    set_limits(_solver, _TURN_CODES=2**10, _SECONDS=seconds)
    count = counted(monkeypatch, n_together=2)
    KernelClassifier(MAP, random_state=0, n_jobs=2).fit(*rows_and_classes(12))
    assert count.most == 3


def test_a_group_that_cannot_be_begun_is_an_error():
    """Of any type, also that by which threads see that another one was faster."""

    def begin(_):
        raise IndexError("of a group")

    with pytest.raises(IndexError, match="of a group"):
        _solver._Turns(begin, [range(2)], 1, 1).work()


def test_solutions_are_yielded_one_group_after_the_other(monkeypatch, set_limits):
    """Groups of 4 classes, the first of fewer, are solved sooner than signals are to be handled."""
    set_limits(_solver, _SECONDS=60.0)
    count = counted(monkeypatch)
    model = KernelClassifier(MAP, random_state=0)
    told = []
    model._watch = lambda n_solved, *_: told.append(n_solved)
    n_classes = len(model.fit(*rows_and_classes(52)).classes_)
    assert count.most == 1
    assert told == list(range(n_classes % 4 or 4, n_classes + 1, 4))


def test_what_a_fit_tells(set_limits):
    set_limits(_solver, _TURN_CODES=2**10, _SECONDS=0.0)
    model = KernelClassifier(MAP, random_state=0, n_jobs=2)
    told = []
    model._watch = lambda *numbers: told.append(numbers)
    model.fit(*rows_and_classes(20))
    n_solved, n_models, n_passes = zip(*told, strict=True)
    assert n_solved[0] == 0
    assert list(n_solved) == sorted(n_solved)
    assert told[-1] == (20, 20, 0)
    assert set(n_models) == {20}
    assert 1 < max(n_passes) <= model.n_iter_


def test_what_a_fit_tells_of_blocks(set_limits, tmp_path):
    X, y = rows_and_classes(3)
    codes = MAP.fit(X).encode(X, packed=True)
    codes.save(tmp_path / "codes")
    set_limits(_solver, BLOCK_BYTES=codes.array.nbytes // 3)
    model = KernelClassifier(MAP, random_state=0, max_iter=2**31 - 1)
    told = []
    model._watch = lambda *numbers: told.append(numbers)
    model.fit(PackedCodes.load(tmp_path / "codes"), y)
    assert told[0] == (0, 3, 0)
    assert {n_models for _, n_models, _ in told} == {3}
    assert sorted({n_passes for *_, n_passes in told}) == list(range(model.n_iter_))
