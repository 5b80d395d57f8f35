"""Laws of codes: from numbers of codes that agree to kernels, with no map and no codes."""

import json

import numpy as np
import pytest
from _data.chance import SEED
from _oracles import theorems

from sparsemaps.codes import ByChance, ByProduct, BySigns, ProductCounts
from sparsemaps.laws._agreement import law_described_by

PRODUCT = ByProduct((ByChance(8), ByChance(1, 0.25)))
LAWS = [
    ByChance(1, 0.0),
    ByChance(24),
    BySigns("rbf"),
    BySigns("laplacian"),
    BySigns(None),
    PRODUCT,
    ByProduct((ByChance(1, 0.0),) * 3),
]
KERNELS = np.array([0.0, 0.05, 0.5, 0.9, 1.0])


@pytest.mark.parametrize("chance", [0.0, 2.0**-8, 0.5])
def test_agreements_by_chance_are_taken_off(chance):
    """Samples of two rows agree with probability K; of others, codes agree by chance."""
    draw = np.random.default_rng(SEED)
    same = draw.random((2000, 1, 64)) < KERNELS[:, None]
    counts = (same | (draw.random(same.shape) < chance)).sum(axis=2)
    found, std = ByChance(4, chance).estimate(counts, 64)
    theorems.assert_mean(found, KERNELS)
    assert (std > 0).all()
    rates = ByChance(4, chance).least_rate(KERNELS)
    np.testing.assert_allclose(ByChance(4, chance).estimate(1000 * rates, 1000)[0], KERNELS)
    if chance:
        with pytest.raises(AssertionError):
            theorems.assert_mean(ByChance(4, 0.0).estimate(counts, 64)[0], KERNELS)


@pytest.mark.parametrize(
    ("law", "least"),
    [(ByChance(2), 0.25), (BySigns("rbf"), 0.5), (BySigns("laplacian"), 0.5), (PRODUCT, 0.0)],
    ids=str,
)
def test_kernels_beyond_their_range_have_the_rates_of_its_ends(law, least):
    within, beyond = law.least_rate([0.0, 1.0]), law.least_rate([-0.5, 1.5])
    np.testing.assert_array_equal(beyond, within)
    np.testing.assert_allclose(within, [least, 1], rtol=1e-9, atol=1e-12)


def rate_of_signs(draw, kernel, value, n):
    """The share of signs of cos(w x + b) that agree for two rows of this kernel value."""
    phases = 2 * np.pi * draw.random(n)
    if kernel == "rbf":
        angles = np.sqrt(-2 * np.log(value)) * draw.standard_normal(n)
    else:
        angles = -np.log(value) * draw.standard_cauchy(n)
    return (np.cos(phases) >= 0) == (np.cos(phases + angles) >= 0)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_signs_agree_at_the_rate_of_their_kernel(kernel):
    draw = np.random.default_rng(SEED)
    law = BySigns(kernel)
    for value in (0.1, 0.5, 0.9):
        agree = rate_of_signs(draw, kernel, value, 10**5)
        rate = law.least_rate(value)
        theorems.assert_rate(agree, float(rate))
        np.testing.assert_allclose(law.estimate(1e6 * rate, 10**6)[0], value, rtol=1e-6)
        with pytest.raises(AssertionError):
            theorems.assert_rate(agree, float(law.least_rate(value + 0.05)))


@pytest.mark.parametrize(("p", "q"), [(0.25, 0.5), (2.0**-8, 0.0), (0.0, 0.125)])
def test_products_are_exact_where_counts_are_their_means(p, q):
    """The estimate is linear in the counts, so that it is unbiased."""
    one, other = np.meshgrid(KERNELS, KERNELS)
    first, second = one + (1 - one) * p, other + (1 - other) * q
    law = ByProduct((ByChance(2, p), ByChance(1, q)))
    assert law.needs_parts
    assert (law.bits, law.chance) == (3, p * q)
    counts = ProductCounts(64 * first * second, 64 * first, 64 * second)
    np.testing.assert_allclose(law.estimate(counts, 64)[0], one * other, atol=1e-12)
    # No split of joint agreements has a higher estimate than that of `highest`.
    n = 16
    for both in range(n + 1):
        splits = [
            ProductCounts(both, both + more, both + others)
            for more in range(n - both + 1)
            for others in range(n - both - more + 1)
        ]
        estimates = law.estimate(ProductCounts(*np.transpose(splits)), n)[0]
        assert estimates.max() == pytest.approx(law.highest([both], n)[0], abs=1e-12)


def test_products_that_never_agree_by_chance_need_no_parts():
    law = ByProduct((ByChance(1, 0.0), ByChance(3, 0.0)))
    assert not law.needs_parts
    for counts in ([3, 8], ProductCounts([3, 8], [8, 8], [4, 8])):
        np.testing.assert_array_equal(law.estimate(counts, 8)[0], [3 / 8, 1])


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_law_is_a_value_that_its_description_gives_again(law):
    again = law_described_by(json.loads(json.dumps(law.described())))
    assert again == law
    assert hash(again) == hash(law)
    assert [law == other for other in LAWS].count(True) == 1
    with pytest.raises(AttributeError):
        law.name = "another"
    with pytest.raises(AttributeError):
        law.parts = ()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: ByChance(25), "bits must be from 1 to 24, got 25"),
        (lambda: ByChance(8, 1), "chance must be at least 0 and below 1, got 1"),
        (lambda: ByChance(8, -0.5), "chance must be a finite number of at least 0"),
        (lambda: BySigns("matern"), "kernel must be 'rbf' or 'laplacian', got 'matern'"),
        (lambda: ByProduct([ByChance(8)]), "parts must be at least two laws by chance"),
        (lambda: ByProduct((ByChance(8), BySigns("rbf"))), "parts must be at least two laws"),
        (lambda: ByProduct((ByChance(20), ByChance(20))), "bits of parts must be from 2 to 24"),
        (lambda: BySigns(None).estimate([1], 2), "these codes have no estimate"),
        (lambda: BySigns(None).least_rate(0.5), "these codes have no estimate"),
        (lambda: PRODUCT.estimate([1], 2), r"give agreements\(A, B\)"),
        (lambda: law_described_by([]), "law must be a dictionary"),
        (lambda: law_described_by({"name": "x"}), "law must have one of the names"),
        (lambda: law_described_by({"name": "by chance", "bits": 3}), "must have .'bits', 'chance'"),
        (lambda: law_described_by({"name": "by chance", "bits": 3, "chance": None}), "must have"),
        (lambda: law_described_by({"name": "by a product", "parts": [3]}), "must be dictionaries"),
    ],
)
def test_what_is_no_law(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
