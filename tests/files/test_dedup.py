"""Records without near-duplicates, beside comparing all in plain Python."""

import bz2
import gzip
import io
import json
import lzma
import os

import numpy as np
import pytest
from _data.dedup_records import (
    first_rows,
    jaccard,
    lines_of,
    make_texts,
    numbered,
    read_table,
    shingles,
    witnesses_of,
    write_lines,
)
from _data.rows import families

from sparsemaps import ConsistentWeightedSampling, CountSketch, MinHash, RandomFourier
from sparsemaps._io import _zstd
from sparsemaps.files import Texts, deduplicate_files
from sparsemaps.libsvm import dump_svmlight_file

TEXTS = make_texts()
SETS = [shingles(text) for text in TEXTS]
MINHASH = MinHash(n_hashes=128, random_state=0)
EXACT = {"exact": True, "recall": 1, "source": "word:3"}


@pytest.mark.parametrize("format", ["txt", "jsonl"])
@pytest.mark.parametrize("threshold", [0.3, 0.8])
def test_exact_is_comparing_all(tmp_path, format, threshold):
    lines = write_lines(tmp_path / f"in.{format}", TEXTS, format)
    done = deduplicate_files(
        MINHASH, tmp_path / f"in.{format}", tmp_path / "out", threshold=threshold,
        clusters=tmp_path / "table", **EXACT,
    )  # fmt: skip
    numbers = numbered(witnesses_of(SETS, TEXTS, threshold))
    kept = first_rows(numbers)
    assert (tmp_path / "out").read_bytes() == b"".join(lines[row] for row in kept)
    rows, found = read_table(tmp_path / "table")
    assert rows == [str(row) for row in range(1, len(TEXTS) + 1)]
    assert found == numbers
    sizes = np.bincount(numbers)[1:]
    assert 5 < (sizes > 1).sum() < len(kept) < 200
    assert done[:4] == (len(TEXTS), len(kept), (sizes > 1).sum(), sizes.max())
    assert done.files[0].n_kept == len(kept)


def test_rows_of_libsvm_files(tmp_path):
    X = families(200)
    dump_svmlight_file(X, np.arange(200) % 2, tmp_path / "plain", zero_based=False)
    lines = (tmp_path / "plain").read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"\n", b" # a comment\r\n")
    odd = b"# a file\n\n" + b"".join(lines[:9]) + b"  # more \n" + b"".join(lines[9:])
    (tmp_path / "in").write_bytes(odd)
    sets = [set(row.indices.tolist()) for row in X]
    for exact, threshold in ((True, 0.6), (False, 0.4)):
        done = deduplicate_files(
            None, tmp_path / "in", tmp_path / "out", threshold=threshold, exact=exact, recall=1,
            clusters=tmp_path / "table",
        )  # fmt: skip
        _, numbers = read_table(tmp_path / "table")
        kept = first_rows(numbers)
        assert (tmp_path / "out").read_bytes() == b"".join(lines[row] for row in kept)
        assert done.n_kept == len(kept) < 190
        if exact:
            assert numbers == numbered(witnesses_of(sets, lines, threshold))


def test_exact_with_files_of_which_no_record_is_a_candidate(tmp_path):
    (tmp_path / "in").mkdir()
    for name, text in zip(
        "abcd", ["one two three", "four five six", "one two three", ""], strict=True
    ):
        (tmp_path / "in" / f"{name}.txt").write_text(f"{text}\n", encoding="utf-8")
    how = {"source": "word:1", "threshold": 0.5, "exact": True}
    done = deduplicate_files(MINHASH, tmp_path / "in", f"{tmp_path}/out/", **how)
    assert done[:4] == (4, 3, 1, 2)
    assert (tmp_path / "out" / "b.txt").read_bytes() == b"four five six\n"
    assert (tmp_path / "out" / "c.txt").read_bytes() == b""


def test_rows_of_values(tmp_path):
    """Near by the min-max kernel of values, not by the sets of columns."""
    (tmp_path / "in").write_bytes(b"0 1:1 2:5\n0 1:1.01 2:5\n0 1:5 2:1\n0,1 1:5 2:1\n")
    cws = ConsistentWeightedSampling(n_hashes=256, random_state=0)
    for exact in (False, True):
        done = deduplicate_files(cws, tmp_path / "in", tmp_path / "out", exact=exact)
        assert (tmp_path / "out").read_bytes() == b"0 1:1 2:5\n0 1:5 2:1\n"
        assert done[:4] == (4, 2, 2, 2)


def test_exact_decides_by_values(tmp_path):
    """Rows of a pair have the same columns, and one value more or less: some pairs are a little
    above the threshold, some a little below, which only the values tell."""
    lines, expected = [], []
    for pair in range(40):
        change = 1.2 if pair % 2 else 2.2  # similarity 5 / 6 or 5 / 7.2 beside 4 other values
        columns = [7 * pair + i for i in range(1, 6)]
        row = [f"{column}:1" for column in columns]
        other = [*row[:4], f"{columns[4]}:{1 + change}"]
        lines += ["0 " + " ".join(row) + "\n", "0 " + " ".join(other) + "\n"]
        expected += [lines[-2]] if 5 / (5 + change) >= 0.75 else lines[-2:]
    (tmp_path / "in").write_text("".join(lines))
    cws = ConsistentWeightedSampling(n_hashes=64, random_state=0)
    done = deduplicate_files(
        cws, tmp_path / "in", tmp_path / "out", threshold=0.75, exact=True, recall=1
    )
    assert (tmp_path / "out").read_text() == "".join(expected)
    assert done.n_kept == 60


def test_the_default_for_texts_is_five_words_in_minhash(tmp_path):
    lines = write_lines(tmp_path / "in.txt", TEXTS, "txt")
    deduplicate_files(None, tmp_path / "in.txt", tmp_path / "one")
    map = MinHash(random_state=0)
    deduplicate_files(map, tmp_path / "in.txt", tmp_path / "two", source="auto:5", recall=0.95)
    found = (tmp_path / "one").read_bytes()
    assert found == (tmp_path / "two").read_bytes()
    assert 0 < found.count(b"\n") < len(lines)
    file = io.BytesIO()
    done = deduplicate_files(None, io.BytesIO(b"".join(lines)), file, source=Texts(format="txt"))
    assert file.getvalue() == found
    assert done.files[0].output is file


def test_scripts_without_blanks(tmp_path):
    """By default their characters are the words; runs between blanks would be all different."""
    texts = ["私は東京に住んでいます。" * 3, "私は東京に住んでいます。" * 3 + "はい", "x y z u v w"]
    write_lines(tmp_path / "in.txt", texts, "txt")
    assert deduplicate_files(None, tmp_path / "in.txt", tmp_path / "out").n_kept == 2
    words = deduplicate_files(None, tmp_path / "in.txt", tmp_path / "words", source="word:5")
    assert words.n_kept == 3


def test_the_longest_is_kept(tmp_path):
    texts = ["a b c d é", "a b c d ef", "b", "A  B c d é", "a b c d e", "x y z u v w", "b"]
    lines = write_lines(tmp_path / "in.jsonl", texts)
    how = {"source": "word:1", "threshold": 0.5, "exact": True, "recall": 1}
    for keep, kept in (("first", [0, 2, 5]), ("longest", [1, 2, 5])):
        deduplicate_files(MINHASH, tmp_path / "in.jsonl", tmp_path / "out", keep=keep, **how)
        assert (tmp_path / "out").read_bytes() == b"".join(lines[row] for row in kept)
    (tmp_path / "in").write_bytes(b"0 1:1 2:1 3:1\n0 1:1 2:1 3:1 4:1\n1 1:1 2:1 3:1 4:1\n")
    how = {"threshold": 0.5, "exact": True, "recall": 1, "keep": "longest"}
    deduplicate_files(MINHASH, tmp_path / "in", tmp_path / "out", **how)
    assert (tmp_path / "out").read_bytes() == b"0 1:1 2:1 3:1 4:1\n"


def test_a_dry_run_makes_no_directory(tmp_path):
    write_lines(tmp_path / "in.jsonl", TEXTS)
    how = {"removed": tmp_path / "removed", "source": "word:3"}
    deduplicate_files(MINHASH, tmp_path / "in.jsonl", f"{tmp_path}/out/", dry_run=True, **how)
    assert (tmp_path / "removed").exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("keep", ["first", "longest"])
def test_each_removed_record_has_a_kept_one(tmp_path, keep, threshold):
    """The table of removals says which, and how similar: by brute force over all pairs, also where
    codes choose the candidates. Nothing that is removed is below the threshold."""
    lines = write_lines(tmp_path / "in.jsonl", TEXTS)
    order = sorted(range(len(TEXTS)), key=lambda row: -len(TEXTS[row]) if keep != "first" else 0)
    expected = witnesses_of(SETS, TEXTS, threshold, order)
    for options in (EXACT, {**EXACT, "recall": 0.95}):
        done = deduplicate_files(
            MINHASH, tmp_path / "in.jsonl", tmp_path / "out", threshold=threshold, keep=keep,
            removed=tmp_path / "removed", dry_run=options is not EXACT,
            **{**options, "source": Texts("word:3", id_field="id")},
        )  # fmt: skip
        header, *table = (tmp_path / "removed").read_text().splitlines()
        assert header == "removed\tkept\tsimilarity"
        found = list(range(len(TEXTS)))
        for line in table:
            removed, witness, similarity = line.split("\t")
            row, other = (int(name.removeprefix("id ")) for name in (removed, witness))
            found[row] = other
            exact = jaccard(SETS[row], SETS[other]) if SETS[row] or SETS[other] else 1
            assert exact >= threshold - 1e-12
            assert f"{exact:.6f}" == similarity
        kept = [row for row in range(len(TEXTS)) if found[row] == row]
        assert set(found) == set(kept)
        if options is EXACT:
            assert found == expected
            assert (tmp_path / "out").read_bytes() == b"".join(lines[row] for row in kept)
            (tmp_path / "out").unlink()
        else:
            assert not (tmp_path / "out").exists()
            assert done.files == []
        assert sum(done[5:9]) == len(table) == done.n_records - done.n_kept > 50


def test_causes(tmp_path):
    """Equal records, near ones, and those near an earlier delivery are counted apart."""
    words = [f"w{n}" for n in range(40)]
    near = " ".join(["other", *words[1:]])
    (tmp_path / "old.txt").write_text("an earlier text of some words\n")
    old = deduplicate_files(None, tmp_path / "old.txt", tmp_path / "old", source="word:1")
    assert old[6:9] == (0, 0, 0)
    texts = [" ".join(words), "x", near, " ".join(words), "x", "an earlier text of some words"]
    (tmp_path / "new.txt").write_text("\n".join(texts))
    done = deduplicate_files(
        None, tmp_path / "new.txt", tmp_path / "new", source="word:1", removed=tmp_path / "table",
        against=tmp_path / "old.stages",
    )  # fmt: skip
    assert (done.n_equal, done.n_near, done.n_earlier) == (2, 1, 1)
    rows = [line.split("\t")[:2] for line in (tmp_path / "table").read_text().splitlines()[1:]]
    assert rows == [["3", "1"], ["4", "1"], ["5", "2"], ["6", f"{tmp_path}/old.stages:1"]]


def test_short_records(tmp_path):
    """They are near nothing, but those of equal texts are copies, whatever else is in them."""
    texts = ["two words", "", "Two words", "two words", "", "two words of more", "\ud7ff"]
    lines = write_lines(tmp_path / "in.jsonl", texts)
    done = deduplicate_files(None, tmp_path / "in.jsonl", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"".join(lines[row] for row in (0, 1, 2, 5, 6))
    assert done[:4] == (7, 5, 2, 2)
    (tmp_path / "in").write_bytes(b"1\n-1\r\n1 \n-1\n1\n0 1:1\n")
    deduplicate_files(None, tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"1\n-1\r\n1 \n0 1:1\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'\xef\xbb\xbf{"text": "a"}\r\n\n  \n{"text": "b"}', None),
        (b'\xef\xbb\xbf\n{"text": "a"}\n{"text": "a"}\n', b'{"text": "a"}\n'),
        (b'{"text": "a"}\n{"text": "b"}\n{"text": "a"}', b'{"text": "a"}\n{"text": "b"}\n'),
        (b"\n\n", b""),
        (b"", b""),
    ],
)
def test_lines_that_are_odd(tmp_path, content, expected):
    (tmp_path / "in.jsonl").write_bytes(content)
    deduplicate_files(None, tmp_path / "in.jsonl", tmp_path / "out")
    if expected is None:
        expected = content.replace(b"\n\n  \n", b"\n")
    assert (tmp_path / "out").read_bytes() == expected


def test_lines_of_several_inputs_meet(tmp_path):
    """A last line without an end gets one, and a byte order mark stands at the front only."""
    for name, content in (
        ("a", b"\xef\xbb\xbfone"), ("b", b""), ("c", b"\xef\xbb\xbftwo\r\n\n"),
        ("d", b"\xef\xbb\xbf"), ("e", b"\xef\xbb\xbfone\n\xef\xbb\xbfthree\n"),
    ):  # fmt: skip
        (tmp_path / f"{name}.txt").write_bytes(content)
    inputs = sorted(tmp_path.glob("*.txt"))
    done = deduplicate_files(None, inputs, tmp_path / "out")
    expected = b"\xef\xbb\xbfone\ntwo\r\n\n\xef\xbb\xbfthree\n"
    assert (tmp_path / "out").read_bytes() == expected
    assert [(one.n_records, one.n_kept) for one in done.files] == [
        (1, 1), (0, 0), (2, 2), (0, 0), (2, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_folders_and_compressions(tmp_path, n_jobs):
    """One output for each input, in its compression; duplicates are found across all."""
    zstd = pytest.importorskip(_zstd.MODULE)
    folder = tmp_path / "in"
    folder.mkdir()
    codecs = {
        "": (bytes, bytes), ".gz": (gzip.compress, gzip.decompress),
        ".bz2": (bz2.compress, bz2.decompress), ".xz": (lzma.compress, lzma.decompress),
        ".zst": (
            zstd.compress,
            zstd.decompress,
        ),
    }  # fmt: skip
    lines = lines_of(TEXTS, "jsonl")
    kept = first_rows(numbered(witnesses_of(SETS, TEXTS, 0.6)))
    expected = {}
    for part, (ending, (compress, _)) in enumerate(codecs.items()):
        some = range(60 * part, 60 * part + 60)
        name = f"{part}.jsonl{ending}"
        (folder / name).write_bytes(compress(b"".join(lines[row] for row in some)))
        expected[name] = b"".join(lines[row] for row in kept if row in some)
    how = {"threshold": 0.6, "n_jobs": n_jobs, "progress": False, **EXACT}
    done = deduplicate_files(MINHASH, folder, f"{tmp_path}/out/", **how)
    found = {
        path.name: codecs[path.suffix if path.suffix != ".jsonl" else ""][1](path.read_bytes())
        for path in (tmp_path / "out").iterdir()
    }
    assert found == expected
    assert [os.path.basename(one.output) for one in done.files] == sorted(expected)
    assert all(text.count(b"\n") < 60 for text in list(expected.values())[1:])
    deduplicate_files(MINHASH, folder, tmp_path / "one.gz", **how)
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()) == b"".join(expected.values())


def test_many_blocks_by_threads(tmp_path):
    texts = [f"{text} {row}" for row in range(30) for text in TEXTS]
    write_lines(tmp_path / "in.jsonl", texts)
    assert (tmp_path / "in.jsonl").stat().st_size > 2**21
    found = []
    for n_jobs in (1, 3):
        deduplicate_files(MINHASH, tmp_path / "in.jsonl", tmp_path / "out", n_jobs=n_jobs)
        found.append((tmp_path / "out").read_bytes())
    assert found[0] == found[1]
    kept = [json.loads(line)["text"] for line in found[0].splitlines()]
    assert 100 < len(kept) < 3000
    short = [text for text in texts if len(text.split()) < 5]
    assert [text for text in kept if len(text.split()) < 5] == list(dict.fromkeys(short))


@pytest.mark.parametrize("is_many", [False, True])
def test_parquet(tmp_path, is_many):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    more = [[row, row + 1] if row % 3 else None for row in range(len(TEXTS))]
    table = pa.table({"id": range(len(TEXTS)), "text": TEXTS, "more": more})
    table = table.replace_schema_metadata({"about": "a test"})
    table = table.set_column(0, "id", table["id"].cast(pa.uint16()))
    codecs = {"id": "ZSTD", "text": "GZIP", "more.list.element": "NONE"}
    (tmp_path / "in").mkdir()
    for part in range(2):
        some = table.slice(150 * part, 150)
        parquet.write_table(
            some, tmp_path / f"in/{part}.parquet", row_group_size=40, compression=codecs
        )
    output = tmp_path / "out.parquet"
    how = {"threshold": 0.6, "clusters": tmp_path / "table", **EXACT}
    how["source"] = Texts("word:3", id_field="id")
    done = deduplicate_files(
        MINHASH, tmp_path / "in", f"{tmp_path}/out/" if is_many else output, **how
    )
    kept = first_rows(numbered(witnesses_of(SETS, TEXTS, 0.6)))
    paths = sorted((tmp_path / "out").iterdir()) if is_many else [output]
    found = pa.concat_tables([parquet.read_table(path) for path in paths])
    assert found.equals(table.take(kept))
    files = [parquet.ParquetFile(path) for path in paths]
    schema = parquet.read_schema(tmp_path / "in/0.parquet")
    assert schema.metadata == {b"about": b"a test"}
    assert all(file.schema_arrow.equals(schema, check_metadata=True) for file in files)
    assert sum(file.num_row_groups for file in files) == 8
    column = files[0].metadata.row_group(0).column
    assert [column(i).compression for i in range(3)] == ["ZSTD", "GZIP", "UNCOMPRESSED"]
    assert sum(one.n_kept for one in done.files) == len(kept)
    assert read_table(tmp_path / "table")[0] == [str(row) for row in range(300)]


def test_ids(tmp_path):
    write_lines(tmp_path / "a.jsonl", TEXTS[:30])
    write_lines(tmp_path / "b.jsonl", TEXTS[30:50])
    inputs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    table = tmp_path / "table.gz"
    deduplicate_files(
        MINHASH, inputs, tmp_path / "out", source=Texts(id_field="id"), clusters=table
    )
    text = gzip.decompress(table.read_bytes()).decode()
    ids = [line.split("\t")[0] for line in text.splitlines()]
    assert ids == [f"id {row}" for row in [*range(30), *range(20)]]


# ---- what is not allowed -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"map": CountSketch()}, "map must be a map with codes, such as MinHash, got CountSketch"),
        ({"map": RandomFourier(kernel="cauchy"), "inputs": "in.svm"}, "have no estimate"),
        ({"map": 3}, "map must be a map of sparsemaps"),
        ({"threshold": 0}, "threshold must be above 0 and at most 1, got 0"),
        ({"threshold": 1.01}, "threshold must be above 0 and at most 1, got 1.01"),
        ({"recall": -1}, "recall must be"),
        ({"keep": ""}, "keep must be"),
        ({"dry_run": 1}, "dry_run must be"),
        ({"removed": "in.jsonl"}, "is the input"),
        ({"output": "-", "removed": "-"}, "are both standard output"),
        ({"exact": 2}, "exact must be"),
        ({"resume": "yes"}, "resume must be"),
        ({"source": "words"}, "the analyzer must be"),
        (
            {"source": Texts(field="title")},
            r"in\.jsonl: line 1: expected the field 'title'; found 'id', 'text'",
        ),
        ({"output": "in.jsonl"}, "is the input"),
        ({"clusters": "in.jsonl"}, "is the input"),
        ({"clusters": "out"}, "would be the table of clusters and the output"),
        ({"output": "-", "clusters": "-"}, "the output and the table of clusters are both stand"),
        ({"removed": "-", "report": "-"}, "the table of removals and the report are both standard"),
        ({"output": "-", "task": ("codes", 0, 1)}, "tasks need inputs and outputs that are files"),
        (
            {"task": ("code", 0, 1)},
            "the stage must be codes or removals or clusters or kept or outputs, got",
        ),
        ({"task": 3}, "task must be a tuple"),
        ({"output": "x.parquet"}, "the output of JSON Lines is JSON Lines"),
        ({"inputs": ["in.jsonl", "in.svm"]}, r"in\.jsonl is a file of texts, and in\.svm is not"),
        ({"inputs": ["in.jsonl", "in.txt"]}, "have different formats; write to a directory"),
        ({"inputs": ["in.jsonl", "f/in.jsonl"], "output": "d/"}, "have the same output"),
        ({"inputs": "in.svm", "source": 3}, "source must be Texts, Svmlight, an analyzer"),
        ({"inputs": "in.parquet"}, "let its name end in .parquet"),
        ({"inputs": "bad.jsonl"}, r"bad\.jsonl: line 2: expected the field 'text'"),
        ({"inputs": "bad.svm"}, r"bad\.svm: line 2, column 3"),
        ({"against": "in.jsonl"}, r"in\.jsonl has records, not codes: against takes the folder"),
    ],
)
def test_what_is_not_allowed(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "in.jsonl", TEXTS[:9])
    write_lines(tmp_path / "in.txt", TEXTS[:9], "txt")
    (tmp_path / "in.svm").write_bytes(b"1 1:1\n")
    (tmp_path / "bad.svm").write_bytes(b"1 1:1\n1 x\n")
    (tmp_path / "bad.jsonl").write_bytes(b'{"text": "a"}\n{"more": 1}\n')
    before = sorted(os.listdir())
    given = {"map": None, "inputs": "in.jsonl", "output": "out", **options}
    with pytest.raises(ValueError, match=message):
        deduplicate_files(**given)
    assert sorted(os.listdir()) == before
