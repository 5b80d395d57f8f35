"""Calibrations by scores of rows that `fit` has seen, by models of the other folds."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

from sparsemaps import ConsistentWeightedSampling, MinHash, RandomFourier
from sparsemaps.linear import KernelClassifier, KernelClassifierCV, _calibration, _path_of_C

MAP = ConsistentWeightedSampling(n_hashes=32, random_state=SEED)


def data(n_classes=3, n_rows=240):
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(SEED).permutation(np.flatnonzero(y < n_classes))[:n_rows]
    return X[rows], y[rows]


def classifier(map=MAP, **parameters):
    return KernelClassifier(map, random_state=SEED, **parameters)


def expected_of(model, X, y, weights, folds):
    """The calibration by models that are trained one after the other."""
    scores, rows = [], np.concatenate([test for _, test in folds])
    for train, test in folds:
        costs = np.bincount(train, minlength=len(X)) * (1.0 if weights is None else weights)
        labels = y if y.ndim == 1 else sp.csr_array(y)
        part = classifier(model.map_, **parameters_of(model)).fit(X, labels, costs)
        scores.append(part.decision_function(X[test]).reshape(len(test), -1))
    of_rows = None if weights is None else weights[rows]
    if y.ndim > 1:
        return _calibration.fit_labels(np.concatenate(scores), sp.csc_array(y[rows]), of_rows)
    return _calibration.fit(np.concatenate(scores), y[rows], of_rows)


def parameters_of(model):
    names = "loss", "C", "class_weight", "tol", "fit_intercept", "intercept_scaling"
    return {name: value for name, value in model.get_params(deep=False).items() if name in names}


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(
    ("kind", "cv"),
    [
        ("two", StratifiedKFold(4)),
        ("three", StratifiedKFold(3)),
        ("three", ShuffleSplit(3, random_state=0)),
        ("labels", KFold(3, shuffle=True, random_state=0)),
        ("a label", KFold(3)),
    ],
)
def test_scores_are_those_of_models_of_the_other_rows(kind, cv, is_weighted, n_jobs):
    X, y = data(n_classes=2 if kind == "two" else 3)
    labels = y
    if "label" in kind:
        labels = np.stack([y == 0, y > 0, y == 2], axis=1).astype(int)
    if kind == "a label":
        labels = sp.csr_array(labels[:, :1])
    weights = np.random.default_rng(SEED).integers(0, 3, len(y)).astype(float)
    weights = weights if is_weighted else None
    balance = "balanced" if kind == "labels" else None
    model = classifier(tol=1e-6, C=0.3, n_jobs=n_jobs, class_weight=balance)
    model.fit(X, labels, weights)
    before = model.coef_.copy(), model.intercept_.copy(), vars(model).keys()
    assert model.calibrate(X, labels, weights, cv=cv) is model
    assert (model.coef_ == before[0]).all()
    assert (model.intercept_ == before[1]).all()
    assert vars(model).keys() - before[2] <= {"calibration_"}
    dense = labels.toarray() if sp.issparse(labels) else labels
    expected = expected_of(model, X, dense, weights, list(cv.split(X, y)))
    for found, part in zip(model.calibration_, expected, strict=True):
        np.testing.assert_allclose(found, part, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "parameters", [{"class_weight": "balanced"}, {"loss": "log_loss"}, {"fit_intercept": False}]
)
def test_models_of_folds_have_the_parameters(parameters):
    X, y = data(2)
    y[:60] = 1  # so that the balance matters
    model = classifier(tol=1e-6, **parameters).fit(X, y)
    folds = list(StratifiedKFold(3).split(X, y))
    found, expected = model.calibrate(X, y, cv=3), expected_of(model, X, y, None, folds)
    for one, part in zip(found.calibration_, expected, strict=True):
        np.testing.assert_allclose(one, part, rtol=1e-4, atol=1e-4)


def test_a_model_whose_C_is_chosen():
    X, y = data()
    chosen = KernelClassifierCV(MAP, Cs=[0.01, 10], cv=3, random_state=SEED).fit(X, y)
    single = classifier(C=chosen.C_).fit(X, y)
    expected = single.calibrate(X, y, cv=3).predict_proba(X)
    assert (chosen.calibrate(X, y, cv=3).predict_proba(X) == expected).all()


@pytest.mark.parametrize("labels", [np.array(["b", "a", "c"]), np.array([-4, 7, 2**60])])
def test_texts_codes_and_kinds_of_labels(labels):
    X, y = data()
    texts = [" ".join(f"w{column}" for column in np.flatnonzero(row > 8)) for row in X]
    model = KernelClassifier(
        MinHash(n_hashes=16, random_state=0), vectorizer="word:1", random_state=0
    )
    model.fit(texts, labels[y])
    expected = model.calibrate(iter(texts), labels[y].tolist(), cv=3).predict_proba(texts)
    codes = model.map_.encode_texts("word:1", texts, packed=True)
    assert (model.calibrate(codes, labels[y], cv=3).predict_proba(texts) == expected).all()


def test_the_map_is_that_of_all_rows():
    """Also if it takes `gamma` from them."""
    X, y = data()
    model = classifier(RandomFourier(gamma="scale", n_components=64, random_state=0)).fit(X, y)
    codes = model.map_.encode(X, packed=True)
    expected = model.calibrate(codes, y, cv=3).predict_proba(X)
    assert (model.calibrate(X, y, cv=3).predict_proba(X) == expected).all()


@pytest.mark.parametrize("kind", ["two", "three", "labels"])
def test_of_many_rows_some_are_scored(kind, monkeypatch):
    """By chance, by the seed; those that are left out are trained on all the same."""
    X, y = data(2 if kind == "two" else 3)
    labels = np.stack([y == 0, y > 0], axis=1).astype(int) if kind == "labels" else y
    model = classifier().fit(X, labels)
    n_models = len(model.intercept_)
    monkeypatch.setattr(_path_of_C, "MOST_SCORES", 120 * max(n_models, 2))
    folds = _path_of_C.folds_of(KFold(3), model._codes(X), y, None, classes=False)
    known, _ = model._known_labels(labels, None)
    rows, scores, _ = _path_of_C.scores_out_of_folds(model, model._codes(X), known, None, folds)
    assert 80 < len(rows) < 160  # of 240, each with a chance of a half
    monkeypatch.undo()
    every = _path_of_C.scores_out_of_folds(model, model._codes(X), known, None, folds)
    assert scores.shape == (len(rows), n_models)
    place = np.argsort(every[0])[rows]
    assert (every[1][place] == scores).all()


def test_what_is_not_allowed():
    X, y = data()
    model = classifier()
    with pytest.raises(ValueError, match="not fitted"):
        model.calibrate(X, y, cv=3)
    model.fit(X, y)
    for labels, cv, message in (
        (y, 1, "n_splits=1"),
        (y, "x", "cv"),
        (y, [], "cv must be folds, got no fold"),
        (y, [(range(200), [500])], "cv must be folds of numbers of the 240 rows"),
        (y, [(range(240), [])], "fold 0 of cv has no rows"),
        (y, [([], range(240))], "fold 0 of cv has no rows to train on"),
        (y, [(np.flatnonzero(y == 1), range(240))], "of fold 0 of cv have one class only: 1"),
        (np.minimum(y, 1), 3, "y must have all classes of the model, got no row of 2"),
        (y + 1, 3, "y must have classes of the model, got .*3.* in row"),
        (y[:-1], 3, "inconsistent numbers of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            model.calibrate(X, labels, cv=cv)
    assert not hasattr(model, "calibration_")


def test_a_class_of_one_row():
    """It is in one fold, and the models of the others do not know it."""
    X, y = data()
    y[0] = 9
    model = classifier().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of scikit-learn: a class of too few rows
        model.calibrate(X, y, cv=3)
    shares = model.predict_proba(X)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert 0 < shares[:, 3].mean() < 0.02
