"""Packed codes in files: what is saved is loaded, and nothing that is damaged."""

import contextlib
import json

import numpy as np
import pytest
from _data.rows import random_csr

import sparsemaps
from sparsemaps import MinHash, codes
from sparsemaps.codes import PackedCodes


@pytest.fixture
def saved(tmp_path):
    X = random_csr(n_rows=41)
    A = MinHash(n_hashes=20, bits=3, random_state=0).fit(X).encode(X, packed=True)
    A.save(tmp_path / "codes.npy")
    return A, tmp_path / "codes.npy"


@pytest.mark.parametrize("mmap_mode", ["r", None])
def test_save_and_load(saved, mmap_mode):
    A, path = saved
    B = PackedCodes.load(path, mmap_mode=mmap_mode)
    assert B.array.flags.writeable == (mmap_mode is None)
    for name in ("array", "sampled"):
        np.testing.assert_array_equal(getattr(B, name), getattr(A, name))
    assert (B.bits, B.n_hashes, B.config) == (A.bits, A.n_hashes, A.config)
    np.testing.assert_array_equal(codes.collisions(A, B), codes.collisions(A, A))
    np.testing.assert_array_equal(np.load(path), A.array)  # NumPy reads it too


@pytest.mark.parametrize("mmap_mode", ["r", None])
def test_no_rows(tmp_path, mmap_mode):
    A = MinHash(n_hashes=500, random_state=0).fit_any_width().encode(np.empty((0, 3)), packed=True)
    A.save(tmp_path / "codes.npy")
    B = PackedCodes.load(tmp_path / "codes.npy", mmap_mode=mmap_mode)
    assert B.shape == (0, 500)
    assert (B.config, len(B.sampled), len(B.sizes)) == (A.config, 0, 0)


def test_every_file_that_is_cut_short_is_refused(saved):
    _, path = saved
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"cut short|damaged"):
            PackedCodes.load(path)


WRONG = (None, -1, 1.5, 2**63, 10**30, "x", [], {}, [1])

MISSING = object()


def changed_descriptions(path):
    """The file with each part of its description in turn missing or replaced by what is wrong."""
    whole = path.read_bytes()
    n_text = int.from_bytes(whole[-16:-8], "little")
    front, text, magic = whole[: -16 - n_text], whole[-16 - n_text : -16], whole[-8:]

    def with_text(text):
        return front + text + len(text).to_bytes(8, "little") + magic

    def changed(keys, value):
        about = json.loads(text)
        part = about
        for key in keys[:-1]:
            part = part[key]
        if value is MISSING:
            del part[keys[-1]]
        else:
            part[keys[-1]] = value
        return with_text(json.dumps(about).encode())

    yield with_text(b"[" * 100_000)
    yield with_text(b"[]")
    for key in ("n_hashes", "shape", "config", "law"):
        yield changed([key], MISSING)
        yield from (changed([key], wrong) for wrong in WRONG)
    for key in ("name", "bits", "chance"):
        yield changed(["law", key], MISSING)
        yield from (changed(["law", key], wrong) for wrong in WRONG)
    yield from (changed(["law", "chance"], wrong) for wrong in (1, 10**400, float("nan"), True))
    yield changed(["law", "more"], 1)
    yield from (changed(["law"], {"name": "by signs", "kernel": name}) for name in ("matern", 1))
    part = {"bits": 1, "chance": 0.5}
    many = {"bits": 20, "chance": 0.5}
    for parts in ([], [part], [many, many], [part, 3], [part, {"bits": 2}], part, [[part]] * 2):
        yield changed(["law"], {"name": "by a product", "parts": parts})
    for key in (0, 1):
        yield from (changed(["shape", key], wrong) for wrong in WRONG)
    yield from (changed(["config", "class"], wrong) for wrong in WRONG if wrong != "x")
    yield from (changed(["config", "parameters"], wrong) for wrong in WRONG if wrong != {})
    yield from (changed(["config", "scheme"], wrong) for wrong in WRONG)


def test_every_wrong_description_is_refused(saved):
    _, path = saved
    for content in list(changed_descriptions(path)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged|scheme"):
            PackedCodes.load(path)


def test_headers_that_are_wrong(saved):
    """NumPy's own header, a byte of it changed or missing: an error, or the same codes."""
    A, path = saved
    whole = path.read_bytes()
    for position in range(0, 128, 3):
        for new in (b"", b"\0", b"9", b"\xff"):
            path.write_bytes(whole[:position] + new + whole[position + 1 :])
            with contextlib.suppress(ValueError):
                np.testing.assert_array_equal(PackedCodes.load(path, mmap_mode=None).array, A.array)


def with_header(path, header, version=b"\x01\x00"):
    """A file with another NumPy header, of the same length where it can be."""
    whole = path.read_bytes()
    length = 10 + int.from_bytes(whole[8:10], "little")
    size = 4 if version == b"\x02\x00" else 2
    header = header.ljust(length - 8 - size - 1) + b"\n"
    head = b"\x93NUMPY" + version + len(header).to_bytes(size, "little") + header
    path.write_bytes(head + whole[length:])


SOUND = b"{'descr': '|u1', 'fortran_order': False, 'shape': (41, 8), }"


@pytest.mark.parametrize("mmap_mode", ["r", None])
@pytest.mark.parametrize(
    "header",
    [
        SOUND.replace(b"41, 8", b"8796093022208, 1"),
        SOUND.replace(b"41, 8", b"8, 41"),
        SOUND.replace(b"41, 8", b"328,"),
        SOUND.replace(b"|u1", b"|i1"),
        SOUND.replace(b"|u1", b"|O"),
        SOUND.replace(b"False", b"True"),
        SOUND.replace(b"'descr'", b"'other'"),
        SOUND + b" " * 60_000,
        b"(" * 100,
        b"{" * 100,
        b"'" * 3,
        b"-" * 3000 + b"1",
        b"PK\x03\x04",
        b"",
    ],
)
def test_headers_that_lie(saved, header, mmap_mode):
    _, path = saved
    with_header(path, header)
    with pytest.raises(ValueError, match="damaged") as raised:
        PackedCodes.load(path, mmap_mode=mmap_mode)
    assert str(path) in str(raised.value)


def test_a_header_that_ends_before_the_codes(saved):
    _, path = saved
    whole = path.read_bytes()
    end = 10 + int.from_bytes(whole[8:10], "little")
    shorter = SOUND.ljust(end - 10 - 17) + b"\n"
    path.write_bytes(whole[:8] + len(shorter).to_bytes(2, "little") + shorter + whole[end - 16 :])
    with pytest.raises(ValueError, match="damaged"):
        PackedCodes.load(path)


@pytest.mark.parametrize(
    "start", [b"PK\x03\x04", b"\x80\x04", b"\x93NUMPY\x02\x00", b"\x93NUMPY\x09\x00"]
)
def test_files_of_other_kinds_before_a_sound_end(saved, start):
    """`numpy.load` would take them for archives, pickles or other versions."""
    _, path = saved
    whole = path.read_bytes()
    path.write_bytes(start + whole[len(start) :])
    with pytest.raises(ValueError, match="damaged"):
        PackedCodes.load(path)


def test_the_sound_header_is_taken(saved):
    A, path = saved
    with_header(path, SOUND)
    np.testing.assert_array_equal(PackedCodes.load(path).array, A.array)


@pytest.mark.parametrize("n_text", [2**64 - 1, 2**63, 2**40, 0])
def test_a_description_of_any_length(saved, n_text):
    _, path = saved
    whole = path.read_bytes()
    path.write_bytes(whole[:-16] + n_text.to_bytes(8, "little") + whole[-8:])
    with pytest.raises(ValueError, match="description cannot be read"):
        PackedCodes.load(path)


def test_a_config_of_any_kind_costs_nothing(saved):
    """Codes are loaded and compared; who makes the map of it gets the error."""
    A, path = saved
    A.config["parameters"] = {"bits": 10**11, "n_hashes": 10**15, "nested": [[[[]]]]}
    A.save(path)
    B = PackedCodes.load(path)
    np.testing.assert_array_equal(B.kernel([0, 20]), A.kernel([0, 20]))
    with pytest.raises(ValueError):  # noqa: PT011
        sparsemaps.from_config(B.config)


def test_files_of_another_scheme(saved):
    A, path = saved
    A.config["scheme"] = 99
    A.save(path)
    with pytest.raises(ValueError, match=r"scheme 99 of random numbers; this version .* scheme 1"):
        PackedCodes.load(path)


def test_json(saved):
    A, _ = saved
    assert json.loads(json.dumps(A.config)) == A.config


@pytest.mark.parametrize("mmap_mode", ["r", "c", None])
def test_codes_of_no_rows(tmp_path, mmap_mode):
    """However long a row would be."""
    A = MinHash(n_hashes=4096, random_state=0).fit_any_width().encode(np.empty((0, 3)), packed=True)
    A.save(tmp_path / "codes.npy")
    loaded = PackedCodes.load(tmp_path / "codes.npy", mmap_mode=mmap_mode)
    assert loaded.shape == (0, 4096)
    assert loaded.config == A.config
