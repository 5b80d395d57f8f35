"""Records at the ends of what is allowed: the last that is right, and the first that is not."""

import io
import json
from decimal import Decimal

import pytest

from sparsemaps import MinHash
from sparsemaps.files import Texts, deduplicate_files
from sparsemaps.text import _frequencies, iter_records


def read(records, **options):
    lines = "".join(json.dumps(record) + "\n" for record in records)
    return list(iter_records(io.BytesIO(lines.encode()), format="jsonl", **options))


@pytest.mark.parametrize("n_fields", [7, 8, 9])
def test_eight_fields_are_named(n_fields):
    with pytest.raises(ValueError, match="expected the field 'text'; found 'f0'") as raised:
        read([{f"f{n}": "" for n in range(n_fields)}])
    said = str(raised.value).partition("; name the field")[0]
    assert said.endswith(", ..." if n_fields > 8 else f"'f{n_fields - 1}'")
    assert ("'f7'" in said) == (n_fields >= 8)
    assert "'f8'" not in said


@pytest.mark.parametrize("n_bits", [64, 65])
def test_ids_of_columns_have_64_bits(tmp_path, n_bits):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    ids = pa.array([Decimal(1), Decimal(2**n_bits - 1)], pa.decimal128(38))
    parquet.write_table(pa.table({"text": ["a", "b"], "id": ids}), tmp_path / "a.parquet")
    if n_bits == 64:
        (batch,) = iter_records(tmp_path / "a.parquet", id_field="id")
        assert batch.ids == [1, 2**64 - 1]
    else:
        with pytest.raises(ValueError, match=r"row 2: expected .* at most 64 bits in the column"):
            list(iter_records(tmp_path / "a.parquet", id_field="id"))


def test_booleans_order_no_records(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a b", "k": 1}\n{"text": "c d", "k": true}\n')
    with pytest.raises(ValueError, match="line 2: expected a number in the field 'k'; found a bo"):
        deduplicate_files(
            MinHash(n_hashes=16, random_state=0), tmp_path / "a.jsonl", tmp_path / "out",
            source=Texts("word:1"), keep="k",
        )  # fmt: skip
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("length", [4, 5])
def test_lengths_include_their_ends(tmp_path, length):
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "x" * length}) + "\n")
    minhash = MinHash(n_hashes=16, random_state=0)
    for limits, is_allowed in (
        ({"min_length": 5}, length >= 5),
        ({"max_length": 4}, length <= 4),
        ({"min_length": length, "max_length": length}, True),
    ):
        how = {"source": Texts("word:1", **limits)}
        if is_allowed:
            done = deduplicate_files(minhash, tmp_path / "a.jsonl", tmp_path / "o", **how)
            assert done.n_kept == 1
        else:
            with pytest.raises(ValueError, match=f"characters; found {length}"):
                deduplicate_files(minhash, tmp_path / "a.jsonl", tmp_path / "o", **how)


def test_a_table_of_two_buckets(tmp_path):
    table = _frequencies.Frequencies(2)
    table.counts[0] = 3, 1
    table.n_records = 4
    _frequencies.write(tmp_path / "table.npy", table, {})
    found, _ = _frequencies.read(str(tmp_path / "table.npy"))
    assert (found.counts == table.counts).all()
