"""A fixture of several files here."""

import pytest
from _data.labelled_records import records, text_model, write_jsonl

from sparsemaps import files
from sparsemaps.files import Texts


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model of texts, in a file."""
    folder = tmp_path_factory.mktemp("model")
    write_jsonl(folder / "train.jsonl", records())
    files.train_files(
        text_model(), folder / "train.jsonl", folder / "model", source=Texts(label_field="label")
    )
    return folder / "model"
