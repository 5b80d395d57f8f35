"""Labels beside codes, and their table; labels that are not finite, in each format."""

import re

import numpy as np
import pytest
from _data.labelled_records import records, text_model, write_jsonl

from sparsemaps import MinHash, cli, files
from sparsemaps.files import Texts

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyarrow.feather")


@pytest.mark.parametrize("label", [-1.0, 0.5, 3.0, 4e9, np.nan, np.inf])
def test_labels_beside_codes_are_in_their_table(label, tmp_path):
    some, path = records(30), tmp_path / "a.npy"
    files.map_files(
        MinHash(n_hashes=64, random_state=0), write_jsonl(tmp_path / "a.jsonl", some),
        path, format="npy", source=Texts("word:1", label_field="label"),
    )  # fmt: skip
    assert len((tmp_path / "a.npy.classes.tsv").read_text().splitlines()) == 3
    labels = np.load(f"{path}.labels.npy")
    labels[7] = label
    np.save(f"{path}.labels.npy", labels)
    with pytest.raises(ValueError, match="not all labels are in the table"):
        files.train_files(text_model(), path, tmp_path / "model")
    assert not (tmp_path / "model").exists()


WANTED = "expected a (?:string, .*|finite number)"
ADVICE = "; --bad-records FILE sets such records aside"
LABELS = {
    "in.svm": "in.svm: line 9: the label is {}; all labels must be finite",
    "in.npy": "in.npy.labels.npy: label 9 is {}; all labels must be finite",
    "in.jsonl": f"in.jsonl: line 9: {WANTED} in the field 'y'; found {{}}{ADVICE}",
    "in.parquet": f"in.parquet: row 9: {WANTED} in the column 'y'; found {{}}{ADVICE}",
    "in.arrow": f"in.arrow: row 9: {WANTED} in the column 'y'; found {{}}{ADVICE}",
}
"""How an error about a label names its place, in each format with numbers."""


@pytest.mark.parametrize("label", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("job", ["train", "validation", "compare", "map"])
def test_labels_are_finite(tmp_path, monkeypatch, capsys, job, regression, name, label):
    """Of each command that reads labels, and each format: the error has the file and the place."""
    monkeypatch.chdir(tmp_path)
    labels = [*(float(number % 2) for number in range(8)), float(label), 1.0]
    loss = ["--loss", "epsilon_insensitive"] if regression else []
    for bad in (False, True):
        path = name if bad else f"good_{name}"
        _write(path, labels if bad else labels[:8])
    words = [name] if name.endswith((".svm", ".npy")) else [name, "--label-field", "y"]
    if job in ("compare", "map") and name.endswith(".npy"):
        return
    if job == "train":
        words = ["train", "minhash", *words, *loss, "-o", "model"]
    elif job == "validation":
        words = ["train", "minhash", f"good_{name}", *words[1:], *loss, "-o", "model"]
        words += ["--validation", name]
    elif job == "map":
        words = ["map", "minhash", *words, "-o", "codes.npy", "--format", "npy"]
        words += [] if name.endswith(".svm") else ["--texts", "word:1"]
    else:
        words = ["compare", *words, *(["--regression"] if regression else [])]
        words += [] if name.endswith(".svm") else ["--texts", "word:1"]
    assert cli.main(words) == 2
    said = capsys.readouterr().err.removeprefix("sparsemaps: ")
    expected = LABELS[name].format(label)
    if job == "compare":
        expected = expected.replace("in.svm: line", "in.svm: row")
    assert re.fullmatch(f"{expected}\n", said), said
    assert not (tmp_path / "model").exists()


def _write(path, labels):
    rows = [f"{number % 3 + 1}:1" for number in range(len(labels))]
    if path.endswith((".svm", ".npy")):
        source = path.replace(".npy", ".svm")
        lines = [f"{label} {row}\n" for label, row in zip(labels, rows, strict=True)]
        with open(source, "w") as file:
            file.write("".join(lines))
        if path.endswith(".npy"):
            minhash = MinHash(n_hashes=8, random_state=0)
            minhash.fit_any_width().encode(np.eye(len(labels)), packed=True).save(path)
            np.save(f"{path}.labels.npy", labels)
        return
    if path.endswith(".jsonl"):
        lines = [f'{{"text": "{row}", "y": {y}}}\n' for row, y in zip(rows, labels, strict=True)]
        with open(path, "w") as file:
            file.write("".join(lines).replace("nan", "NaN").replace("inf", "Infinity"))
        return
    table = pyarrow.table({"text": rows, "y": labels})
    if path.endswith(".parquet"):
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path)
