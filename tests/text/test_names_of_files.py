"""What the names of files tell: the format and the compression, in letters of any case."""

import bz2
import gzip
import itertools
import lzma
import os

import pytest
from _data.record_files import WRITERS

from sparsemaps import MinHash
from sparsemaps._io import _text_input, _zstd
from sparsemaps.files import deduplicate_files, map_files
from sparsemaps.records._table import ENDINGS
from sparsemaps.text import iter_records

zstd = pytest.importorskip(_zstd.MODULE)

COMPRESSIONS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
    ".zstd": zstd.compress,
}
FORMATS = {ending: format for ending, format in ENDINGS.items() if format.is_streamed}


def test_all_endings_are_tried():
    assert {*COMPRESSIONS} - {""} == _text_input._READERS.keys()
    assert {".txt", ".jsonl", ".ndjson", ".json", ".csv"} <= FORMATS.keys()
    assert {".parquet", ".arrow", ".feather"} <= ENDINGS.keys() - FORMATS.keys()


@pytest.mark.parametrize("case", [str.lower, str.upper, str.title])
@pytest.mark.parametrize(
    ("format", "compression"), itertools.product(FORMATS, COMPRESSIONS), ids=str
)
def test_endings(tmp_path, format, compression, case):
    WRITERS[FORMATS[format].name](tmp_path / "plain", [{"text": "a text"}])
    content = (tmp_path / "plain").read_bytes()
    path = tmp_path / ("in" + case(format + compression))
    path.write_bytes(COMPRESSIONS[compression](content))
    assert [batch.texts for batch in iter_records(path)] == [["a text"]]
    out = tmp_path / ("out" + case(format + compression))
    assert deduplicate_files(None, path, out).n_records == 1
    assert [batch.texts for batch in iter_records(out)] == [["a text"]]
    assert out.read_bytes()[:3] == path.read_bytes()[:3]  # compressed alike
    with (
        pytest.raises(ValueError, match="is a file of texts: give")
        if not FORMATS[format].may_be_rows
        else (pytest.raises(ValueError, match="expected a number as label"))
    ):
        map_files(MinHash(), path, tmp_path / "mapped")


def test_tables_of_another_case(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"text": ["a text"]}), tmp_path / "in.PARQUET")
    deduplicate_files(None, tmp_path / "in.PARQUET", tmp_path / "out.Parquet")
    assert parquet.read_table(tmp_path / "out.Parquet")["text"].to_pylist() == ["a text"]
    with pytest.raises(ValueError, match="let its name end in"):
        deduplicate_files(None, tmp_path / "in.PARQUET", tmp_path / "out")


def test_records_beside_outputs_are_no_inputs(tmp_path):
    """A .json file is a file of texts, unless it is beside the file that it tells of."""
    for name in ("a.txt", "a.txt.json", "a.txt.ids.txt", "b.json", "a.txt.bad.tsv"):
        (tmp_path / name).write_bytes(b'{"text": "a"}\n')
    found = [os.path.basename(batch.input) for batch in iter_records(tmp_path)]
    assert found == ["a.txt", "b.json"]


@pytest.mark.parametrize(
    ("content", "made_by"),
    [
        (b'[{"text": "a"}, {"text": "b"}]\n', "jq -c '.[]' FILE"),
        (b'[\n {"text": "a"},\n {"text": "b"}\n]\n', "jq -c '.[]' FILE"),
        (b'\xef\xbb\xbf [{"text": "a"}]', "jq -c '.[]' FILE"),
        (b'{\n "text": "a"\n}\n', "jq -c . FILE"),
    ],
)
def test_json_that_is_not_lines(tmp_path, content, made_by):
    (tmp_path / "in.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"in\.json: line 1: expected a JSON object") as caught:
        list(iter_records(tmp_path / "in.json"))
    assert made_by in str(caught.value)


def test_a_bad_line_after_the_first_gives_no_hint(tmp_path):
    (tmp_path / "in.json").write_bytes(b'{"text": "a"}\n[{"text": "b"}]\n')
    with pytest.raises(ValueError, match=r"in\.json: line 2: expected a JSON object") as caught:
        list(iter_records(tmp_path / "in.json"))
    assert "jq" not in str(caught.value)


def test_windows_of_zstandard(tmp_path):
    """Windows of any size are read: those above 128 MiB are refused unless one asks for them."""
    parameter = zstd.CompressionParameter
    options = {parameter.window_log: 28, parameter.enable_long_distance_matching: 1}
    made = zstd.ZstdCompressor(options=options)  # of a size that it does not know before
    content = b"a text\n" * 10
    path = tmp_path / "in.txt.zst"
    path.write_bytes(made.compress(content) + made.flush())
    with pytest.raises(zstd.ZstdError, match="memory"):
        zstd.ZstdFile(path).read()
    assert [batch.texts for batch in iter_records(path)] == [["a text"] * 10]
