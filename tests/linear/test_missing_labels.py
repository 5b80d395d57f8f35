"""A label or a target that is missing is one error of ours that names the row, in every estimator
and in every method that takes labels."""

import inspect
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sparsemaps import MinHash, linear
from sparsemaps.comparison import compare

N_ROWS = 24
X = np.tile([[1, 1, 0], [1, 0, 1]], (N_ROWS // 2, 1))
NUMBERS = [0, 1] * (N_ROWS // 2)
STRINGS = ["a", "b"] * (N_ROWS // 2)
ROW = 11

ESTIMATORS = sorted(name for name in linear.__all__ if name.startswith("Kernel"))
METHODS = {
    "fit": lambda model, y: model.fit(X, y),
    "score": lambda model, y: model.score(X, y),
    "calibrate": lambda model, y: model.calibrate(X, y),
    "calibrate, cv": lambda model, y: model.calibrate(X, y, cv=3),
}

MISSING = {
    "None": None,
    "nan": float("nan"),
    "NumPy's nan": np.float64("nan"),
    "pandas' NA": pd.NA,
    "a decimal": Decimal("NaN"),
    "a decimal that signals": Decimal("sNaN"),
    "infinity": float("inf"),
    "too large": 10**400,
}
FORMS = {
    "list": list,
    "objects": lambda values: np.array(values, object),
    "pandas": lambda values: pd.Series(values, dtype=object),
}
SERIES = {
    "array": np.array([*NUMBERS[:ROW], np.nan, *NUMBERS[ROW + 1 :]]),
    "float32": np.array([*NUMBERS[:ROW], np.nan, *NUMBERS[ROW + 1 :]], np.float32),
    "pandas": pd.Series([*NUMBERS[:ROW], None, *NUMBERS[ROW + 1 :]], dtype="Int64"),
    "polars": pl.Series([*NUMBERS[:ROW], None, *NUMBERS[ROW + 1 :]]),
    "categories": pd.Series([*STRINGS[:ROW], None, *STRINGS[ROW + 1 :]]).astype("category"),
}
OURS = (
    rf"y must have a (string, a )?number( or a boolean)? for each row, got .+ in row {ROW}$|"
    rf"y contains (NaN|infinity) in row {ROW}; all labels and targets must be finite$|"
    "y has a number beyond float64: |y must have integers that one type of 64 bits holds"
)


def estimator(name):
    own = {"Cs": [1.0], "cv": 3} if name.endswith("CV") else {}
    model = getattr(linear, name)(MinHash(n_hashes=8, random_state=0), random_state=0)
    return model.set_params(**own)


def test_all_methods_that_take_labels_are_tried():
    known = {key.partition(",")[0] for key in METHODS}
    for name in ESTIMATORS:
        for method, function in inspect.getmembers(getattr(linear, name), callable):
            if not method.startswith("_") and "y" in inspect.signature(function).parameters:
                assert method in known, (name, method)


def targets_of(name):
    """Labels with one that is missing, in every form; of a regressor, numbers only."""
    for value in MISSING.values():
        for values in [NUMBERS] if "Regressor" in name else [NUMBERS, STRINGS]:
            if values is NUMBERS or not isinstance(value, (float, int)) or value != value:
                for make in FORMS.values():
                    yield make([*values[:ROW], value, *values[ROW + 1 :]])
    for key, series in SERIES.items():
        if key != "categories" or "Classifier" in name:
            yield series


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_missing_label(name, method):
    if not hasattr(getattr(linear, name), method.partition(",")[0]):
        return
    fitted = estimator(name).fit(X, NUMBERS)
    for y in targets_of(name):
        model = estimator(name) if method == "fit" else fitted
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=OURS):
                METHODS[method](model, y)


@pytest.mark.parametrize("regression", [True, False, None])
def test_a_missing_label_of_compare(regression):
    for y in targets_of("Regressor" if regression else "Classifier"):
        with pytest.raises(ValueError, match=OURS):
            compare(X, y, regression=regression)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "Regressor" in name])
def test_strings_of_a_regressor(name):
    for y in (["0", "1", "x"] * (N_ROWS // 3), np.array(["0", "1", "x"] * (N_ROWS // 3))):
        for method in ("fit", "score"):
            model = estimator(name).fit(X, NUMBERS)
            with pytest.raises(ValueError, match="y must have a number for each row, got 'x' in r"):
                METHODS[method](model, y)


def test_scores_are_those_of_scikit_learn():
    from sklearn.metrics import accuracy_score, r2_score

    weights = np.arange(N_ROWS)
    for name in ESTIMATORS:
        model = estimator(name).fit(X, NUMBERS)
        y = [*NUMBERS[:5], *NUMBERS[6:], 1]
        score = r2_score if "Regressor" in name else accuracy_score
        for some in (None, weights):
            expected = score(y, model.predict(X), sample_weight=some)
            assert model.score(X, y, some) == expected
            assert model.score(X, np.array(y, object), sample_weight=some) == expected
