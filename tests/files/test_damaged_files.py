"""Damaged files of codes, of an index, of stages and of frequencies are read or refused, and
nothing else."""

import json

import numpy as np
import pytest
from _scripts import damaged_files

from sparsemaps import MinHash, files
from sparsemaps.codes import PackedCodes
from sparsemaps.files import Texts
from sparsemaps.linear import KernelClassifier

MINHASH = MinHash(n_hashes=64, random_state=0)
TEXTS = ["one two three four", "one two three four", "five six seven", "eight nine ten"]


@pytest.mark.parametrize("kind", damaged_files.KINDS)
def test_damaged_files_are_read_or_refused(kind):
    n, least = (300, 20) if kind != "stages" else (100, 1)  # of stages, most are made again
    outcomes = damaged_files.run(kind, range(n))
    assert min(outcomes["read"], outcomes["refused"]) >= least, outcomes


@pytest.fixture
def delivery(tmp_path):
    """The codes of four texts with ids, in the folder of a deduplication."""
    lines = [json.dumps({"id": f"id{row}", "text": text}) for row, text in enumerate(TEXTS)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    dedup(tmp_path, "out.jsonl")
    return tmp_path / "out.jsonl.stages/codes.npy"


def dedup(folder, output, **options):
    source = Texts("word:1", id_field="id")
    files.deduplicate_files(MINHASH, folder / "in.jsonl", folder / output, source=source, **options)


def pairs(codes, output, **options):
    return files.similar_pairs_of_files(None, codes, output, **options)


@pytest.mark.parametrize(
    ("ids", "n_lines"),
    [(b"", 0), (b"a\nb\nc\n", 3), (b"a\nb\nc\nd\ne\n", 5), (b"a\nb\nc\nd\ne", 5)],
)
def test_ids_of_more_or_fewer_rows(delivery, tmp_path, ids, n_lines):
    """One error, whoever reads them."""
    codes = PackedCodes.load(delivery)
    model = KernelClassifier(map=MINHASH).fit(codes, np.arange(4) % 2)
    path = delivery.parent / "codes.npy.ids.txt"
    path.write_bytes(ids)
    message = rf"codes.npy.ids.txt must have a line for each row: expected 4 lines, got {n_lines}"
    for job in (
        lambda: pairs(delivery, tmp_path / "pairs.tsv"),
        lambda: pairs(delivery, tmp_path / "pairs.tsv", other=tmp_path / "other.npy"),
        lambda: files.predict_files(model, delivery, tmp_path / "labels.tsv"),
        lambda: dedup(tmp_path, "new", against=delivery, removed=tmp_path / "removed.tsv"),
    ):
        codes.save(tmp_path / "other.npy")
        with pytest.raises(ValueError, match=message):
            job()
        assert not list(tmp_path.glob("*.tsv"))


def test_ids_of_two_inputs_are_counted_apart(delivery, tmp_path):
    """As many ids as rows in all, but not for each input."""
    codes = PackedCodes.load(delivery)
    for name, n_ids in (("one", 3), ("two", 5)):
        codes.save(tmp_path / f"{name}.npy")
        (tmp_path / f"{name}.npy.ids.txt").write_text("id\n" * n_ids)
    with pytest.raises(ValueError, match=r"one.npy.ids.txt must have .* 4 lines, got 3"):
        pairs([tmp_path / "one.npy", tmp_path / "two.npy"], tmp_path / "pairs.tsv")


def test_a_table_of_clusters_needs_all_ids(delivery, tmp_path):
    """The record of the codes has the size of the file of ids, which may have changed."""
    ids = delivery.parent / "codes.npy.ids.txt"
    ids.write_bytes(ids.read_bytes().replace(b"id1\nid2\n", b"id1_id2\n"))
    with pytest.raises(ValueError, match=r"codes-.*.npy.ids.txt must have a line for each row"):
        dedup(tmp_path, "out.jsonl", clusters=tmp_path / "clusters.tsv")
    assert not (tmp_path / "clusters.tsv").exists()


@pytest.mark.parametrize("comment", ["4\tfifth", "-1\tlast", "one\tfirst", "", "1\ta\n0\tb"])
def test_comments_of_other_rows(delivery, tmp_path, comment):
    (delivery.parent / "codes.npy.comments.tsv").write_text(comment + "\n")
    with pytest.raises(
        ValueError, match=r"comments.tsv, line \d: the row must be from . to 3, got '"
    ):
        pairs(delivery, tmp_path / "pairs.tsv")
    assert not (tmp_path / "pairs.tsv").exists()
