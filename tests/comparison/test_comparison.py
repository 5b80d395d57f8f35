"""`compare`: what it takes, what it refuses, and what its table says."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from _data.clocks import Ticking
from sklearn.datasets import load_wine

from sparsemaps import MinHash
from sparsemaps.comparison import Comparison, Measured, _are_to_predict, compare, compare_by
from sparsemaps.comparison._budget import Budget

X, Y = load_wine(return_X_y=True)
SOME = slice(0, None, 2)


def compared(seconds, X, y, *, watch=None, **options):
    budget = Budget(seconds, Ticking())
    budget.watch = watch or budget.watch
    return compare_by(budget, X, y, random_state=0, **options)


def test_rows_are_measured():
    lines = []
    found = compared(3, X[SOME], Y[SOME], test=(X[1::2], Y[1::2]), watch=lines.append)
    assert found.best.score > 0.9
    assert found.best.test_score > 0.9
    assert found.metric == "accuracy"
    assert found.n_used == found.n_rows == len(X[SOME])
    assert [row.score for row in found] == sorted((row.score for row in found), reverse=True)
    assert {line.partition(":")[0] for line in lines} >= {"search 1", "fold 1", "test"}
    model = found.choice.estimator.fit(X[SOME], Y[SOME])
    assert model.score(X[1::2], Y[1::2]) == found.choice.test_score
    again = compared(3, sp.csr_array(X[SOME]), Y[SOME], test=(sp.csr_array(X[1::2]), Y[1::2]))
    assert [row.test_score for row in again] == [row.test_score for row in found]
    assert all(row.takes_dense for row in again)


def test_numbers_are_predicted():
    found = compared(3, X, X[:, 0] + 0.5 * X[:, 3])
    assert found.metric == "R2"
    assert found.best.score > 0.5
    assert compared(0.1, X, Y.astype(float)).metric == "accuracy"
    assert compared(0.1, X, Y, regression=True).metric == "R2"


@pytest.mark.parametrize(
    ("values", "each", "is_many"), [(101, 9, True), (101, 10, False), (100, 2, False)]
)
@pytest.mark.parametrize("kind", [int, float])
def test_numbers_of_many_values_are_predicted(values, each, is_many, kind):
    """As prices are, which are whole numbers in many files."""
    y = np.repeat(np.arange(values), each).astype(kind)
    assert _are_to_predict(y) == is_many
    assert not _are_to_predict(y.astype(str))


@pytest.mark.parametrize("vectorizer", ["char:1-2", "byte:2"])
def test_texts_are_measured(vectorizer):
    texts = [" ".join(["a", "b", "c", "ab"[k % 2] * (k % 7 + 2)]) for k in range(60)]
    labels = ["xy"[k % 2] for k in range(60)]
    found = compared(1, texts, labels, vectorizer=vectorizer)
    assert found.best.score > 0.9
    model = found.choice.estimator.fit(texts, labels)
    assert model.predict(texts[:2]).tolist() == labels[:2]


def test_candidates_do_not_warn_the_caller(recwarn):
    """Of many classes with few rows each, scikit-learn's estimators warn; pytest makes errors of
    warnings."""
    found = compared(1, np.r_[X, X], np.tile(np.arange(len(X)) // 3, 2))
    assert found.best.score > 0
    assert not recwarn.list


def test_a_model_is_measured_however_little_time_there_is():
    assert len(compared(1e-9, X, Y)) == 1
    assert len(compare(X, Y, seconds=1e-9)) == 1


def test_rows_beyond_the_most_are_left_out(monkeypatch):
    import sparsemaps.comparison as module

    monkeypatch.setattr(module, "_MOST_ROWS", 100)
    found = compared(0.1, X, Y)
    assert (found.n_used, found.n_rows) == (100, len(X))
    assert f"Measured on 100 of {len(X)} rows" in str(found)


FRAME = pd.DataFrame(X[:, :3], columns=[*"abc"])
WITH_NAN = np.where(X.max() == X, np.nan, X)
TABLE = pd.DataFrame({"age": range(len(X)), "city": "Paris"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": X[:19], "y": Y[:19]}, "at least 20 rows, got 19"),
        ({"y": np.zeros(len(X))}, "at least 2 classes, got one class only"),
        ({"y": np.full(len(X), 2.5)}, r"at least 2 targets, got one only: 2\.5"),
        (
            {"X": np.arange(2002.0)[:, None], "y": np.arange(2002) // 2, "regression": False},
            "at most 1,000 classes, got 1,001; numbers to predict need regression=True",
        ),
        ({"y": Y[:-1]}, "inconsistent numbers of samples"),
        (
            {"X": WITH_NAN},
            "NaN in row 18, column 12; all values",
        ),
        (
            {"X": sp.csr_array(WITH_NAN)},
            "NaN in row 18, column 12; .*fills",
        ),
        (
            {"X": TABLE[["age"]].replace(0, np.nan)},
            r"NaN in row 0, column 0 \('age'\)",
        ),
        ({"X": TABLE[["age", "age"]]}, "columns of different names, got 'age' twice"),
        ({"X": TABLE.assign(city=pd.Timestamp(0))}, "must have numbers, got datetime64.* 'city'"),
        ({"X": X[:, :0]}, "0 feature"),
        ({"test": (X * np.inf, Y)}, "test contains (NaN|infinity) in row 0, column 0"),
        ({"y": np.where(Y == 0, np.nan, Y)}, "y contains NaN in row 0; all labels and targets"),
        ({"y": [None, *Y[1:]]}, "y must have .* for each row, got None in row 0"),
        ({"y": pd.Series([*Y[1:], None], dtype="Int64")}, "y contains NaN in row 177"),
        (
            {"vectorizer": "word:1", "X": [*["a text"] * 177, None]},
            "a text .*, got None in row",
        ),
        (
            {"vectorizer": "word:1", "X": pd.Series([*["a"] * 177, None])},
            "got (None|nan) in row",
        ),
        ({"test": (X[:, 1:], Y)}, "test has 12 columns, but X has 13"),
        ({"test": (X, Y[1:])}, "inconsistent numbers of samples"),
        ({"X": FRAME, "test": (FRAME[[*"bca"]], Y)}, "got 'b' as column 0 instead of 'a'"),
        ({"seconds": 0}, "seconds must be a finite number above 0, got 0"),
        ({"ordered": 1}, "ordered must be True or False, got 1"),
        ({"regression": "yes"}, "regression must be True or False, got 'yes'"),
        (
            {"regression": True, "y": [f"a{one}" for one in Y]},
            "y must have a number for each row, got 'a0' in row 0",
        ),
        ({"X": TABLE}, "compare takes a matrix, got strings in column 'city': .*OneHotEncoder"),
        ({"X": ["a text"] * len(X)}, "compare takes a matrix, got texts: .*HashingVectorizer"),
        ({"vectorizer": "word:1", "X": "a text"}, "X must be texts, got a single str"),
    ],
)
def test_what_is_refused(change, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compare(**({"X": X, "y": Y, "seconds": 1e-9} | change))


# ---- the table -----------------------------------------------------------------------------------


def row(name, score, row_bytes, error=0.01, **more):
    family = name.partition(",")[0]
    usual = {"size": None, "n_folds": 1, "behind": 0.0, "behind_error": 0.0, "test_score": None,
             "test_error": None, "train_seconds": 1.0, "row_seconds": 1e-6, "takes_dense": False,
             "estimator": MinHash()}  # fmt: skip
    return Measured(name=name, family=family, score=score, standard_error=error,
                    row_bytes=row_bytes, **(usual | more))  # fmt: skip


def table(*rows, **more):
    usual = {"metric": "accuracy", "n_rows": 9, "n_used": 9, "seconds": 1.0, "untried": (),
             "failed": ()}  # fmt: skip
    return Comparison(rows=rows, **(usual | more))


def far(*args, **more):
    """Return a row that is further behind the best than the error of the difference."""
    return row(*args, **more, behind=1.0)


def test_the_choice_is_the_smallest_within_a_standard_error():
    """That of the difference: the errors of the scores are larger."""
    best = row("minmax", 0.9, 1024, error=0.05)
    near = row("binning", 0.89, 64, error=0.05, behind=0.01, behind_error=0.01)
    smaller = row("fourier", 0.88, 8, error=0.05, behind=0.02, behind_error=0.019)
    assert table(best, near, smaller).choice is near
    assert table(best, smaller).choice is best
    assert table(best, row("a", 0.9, 64, row_seconds=2e-6), row("b", 0.9, 64)).choice.name == "b"


def test_few_folds_do_not_make_a_model_the_choice():
    """The error of a difference on a fifth of the rows is larger than that on all."""
    best = row("minmax", 0.9, 1024, n_folds=5)
    few = {"n_folds": 1, "behind_error": 0.02}
    near = row("binning", 0.892, 64, behind=0.008, **few)
    further = row("fourier", 0.89, 8, behind=0.01, **few)
    assert table(best, near, further).choice is near
    assert table(row("minmax", 0.9, 1024), near, further).choice is further


def test_it_says_when_no_map_wins():
    said = str(table(row("boosted trees", 0.9, 64), far("minmax", 0.8, 32, size=1024)))
    assert "Best: boosted trees, 90.0 +- 1.0." in said
    assert "The best map is minmax, 1,024, with 80.0 +- 1.0." in said
    assert "No map is needed: use boosted trees." in said
    said = str(table(row("minmax", 0.9, 32), far("linear model", 0.8, 64)))
    assert "No map is needed" not in said
    said = str(table(row("minmax", 0.9, 640), row("linear model", 0.9, 64)))
    assert "No map is needed: use the linear model." in said
    assert "The best map" not in said


def test_the_table():
    found = table(
        row("minmax", 0.5, 64, test_score=0.25, test_error=0.125, size=2048),
        far("binning", 0.25, 8),
        metric="R2", untried=("fourier",), failed=("signs: too long",),
    )  # fmt: skip
    lines = str(found).splitlines()
    assert lines[0].split() == ["R2", "test", "train,", "s", "us/row", "bytes/row"]
    shown = ["*", "minmax,", "2,048", "0.500", "+-", "0.010", "0.250", "+-", "0.125", "1.00", "1.0"]
    assert lines[1].split() == [*shown, "64"]
    assert len(lines[1]) == len(lines[2]) == len(lines[0])
    assert "No time for fourier: compare for more seconds." in lines
    assert "Some rows do not suit signs: too long" in lines
    assert "Neighbouring" not in str(found)
    alike = table(row("minmax", 0.5, 64), neighbours_alike=True)
    said = "Neighbouring rows are alike. If new rows come after these, compare with ordered=True."
    assert said in str(alike)
    assert (len(found), found[1].name, [one.name for one in found]) == (
        2, "binning", ["minmax", "binning"],
    )  # fmt: skip


def test_the_plot():
    pytest.importorskip("matplotlib")
    ax = table(row("minmax", 0.5, 64), row("minmax", 0.6, 8), row("linear model", 0.2, 9)).plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["minmax", "linear model"]
    (line, *_) = ax.containers[0]
    assert line.get_xydata().tolist() == [[8, 60], [64, 50]]
