"""Probabilities: their logarithms, the least log loss, and how often they come true."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
import scipy.special
from _data.chance import SEED
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from threadpoolctl import threadpool_limits

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier, KernelRegressor, _calibration
from sparsemaps.text import HashingVectorizer

MAP = ConsistentWeightedSampling(n_hashes=128, random_state=SEED)


def data(load):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(y))
    return X[order], y[order]


def classifier(**parameters):
    return KernelClassifier(MAP, random_state=SEED, **parameters)


# ---- extremes ------------------------------------------------------------------------------------

EXTREMES = [0.0, 1e-300, -1e-9, 0.7, -3.0, 36.0, -40.0, 800.0, -1e5, 1e300, -1e300]


def log_of_sum(numbers):
    """log(sum(exp(numbers))) by arithmetic of many digits."""
    best = max(numbers)
    return best + sum((n - best).exp() for n in numbers if n - best > -2000).ln()


def exact_logs(scores, calibration):
    """The logarithms of the probabilities of a row, by arithmetic of many digits."""
    with localcontext(prec=400, Emin=-(10**6), Emax=10**6):
        logits = [Decimal(score) for score in scores]
        if len(scores) == 1:
            logits = [-logits[0] / 2, logits[0] / 2]
        elif calibration is None:
            logits = [-log_of_sum([Decimal(0), -logit]) for logit in logits]
        if calibration is not None:
            slope, bend = map(Decimal, (calibration.slope, calibration.bend))
            offsets = map(Decimal, calibration.offsets.tolist())
            logits = [
                s * slope + s * abs(s) * bend**2 + b for s, b in zip(logits, offsets, strict=True)
            ]
        total = log_of_sum(logits)
        return [float(logit - total) for logit in logits]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(
    ("slope", "bend"), [(None, None), (0.0, 0.0), (1.0, 0.0), (30.0, 0.0), (0.0, 2.0), (0.5, 1e-3)]
)
def test_logarithms_have_all_digits(slope, bend, n_classes):
    """They are finite for scores of any size, and right to the last digits for shares near 1, of
    scores up to 1e300, or 1e150 where they are squared."""
    rng = np.random.default_rng(SEED)
    columns = 1 if n_classes == 2 else n_classes
    scores = rng.choice(EXTREMES, size=(60, columns))
    offsets = rng.normal(size=n_classes)
    calibration = None if slope is None else _calibration.Calibration(slope, bend, offsets)
    if bend:
        largest = _calibration.logits_of(1.7e8 * scores, calibration)
        assert np.isfinite(_calibration.log_softmax(largest)).all()
        scores = np.clip(scores, -1e150, 1e150)
    logits = _calibration.logits_of(scores, calibration)
    logs, shares = _calibration.log_softmax(logits), _calibration.softmax(logits)
    assert np.isfinite(logs).all()
    expected = np.array([exact_logs(row, calibration) for row in scores.tolist()])
    # A logit has an error of a unit in its last place. So has a difference of two, of the larger,
    # and the logarithm of a share near 1 is a sum of exponentials of these.
    unit = 2.0**-52 * (4 + np.abs(np.where(np.abs(logits) > 1e290, 0, logits)).max(axis=1))
    far = np.abs(expected) > 1e290
    close = np.abs(logs - expected) <= 4 * unit[:, None] * np.maximum(
        np.abs(expected), np.where(far | (np.abs(expected) < 0.1), 0, 1)
    )
    assert close.all(), (scores[~close.all(axis=1)][:1], logs[~close][:3], expected[~close][:3])
    assert (np.abs(shares - np.exp(expected)) <= 4 * unit[:, None]).all()
    assert (np.abs(shares.sum(axis=1) - 1) <= 2.0**-52 * n_classes).all()


def test_probabilities_of_the_logistic_loss():
    X, y = data(load_digits)
    for classes in (2, 10):
        some = y < classes
        model = classifier(loss="log_loss").fit(X[some], y[some])
        scores = model.decision_function(X[some])
        shares = scipy.special.expit(scores if classes > 2 else np.stack([-scores, scores], axis=1))
        expected = shares / shares.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X[some]), expected, rtol=1e-12)
        np.testing.assert_allclose(model.predict_log_proba(X[some]), np.log(expected), rtol=1e-9)


# ---- the least log loss --------------------------------------------------------------------------


def objective(variables, scores, y, classes, weights):
    """What a calibration minimises, from its definition."""
    slope, bend, offsets = variables[0], variables[1], variables[2:]
    if scores.ndim == 1:
        scores = np.stack([-scores / 2, scores / 2], axis=1)
    logits = slope * scores + bend**2 * scores * abs(scores) + offsets
    logs = scipy.special.log_softmax(logits, axis=1)
    value = 1e-3 * offsets @ offsets
    for number, label in enumerate(classes):
        of_class = y == label
        n = weights[of_class].sum()
        prior = 2 / len(classes)  # two rows in all, as Platt has it for two classes
        own = (n + prior) / (n + 2 * prior)
        targets = np.full(len(classes), (1 - own) / (len(classes) - 1))
        targets[number] = own
        value -= weights[of_class] @ (logs[of_class] @ targets)
    return value


def fitted(n_classes, factor=1.0, seed=0, n_rows=300):
    """A model with scores of a known size, rows, labels and weights."""
    X, y = data(load_digits)
    some = y < n_classes
    X, y = X[some], y[some]
    model = classifier(C=0.01).fit(X[:100], y[:100])
    model._weights = model._weights * factor
    model.intercept_ = model.intercept_ * factor
    weights = np.random.default_rng(SEED + seed).integers(0, 3, n_rows).astype(float)
    return model, X[100 : 100 + n_rows], y[100 : 100 + n_rows], weights


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_minimum_of_its_objective(n_classes, weighted):
    """Found by another solver, from the definition, without derivatives of ours."""
    n_rows = 150 if n_classes == 2 else 200
    model, X, y, weights = fitted(n_classes, n_rows=n_rows)
    weights = weights if weighted else np.ones(len(y))
    model.calibrate(X, y, sample_weight=weights if weighted else None)
    arguments = model.decision_function(X), y, model.classes_, weights
    compare_with_another_solver(model.calibration_, *arguments)
    assert model.calibration_.slope + model.calibration_.bend > 0


def compare_with_another_solver(calibration, scores, y, classes, weights):
    arguments = scores, y, classes, weights
    ours, n_classes = objective(np.hstack(calibration), *arguments), len(classes)
    best = scipy.optimize.minimize(
        objective, np.append([5.0, 1.0], np.zeros(n_classes)), arguments, method="SLSQP",
        bounds=[(0, None)] * 2 + [(None, None)] * n_classes,
        options={"ftol": 1e-12, "maxiter": 2000},
    )  # fmt: skip
    assert ours <= best.fun + 1e-9 * abs(best.fun)
    assert calibration.offsets.mean() == pytest.approx(0, abs=1e-9)
    # Parameters may hardly matter, so their probabilities are compared.
    columns = scores.reshape(len(y), -1)[weights > 0]
    other = _calibration.Calibration(*best.x[:2], best.x[2:])
    found, expected = (
        _calibration.softmax(_calibration.logits_of(columns, one)) for one in (calibration, other)
    )
    np.testing.assert_allclose(found, expected, atol=2e-2)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("slope", "bend"), [(2.0, 0.0), (0.0, 1.5), (1.0, 1.0), (0.0, 0.0)])
def test_slope_and_bend_are_those_of_the_labels(slope, bend, n_classes):
    """Labels are drawn by probabilities of a known calibration. The one that is found is the
    minimum of its objective, which is below that of the known one by as much as the parameters
    explain: twice that has a mean of their number, and a variance of twice their number."""
    rng = np.random.default_rng(SEED)
    n_rows, truth = 1000, np.append([slope, bend], 0.5 * rng.normal(size=n_classes))
    scores = 1.5 * rng.normal(size=(n_rows, 1 if n_classes == 2 else n_classes)) - 0.5
    known = _calibration.Calibration(slope, bend, truth[2:])
    shares = _calibration.softmax(_calibration.logits_of(scores, known))
    y = (rng.random((n_rows, 1)) > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = _calibration.fit(scores, y, None)
    scores = scores[:, 0] if n_classes == 2 else scores
    arguments = scores, y, range(n_classes), np.ones(n_rows)
    compare_with_another_solver(found, *arguments)
    gained = objective(truth, *arguments) - objective(np.hstack(found), *arguments)
    n_parameters = n_classes + 1
    assert 0 <= 2 * gained < n_parameters + 5 * np.sqrt(2 * n_parameters)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_weights_count_rows(n_classes):
    """In any order, and a row of weight 0 is as if absent. Both problems have one objective, whose
    values at both solutions agree; it is strictly convex, so that the solutions do."""
    model, X, y, weights = fitted(n_classes, n_rows=140)
    scores = model.decision_function(X)
    of_weights = model.calibrate(X, y, sample_weight=weights).calibration_
    rows = np.random.default_rng(SEED + 1).permutation(
        np.repeat(np.arange(len(y)), weights.astype(int))
    )
    of_rows = model.calibrate(X[rows], y[rows]).calibration_
    one, other = (
        objective(np.hstack(found), scores, y, model.classes_, weights)
        for found in (of_weights, of_rows)
    )
    assert one == pytest.approx(other, rel=1e-10)
    np.testing.assert_allclose(of_weights.slope, of_rows.slope, rtol=1e-4)
    np.testing.assert_allclose(of_weights.offsets, of_rows.offsets, atol=1e-3)


def test_no_digit_depends_on_the_threads_of_blas():
    """BLAS adds up more than 10,000 products by several threads."""
    rng = np.random.default_rng(SEED)
    scores, labels = rng.normal(size=(15_000, 3)), rng.integers(0, 3, 15_000)
    weights = rng.random(15_000)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(np.hstack(_calibration.fit(scores, labels, weights)).tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("factor", [1e-250, 1e-9, 1e9, 1e290])
def test_scores_of_any_size(factor):
    """The slope is divided by the factor, and probabilities stay."""
    expected = None
    for size in (1.0, factor):
        model, X, y, _ = fitted(3, size)
        found = model.calibrate(X, y).predict_log_proba(X)
        expected = found if expected is None else expected
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    assert np.isfinite(model.calibration_.slope)


def test_scores_that_say_nothing_or_the_contrary():
    model, X, y, _ = fitted(2)
    model._weights = -model._weights
    model.intercept_ = -model.intercept_
    model.calibrate(X, y)
    assert model.calibration_.slope == 0
    np.testing.assert_allclose(model.predict_proba(X)[:, 1].mean(), y.mean(), atol=0.01)
    model._weights = 0 * model._weights
    model.intercept_ = np.zeros(1)
    assert np.isfinite(model.calibrate(X, y).predict_log_proba(X)).all()


def test_a_class_without_rows():
    """Its probability is small, and not 0."""
    model, X, y, _ = fitted(4)
    some = y != 2
    model.calibrate(X[some], y[some])
    shares = model.predict_proba(X[some])
    assert shares[:, 2].min() > 0
    assert shares[:, 2].mean() < 0.02


def kinds_of_labels(rng, n):
    """Scores of size 1, what they are multiplied by, and the labels of several problems."""
    normal = rng.normal(size=n)
    likely = rng.random(n) < scipy.special.expit(2 * normal + 0.5)
    outlier = np.where(np.arange(n) == 3, 1.0, 1e-6 * normal)
    return {
        "as they are": (normal, 1.0, likely),
        "tiny": (normal, 1e-250, likely),
        "huge": (normal, 1e290, likely),
        "separate": (normal, 1.0, normal > 0.2),
        "contrary": (normal, 1.0, normal < 0.2),
        "bent": (normal, 1.0, rng.random(n) < scipy.special.expit(4 * normal * abs(normal))),
        "equal": (np.full(n, 3.0), 1.0, likely),
        "zeros": (np.zeros(n), 1.0, likely),
        "of one size": (np.sign(normal), 1.0, likely),
        "an outlier": (outlier, 1.0, likely),
        "of all rows": (normal, 1.0, np.ones(n, bool)),
        "of no row": (normal, 1.0, np.zeros(n, bool)),
        "of one row": (normal, 1.0, np.arange(n) == 7),
    }


@pytest.mark.parametrize("weights", [None, [0, 1, 2], [1e-3, 1, 1e5]])
def test_labels_of_every_kind(weights, monkeypatch):
    """Each is the minimum of its objective, and has the same bits whatever is solved with it."""
    rng = np.random.default_rng(SEED)
    n = 60
    kinds = kinds_of_labels(rng, n)
    weights = None if weights is None else rng.choice(weights, n).astype(float)
    scores = np.stack([size * one for one, size, _ in kinds.values()], axis=1)
    labels = sp.csc_array(np.stack([own for *_, own in kinds.values()], axis=1).astype(np.int8))
    together = _calibration.fit_labels(scores, labels, weights)
    monkeypatch.setattr(_calibration, "_TOGETHER", 2 * n)
    by_twos = _calibration.fit_labels(scores, labels, weights)
    counts = np.ones(n) if weights is None else weights
    for number, (kind, (one, size, own)) in enumerate(kinds.items()):
        slope, bend, offset = (of[number] for of in together)
        assert (slope, bend, offset) == tuple(of[number] for of in by_twos), kind
        assert slope == abs(slope)
        assert bend == abs(bend)
        # Of two classes, half of the score is for and against each.
        found = np.array([size * slope, 2**0.5 * size * bend, -offset / 2, offset / 2])
        assert_least(found, one, own.astype(int), counts)


def assert_least(found, scores, y, weights):
    """No other solver finds a better calibration of two classes."""
    arguments = scores, y, (0, 1), weights
    best = scipy.optimize.minimize(
        objective, np.array([3.0, 1.0, 0.0, 0.0]), arguments, method="SLSQP",
        bounds=[(0, None)] * 2 + [(None, None)] * 2, options={"ftol": 1e-12, "maxiter": 2000},
    )  # fmt: skip
    assert objective(found, *arguments) <= best.fun * (1 + 1e-9)


def test_a_step_that_goes_too_far():
    """Newton's method alone ends at twice the least log loss of these."""
    scores, y, weights = np.array([-1.6, -0.02, 0.4]), np.array([0, 0, 1]), np.array([1e2, 1e5, 1])
    found = _calibration.fit(scores[:, None], y, weights)
    assert_least(np.hstack(found), scores, y, weights)


# ---- how often they come true --------------------------------------------------------------------


def calibration_error(shares, y, classes, n_bins=15):
    """The mean difference between the share of right labels and the highest probability, over bins
    of equal numbers of rows."""
    best = shares.max(axis=1)
    right = classes[shares.argmax(axis=1)] == y
    order = np.argsort(best, kind="stable")
    return sum(
        abs(right[part].mean() - best[part].mean()) * len(part) / len(y)
        for part in np.array_split(order, n_bins)
    )


@pytest.mark.parametrize("loss", KernelClassifier._LOSSES)
@pytest.mark.parametrize("load", [load_digits, load_breast_cancer, load_wine])
def test_probabilities_come_true(load, loss):
    """By the standard error s of a bin's share: 15 bins of n / 15 rows, so that s is at most the
    root of p (1 - p) 15 / n, with p the accuracy. The mean absolute deviation by chance is 0.8 s;
    as a mean of 15 bins, its standard error is 0.6 s / root(15), of which five are 0.8 s."""
    X, y = data(load)
    n = len(y) // 3
    model = classifier(loss=loss).fit(X[:n], y[:n]).calibrate(X[n : 2 * n], y[n : 2 * n])
    rest, labels = X[2 * n :], y[2 * n :]
    shares = model.predict_proba(rest)
    error = calibration_error(shares, labels, model.classes_)
    p = min(max(model.score(rest, labels), 0.5), 1 - 1 / len(labels))
    by_chance = 0.8 * np.sqrt(p * (1 - p) * 15 / len(labels))
    assert error < 2 * by_chance
    theirs = CalibratedClassifierCV(classifier(loss=loss), method="sigmoid", cv=3)
    theirs.fit(X[: 2 * n], y[: 2 * n])
    of_theirs = theirs.predict_proba(rest)
    assert error < calibration_error(of_theirs, labels, theirs.classes_) + by_chance
    own = np.arange(len(labels)), np.searchsorted(model.classes_, labels)
    more = np.log(of_theirs[own]) - np.log(shares[own])
    assert more.mean() < 0.02 + 4 * more.std() / np.sqrt(len(labels))


def test_labels_and_scores_stay():
    """The highest probability is another label's only where scores are within the offsets."""
    model, X, y, _ = fitted(10)
    labels, scores = model.predict(X), model.decision_function(X)
    model.calibrate(X, y)
    assert (model.predict(X) == labels).all()
    assert (model.decision_function(X) == scores).all()
    slope, bend, offsets = model.calibration_
    best = model.predict_proba(X).argmax(axis=1)
    before = scores.argmax(axis=1)
    rows = np.arange(len(y))
    bent = slope * scores + bend**2 * scores * abs(scores)
    gap = bent[rows, before] - bent[rows, best]
    assert (best != before).any()
    assert (gap <= offsets[best] - offsets[before] + 1e-9).all()


# ---- the model -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", KernelClassifier._LOSSES)
def test_it_is_saved_and_dropped(n_classes, loss, tmp_path):
    X, y = data(load_digits)
    X, y = X[y < n_classes], y[y < n_classes]
    model = classifier(loss=loss).fit(X[:100], y[:100])
    before = hasattr(model, "predict_proba")
    assert before == (loss == "log_loss")
    assert model.calibrate(X[100:], y[100:]) is model
    model.save(tmp_path / "model")
    again = KernelClassifier.load(tmp_path / "model")
    for function in ("predict_proba", "predict_log_proba"):
        assert (getattr(again, function)(X) == getattr(model, function)(X)).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    again.fit(X[:100], y[:100])
    assert not hasattr(again, "calibration_")
    assert hasattr(again, "predict_proba") == before


def test_texts_and_codes():
    texts = [f"w{number % 5} w{number % 3}" for number in range(60)]
    y = ["a" if number % 5 < 2 else "b" for number in range(60)]
    words = HashingVectorizer(binary=True, norm=None, alternate_sign=False)
    minhash = MinHash(n_hashes=16, random_state=SEED)
    model = KernelClassifier(minhash, vectorizer=words, random_state=SEED).fit(texts, y)
    expected = model.calibrate(texts, y).predict_proba(texts)
    codes = model.map_.encode_texts(words, texts, packed=True)
    assert (model.calibrate(codes, y).predict_proba(texts) == expected).all()


def test_what_is_not_allowed():
    X, y = data(load_digits)
    model = classifier()
    with pytest.raises(ValueError, match="not fitted"):
        model.calibrate(X, y)
    model.fit(X[:300], y[:300])
    with pytest.raises(AttributeError) as caught:
        _ = model.predict_proba
    assert "probabilities need calibrate(X, y), or loss" in str(caught.value)
    for labels, message in (
        (np.where(y == 3, 77, y), "y must have classes of the model, got .*77.* in row"),
        (y.astype(str), "y must have classes of the model, got .* in row 0"),
        (y[:-1], "inconsistent numbers of samples"),
        ([None, *y[1:]], "got None in row 0"),
    ):
        with pytest.raises(ValueError, match=message):
            model.calibrate(X, labels)
    for weights in (np.zeros(len(y)), -np.ones(len(y)), np.ones(3), np.full(len(y), np.nan)):
        with pytest.raises(ValueError, match="sample_weight"):
            model.calibrate(X, y, sample_weight=weights)
    assert not hasattr(model, "calibration_")
    assert not hasattr(KernelRegressor, "calibrate")


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("size", [0.0, 1.0, 1e300])
def test_rows_of_weight_0_are_absent_whatever_their_scores(n_columns, size):
    """The scores of others would lose their digits beside theirs."""
    rng = np.random.default_rng(SEED + 31)
    scores, labels = rng.normal(size=(80, n_columns)), rng.integers(0, max(2, n_columns), 80)
    weights = rng.integers(1, 3, 80).astype(float)
    expected = _calibration.fit(scores, labels, weights)
    more = np.vstack([np.full((3, n_columns), size), scores, np.full((2, n_columns), -size)])
    of_more = np.pad(weights, (3, 2))
    found = _calibration.fit(more, np.pad(labels, (3, 2)), of_more)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert abs(found.offsets.sum()) <= 4 * np.finfo(float).eps * abs(found.offsets).sum()
    if n_columns > 1:
        indicators = sp.csc_array(rng.integers(0, 2, (80, n_columns)))
        padded = sp.csc_array(
            sp.vstack([np.ones((3, n_columns)), indicators, np.ones((2, n_columns))])
        )
        expected = _calibration.fit_labels(scores, indicators, weights)
        found = _calibration.fit_labels(more, padded, of_more)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
