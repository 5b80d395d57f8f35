"""Rows with several labels: indicator matrices, a model for each label."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, multilabel_confusion_matrix
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier, _solver

N_LABELS = 7
FORMS = {
    "dense": np.asarray,
    "bytes": lambda Y: Y.astype(np.int8),
    "booleans": lambda Y: Y.astype(bool),
    "floats": lambda Y: Y.astype(float),
    "lists": lambda Y: Y.tolist(),
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "coo_array": lambda Y: sp.coo_array(Y.astype(float)),
    "lil_matrix": sp.lil_matrix,
}


def data(n_rows=150, n_columns=30):
    """Rows whose first columns say which labels they have, but for some noise."""
    rng = np.random.default_rng(SEED)
    X = rng.random((n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.5)
    noise = rng.random((n_rows, N_LABELS)) < 0.05
    Y = ((X[:, :N_LABELS] > np.linspace(0.1, 0.9, N_LABELS)) ^ noise).astype(int)
    return X, Y


def classifier(**parameters):
    map = ConsistentWeightedSampling(n_hashes=32, random_state=0)
    return KernelClassifier(map, random_state=0, **parameters)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "log_loss"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_models_are_those_of_single_fits(loss, class_weight, n_jobs):
    X, Y = data()
    model = classifier(loss=loss, class_weight=class_weight, n_jobs=n_jobs).fit(X, Y)
    assert model.multilabel_
    assert model.classes_.tolist() == list(range(N_LABELS))
    scores = model.decision_function(X)
    for label in range(N_LABELS):
        alone = classifier(loss=loss, class_weight=class_weight).fit(X, Y[:, label])
        assert not alone.multilabel_
        np.testing.assert_array_equal(model.coef_[label], alone.coef_[0])
        assert model.intercept_[label] == alone.intercept_[0]
        np.testing.assert_array_equal(scores[:, label], alone.decision_function(X))
        np.testing.assert_array_equal(model.predict(X)[:, label], alone.predict(X))
        if loss == "log_loss":
            for of in ("predict_proba", "predict_log_proba"):
                found, expected = (getattr(one, of)(X) for one in (model, alone))
                np.testing.assert_allclose(found[:, label], expected[:, 1], rtol=1e-14)


def test_first_variables_are_those_of_single_fits():
    """Of a C that is so small that they are a part of it."""
    X, Y = data()
    parameters = {"loss": "log_loss", "class_weight": "balanced", "C": 1e-6}
    model = classifier(**parameters).fit(X, Y)
    for label in range(N_LABELS):
        alone = classifier(**parameters).fit(X, Y[:, label])
        np.testing.assert_array_equal(model.coef_[label], alone.coef_[0])


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_of_rows_count_as_in_single_fits(class_weight):
    X, Y = data()
    weights = np.random.default_rng(SEED).integers(0, 3, len(X))
    model = classifier(class_weight=class_weight, tol=1e-9).fit(X, Y, weights)
    for label in range(N_LABELS):
        alone = classifier(class_weight=class_weight, tol=1e-9).fit(X, Y[:, label], weights)
        np.testing.assert_allclose(model.coef_[label], alone.coef_[0], atol=1e-7)
    repeated = np.repeat(np.arange(len(X)), weights)
    again = classifier(class_weight=class_weight, tol=1e-9).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-6)


def test_as_one_against_rest():
    X, Y = data()
    model = classifier().fit(X, Y)
    rest = OneVsRestClassifier(classifier()).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), rest.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), rest.predict(X))
    assert model.score(X, Y) == rest.score(X, Y)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_matrix(form):
    X, Y = data()
    given = FORMS[form](Y)
    model, found = classifier().fit(X, given), classifier().fit(X, Y).predict(X)
    predicted = model.predict(X)
    if sp.issparse(given):
        assert isinstance(predicted, sp.csr_array if isinstance(given, sp.sparray) else sp.spmatrix)
        assert predicted.format == "csr"
        assert predicted.dtype == np.int64
        np.testing.assert_array_equal(predicted.toarray(), found)
    else:
        assert predicted.dtype == np.int64
        np.testing.assert_array_equal(predicted, found)
    assert model.score(X, given) == accuracy_score(Y, found)


def test_stored_zeros_and_entries_that_stand_twice():
    X, Y = data()
    zeros = sp.csr_array(np.ones_like(Y))
    zeros.data = Y.ravel()
    rows, columns = Y.nonzero()
    halves = np.full(2 * len(rows), 0.5)
    twice = sp.coo_array((halves, (np.tile(rows, 2), np.tile(columns, 2))), shape=Y.shape)
    expected = classifier().fit(X, Y).coef_
    for given in (zeros, twice):
        np.testing.assert_array_equal(classifier().fit(X, given).coef_, expected)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_labels_of_the_same_rows_are_trained_once(class_weight, monkeypatch):
    """As are those without a row; their models are those of single fits."""
    X, Y = data()
    Y = np.hstack([Y[:, [3, 1, 3]], np.zeros((len(X), 3), int), Y[:, [1, 5]]])
    begun = []

    class Group(_solver._Group):
        def __init__(self, rows, objective, numbers, *rest):
            begun.extend(numbers)
            super().__init__(rows, objective, numbers, *rest)

    monkeypatch.setattr(_solver, "_Group", Group)
    model = classifier(class_weight=class_weight).fit(X, Y)
    assert sorted(begun) == [0, 1, 2, 3]
    for label in (0, 1, 2, 6, 7):
        alone = classifier(class_weight=class_weight).fit(X, Y[:, label])
        np.testing.assert_array_equal(model.coef_[label], alone.coef_[0])
        assert model.intercept_[label] == alone.intercept_[0]
    assert (model.coef_[3:6] == model.coef_[3]).all()
    assert (model.decision_function(X)[:, 3:6] < 0).all()


def test_one_label_labels_without_rows_and_labels_of_all_rows():
    X, Y = data()
    model = classifier().fit(X, sp.csr_array(Y[:, :1]))
    assert model.decision_function(X).shape == (len(X), 1)
    np.testing.assert_array_equal(
        model.predict(X).toarray()[:, 0], classifier().fit(X, Y[:, 0]).predict(X)
    )
    for class_weight in (None, "balanced"):
        Y[:, 1], Y[:, 2] = 0, 1
        model = classifier(class_weight=class_weight).fit(X, Y).calibrate(X, Y)
        assert (model.predict(X)[:, 1] == 0).all()
        assert (model.predict(X)[:, 2] == 1).all()
        found = model.predict_proba(X)
        assert (found[:, 1] < 0.2).all()
        assert (found[:, 2] > 0.8).all()


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_calibration_is_that_of_each_label(loss):
    X, Y = data(300)
    weights = np.random.default_rng(SEED).random(100)
    model = classifier(loss=loss).fit(X[:200], Y[:200])
    before = model.predict(X)
    model.calibrate(X[200:], sp.csc_array(Y[200:]), weights)
    np.testing.assert_array_equal(model.predict(X), before)
    for label in range(N_LABELS):
        alone = classifier(loss=loss).fit(X[:200], Y[:200, label])
        alone.calibrate(X[200:], Y[200:, label], weights)
        for of in ("predict_proba", "predict_log_proba"):
            found, expected = (getattr(one, of)(X) for one in (model, alone))
            np.testing.assert_allclose(found[:, label], expected[:, 1], rtol=1e-12)
    with pytest.raises(ValueError, match=f"y must have {N_LABELS} columns, as fit saw, got 2"):
        model.calibrate(X, Y[:, :2])
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: X has 9 rows and y"):
        model.calibrate(X[:9], Y)


def test_logarithms_are_finite_wherever_scores_are():
    X, Y = data()
    model = classifier(loss="log_loss").fit(X, Y)
    model._weights[:] *= 1e300
    assert np.isfinite(model.predict_log_proba(X)).all()
    model.calibrate(X, Y)
    model.calibration_ = model.calibration_._replace(slope=np.full(N_LABELS, 1e300))
    assert np.isfinite(model.predict_log_proba(X)).all()


@pytest.mark.parametrize("form", ["dense", "csr_matrix", "csc_array"])
@pytest.mark.parametrize("calibrated", [False, True])
def test_models_are_saved(form, calibrated, tmp_path):
    X, Y = data()
    model = classifier().fit(X, FORMS[form](Y))
    if calibrated:
        model.calibrate(X, Y)
    model.save(tmp_path / "model")
    for again in (KernelClassifier.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.multilabel_
        np.testing.assert_array_equal(again.classes_, model.classes_)
        assert type(again.predict(X)) is type(model.predict(X))
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        assert hasattr(again, "predict_proba") == calibrated
        if calibrated:
            np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_fit_forgets_the_last_one(tmp_path):
    X, Y = data()
    model = classifier().fit(X, Y).calibrate(X, Y).fit(X, Y[:, 0])
    model.save(tmp_path / "model")
    for one in (model, KernelClassifier.load(tmp_path / "model")):
        assert not one.multilabel_
        assert one.predict(X).shape == (len(X),)
        assert not hasattr(one, "predict_proba")


def test_codes_texts_and_explanations():
    X, Y = data()
    model = classifier().fit(X, Y)
    codes = model.map_.encode(X, packed=True)
    np.testing.assert_array_equal(classifier().fit(codes, Y).coef_, model.coef_)
    texts = ["cats and dogs", "cats", "dogs", "stocks", "stocks and dogs"]
    has = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]])
    of_texts = KernelClassifier(MinHash(random_state=0), vectorizer="word:1", random_state=0)
    of_texts.fit(texts, has)
    np.testing.assert_array_equal(of_texts.predict(texts), has)
    assert of_texts.explain("cats and dogs", 0)[0][0] == "cats"
    assert of_texts.explain("cats and dogs", 1)[0][0] == "dogs"
    with pytest.raises(ValueError, match="label must be given if rows may have several labels"):
        of_texts.explain("cats and dogs")


def test_blocks_of_a_file(tmp_path, monkeypatch):
    """Codes that are larger than the memory, and scores of many rows."""
    X, Y = data(200)
    map = ConsistentWeightedSampling(n_hashes=32, random_state=0).fit(X)
    map.encode(X, packed=True).save(tmp_path / "codes")
    codes = type(map.encode(X, packed=True)).load(tmp_path / "codes")
    monkeypatch.setattr(_solver, "BLOCK_BYTES", 1000)
    parameters = {"tol": 1e-8, "class_weight": "balanced"}
    found = classifier(**parameters).fit(codes, Y)
    np.testing.assert_allclose(found.coef_, classifier(**parameters).fit(X, Y).coef_, atol=1e-6)
    monkeypatch.setattr("sparsemaps.linear._model._BLOCK_ROWS", 7)
    expected = found.predict(X)
    np.testing.assert_array_equal(found.predict(codes), expected)
    sparse = classifier(**parameters).fit(codes, sp.csr_array(Y)).predict(codes)
    np.testing.assert_array_equal(sparse.toarray(), expected)


@pytest.mark.parametrize("exponent", [-30, -20, -8, 8, 30])
def test_balanced_weights_far_apart(exponent):
    """Weights of the rows without a label are summed, however small they are beside the others."""
    X, Y = data(100)
    rng = np.random.default_rng(SEED)
    for y in Y.T:
        weights = rng.uniform(0.5, 1, len(y)) * np.where(y, 1.0, 10.0**exponent)
        balanced = classifier(class_weight="balanced", tol=1e-8)
        found = balanced.fit(X, np.column_stack([y, y]), sample_weight=weights).coef_[:1]
        np.testing.assert_allclose(found, balanced.fit(X, y, weights).coef_, atol=1e-6)


def test_scikit_learn_measures_them():
    X, Y = data(300)
    model = classifier().fit(X[:200], Y[:200])
    confusion = multilabel_confusion_matrix(Y[200:], model.predict(X[200:]))
    assert confusion.shape == (N_LABELS, 2, 2)
    assert f1_score(Y[200:], model.predict(X[200:]), average="micro") > 0.5
    scores = cross_val_score(classifier(), X, Y, cv=3, scoring="f1_micro")
    assert (scores > 0.5).all()


def test_lists_of_labels_by_way_of_an_indicator_matrix():
    """Lists are refused, as scikit-learn refuses them, with what makes a matrix of them."""
    X, _ = data(40)
    lists = [["ab", "c"][: n % 3] for n in range(40)]
    for y in (lists, list(map(tuple, lists)), list(map(set, lists))):
        with pytest.raises(ValueError, match="MultiLabelBinarizer makes an indicator matrix of li"):
            classifier().fit(X, y)
    binarizer = MultiLabelBinarizer()
    Y = binarizer.fit_transform(lists)
    found = classifier().fit(X, Y).predict(X)
    assert hamming_loss(Y, found) == np.mean(found != Y)
    assert len(binarizer.inverse_transform(found)) == 40


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0, 1], [2, 0]], "only 0 and 1, got 2 in row 1, column 0"),
        ([[0.0, 0.5], [1, 0]], "only 0 and 1, got 0.5 in row 0, column 1"),
        ([["a", "b"], ["b", "a"]], "only 0 and 1, got 'a' in row 0, column 0"),
        (sp.csr_array([[0, 1], [-1, 0]]), "only 0 and 1, got -1 in row 1, column 0"),
        (sp.csr_array([[0.0, np.nan], [1, 0]]), "NaN"),
        (np.array([[0.0, np.nan], [1, 0]]), "NaN"),
        (sp.csr_array([[1j, 0], [1, 0]]), "(?i)complex"),
        (np.zeros((2, 0)), "a column for each label, got none"),
        (sp.csr_array((2, 0)), "a column for each label, got none"),
        (np.eye(3), "inconsistent numbers of samples: X has 2 rows and y has 3"),
        ([[0, 1], [1]], "y must have a string, a number or a boolean for each row"),
        (np.zeros((2, 2, 2)), "dim 3"),
    ],
)
def test_what_is_no_indicator_matrix(y, message):
    with pytest.raises(ValueError, match=message):
        classifier().fit(np.eye(2), y)


def test_parameters_of_one_label_a_row():
    X, Y = data()
    with pytest.raises(ValueError, match="class_weight must be None or 'balanced' if rows may"):
        classifier(class_weight={0: 2.0}).fit(X, Y)


def test_a_label_that_does_not_converge_is_named():
    X, Y = data()
    gaps = []
    for given in (Y[:, 0], sp.csr_array(Y[:, :1])):
        with pytest.warns(UserWarning, match="the duality gap is") as warned:
            classifier(max_iter=1, class_weight="balanced", C=100).fit(X, given)
        gaps.append(str(warned[0].message))
    assert gaps[0] == gaps[1]
    with pytest.warns(UserWarning, match=r"\(7 of 7 models\): the duality gap of class \d is"):
        classifier(max_iter=1, class_weight="balanced", C=100).fit(X, Y)
