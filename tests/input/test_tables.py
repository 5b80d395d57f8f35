"""Arrays and tables of every type: the output is that of the same numbers, or one clear error."""

import datetime
import decimal
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from _data.svmlight import dumped, load
from _data.variants import MAPS, make

from sparsemaps import kernels
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.neighbors import KernelNeighbors
from sparsemaps.text import IdfWeights

NUMBERS = np.array([[1, 0, 3], [0, 2, 0], [1, 1, 0], [3, 0, 1], [0, 1, 1], [2, 2, 0]])
Y = np.array([0, 1, 0, 1, 1, 0])


def in_pandas(dtype):
    return pd.DataFrame(NUMBERS, columns=list("abc")).astype(dtype)


def in_polars(*dtypes):
    table = pl.DataFrame(NUMBERS, schema=list("abc"), orient="row")
    for dtype in dtypes:
        table = table.cast(dtype)
    return table


def with_data(dtype):
    X = sp.csr_array(NUMBERS.astype(float))
    X.data = X.data.astype(dtype)
    return X


PANDAS = [f"{kind}{size}" for kind in ("int", "uint") for size in (8, 16, 32, 64)]
PANDAS += ["float16", "float32", "float64", "longdouble", "Int8", "Int64", "UInt64", "Float32"]
PANDAS += ["Float64", "object", "category", "string", "str", "Sparse[int64]"]
PANDAS += [f"{t}[pyarrow]" for t in ("int64", "uint8", "double", "float", "halffloat", "string")]

POLARS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
POLARS += [pl.Float32, pl.Float64, pl.String, pl.Decimal(10, 2)]

ARRAYS = [np.float16, np.longdouble, object, np.int8, np.uint64, ">f4", ">i8", "S1", "U1"]

SAME = {
    **{f"pandas, {t}": lambda t=t: in_pandas(t) for t in PANDAS},
    "pandas, Decimal": lambda: in_pandas(int).map(lambda x: decimal.Decimal(int(x))),
    "pandas, sparse columns of types": lambda: pd.DataFrame(
        {
            name: pd.arrays.SparseArray(NUMBERS[:, i].astype(t), fill_value=0)
            for i, (name, t) in enumerate({"a": "int8", "b": "float32", "c": "int64"}.items())
        }
    ),
    "pandas, Decimal of Arrow": lambda: in_pandas(pd.ArrowDtype(pa.decimal128(38, 2))),
    "pandas, types of columns": lambda: in_pandas({"a": "int8", "b": "float32", "c": "Int64"}),
    **{f"polars, {t}": lambda t=t: in_polars(t) for t in POLARS},
    "polars, Categorical": lambda: in_polars(pl.String, pl.Categorical),
    "polars, Enum": lambda: in_polars(pl.String, pl.Enum(["0", "1", "2", "3"])),
    **(
        {"polars, Float16": lambda: in_polars(pl.Float64, pl.Float16)}
        if hasattr(pl, "Float16")
        else {}
    ),
    "Arrow": lambda: pa.table({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1], "c": NUMBERS[:, 2]}),
    **{f"array, {t}": lambda t=t: NUMBERS.astype(t) for t in ARRAYS},
    "array, nothing masked": lambda: np.ma.array(NUMBERS.astype(float), mask=False),
    **{f"CSR, {t}": lambda t=t: with_data(t) for t in ARRAYS[:7]},
}

OF_BOOLEANS = {
    "pandas, bool": lambda: in_pandas("bool"),
    "pandas, boolean": lambda: in_pandas("bool").astype("boolean"),
    "pandas, bool[pyarrow]": lambda: in_pandas("bool[pyarrow]"),
    "polars, Boolean": lambda: in_polars(pl.Boolean),
    "array, bool": lambda: NUMBERS.astype(bool),
    "CSR, bool": lambda: with_data(bool),
}

NO_NUMBERS = {
    "pandas, a name twice": (
        lambda: pd.DataFrame(NUMBERS, columns=["a", "b", "a"]),
        "different names, got 'a' twice",
    ),
    "pandas, complex128": (lambda: in_pandas("complex128"), "Complex data not supported"),
    "pandas, datetime": (lambda: in_pandas("datetime64[ns]"), r"datetime64\[ns\] in column 'a'"),
    "pandas, timedelta": (lambda: in_pandas("timedelta64[ns]"), "got timedelta64"),
    "pandas, timestamp": (lambda: in_pandas("timestamp[ns][pyarrow]"), "got timestamp"),
    "pandas, Int64 with NA": (lambda: in_pandas("Int64").mask(NUMBERS == 0), "NaN in row 0"),
    "pandas, Arrow with NA": (lambda: in_pandas("int64[pyarrow]").mask(NUMBERS == 0), "NaN in row"),
    "pandas, filled by NaN": (
        lambda: in_pandas("Sparse[float64]"),
        "sparse columns whose fill value is 0, got nan in column 'a'",
    ),
    "pandas, filled by 1": (
        lambda: in_pandas(pd.SparseDtype(int, 1)),
        "sparse columns whose fill value is 0, got 1 in column 'a'",
    ),
    "pandas, sparse columns of numbers and booleans": (
        lambda: in_pandas({"a": "Sparse[int64]", "b": pd.SparseDtype(bool), "c": "Sparse[int64]"}),
        "numbers or of booleans, not of both: column 'b' has booleans, 'a' has numbers",
    ),
    "pandas, sparse objects": (
        lambda: in_pandas(pd.SparseDtype(object, 0)),
        "got Sparse.object.* in column 'a'",
    ),
    "pandas, categories of times": (
        lambda: in_pandas("datetime64[ns]").astype("category"),
        r"got categories of datetime64\[ns\] in column 'a'",
    ),
    **{
        f"pandas, {kind} among objects": (
            lambda value=value: pd.DataFrame(
                {"a": 1.5, "b": [1, 2, None, value, 3, 4]}, dtype=object
            ),
            f"X must have numbers, got a value of type {kind} in row 3, column 'b': ",
        )
        for kind, value in {
            "date": datetime.date(2020, 1, 1),
            "NAType": pd.NA,
            "NaTType": pd.NaT,
            "complex": 1j,
            "list": [1],
            "dict": {},
            "Interval": pd.Interval(0, 1),
        }.items()
    },
    "pandas, no columns": (lambda: pd.DataFrame(index=range(6)), "at least one column, got none"),
    "array, sets among objects": (
        lambda: np.array([[1, 2], [3, {4}]] * 3, object),
        "X must have numbers, got a value of type set in row 1, column 1: ",
    ),
    "Arrow, UUIDs": (
        lambda: pa.table({"a": pa.array([bytes(16)] * 6, pa.uuid())}),
        "arrow.uuid.* in column 'a'|got strings in column 'a'",
    ),
    **{
        f"polars, {t}": (lambda t=t: in_polars(t), f"got {t}.* in column 'a'")
        for t in ("Date", "Datetime", "Duration", "Time")
        for t in (getattr(pl, t),)
    },
    **{
        f"polars, {t}": (
            lambda t=t: in_polars(getattr(pl, t)),
            f"X cannot be converted to numbers: .* ({t[0].lower()}128|{t})",
        )
        for t in ("Int128", "UInt128")
        if hasattr(pl, t)
    },
    "polars, List": (lambda: pl.DataFrame({"a": [[1, 2]] * 6}), r"got List\(Int64\) in column 'a'"),
    "polars, Array": (
        lambda: pl.DataFrame({"a": [[1, 2]] * 6}, schema={"a": pl.Array(pl.Int64, 2)}),
        r"got Array\(Int64, .* in column 'a'",
    ),
    "polars, Struct": (lambda: pl.DataFrame({"a": [{"x": 1}] * 6}), "got Struct.* in column 'a'"),
    "polars, Null": (lambda: pl.DataFrame({"a": [None] * 6}), "NaN in row 0, column 0"),
    "polars, lazy": (lambda: in_polars(pl.Int64).lazy(), r"got a LazyFrame: its collect\(\) makes"),
    **{
        f"Arrow, {kind}": (
            lambda kind=kind: pa.table({"b": [1] * 6, "a": pa.nulls(6, kind)}),
            rf"got {re.escape(str(kind))} in column 'a'$",
        )
        for kind in (
            pa.date32(),
            pa.timestamp("us", "UTC"),
            pa.time64("us"),
            pa.duration("s"),
            pa.list_(pa.int64()),
            pa.list_(pa.int8(), 2),
            pa.large_list(pa.int8()),
            pa.struct({"x": pa.int8()}),
            pa.map_(pa.string(), pa.int8()),
        )
    },
    "Arrow, null": (lambda: pa.table({"a": pa.nulls(6)}), r"NaN in row 0, column 0( \('a'\))?;"),
    "Arrow, with null": (
        lambda: pa.table({"a": [1, None] * 3}),
        r"NaN in row 1, column 0( \('a'\))?;",
    ),
    "Arrow, infinite": (
        lambda: pa.table({"a": [1, float("inf")] * 3}),
        r"infinity in row 1, column 0( \('a'\))?;",
    ),
    "pandas, lists of Arrow": (
        lambda: pd.DataFrame({"a": pd.array([[1]] * 6, pd.ArrowDtype(pa.list_(pa.int64())))}),
        r"got list.* in column 'a'",
    ),
    "polars, with null": (lambda: pl.DataFrame({"a": [1, None, 2, 3, 4, 5]}), "NaN in row 1"),
    "polars, Object": (
        lambda: pl.DataFrame({"a": pl.Series([object()] * 6, dtype=pl.Object)}),
        "not 'object'",
    ),
    "array, complex64": (lambda: NUMBERS.astype(np.complex64), "Complex data not supported"),
    "array, times": (lambda: NUMBERS.astype("datetime64[s]"), "must have numbers"),
    "array, masked": (lambda: np.ma.masked_equal(NUMBERS.astype(float), 1), "masked values"),
    "matrix": (lambda: NUMBERS.view(np.matrix), "np.matrix is not supported"),
    "CSR, complex64": (lambda: with_data(np.complex64), "Complex data not supported"),
}

FUNCTIONS = {
    **{
        name: lambda X, name=name, parameters=variants[0]: make(name, **parameters).fit_transform(X)
        for name, variants in MAPS.items()
    },
    "encode": lambda X: make("MinHash", n_hashes=16).fit(X).encode(X),
    "KernelClassifier": lambda X: (
        KernelClassifier(make("MinHash", n_hashes=16), random_state=0)
        .fit(X, Y)
        .decision_function(X)
    ),
    "KernelRegressor": lambda X: (
        KernelRegressor(make("MinHash", n_hashes=16), random_state=0).fit(X, Y).predict(X)
    ),
    "KernelNeighbors": lambda X: (
        KernelNeighbors(make("MinHash", n_hashes=16), n_neighbors=2).fit(X).kneighbors(X)[0]
    ),
    "IdfWeights": lambda X: IdfWeights(n_buckets=16).fit_transform(X),
    "exact kernel": kernels.rbf_kernel,
    "dump_svmlight_file": lambda X: load(dumped(X, Y), n_features=NUMBERS.shape[1])[0],
}


def dense(Z):
    return Z.toarray() if sp.issparse(Z) else np.asarray(Z)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_the_same_numbers(function):
    for numbers, tables in ((NUMBERS, SAME), (NUMBERS != 0, OF_BOOLEANS)):
        expected = dense(function(numbers.astype(float)))
        for name, table in tables.items():
            found = dense(function(table()))
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
@pytest.mark.parametrize(("table", "message"), NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
def test_what_are_no_numbers(function, table, message):
    with pytest.raises((TypeError, ValueError), match=message):
        function(table())


def test_rows_without_numbers_count_from_the_first():
    X = np.ones((3_000, 2), object)
    X[2_500, 1] = {4}
    with pytest.raises(TypeError, match="got a value of type set in row 2500, column 1: "):
        make("MinHash", n_hashes=16).fit(X)


def with_nan(kind):
    values = NUMBERS.astype(float)
    values[2, 0] = np.nan
    if kind == "Arrow":
        return pa.table(dict(zip("abc", values.T, strict=True)))
    if kind == "pandas, sparse":
        return pd.DataFrame(values, columns=list("abc")).astype(pd.SparseDtype(float, 0))
    return (pd if kind == "pandas" else pl).DataFrame(dict(zip("abc", values.T, strict=True)))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
@pytest.mark.parametrize("kind", ["pandas", "pandas, sparse", "polars", "Arrow"])
def test_columns_are_called_by_their_names(function, kind):
    message = r"^X contains NaN in row 2, column 0 \('a'\); .*; sklearn.impute.SimpleImputer"
    with pytest.raises(ValueError, match=message):
        function(with_nan(kind))


@pytest.mark.parametrize("name", kernels.__all__)
def test_errors_of_kernels_say_which_matrix(name):
    kernel, good, bad = getattr(kernels, name), NUMBERS.astype(float), with_nan("pandas")
    for given, matrix in (((bad,), "X"), ((good, bad), "Y")):
        with pytest.raises(ValueError, match=rf"^{matrix} contains NaN in row 2, column 0 \('a'\)"):
            kernel(*given)
