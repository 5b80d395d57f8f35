"""Bars of the steps of a search, which are shown where they are asked for."""

import io

import numpy as np
import pytest
from _data.chance import SEED
from _data.rows import families

from sparsemaps import MinHash
from sparsemaps._io._array_files import ArrayKind
from sparsemaps._io._progress import FileProgress
from sparsemaps._io._sources import known_inputs
from sparsemaps._io._steps import Steps
from sparsemaps.files import (
    Svmlight,
    _coded_records,
    deduplicate_files,
    map_files,
    similar_pairs_of_files,
)
from sparsemaps.files._libsvm_rows import LibsvmRows
from sparsemaps.files._results import KeptSteps, Results
from sparsemaps.files._rows import read_rows
from sparsemaps.libsvm import dump_svmlight_file

MINHASH = MinHash(n_hashes=2048, random_state=SEED)


@pytest.fixture
def file(tmp_path):
    dump_svmlight_file(families(400), np.zeros(400), tmp_path / "in.svm", zero_based=False)
    return tmp_path / "in.svm"


def bars(text):
    """The last state of each bar."""
    return [line.split("\r")[-1].split("|")[0] for line in text.split("\n")[:-1]]


@pytest.mark.parametrize("more", [{}, {"exact": True}, {"containment": True}, {"recall": 1}])
def test_bars_of_pairs(file, tmp_path, capsys, more):
    for progress in (False, None, True):  # standard error is no terminal
        out = tmp_path / f"{progress}.tsv"
        similar_pairs_of_files(MINHASH, str(file), out, progress=progress, **more)
        found = bars(capsys.readouterr().err)
        # The rows of candidates are read, and then the pairs are found again and decided.
        bars_of_reading = ["rows: 100%", "pairs: 100%"] if "exact" in more else []
        expected = ["codes: 100%", "pairs: 100%", *bars_of_reading]
        assert found == expected * bool(progress)
    assert (tmp_path / "True.tsv").read_bytes() == (tmp_path / "False.tsv").read_bytes()


def test_bars_of_records(file, tmp_path, capsys):
    deduplicate_files(MINHASH, file, tmp_path / "first.svm", progress=True)
    named = ["codes: 100%", "pairs: 100%", "outputs: 100%"]
    assert bars(capsys.readouterr().err) == named
    how = {"against": tmp_path / "first.svm.stages/codes.npy"}
    deduplicate_files(MINHASH, file, tmp_path / "second.svm", progress=True, **how)
    assert bars(capsys.readouterr().err) == named
    deduplicate_files(MINHASH, file, io.BytesIO(), progress=False, **how)
    assert not capsys.readouterr().err


def test_bars_of_tasks_that_read_ranges(file, tmp_path, capsys, set_limits):
    set_limits(_coded_records, RANGE_BYTES=file.stat().st_size // 3)
    deduplicate_files(MINHASH, file, tmp_path / "out.svm", progress=True)
    named = ["codes: 100%", "search: 100%", "outputs: 100%"]
    assert bars(capsys.readouterr().err) == named


@pytest.mark.parametrize("is_range", [False, True])
def test_a_bar_of_inputs_has_all_their_bytes(file, is_range, capsys):
    inputs = known_inputs([file])
    if is_range:
        inputs = inputs[0].cut(file.stat().st_size // 3 + 1)[1:]
    with FileProgress(inputs, True, "some") as bar:
        for input in inputs:
            list(read_rows(LibsvmRows(Svmlight()), input, lambda block: block.n_rows, bar=bar))
    assert bars(capsys.readouterr().err) == ["some: 100%"]


def test_a_bar_of_a_url_has_its_size(file, capsys, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe_file("/bars.svm", file.read_bytes())
    map_files(MINHASH, "memory://bars.svm", tmp_path / "out.svm", progress=True)
    assert bars(capsys.readouterr().err) == ["100%"]


STEPS = [(0,), (1,), (2,)]


def test_steps_have_their_results_whether_shown_or_not(tmp_path, capsys):
    for steps in (
        Steps(),
        Steps(shown=True),
        KeptSteps(Results(str(tmp_path)), "", None, shown=True),
    ):
        found = steps.run("square", ArrayKind(np.int64), lambda i: np.array([i * i]), STEPS, None)
        assert [array.tolist() for array in found] == [[0], [1], [4]]
    assert bars(capsys.readouterr().err) == ["pairs: 100%"] * 2
