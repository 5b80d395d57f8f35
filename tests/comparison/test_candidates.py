"""Which candidates suit which rows, and that each is trained as its estimator is."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from sklearn.linear_model import Ridge, RidgeClassifier

import sparsemaps
from sparsemaps.comparison._budget import Budget, Costs, Step
from sparsemaps.comparison._candidates import Preparations, candidates_of, neighbours_of
from sparsemaps.comparison._comparison import Measured
from sparsemaps.comparison._facts import facts_of
from sparsemaps.comparison._halving import prepare
from sparsemaps.comparison._learners import Goal, OnCodes, OnFeatures
from sparsemaps.comparison._measurement import Entry, Measurement, outcome_of
from sparsemaps.comparison._programs import expression

N = 60


def kinds():
    """Rows of each kind."""
    rng = np.random.default_rng(SEED + 59)
    counts = rng.poisson(1.0, (N, 12)).astype(float)
    wide = sp.random(N, 3000, 0.01, format="csr", random_state=rng)
    far = sp.csr_array((wide.data, wide.indices.astype(np.int64) * 10**6, wide.indptr))
    wide_counts = wide.copy()
    wide_counts.data = np.ceil(3 * wide_counts.data)
    return {
        "binary": (rng.random((N, 12)) < 0.4).astype(float),
        "few values": counts / 2,
        "counts": 40 * counts + np.arange(N)[:, None],
        "reals": rng.random((N, 8)),
        "both signs": rng.normal(size=(N, 8)),
        "wide": wide,
        "wide counts": wide_counts,
        "very wide": far,
        "texts": np.array([" ".join("abcde"[k] for k in rng.integers(5, size=9)) for _ in range(N)],
                          object),
    }  # fmt: skip


ROWS = kinds()
EXACT = {"exact laplacian kernel", "exact rbf kernel"}
POSITIVE = {"exact min-max kernel", "exact acos-chi2 kernel", "signs acos-chi2"}
ALWAYS = {"linear model", "binning", "fourier", "signs acos", "tensor-sketch", *EXACT}
FAMILIES = {
    "binary": ALWAYS | POSITIVE | {"minhash", "boosted trees"},
    "few values": ALWAYS | POSITIVE | {"minmax", "boosted trees"},
    "counts": ALWAYS | POSITIVE | {"minmax", "boosted trees"},
    "reals": ALWAYS | POSITIVE | {"minmax", "boosted trees"},
    "both signs": ALWAYS | {"minmax", "boosted trees"},
    "wide": ALWAYS | POSITIVE | {"minmax"},
    "wide counts": ALWAYS | POSITIVE | {"minmax"},
    "very wide": ALWAYS | POSITIVE | {"minmax"},
    "texts": {"linear model", "minhash", "minmax"},
}
LINEAR = {
    "binary": {"unit rows", "variance 1"},
    "few values": {"unit rows", "variance 1", "columns to 1", "one-hot"},
    "counts": {"unit rows", "variance 1", "columns to 1"},
    "reals": {"unit rows", "variance 1", "columns to 1"},
    "both signs": {"unit rows", "variance 1", "columns to 1"},
    "wide": {"unit rows", "columns to 1"},
    "wide counts": {"unit rows", "columns to 1", "tf-idf"},
    "very wide": {"unit rows + hashed columns"},
    "texts": {"hashed n-grams + tf-idf"},
}


def tried(kind, *, is_regression=False, n_rows=None):
    X = ROWS[kind]
    is_text = kind == "texts"
    of = sp.csr_array((N, 1)) if is_text else X
    facts = facts_of(of, is_text=is_text, is_regression=is_regression)
    if n_rows is not None:
        facts = facts._replace(n_rows=n_rows)
    return candidates_of(facts, X)


@pytest.mark.parametrize("kind", ROWS)
def test_candidates_suit_the_rows(kind):
    some = tried(kind)
    assert {one.family for one in some} == FAMILIES[kind]
    linear = {one.preparation for one in some if one.family == "linear model"}
    assert linear == LINEAR[kind]
    assert len({one.name for one in some}) == len(some)
    large = {one.family for one in tried(kind, n_rows=5001)}
    of_few = {family for family in FAMILIES[kind] if family.startswith("exact")}
    if kind.partition(" ")[0] not in ("wide", "very", "texts"):
        of_few.discard("exact rbf kernel")
    assert large == FAMILIES[kind] - of_few


def test_all_facts_have_rows():
    assert ROWS.keys() == FAMILIES.keys() == LINEAR.keys()


def labels(is_regression):
    rng = np.random.default_rng(SEED + 60)
    y = rng.integers(3, size=N)
    return y + rng.random(N) if is_regression else np.array(["a", "b", "c"])[y]


def step_of(candidate):
    """Return a step that has all the time."""
    return Step(Budget(np.inf), Costs(), candidate)


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("is_regression", [False, True])
def test_every_candidate_is_searched_measured_and_written(kind, is_regression):
    """The text of an estimator makes an equal one."""
    rows, y = ROWS[kind], labels(is_regression)
    goal = Goal(is_regression, None)
    preparations = Preparations("word:1" if kind == "texts" else None)

    class Searched:
        order = np.arange(N)

        def parts(self, n):
            return self.order % n

    searched = Searched()
    searched.goal, searched.y, searched.budget = goal, y, None
    searched.preparations = preparations
    measurement = Measurement(searched, None)
    everyone = np.arange(N)
    splits = [(everyone[::2], everyone[1::2])]
    some = tried(kind, is_regression=is_regression)
    is_complete = kind in ("few values", "texts") or (kind == "both signs" and not is_regression)
    for one in some if is_complete else some[::5]:
        strengths = (2.0, 4.0) if one.learner.of_trees else one.learner.strengths[:2]
        Z = prepare(preparations.steps(one.preparation), rows)
        found = one.learner.scores(goal, Z, y, splits, 16, strengths, step_of(one))
        assert np.isfinite(found).all(), one.name
        assert one.learner.row_bytes(Z, 16) > 0
        estimator = measurement.estimator(Entry(one, 16, strengths[0]))
        names = {}
        row = Measured("", "", None, 1, 0, 0, 0, 1, None, None, 0, 0, 0, False, estimator)
        exec(row.program, names)
        assert expression(names["model"], set()) == expression(estimator, set())
        assert len(names["model"].fit(rows, y).predict(rows)) == N, one.name


@pytest.mark.parametrize("value", [(), (1,), (1, "a"), ((1, 2), (0.5,)), [1, (2,)], []])
def test_tuples_and_lists_are_written_as_python_writes_them(value):
    assert expression(value, set()) == repr(value)


@pytest.mark.parametrize("is_regression", [False, True])
def test_one_decomposition_serves_all_strengths(is_regression):
    """The predictions are those of scikit-learn's estimators."""
    rows, y = ROWS["reals"], labels(is_regression)
    learner = OnFeatures(sparsemaps.RandomFourier(n_components=64, random_state=0))
    goal = Goal(is_regression, None)
    Z = learner.map_of(64).fit_transform(rows)
    train, test = np.arange(0, N, 2), np.arange(1, N, 2)
    for C, found in zip(
        (0.1, 1.0, 100.0),
        learner._path(goal, Z, y, train, test, 64, (0.1, 1.0, 100.0), step_of(None)),
        strict=True,
    ):
        model = (Ridge if is_regression else RidgeClassifier)(alpha=1 / C)
        expected = model.fit(Z[train], y[train]).predict(Z[test])
        assert np.allclose(found, expected) if is_regression else (found == expected).all()


def test_codes_take_the_bytes_of_their_size():
    for map, bits in (
        (sparsemaps.ConsistentWeightedSampling(random_state=0), 8),
        (sparsemaps.SignProjection(random_state=0), 1),
    ):
        learner = OnCodes(map, bits)
        assert learner.row_bytes(ROWS["reals"], 64) == 64
        assert learner.components(64, searched=False) == 64 * 8 // bits
        assert learner.components(64, searched=True) <= 128


def test_features_of_many_rows_have_room_for_few_components():
    learner = OnFeatures(sparsemaps.RandomFourier(random_state=0))
    assert learner.has_room(2**15, 1024)
    assert not learner.has_room(2**15 + 1, 1024)
    assert OnCodes(sparsemaps.MinHash()).has_room(2**30, 4096)


def test_neighbours_have_half_and_twice_the_gamma():
    one = next(one for one in tried("reals") if one.family == "binning")
    found = neighbours_of(one)
    assert [other.gamma / one.gamma for other in found] == pytest.approx([0.5, 2], rel=0.05)
    assert {other.family for other in found} == {"binning"}
    assert [other.learner.map.gamma for other in found] == [other.gamma for other in found]
    assert neighbours_of(tried("reals")[0]) == []


@pytest.mark.parametrize("family", ["binning", "fourier", "exact rbf kernel"])
def test_each_preparation_has_its_usual_gamma_before_others(family):
    some = [one for one in tried("reals") if one.family == family]
    names = [one.preparation for one in some]
    n = len(set(names))
    assert n > 1
    assert names == names[:n] * (len(names) // n)


def test_scores_and_errors():
    wrong = np.r_[np.zeros(90), np.ones(10)]
    score, error, n = outcome_of(wrong)
    assert (score, n) == (0.9, 100)
    assert error == pytest.approx(np.sqrt(11 / 102 * 91 / 102 / 100))
    assert outcome_of(np.zeros(100)).error > 0
    y, guess = np.arange(10.0), np.arange(10.0) + 1
    losses, spread = (guess - y) ** 2, float(((y - y.mean()) ** 2).mean())
    assert outcome_of(losses / spread).score == pytest.approx(1 - 10 / ((y - 4.5) ** 2).sum())
