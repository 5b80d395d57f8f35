"""Labels, targets and weights in series and frames: the model is that of lists of them, or there is
one error."""

import datetime
import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _data.chance import SEED

from sparsemaps import MinHash, linear

N_ROWS = 12
X = np.random.default_rng(SEED + 77).integers(0, 2, (N_ROWS, 5))
X[:, 0] = 1
OTHER_ROWS = range(100 + N_ROWS, 100, -1)
"""An index that has none of the numbers of the rows."""


def estimator(name, **parameters):
    if name.endswith("CV"):
        parameters |= {"Cs": [1.0], "cv": 3}
    made = getattr(linear, name)(MinHash(n_hashes=8, random_state=0), random_state=0)
    return made.set_params(**parameters)


ESTIMATORS = sorted(name for name in linear.__all__ if name.startswith("Kernel"))
CLASSIFIERS = [name for name in ESTIMATORS if "Classifier" in name]

SERIES = {
    "pandas": lambda values: pd.Series(values, index=OTHER_ROWS),
    "pandas, objects": lambda values: pd.Series(values, dtype=object),
    "pandas, its own types": lambda values: pd.Series(values).convert_dtypes(),
    "pandas, of Arrow": lambda values: pd.Series(
        pd.array(values, dtype=pd.ArrowDtype(pa.array(values).type))
    ),
    "pandas, categories": lambda values: pd.Series(values).astype("category"),
    "pandas, index": pd.Index,
    "polars": pl.Series,
    "Arrow": pa.array,
    "Arrow, chunks": lambda values: pa.chunked_array([values[:5], values[5:]]),
    "Arrow, dictionary": lambda values: pa.array(values).dictionary_encode(),
}
FRAMES = {
    "pandas": lambda columns: pd.DataFrame(columns, index=OTHER_ROWS),
    "pandas, its own types": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, types of columns": lambda columns: pd.DataFrame(columns).astype({"a": "Int64"}),
    "pandas, of Arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "Arrow, batch": pa.record_batch,
}
LABELS = {
    "integers": [0, 1, 2],
    "integers beyond float64": [2**53, 2**53 + 1, 2**53 + 2],
    "floats": [0.5, 1.5, 2.5],
    "strings": ["a", "b", "01"],
    "booleans": [True, False, True],
}


def fitted(name, y, sample_weight=None):
    return estimator(name).fit(X, y, sample_weight)


def assert_equal(found, expected):
    assert (found.coef_ == expected.coef_).all()
    assert (found.intercept_ == expected.intercept_).all()


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_labels_and_targets(name, labels):
    values = LABELS[labels] * (N_ROWS // 3)
    is_classifier = name in CLASSIFIERS
    if labels == "floats" if is_classifier else labels == "strings":
        return
    expected = fitted(name, values)
    frames = {f"frame, {key}": lambda of, key=key: FRAMES[key]({"a": of}) for key in FRAMES}
    for key, make in {**SERIES, **frames}.items():
        if key == "frame, pandas, types of columns" and labels.partition(" ")[0] != "integers":
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = fitted(name, make(values))
        assert_equal(found, expected)
        of_columns = [str(one.message) for one in caught if "column-vector y" in str(one.message)]
        assert bool(of_columns) == (key in frames), key  # as scikit-learn says
        if is_classifier:
            assert found.classes_.tolist() == sorted(set(values)), key
            assert [type(one) for one in found.classes_.tolist()] == [type(values[0])] * len(
                set(values)
            )


@pytest.mark.parametrize("name", ESTIMATORS)
def test_weights(name):
    y, weights = [0, 1] * (N_ROWS // 2), [1.0, 2.0, 0.5] * (N_ROWS // 3)
    expected = fitted(name, y, weights)
    for make in SERIES.values():
        assert_equal(fitted(name, y, make(weights)), expected)
    for make in FRAMES.values():
        with pytest.raises(ValueError, match=r"sample_weight must be of shape \(12,\)"):
            fitted(name, y, make({"a": [int(2 * one) for one in weights]}))
    if name in CLASSIFIERS:
        expected = expected.calibrate(X, y, weights).calibration_
        for make in SERIES.values():
            found = fitted(name, y, weights).calibrate(X, make(y), make(weights)).calibration_
            assert found.slope == expected.slope
            assert (found.offsets == expected.offsets).all()


def test_several_labels():
    columns = {"a": [0, 1] * 6, "b": [1, 1, 0] * 4, "c": [0, 0, 1, 1] * 3}
    expected = fitted("KernelClassifier", np.transpose(list(columns.values())))
    as_booleans = {key: [bool(one) for one in values] for key, values in columns.items()}
    some = {key: pd.Series(values, dtype="boolean") for key, values in as_booleans.items()}
    others = [pd.DataFrame({**columns, "b": some["b"]})]
    others.append(pd.DataFrame(columns).astype("Sparse[int8]"))
    frames = [make(columns) for make in FRAMES.values()]
    frames += [make(as_booleans) for key, make in FRAMES.items() if "types of" not in key]
    for frame in frames + others:
        found = fitted("KernelClassifier", frame)
        assert found.multilabel_
        assert_equal(found, expected)
    masked = np.ma.masked_equal(np.transpose(list(columns.values())) + [[0, 0, 2]] * 12, 3)
    with pytest.raises(ValueError, match="got a masked one in row 2"):
        fitted("KernelClassifier", masked)
    for name in set(ESTIMATORS) - {"KernelClassifier"}:
        with pytest.raises(ValueError, match=r"1d array|one label for each row"):
            fitted(name, frames[0])


def with_nothing(make, kind, values):
    """Series and frames with a value that is missing in the last row."""
    return make([*values[:-1], None]) if kind == "series" else make({"a": [*values[:-1], None]})


MISSING = "for each row, got (None|nan|NaN|<NA>) in row 11|contains NaN"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_missing_values(name):
    numbers, strings = [0, 1] * (N_ROWS // 2), ["a", "b"] * (N_ROWS // 2)
    for values in [numbers, strings] if name in CLASSIFIERS else [numbers]:
        for kind, forms in (("series", SERIES), ("frame", FRAMES)):
            for key, make in forms.items():
                if "types of" in key:
                    continue
                y = with_nothing(make, kind, values)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    with pytest.raises(ValueError, match=MISSING):
                        fitted(name, y)
                if values is numbers and kind == "series":
                    with pytest.raises(ValueError, match=MISSING):
                        fitted(name, numbers, y)
    if name == "KernelClassifier":
        for key, make in FRAMES.items():
            if "types of" not in key:
                columns = {"a": numbers, "b": [*numbers[:-1], None]}
                with pytest.raises(ValueError, match=r"got <NA> in row 11, column 1|contains NaN"):
                    fitted(name, make(columns))


DAYS = [datetime.datetime(2020, 1, 1 + i) for i in range(N_ROWS)]
NO_VALUES = {
    "masked": (np.ma.masked_equal([0, 1, 2] * 4, 2), "for each row, got a masked one in row 2"),
    "times": (np.arange(N_ROWS).astype("M8[s]"), r"must not have times, got datetime64\[s\]"),
    "differences": (np.arange(N_ROWS).astype("m8[s]"), r"must not have times, got timedelta64"),
    "pandas, times": (pd.Series(DAYS), "must not have times, got datetime64"),
    "polars, times": (pl.Series(DAYS), "must not have times, got datetime64"),
    "Arrow, times": (pa.array(DAYS), "must not have times, got|for each row, got datetime"),
    "objects, times": (pd.Series(DAYS, dtype=object), "for each row, got .*2020.* in row 0"),
    "complex": (np.arange(N_ROWS) * 1j, "Complex data not supported"),
    "lists": (pl.Series([[1, 2]] * N_ROWS), "for each row, got .* in row 0"),
    "records": (np.zeros(N_ROWS, [("a", int)]), "must have one value for each row, got records"),
    "Int128": (pl.Series(range(N_ROWS), dtype=pl.Int128), "cannot be converted to an array: .*128"),
    "a text": ("ab" * 6, "must have a value for each row, got one str"),
    "a dictionary": ({0: 1}, "must have a value for each row, got one dict"),
    "arrays": (pa.array([[1]] * N_ROWS), "for each row, got array.* in row 0"),
    "NaN": (np.array([1.0, np.nan] * 6), "contains NaN in row 1; all .* must be finite"),
    "infinity": (np.array([1.0, np.inf] * 6), "contains infinity in row 1; all .* must be finite"),
    "structs": (pa.array([{"a": 1}] * N_ROWS), "for each row, got .* in row 0"),
}


@pytest.mark.parametrize("key", NO_VALUES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_values_that_are_none(name, key):
    values, message = NO_VALUES[key]
    with pytest.raises(ValueError, match=f"y .*{message}|^{message}"):
        fitted(name, values)
    with pytest.raises(ValueError, match=f"sample_weight .*{message}|^{message}"):
        fitted(name, [0, 1] * (N_ROWS // 2), values)


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="StringDType came with NumPy 2.0")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_strings_of_any_length(name):
    values = ["a", "b" * 40, "01"] * (N_ROWS // 3)
    found = fitted(name, np.array(values, np.dtypes.StringDType()))
    assert_equal(found, fitted(name, values))
    assert found.classes_.tolist() == sorted(set(values))


def test_decimals_are_targets_and_no_labels():
    values = [decimal.Decimal(f"{i}.5") for i in range(N_ROWS)]
    expected = fitted("KernelRegressor", list(map(float, values)))
    for make in (pd.Series, pl.Series, pa.array):
        assert_equal(fitted("KernelRegressor", make(values)), expected)
        with pytest.raises(ValueError, match=r"got Decimal\('0.5'\) in row 0"):
            fitted("KernelClassifier", make(values))
