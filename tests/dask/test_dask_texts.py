"""Raw texts on Dask."""

import os
from pathlib import Path

import numpy as np
import pytest
from _data.text_files import IDS, LABELS, TEXTS, write_jsonl
from _oracles.one_machine import CWS, joined, on_one_machine
from _scripts.commands import command

from sparsemaps import MinHash
from sparsemaps.codes import PackedCodes
from sparsemaps.files import Texts

sd = pytest.importorskip("sparsemaps.dask")
OPTIONS = {"source": Texts("char:2", label_field="label", id_field="id")}


@pytest.fixture
def inputs(tmp_path):
    """Some are cut into ranges, some are not; each has labels that others have not."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    import gzip

    folder = tmp_path / "in"
    folder.mkdir()
    text = write_jsonl(folder / "a.jsonl", TEXTS * 9, LABELS * 9, IDS * 9).read_bytes()
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(text))
    table = pa.table({"id": IDS, "text": TEXTS, "label": ["new", *LABELS[1:]]})
    parquet.write_table(table, folder / "c.parquet")
    write_jsonl(folder / "d.jsonl", TEXTS, ["A", *LABELS[1:]])
    return sorted(map(str, folder.iterdir()))


@pytest.mark.parametrize("partition_bytes", [200, 1000, 2**26])
def test_parts_are_what_one_machine_writes(inputs, tmp_path, partition_bytes):
    expected = on_one_machine(tmp_path / "one", inputs, **OPTIONS)
    out = tmp_path / "out"
    parts = sd.map_files(CWS, inputs, out, partition_bytes=partition_bytes, **OPTIONS)
    assert joined(parts) == expected
    sizes = [os.path.getsize(path) for path in inputs]
    n_ranges = [-(-sizes[0] // partition_bytes), 1, 1, -(-sizes[3] // partition_bytes)]
    assert len(parts) == sum(n_ranges)
    table = Path(f"{tmp_path}/one.classes.tsv").read_bytes()
    assert all(Path(f"{part}.classes.tsv").read_bytes() == table for part in parts)
    assert sd.map_files(CWS, inputs, out, partition_bytes=partition_bytes, **OPTIONS) == parts
    sd.map_files(CWS, inputs, out, partition_bytes=partition_bytes, source="char:2")
    assert not list(out.glob("*.classes.tsv"))


def test_codes(inputs, tmp_path):
    minhash = MinHash(n_hashes=16, random_state=0)
    options = {"source": "word:1", "format": "npy"}
    on_one_machine(tmp_path / "one", inputs, minhash, **options)
    parts = sd.map_files(minhash, inputs, tmp_path / "out", partition_bytes=500, **options)
    codes = PackedCodes.concatenate([PackedCodes.load(part) for part in parts])
    expected = PackedCodes.load(tmp_path / "one")
    np.testing.assert_array_equal(codes.array, expected.array)
    assert codes.config == expected.config


def test_a_bad_line_is_counted_from_that_of_the_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"some text\n" * 300 + b"\xff\n")
    with pytest.raises(ValueError, match=r"a\.txt: line 301: expected UTF-8"):
        sd.map_files(CWS, path, tmp_path / "out", partition_bytes=500, source="word:1")


def test_the_same_file_in_another_format(tmp_path):
    path = tmp_path / "records"
    path.write_text('{"text": "a b c"}\n{"text": "d e f"}\n')
    made = []
    for format in ("txt", "jsonl"):
        (part,) = sd.map_files(CWS, path, tmp_path / "out", source=Texts("word:1", format=format))
        made.append(Path(part).read_bytes())
    (fresh,) = sd.map_files(CWS, path, tmp_path / "new", source=Texts("word:1", format="jsonl"))
    assert made[0] != made[1] == Path(fresh).read_bytes()


def test_the_command_text(inputs, tmp_path):
    refused = command("text", *inputs, "-o", tmp_path / "x", "--dask", "--n-jobs", 1)
    assert b"--dask needs an output directory" in refused.stderr
