"""Labels of every type, and numbers at the ends of float64."""

import math

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.text import HashingVectorizer

X = np.random.default_rng(SEED).gamma(1.0, size=(30, 4))
IS_LARGE = X[:, 0] > X[:, 1]
MAP = ConsistentWeightedSampling(n_hashes=16, random_state=0)


def classifier(**parameters):
    return KernelClassifier(MAP, random_state=0, **parameters)


# ---- labels --------------------------------------------------------------------------------------


def chosen(no, yes):
    return [yes if large else no for large in IS_LARGE]


LABELS = {
    "booleans": (chosen(False, True), "b"),
    "NumPy's booleans": (np.array(IS_LARGE), "b"),
    "booleans as objects": (np.array(chosen(np.False_, True), object), "b"),
    "integers": (chosen(3, 7), "i"),
    "integers as objects": (np.array(chosen(3, 7), object), "i"),
    "large integers": (chosen(2**53, 2**53 + 1), "i"),
    "integers of 64 bits": (chosen(5, 2**64 - 1), "u"),
    "floats": (chosen(-1.0, 1.0), "f"),
    "integers and floats": (chosen(0, 1.0), "f"),
    "strings": (chosen("0", "1"), "U"),
    "strings as objects": (np.array(chosen("no", "yes"), object), "O"),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_come_back_as_they_were(name, tmp_path):
    y, kind = LABELS[name]
    model = classifier(C=100.0).fit(X, y)
    model.save(tmp_path / "model")
    assert model.classes_.dtype.kind == kind
    for one in (model, KernelClassifier.load(tmp_path / "model")):
        assert one.classes_.tolist() == sorted(set(y))
        assert one.classes_.dtype == model.classes_.dtype
        assert one.predict(X).tolist() == list(y)


BAD_LABELS = {
    "None": (chosen("a", None), r"for each row, got None in row \d"),
    "None beside booleans": (chosen(True, None), "for each row, got None"),
    "None as objects": (np.array(chosen(1, None), object), "for each row, got None"),
    "NaN": (chosen(1.0, math.nan), "for each row, got nan"),
    "NaN beside strings": (chosen("a", math.nan), "for each row, got nan"),
    "NaN in an array": (np.array(chosen(1.0, math.nan)), "contains NaN"),
    "strings and integers": (chosen("1", 1), r"of one type, got .* in row \d"),
    "booleans and integers": (chosen(True, 2), "of one type, got .*"),
    "booleans and strings": (chosen(True, "True"), "of one type"),
    "strings and floats": (np.array(chosen("a", 1.5), object), "of one type"),
    "integers beyond 64 bits": (chosen(1, 2**64), "one type of 64 bits holds, or strings"),
    "integers of two types": (chosen(-1, 2**64 - 1), "one type of 64 bits holds, or strings"),
    "lists": (np.array([[1], *[None] * 29], object), "got"),
}


@pytest.mark.parametrize("name", BAD_LABELS)
def test_labels_that_are_not_allowed(name):
    y, message = BAD_LABELS[name]
    with pytest.raises(ValueError, match=message):
        classifier().fit(X, y)


@pytest.mark.parametrize(
    ("y", "key", "is_class"),
    [
        (chosen(0, 1), 1, True),
        (chosen(0, 1), 1.0, True),
        (chosen(0, 1), np.int8(1), True),
        (chosen(0, 1), "1", False),
        (chosen("0", "1"), "1", True),
        (chosen("0", "1"), np.str_("1"), True),
        (chosen("0", "1"), 1, False),
        (chosen("01", "1"), "01", True),
        (chosen("01", "1"), 1, False),
        (chosen(False, True), True, True),
        (chosen(False, True), "True", False),
    ],
    ids=repr,
)
def test_labels_are_compared_as_they_are(y, key, is_class):
    """In `class_weight`, and in the `label` of ``explain`` and of `filter_files`."""
    if is_class:
        weighted = classifier(class_weight={key: 5.0}, tol=1e-9).fit(X, y)
        weights = np.array([5.0 if label == key else 1.0 for label in y])
        of_rows = classifier(tol=1e-9).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(weighted.coef_, of_rows.coef_)
    else:
        with pytest.raises(ValueError, match="class_weight must be a dictionary whose keys are cl"):
            classifier(class_weight={key: 5.0}).fit(X, y)
    words = HashingVectorizer(norm=None, alternate_sign=False)
    texts = [f"w{number % 7} x{number}" for number in range(len(y))]
    model = KernelClassifier(MinHash(n_hashes=8), vectorizer=words).fit(texts, y)
    if is_class:
        assert model.explain(texts[0], key)
    else:
        with pytest.raises(ValueError, match="label must be one of classes_"):
            model.explain(texts[0], key)


def test_a_class_that_a_fold_does_not_have_may_have_a_weight():
    y = chosen("a", "b")
    folded = classifier(class_weight={"a": 2.0, "b": 3.0, "c": 4.0}).fit(X, y)
    whole = classifier(class_weight={"a": 2.0, "b": 3.0}).fit(X, y)
    assert (folded.coef_ == whole.coef_).all()


@pytest.mark.parametrize("class_weight", ["Balanced", 3, ["a"]], ids=repr)
def test_class_weights_that_are_none(class_weight):
    with pytest.raises(ValueError, match="class_weight must be None, a dictionary or 'balanced'"):
        classifier(class_weight=class_weight).fit(X, IS_LARGE)


# ---- extremes ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", KernelRegressor._LOSSES)
@pytest.mark.parametrize("exponent", [300, 306, 308])
def test_targets_near_the_end_of_float64(loss, exponent):
    """The right model, that of smaller targets times a factor, or one error; never silence."""
    y_large = X[:, 0] / X[:, 0].max() * 10.0**exponent
    parameters = {"loss": loss, "epsilon": 0.0, "random_state": 0, "max_iter": 50}
    model = KernelRegressor(MAP, **parameters)
    try:
        model.fit(X, y_large)
    except ValueError as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert message.startswith("training ends beyond float64, as values of y are up to 1e+")
        assert not hasattr(model, "intercept_")
        return
    smaller = KernelRegressor(MAP, **parameters).fit(X, np.ldexp(y_large, -1000))
    expected = smaller.predict(X)
    if loss.startswith("squared"):  # else C, which bounds the weights, had to be scaled too
        np.testing.assert_allclose(np.ldexp(model.predict(X), -1000), expected, rtol=0.01)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", KernelClassifier._LOSSES)
@pytest.mark.parametrize("weight", [1e-320, 1e-300, 1e300])
def test_weights_near_the_ends_of_float64(loss, weight):
    model = classifier(loss=loss, max_iter=20)
    weights = np.where(np.arange(len(X)) % 2, weight, 1.0)
    try:
        model.fit(X, IS_LARGE, sample_weight=weights)
    except ValueError as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert message.startswith("training ends beyond float64, as weights of rows are up to")
    else:
        assert np.isfinite(model.decision_function(X)).all()


# ---- memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [int, str])
def test_more_weights_than_memory_are_refused_before_training(kind):
    """The error says how many labels, weights and bytes: 1000 times 4096 codes of 16 bits, 2 TB."""
    model = KernelClassifier(MinHash(n_hashes=4096, bits=16, random_state=0))
    rows = np.tile(np.eye(1000, dtype=np.uint8), (3, 1))
    n_weights = 4096 * 2**16
    with pytest.raises(MemoryError) as refused:
        model.fit(rows, [kind(row) for row in range(1000)] * 3)
    said = str(refused.value)
    for number in (1000, n_weights, 8 * 1000 * n_weights):
        assert f"{number:,}" in said, said
    assert not hasattr(model, "intercept_")
