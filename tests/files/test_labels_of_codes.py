"""Labels beside codes, and their table."""

import numpy as np
import pytest
from _data.labelled_records import records, text_model, write_jsonl

from sparsemaps import MinHash, files
from sparsemaps.files import Texts


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
