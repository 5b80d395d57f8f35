"""Raw texts through maps to files."""

import bz2
import dataclasses
import gzip
import io
import lzma
import os

import numpy as np
import pytest
import scipy.sparse as sp
from _data.file_maps import cws, outputs
from _data.text_files import IDS, LABELS, TEXTS, write_jsonl

from sparsemaps import ConsistentWeightedSampling, CountSketch, MinHash
from sparsemaps._io import _zstd
from sparsemaps.codes import PackedCodes, collisions
from sparsemaps.files import Texts, deduplicate_files, map_files
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file
from sparsemaps.text import ByteNgrams
from sparsemaps.text._analyzers import vectorizer_of

MINHASH = MinHash(n_hashes=32, random_state=0)
SORTED = sorted(set(LABELS))


@pytest.fixture
def file(tmp_path):
    return write_jsonl(tmp_path / "a.jsonl")


def test_codes_are_those_of_python(file, tmp_path):
    words = vectorizer_of("word:2", binary=True)
    expected = MINHASH.fit_any_width().encode_texts(words, TEXTS, packed=True)
    texts = Texts("word:2", id_field="id")
    map_files(MINHASH, file, tmp_path / "out.npy", source=texts, format="npy")
    codes = PackedCodes.load(tmp_path / "out.npy")
    np.testing.assert_array_equal(codes.array, expected.array)
    np.testing.assert_array_equal(codes.sampled, expected.sampled)
    np.testing.assert_array_equal(codes.sizes, expected.sizes)
    assert (codes.bits, codes.config) == (expected.bits, expected.config)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected.array)
    assert not np.load(f"{tmp_path}/out.npy.labels.npy").any()
    assert (tmp_path / "out.npy.ids.txt").read_text().splitlines() == IDS


def test_codes_of_other_analyzers_do_not_compare(file, tmp_path):
    for spec in ("word:3", "word:5"):
        map_files(MINHASH, file, tmp_path / spec, source=spec, format="npy")
    codes = [PackedCodes.load(tmp_path / spec) for spec in ("word:3", "word:5")]
    with pytest.raises(ValueError, match="vectorized alike: ngram_range"):
        collisions(*codes)


def test_codes_of_matrices_open_too(tmp_path):
    X = sp.random_array((9, 30), density=0.2, random_state=0, format="csr")
    dump_svmlight_file(X, np.zeros(9), tmp_path / "in", zero_based=False)
    map_files(MINHASH, tmp_path / "in", tmp_path / "out.npy", format="npy")
    expected = MINHASH.fit(X).encode(X, packed=True)
    found = PackedCodes.load(tmp_path / "out.npy")
    np.testing.assert_array_equal(found.array, expected.array)
    np.testing.assert_array_equal(found.sampled, expected.sampled)
    assert (collisions(found, expected).diagonal()[expected.sampled] == 32).all()


@pytest.mark.parametrize("spec", ["word:1", "char:2-3", "char_wb:3", "byte:2"])
@pytest.mark.parametrize("map", [MINHASH, cws(), CountSketch(n_components=64, random_state=0)])
def test_rows_are_counts_or_sets(file, tmp_path, spec, map):
    vectorizer = vectorizer_of(spec, binary=isinstance(map, MinHash))
    expected = map.fit_any_width().transform(vectorizer.transform(TEXTS))
    map_files(map, file, tmp_path / "out.svm", source=spec)
    found, _ = load_svmlight_file(tmp_path / "out.svm", n_features=expected.shape[1])
    assert (found != sp.csr_matrix(expected)).nnz == 0


def test_labels_that_are_strings(file, tmp_path):
    source = Texts("word:1", label_field="label", id_field="id")
    map_files(cws(), file, tmp_path / "out", source=source)
    _, y = load_svmlight_file(tmp_path / "out")
    assert [SORTED[int(number)] for number in y] == LABELS
    table = (tmp_path / "out.classes.tsv").read_text(encoding="utf-8").splitlines()
    assert table == [f"{number}\t{name}" for number, name in enumerate(SORTED)]
    lines = (tmp_path / "out").read_text().splitlines()
    assert [line.partition(" # ")[2] for line in lines] == IDS


def test_labels_and_ids_that_no_line_can_hold(tmp_path):
    labels, ids = ["a\tb", "c\\d", "e\nf", "g\rh"], [" 1\n2", "3\t 4", "5  6", "7"]
    file = write_jsonl(tmp_path / "a.jsonl", ["x"] * 4, labels, ids)
    source = Texts("word:1", label_field="label", id_field="id")
    map_files(cws(), file, tmp_path / "out", source=source)
    table = (tmp_path / "out.classes.tsv").read_bytes()
    assert table == b"0\ta\\tb\n1\tc\\\\d\n2\te\\nf\n3\tg\\rh\n"
    lines = (tmp_path / "out").read_text().splitlines()
    assert [line.partition(" # ")[2] for line in lines] == [r" 1\n2", r"3\t 4", "5  6", "7"]


def test_labels_of_another_kind_in_another_file(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a", "label": 1}\n')
    (tmp_path / "b.jsonl").write_bytes(b'\n \n{"text": "a", "label": "x"}\n')
    with pytest.raises(ValueError, match=r"b\.jsonl: line 3: expected a number as label"):
        map_files(
            cws(), [tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "out",
            source=Texts("word:1", label_field="label"),
        )  # fmt: skip


def test_a_mark_of_byte_order_counts_at_the_beginning_only(tmp_path):
    texts = ["\ufeffa b"] * 200  # in several pieces, as rows of this map are long
    (tmp_path / "a.txt").write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    sketch = CountSketch(n_components=2**14, dense_output=True, random_state=0)
    map_files(sketch, tmp_path / "a.txt", tmp_path / "out.svm", source="word:1")
    X = vectorizer_of("word:1").transform(["a b", *texts[1:]])
    expected = sketch.fit(X).transform(X)
    found, _ = load_svmlight_file(tmp_path / "out.svm", n_features=2**14)
    assert (found != sp.csr_matrix(expected)).nnz == 0


def test_labels_that_are_numbers(tmp_path):
    file = write_jsonl(tmp_path / "a.jsonl", labels=[3, -1.5, 0, 7, 2**40, 1])
    map_files(cws(), file, tmp_path / "out", source=Texts("word:1", label_field="label"))
    assert load_svmlight_file(tmp_path / "out")[1].tolist() == [3, -1.5, 0, 7, 2**40, 1]
    assert os.listdir(tmp_path) == ["a.jsonl", "out"] or not (tmp_path / "out.classes.tsv").exists()


def test_numbers_of_labels_agree_between_tasks_and_outputs(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(6):  # each has one of the labels
        write_jsonl(folder / f"{i}.jsonl", TEXTS[i : i + 1], LABELS[i : i + 1], IDS[i : i + 1])
    options = {"source": Texts("word:1", label_field="label")}
    for i in (1, 0):
        map_files(cws(), folder, f"{tmp_path}/out/", task=("map", i, 2), **options)
    map_files(cws(), folder, tmp_path / "one", **options)
    found = outputs(tmp_path / "out")
    assert b"".join(found[f"{i}.jsonl.svm"] for i in range(6)) == (tmp_path / "one").read_bytes()
    table = (tmp_path / "one.classes.tsv").read_bytes()
    assert all(found[f"{i}.jsonl.svm.classes.tsv"] == table for i in range(6))
    done = map_files(cws(), folder, f"{tmp_path}/out/", **options)
    assert all(file.skipped for file in done)
    for other in ({"analyzer": "word:2"}, {"label_field": None}, {"id_field": "id"}):
        source = dataclasses.replace(options["source"], **other)
        done = map_files(cws(), folder, f"{tmp_path}/out/", source=source)
        assert not any(file.skipped for file in done)
    map_files(cws(), folder, f"{tmp_path}/out/", **options)
    write_jsonl(folder / "7.jsonl", ["new"], ["A"], ["f"])
    done = map_files(cws(), folder, f"{tmp_path}/out/", **options)
    assert not any(file.skipped for file in done)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_all_formats_and_compressions_are_alike(tmp_path, n_jobs):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    zstd = pytest.importorskip(_zstd.MODULE)
    texts, labels, ids = TEXTS * 700, LABELS * 700, IDS * 700
    content = write_jsonl(tmp_path / "a.jsonl", texts, labels, ids).read_bytes()
    table = pa.table({"id": ids, "text": texts, "label": labels})
    parquet.write_table(table, tmp_path / "b.parquet", row_group_size=999)
    for ending, compress in (
        ("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress),
        ("zst", zstd.compress),
    ):  # fmt: skip
        (tmp_path / f"a.jsonl.{ending}").write_bytes(compress(content))
    options = {"source": Texts("char:2", label_field="label", id_field="id")}
    inputs = sorted(tmp_path.iterdir())
    assert len(inputs) == 6
    map_files(cws(), inputs[0], tmp_path / "expected", **options)
    expected = (tmp_path / "expected").read_bytes()
    assert len(expected.splitlines()) == 4200
    for path in inputs:
        map_files(cws(), path, tmp_path / "out", n_jobs=n_jobs, progress=False, **options)
        assert (tmp_path / "out").read_bytes() == expected
    map_files(cws(), inputs, tmp_path / "all", **options)
    assert (tmp_path / "all").read_bytes() == expected * 6
    source = dataclasses.replace(options["source"], format="jsonl")
    map_files(cws(), io.BytesIO(content), tmp_path / "out", source=source)
    assert (tmp_path / "out").read_bytes() == expected


def test_lines_of_text(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffone two\r\n\nthree\ufeff".encode())
    map_files(cws(), tmp_path / "a.txt", tmp_path / "out", source="char:1")
    rows = vectorizer_of("char:1").transform(["one two", "", "three\ufeff"])
    codes = cws().fit_any_width()
    dump_svmlight_file(codes.transform(rows), np.zeros(3), tmp_path / "expected", zero_based=False)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()


BAD = [
    (b'{"text": "a", "label": 1}\n[1]\n', r"line 2: expected a JSON object; found an array"),
    (b'{"text": "a", "label": 1}\n{"text": 1}\n', r"line 2: expected a string in the field 'text'"),
    (b'{"text": "a", "label": 1}\n\n{"text": "b"}\n', r"line 3: expected the field 'label'"),
    (b'{"text": "a", "label": 1}\n{"text": "b", "label": "x"}\n',
     r"line 2: expected a number as label"),
    (b'{"text": "a", "label": "x"}\n{"text": "b", "label": 1}\n',
     r"line 2: expected a string as label"),
    (b'{"text": "a", "label": 1}\n{"text": "b\xff"}\n', r"line 2: expected UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD)
def test_a_bad_line_is_one_error(tmp_path, content, message):
    """Wherever it stands, and nothing is written."""
    good = b'{"text": "a", "label": 1}\n' if b'"x"}\n{' not in content else b""
    (tmp_path / "a.jsonl").write_bytes(good * 40_000 + content)
    number = int(message[5]) + 40_000 * bool(good)
    for format in ("svmlight", "npy"):
        with pytest.raises(ValueError, match=rf"a\.jsonl: line {number}{message[6:]}"):
            map_files(
                MINHASH, tmp_path / "a.jsonl", tmp_path / "out", n_jobs=2, format=format,
                source=Texts("word:1", label_field="label"),
            )  # fmt: skip
    assert os.listdir(tmp_path) == ["a.jsonl"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "words"}, "the analyzer must be word, auto, code, char, char_wb or byte"),
        ({"source": "word:0"}, "the analyzer must be word"),
        ({"source": "byte:9"}, "at most 7"),
        ({"source": ("word:1", {"token_pattern": "("})}, "the token pattern must be"),
        ({"source": "word:1", "zero_based": True}, "zero_based=True is for LIBSVM files"),
        ({"source": "word:1", "comments": True}, "comments=True is for LIBSVM files"),
        ({"source": ("word:1", {"format": "xml"})}, "format must be"),
        ({"source": ("word:1", {"field": 3})}, "field must be a string"),
        ({"source": (3, {})}, "analyzer must be a string"),
        ({"source": ("word:1", {"max_line_bytes": 0})}, "max_line_bytes must be"),
        ({"source": 3}, "source must be Texts, Svmlight, an analyzer"),
        ({}, r"a\.jsonl is a file of texts: give source='auto:5'"),
    ],
)
def test_bad_options(file, tmp_path, options, message):
    def texts(given):
        return Texts(given[0], **given[1]) if isinstance(given, tuple) else given

    with pytest.raises(ValueError, match=message):
        map_files(
            MINHASH, file, tmp_path / "out", **{**options, "source": texts(options.get("source"))}
        )
    with pytest.raises(ValueError, match="format must be given"):
        map_files(MINHASH, io.BytesIO(b"x\n"), tmp_path / "out", source="word:1")
    with pytest.raises(ValueError, match="lines of text have no fields"):
        map_files(MINHASH, "a.txt", tmp_path / "out", source=Texts("word:1", label_field="label"))
    assert os.listdir(tmp_path) == ["a.jsonl"]


def test_a_map_of_another_width(file, tmp_path):
    narrow = ConsistentWeightedSampling(n_hashes=4, random_state=0).fit(np.ones((2, 10)))
    with pytest.raises(ValueError, match=r"fitted to 10 columns, but texts by byte:1"):
        map_files(narrow, file, tmp_path / "out", source="byte:1")
    exact = MINHASH.fit(ByteNgrams(ngram_range=(1, 1)).transform(["any"]))
    map_files(exact, file, tmp_path / "out", source="byte:1")


def test_lines_of_blanks_are_left_out_of_what_is_written(tmp_path):
    lines = b'{"text": "a b"}\n', b" \t \n", b"\n", b'{"text": "c d"}\n'
    (tmp_path / "in.jsonl").write_bytes(b"".join(lines))
    done = deduplicate_files(
        MinHash(random_state=0), tmp_path / "in.jsonl", tmp_path / "out.jsonl", source="word:1"
    )
    assert done.n_kept == 2
    assert (tmp_path / "out.jsonl").read_bytes() == lines[0] + lines[3]
