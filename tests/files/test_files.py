"""Files: complete or not there, never an input; lines and bytes are bounded; many of them."""

import bz2
import gzip
import io
import json
import lzma
import os
import signal
import stat
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_csr
from programs import Program

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    KernelProduct,
    RandomMaclaurin,
    SignProjection,
)
from sparsemaps._tools import _output_files, _text_input
from sparsemaps.files import _map as _map_files
from sparsemaps.files import _summary, map_files
from sparsemaps.libsvm import _pipeline, dump_svmlight_file, iter_svmlight_file, load_svmlight_file

posix = pytest.mark.skipif(sys.platform == "win32", reason="not as on POSIX systems")


def cws(**parameters):
    parameters = {"n_hashes": 5, "bits": 3, "random_state": 0, **parameters}
    return ConsistentWeightedSampling(**parameters)


def mapped(text, new_map=None, **options):
    out = io.BytesIO()
    map_files(new_map or cws(), io.BytesIO(text), out, **options)
    return out.getvalue()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "in.svm"
    dump_svmlight_file(random_csr(), np.arange(40) % 3, path, zero_based=False)
    return path


@pytest.fixture
def folder(tmp_path):
    """A folder of files with different rows."""
    (tmp_path / "in").mkdir()
    for i in range(7):
        X = random_csr(n_rows=10 + i, seed=i)
        dump_svmlight_file(X, np.arange(10 + i), tmp_path / "in" / f"p{i}.svm", zero_based=False)
    return tmp_path / "in"


# ---- output that is complete or not there --------------------------------------------------------


@pytest.fixture(params=["unnamed", "named"])
def each_way(request, monkeypatch):
    """With and without files that have no name."""
    if request.param == "named":
        monkeypatch.setattr(_output_files, "_open_unnamed", lambda folder: None)


def test_nothing_is_there_before_the_end(tmp_path, each_way):
    path = tmp_path / "out"
    with _output_files.atomic_output(path) as file:
        file.write(b"content")
        assert not path.exists()
    assert path.read_bytes() == b"content"
    with pytest.raises(KeyboardInterrupt), _output_files.atomic_output(path) as file:  # noqa: PT012
        file.write(b"more")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"content"
    assert os.listdir(tmp_path) == ["out"]


def test_a_signal_while_the_file_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(_output_files, "_open_unnamed", lambda folder: None)
    make = os.open

    def interrupted(path, flags, *mode):
        os.close(make(path, flags, *mode))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", interrupted)
        with pytest.raises(KeyboardInterrupt), _output_files.atomic_output(tmp_path / "out"):
            pass
    assert os.listdir(tmp_path) == []


def test_a_file_system_that_cannot_name_a_file_later(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    with _output_files.atomic_output(tmp_path / "out") as file:
        file.write(b"x" * 10**6)
    assert (tmp_path / "out").read_bytes() == b"x" * 10**6
    assert os.listdir(tmp_path) == ["out"]


@posix
def test_the_umask_is_kept(tmp_path, each_way):
    """It decides the permissions, and is never changed, not even for a moment."""
    before = os.umask(0o027)
    try:
        with _output_files.atomic_output(tmp_path / "out"):
            found = os.umask(0o027)
        assert found == 0o027
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_umask_is_not_called(tmp_path, monkeypatch, each_way):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("umask is the whole process'"))
    with _output_files.atomic_output(tmp_path / "out"):
        pass


def test_the_longest_name(tmp_path, each_way):
    for name in ("x" * 250 + ".svm", "x" * 255):
        with _output_files.atomic_output(tmp_path / name) as file:
            file.write(b"1")
        assert (tmp_path / name).read_bytes() == b"1"


def test_no_name():
    with pytest.raises(ValueError, match="must not be empty"), _output_files.atomic_output(""):
        pass


def test_synced_before_it_has_its_name(tmp_path, monkeypatch, each_way):
    calls = []

    def noting(name, call):
        def noted(*arguments, **options):
            calls.append(name)
            return call(*arguments, **options)

        return noted

    for name in ("fsync", "link", "replace"):
        monkeypatch.setattr(os, name, noting(name, getattr(os, name)))
    for _ in range(2):
        with _output_files.atomic_output(tmp_path / "out"):
            pass
    named, unnamed = ["fsync", "replace"], ["fsync", "link"]
    # The second time there is a file to replace.
    assert calls in (named * 2, unnamed * 2 + ["link", "replace"])


@pytest.mark.parametrize("error", [None, OSError(22, "Invalid argument")])
def test_the_disk_writes_while_more_is_made(tmp_path, monkeypatch, each_way, error):
    asked = []

    def advise(descriptor, offset, length, advice):
        asked.append((offset, length))
        if error is not None:
            raise error

    monkeypatch.setattr(_output_files, "_BEGUN_BYTES", 1000)
    # A system that has no such function gets it here.
    monkeypatch.setattr(os, "posix_fadvise", advise, raising=False)
    monkeypatch.setattr(os, "POSIX_FADV_DONTNEED", 4, raising=False)
    pieces = [bytes([i]) * (100 * i) for i in range(100)]
    with _output_files.atomic_output(tmp_path / "out") as file:
        file.writelines(pieces)
    content = b"".join(pieces)
    assert (tmp_path / "out").read_bytes() == content
    ends = np.cumsum([length for _, length in asked])
    assert [offset for offset, _ in asked] == [0, *ends[:-1]]
    assert len(content) - 1000 < ends[-1] <= len(content)
    asked.clear()
    with _output_files.atomic_output(tmp_path / "out", synced=False) as file:
        file.writelines(pieces)
    assert not asked


def test_a_system_without_advice_on_files(tmp_path, monkeypatch, each_way):
    monkeypatch.setattr(_output_files, "_BEGUN_BYTES", 1000)
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    with _output_files.atomic_output(tmp_path / "out") as file:
        file.write(b"x" * 10**4)
        file.write(b"y" * 10**4)
    assert (tmp_path / "out").read_bytes() == b"x" * 10**4 + b"y" * 10**4


def test_the_same_content_is_the_same_file(tmp_path):
    """Compressed files hold no time and no name."""
    for ending in ("gz", "bz2", "xz"):
        paths = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
        for path in paths:
            with _output_files.atomic_output(path) as file:
                file.write(b"content" * 100)
            time.sleep(0.01)
        assert paths[0].read_bytes() == paths[1].read_bytes()


# ---- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_bytes", [1, 3, 8, 9, 100])
def test_long_lines(block_bytes):
    """A line of exactly the limit is fine, one more byte is not, wherever blocks are cut."""
    for text, n_allowed in ((b"12345678\n1\n12345678", 8), (b"1\n123456789\n1\n", 9)):
        with _text_input.open_text(io.BytesIO(text), n_allowed) as lines:
            assert b"".join(lines.blocks(block_bytes)) == text
        with _text_input.open_text(io.BytesIO(text), n_allowed - 1) as lines:  # noqa: SIM117
            with pytest.raises(_text_input.LineTooLong):
                list(lines.blocks(block_bytes))


def test_a_bomb(tmp_path):
    """A small compressed file with a line that would fill the memory."""
    path = tmp_path / "bomb.svm.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"1 1:1\n1 1:1")
        for _ in range(64):
            file.write(b"0" * 2**20)
    with pytest.raises(ValueError, match=r"bomb.svm.gz: line 2 is longer than max_line_bytes="):
        load_svmlight_file(path, max_line_bytes=2**20)
    with pytest.raises(ValueError, match=r"line 2 is longer than max_line_bytes="):
        map_files(cws(), path, tmp_path / "out", max_line_bytes=2**20)
    assert os.listdir(tmp_path) == [path.name]


# ---- mapping -------------------------------------------------------------------------------------


def test_labels_and_query_ids_are_carried_through():
    text = b"1 qid:7 1:2 # one\n-2.5 qid:-9223372036854775808 3:1\r\n\n# c\n0 qid:0\n"
    lines = mapped(text).splitlines()
    assert [line.split()[:2] for line in lines] == [
        [b"1", b"qid:7"], [b"-2.5", b"qid:-9223372036854775808"], [b"0", b"qid:0"],
    ]  # fmt: skip
    plain = mapped(b"1 1:2\n-2.5 3:1\n0\n").splitlines()
    assert [line.split()[2:] for line in lines] == [line.split()[1:] for line in plain]
    lines = mapped(b"3,1 1:2\n 3:1\n2\n", CountSketch(n_components=4, random_state=0)).splitlines()
    assert [line.split(b" ")[0] for line in lines] == [b"3,1", b"", b"2"]


def test_comments():
    text = b"# first\n1 1:2 # one\n2 3:1\n\n3 # three\r\n#last"
    kept = mapped(text, comments=True)
    plain = mapped(text)
    assert b"#" not in plain
    assert [line.partition(b"#")[2] for line in kept.splitlines()] == [
        b" first", b" one", b"", b" three", b"last",
    ]  # fmt: skip
    assert load_svmlight_file(io.BytesIO(kept))[1].tolist() == [1, 2, 3]
    without = b"\n".join(
        line.split(b"#")[0].rstrip() for line in kept.splitlines() if line[0] != ord("#")
    )
    assert without.split() == plain.split()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 1:1\n1:2 3:4\n", "line 2, column 1: expected a number as label; found '1:2'"),
        (b"1 1:1\n1 2:-3\n", "line 2, index 2: the value -3 is negative"),
        (b"1 1:1\n\n# c\n1 2:nan\n", "line 4, index 2: the value is NaN"),
        (b"1 qid:1 1:1\n1 2:3\n", "line 2 has no qid"),
        (b"1 1:1\n1 +0:3\n", "line 2, column 3: indices count from 1 unless zero_based=True"),
        (b"1 1:1\n1 -0:3\n", "line 2, column 3: indices count from 1"),
        (b"\x1f\x8b\x08\n\x00", "compressed by gzip"),
        (b"BZh91AY", "compressed by bzip2"),
        (b"\xfd7zXZ\x00", "compressed by xz"),
        ("\ufeff1 1:1".encode(), "byte order mark"),
        ("1 1:1".encode("utf-16"), "UTF-16"),
        ("1 1:1".encode("utf-16-le"), "UTF-16"),
        (b"label,a,b\n1,2,3\n", "looks like CSV"),
        (b"1;2;3\n", "looks like CSV"),
    ],
)
def test_errors_name_the_line(text, message):
    with pytest.raises(ValueError, match=message):
        mapped(text)


def test_parameters(tmp_path):
    for options, message in (
        ({"format": "csv"}, "format must be"),
        ({"format": "npy"}, "format='npy' needs a file"),
        ({"resume": True}, "a directory"),
        ({"shard": (1, 2)}, "a directory"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"max_line_bytes": 0}, "max_line_bytes must be"),
        ({"zero_based": "no"}, "zero_based must be True or False"),
        ({"ones": True, "new_map": CountSketch()}, "ones=True is for maps with one-hot"),
        ({"ones": True, "format": "npy"}, "ones=True is not for format='npy'"),
        ({"format": "npy", "new_map": CountSketch()}, "is for maps with codes"),
        ({"format": "npy", "comments": True}, "comments=True is for"),
    ):
        with pytest.raises(ValueError, match=message):
            mapped(b"1 1:1\n", **options)
    for shard in ((0, 2), (3, 2), (1,), "1/2", 3):
        with pytest.raises(ValueError, match="shard"):
            map_files(cws(), [__file__], tmp_path, shard=shard)


def test_fitted_maps_know_their_width():
    fitted = cws().fit(random_csr(n_columns=30))
    mapped(b"1 30:1\n", fitted)
    with pytest.raises(ValueError, match="line 2: index 31, but the map was fitted to 30 columns"):
        mapped(b"1 30:1\n1 31:1\n", fitted)


def test_maps_stay_as_they_are():
    given = cws()
    mapped(b"1 1:1\n", given)
    assert not hasattr(given, "seed_")


def test_header():
    text = mapped(b"1 1:1\n", header=True)
    assert text.startswith(b"# ConsistentWeightedSampling(bits=3, n_hashes=5, random_state=0)\n1 ")


MAPS = {
    "codes": cws(),
    "bits": SignProjection(n_hashes=11, random_state=0),
    "dense": SignProjection(n_hashes=11, dense_output=True, random_state=0),
    "product": KernelProduct(random_state=0),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("block_bytes", [200, 2**19])
def test_npy(file, tmp_path, monkeypatch, name, block_bytes):
    """Packed codes as `encode` gives them, memory-mapped."""
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", block_bytes)
    out = tmp_path / "codes.npy"
    X, y = load_svmlight_file(file, zero_based=False, n_features=300)
    (done,) = map_files(MAPS[name], file, out, format="npy", n_jobs=2)
    assert done.n_rows == 40
    codes = np.load(out, mmap_mode="r")
    expected = sp.csr_array(MAPS[name].fit_transform(X))  # fits
    np.testing.assert_array_equal(codes, MAPS[name].encode(X), strict=True)
    np.testing.assert_array_equal(np.load(f"{out}.labels.npy"), y, strict=True)
    assert not os.path.exists(f"{out}.qids.npy")
    out = tmp_path / "matrix.npz"
    map_files(MAPS[name], [file, file], out, format="npz")
    Z = sp.load_npz(out)
    assert isinstance(Z, sp.csr_array)
    assert (sp.vstack([expected, expected]) != Z).nnz == 0
    assert Z.shape[1] == expected.shape[1]
    with np.load(out) as arrays:
        np.testing.assert_array_equal(arrays["labels"], np.concatenate([y, y]), strict=True)


def test_query_ids_of_arrays(tmp_path):
    text = io.BytesIO(b"1 qid:3 1:1\n0 qid:4 2:1\n")
    map_files(cws(), text, tmp_path / "a.npy", format="npy")
    assert np.load(tmp_path / "a.npy.qids.npy").tolist() == [3, 4]
    text.seek(0)
    map_files(cws(), text, tmp_path / "a.npz", format="npz")
    assert np.load(tmp_path / "a.npz")["query_ids"].tolist() == [3, 4]
    with pytest.raises(ValueError, match="several labels"):
        map_files(cws(), io.BytesIO(b"1,2 1:1\n"), tmp_path / "b.npy", format="npy")
    inputs = [io.BytesIO(b"1 qid:3 1:1\n"), io.BytesIO(b"1 1:1\n")]
    with pytest.raises(ValueError, match="1 of 2 rows have a qid"):
        map_files(cws(), inputs, tmp_path / "b.npy", format="npy")
    with pytest.raises(ValueError, match="not compressed"):
        map_files(cws(), text, tmp_path / "b.npy.gz", format="npy")
    h01 = RandomMaclaurin(n_components=4, h01=True, random_state=0)
    with pytest.raises(ValueError, match="width of the output"):
        map_files(h01, io.BytesIO(b"1 1:1\n"), tmp_path / "b.npz", format="npz")
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "a.npy.labels.npy", "a.npy.qids.npy", "a.npz"]


def test_nothing_to_map(tmp_path):
    for format in ("svmlight", "npy", "npz"):
        out = tmp_path / f"out.{format}"
        (done,) = map_files(cws(), io.BytesIO(b"\n# none\n"), out, format=format)
        assert done.n_rows == 0
    assert (tmp_path / "out.svmlight").read_bytes() == b""
    assert np.load(tmp_path / "out.npy").shape == (0, 2)
    assert sp.load_npz(tmp_path / "out.npz").shape == (0, 40)


# ---- inputs and outputs --------------------------------------------------------------------------


@posix
def test_an_input_is_no_output(file, tmp_path):
    """By whatever name; nothing is written, and the input stays."""
    before = file.read_bytes()
    os.link(file, tmp_path / "hard")
    os.symlink(file, tmp_path / "soft")
    (tmp_path / "folder").mkdir()
    os.symlink(tmp_path, tmp_path / "folder" / "up")
    for output in (file, tmp_path / "hard", tmp_path / "soft", tmp_path / "folder/up/in.svm"):
        with pytest.raises(ValueError, match="is the input"):
            map_files(cws(), file, output)
    with pytest.raises(ValueError, match="is the input"):
        map_files(cws(), [file, tmp_path / "soft"], tmp_path, resume=True)
    with pytest.raises(ValueError, match="is the input"), open(file, "rb") as opened:
        map_files(cws(), opened, file)
    assert file.read_bytes() == before
    assert not (tmp_path / "in.svm.json").exists()


def outputs(directory):
    return {path.name: path.read_bytes() for path in sorted(Path(directory).iterdir())}


def test_one_output_for_each_input(folder, tmp_path):
    done = map_files(cws(), folder, f"{tmp_path}/out/")
    assert [os.path.basename(one.output) for one in done] == [f"p{i}.svm" for i in range(7)]
    assert [one.n_rows for one in done] == list(range(10, 17))
    together = io.BytesIO()
    map_files(cws(), str(folder / "p*.svm"), together)
    each = [Path(one.output).read_bytes() for one in done]
    assert b"".join(each) == together.getvalue()
    # Its outputs are inputs in turn, without what is beside them.
    again = map_files(CountSketch(n_components=4), tmp_path / "out", f"{tmp_path}/two/")
    assert len(again) == 7
    shards = [map_files(cws(), folder, f"{tmp_path}/sharded/", shard=(i, 3)) for i in (1, 2, 3)]
    assert [len(shard) for shard in shards] == [3, 2, 2]
    found, expected = outputs(tmp_path / "sharded"), outputs(tmp_path / "out")
    assert found == expected


@pytest.mark.parametrize("small_bytes", [0, 3500, 2**23])
def test_threads_over_small_files(folder, tmp_path, monkeypatch, capsys, small_bytes):
    """Large files one by one, small ones in a thread each: the same outputs."""
    monkeypatch.setattr(_map_files, "_SMALL_BYTES", small_bytes)
    sizes = [path.stat().st_size for path in folder.iterdir()]
    assert min(sizes) < 3500 < max(sizes)
    map_files(cws(), folder, f"{tmp_path}/one/")
    done = map_files(cws(), folder, f"{tmp_path}/two/", n_jobs=3, progress=True)
    assert [one.n_rows for one in done] == list(range(10, 17))
    found, expected = outputs(tmp_path / "two"), outputs(tmp_path / "one")
    assert found == expected
    assert "100%" in capsys.readouterr().err
    for name in ("p2.svm", "p5.svm"):
        with open(folder / name, "ab") as file:
            file.write(b"1 x:1\n")
    with pytest.raises(ValueError, match=r"p2\.svm: line 13, column 3"):
        map_files(cws(), folder, f"{tmp_path}/three/", n_jobs=3)
    found = outputs(tmp_path / "three")
    assert all(found[name] == expected[name] for name in found)
    assert not {"p2.svm", "p2.svm.json", "p5.svm", "p5.svm.json"} & found.keys()


def test_names_of_outputs(tmp_path, folder):
    X = random_csr()
    for name in ("a.svm.gz", "b.xz"):
        dump_svmlight_file(X, np.zeros(40), tmp_path / name)
    inputs = [tmp_path / "a.svm.gz", tmp_path / "b.xz"]
    done = map_files(cws(), inputs, f"{tmp_path}/o/", format="npy", zero_based=True)
    assert [os.path.basename(one.output) for one in done] == ["a.svm.npy", "b.npy"]
    with pytest.raises(ValueError, match="have the same output"):
        map_files(cws(), [folder / "p1.svm", folder / ".." / "in" / "p1.svm"], tmp_path)
    with pytest.raises(ValueError, match="inputs that are files"):
        map_files(cws(), io.BytesIO(b"1 1:1\n"), tmp_path)
    with pytest.raises(ValueError, match="there are no files"):
        map_files(cws(), str(tmp_path / "none*"), tmp_path / "out")


def test_resume(folder, tmp_path):
    out = f"{tmp_path}/out/"
    broken = folder / "p3.svm"
    good = broken.read_bytes()
    broken.write_bytes(good + b"1 x:1\n")
    with pytest.raises(ValueError, match=r"p3\.svm: line 14, column 3"):
        map_files(cws(), folder, out)
    kept = outputs(out)
    assert sorted(kept) == [f"p{i}.svm{end}" for i in range(3) for end in ("", ".json")]
    broken.write_bytes(good)
    done = map_files(cws(), folder, out, resume=True)
    assert [one.skipped for one in done] == [True] * 3 + [False] * 4
    assert [one.n_rows for one in done] == list(range(10, 17))
    undisturbed = f"{tmp_path}/undisturbed/"
    map_files(cws(), folder, undisturbed)
    found, expected = (
        {name: text for name, text in outputs(path).items() if name.endswith(".svm")}
        for path in (out, undisturbed)
    )
    assert found == expected
    # An input that has changed is mapped again, an output that has been cut too.
    broken.write_bytes(good + good)
    (Path(out) / "p5.svm").write_bytes(b"")
    done = map_files(cws(), folder, out, resume=True)
    assert [i for i, one in enumerate(done) if not one.skipped] == [3, 5]


@pytest.mark.parametrize(
    ("new_map", "options", "message"),
    [
        (cws(bits=4), {}, "bits 3, now 4"),
        (cws(random_state=1), {}, "now"),
        (CountSketch(random_state=0), {}, "now CountSketch"),
        (cws(), {"ones": True}, "ones False, now True"),
        (cws(), {"zero_based": True}, "zero_based False, now True"),
    ],
)
def test_resume_of_another_map(folder, tmp_path, new_map, options, message):
    """An error, before anything is written, and not a mix."""
    out = f"{tmp_path}/out/"
    map_files(cws(), folder, out, shard=(3, 7))
    before = outputs(out)
    with pytest.raises(ValueError, match=message):
        map_files(new_map, folder, out, resume=True, **options)
    assert outputs(out) == before


@pytest.mark.parametrize(
    "record",
    ["", "{", "[]", "[" * 10**5, "\xff", {"n_rows": None}, {"n_rows": -1}, {"n_rows": "9" * 5000},
     {"input": [1]}],
    ids=lambda record: str(record)[:20],
)  # fmt: skip
def test_a_record_that_is_no_record(folder, tmp_path, record):
    """As a loss of power, or another program, may leave it: the output is made again."""
    out = f"{tmp_path}/out/"
    map_files(cws(), folder, out, shard=(1, 7))
    path = Path(out) / "p0.svm.json"
    if isinstance(record, dict):
        path.write_text(json.dumps({**json.loads(path.read_text()), **record}))
    else:
        path.write_text(record, encoding="latin-1")
    done = map_files(cws(), folder, out, shard=(1, 7), resume=True)
    assert [one.skipped for one in done] == [False]


def test_many_inputs(tmp_path):
    """No handle stays open: more files than a process may have."""
    resource = pytest.importorskip("resource")
    (tmp_path / "in").mkdir()
    for i in range(120):
        (tmp_path / "in" / f"{i:03}").write_bytes(b"%d 1:%d\n" % (i, i + 1))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = [os.open(os.devnull, os.O_RDONLY) for _ in range(40)]  # whatever other tests left open
    for descriptor in free:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(free) + 1, limits[1]))
    try:
        out = tmp_path / "all"
        map_files(cws(), tmp_path / "in", out)
        map_files(cws(), tmp_path / "in", f"{tmp_path}/each/")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert load_svmlight_file(out)[1].tolist() == list(range(120))
    assert len(os.listdir(tmp_path / "each")) == 240


@posix
def test_killed_at_any_moment(folder, tmp_path):
    """Whatever is there is complete; going on gives what an undisturbed run gives."""
    for i in range(7):
        path = folder / f"p{i}.svm"
        path.write_bytes(path.read_bytes() * 100)
    out = tmp_path / "out"
    arguments = [
        "map", "minmax", "--n-hashes", 5, "--bits", 3, folder, "-o", f"{out}/", "--resume",
    ]  # fmt: skip
    map_files(cws(), folder, f"{tmp_path}/undisturbed/")
    expected = outputs(tmp_path / "undisturbed")
    n_done = 0
    for _ in range(2):
        program = Program(*arguments, cwd=tmp_path)
        deadline = time.monotonic() + 60
        while len(list(out.glob("*.svm"))) <= n_done and time.monotonic() < deadline:
            time.sleep(0.001)
        program.signal(signal.SIGKILL)
        program.end()
        n_done = len(list(out.glob("*.svm")))
        for name, text in outputs(out).items():
            assert name.endswith((".svm", ".json"))
            assert name.endswith(".json") or text == expected[name]
    assert Program(*arguments, cwd=tmp_path).end()[0] == 0
    for name, text in outputs(out).items():
        assert name.endswith(".json") or text == expected[name]
    assert outputs(out).keys() == expected.keys()


# ---- names of outputs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "output", "options"),
    [
        (["a", "a.json"], "out/", {}),
        (["a", "b/a.json.gz"], "out/", {}),
        (["a", "a.npy.labels"], "out/", {"format": "npy"}),
        (["a", "a.npy.qids.xz"], "out/", {"format": "npy"}),
        (["a.json", "a"], "out/", {"resume": True}),
        (["a.npy.labels.npy"], "a.npy", {"format": "npy"}),
        (["a.npy.qids.npy"], "a.npy", {"format": "npy"}),
        (["b/a", "a.json"], ".", {}),
    ],
)
def test_no_output_is_written_over(tmp_path, monkeypatch, names, output, options):
    """By what is beside another one: nothing is written, and the error names both."""
    monkeypatch.chdir(tmp_path)
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"1 1:1\n")
    before = sorted(tmp_path.rglob("*"))
    message = r"would be .* and (a file beside|the output of) |a file beside .*, is the input "
    with pytest.raises(ValueError, match=message):
        map_files(cws(), names, output, **options)
    assert sorted(tmp_path.rglob("*")) == before
    assert all((tmp_path / name).read_bytes() == b"1 1:1\n" for name in names)


@posix
def test_outputs_by_other_names(tmp_path, monkeypatch):
    """Links and dots lead to the same file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.npy.labels.npy").write_bytes(b"1 1:1\n")
    os.symlink("a.npy.labels.npy", "soft")
    os.link("a.npy.labels.npy", "hard")
    (tmp_path / "to").symlink_to(tmp_path)
    for name in ("soft", "hard"):
        with pytest.raises(ValueError, match=f"is the input {name}"):
            map_files(cws(), name, "./to/a.npy", format="npy")
    os.symlink("later.json", "one")  # the output does not exist yet
    with pytest.raises(ValueError, match="would be"):
        _output_files.refuse_clashes([], [("./to/one", "the first"), ("later.json", "the second")])


# ---- damaged files -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("damage", ["cut", "changed", "garbage"])
def test_damaged_files(tmp_path, ending, damage):
    """One error with the file's name, however it is read."""
    module = {"gz": gzip, "bz2": bz2, "xz": lzma}[ending]
    rng = np.random.default_rng(0)
    text = b"".join(b"%d %d:%d\n" % (i, i + 1, rng.integers(1000)) for i in range(2000))
    content = bytearray(module.compress(text))
    if damage == "cut":
        del content[-9:]
    elif damage == "changed":  # the check sum of gz stands at its end
        content[-6 if ending == "gz" else len(content) // 2] ^= 1
    else:
        content = content[:12] + rng.bytes(500)
    path = str(tmp_path / f"in.{ending}")
    Path(path).write_bytes(content)
    wide = {"n_features": 2000}
    for read in (
        lambda: load_svmlight_file(path),
        lambda: load_svmlight_file(path, offset=10, length=10**6, **wide),
        lambda: load_svmlight_file(path, offset=10**6, **wide),
        lambda: list(iter_svmlight_file(Path(path), n_jobs=2)),
        lambda: map_files(cws(), path, io.BytesIO()),
        lambda: _summary.summarize(path, progress=False),
    ):
        with pytest.raises(ValueError, match=rf"in\.{ending}: cannot be decompressed: "):
            read()
    for options in ({}, {"offset": 10**6, **wide}):
        with module.open(path) as file, pytest.raises(ValueError, match="cannot be decompressed"):
            load_svmlight_file(file, **options)


def test_a_compressed_file_is_decompressed_once(tmp_path):
    """Also a file object: its length is not asked for."""
    path = tmp_path / "in.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n"))
    with gzip.open(path) as file:
        file.seek = lambda *arguments: pytest.fail("it is read to the end")
        assert load_svmlight_file(file)[0].shape == (1, 1)
