"""Darts: the same theorem as for ICWS, of other samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.min_max_pairs import assert_theorem, collisions, make_pairs
from _data.rows import random_csr
from _oracles import reference, theorems
from scipy import stats

from sparsemaps import ConsistentWeightedSampling
from sparsemaps._tools import _seeding

N_HASHES = 40_000


def real_map(columns, weights, seed, n_hashes=N_HASHES, width=100):
    X = sp.csr_array((weights, columns, [0, len(columns)]), shape=(1, width))
    cws = ConsistentWeightedSampling(
        n_hashes=n_hashes, method="dart", random_state=SEED + seed
    ).fit(X)
    i, t = cws.sample(X)
    return i[0], t[0]


def test_theorem():
    assert_theorem(real_map)


@pytest.mark.parametrize("factor", [5e-324, 1e-300, 1e-30, 1e-3, 1e5, 1e290])
def test_scaling_a_pair_keeps_its_kernel(factor):
    """Nothing leaves the range of numbers, from the least to nearly the largest."""
    if factor == 5e-324:
        pairs = [(factor * np.array([1.0, 2, 0, 7]), factor * np.array([3.0, 2, 2, 4]))]
    else:
        pairs = [(factor * u, factor * v) for u, v in make_pairs()[:6]]
    for exact, (i, t), (i2, t2) in collisions(real_map, pairs):
        theorems.assert_rate((i == i2) & (t == t2), exact)


def test_few_samples_of_many_entries_and_many_of_few():
    """Whatever the share of darts that a row's entries have; over seeds, and independent: the
    number of samples that agree has the binomial variance."""
    rng = np.random.default_rng(SEED)
    for n_entries, n_hashes in ((400, 4), (3, 30), (40, 1)):
        u, v = rng.gamma(1.0, size=(2, n_entries))
        exact = reference.min_max(u, v)
        rates = []
        for seed in range(600):
            (i, t), (i2, t2) = (
                real_map(np.arange(n_entries), w, seed, n_hashes, n_entries) for w in (u, v)
            )
            rates.append(((i == i2) & (t == t2)).mean())
        theorems.assert_mean(rates, exact)
        theorems.assert_variance(rates, exact * (1 - exact) / n_hashes)


def test_i_is_drawn_by_weight():
    weights = np.arange(1.0, 21)
    i, _ = real_map(np.arange(20), weights, 5)
    expected = N_HASHES * weights / weights.sum()
    assert stats.chisquare(np.bincount(i, minlength=20), expected).pvalue > theorems.KS_LEVEL
    table = np.zeros((20, 20))
    np.add.at(table, (i[:-1], i[1:]), 1)  # neighbours are independent
    assert stats.chi2_contingency(table).pvalue > theorems.KS_LEVEL


# ---- plain darts, and wrong ones -----------------------------------------------------------------


def plain(change=lambda rng, column, at, rank, bucket: (column, at, rank, bucket)):
    """Darts by NumPy, as the definition has them; `change` may spoil them."""

    def sampler(columns, weights, seed):
        rng = np.random.default_rng(SEED + seed)
        n = rng.poisson(100 * HIGHEST * LIMIT)
        darts = (
            rng.integers(0, 100, n), HIGHEST * rng.random(n), rng.random(n),
            rng.integers(0, N_PLAIN, n),
        )  # fmt: skip
        column, at, rank, bucket = change(rng, *darts)
        full = np.zeros(100)
        full[columns] = weights
        below = np.flatnonzero(at < full[column])
        below = below[np.argsort(rank[below], kind="stable")]
        buckets, first = np.unique(bucket[below], return_index=True)
        if len(buckets) < N_PLAIN or max(weights) > HIGHEST:
            raise RuntimeError("not enough darts, which says nothing about the map")
        chosen = below[first]
        return column[chosen], chosen

    return sampler


N_PLAIN = 1000
LIMIT = 2_500
HIGHEST = 16.0


def plain_pairs():
    rng = np.random.default_rng(SEED + 1)
    u = rng.gamma(2.0, size=30)
    return [(u, u * rng.uniform(0.3, 1, size=30)), (u, rng.gamma(2.0, size=30)), (u, u / 4)]


def assert_plain(sampler):
    for exact, (i, t), (i2, t2) in collisions(sampler, plain_pairs()):
        theorems.assert_rate((i == i2) & (t == t2), exact)


WRONG = {
    "weights squared": lambda rng, c, at, r, b: (c, np.sqrt(HIGHEST * at), r, b),
    "weights ignored": lambda rng, c, at, r, b: (c, 0 * at, r, b),
    "one bucket's darts for all": lambda rng, c, at, r, b: (
        np.tile(c[b == 0], N_PLAIN), np.tile(at[b == 0], N_PLAIN), np.tile(r[b == 0], N_PLAIN),
        np.repeat(np.arange(N_PLAIN), (b == 0).sum()),
    ),
    "ranks by the weight": lambda rng, c, at, r, b: (c, at, at + 1e-6 * r, b),
}  # fmt: skip


def test_plain_darts_pass():
    assert_plain(plain())


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG.keys())
def test_wrong_darts_are_rejected(change):
    with pytest.raises(AssertionError):
        assert_plain(plain(change))


# ---- what the outputs have in common -------------------------------------------------------------


def test_binary_rows_have_jaccard_similarity():
    rng = np.random.default_rng(SEED + 2)
    u, v = (rng.random((2, 300)) < 0.4).astype(float)
    columns = np.arange(300)
    (i, _), (i2, _) = (real_map(columns[w > 0], w[w > 0], 1, width=300) for w in (u, v))
    theorems.assert_rate(i == i2, (u * v).sum() / np.maximum(u, v).sum())


def test_one_entry_is_every_sample():
    i, t = real_map(np.array([7]), np.array([0.3]), 0)
    assert (i == 7).all()
    assert len(np.unique(t)) > N_HASHES // 2  # each by a dart of its own


def test_outputs_follow_from_the_samples():
    X = random_csr()
    cws = ConsistentWeightedSampling(
        n_hashes=30, bits=3, t_bits=2, method="dart", random_state=SEED
    ).fit(X)
    i, t = cws.sample(X)
    Z = cws.transform(X)
    filled = np.diff(X.indptr) > 0
    assert (np.diff(Z.indptr) == np.where(filled, 30, 0)).all()
    assert (i[~filled] == -1).all()
    key = _seeding.keys(SEED, "weighted_sampling", 2, "dart")[1]
    codes = reference.sample_codes(key, i[filled], t[filled], 3, 2)
    np.testing.assert_array_equal(Z.indices.reshape(-1, 30), codes + 32 * np.arange(30))
    for row in np.flatnonzero(filled):
        stored = X.indices[X.indptr[row] : X.indptr[row + 1]]
        assert np.isin(i[row], stored).all()


def test_methods_differ():
    X = random_csr()
    one, other = (
        ConsistentWeightedSampling(method=method, random_state=SEED).fit(X).sample(X)[0]
        for method in ("icws", "dart")
    )
    assert (one != other).any()


def test_extreme_weights_have_samples():
    X = np.array([[5e-324, 0, 0], [1.7e308, 0, 0], [5e-324, 1.0, 1.7e308], [1.7e308] * 3])
    cws = ConsistentWeightedSampling(n_hashes=2000, method="dart", random_state=SEED).fit(X)
    i, _ = cws.sample(X)
    assert (i[:2] == 0).all()
    assert (i[2] == 2).all()
    assert (np.bincount(i[3]) > 500).all()


def test_t_tells_darts_apart():
    """A dart lies in one bucket only. Its t has its number and its part, below the weight."""
    for weight, part in ((1.0, -1), (1.1, 0), (3.9, 0), (4.1, 1), (0.3, -1), (0.24, -2)):
        cws = ConsistentWeightedSampling(n_hashes=256, method="dart", random_state=SEED)
        _, t = cws.fit([[weight]]).sample([[weight]])
        numbers, parts = np.divmod(t[0], 2048)
        assert len(np.unique(t)) == 256
        assert numbers.min() >= 0
        assert parts.max() - 1024 == part
