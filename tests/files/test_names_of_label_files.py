"""The name of an output of labels tells its format; names of other formats are refused."""

import io

import numpy as np
import pytest

from sparsemaps import MinHash, files
from sparsemaps.cli import main
from sparsemaps.linear import KernelClassifier
from sparsemaps.records._table import ENDINGS

JSON = ".jsonl", ".ndjson", ".json"


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.svm").write_text("0 1:1\n0 2:1\n")
    made = KernelClassifier(MinHash(n_hashes=8, random_state=0), random_state=0)
    return made.fit(np.repeat(np.eye(2), 3, axis=0), [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("ending", [*ENDINGS, ".tsv", ".JSONL", ".json.gz", ""])
def test_every_ending(model, tmp_path, capsys, ending):
    path = tmp_path / f"out{ending}"
    if ending in ENDINGS and ENDINGS[ending].name not in ("jsonl", "txt"):
        path.write_text("earlier")
        rule = r"written as a table with tabs \(.tsv\) or as JSON Lines \(.jsonl\), not as "
        with pytest.raises(ValueError, match=rule):
            files.predict_files(model, "in.svm", path)
        model.save("model")
        assert main(["predict", "model", "in.svm", "-o", str(path)]) == 2
        assert f"out{ending}: labels are written as a table" in capsys.readouterr().err
        assert path.read_text() == "earlier"
        return
    files.predict_files(model, "in.svm", path)
    if not ending.endswith(".gz"):
        first = path.read_text().splitlines()[0]
        assert first.startswith("{" if ending.lower() in JSON else "record\tlabel")


@pytest.mark.parametrize(("job", "more"), [("predict_files", {}), ("filter_files", {"label": 0})])
def test_nothing_is_written_if_the_format_of_an_input_is_not_known(tmp_path, job, more):
    model = KernelClassifier(MinHash(n_hashes=8, random_state=0), vectorizer="word:1")
    model.fit(["a", "b"], [0, 1])
    for name in ("first.txt", "second"):
        (tmp_path / name).write_text("a\n")
    inputs, out = [tmp_path / "first.txt", tmp_path / "second"], io.BytesIO()
    with pytest.raises(ValueError, match="second: format must be given"):
        getattr(files, job)(model, inputs, out, **more)
    assert not out.getvalue()
