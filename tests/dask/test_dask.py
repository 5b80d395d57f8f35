"""Rows on Dask: the same bytes as on one machine, whatever is lost on the way."""

import bz2
import gzip
import io
import lzma
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import assert_same, families, random_csr
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    SignProjection,
    cli,
    neighbors,
)
from sparsemaps.files import map_files
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file
from sparsemaps.neighbors import _search

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
fsspec = pytest.importorskip("fsspec")

import dask.array as da  # noqa: E402

import sparsemaps.dask as sd  # noqa: E402
from sparsemaps.dask import _pair_tasks  # noqa: E402

# Clusters that come and go leave sockets that Python warns of.
pytestmark = pytest.mark.filterwarnings("default")

CWS = ConsistentWeightedSampling(n_hashes=16, bits=4, random_state=0)


def write(path, n_rows=60, seed=0):
    X = random_csr(n_rows, seed=seed)
    dump_svmlight_file(X, np.arange(n_rows) % 3, str(path), zero_based=False)
    return path


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Files with all that a LIBSVM file may have; one is compressed, one has no row."""
    folder = tmp_path_factory.mktemp("inputs")
    write(folder / "a.svm")
    text = write(folder / "b.svm", 40, seed=1).read_bytes()
    odd = b"\n\n# a comment\n  # another\n" + text.replace(b"\n", b"\r\n\n \t\n", 9) + b"1 3:1 7:2"
    (folder / "b.svm").write_bytes(odd)
    (folder / "c.svm.gz").write_bytes(gzip.compress(text))
    (folder / "d.svm").write_bytes(b"")
    (folder / "e.svm.bz2").write_bytes(bz2.compress(text))
    write(folder / "f.svm", 20, seed=2)
    return sorted(map(str, folder.iterdir()))


def on_one_machine(path, inputs, map=CWS, **options):
    map_files(map, inputs, str(path), **options)
    return Path(path).read_bytes()


@pytest.fixture(scope="module")
def expected(inputs, tmp_path_factory):
    return on_one_machine(tmp_path_factory.mktemp("expected") / "out.svm", inputs)


def joined(parts):
    return b"".join(Path(part).read_bytes() for part in parts)


# ---- files to files ------------------------------------------------------------------------------


@pytest.mark.parametrize("partition_bytes", [97, 1000, 4099, 2**26])
def test_parts_are_what_one_machine_writes(inputs, expected, tmp_path, partition_bytes):
    parts = sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=partition_bytes)
    assert joined(parts) == expected
    assert parts == sorted(parts)
    assert len(parts) == sum(
        1 if path.endswith(("gz", "bz2")) else max(1, -(-os.path.getsize(path) // partition_bytes))
        for path in inputs
    )
    assert set(os.listdir(tmp_path / "out")) == {*map(os.path.basename, parts), "_sparsemaps.json"}


@pytest.mark.parametrize("partition_bytes", range(1, 9))
def test_any_cut_of_short_lines(tmp_path, partition_bytes):
    (tmp_path / "in").write_bytes(b"1 1:1\n\n0 2:3\n#\n1 1:2 3:4\n2\n0 1:1")
    expected = on_one_machine(tmp_path / "expected", tmp_path / "in")
    parts = sd.map_files(CWS, tmp_path / "in", tmp_path / "out", partition_bytes=partition_bytes)
    assert joined(parts) == expected


def test_options_and_query_ids(tmp_path):
    (tmp_path / "in").write_bytes(b"1,2 qid:3 0:1 4:2 # kept\n3 qid:3 2:1\n" * 9)
    for options in ({"zero_based": True, "ones": True}, {"zero_based": True, "comments": True}):
        expected = on_one_machine(tmp_path / "expected", tmp_path / "in", **options)
        out = tmp_path / "-".join(options)
        parts = sd.map_files(CWS, tmp_path / "in", out, partition_bytes=50, **options)
        assert joined(parts) == expected


def test_codes(inputs, tmp_path):
    expected = tmp_path / "out.npy"
    on_one_machine(expected, inputs, format="npy")
    parts = sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=500, format="npy")
    for ending in ("", ".labels.npy"):
        arrays = [np.load(part + ending) for part in parts]
        np.testing.assert_array_equal(np.concatenate(arrays), np.load(str(expected) + ending))


def test_codes_elsewhere(inputs, tmp_path):
    """Labels and query ids reach another file system too."""
    expected = tmp_path / "out.npy"
    on_one_machine(expected, inputs[0], format="npy")
    with fsspec.open("memory://codes_elsewhere/in", "wb") as file:
        file.write(Path(inputs[0]).read_bytes())
    where = "memory://codes_elsewhere/out"
    parts = sd.map_files(CWS, "memory://codes_elsewhere/in", where, format="npy")
    for ending in ("", ".labels.npy"):
        with fsspec.open(parts[0] + ending) as file:
            array = np.load(io.BytesIO(file.read()))
        np.testing.assert_array_equal(array, np.load(str(expected) + ending))
    with pytest.raises(ValueError, match="has the name of a file that is written to memory:"):
        sd.map_files(CWS, f"{where}/part-000000.npy", where, resume=False)


@pytest.mark.parametrize("resume", [True, False])
def test_an_input_is_no_part(inputs, tmp_path, resume):
    """Its parts are not removed where they are the input, under whatever name."""
    out = tmp_path / "out"
    parts = sd.map_files(CWS, inputs, out, partition_bytes=500)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    (tmp_path / "link").symlink_to(out)
    (tmp_path / "file").symlink_to(parts[0])
    for given in (parts, str(out / "part-*"), tmp_path / "link" / "part-000000.svm",
                  tmp_path / "file", out / "_sparsemaps.json"):  # fmt: skip
        for directory in (out, tmp_path / "link", tmp_path / "." / "out"):
            with pytest.raises(ValueError, match="has the name of a file that is written to"):
                sd.map_files(CWS, given, directory, resume=resume)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("record", ["", "[" * 10**5, "[]", "\xff"])
def test_a_damaged_record(inputs, tmp_path, record):
    out = tmp_path / "out"
    parts = sd.map_files(CWS, inputs, out)
    (out / "_sparsemaps.json").write_text(record, encoding="latin-1")
    with pytest.raises(ValueError, match=r"_sparsemaps\.json is damaged; take another directory"):
        sd.map_files(CWS, inputs, out)
    assert sd.map_files(CWS, inputs, out, resume=False) == parts


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_damaged_inputs(inputs, tmp_path, ending):
    module = {"gz": gzip, "bz2": bz2, "xz": lzma}[ending]
    path = tmp_path / f"in.{ending}"
    path.write_bytes(module.compress(Path(inputs[0]).read_bytes())[:-9])
    for read in (
        lambda: sd.map_files(CWS, path, tmp_path / "out"),
        lambda: sd.read_svmlight(path, n_features=1000),
    ):
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            read()
        assert str(caught.value).count(f"in.{ending}: cannot be decompressed: ") == 1


def test_csr(inputs, tmp_path):
    on_one_machine(tmp_path / "out.npz", inputs, format="npz")
    parts = sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=500, format="npz")
    assert_same(
        sp.vstack([sp.load_npz(part) for part in parts], "csr"),
        sp.csr_array(sp.load_npz(tmp_path / "out.npz")),
    )


def test_other_file_systems(inputs, expected):
    fs = fsspec.filesystem("memory")
    for path in inputs:
        fs.put_file(path, "/rows/" + os.path.basename(path))
    parts = sd.map_files(CWS, "memory://rows", "memory://mapped", partition_bytes=800)
    assert b"".join(fs.cat_file(part) for part in parts) == expected
    assert len(fs.ls("/mapped")) == len(parts) + 1
    X, _ = sd.read_svmlight("memory://rows/*.svm", n_features=300, partition_bytes=800)
    assert X.shape[0] == 60 + 41 + 20


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_progress(inputs, expected, tmp_path, capsys, scheduler):
    """All bytes of the inputs are counted, compressed ones as they are; what is there is not."""
    with dask.config.set(scheduler=scheduler):
        sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=999)
        assert capsys.readouterr().err == ""
        (tmp_path / "out" / "part-000001.svm").unlink()
        for bar in ("980/980", "0.00B"):
            sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=999, progress=True)
            last = capsys.readouterr().err.split("\r")[-1]
            assert bar in last
        parts = sd.map_files(CWS, inputs, tmp_path / "two", partition_bytes=999, progress=True)
    last = capsys.readouterr().err.split("\r")[-1]
    assert "100%" in last
    assert "rows/s" in last
    assert f"{sum(map(os.path.getsize, inputs)) / 1024:.1f}k" in last
    assert joined(parts) == expected


def test_directories_and_patterns_are_sorted(inputs, expected, tmp_path):
    folder = os.path.dirname(inputs[0])
    assert joined(sd.map_files(CWS, folder, tmp_path / "1")) == expected
    assert joined(sd.map_files(CWS, folder + "/*.svm*", tmp_path / "2")) == expected


# ---- what is there already -----------------------------------------------------------------------


def test_resume_makes_what_is_missing(inputs, expected, tmp_path):
    out = tmp_path / "out"
    parts = sd.map_files(CWS, inputs, out, partition_bytes=500)
    before = {part: os.stat(part).st_mtime_ns for part in parts}
    missing = parts[1::3]
    for part in missing:
        os.unlink(part)
    (out / ".part-000001.svm.0123.tmp").write_bytes(b"half")
    assert sd.map_files(CWS, inputs, out, partition_bytes=500) == parts
    assert joined(parts) == expected
    assert {part for part in parts if os.stat(part).st_mtime_ns == before[part]} == {*parts} - {
        *missing
    }
    assert len(os.listdir(out)) == len(parts) + 1


def test_another_call_is_an_error_and_not_a_mix(inputs, expected, tmp_path):
    out = tmp_path / "out"
    parts = sd.map_files(CWS, inputs, out, partition_bytes=500)
    other = ConsistentWeightedSampling(n_hashes=16, bits=4, random_state=1)
    for arguments, options, reason in [
        ((other, inputs), {}, "seed was 0, and is 1 now"),
        ((CWS, inputs[:-1]), {}, "n_parts|inputs"),
        ((CWS, inputs), {"partition_bytes": 501}, "partition_bytes was 500, and is 501 now"),
        ((CWS, inputs), {"ones": True}, "ones"),
        ((CWS, inputs), {"format": "npy"}, "format was 'svmlight', and is 'npy' now"),
    ]:
        with pytest.raises(ValueError, match=f"parts of another call.*{reason}"):
            sd.map_files(*arguments, out, **{"partition_bytes": 500, **options})
    assert joined(parts) == expected
    again = sd.map_files(CWS, inputs, out, partition_bytes=1000, resume=False)
    assert len(again) < len(parts)
    assert joined(again) == expected
    assert len(os.listdir(out)) == len(again) + 1


def test_a_changed_input_is_an_error(tmp_path):
    write(tmp_path / "in")
    sd.map_files(CWS, tmp_path / "in", tmp_path / "out")
    os.utime(tmp_path / "in", ns=(1, 1))
    with pytest.raises(ValueError, match="have changed since"):
        sd.map_files(CWS, tmp_path / "in", tmp_path / "out")


def test_a_directory_with_parts_of_unknown_origin(inputs, tmp_path):
    (tmp_path / "part-000000.svm").write_bytes(b"precious")
    for resume in (True, False):
        with pytest.raises(ValueError, match=r"no _sparsemaps\.json"):
            sd.map_files(CWS, inputs, tmp_path, resume=resume)
    assert (tmp_path / "part-000000.svm").read_bytes() == b"precious"


# ---- bad input -----------------------------------------------------------------------------------


def test_a_corrupt_line_in_one_of_50_files(tmp_path):
    text = write(tmp_path / "00").read_bytes()
    for number in range(50):
        (tmp_path / f"{number:02d}").write_bytes(text)
    lines = text.split(b"\n")
    lines[41] = b"1 5:1 4:1".ljust(len(lines[41]))  # the other ranges stay as they are
    (tmp_path / "33").write_bytes(b"\n".join(lines))
    inputs = [tmp_path / f"{number:02d}" for number in range(50)]
    with pytest.raises(ValueError, match=r"33: line 42, column 7: indices must be sorted"):
        sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=1000)
    with pytest.raises(ValueError, match=r"33: line 42, column 7: indices must be sorted"):
        sd.read_svmlight(inputs, n_features=300, partition_bytes=1000)[0].compute()
    (tmp_path / "good").write_bytes(text)
    complete = {
        Path(part).read_bytes()
        for part in sd.map_files(CWS, tmp_path / "good", tmp_path / "1", partition_bytes=1000)
    }
    there = list((tmp_path / "out").glob("part-*"))
    assert all(part.read_bytes() in complete for part in there)
    assert not list((tmp_path / "out").glob(".*"))
    # Once the line is repaired, the input has changed: nothing is mixed.
    (tmp_path / "33").write_bytes(text)
    with pytest.raises(ValueError, match="have changed since"):
        sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=1000)


def test_values_that_the_map_does_not_take(tmp_path):
    (tmp_path / "in").write_bytes(b"1 1:1\n" * 99 + b"\n1 3:-1\n" + b"1 1:1\n" * 99)
    with pytest.raises(ValueError, match=r"in: line 101, index 3: .*-1"):
        sd.map_files(CWS, tmp_path / "in", tmp_path / "out", partition_bytes=100)


def test_damaged_gzip(tmp_path):
    (tmp_path / "in.gz").write_bytes(gzip.compress(write(tmp_path / "in").read_bytes())[:-20])
    with pytest.raises(ValueError, match=r"in\.gz: cannot be decompressed"):
        sd.map_files(CWS, tmp_path / "in.gz", tmp_path / "out")
    assert not list((tmp_path / "out").glob("*part-*"))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"format": "csv"}, ValueError, "format must be"),
        ({"partition_bytes": 0}, ValueError, "partition_bytes must be from 1"),
        ({"resume": 1}, ValueError, "resume must be True or False"),
        ({"progress": 1}, ValueError, "progress must be True or False"),
        ({"header": True}, TypeError, "unexpected keyword argument 'header'"),
        ({"map": CountSketch(), "ones": True}, ValueError, "ones=True is for maps with one-hot"),
        ({"map": CountSketch(), "format": "npy"}, ValueError, "format='npy' is for maps with"),
        ({"inputs": []}, ValueError, "there are no files"),
        ({"inputs": "/no/such/file"}, FileNotFoundError, "/no/such/file"),
        ({"inputs": "/no/such/*.svm"}, ValueError, "there are no files"),
        ({"inputs": [3]}, TypeError, "inputs must be paths or URLs, got int"),
    ],
)
def test_bad_arguments(inputs, tmp_path, arguments, error, message):
    arguments = {"map": CWS, "inputs": inputs, "directory": tmp_path / "out", **arguments}
    with pytest.raises(error, match=message):
        sd.map_files(**arguments)
    assert not (tmp_path / "out").exists()


def test_without_the_extra():
    code = "import sys; sys.modules['dask'] = None; import sparsemaps.dask"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: sparsemaps.dask needs Dask")
    assert 'pip install "sparsemaps[dask]"' in last


# ---- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("partition_bytes", [53, 1000, 2**26])
def test_read(inputs, partition_bytes):
    X, y = sd.read_svmlight(inputs, n_features=300, partition_bytes=partition_bytes)
    loaded = [load_svmlight_file(path, n_features=300) for path in inputs]
    assert X.chunks[0] == y.chunks[0]
    assert 0 not in X.chunks[0]
    assert X.shape == (60 + 41 + 40 + 0 + 40 + 20, 300)
    computed_X, computed_y = dask.compute(X, y)
    assert_same(sp.csr_array(computed_X), sp.csr_array(sp.vstack([X for X, _ in loaded], "csr")))
    np.testing.assert_array_equal(computed_y, np.concatenate([y for _, y in loaded]))
    block = X.blocks[0].compute()
    assert sp.issparse(block)
    assert block.shape[0] == X.chunks[0][0]
    assert X._meta.format == "csr"


def test_read_without_counting(inputs):
    X, y = sd.read_svmlight(inputs, n_features=300, partition_bytes=999, count_rows=False)
    assert np.isnan(X.shape[0])
    y.compute_chunk_sizes()
    assert y.shape == (201,)


def test_read_nothing(tmp_path):
    (tmp_path / "in").write_bytes(b"# no rows\n")
    X, y = sd.read_svmlight(tmp_path / "in", n_features=3)
    assert X.compute().shape == (0, 3)
    assert y.compute().shape == (0,)


def test_an_input_that_changes_between_counting_and_reading(tmp_path):
    write(tmp_path / "in")
    X, _ = sd.read_svmlight(tmp_path / "in", n_features=300)
    with open(tmp_path / "in", "ab") as file:
        file.write(b"1 1:1\n")
    with pytest.raises(ValueError, match="in has changed since its rows were counted"):
        X.compute()


def test_width_is_checked(inputs):
    X, _ = sd.read_svmlight(inputs[0], n_features=10)
    with pytest.raises(ValueError, match=r"a\.svm: .*features"):
        X.compute()


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, np.asarray])
def test_every_map(new_map, container):
    rows = random_csr(23, 40, density=0.2)
    whole = rows.toarray() if container is np.asarray else container(rows)
    blocks = [whole[:10], whole[10:11], whole[11:]]
    X = da.concatenate(
        [da.from_array(block, chunks=block.shape, asarray=False) for block in blocks]
    )
    fitted = new_map().fit(whole)
    Z = sd.transform(fitted, X)
    expected = fitted.transform(whole)
    computed = Z.compute(scheduler="synchronous")
    assert type(computed) is type(expected) or container is np.asarray
    assert_same(sp.csr_array(computed), sp.csr_array(expected))
    assert Z.shape == expected.shape
    assert Z.dtype == expected.dtype
    assert sp.issparse(Z._meta) == sp.issparse(expected)
    if hasattr(fitted, "encode"):
        codes = sd.encode(fitted, X)
        np.testing.assert_array_equal(codes.compute(scheduler="sync"), fitted.encode(whole))


def test_unfitted_maps_are_copied_and_blocks_of_unknown_length_are_fine(inputs):
    X, _ = sd.read_svmlight(inputs, n_features=300, partition_bytes=999, count_rows=False)
    map = ConsistentWeightedSampling(n_hashes=8)
    Z = sd.transform(map, X).compute()
    assert Z.shape == (201, 8 * 256)
    assert not hasattr(map, "seed_")


def test_columns_in_several_chunks_are_joined():
    X = np.abs(np.random.default_rng(0).normal(size=(9, 20)))
    map = clone(CWS).fit(X)
    Z = sd.transform(map, da.from_array(X, chunks=(4, 6)))
    assert_same(sp.csr_array(Z.compute()), sp.csr_array(map.transform(X)))


def test_bad_arrays():
    with pytest.raises(ValueError, match="X must be a two-dimensional Dask array, got ndarray"):
        sd.transform(CWS, np.ones((3, 3)))
    with pytest.raises(ValueError, match="X must be a two-dimensional Dask array"):
        sd.transform(CWS, da.ones(3))
    with pytest.raises(ValueError, match="CountSketch has no codes"):
        sd.encode(CountSketch(), da.ones((3, 3)))
    X = np.ones((9, 3))
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"block 1 of X, whose first row is 4: .*NaN in row 3"):
        sd.transform(CWS, da.from_array(X, chunks=(4, 3))).compute()


def test_parallel_post_fit():
    # Not in the test extra: dask-ml needs numba, which has wheels for some platforms only.
    wrappers = pytest.importorskip("dask_ml.wrappers")
    from sklearn.datasets import load_digits
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(
        ConsistentWeightedSampling(n_hashes=64, random_state=0), SGDClassifier(random_state=0)
    )
    model = wrappers.ParallelPostFit(pipeline).fit(X[:500], y[:500])
    predicted = model.predict(da.from_array(X, chunks=(300, -1))).compute()
    np.testing.assert_array_equal(predicted, pipeline.predict(X))
    sparse = da.from_array(sp.csr_matrix(X), chunks=X.shape, asarray=False)
    np.testing.assert_array_equal(model.predict(sparse).compute(), predicted)


# ---- packed codes --------------------------------------------------------------------------------


def in_blocks(codes, *chunks):
    """`codes` of one machine in blocks of so many rows."""
    array = da.from_array(codes.array, chunks=(chunks, codes.shape[1]))
    sampled = da.from_array(codes.sampled, chunks=(chunks,))
    return sd.PackedCodes(array, codes.bits, codes.config, sampled=sampled, **codes._facts())


def test_packed_codes_are_those_of_one_machine(new_map):
    X = random_csr(23, 40, density=0.2)
    fitted = new_map().fit(X)
    blocks = da.from_array(sp.csr_matrix(X), chunks=(23, 40), asarray=False)
    if not fitted.has_codes:
        with pytest.raises(ValueError, match="has no codes"):
            sd.encode(fitted, blocks, packed=True)
        return
    try:
        expected = fitted.encode(X, packed=True)
    except ValueError as error:  # a density, which no configuration holds
        with pytest.raises(ValueError, match=re.escape(str(error))):
            sd.encode(fitted, blocks, packed=True)
        return
    codes = sd.encode(fitted, da.concatenate([blocks, blocks]), packed=True)
    assert repr(codes).startswith(f"PackedCodes(46 rows of {expected.n_hashes} codes")
    with dask.config.set(scheduler="sync"):
        found = codes.compute()
    np.testing.assert_array_equal(found.array, np.concatenate([expected.array] * 2))
    np.testing.assert_array_equal(found.sampled, np.concatenate([expected.sampled] * 2))
    assert (found.bits, found.config) == (expected.bits, expected.config)
    assert found._facts() == expected._facts()


def test_packed_codes_that_are_persisted_or_of_unknown_length(inputs):
    X, _ = sd.read_svmlight(inputs, n_features=300, partition_bytes=999, count_rows=False)
    codes = sd.encode(CWS, X, packed=True)
    with pytest.raises(ValueError, match="codes must know the lengths of its blocks"):
        sd.similar_pairs(codes, 0.5)
    codes = codes.persist().compute_chunk_sizes()
    assert codes.shape == (201, 8)
    assert codes.sampled.chunks == codes.array.chunks[:1]
    expected = neighbors.similar_pairs(codes.compute(), 0.5)
    assert_pairs(sd.similar_pairs(codes, 0.5), expected)


def test_which_rows_have_samples_may_be_left_out():
    codes = np.ones((9, 4), np.uint8)
    codes[5] = 0
    packed = sd.PackedCodes(da.from_array(codes, chunks=(4, 3)), 8, {})
    assert packed.n_hashes == 4
    assert packed.sampled.compute().tolist() == [True] * 5 + [False] + [True] * 3
    with pytest.raises(ValueError, match="sampled must be a Dask array of bool in the blocks"):
        sd.PackedCodes(packed.array, 8, {}, sampled=np.ones(9, bool))
    with pytest.raises(ValueError, match="array must be a two-dimensional Dask array of uint8"):
        sd.PackedCodes(codes, 8, {})


# ---- similar pairs -------------------------------------------------------------------------------


def codes_with_copies(n_rows=4000, n_bytes=32, seed=0):
    """Random codes; some rows resemble others, and some are empty."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (n_rows, n_bytes), dtype=np.uint8)
    for _ in range(n_rows // 5):
        i, j = rng.integers(0, n_rows, 2)
        codes[j] = np.where(rng.random(n_bytes) < rng.choice([0.5, 0.8, 0.95]), codes[i], codes[j])
    codes[::100] = 0
    return codes


def assert_pairs(found, expected, scheduler="sync"):
    """The pairs of Dask are those of one machine, with the same similarities."""
    i, j, similarity = dask.compute(*found, scheduler=scheduler)
    order = np.lexsort([j, i])
    for one, other in zip((i, j, similarity), expected, strict=True):
        np.testing.assert_array_equal(one[order], other, strict=True)


@pytest.fixture(params=["chosen", "hashed"])
def bands(request, monkeypatch):
    """Rows are hashed where that costs less, and in any case."""

    def hashed(n_rows, n_pairs, bits, n_hashes, n_agreeing, recall, rates):
        for length in range(12, 0, -1):
            n_bands = _search._least_bands(length, n_hashes, n_agreeing, recall)
            if n_bands is not None:
                return _search.Bands(length, n_bands)

    if request.param == "hashed":
        monkeypatch.setattr(_search, "cheapest_bands", hashed)


@pytest.mark.parametrize("chunks", [4000, 900, (0, 1000, 0, 3000)])
@pytest.mark.parametrize(("bits", "recall"), [(8, 0.9), (4, 0.99), (8, 1.0)])
def test_pairs_are_those_of_one_machine(monkeypatch, chunks, bits, recall):
    monkeypatch.setattr(_pair_tasks, "PART_ROWS", 1700)
    codes = codes_with_copies()
    expected = neighbors.similar_pairs(codes, 0.7, bits=bits, recall=recall)
    chunked = da.from_array(codes, chunks=(chunks, 20))
    assert_pairs(sd.similar_pairs(chunked, 0.7, bits=bits, recall=recall), expected)


SAMPLED_MAPS = [
    MinHash(n_hashes=128, random_state=0),
    ConsistentWeightedSampling(n_hashes=100, t_bits=3, random_state=0),
    ConsistentWeightedSampling(n_hashes=100, bits=12, signed=True, random_state=0),
    SignProjection(n_hashes=250, random_state=0),
    SignProjection(kernel="acos_chi2", n_hashes=256, random_state=0),
    RandomBinning(n_grids=100, gamma=0.01, random_state=0),
    RandomFourier(n_components=256, gamma=0.01, random_state=0),
    RandomFourier(n_components=256, kernel="laplacian", gamma=0.01, random_state=0),
    KernelProduct(random_state=0),
    KernelProduct(
        maps=(MinHash(n_hashes=128, bits=3), RandomBinning(n_grids=128, gamma=0.003, n_bins=16)),
        random_state=0,
    ),
]


@pytest.mark.parametrize("map", SAMPLED_MAPS, ids=str)
def test_pairs_of_each_map(monkeypatch, bands, map):
    """Within a set and between two, from packed codes; the estimate is that of the map."""
    monkeypatch.setattr(_pair_tasks, "PART_ROWS", 300)
    X = families(700)
    fitted = clone(map).fit(X)
    A, B = fitted.encode(X[:500], packed=True), fitted.encode(X[400:], packed=True)
    rows = [
        da.from_array(sp.csr_matrix(block), chunks=block.shape, asarray=False)
        for block in (X[:70], X[70:400], X[400:500], X[500:])
    ]
    codes = sd.encode(fitted, da.concatenate(rows[:3]), packed=True)
    other = sd.encode(fitted, da.concatenate(rows[2:]), packed=True)
    expected = neighbors.similar_pairs(A, 0.8)
    assert len(expected[0]) > 20
    assert_pairs(sd.similar_pairs(codes, 0.8), expected)
    expected = neighbors.similar_pairs(A, 0.8, other=B, recall=0.8)
    assert len(expected[0]) > 20
    assert_pairs(sd.similar_pairs(codes, 0.8, other=other, recall=0.8), expected)
    if map is SAMPLED_MAPS[0]:  # one of the two may be the plain array
        assert_pairs(sd.similar_pairs(codes, 0.8, other=other.array, recall=0.8), expected)
        assert_pairs(sd.similar_pairs(codes.array, 0.8, other=other, recall=0.8), expected)


@pytest.mark.parametrize("max_bucket", [1, 3, 20, 1000])
def test_copies_are_paired_as_on_one_machine(monkeypatch, bands, max_bucket):
    """Many rows with the same codes, in all blocks; empty ones are nobody's neighbours."""
    monkeypatch.setattr(_pair_tasks, "PART_ROWS", 300)
    X = families(100)
    rng = np.random.default_rng(0)
    X = X[np.concatenate([rng.integers(0, 100, 900), np.full(200, 3), [4] * 40, [57] * 60])]
    A = MinHash(n_hashes=64, random_state=0).fit(X).encode(X, packed=True)
    A = A[rng.permutation(len(A))]
    assert (~A.sampled).sum() > 60
    codes = in_blocks(A, 300, 1, 0, 500, 399)
    expected = neighbors.similar_pairs(A, 0.7, max_bucket=max_bucket)
    assert_pairs(sd.similar_pairs(codes, 0.7, max_bucket=max_bucket), expected)
    expected = neighbors.similar_pairs(A[:700], 0.7, max_bucket=max_bucket, other=A[700:])
    found = sd.similar_pairs(
        in_blocks(A[:700], 300, 400), 0.7, max_bucket=max_bucket, other=in_blocks(A[700:], 499, 1)
    )
    assert_pairs(found, expected)


def test_bands_are_used_and_those_of_one_machine(monkeypatch):
    used = []
    choose = _search.cheapest_bands
    monkeypatch.setattr(
        _search, "cheapest_bands", lambda *args: used.append(choose(*args)) or used[-1]
    )
    codes = codes_with_copies()
    neighbors.similar_pairs(codes, 0.7, bits=8)
    sd.similar_pairs(da.from_array(codes, chunks=(900, 32)), 0.7, bits=8)
    assert used[0] is not None
    assert len(set(used)) == 1


def test_pairs_of_few_rows():
    for n_rows in (0, 1, 2):
        codes = da.from_array(np.ones((n_rows, 16), np.uint8), chunks=1)
        found = dask.compute(*sd.similar_pairs(codes, 0.7, bits=8))
        assert [len(array) for array in found] == [n_rows // 2] * 3


def test_codes_that_do_not_compare():
    X = da.ones((9, 5), chunks=(4, 5))
    codes = sd.encode(CWS, X, packed=True)
    another = ConsistentWeightedSampling(n_hashes=16, bits=4, random_state=1)
    with pytest.raises(ValueError, match=r"codes and other must be codes of the same map: .* seed"):
        sd.similar_pairs(codes, 0.5, other=sd.encode(another, X, packed=True))
    with pytest.raises(ValueError, match="rows of one length, got 8 and 16 bytes"):
        sd.similar_pairs(codes, 0.5, other=da.zeros((3, 16), dtype=np.uint8))
    with pytest.raises(ValueError, match="bits must be that of codes, 4, got 8"):
        sd.similar_pairs(codes, 0.5, bits=8)
    with pytest.raises(ValueError, match="other must be a two-dimensional Dask array"):
        sd.similar_pairs(codes, 0.5, other=np.zeros((3, 8), np.uint8))
    cauchy = RandomFourier(n_components=64, kernel="cauchy", random_state=0)
    with pytest.raises(ValueError, match="these codes have no estimate"):
        sd.similar_pairs(sd.encode(cauchy, X, packed=True), 0.5)


def test_many_copies_are_bounded():
    codes = np.full((700, 32), 7, np.uint8)
    chunked = da.from_array(codes, chunks=(300, 32))
    i, j, _ = dask.compute(*sd.similar_pairs(chunked, 0.7, bits=8, max_bucket=10))
    if len(i) < 700 * 699 // 2:  # where rows are hashed
        assert len(i) <= 10 * 700
    n_components, _ = connected_components(sp.coo_array((i >= 0, (i, j)), shape=(700, 700)))
    assert n_components == 1


def test_bad_codes():
    codes = da.zeros((9, 4), dtype=np.uint8)
    for arguments, message in [
        ({"bits": None}, "bits must be given where codes is a plain array"),
        ({"codes": codes.compute()}, "two-dimensional Dask array of uint8"),
        ({"codes": codes.astype(float)}, "two-dimensional Dask array of uint8"),
        ({"codes": codes[codes[:, 0] == 0]}, "must know the lengths of its blocks"),
        ({"threshold": 0}, "threshold must be a finite number above 0"),
        ({"threshold": 1.1}, "threshold must be above 0 and at most 1"),
        ({"bits": 0}, "bits must be from 1"),
        ({"codes": codes[:, :1], "bits": 13}, "bits must be at most 8, those of a row of codes"),
        ({"n_hashes": 5}, "n_hashes must be from 1 to 4"),
        ({"recall": 2}, "recall must be above 0 and at most 1"),
        ({"max_bucket": 0}, "max_bucket must be from 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            sd.similar_pairs(**{"codes": codes, "threshold": 0.5, "bits": 8, **arguments})


# ---- clusters of processes -----------------------------------------------------------------------


def cluster(n_workers, **options):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None, **options
    )


@pytest.mark.cluster
def test_two_processes(inputs, expected, tmp_path):
    with cluster(2) as workers, distributed.Client(workers) as client:
        parts = sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=700, client=client)
        assert joined(parts) == expected
        X, _ = sd.read_svmlight(inputs, n_features=300, partition_bytes=5000)
        codes = sd.encode(CWS, X, packed=True).persist()
        expected = neighbors.similar_pairs(codes.compute(), 0.6)
        assert len(expected[0]) > 0
        assert_pairs(sd.similar_pairs(codes, 0.6), expected, client)
        codes = codes.compute().array
        (tmp_path / "bad").write_bytes(b"1 1:1\n" * 99 + b"x 1:1\n")
        with pytest.raises(ValueError, match="bad: line 100, column 1: expected a number as label"):
            sd.map_files(CWS, tmp_path / "bad", tmp_path / "out2", partition_bytes=100)
    rows = sp.vstack([load_svmlight_file(path, n_features=300)[0] for path in inputs], "csr")
    np.testing.assert_array_equal(codes, clone(CWS).fit(rows).encode(rows))


COMMAND = [sys.executable, "-P", "-m", "sparsemaps"]


@pytest.mark.cluster
def test_the_command(inputs, tmp_path):
    options = ["map", "minmax", "--n-hashes", "16", "--bits", "4", *inputs]
    subprocess.run([*COMMAND, *options, "-o", tmp_path / "one"], check=True)
    expected = (tmp_path / "one").read_bytes()
    with cluster(2) as workers:
        for name, dask_options in {
            "here": ["--dask", "--n-jobs", "2"],
            "there": ["--dask", workers.scheduler_address],
        }.items():
            out = f"{tmp_path / name}/"
            done = subprocess.run(
                [*COMMAND, *options, "--progress", "-o", out, *dask_options],
                stderr=subprocess.PIPE,
                text=True,
            )
            assert done.returncode == 0
            assert "100%" in done.stderr
            assert "rows/s" in done.stderr
            assert joined(sorted(Path(out).glob("part-*"))) == expected
    (tmp_path / "bad").write_bytes(b"1 1:1\nx\n")
    done = subprocess.run(
        [*COMMAND, "map", "minmax", tmp_path / "bad", "-o", f"{tmp_path}/out/", "--dask"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 2
    assert re.fullmatch(r"sparsemaps: .*bad: line 2, column 1: expected a number.*\n", done.stderr)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "out"], "--dask needs an output directory, whose name ends in a slash"),
        (["-o", "out/", "--shard", "1/2"], "--dask cannot be used with --header or --shard"),
    ],
)
def test_what_the_command_cannot_do(inputs, tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["map", "minmax", inputs[0], *options, "--dask"]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """An input that takes two workers some seconds, in about 40 parts."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    X = sp.random_array((4000, 10**6), density=1e-4, random_state=rng, format="csr")
    X.data += 0.01
    dump_svmlight_file(X, rng.integers(0, 2, 4000), str(folder / "in.svm"), zero_based=False)
    map = ConsistentWeightedSampling(n_hashes=1024, random_state=0)
    partition_bytes = os.path.getsize(folder / "in.svm") // 40
    return (
        map,
        folder / "in.svm",
        partition_bytes,
        on_one_machine(folder / "out", folder / "in.svm", map),
    )


def wait_for_parts(out, n, seconds=300):
    end = time.monotonic() + seconds
    while len(list(out.glob("part-*"))) < n:
        assert time.monotonic() < end, "the job makes no parts"
        time.sleep(0.005)


@pytest.mark.cluster
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers(inputs, expected, tmp_path, n_workers):
    with cluster(n_workers) as workers, distributed.Client(workers):
        for partition_bytes in (211, 1500, 2**26):
            out = tmp_path / str(partition_bytes)
            parts = sd.map_files(CWS, inputs, out, partition_bytes=partition_bytes)
            assert joined(parts) == expected


@pytest.mark.cluster
def test_pairs_on_a_cluster(bands):
    X = families(400)
    with cluster(2) as workers, distributed.Client(workers) as client:
        for map in (SAMPLED_MAPS[0], SAMPLED_MAPS[3], SAMPLED_MAPS[6]):
            A = clone(map).fit(X).encode(X, packed=True)
            A = A[np.random.default_rng(0).integers(0, 400, 900)]
            codes, other = in_blocks(A, 300, 200, 400), in_blocks(A[:100], 50, 50)
            expected = neighbors.similar_pairs(A, 0.8, max_bucket=3)
            assert_pairs(sd.similar_pairs(codes, 0.8, max_bucket=3), expected, client)
            expected = neighbors.similar_pairs(A, 0.8, other=A[:100])
            assert_pairs(sd.similar_pairs(codes, 0.8, other=other), expected, client)


@pytest.mark.cluster
def test_workers_that_are_killed(large, tmp_path):
    map, path, partition_bytes, expected = large
    out = tmp_path / "out"
    killed = []

    def kill(workers):
        for n_parts in (3, 12):
            wait_for_parts(out, n_parts)
            pid = list(workers.workers.values())[len(killed)].pid
            os.kill(pid, signal.SIGKILL)
            killed.append((pid, len(list(out.glob("part-*")))))

    with cluster(2) as workers, distributed.Client(workers):
        killer = threading.Thread(target=kill, args=(workers,))
        killer.start()
        parts = sd.map_files(map, path, out, partition_bytes=partition_bytes)
        killer.join()
    assert len(killed) == 2
    assert all(n_parts < len(parts) for _, n_parts in killed)
    assert joined(parts) == expected
    assert len(os.listdir(out)) == len(parts) + 1


JOB = """
import sys
from distributed import Client, LocalCluster
import sparsemaps.dask
from sparsemaps import ConsistentWeightedSampling

if __name__ == "__main__":
    with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        sparsemaps.dask.map_files(
            ConsistentWeightedSampling(n_hashes=1024, random_state=0),
            sys.argv[1], sys.argv[2], partition_bytes=int(sys.argv[3]),
        )
"""


@pytest.mark.cluster
def test_a_job_that_is_killed_and_started_again(large, tmp_path):
    map, path, partition_bytes, expected = large
    out = tmp_path / "out"
    (tmp_path / "job.py").write_text(JOB)
    command = [sys.executable, "-P", tmp_path / "job.py", path, out, str(partition_bytes)]
    there = 0
    for more in (2, 5):
        job = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        wait_for_parts(out, there + more)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        there = len(list(out.glob("part-*")))
    before = {part: os.stat(part).st_mtime_ns for part in out.glob("part-*")}
    parts = sd.map_files(map, path, out, partition_bytes=partition_bytes)
    assert len(before) < len(parts)
    assert joined(parts) == expected
    assert all(os.stat(part).st_mtime_ns == time for part, time in before.items())
    assert len(os.listdir(out)) == len(parts) + 1


def leave_little_memory():
    """64 MiB: enough for the worker to speak with the scheduler, too little for the long line."""
    n_pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = n_pages * resource.getpagesize() + 2**26
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


@pytest.mark.cluster
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_a_worker_without_memory(tmp_path):
    text = write(tmp_path / "in").read_bytes()
    wide = b" ".join(b"%d:1" % column for column in range(1, 5_000_001))
    (tmp_path / "in").write_bytes(text + b"1 " + wide + b"\n" + text)
    map, out = CountSketch(n_components=16, random_state=0), tmp_path / "out"
    expected = on_one_machine(tmp_path / "expected", tmp_path / "in", map)
    with cluster(1) as workers, distributed.Client(workers) as client:
        client.gather(client.map(abs, range(20)))  # so that its threads have been started
        before = client.run(os.getpid)
        client.run(leave_little_memory)
        try:
            sd.map_files(map, tmp_path / "in", out, partition_bytes=2**20)
        except (MemoryError, distributed.KilledWorker):
            failed = True
        else:  # the worker ended, and the one that took its place has all the memory
            failed = False
            assert client.run(os.getpid) != before
    there = list(out.glob("part-*"))
    parts = sd.map_files(map, tmp_path / "in", out, partition_bytes=2**20)
    assert failed == (len(there) < len(parts))
    assert joined(parts) == expected
    assert len(os.listdir(out)) == len(parts) + 1
