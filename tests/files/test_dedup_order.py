"""Options of deduplication that decide which record is removed, and why: the order by a field,
equal records."""

import json

import numpy as np
import pytest
from _data.chance import SEED
from _data.dedup_records import make_texts, shingles, witnesses_of, write_lines

from sparsemaps import MinHash
from sparsemaps.files import Texts, deduplicate_files
from sparsemaps.neighbors import KernelNeighbors
from sparsemaps.text._analyzers import vectorizer_of

TEXTS = make_texts(160, seed=5)
SETS = [shingles(text) for text in TEXTS]
MINHASH = MinHash(n_hashes=128, random_state=0)
EXACT = {"exact": True, "recall": 1, "source": Texts("word:3"), "threshold": 0.5}


def write_scored(path, texts, scores):
    """Texts with a score; without the field where it is None."""
    records = [
        {"text": text} | ({} if score is None else {"score": score})
        for text, score in zip(texts, scores, strict=True)
    ]
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    path.write_bytes(b"".join(lines))
    return lines


def random_scores(n, seed):
    """Numbers with ties, of which some are missing."""
    rng = np.random.default_rng(SEED + seed)
    return [None if rng.random() < 0.2 else int(rng.integers(-3, 4)) for _ in range(n)]


def by_score(rows, scores):
    """Rows with the largest score first, and without a score last."""
    return sorted(rows, key=lambda row: (scores[row] is None, -(scores[row] or 0), row))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_largest_number_in_a_field_is_kept(tmp_path, n_jobs, short_ranges):
    short_ranges(5000)
    scores = random_scores(len(TEXTS), 1)
    lines = write_scored(tmp_path / "in.jsonl", TEXTS, scores)
    how = {"keep": "score", "removed": tmp_path / "table", "n_jobs": n_jobs, **EXACT}
    done = deduplicate_files(MINHASH, tmp_path / "in.jsonl", tmp_path / "out", **how)
    witness = witnesses_of(SETS, TEXTS, 0.5, by_score(range(len(TEXTS)), scores))
    kept = [row for row, other in enumerate(witness) if row == other]
    assert (tmp_path / "out").read_bytes() == b"".join(lines[row] for row in kept)
    table = [line.split("\t") for line in (tmp_path / "table").read_text().splitlines()[1:]]
    removed = [row for row, other in enumerate(witness) if row != other]
    assert [int(one) for one, _, _ in table] == [row + 1 for row in removed]
    assert [int(other) for _, other, _ in table] == [witness[row] + 1 for row in removed]
    assert kept != [row for row, other in enumerate(witnesses_of(SETS, TEXTS, 0.5)) if row == other]
    assert done.n_equal == sum(TEXTS[row] == TEXTS[witness[row]] for row in removed) > 0
    assert done.n_equal + done.n_near == len(removed)


def test_a_number_in_a_column_of_parquet(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    scores = [score and score / 2 for score in random_scores(len(TEXTS), 2)]
    table = pa.table({"text": TEXTS, "score": pa.array(scores, pa.float32())})
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=50)
    how = {"keep": "score", **EXACT}
    deduplicate_files(MINHASH, tmp_path / "in.parquet", tmp_path / "out.parquet", **how)
    witness = witnesses_of(SETS, TEXTS, 0.5, by_score(range(len(TEXTS)), scores))
    kept = [row for row, other in enumerate(witness) if row == other]
    assert parquet.read_table(tmp_path / "out.parquet").equals(table.take(kept))


@pytest.mark.parametrize("seed", range(3))
def test_deliveries_in_the_order_of_a_field(tmp_path, seed):
    """What is kept of deliveries, wherever they are cut, is what is kept of all of them together,
    in the order of the deliveries and then of the field."""
    rows = [row for row, own in enumerate(SETS) if own]  # of others only codes are known later
    texts, n = [TEXTS[row] for row in rows], len(rows)
    scores = random_scores(n, seed + 10)
    ends = np.sort(np.random.default_rng(SEED + seed).integers(1, n, seed + 1)).tolist()
    how = {"keep": "score", "source": "word:3", "threshold": 0.4, "recall": 0.95}
    kept, folders, of_all = [], [], []
    for start, stop in zip([0, *ends], [*ends, n], strict=True):
        some, out = tmp_path / f"{start}-{stop}.jsonl", tmp_path / f"{start}-{stop}.kept"
        write_scored(some, texts[start:stop], scores[start:stop])
        deduplicate_files(MINHASH, some, out, against=folders, **how)
        kept += [json.loads(line)["text"] for line in out.read_bytes().splitlines()]
        of_all += [
            -100 * len(folders) + (-50 if score is None else score) for score in scores[start:stop]
        ]
        folders.append(f"{out}.stages")
    write_scored(tmp_path / "all.jsonl", texts, of_all)
    deduplicate_files(MINHASH, tmp_path / "all.jsonl", tmp_path / "out", **how)
    together = [json.loads(line)["text"] for line in (tmp_path / "out").read_bytes().splitlines()]
    assert kept == together
    assert len(kept) < 0.8 * n


@pytest.mark.parametrize(
    ("content", "name", "keep", "message"),
    [
        (b'{"text": "a", "n": 1}\n{"text": "b", "n": "2"}\n', "a.jsonl", "n",
         r"a\.jsonl: line 2: expected a number in the field 'n'; found a string"),
        (b'{"text": "a", "n": true}\n', "a.jsonl", "n", "line 1: expected a number in .*boolean"),
        (b"a\n", "a.txt", "n", "lines of text have no fields, got keep='n'"),
        (b"1 1:1\n", "a.svm", "n", "keep='n' is a field of texts; rows have none"),
        (b"a\n", "a.txt", 3, "keep must be 'first', 'longest' or the name of a field, got 3"),
        (b"a\n", "a.txt", "", "keep must be 'first', 'longest' or the name of a field, got ''"),
    ],
)  # fmt: skip
def test_fields_that_order_nothing(tmp_path, content, name, keep, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        deduplicate_files(None, tmp_path / name, tmp_path / "out", keep=keep)


def test_equal_records_hold_the_same(tmp_path):
    """Texts of equal n-grams are equal if they are so byte for byte."""
    texts = ["a b c d", "A b c d", "a b  c d", "a b c d", "x", "x", "X"]
    write_lines(tmp_path / "in.jsonl", texts)
    done = deduplicate_files(None, tmp_path / "in.jsonl", tmp_path / "out", source="word:2")
    assert (done.n_records, done.n_kept, done.n_equal, done.n_near) == (7, 3, 2, 2)
    rows = b"0 1:1 2:1\n1 1:1 2:1\n0 1:1 2:1\n0 1:1 2:1 # c\n"
    (tmp_path / "in.svm").write_bytes(rows)
    done = deduplicate_files(None, tmp_path / "in.svm", tmp_path / "out.svm")
    assert (done.n_kept, done.n_equal, done.n_near) == (1, 1, 2)


# ---- one answer by every road --------------------------------------------------------------------


def test_insertion_row_by_row_and_tasks_give_the_same(tmp_path, short_ranges):
    """As one run, where all rows are compared; by the order of a field too, if rows are inserted
    in that order."""
    short_ranges(5000)
    rows = [row for row, own in enumerate(SETS) if own]
    texts = [TEXTS[row] for row in rows]
    scores = random_scores(len(rows), 4)
    lines = write_scored(tmp_path / "in.jsonl", texts, scores)
    X = vectorizer_of("word:3", binary=True).transform(texts)
    for keep, order in (("first", range(len(rows))), ("score", by_score(range(len(rows)), scores))):
        how = {"source": "word:3", "threshold": 0.5, "keep": keep, "recall": 1}
        one = tmp_path / f"{keep}.one"
        deduplicate_files(MINHASH, tmp_path / "in.jsonl", one, **how)
        by_tasks = tmp_path / f"{keep}.tasks"
        for stage in (
            "codes",
            "codes-join",
            "search-keys",
            "search",
            "removals",
            "clusters",
            "kept",
            "outputs",
        ):
            for i in (1, 0):
                deduplicate_files(
                    MINHASH, tmp_path / "in.jsonl", by_tasks, task=(stage, i, 2), **how
                )
        assert by_tasks.read_bytes() == one.read_bytes()
        index = KernelNeighbors(MINHASH, algorithm="brute")
        is_new = {row: bool(index.insert_new(X[row], threshold=0.5)[0]) for row in order}
        kept = [line for row, line in enumerate(lines) if is_new[row]]
        assert one.read_bytes() == b"".join(kept)
        assert 0.3 * len(rows) < len(kept) < 0.8 * len(rows)


def test_a_field_that_no_record_has(tmp_path):
    """It is spelt wrongly: an error, and the output of before stays."""
    (tmp_path / "in.jsonl").write_text('{"text": "a b c d e f", "score": 1}\n' * 3)
    (tmp_path / "out").write_bytes(b"before")
    with pytest.raises(
        ValueError, match=r"keep must be .* no record has a number in it, got 'scor"
    ):
        deduplicate_files(None, tmp_path / "in.jsonl", tmp_path / "out", keep="scores")
    assert (tmp_path / "out").read_bytes() == b"before"
