"""Mapping of files: lines and bytes are bounded, errors name the line, damage is found."""

import bz2
import gzip
import io
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
from _data.chance import SEED
from _data.file_maps import cws, mapped
from _data.rows import random_csr

from sparsemaps import CountSketch, KernelProduct, MinHash, SignProjection
from sparsemaps._io import _text_input
from sparsemaps._tools._option_fields import options_of
from sparsemaps.files import Svmlight, _summary, map_files
from sparsemaps.files._job_options import MappedRows
from sparsemaps.libsvm import iter_svmlight_file, load_svmlight_file

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
        map_files(cws(), path, tmp_path / "out", source=Svmlight(max_line_bytes=2**20))
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


(FORMAT,) = (option for option in options_of(MappedRows) if option.name == "format")


@pytest.mark.parametrize("format", FORMAT.allowed.choices)
def test_query_ids_of_some_inputs(tmp_path, format):
    """Each input has all or none; the output must too."""
    (tmp_path / "a.svm").write_bytes(b"1 qid:1 1:1\n" * 3)
    (tmp_path / "b.svm").write_bytes(b"1 1:1\n" * 2)
    inputs, map = [tmp_path / "a.svm", tmp_path / "b.svm"], MinHash(n_hashes=8, random_state=0)
    with pytest.raises(ValueError, match="all rows or none must have a qid, got 3 qids for 5 rows"):
        map_files(map.fit_any_width(), inputs, tmp_path / "out", format=format)
    assert not (tmp_path / "out").exists()


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
        ({"task": ("map", 1, 2)}, "a directory"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"zero_based": "no"}, "zero_based must be True or False"),
        ({"ones": True, "new_map": CountSketch()}, "ones=True is for maps with one-hot"),
        ({"ones": True, "format": "npy"}, "ones=True is not for format='npy'"),
        ({"format": "npy", "new_map": CountSketch()}, "is for maps with codes"),
        ({"format": "npy", "comments": True}, "comments=True is for"),
    ):
        with pytest.raises(ValueError, match=message):
            mapped(b"1 1:1\n", **options)
    for task in (("map", 2, 2), ("map", -1, 2), ("map", 0), "1/2", 3, (0, 0, 1), ("map", 0, 0)):
        with pytest.raises(ValueError, match="task"):
            map_files(cws(), [__file__], tmp_path, task=task)
    with pytest.raises(ValueError, match="the stage must be map, got 'codes'"):
        map_files(cws(), [__file__], f"{tmp_path}/out/", task=("codes", 0, 1))


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
@pytest.mark.parametrize("n_copies", [1, 30])  # in one block of text, and in several
def test_npy(file, tmp_path, name, n_copies):
    """Packed codes as `encode` gives them, memory-mapped."""
    file.write_bytes(file.read_bytes() * n_copies)
    out = tmp_path / "codes.npy"
    X, y = load_svmlight_file(file, zero_based=False, n_features=300)
    (done,) = map_files(MAPS[name], file, out, format="npy", n_jobs=2)
    assert done.n_rows == 40 * n_copies
    codes = np.load(out, mmap_mode="r")
    MAPS[name].fit(X)
    np.testing.assert_array_equal(codes, MAPS[name].encode(X), strict=True)
    np.testing.assert_array_equal(np.load(f"{out}.labels.npy"), y, strict=True)
    assert not os.path.exists(f"{out}.qids.npy")


def test_query_ids_of_arrays(tmp_path):
    text = io.BytesIO(b"1 qid:3 1:1\n0 qid:4 2:1\n")
    map_files(cws(), text, tmp_path / "a.npy", format="npy")
    assert np.load(tmp_path / "a.npy.qids.npy").tolist() == [3, 4]
    inputs = [io.BytesIO(b"1 qid:3 1:1\n"), io.BytesIO(b"1 1:1\n")]
    with pytest.raises(ValueError, match="got 1 qid for 2 rows"):
        map_files(cws(), inputs, tmp_path / "b.npy", format="npy")
    with pytest.raises(ValueError, match="not compressed"):
        map_files(cws(), text, tmp_path / "b.npy.gz", format="npy")
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "a.npy.labels.npy", "a.npy.qids.npy"]


def test_nothing_to_map(tmp_path):
    for format in ("svmlight", "npy"):
        out = tmp_path / f"out.{format}"
        (done,) = map_files(cws(), io.BytesIO(b"\n# none\n"), out, format=format)
        assert done.n_rows == 0
    assert (tmp_path / "out.svmlight").read_bytes() == b""
    assert np.load(tmp_path / "out.npy").shape == (0, 2)


# ---- damaged files -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("damage", ["cut", "changed", "garbage"])
def test_damaged_files(tmp_path, ending, damage):
    """One error with the file's name, however it is read."""
    module = {"gz": gzip, "bz2": bz2, "xz": lzma}[ending]
    rng = np.random.default_rng(SEED)
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


def test_a_line_of_a_part_is_counted_from_that_of_the_file(tmp_path):
    path = tmp_path / "in"
    path.write_bytes(b"1 1:1\n" * 50 + b"1 x:1\n")
    with pytest.raises(ValueError, match=r"in: line 51, column 3: "):
        load_svmlight_file(path, offset=200, length=100, n_features=1)
