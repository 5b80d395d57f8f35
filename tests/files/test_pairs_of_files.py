"""`similar_pairs_of_files`: what it returns and refuses, and a run that goes on where one ended."""

import contextlib
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from _data.chance import SEED
from _data.code_pairs import banded, banded_pairs
from _data.rows import families
from _data.stage_names import results_in, without_digest

from sparsemaps import CountSketch, MinHash
from sparsemaps._io import _output_files
from sparsemaps.codes import PackedCodes
from sparsemaps.files import Svmlight, Texts, _coded_records, map_files, similar_pairs_of_files
from sparsemaps.files._results import KeptSteps, Results
from sparsemaps.libsvm import dump_svmlight_file
from sparsemaps.neighbors import _bands, _hashing

MINHASH = MinHash(n_hashes=128, random_state=0)


@pytest.fixture
def file(tmp_path):
    X = families(400)
    dump_svmlight_file(X, np.zeros(400), tmp_path / "in.svm", zero_based=False)
    return tmp_path / "in.svm"


def test_what_is_returned(file, tmp_path):
    out = io.BytesIO()
    found = similar_pairs_of_files(MINHASH, str(file), out, threshold=0.6)
    assert found.n_rows == 400
    assert found.n_other == 0
    assert found.n_pairs == out.getvalue().count(b"\n") > 50
    assert not found.skipped
    rows = io.BytesIO(file.read_bytes())
    two = similar_pairs_of_files(MINHASH, rows, tmp_path / "two.tsv", threshold=0.6, other=file)
    assert two[:2] == (400, 400)
    assert two.n_pairs >= 2 * found.n_pairs
    fitted = MinHash(n_hashes=128, random_state=0).fit_any_width()
    again = io.BytesIO()
    similar_pairs_of_files(fitted, str(file), again, threshold=0.6, n_jobs=2, max_bytes=2**20)
    assert again.getvalue() == out.getvalue()


@pytest.mark.parametrize(
    ("new_map", "more", "message"),
    [
        (None, {}, "map must be given if no input is a file of codes"),
        (CountSketch(), {}, "map must be a map with codes"),
        (3, {}, "map must be a map of sparsemaps"),
        (MINHASH, {"threshold": 0}, "threshold must be"),
        (MINHASH, {"recall": 2}, "recall must be"),
        (MINHASH, {"max_bytes": 1000}, "max_bytes must be"),
        (MINHASH, {"exact": 1}, "exact must be"),
        (MINHASH, {"resume": "yes"}, "resume must be"),
        (MINHASH, {"source": 3}, "source must be Texts, Svmlight, an analyzer"),
    ],
)
def test_bad_parameters(file, tmp_path, new_map, more, message):
    with pytest.raises(ValueError, match=message):
        similar_pairs_of_files(new_map, str(file), tmp_path / "out.tsv", **more)
    assert [path.name for path in tmp_path.iterdir()] == ["in.svm"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.txt.gz"])
def test_inputs_are_texts_by_their_names(tmp_path, name):
    text = "one two three four five six"
    line = text if ".txt" in name else json.dumps({"text": text})
    of_texts, of_rows = tmp_path / name, tmp_path / "b.svm"
    content = line.encode() + b"\n"
    of_texts.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    of_rows.write_text("0 1:1 2:1\n")
    codes = tmp_path / "codes.npy"
    map_files(MINHASH, of_texts, codes, format="npy", source=Texts())
    for inputs, other in (
        ([of_texts, of_texts], None), ([codes, of_texts], None),
        (of_texts, of_texts), (codes, of_texts), (of_texts, codes),
    ):  # fmt: skip
        out = io.BytesIO()
        assert similar_pairs_of_files(MINHASH, inputs, out, other=other).n_pairs == 1
        assert out.getvalue() == b"1\t%d\t1.000000\n" % (1 if other else 2)
    for inputs, other in (([of_texts, of_rows], None), (of_texts, of_rows)):
        with pytest.raises(ValueError, match=r"is a file of texts, and .*b\.svm is not"):
            similar_pairs_of_files(MINHASH, inputs, tmp_path / "out", other=other)
    rows = tmp_path / "rows.txt"
    rows.write_text("0 1:1 2:1\n" * 2)
    found = similar_pairs_of_files(MINHASH, rows, io.BytesIO(), source=Svmlight())
    assert found[:3] == (2, 0, 1)


def test_the_map_of_codes_makes_codes_of_other_rows(file, tmp_path):
    X = families(400)
    MINHASH.fit(X).encode(X, packed=True).save(tmp_path / "codes.npy")
    out = tmp_path / "out.tsv"
    how = {"other": file, "threshold": 1.0, "recall": 1}
    found = similar_pairs_of_files(None, tmp_path / "codes.npy", out, **how)
    lines = {tuple(line.split("\t")[:2]) for line in out.read_text().splitlines()}
    with_members = np.flatnonzero(np.diff(X.indptr)) + 1
    assert {int(i) for i, j in lines if i == j} == set(with_members.tolist())
    assert found.n_pairs == len(lines)
    given = MinHash(n_hashes=128, random_state=1)
    with pytest.raises(
        ValueError, match=r"rows of the map and .*codes\.npy must be codes of the s"
    ):
        similar_pairs_of_files(given, [tmp_path / "codes.npy", file], out)
    wrong = PackedCodes.load(tmp_path / "codes.npy")
    wrong.config = {}
    wrong.save(tmp_path / "unknown.npy")
    with pytest.raises(ValueError, match=r"unknown\.npy: the map of its codes is not known"):
        similar_pairs_of_files(None, [tmp_path / "unknown.npy", file], out)


# ---- going on ------------------------------------------------------------------------------------


class Killed(BaseException):
    """In place of the signal."""


def n_steps(monkeypatch, most):
    """Let a run end at the `most`-th file that it keeps."""
    done = []
    before = _output_files.atomic_output

    def output(path, *arguments, **more):
        done.append(path)
        if len(done) > most:
            raise Killed
        return before(path, *arguments, **more)

    monkeypatch.setattr(_output_files, "atomic_output", output)
    return done


def records(names):
    return {name for name in names if name.endswith(".json")}


def in_parts(monkeypatch, n_bands=9, part=150):
    """Search by bands, in parts of so many rows."""
    monkeypatch.setattr(_bands, "bands_for_rows", lambda *given: _bands.Bands(3, n_bands))
    sizes = _hashing.Sizes
    monkeypatch.setattr(_coded_records, "Sizes", lambda **more: sizes(**more, part=part))


@pytest.mark.parametrize("exact", [False, True])
def test_a_run_goes_on_where_one_ended(file, tmp_path, monkeypatch, short_ranges, exact):
    """Wherever that was: the output is that of a run which was not ended."""
    short_ranges(file.stat().st_size - 1)
    in_parts(monkeypatch)
    how = {"threshold": 0.6, "exact": exact}
    similar_pairs_of_files(MINHASH, file, tmp_path / "whole.tsv", **how)
    whole = (tmp_path / "whole.tsv").read_bytes()
    assert whole.count(b"\n") > 50
    out = tmp_path / "out.tsv"
    steps = 0
    while True:
        with monkeypatch.context() as patch:
            done = n_steps(patch, 4)
            try:
                found = similar_pairs_of_files(MINHASH, file, out, **how)
            except Killed:
                steps += 1
                assert not out.exists() or steps > 5
                assert len(done) == 5
                assert steps < 40  # what was kept is not done again
                continue
        break
    assert steps > 5
    assert out.read_bytes() == whole
    assert not found.skipped
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in.svm", "out.tsv", "out.tsv.stages", "whole.tsv", "whole.tsv.stages",
    ]  # fmt: skip
    left, expected = (set(os.listdir(tmp_path / f"{name}.tsv.stages")) for name in ("out", "whole"))
    assert left == expected
    before = out.stat().st_mtime_ns
    again = similar_pairs_of_files(MINHASH, file, out, **how)
    assert again == found._replace(skipped=True)
    assert out.stat().st_mtime_ns == before
    assert similar_pairs_of_files(MINHASH, file, out, resume=False, **how) == found
    assert out.stat().st_mtime_ns > before


def test_a_run_that_goes_on_divides_rows_by_the_keys_of_the_first(
    file, tmp_path, monkeypatch, short_ranges
):
    """With others, rows would be in other parts of a band, and a pair whose part is done already
    would be lost; there is one band, so no other band finds it."""
    in_parts(monkeypatch, n_bands=1, part=25)
    short_ranges(file.stat().st_size - 1)
    how = {"threshold": 0.6, "recall": 0.5}
    similar_pairs_of_files(MINHASH, file, tmp_path / "whole.tsv", **how)
    whole, out = (tmp_path / "whole.tsv").read_bytes(), tmp_path / "out.tsv"
    assert whole.count(b"\n") > 50
    n_runs = 0
    while not out.exists():
        n_runs += 1
        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            n_steps(patch, 8)
            similar_pairs_of_files(MINHASH, file, out, **how)
    assert n_runs > 2
    assert out.read_bytes() == whole


@pytest.mark.parametrize("exact", [False, True])
def test_a_search_of_contained_sets_goes_on(tmp_path, monkeypatch, short_ranges, exact):
    """The pairs of two classes of sizes are not searched again."""
    rows = np.random.default_rng(SEED).integers(0, 400, 120)
    lines = ["1 " + " ".join(f"{column}:1" for column in range(row + 1, row + 17 + row % 40)) + "\n"
             for row in rows]  # fmt: skip
    file, out = tmp_path / "in.svm", tmp_path / "out.tsv"
    file.write_text("".join(lines))
    short_ranges(file.stat().st_size - 1)
    map = MinHash(n_hashes=2048, random_state=0)
    how = {"threshold": 0.9, "containment": True, "exact": exact}
    similar_pairs_of_files(map, file, tmp_path / "whole.tsv", **how)
    whole = (tmp_path / "whole.tsv").read_bytes()
    assert whole.count(b"\n") > 50
    ended, is_complete, made = 0, False, {}
    while not is_complete:
        with monkeypatch.context() as patch:
            n_steps(patch, 4)
            try:
                similar_pairs_of_files(map, file, out, **how)
                is_complete = True
            except Killed:
                ended += 1
                assert ended < 20
                now = state(tmp_path / "out.tsv.stages")
                complete = {name for name in now if {name, f"{name}.json"} & records(now)}
                steps = {name: now[name] for name in complete if name.startswith("search-")}
                # Nothing is made again, until all pairs take the place of the steps.
                assert made.items() <= steps.items() or "pairs.npy" in now
                made = steps or made
    assert ended > 2
    assert len(made) > 2
    assert out.read_bytes() == whole


def result(name, *endings):
    """The files of a result, and its record."""
    return {name + ending for ending in ("", *endings, ".json")}


CODES, OTHER = (
    result(f"{name}.npy", ".lengths.npy", ".digests.npy") for name in ("codes", "other")
)
PAIRS = result("pairs.npy", ".similarity.npy") | {"output.json"}


def state(folder):
    """What shows whether files were written again."""
    return {
        without_digest(path.name): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in folder.iterdir()
    }


def test_each_option_decides_some_results(file, tmp_path):
    """Those that it decides are made again, and no other; the output is that of a run without
    earlier results."""
    stages, out = tmp_path / "out.stages", tmp_path / "out"
    (tmp_path / "in.txt").write_text("some words here\nsome words there\n" * 3)

    def run(output, map=MinHash(n_hashes=128, random_state=0), inputs=file, **options):  # noqa: B008
        given = {"threshold": 0.6, **options}
        return similar_pairs_of_files(map, inputs, output, **given)

    run(out)
    assert {without_digest(path.name) for path in stages.iterdir()} == CODES | PAIRS
    texts = {"inputs": tmp_path / "in.txt", "source": "word:1"}
    for options, expected in (
        ({}, set()),
        ({"n_jobs": 2, "max_bytes": 2**20, "source": Svmlight(max_line_bytes=2**20)}, set()),
        ({"threshold": 0.7}, PAIRS),
        ({"threshold": 0.7, "recall": 0.5}, PAIRS),
        ({"threshold": 0.7, "exact": True}, PAIRS),
        ({"threshold": 0.95, "containment": True, "exact": True}, PAIRS),
        ({"source": Svmlight(zero_based=True)}, CODES | PAIRS),
        ({"map": MinHash(n_hashes=128, random_state=1)}, CODES | PAIRS),
        ({}, CODES | PAIRS),
        ({"other": file}, OTHER | PAIRS),
        ({"other": [file, file]}, OTHER | PAIRS),
        ({}, PAIRS),
        ({"inputs": [file, file]}, CODES | PAIRS),
        (texts, CODES | PAIRS),
        ({**texts, "source": "word:2"}, CODES | PAIRS),
        ({**texts, "source": Texts("word:2", token_pattern=r"\w+")}, CODES | PAIRS),
        ({**texts, "source": "word:2", "resume": False}, CODES | PAIRS),
        ({**texts, "source": "word:2"}, set()),
    ):
        before = state(stages)
        done = run(out, **options)
        after = state(stages)
        assert {name for name in after if after[name] != before.get(name)} == expected, options
        assert done.skipped == (not expected)
        assert done[:3] == run(tmp_path / "anew", **{**options, "resume": False})[:3]
        assert out.read_bytes() == (tmp_path / "anew").read_bytes()
    stamp = file.stat().st_mtime_ns
    run(out)
    os.utime(file, ns=(stamp, stamp + 10**9))
    assert not run(out).skipped
    out.unlink()
    assert not run(out).skipped


def test_results_are_checked_where_they_are_read(file, tmp_path):
    """Rows that there are not: an error, and no crash."""
    out = tmp_path / "out"
    similar_pairs_of_files(MINHASH, file, out, threshold=0.6)
    path = results_in(tmp_path / "out.stages")["pairs.npy"]
    np.save(path, np.load(path) | np.uint32(2**30))
    out.unlink()
    with pytest.raises(ValueError, match=rf"{path.name} is damaged: expected numbers from 0 to"):
        similar_pairs_of_files(MINHASH, file, out, threshold=0.6)


def test_pipes_have_no_tasks(file, tmp_path):
    for inputs, output in (
        ("-", tmp_path / "out.tsv"),
        (file, "-"),
        (io.BytesIO(), tmp_path / "x"),
        (file, io.BytesIO()),
    ):
        with pytest.raises(ValueError, match="tasks need inputs and outputs that are files"):
            similar_pairs_of_files(MINHASH, inputs, output, task=("pairs", 0, 1))


def test_results_are_no_inputs(file, tmp_path):
    (tmp_path / "out.tsv.stages").mkdir()
    record = file.rename(tmp_path / "out.tsv.stages/pairs.npy.json")
    with pytest.raises(ValueError, match=r"pairs\.npy\.json is in the folder of stages"):
        similar_pairs_of_files(MINHASH, record, tmp_path / "out.tsv", source=Svmlight())


def test_sigkill(file, tmp_path):
    """A process that is killed leaves what another one goes on with."""
    out = tmp_path / "out.tsv"
    command = [sys.executable, "-P", "-m", "sparsemaps", "pairs", "minhash", file, "-o", out]
    command += ["--threshold", "0.6"]
    expected = io.BytesIO()
    similar_pairs_of_files(MinHash(random_state=0), file, expected, threshold=0.6)
    program = subprocess.Popen(command)
    while not (tmp_path / "out.tsv.stages").exists() and program.poll() is None:
        time.sleep(0.001)
    program.send_signal(signal.SIGKILL)
    program.wait()
    similar_pairs_of_files(MinHash(random_state=0), file, out, threshold=0.6)
    assert out.read_bytes() == expected.getvalue()
    assert not list((tmp_path / "out.tsv.stages").glob(".*"))


def test_stages_are_of_the_same_keys(tmp_path):
    """Rows are in the same parts, though each call draws keys of hashes."""
    X = families(400)
    A = MINHASH.fit(X).encode(X, packed=True)
    expected = banded(A, 0.6, 0.9)
    plan = None
    for _ in range(3):
        stages = KeptSteps(Results(str(tmp_path)), "", "the search")
        limits = _hashing.SearchRun(sizes=_hashing.Sizes(part=150), steps=stages)
        found = banded_pairs(A, None, A.n_hashes - 80, _hashing.Bands(3, 9), limits)
        kept = results_in(tmp_path)
        assert {"hashing.json", "copies.npy", "pairs-8-2.npy"} <= kept.keys()
        plan = plan or kept["hashing.json"].read_bytes()
        assert kept["hashing.json"].read_bytes() == plan
        kept["pairs-3-1.npy"].write_bytes(b"damaged")
        kept["pairs-4-1.npy"].unlink()
    assert len(found[0]) > 50
    assert set(zip(*expected[:2], strict=True)) & set(zip(*found[:2], strict=True))
