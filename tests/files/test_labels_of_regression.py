"""Labels of a regression that are missing or not finite, in every format: one error that names file
and line, what was found and what is allowed; or the record is set aside."""

import numpy as np
import pytest
from _data.record_files import WRITERS

from sparsemaps import ConsistentWeightedSampling, cli, files
from sparsemaps._io._sources import LABELS
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.records import TEXT_FORMATS
from sparsemaps.records._table import FORMATS
from sparsemaps.text import iter_records

N, BAD = 24, 17
COMMANDS = {
    "train": "train minhash IN --label-field y --texts word:1 -o OUT --loss epsilon_insensitive",
    "compare": "compare IN --label-field y --texts word:1 --regression --seconds 1",
}
VALUES = {
    "null": (None, "null"),
    "nan": (float("nan"), "nan"),
    "infinity": (float("inf"), "inf"),
    "a string": ("many", "'many'"),
    "a list": ([1, 2], "a list"),
}
OF_CSV = {"null": "an empty field", "a list": "'[1, 2]'"}


def labels_with(value):
    numbers = [row / 4 for row in range(N)]
    return [*numbers[: BAD - 1], value, *numbers[BAD:]]


def written(path, kind, value):
    """Write records; of columns, a type that has the value."""
    rows = [{"text": f"w{row} b c", "y": label} for row, label in enumerate(labels_with(value))]
    if kind in ("parquet", "arrow") and isinstance(value, (str, list)):
        for row in rows:
            row["y"] = [row["y"]] if isinstance(value, list) else str(row["y"])
        rows[BAD - 1]["y"] = value
    WRITERS[kind](path, rows)
    return 1 if kind in ("parquet", "arrow") and isinstance(value, (str, list)) else BAD


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("kind", [kind for kind in TEXT_FORMATS if kind != "txt"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_label_that_is_not_a_number(tmp_path, capsys, command, kind, value):
    if not FORMATS[kind].is_streamed:
        pytest.importorskip("pyarrow")
    path, output = tmp_path / f"in.{kind}", tmp_path / "out"
    given, found = VALUES[value]
    row = written(path, kind, given)
    words = COMMANDS[command].replace("IN", str(path)).replace("OUT", str(output)).split()
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    if kind == "csv":
        found = OF_CSV.get(value, found if given == "many" else f"'{found}'")
    elif row != BAD and given == "many":
        found = "'0.0'"
    place = f"{FORMATS[kind].unit} {next(iter_records(path)).line_of(row - 1)}"
    assert f"in.{kind}: {place}: expected " in error, error
    assert "number" in error or kind == "csv", error
    assert f"'y'; found {found}" in error or f"'y', as CSV has no lists; found {found}" in error
    assert error.count("\n") == 1
    assert not output.exists()
    if row == BAD and command == "train":
        assert cli.main([*words, "--bad-records", str(tmp_path / "aside")]) == 0
        assert len((tmp_path / "aside").read_bytes().splitlines()) == 2
        model = KernelRegressor.load(output)
        assert model.predict(["w3 b c"]).shape == (1,)


def test_a_label_of_rows_and_of_codes(tmp_path):
    rows, codes = tmp_path / "in.svm", tmp_path / "codes.npy"
    model = KernelRegressor(ConsistentWeightedSampling(n_hashes=8, random_state=0))
    for value, message in (
        (float("nan"), "line 17: the label is nan; all labels must be finite"),
        (float("-inf"), "line 17: the label is -inf; all labels must be finite"),
    ):
        rows.write_text("".join(f"{label} 1:1\n" for label in labels_with(value)))
        with pytest.raises(ValueError, match=rf"in\.svm: {message}"):
            files.train_files(model, rows, tmp_path / "model")
    rows.write_text("".join(f"{label} 1:1\n" for label in labels_with("")))
    with pytest.raises(ValueError, match=r"in\.svm: line 17, column 2: expected a number as label"):
        files.train_files(model, rows, tmp_path / "model")
    rows.write_text("".join(f"{label} 1:1\n" for label in labels_with(3)))
    files.map_files(model.map, rows, codes, format="npy")
    labels = np.load(f"{codes}{LABELS}")
    labels[BAD - 1] = np.nan
    np.save(f"{codes}{LABELS}", labels)
    with pytest.raises(ValueError, match="label 17 is nan; all labels must be finite"):
        files.train_files(model, codes, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_labels_of_csv_are_numbers_of_a_regression_and_strings_of_classes(tmp_path):
    from sparsemaps.text._analyzers import vectorizer_of

    path, source = tmp_path / "in.csv", files.Texts("word:1", label_field="y")
    WRITERS["csv"](path, [{"text": f"w{row}", "y": str(row % 3)} for row in range(9)])
    parts = ConsistentWeightedSampling(n_hashes=8, random_state=0), vectorizer_of("word:1")
    for estimator in (KernelRegressor, KernelClassifier):
        model = estimator(parts[0], vectorizer=parts[1], random_state=0)
        found = files.train_files(model, path, tmp_path / "model", source=source).model
        numbers = model.fit([f"w{row}" for row in range(9)], [row % 3 for row in range(9)])
        assert (found.coef_ == numbers.coef_).all()
