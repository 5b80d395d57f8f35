"""Files on Dask: the same bytes as on one machine."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from _data.svmlight import write
from _oracles.equal import assert_same
from _oracles.one_machine import CWS, joined, on_one_machine
from _scripts.programs import posix

import sparsemaps.dask as sd
from sparsemaps import ConsistentWeightedSampling, CountSketch
from sparsemaps._io._locks import one_writer
from sparsemaps.files import Svmlight

dask = pytest.importorskip("dask")
fsspec = pytest.importorskip("fsspec")

# Clusters that come and go leave sockets that Python warns of.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def expected(inputs, tmp_path_factory):
    return on_one_machine(tmp_path_factory.mktemp("expected") / "out.svm", inputs)


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
    names = [os.path.basename(part) for part in parts]
    assert set(os.listdir(tmp_path / "out")) == {
        *names, *(f"{name}.json" for name in names), "_sparsemaps.json",
    }  # fmt: skip


@pytest.mark.parametrize("partition_bytes", range(1, 9))
def test_any_cut_of_short_lines(tmp_path, partition_bytes):
    (tmp_path / "in").write_bytes(b"1 1:1\n\n0 2:3\n#\n1 1:2 3:4\n2\n0 1:1")
    expected = on_one_machine(tmp_path / "expected", tmp_path / "in")
    parts = sd.map_files(CWS, tmp_path / "in", tmp_path / "out", partition_bytes=partition_bytes)
    assert joined(parts) == expected


def test_options_and_query_ids(tmp_path):
    (tmp_path / "in").write_bytes(b"1,2 qid:3 0:1 4:2 # kept\n3 qid:3 2:1\n" * 9)
    zero_based = Svmlight(zero_based=True)
    for options in ({"source": zero_based, "ones": True}, {"source": zero_based, "comments": True}):
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
                  tmp_path / "file", out / "part-000001.svm.json",
                  out / "_sparsemaps.json"):  # fmt: skip
        for directory in (out, tmp_path / "link", tmp_path / "." / "out"):
            with pytest.raises(ValueError, match="has the name of a file that is written to"):
                sd.map_files(CWS, given, directory, resume=resume)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("record", ["", "[" * 10**5, "[]", "\xff"])
def test_a_damaged_record(inputs, expected, tmp_path, record):
    """Its part is made again, and no other."""
    out = tmp_path / "out"
    parts = sd.map_files(CWS, inputs, out)
    before = [os.stat(part).st_ino for part in parts]
    (out / "part-000001.svm.json").write_text(record, encoding="latin-1")
    assert sd.map_files(CWS, inputs, out) == parts
    after = [os.stat(part).st_ino for part in parts]
    assert [n for n, inode in enumerate(before) if after[n] != inode] == [1]
    assert joined(parts) == expected


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_damaged_inputs(inputs, tmp_path, ending):
    module = {"gz": gzip, "bz2": bz2, "xz": lzma}[ending]
    path = tmp_path / f"in.{ending}"
    path.write_bytes(module.compress(Path(inputs[0]).read_bytes())[:-9])
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        sd.map_files(CWS, path, tmp_path / "out")
    assert str(caught.value).count(f"in.{ending}: cannot be decompressed: ") == 1


def test_csr(inputs, tmp_path):
    on_one_machine(tmp_path / "out.npz", inputs, format="npz")
    parts = sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=500, format="npz")
    assert {os.path.splitext(part)[1] for part in parts} == {".npz"}
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
    assert len(fs.ls("/mapped")) == 2 * len(parts) + 1
    assert sd.map_files(CWS, "memory://rows", "memory://mapped", partition_bytes=800) == parts


class _Asking(fsspec.get_filesystem_class("memory")):
    """Files in memory for those who know a word. What is told of a file or a folder is remembered,
    and files appear as others read them: when they are whole or before."""

    protocol = "asking"
    store, pseudo_dirs, remembered, seen = {}, [""], {}, []

    def __init__(self, word=None, **options):
        super().__init__(**options)
        if word != "sesame":
            raise PermissionError("the word")

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("asking://"))

    def unstrip_protocol(self, name):
        return "asking://" + name.lstrip("/")

    def _remembering(self, folder, what, tell):
        of_folder = self.remembered.setdefault(self._strip_protocol(folder), {})
        if what not in of_folder:
            of_folder[what] = tell()
        return of_folder[what]

    def info(self, path, **options):
        info, folder = super().info, self._parent(path)
        return self._remembering(folder, path, lambda: info(path, **options))

    def ls(self, path, detail=True, **options):
        ls = super().ls
        return self._remembering(path, detail, lambda: ls(path, detail=detail, **options))

    def invalidate_cache(self, path):
        self.remembered.pop(self._strip_protocol(path), None)

    def put_file(self, local, path, **options):
        self.seen.append("put " + os.path.basename(path))
        super().put_file(local, path, **options)

    def mv(self, one, other, **options):
        self.seen.append(os.path.basename(other))
        super().mv(one, other, **options)


fsspec.register_implementation("asking", _Asking, clobber=True)


def test_a_file_system_with_options_and_a_memory(inputs, tmp_path):
    """Parts appear by their names when they are whole, and last of their files."""
    content, url = Path(inputs[0]).read_bytes(), "asking://out"
    options = {"storage_options": {"word": "sesame"}}
    fs = fsspec.filesystem("asking", word="sesame")
    fs.pipe_file("/rows/in.svm", content)
    assert fs.ls("/rows", detail=False) == ["/rows/in.svm"]
    with pytest.raises(PermissionError):
        sd.map_files(CWS, "asking://rows/in.svm", url)
    how = {"partition_bytes": len(content) // 3 + 1, "format": "npy", **options}
    with dask.config.set(scheduler="synchronous"):
        parts = sd.map_files(CWS, "asking://rows/in.svm", url, **how)
    assert len(parts) == 3
    assert [name for name in _Asking.seen if name.startswith("part-000001")] == [
        "part-000001.npy.labels.npy", "part-000001.npy", "part-000001.npy.json",
    ]  # fmt: skip
    put = [name for name in _Asking.seen if name.startswith("put ")]
    assert len(put) == 2 * len(parts)
    assert all(name.startswith("put .") and name.endswith(".tmp") for name in put)
    # The memory tells of a folder that was empty.
    fs.makedirs("/other")
    assert fs.ls("/other", detail=False) == []
    fs.pipe_file("/other/part-000000.npy", b"precious")
    with pytest.raises(ValueError, match=r"no _sparsemaps\.json that says"):
        sd.map_files(CWS, "asking://rows/in.svm", "asking://other", **how)
    # The memory tells of a file that was longer.
    fs.pipe_file("/rows/in.svm", content + b"1 3:1\n")
    fs.invalidate_cache("/rows")
    assert fs.info("/rows/in.svm")["size"] > len(content)
    fs.pipe_file("/rows/in.svm", content)
    with pytest.raises(ValueError, match=r"in\.svm has changed meanwhile"):
        sd.map_files(CWS, "asking://rows/in.svm", url, **how)


def test_files_of_a_folder(inputs, tmp_path):
    """Without hidden ones, and without folders."""
    folder = tmp_path / "in"
    (folder / "below.svm").mkdir(parents=True)
    for name in ("below.svm/a", ".hidden.svm", "b.svm", "c.svm"):
        (folder / name).write_bytes(Path(inputs[0]).read_bytes())
    parts = sd.map_files(CWS, folder, tmp_path / "out")
    expected = on_one_machine(tmp_path / "expected", [folder / "b.svm", folder / "c.svm"])
    assert joined(parts) == expected
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="empty: there are no files"):
        sd.map_files(CWS, [folder, tmp_path / "empty"], tmp_path / "other")


def test_the_longest_line(inputs, tmp_path):
    with pytest.raises(ValueError, match="line 2 is longer than max_line_bytes=20"):
        sd.map_files(CWS, inputs[0], tmp_path / "out", source=Svmlight(max_line_bytes=20))


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_progress(inputs, expected, tmp_path, capsys, scheduler):
    """All bytes of the inputs are counted, compressed ones as they are."""
    with dask.config.set(scheduler=scheduler):
        sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=999)
        assert capsys.readouterr().err == ""
        (tmp_path / "out" / "part-000001.svm").unlink()
        sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=999, progress=True)
        assert "100%" in capsys.readouterr().err.split("\r")[-1]
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
    (out / f".part-000001.svm.{0:032x}.tmp").write_bytes(b"half")
    (out / f".sparsemaps-{0:016x}.tmp").write_bytes(b"half")
    own = out / f".sparsemaps-{0:016x}.tmp.own"  # a name that no task gives
    own.write_bytes(b"precious")
    assert sd.map_files(CWS, inputs, out, partition_bytes=500) == parts
    assert joined(parts) == expected
    assert {part for part in parts if os.stat(part).st_mtime_ns == before[part]} == {*parts} - {
        *missing
    }
    assert own.read_bytes() == b"precious"
    assert len(os.listdir(out)) == 2 * len(parts) + 2


def test_a_part_that_a_killed_run_has_not_recorded(inputs, expected, tmp_path):
    out = tmp_path / "out"
    parts = sd.map_files(CWS, inputs, out, partition_bytes=500)
    (out / "part-000001.svm.json").unlink()
    (out / "part-000001.svm").write_bytes(b"half")
    assert sd.map_files(CWS, inputs, out, partition_bytes=500) == parts
    assert joined(parts) == expected


def test_another_call_is_made_anew_and_no_mix(inputs, expected, tmp_path):
    """Parts of other options are made again, and those that are no longer any are removed."""
    out, anew = tmp_path / "out", tmp_path / "anew"
    sd.map_files(CWS, inputs, out, partition_bytes=500)
    other = ConsistentWeightedSampling(n_hashes=16, bits=4, random_state=1)
    for arguments, options in [
        ((other, inputs), {}),
        ((CWS, inputs[:-1]), {}),
        ((CWS, inputs), {"partition_bytes": 501}),
        ((CWS, inputs), {"ones": True}),
        ((CWS, inputs), {"format": "npy"}),
        ((CWS, inputs), {"partition_bytes": 1000}),
    ]:
        options = {"partition_bytes": 500, **options}
        parts = sd.map_files(*arguments, out, **options)
        fresh = sd.map_files(*arguments, anew, resume=False, **options)
        assert [os.path.basename(part) for part in parts] == [*map(os.path.basename, fresh)]
        endings = ("", ".json", ".labels.npy")[: 3 if "format" in options else 2]
        names = [os.path.basename(part) + ending for part in parts for ending in endings]
        assert {*os.listdir(out)} == {*names, "_sparsemaps.json"}
        assert joined(parts) == joined(fresh)
    assert joined(parts) == expected
    before = [os.stat(part).st_ino for part in parts]
    again = sd.map_files(CWS, inputs, out, partition_bytes=1000)
    assert [os.stat(part).st_ino for part in again] == before


@posix
def test_one_writer_of_a_directory(inputs, tmp_path):
    with (
        one_writer(str(tmp_path / "out")),
        pytest.raises(ValueError, match="another run writes to"),
    ):
        sd.map_files(CWS, inputs, tmp_path / "out")
    assert len(sd.map_files(CWS, inputs, tmp_path / "out")) == len(inputs)


def test_other_ranges_of_a_file_are_other_parts(inputs, tmp_path):
    """And all parts are made again where they are not to be taken."""
    size = os.path.getsize(inputs[0])
    expected = on_one_machine(tmp_path / "expected", inputs[0])
    for n in (2, 3, 2):
        parts = sd.map_files(CWS, inputs[0], tmp_path / "out", partition_bytes=-(-size // n))
        assert len(parts) == n
        assert joined(parts) == expected
    before = [os.stat(part).st_ino for part in parts]
    sd.map_files(CWS, inputs[0], tmp_path / "out", partition_bytes=-(-size // 2), resume=False)
    assert not {*before} & {os.stat(part).st_ino for part in parts}


def test_a_changed_input_is_mapped_again(tmp_path):
    write(tmp_path / "in")
    (part,) = sd.map_files(CWS, tmp_path / "in", tmp_path / "out")
    before = os.stat(part).st_ino
    os.utime(tmp_path / "in", ns=(1, 1))
    sd.map_files(CWS, tmp_path / "in", tmp_path / "out")
    assert os.stat(part).st_ino != before


def test_a_directory_with_parts_of_unknown_origin(inputs, tmp_path):
    (tmp_path / "part-000000.svm").write_bytes(b"precious")
    for resume in (True, False):
        with pytest.raises(ValueError, match=r"no _sparsemaps\.json that says"):
            sd.map_files(CWS, inputs, tmp_path, resume=resume)
    assert (tmp_path / "part-000000.svm").read_bytes() == b"precious"


# ---- bad input -----------------------------------------------------------------------------------


def test_a_corrupt_line_in_one_of_many_files(tmp_path):
    text = write(tmp_path / "00").read_bytes()
    for number in range(20):
        (tmp_path / f"{number:02d}").write_bytes(text)
    lines = text.split(b"\n")
    lines[41] = b"1 5:1 4:1".ljust(len(lines[41]))  # the other ranges stay as they are
    (tmp_path / "13").write_bytes(b"\n".join(lines))
    inputs = [tmp_path / f"{number:02d}" for number in range(20)]
    with pytest.raises(ValueError, match=r"13: line 42, column 7: indices must be sorted"):
        sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=1000)
    (tmp_path / "good").write_bytes(text)
    complete = {
        Path(part).read_bytes()
        for part in sd.map_files(CWS, tmp_path / "good", tmp_path / "1", partition_bytes=1000)
    }
    there = list((tmp_path / "out").glob("part-*.svm"))
    assert all(part.read_bytes() in complete for part in there)
    (tmp_path / "13").write_bytes(text)
    sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=1000)
    assert not list((tmp_path / "out").glob(".*"))
    (tmp_path / "13").write_bytes(text)
    parts = sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=1000)
    assert joined(parts) == on_one_machine(tmp_path / "expected", inputs)


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


@pytest.mark.parametrize("changed", ["time", "size", "content"])
def test_an_input_that_changes_meanwhile(tmp_path, monkeypatch, changed):
    """Its part does not appear."""
    from sparsemaps.dask import _ranges

    path = write(tmp_path / "in")
    before, about = _ranges._open, path.stat()

    def changing(part):
        if part.start > 0 and changed == "time":
            os.utime(path, ns=(1, 1))
        elif part.start > 0 and changed == "content":  # which are no rows
            path.write_bytes((b"x\n" * about.st_size)[: about.st_size])
        elif part.start > 0:
            with open(path, "ab") as file:
                file.write(b"1 1:1\n")
            os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
        return before(part)

    monkeypatch.setattr(_ranges, "_open", changing)
    with dask.config.set(scheduler="synchronous"), pytest.raises(ValueError, match="changed mean"):
        sd.map_files(CWS, path, tmp_path / "out", partition_bytes=path.stat().st_size // 2 + 1)
    parts = [name for name in os.listdir(tmp_path / "out") if name.endswith(".svm")]
    assert parts in ([], ["part-000000.svm"])


def test_readers_of_memory_have_positions_of_their_own():
    """A file in memory is one object for all that open it; threads read it at the same time."""
    from sparsemaps.dask import _ranges

    content = b"1 1:1\n2 2:1\n"
    fsspec.filesystem("memory").pipe("/positions.svm", content)
    (whole,) = _ranges.find_inputs("memory://positions.svm", None)
    with whole.open_text() as one, whole.open_text() as other:
        assert b"".join(one.blocks(4)) == content
        assert b"".join(other.blocks(4)) == content
