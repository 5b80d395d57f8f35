"""`sparsemaps info` of .npz files that SciPy has not written."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from sparsemaps._io import _array_files
from sparsemaps.files import _summary


def member(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def header(n, dtype="<f8"):
    """Of an array of `n` numbers that are not there."""
    file = io.BytesIO()
    about = {"descr": dtype, "fortran_order": False, "shape": (n,)}
    np.lib.format.write_array_header_1_0(file, about)
    return file.getvalue()


def summary(tmp_path, **changed):
    """Of a matrix of three rows with some members changed; None leaves one out."""
    X = sp.csr_array(np.diag([1.0, 2.0, 3.0]))
    sp.save_npz(tmp_path / "sound.npz", X)
    with zipfile.ZipFile(tmp_path / "sound.npz") as sound:
        members = {name: sound.read(name) for name in sound.namelist()}
    members |= {f"{name}.npy": content for name, content in changed.items()}
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            if content is not None:
                file.writestr(name, content)
    return list(_summary.summarize(str(tmp_path / "x.npz"), progress=False))


def test_a_sound_file(tmp_path):
    assert "entries  3 (1.0 a row)" in summary(tmp_path)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"data": header(10**12)}, r"data .*of shape \(3\); found float64 of shape \(10{12},\)"),
        ({"shape": header(10**12, "<i8")}, r"shape .*expected integers of shape \(2\)"),
        ({"labels": header(10**12)}, "labels .*expected 80*128 bytes; found 128"),
        ({"data": member(np.array([{}, 1, 2], object))}, "data .*found object"),
        ({"labels": member(np.array([{}], object))}, "labels .*found object"),
        ({"data": member(np.ones((3, 1)))}, r"data .*found float64 of shape \(3, 1\)"),
        ({"data": member(np.ones(3, complex))}, "data .*found complex128"),
        ({"indices": member(np.array([0, -1, 2]))}, "indices .*from 0 to 2; found -1 to 2"),
        ({"indices": member(np.array([0, 3, 2]))}, "indices .*from 0 to 2; found 0 to 3"),
        ({"indices": member(np.array([0, 0.5, 2]))}, "indices .*expected integers"),
        ({"indices": member(np.array([0, 1]))}, r"indices .*found int64 of shape \(2,\)"),
        ({"indptr": member(np.array([0, 3, 1, 3]))}, "expected numbers that ascend from 0"),
        ({"indptr": member(np.array([1, 1, 2, 3]))}, "expected numbers that ascend from 0"),
        ({"shape": member(np.array([-3, 3]))}, r"expected a shape of at least 0, got \(-3, 3\)"),
        ({"shape": member(np.array([10**15, 3]))}, "indptr .*expected integers of shape"),
        ({"config": member(np.array(b"{"))}, "expected the configuration of a map"),
        ({"format": None}, "expected a CSR matrix as scipy.sparse.save_npz writes it"),
        ({"format": member(np.array(b"csc"))}, "expected a CSR matrix"),
    ],
)
def test_members_that_do_not_fit(tmp_path, changed, expected):
    with pytest.raises(ValueError, match=f"x.npz: {expected}"):
        summary(tmp_path, **changed)


def test_ends_of_rows_that_fall_between_two_blocks(tmp_path, set_limits):
    set_limits(_array_files, _STEP=2)
    with pytest.raises(ValueError, match="expected numbers that ascend from 0"):
        summary(tmp_path, indptr=member(np.array([0, 3, 1, 3])))
    assert "entries  3 (1.0 a row)" in summary(tmp_path)


def test_an_archive_whose_members_stand_elsewhere(tmp_path):
    """Places before the beginning of the file are invalid arguments of the system."""
    summary(tmp_path)
    path = tmp_path / "x.npz"
    content = bytearray(path.read_bytes())
    end = content.rindex(b"PK\5\6")  # of the archive: the place of its directory is at 16
    place = int.from_bytes(content[end + 16 : end + 20], "little")
    content[end + 16 : end + 20] = (place + 1000).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.npz"):
        list(_summary.summarize(str(path), progress=False))
