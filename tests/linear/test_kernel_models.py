"""The estimators as scikit-learn, its searches and its compositions use them."""

import pickle
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import sparsemaps
from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    RandomProjection,
    SignProjection,
    codes,
)
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.text import ByteNgrams, HashingVectorizer

TEXTS = ["to be or not to be", "that is the question", "be not to or be", "a question it is"] * 5
TEXT_LABELS = ["verb", "noun", "verb", "noun"] * 5


@parametrize_with_checks(
    [
        KernelClassifier(SignProjection(random_state=0), C=0.01, tol=1e-10, random_state=0),
        KernelClassifier(
            SignProjection(random_state=0), loss="log_loss", tol=1e-10, random_state=0
        ),
        KernelRegressor(RandomBinning(gamma=0.1, random_state=0), tol=1e-10, random_state=0),
    ],
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return sp.csr_array(X[:500]), y[:500]


def min_max(**parameters):
    return ConsistentWeightedSampling(**{"n_hashes": 64, "random_state": 0, **parameters})


def classifier(**parameters):
    return KernelClassifier(min_max(), random_state=0, **parameters)


CODED_MAPS = [
    min_max(),
    min_max(bits=1),
    min_max(n_hashes=5, bits=3, t_bits=2),
    MinHash(n_hashes=12, bits=12, random_state=0),
    SignProjection(n_hashes=70, random_state=0),
    SignProjection(n_hashes=70, kernel="acos_chi2", random_state=0),
    SignProjection(n_hashes=70, dense_output=True, random_state=0),
    RandomBinning(n_grids=20, n_bins=64, gamma=0.05, random_state=0),
    RandomFourier(n_components=75, gamma=0.001, random_state=0),
    KernelProduct(maps=(min_max(bits=3), SignProjection(n_hashes=64)), random_state=0),
]


def one_hot(map, X):
    """The features of rows by definition; of rows without samples, none."""
    packed = map.encode(X, packed=True)
    numbers = codes.unpack(packed)
    Z = np.zeros((len(numbers), packed.n_hashes << packed.bits))
    columns = numbers + (np.arange(packed.n_hashes) << packed.bits)
    np.put_along_axis(Z, columns, 1 / np.sqrt(packed.n_hashes), axis=1)
    return Z * packed.sampled[:, None]


@pytest.mark.parametrize("map", CODED_MAPS, ids=repr)
def test_coefficients_are_of_the_columns_of_one_hot_features(map, digits):
    X, y = (array[:300] for array in digits)
    model = KernelClassifier(map, random_state=0).fit(X, y)
    Z = one_hot(model.map_, X)
    expected = Z @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-12, atol=1e-12)
    assert (model.predict(X) == y).mean() > 0.6
    is_one_hot = getattr(map, "dense_output", False) is False
    if is_one_hot and not isinstance(map, RandomFourier):
        np.testing.assert_allclose(model.map_.transform(X).toarray(), Z, rtol=1e-15)


def test_a_second_fit_keeps_nothing_of_the_first(digits):
    X, y = digits
    minhash = MinHash(n_hashes=16, bits=2, random_state=0)
    model = KernelClassifier(minhash, vectorizer=ByteNgrams(), random_state=0)
    model.fit(TEXTS, TEXT_LABELS).set_params(vectorizer=None).fit(X, y)
    assert not hasattr(model, "vectorizer_")
    fresh = KernelClassifier(minhash, random_state=0).fit(X, y)
    assert model.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(model.decision_function(X), fresh.decision_function(X))
    model.set_params(vectorizer=ByteNgrams()).fit(TEXTS, TEXT_LABELS)
    assert not hasattr(model, "n_features_in_")


def test_rows_without_samples_score_the_intercept(digits):
    X, y = digits
    model = classifier().fit(X, y)
    empty = sp.csr_array((3, X.shape[1]))
    assert (model.decision_function(empty) == model.intercept_).all()
    X = sp.vstack([X, empty]).tocsr()
    y = np.append(y, [0, 1, 2])
    again = classifier(tol=1e-8).fit(X, y)
    assert (again.decision_function(X[-3:]) == again.intercept_).all()


def test_codes_and_rows_and_files_make_one_model(digits, tmp_path):
    X, y = digits
    packed = min_max().fit(X).encode(X, packed=True)
    packed.save(tmp_path / "codes.npy")
    mapped = codes.PackedCodes.load(tmp_path / "codes.npy")
    models = [classifier().fit(rows, y) for rows in (X, packed, mapped)]
    for model in models[1:]:
        assert (model.coef_ == models[0].coef_).all()
        assert model.n_features_in_ == X.shape[1]
        assert (model.decision_function(X) == models[0].decision_function(mapped)).all()


def test_seeds_of_the_maps_of_a_product_are_not_used(digits):
    X, y = digits
    maps = MinHash(n_hashes=16, random_state=3), SignProjection(n_hashes=16, random_state=4)
    product = KernelProduct(maps=maps, random_state=0)
    packed = clone(product).fit(X).encode(X, packed=True)
    models = [KernelClassifier(product, random_state=0).fit(rows, y) for rows in (X, packed)]
    assert (models[0].coef_ == models[1].coef_).all()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (min_max(random_state=1), "random_state of map"),
        (min_max(bits=4), "bits=8"),
        (MinHash(n_hashes=64, random_state=0), "codes of ConsistentWeightedSampling"),
    ],
)
def test_codes_of_another_map_are_refused(other, message, digits):
    X, y = digits
    packed = other.fit(X).encode(X, packed=True)
    with pytest.raises(ValueError, match=message):
        classifier().fit(packed, y)
    model = classifier().fit(X, y)
    with pytest.raises(ValueError, match="X must be codes of the map that was fitted"):
        model.predict(packed)


@pytest.mark.parametrize(
    "parameters", [{"bits": np.int64(4)}, {"method": "levels"}, {"power": np.float32(2)}], ids=str
)
def test_parameters_of_codes_are_compared_whatever_their_type(parameters, digits):
    X, y = digits
    packed = min_max().fit(X).encode(X, packed=True)
    with pytest.raises(ValueError, match=f"codes of a map with {next(iter(parameters))}="):
        KernelClassifier(min_max(**parameters), random_state=0).fit(packed, y)


def test_parameters_that_are_computed_from_data_are_those_of_the_codes(digits):
    X, y = digits
    binning = RandomBinning(gamma="scale", n_grids=16, random_state=0)
    packed = binning.fit(X).encode(X, packed=True)
    models = [KernelClassifier(binning, random_state=0).fit(rows, y) for rows in (X, packed)]
    assert models[1].map_.gamma == models[0].map_.gamma_
    assert (models[0].coef_ == models[1].coef_).all()


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
def test_seeds_of_codes_are_compared_with_integers_of_any_kind(kind, digits):
    X, y = digits
    model = KernelClassifier(min_max(random_state=kind(0)))
    with pytest.raises(ValueError, match="X must be codes of the seed 0, the random_state of map"):
        model.fit(min_max(random_state=1).fit(X).encode(X, packed=True), y)


@pytest.mark.parametrize(
    "vectorizer",
    [
        HashingVectorizer(binary=True, norm=None, alternate_sign=False),
        ByteNgrams(ngram_range=(2, 2)),
    ],
    ids=repr,
)
def test_texts(vectorizer):
    model = KernelClassifier(MinHash(random_state=0), vectorizer=vectorizer, random_state=0)
    model.fit(TEXTS, TEXT_LABELS)
    assert model.predict(TEXTS).tolist() == TEXT_LABELS
    packed = model.map_.encode_texts(vectorizer, TEXTS, packed=True)
    assert (model.decision_function(packed) == model.decision_function(TEXTS)).all()
    other = HashingVectorizer(analyzer="char", norm=None, alternate_sign=False)
    packed = model.map_.encode_texts(other, TEXTS, packed=True)
    with pytest.raises(ValueError, match="X and the model must be codes of texts"):
        model.predict(packed)
    assert not hasattr(model, "n_features_in_")


def test_classes_may_be_strings_or_any_numbers(digits):
    X, y = digits
    expected = classifier().fit(X, y).predict(X)
    names = np.array([f"digit {digit}" for digit in range(10)])
    assert (classifier().fit(X, names[y]).predict(X) == names[expected]).all()
    assert (classifier().fit(X, y * 7 - 30).predict(X) == expected * 7 - 30).all()
    two = classifier().fit(X, y > 4)
    assert two.coef_.shape[0] == 1
    assert (two.predict(X) == (two.decision_function(X) > 0)).all()


def test_the_result_does_not_depend_on_the_threads(digits):
    X, y = digits
    models = [classifier(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 5)]
    for model in models[1:]:
        assert (model.coef_ == models[0].coef_).all()
        assert (model.decision_function(X) == models[0].decision_function(X)).all()


def test_the_order_of_rows_is_random_by_the_seed(digits):
    X, y = digits
    first, second = (
        KernelClassifier(min_max(), random_state=seed, tol=0.1).fit(X, y) for seed in (0, 1)
    )
    assert (first.coef_ != second.coef_).any()
    again = clone(first).fit(X, y)
    assert (first.coef_ == again.coef_).all()


def test_probabilities(digits):
    X, y = digits
    model = classifier(loss="log_loss", C=10).fit(X, y)
    shares = model.predict_proba(X)
    scores = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(shares, scores / scores.sum(axis=1)[:, None], rtol=1e-12)
    assert log_loss(y, shares) < 1
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), shares)
    two = classifier(loss="log_loss").fit(X, y == 3)
    expected = 1 / (1 + np.exp(-two.decision_function(X)))
    np.testing.assert_allclose(two.predict_proba(X), np.stack([1 - expected, expected], 1))
    assert not hasattr(classifier(), "predict_proba")


def test_pickle_and_clone(digits):
    X, y = digits
    model = classifier().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert repr(clone(model)) == repr(classifier())


def test_searches_and_compositions(digits):
    X, y = digits
    search = GridSearchCV(classifier(), {"map__n_hashes": [2, 64], "C": [0.1, 1]}, cv=2).fit(X, y)
    assert search.best_params_["map__n_hashes"] == 64
    assert search.best_estimator_.map_.n_hashes == 64
    assert (cross_val_predict(classifier(), X, y, cv=3) == y).mean() > 0.85
    calibrated = CalibratedClassifierCV(classifier(), cv=2).fit(X, y)
    assert (calibrated.predict_proba(X).argmax(axis=1) == y).mean() > 0.85
    many = np.stack([y % 2, y > 4, y == 3], axis=1)
    several = OneVsRestClassifier(classifier()).fit(X, many)
    assert (several.predict(X) == many).mean() > 0.95
    assert make_pipeline(classifier()).fit(X, y).score(X, y) > 0.9


def test_sample_weights_are_routed(digits):
    X, y = digits
    weights = np.where(y == 8, 1e-6, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        with_routing = classifier().set_fit_request(sample_weight=True)
        with_routing.set_score_request(sample_weight=False)
        scores = cross_val_score(with_routing, X, y, params={"sample_weight": weights}, cv=3)
    direct = cross_val_score(classifier(), X, y, cv=3)
    assert scores.mean() < direct.mean()


def test_weights_of_rows_and_classes(digits):
    """A row of weight 2 counts as two rows, of weight 0 as none; class weights are row weights."""
    X, y = digits
    model = classifier(tol=1e-9)
    n_times = np.arange(len(y)) % 3
    weighted = clone(model).fit(X, y, sample_weight=n_times)
    rows = np.repeat(np.arange(len(y)), n_times)
    repeated = clone(model).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    of_classes = clone(model).set_params(class_weight={3: 5.0}).fit(X, y)
    of_rows = clone(model).fit(X, y, sample_weight=np.where(y == 3, 5.0, 1.0))
    np.testing.assert_allclose(of_classes.coef_, of_rows.coef_, atol=1e-7)
    balanced = clone(model).set_params(class_weight="balanced").fit(X, y)
    of_rows = clone(model).fit(X, y, sample_weight=len(y) / 10 / np.bincount(y)[y])
    np.testing.assert_allclose(balanced.coef_, of_rows.coef_, atol=1e-7)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "log_loss"])
def test_rows_of_weight_0_are_as_if_left_out(loss, digits):
    X, y = digits
    weights = (np.arange(len(y)) % 2).astype(float)
    model = classifier(loss=loss, tol=1e-7, max_iter=10**4, C=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weighted = clone(model).fit(X, y, sample_weight=weights)
        left = clone(model).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(weighted.coef_, left.coef_, atol=1e-4)


LOSSES = KernelClassifier._LOSSES
MISTAKES = [
    ({"C": 0}, "C must be a finite number above 0, got 0"),
    ({"C": np.nan}, "C must be a finite number"),
    ({"loss": "log"}, f"loss must be {' or '.join(map(repr, LOSSES))}, got 'log'"),
    ({"tol": 0.0}, "tol must be a finite number above 0"),
    ({"max_iter": 0}, "max_iter must be from 1"),
    ({"intercept_scaling": 0}, "intercept_scaling must be"),
    ({"fit_intercept": 1}, "fit_intercept must be True or False"),
    ({"n_jobs": 0}, "n_jobs must be"),
    ({"map": None}, "map must be a map with codes, such as MinHash, got None"),
    (
        {"map": MinHash},
        "map must be a map with codes, such as MinHash, got the class MinHash, not ",
    ),
    (
        {"class_weight": {0: -1}},
        "class_weight of the class 0 must be a finite number of",
    ),
    ({"class_weight": {0: np.nan}}, "class_weight of the class 0 must be"),
    ({"class_weight": {0: "a"}}, "class_weight of the class 0 must be .* got 'a'"),
    ({"class_weight": dict.fromkeys(range(10), 0)}, "class_weight must be above 0 for a class"),
    ({"map": CountSketch()}, "map must be a map with codes, such as MinHash, got CountSketch"),
    ({"map": KernelProduct(maps=(MinHash(), RandomProjection(n_components=256)))}, "with codes"),
    ({"map": RandomFourier(kernel="folded_rbf")}, "map must be a map with codes"),
    ({"vectorizer": 3}, "vectorizer must be None, .* got 3"),
    ({"map": MinHash(n_hashes=2**17, bits=16)}, "has 8589934592 weights"),
]


@pytest.mark.parametrize(("parameters", "message"), MISTAKES, ids=str)
def test_parameters_that_are_not_allowed(parameters, message, digits):
    X, y = digits
    with pytest.raises(ValueError, match=message):
        classifier().set_params(**parameters).fit(X[:30], y[:30])


def test_data_that_are_not_allowed(digits):
    X, y = digits
    model = classifier()
    with pytest.raises(ValueError, match="at least 2 classes, got one class only: 3"):
        model.fit(X, np.full(len(y), 3))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, y + 0.5)
    with pytest.raises(ValueError, match="y contains NaN"):
        model.fit(X, np.where(y == 3, np.nan, y))
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        model.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"must not be negative, got -1\.0 in row 0"):
        model.fit(X, y, sample_weight=np.where(np.arange(len(y)), 1.0, -1.0))
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        model.fit(X, y, sample_weight=np.full(len(y), np.nan))
    with pytest.raises(ValueError, match="above 0 in some row"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="of shape"):
        model.fit(X, y, sample_weight=[1.0])
    with pytest.raises(ValueError, match="at least 2 classes"):
        model.fit(X, y, sample_weight=y == 3)
    with pytest.raises(ValueError, match="got a single str"):
        KernelClassifier(MinHash(), vectorizer=HashingVectorizer()).fit("a text", [1])
    with pytest.raises(ValueError, match="epsilon must be"):
        KernelRegressor(min_max(), epsilon=-1).fit(X, y)


def test_a_warning_names_the_gap(digits):
    X, y = digits
    model = classifier(max_iter=2, tol=1e-8)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .*duality gap of class \d is"):
        model.fit(X, y)
    assert model.n_iter_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier().fit(X, y)


def test_the_gap_is_that_of_the_worst_class(digits):
    """Whatever the classes are called, it is a class that is hard to tell; not always the last."""
    X, y = digits
    named = set()
    for shift in range(0, 10, 3):
        with pytest.warns(ConvergenceWarning) as caught:
            classifier(max_iter=2, tol=1e-8).fit(X, (y + shift) % 10)
        label = re.search(r"duality gap of class (\d) is", str(caught[0].message))[1]
        named.add(int(label))
    assert named != {9}


def test_every_coded_map_is_tried():
    has_codes = {
        name for name in sparsemaps._MAPS if hasattr(getattr(sparsemaps, name)(), "encode")
    }
    assert {type(map).__name__ for map in CODED_MAPS} == has_codes
