"""Fields that stand within others, in JSON and in columns of Parquet."""

import io
import json

import pytest

from sparsemaps.files import Texts, deduplicate_files
from sparsemaps.text import iter_records

RECORD = {
    "doc": {"text": "inner", "a.b": {"text": "deep", "n": 2**64}, "none": None, "n": 2**53 + 1},
    "doc.text": "own",
    "v.w": {"z": "far"},
    "x": {"y": {"w": "near"}, "y.z": {"text": "between"}},
}


def read(field, **options):
    content = json.dumps(RECORD).encode()
    (batch,) = iter_records(io.BytesIO(content), format="jsonl", field=field, **options)
    return batch


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("doc.text", "own"),
        ("doc.a.b.text", "deep"),
        ("v.w.z", "far"),
        ("x.y.w", "near"),
        ("x.y.z.text", "between"),
    ],
)
def test_paths(path, text):
    """A field of that name comes first, in any object on the way."""
    assert read(path).texts == [text]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("doc.other", "'doc.other'; found 'doc.text', 'doc.a.b', 'doc.none', 'doc.n'$"),
        ("doc.text.more", "expected the field 'doc.text.more'"),
        ("doc.", "expected the field 'doc.'"),
        ("doc.none", "expected a string in the field 'doc.none'; found null"),
        ("doc.a.b", "expected a string in the field 'doc.a.b'; found an object"),
    ],
)
def test_what_is_not_there(path, message):
    with pytest.raises(ValueError, match=f"line 1: .*{message}"):
        read(path)


def test_whole_numbers_keep_their_digits():
    batch = read("doc.text", label_field="doc.n", id_field="doc.n")
    assert (batch.labels, batch.ids) == ([2**53 + 1], [2**53 + 1])
    with pytest.raises(
        ValueError, match=r"at most 64 bits in the field 'doc\.a\.b\.n'; found 184467440"
    ):
        read("doc.text", label_field="doc.a.b.n")


def test_keep(tmp_path):
    """The largest number within the records decides."""
    lines = [{"doc": {"text": "a b c", "score": score}, "n": score} for score in (1, 9, 3)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    source = Texts("word:1", field="doc.text", id_field="doc.score")
    deduplicate_files(None, tmp_path / "a.jsonl", tmp_path / "b.jsonl", source=source,
                      keep="doc.score", removed=tmp_path / "removed")  # fmt: skip
    assert json.loads((tmp_path / "b.jsonl").read_text())["n"] == 9
    assert "1\t9\t1.0" in (tmp_path / "removed").read_text()
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(lines), tmp_path / "a.parquet", row_group_size=1)
    deduplicate_files(None, tmp_path / "a.parquet", tmp_path / "b.parquet", source=source,
                      keep="doc.score", removed=tmp_path / "removed2")  # fmt: skip
    assert parquet.read_table(tmp_path / "b.parquet").to_pylist() == [lines[1]]
    assert (tmp_path / "removed").read_bytes() == (tmp_path / "removed2").read_bytes()
