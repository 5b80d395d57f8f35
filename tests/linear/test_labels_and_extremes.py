"""Labels of every type, and numbers at the ends of float64."""

import math

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import (
    KernelClassifier,
    KernelClassifierCV,
    KernelRegressor,
    KernelRegressorCV,
)
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
    "large floats": (chosen(-(2.0**80), 1.5e300), "f"),
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
        (chosen(False, True), np.True_, True),
        (chosen(False, True), 1, False),
        (chosen(0, 1), True, False),
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
        with pytest.raises(ValueError, match="class_weight must be weights of labels of the rows"):
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
        assert message.startswith(
            "training would exceed float64, because the largest value of y is 1e+"
        )
        assert not hasattr(model, "intercept_")
        return
    smaller = KernelRegressor(MAP, **parameters).fit(X, np.ldexp(y_large, -1000))
    expected = smaller.predict(X)
    if loss.startswith("squared"):  # else C, which bounds the weights, had to be scaled too
        np.testing.assert_allclose(np.ldexp(model.predict(X), -1000), expected, rtol=0.01)
    assert np.isfinite(model.predict(X)).all()


SIZES = [1e-320, 1e-300, 1e-100, 1e-30, 1e30, 1e70, 1e100, 1e300, 1.7e308]
SIZED = ("C", "one weight", "all weights", "weights and C", "class_weight", "class_weight of 3",
         "intercept_scaling", "values of y", "path of C", "epsilon", "balanced",
         "balanced labels", "weights of a path")  # fmt: skip
"""What may be near the ends of float64."""


def of_size(what, size, loss):
    """A model, and labels and weights of the rows, with a number of this size; None if the loss has
    no such number."""
    is_regression = loss in KernelRegressor._LOSSES
    make = KernelRegressor if is_regression else KernelClassifier
    options = {"loss": loss, "max_iter": 20, "random_state": 0}
    y, weights = X[:, 0] if is_regression else IS_LARGE, None
    if "path" in what:
        make = KernelRegressorCV if is_regression else KernelClassifierCV
        options |= {"Cs": [1.0, size if what == "path of C" else 10.0], "cv": 2}
        weights = None if what == "path of C" else np.full(len(X), size)
    elif what in ("one weight", "all weights", "weights and C"):
        is_one = what == "one weight"
        weights = np.where(np.arange(len(X)) % 2, size, 1.0) if is_one else np.full(len(X), size)
        options |= {"C": size} if what == "weights and C" else {}
    elif what == "values of y" and is_regression:
        y = y / y.max() * size
    elif what.startswith("balanced") and not is_regression:
        options |= {"class_weight": "balanced"}
        weights = np.where(IS_LARGE, size, 1.0)
        y = IS_LARGE if what == "balanced" else np.column_stack([IS_LARGE, ~IS_LARGE]).astype(int)
    elif what.startswith("class_weight") and not is_regression:
        y = y * 1 if what == "class_weight" else np.arange(len(X)) % 3
        options |= {"class_weight": {1: size}}
    elif what in ("C", "intercept_scaling") or (what == "epsilon" and is_regression):
        options |= {what: size}
    else:
        return None
    return make(MAP, **options), y, weights


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", [*KernelClassifier._LOSSES, *KernelRegressor._LOSSES])
@pytest.mark.parametrize("what", SIZED)
def test_numbers_near_the_ends_of_float64(loss, what):
    """A model of finite scores up to 1e75, and one error beyond, which names what is too large."""
    for size in SIZES:
        made = of_size(what, size, loss)
        if made is None:
            return
        model, y, weights = made
        largest = size
        if what in ("weights and C", "balanced labels") and size > 1:  # of the other label
            largest = size * min(size, 1e100)
        elif "balanced" in what and (size < 1e-308 or what == "balanced labels"):
            largest = 1 / max(size, 1e-300)
        if what == "epsilon" or largest < 1e75:
            model.fit(X, y, sample_weight=weights)
            scores = model.predict(X) if y.dtype == float else model.decision_function(X)
            assert np.isfinite(scores).all(), size
            continue
        rule = "training would exceed float64, because the largest .* is .*: scale"
        if weights is not None and size > 1e75:
            rule = "sample_weight must be at most 1e.75, got .* in row"
        with pytest.raises(ValueError, match=rule):
            model.fit(X, y, sample_weight=weights)
        assert not hasattr(model, "intercept_")


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
