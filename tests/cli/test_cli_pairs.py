"""The ``pairs`` command: the pairs of all rows, their lines and comments."""

import tracemalloc
from io import BytesIO

import numpy as np
import pytest
from _data.code_pairs import sorted_pairs
from _data.rows import families

from sparsemaps import MinHash, libsvm
from sparsemaps._io import _text_input
from sparsemaps.cli import main
from sparsemaps.kernels import min_max_kernel
from sparsemaps.libsvm import _pipeline


@pytest.fixture
def texts(tmp_path):
    """A LIBSVM file with comments, and its rows."""
    X = families(200)
    plain = BytesIO()
    libsvm.dump_svmlight_file(X, np.zeros(200), plain, zero_based=False)
    lines = plain.getvalue().splitlines()
    lines = [
        line + (b" # text  %d\t" % row if row % 3 else b"") for row, line in enumerate(lines, 1)
    ]
    (tmp_path / "texts.svm").write_bytes(b"# a comment\n\n" + b"\n".join(lines) + b"\n")
    return X, tmp_path


def read_pairs(path):
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {(int(row[0]), int(row[1])): (float(row[2]), row[3:]) for row in rows}


def test_the_command(texts):
    X, folder = texts
    arguments = ["pairs", "minhash", str(folder / "texts.svm"), "-o", str(folder / "pairs.tsv")]
    assert main([*arguments, "--threshold", "0.6", "--recall", "1", "--n-jobs", "2"]) == 0
    A = MinHash(random_state=0).fit(X).encode(X, packed=True)
    i, j, similarity = sorted_pairs(A, 0.6)
    found = read_pairs(folder / "pairs.tsv")
    assert list(found) == list(zip((i + 1).tolist(), (j + 1).tolist(), strict=True))
    np.testing.assert_allclose([s for s, _ in found.values()], similarity, atol=1e-6)
    for pair, (_, comments) in found.items():
        assert comments == [f"text {row}" if row % 3 else "" for row in pair]


def test_the_command_reads_several_blocks(tmp_path):
    X = families(1000)
    libsvm.dump_svmlight_file(X, np.arange(1000), tmp_path / "in.svm", zero_based=False)
    with _text_input.open_text(tmp_path / "in.svm") as text:
        assert len(list(_pipeline.blocks_of(text, None))) > 3
    output = tmp_path / "pairs.tsv"
    arguments = ["pairs", "minhash", str(tmp_path / "in.svm"), "-o", str(output)]
    assert main([*arguments, "--threshold", "0.6", "--recall", "1"]) == 0
    i, j, _ = sorted_pairs(MinHash(random_state=0).fit(X).encode(X, packed=True), 0.6)
    assert list(read_pairs(output)) == list(zip((i + 1).tolist(), (j + 1).tolist(), strict=True))


def test_the_command_verifies(texts):
    X, folder = texts
    arguments = ["pairs", "minhash", str(folder / "texts.svm"), "-o", str(folder / "pairs.tsv")]
    assert main([*arguments, "--threshold", "0.7", "--recall", "1", "--exact"]) == 0
    K = np.triu(min_max_kernel(X), 1)
    found = read_pairs(folder / "pairs.tsv")
    expected = set(zip(*(np.argwhere(K >= 0.7) + 1).T.tolist(), strict=True))
    assert found.keys() == expected
    for (i, j), (similarity, _) in found.items():
        assert abs(K[i - 1, j - 1] - similarity) < 1e-6


def test_the_command_takes_no_memory_for_columns(tmp_path):
    (tmp_path / "in.svm").write_text("0 1:1 100000000:1\n1 1:1 100000000:1\n0 7:1\n")
    for name in ("minhash", "minmax-signs"):
        arguments = ["pairs", name, str(tmp_path / "in.svm"), "-o", str(tmp_path / "out.tsv")]
        tracemalloc.start()
        assert main([*arguments, "--exact"]) == 0
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2**26
        assert (tmp_path / "out.tsv").read_text().startswith("1\t2\t1.000000\n")


@pytest.mark.parametrize("name", ["minmax", "signs", "fourier", "binning", "minmax-signs"])
def test_the_command_with_other_maps(texts, name):
    _, folder = texts
    output = folder / "pairs.tsv"
    for more in ([], ["--exact"]):
        assert main(["pairs", name, str(folder / "texts.svm"), "-o", str(output), *more]) == 0
        assert len(read_pairs(output)) > 5


def test_the_command_without_comments_and_rows(tmp_path, capsys):
    (tmp_path / "in.svm").write_text("0 1:1 2:1\n1 1:1 2:1\n0 7:1\n")
    arguments = ["pairs", "minhash", str(tmp_path / "in.svm"), "-o", str(tmp_path / "out.tsv")]
    assert main(arguments) == 0
    assert (tmp_path / "out.tsv").read_text() == "1\t2\t1.000000\n"
    (tmp_path / "in.svm").write_text("# nothing\n")
    assert main(arguments) == 0
    assert (tmp_path / "out.tsv").read_text() == ""
    assert "there are no rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("0 1:1\n0 2:x\n", [], "line 2"),
        ("0 1:1\n", ["--threshold", "1.5"], "--threshold must be above 0 and at most 1, got 1.5"),
        ("0 1:1\n", ["--recall", "0"], "--recall must be above 0 and at most 1, got 0"),
        ("0 1:1\n", ["--bits", "30"], "--bits must be from 1 to 16, got 30"),
    ],
)
def test_the_command_writes_nothing_where_it_fails(tmp_path, capsys, text, more, message):
    (tmp_path / "in.svm").write_text(text)
    output = tmp_path / "out.tsv"
    assert main(["pairs", "minhash", str(tmp_path / "in.svm"), "-o", str(output), *more]) == 2
    assert message in capsys.readouterr().err
    assert not output.exists()
