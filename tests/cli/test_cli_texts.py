"""The command on raw texts."""

import json

import numpy as np
import pytest
from _data.chance import SEED
from _data.text_files import LABELS, TEXTS, write_jsonl
from _scripts.commands import command
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import HashingVectorizer

from sparsemaps import MinHash, libsvm, neighbors
from sparsemaps.codes import PackedCodes
from sparsemaps.text import ByteNgrams
from sparsemaps.text._analyzers import vectorizer_of

NUMBERS = [sorted(set(LABELS)).index(label) for label in LABELS]


@pytest.fixture
def file(tmp_path):
    return write_jsonl(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("options", "vectorizer"),
    [
        ((), HashingVectorizer()),
        (
            ("--ngram-range", 1, 2, "--n-features", 999),
            HashingVectorizer(ngram_range=(1, 2), n_features=999),
        ),
        (
            ("--analyzer", "char", "--ngram-range", 2, 3),
            HashingVectorizer(analyzer="char", ngram_range=(2, 3)),
        ),
        (("--analyzer", "char_wb", "--binary"), HashingVectorizer(analyzer="char_wb", binary=True)),
        (("--token-pattern", r"\S+"), HashingVectorizer(token_pattern=r"\S+")),
        (("--analyzer", "byte"), ByteNgrams()),
    ],
)
def test_rows_are_those_of_scikit_learn(file, tmp_path, options, vectorizer):
    """Byte for byte what scikit-learn dumps, where it writes as many digits."""
    done = command("text", file, "-o", tmp_path / "out", "--label-field", "label", *options)
    assert (done.returncode, done.stderr) == (0, b"6 rows, 1 without an n-gram\n")
    X = vectorizer.transform(TEXTS).astype(np.float64)
    libsvm.dump_svmlight_file(X, NUMBERS, tmp_path / "expected", zero_based=False)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()
    if (X.data == X.data.round()).all():  # scikit-learn writes 16 digits
        dump_svmlight_file(X, NUMBERS, str(tmp_path / "expected"), zero_based=False)
        assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()


def test_pipes(file, tmp_path):
    content = file.read_bytes()
    options = ["--text-format", "jsonl", "--id-field", "id"]
    command("text", file, "-o", tmp_path / "one", "--label-field", "label", *options)
    piped = command("text", "-", "-o", tmp_path / "two", "--label-field", "label", *options,
                    stdin=content)  # fmt: skip
    assert piped.returncode == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    without = command("text", "-", "-o", "-", *options, stdin=content)
    assert without.stdout.count(b"\n") == len(TEXTS)
    lines = command("map", "minhash", "--texts", "word:1", "-", "-o", "-", "--text-format", "txt",
                    stdin=b"one two\nthree\n")  # fmt: skip
    assert lines.stdout.count(b"\n") == 2


def test_codes_are_those_of_python(file, tmp_path):
    arguments = "map", "minhash", "--texts", "word:3", file, "-o", tmp_path / "codes.npy"
    assert command(*arguments, "--format", "npy", "--n-jobs", 2).returncode == 0
    minhash = MinHash(random_state=0).fit_any_width()
    expected = minhash.encode_texts(vectorizer_of("word:3", binary=True), TEXTS)
    np.testing.assert_array_equal(PackedCodes.load(tmp_path / "codes.npy").array, expected)


@pytest.mark.parametrize("exact", [False, True])
def test_pairs(tmp_path, exact):
    rng = np.random.default_rng(SEED)
    texts = [" ".join(rng.choice(list("abcdefghij"), 40)) for _ in range(30)]
    texts[20], texts[29] = texts[3], texts[7] + " z"
    ids = [f"doc {i}" for i in range(30)]
    one = write_jsonl(tmp_path / "1.jsonl", texts[:15], [0] * 15, ids[:15])
    two = write_jsonl(tmp_path / "2.jsonl", texts[15:], [0] * 15, ids[15:])
    words = vectorizer_of("word:2", binary=True).transform(texts)
    codes = MinHash(random_state=0).fit_any_width().encode(words, packed=True)
    i, j, similarity = neighbors.similar_pairs(codes, 0.6)
    assert {(3, 20), (7, 29)} <= set(zip(i.tolist(), j.tolist(), strict=True))
    arguments = ["pairs", "minhash", "--texts", "word:2", "--threshold", 0.6]
    arguments += ["--exact"] if exact else []
    rows = command(*arguments, one, two, "-o", "-").stdout.decode().splitlines()
    named = command(*arguments, tmp_path, "--id-field", "id", "-o", "-").stdout.decode()
    found = {tuple(row.split("\t")[:2]) for row in rows}
    assert found >= {("4", "21"), ("8", "30")}
    with_ids = {tuple(row.split("\t")[:2]) for row in named.splitlines()}
    assert with_ids == {(ids[int(a) - 1], ids[int(b) - 1]) for a, b in found}
    if not exact:
        expected = {(str(a + 1), str(b + 1)) for a, b in zip(i, j, strict=True)}
        assert found == expected
        values = sorted(float(row.split("\t")[2]) for row in rows)
        np.testing.assert_allclose(values, np.sort(similarity), atol=1e-6)


@pytest.mark.parametrize("ending", [".jsonl", ".txt"])
def test_pairs_of_texts_by_their_names(tmp_path, monkeypatch, ending):
    """Without --texts, of inputs and of --other, also beside files of codes."""
    monkeypatch.chdir(tmp_path)
    texts = ["one two three four five six", "a b c d e", "one two three four five six"]
    for name, some in (("a", texts[:2]), ("b", texts[2:])):
        lines = [json.dumps({"text": text}) if ending == ".jsonl" else text for text in some]
        (tmp_path / f"{name}{ending}").write_text("".join(line + "\n" for line in lines))
    (tmp_path / "c.svm").write_text("0 1:1\n")
    a, b = f"a{ending}", f"b{ending}"
    coding = "map", "minhash", "--texts", "auto:5", a, "-o", "a.npy", "--format", "npy"
    assert command(*coding).returncode == 0
    for arguments, line in (
        ([a, b], "1\t3"), (["a.npy", b], "1\t3"), ([b, "a.npy"], "1\t2"),
        ([a, "--other", b], "1\t1"), (["a.npy", "--other", b], "1\t1"),
        ([b, "--other", "a.npy"], "1\t1"), (["minhash", b, a, "--normalize", "plain"], "1\t2"),
    ):  # fmt: skip
        done = command("pairs", *arguments, "-o", "-")
        assert (done.returncode, done.stderr.endswith((b" rows, 1 pair\n", b" row, 1 pair\n"))) == (
            0,
            True,
        )
        assert done.stdout.decode() == line + "\t1.000000\n"
    for arguments in ([a, "c.svm"], [a, "--other", "c.svm"], ["c.svm", "a.npy", "--other", b]):
        done = command("pairs", *arguments, "-o", "out")
        said = f"{b if b in arguments else a} is a file of texts, and c.svm is not"
        assert (done.returncode, said in done.stderr.decode()) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["map", "minhash", "--texts", "words", "a.jsonl", "-o", "out"], "--texts must be word"),
        (["map", "minhash", "--texts", "word:1", "-", "-o", "out"],
         "--text-format must be given"),
        (["map", "minhash", "--field", "x", "a.jsonl", "-o", "out"], "--field is for texts"),
        (["map", "minhash", "--id-field", "x", "a.jsonl", "-o", "o"], "--id-field is for texts"),
        (["map", "minhash", "--texts", "word:1", "a.jsonl", "-o", "a.jsonl"], "is the input"),
        (["map", "minhash", "--texts", "word:1", "--label-field", "label", "a.jsonl", "-o", "-"],
         "whose numbers go to a table beside the output; write to a file"),
        (["text", "a.jsonl", "-o", "a.jsonl"], "a.jsonl is the input a.jsonl"),
        (["text", "a.jsonl", "-o", "out", "--field", "none"], "line 1: expected the field"),
        (["text", "a.jsonl", "-o", "out", "--n-features", 0], "--n-features must be from 1 to"),
        (["text", "a.jsonl", "-o", "out", "--analyzer", "byte", "--n-features", 9], "are exact"),
        (["text", "none.txt", "-o", "out"], "none.txt: No such file"),
        (["pairs", "minhash", "--texts", "word:1", "a.svm", "-o", "out"],
         "--text-format must be given"),
        (["pairs", "minhash", "--texts", "word:1", "a.jsonl", "-o", "a.jsonl"], "is the input"),
    ],
)  # fmt: skip
def test_errors_are_one_line(file, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    before = file.read_bytes()
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert message in done.stderr.decode()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.jsonl": before}


def test_a_table_is_no_input(file, tmp_path):
    """What is written beside an output is compared with the inputs too."""
    table = tmp_path / "out.classes.tsv"
    table.write_bytes(file.read_bytes())
    done = command("text", table, "-o", tmp_path / "out", "--label-field", "label",
                   "--text-format", "jsonl")  # fmt: skip
    assert done.returncode == 2
    assert b"is the input" in done.stderr
    assert table.read_bytes() == file.read_bytes()


def test_tasks(file, tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("1.jsonl", "2.jsonl"):
        write_jsonl(tmp_path / "in" / name)
    arguments = ["text", tmp_path / "in", "-o", f"{tmp_path}/out/"]
    assert command(*arguments, "--stage", "map", "--task", "0/2").returncode == 0
    assert not (tmp_path / "out" / "2.jsonl.svm").exists()
    first = (tmp_path / "out" / "1.jsonl.svm").stat().st_mtime_ns
    assert command(*arguments).returncode == 0
    assert (tmp_path / "out" / "1.jsonl.svm").stat().st_mtime_ns == first
    assert command(*arguments, "--binary").returncode == 0
    assert (tmp_path / "out" / "1.jsonl.svm").stat().st_mtime_ns > first
