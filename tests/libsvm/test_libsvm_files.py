"""LIBSVM files as files: names, damage, blocks, threads; scikit-learn's own tests."""

import bz2
import gzip
import lzma
import os
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from _data.rows import random_csr
from _data.svmlight import dumped, load
from _scripts import children, programs

from sparsemaps._io import _text_input
from sparsemaps.files import _summary
from sparsemaps.libsvm import (
    _pipeline,
    dump_svmlight_file,
    iter_svmlight_file,
    load_svmlight_file,
)

# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize(
    ("ending", "unpack"),
    [("", bytes), (".gz", gzip.decompress), (".bz2", bz2.decompress), (".xz", lzma.decompress)],
)
def test_paths(tmp_path, kind, ending, unpack):
    X, y = random_csr(), np.arange(40.0)
    path = kind(tmp_path / ("file.svm" + ending))
    dump_svmlight_file(X, y, path)
    assert unpack(Path(path).read_bytes()) == dumped(X, y)
    again, labels = load_svmlight_file(path, n_features=300)
    assert (again != X).nnz == 0
    np.testing.assert_array_equal(labels, y)
    assert os.listdir(tmp_path) == [Path(path).name]


def test_file_descriptor(tmp_path):
    path = tmp_path / "file.svm"
    path.write_bytes(b"1 1:1\n")
    descriptor = os.open(path, os.O_RDONLY)
    assert load_svmlight_file(descriptor)[0].shape == (1, 1)
    os.close(descriptor)  # still open


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_damaged_files(tmp_path, ending):
    path = tmp_path / f"file.svm.{ending}"
    dump_svmlight_file(random_csr(), np.arange(40.0), path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    for damaged in (whole[:middle], b"1 1:1\n"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"file\.svm\.\w+: cannot be decompressed: \w"):
            load_svmlight_file(path)
    path.write_bytes(whole[:middle] + b"x" * 99 + whole[middle + 99 :])
    with pytest.raises(ValueError, match=r"file\.svm\.\w+: "):  # or what it says is no such line
        load_svmlight_file(path)


def test_a_failed_dump_leaves_nothing(tmp_path):
    path = tmp_path / "file.svm"
    path.write_bytes(b"before")
    with pytest.raises(ValueError, match="neither labels nor entries"):
        dump_svmlight_file(np.eye(3)[:, :2], np.eye(3)[:, :2], path, multilabel=True)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["file.svm"]
    with pytest.raises(FileNotFoundError):
        dump_svmlight_file(np.eye(2), [1, 2], tmp_path / "none" / "file.svm")


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
def test_permissions(tmp_path):
    plain, kept = tmp_path / "plain", tmp_path / "kept"
    plain.write_bytes(b"")
    expected = plain.stat().st_mode
    dump_svmlight_file(np.eye(2), [1, 2], tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode == expected
    kept.write_bytes(b"")
    kept.chmod(0o640)
    dump_svmlight_file(np.eye(2), [1, 2], kept)
    assert kept.stat().st_mode & 0o777 == 0o640


# ---- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_bytes", [1, 7, 100, 10**6])
def test_blocks_are_the_file(block_bytes):
    X, y = random_csr(), np.arange(40.0)
    text = b"# comment\n\n" + dumped(X, y, query_id=np.arange(40))
    for source in (text, text[:-1]):
        blocks = list(
            iter_svmlight_file(
                BytesIO(source),
                block_bytes=block_bytes,
                zero_based=True,
                n_features=300,
                query_id=True,
            )
        )
        assert (sp.vstack([b[0] for b in blocks]) != X).nnz == 0
        np.testing.assert_array_equal(np.concatenate([b[1] for b in blocks]), y)
        np.testing.assert_array_equal(np.concatenate([b[2] for b in blocks]), np.arange(40))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_line_bytes": 10}, "line 2 is longer than max_line_bytes=10"),
        ({"n_features": 7}, "n_features was set to 7, but input file contains 8 features"),
    ],
)
def test_blocks_after_the_first_are_checked(options, message):
    blocks = iter_svmlight_file(BytesIO(b"1 7:1\n1 1:1 8:2.5\n"), block_bytes=4, **options)
    assert next(blocks)[0].nnz == 1
    with pytest.raises(ValueError, match=message):
        next(blocks)


def test_blocks_of_several_labels():
    text = b"1,2 1:1\n 2:1\n3 1:1\n4,5,6 3:1\n"
    blocks = list(iter_svmlight_file(BytesIO(text), block_bytes=9, multilabel=True))
    assert len(blocks) > 1
    assert [labels for _, y in blocks for labels in y] == [(1, 2), (), (3,), (4, 5, 6)]


def test_threads_of_blocks_are_checked_at_once():
    with pytest.raises(ValueError, match="n_jobs"):
        iter_svmlight_file(BytesIO(b"1 7:1\n"), n_jobs=0)


N_COPIES = 30
"""So often do files stand in one that is read in several pieces."""


def test_loading_in_pieces():
    """The file is read by pieces, of which the numbers of lines and the result know nothing."""
    X, y = random_csr(), np.arange(40.0)
    text = dumped(X, y)
    Y = sp.csr_array(np.tile([[1, 1], [0, 1]], (20, 1)))
    multilabel = dumped(X, Y, multilabel=True)
    with _text_input.open_text(BytesIO(text * N_COPIES)) as pieces:
        assert len(list(_pipeline.blocks_of(pieces, None))) > 3
    expected, expected_labels = load(text), load(multilabel, multilabel=True)
    found = load(text * N_COPIES)
    assert (found[0] != sp.vstack([expected[0]] * N_COPIES)).nnz == 0
    np.testing.assert_array_equal(found[1], np.tile(expected[1], N_COPIES))
    assert load(multilabel * N_COPIES, multilabel=True)[1] == expected_labels[1] * N_COPIES
    with pytest.raises(ValueError, match=f"line {40 * N_COPIES + 1}, column 3"):
        load(text * N_COPIES + b"1 x:1\n")


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_do_not_show(tmp_path, n_jobs):
    X, y = random_csr(), np.arange(40.0)
    text = dumped(X, y)
    path = tmp_path / "file.svm"
    path.write_bytes(text)
    blocks = list(iter_svmlight_file(path, zero_based=True, block_bytes=99, n_jobs=n_jobs))
    assert len(blocks) > 9
    np.testing.assert_array_equal(np.concatenate([y for _, y in blocks]), y)
    # Enough for several blocks a thread, of rows that are written too.
    X, y, text = sp.csr_array(sp.vstack([X] * N_COPIES)), np.tile(y, N_COPIES), text * N_COPIES
    found, labels = load(text, n_features=300, n_jobs=n_jobs)
    assert (found != X).nnz == 0
    np.testing.assert_array_equal(labels, y)
    for rows in (X, X.toarray()):
        assert dumped(rows, y, n_jobs=n_jobs) == text
    # Of two errors the first one, with its line, whatever thread meets it.
    broken = text + b"1 x:1\n" + 40 * b"1 1:1\n" + b"y\n"
    for load_it in (load, lambda t, **o: list(iter_svmlight_file(BytesIO(t), block_bytes=50, **o))):
        with pytest.raises(ValueError, match=f"line {len(y) + 1}, column 3"):
            load_it(broken, n_jobs=n_jobs, zero_based=True)
    with pytest.raises(ValueError, match="n_jobs must be"):
        load(text, n_jobs=0)


def test_lines_longer_than_blocks():
    line = b"1 " + b" ".join(b"%d:1" % i for i in range(1, 5000)) + b"\n"
    blocks = list(iter_svmlight_file(BytesIO(line + b"2 3:1\n" + line), block_bytes=10))
    assert [X.shape for X, _ in blocks] == [(1, 4999), (1, 3), (1, 4999)]
    assert [y.tolist() for _, y in blocks] == [[1], [2], [1]]


def test_files_that_give_less_than_asked():
    """As pipes and sockets do, with and without ``read1``."""

    class Slow:
        def __init__(self, text):
            self.text = text

        def read(self, size):
            part, self.text = self.text[: min(size, 3)], self.text[min(size, 3) :]
            return part

    class Slower(Slow):
        def read1(self, size):
            return super().read(min(size, 1))

    X, y = random_csr(), np.arange(40.0)
    for kind in (Slow, Slower):
        for n_jobs in (1, 2):
            again, labels = load_svmlight_file(
                kind(dumped(X, y)), n_features=300, zero_based=True, n_jobs=n_jobs
            )
            np.testing.assert_array_equal(again.toarray(), X.toarray())
            np.testing.assert_array_equal(labels, y)


def test_short_files_are_work_for_all_threads(tmp_path):
    """They are cut into several blocks a thread, and no smaller ones than are worth it."""
    path = tmp_path / "file.svm"
    path.write_bytes(b"1 1:1\n" * 100_000)  # 600 kB
    with _text_input.open_text(path) as text:
        assert len(list(_pipeline.blocks_of(text, 1))) in (4, 5)
    with _text_input.open_text(path) as text:
        assert len(list(_pipeline.blocks_of(text, 2))) in (8, 9)
    with _text_input.open_text(path) as text:
        assert len(list(_pipeline.blocks_of(text, 50))) == -(-600_000 // 2**16)


def test_wide_indices_in_a_later_block():
    narrow = b"1 2:3\n" * 30_000  # more than a block
    X, _ = load(b"1 1:1\n" + narrow + b"1 4000000000:5\n" + narrow)
    assert X.indices.dtype == np.int64
    assert X.indices.tolist() == [0] + [1] * 30_000 + [3999999999] + [1] * 30_000


def test_offset_and_length_cover_the_file():
    X, y = random_csr(n_rows=6, n_columns=30, density=0.2), np.arange(6.0)
    text = dumped(X, y)
    options = {"n_features": 30}
    for mark in range(1, len(text)):
        X1, y1 = load(text, length=mark, **options)
        X2, y2 = load(text, offset=mark, **options)
        assert np.concatenate([y1, y2]).tolist() == y.tolist()
        assert (sp.vstack([X1, X2]) != X).nnz == 0


def test_a_pipe():
    reader, writer = os.pipe()
    os.write(writer, b"1 1:1\n2 2:1\n")
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        assert [y.tolist() for _, y in iter_svmlight_file(file)] == [[1.0, 2.0]]


# ---- what is in a file ---------------------------------------------------------------------------


def test_summary_of_many_labels(tmp_path):
    path = tmp_path / "many.svm"
    path.write_text("".join(f"{label} qid:1\n" for label in range(30)))
    assert [fact.line for fact in _summary.summarize(str(path))] == [
        "rows     30",
        "columns  none",
        "entries  0 (0.0 a row)",
        "values   none",
        "labels   30 of 0 to 29",
        "qids     30",
    ]


# ---- scikit-learn's own tests --------------------------------------------------------------------


def test_scikit_learns_own_tests_pass(tmp_path):
    pytest.importorskip("sklearn.datasets.tests.test_svmlight_format")
    configuration = tmp_path / "pytest.ini"
    configuration.write_text("[pytest]\n")
    process = programs.context().Process(target=children.run_theirs, args=(str(configuration),))
    process.start()
    process.join()
    assert process.exitcode == 0  # what it says is on the standard error of the tests
