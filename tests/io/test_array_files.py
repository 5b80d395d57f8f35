"""NumPy's files that are damaged, or of another array than was written: a ValueError that says what
was found."""

import io
import random
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.stage_names import results_in

from sparsemaps._io import _array_files
from sparsemaps._io._array_files import ArrayKind, read_array
from sparsemaps.files._results import KeptSteps, Results


def write(path, array, **header):
    """A file of the array, whose header may say something else."""
    file = io.BytesIO()
    told = {**np.lib.format.header_data_from_array_1_0(array), **header}
    np.lib.format.write_array_header_1_0(file, told)
    path.write_bytes(file.getvalue() + array.tobytes())
    return str(path)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(
    ("array", "kind"),
    [
        (np.arange(5, dtype=np.uint32), ArrayKind(np.uint32)),
        (np.arange(5, dtype=np.uint32), ArrayKind(np.uint32, (5,), 4)),
        (np.arange(6).reshape(2, 3), ArrayKind(np.int64, (2, None), (2, 5))),
        (np.zeros(0, np.uint64), ArrayKind(np.uint64, most=-1, halves=True)),
        (np.array([3 << 32 | 4], np.uint64), ArrayKind(np.uint64, most=4, halves=True)),
    ],
)
def test_what_is_written_is_read(tmp_path, array, kind, mmap):
    found = read_array(write(tmp_path / "a.npy", array), kind, mmap)
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    assert isinstance(found, np.memmap) == (mmap and array.size > 0)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(
    ("array", "kind", "header", "message"),
    [
        (np.arange(5), ArrayKind(np.uint32), {}, r"expected uint32 in one dimension; found int64"),
        (np.arange(5), ArrayKind(np.int64, (4,)), {}, r"of shape \(4\); found int64 of shape \(5"),
        (np.arange(5), ArrayKind(np.int64, (None, 2)), {}, r"of shape \(any, 2\)"),
        (np.arange(5), ArrayKind(np.int64), {"descr": ">i8"}, "found >i8"),
        (np.arange(5), ArrayKind(np.int64), {"descr": "|O"}, "found object"),
        (np.arange(5), ArrayKind(np.int64), {"shape": (6,)}, "expected 176 bytes; found 168"),
        (np.arange(5), ArrayKind(np.int64), {"shape": (4,)}, "expected 160 bytes; found 168"),
        (np.arange(5), ArrayKind(np.int64), {"shape": (2**60,)}, "expected 9223"),
        (np.zeros((0, 3)), ArrayKind(None, (None, 0)), {"shape": (2**60, 0)}, "at most 128 rows"),
        (np.arange(5), ArrayKind(np.int64), {"shape": (-1,)}, "no NumPy file"),
        (np.arange(5), ArrayKind(np.int64), {"shape": (True,)}, "no NumPy file"),
        (np.arange(5), ArrayKind(np.int64), {"fortran_order": True}, "in Fortran's order"),
        (np.arange(5), ArrayKind(np.int64, most=3), {}, "from 0 to 3; found 0 to 4"),
        (np.arange(-1, 3), ArrayKind(np.int64, most=9), {}, "from 0 to 9; found -1 to 2"),
        (np.arange(6).reshape(2, 3), ArrayKind(np.int64, (2, 3), (2, 4)), {}, "to 4; found 3 to 5"),
        (np.array([5 << 32 | 4], np.uint64), ArrayKind(np.uint64, (1,), 4, True), {}, "4 to 5"),
        (np.array([4 << 32 | 5], np.uint64), ArrayKind(np.uint64, (1,), 4, True), {}, "4 to 5"),
    ],
)  # fmt: skip
def test_other_arrays_are_refused(tmp_path, array, kind, header, message, mmap):
    path = write(tmp_path / "a.npy", array, **header)
    with pytest.raises(ValueError, match=r"a\.npy is damaged: .*" + message):
        read_array(path, kind, mmap)


def test_numbers_beyond_the_first_block_are_compared(tmp_path):
    path = write(tmp_path / "a.npy", np.array([0] * (_array_files._STEP + 1) + [7]))
    with pytest.raises(ValueError, match="found 0 to 7"):
        read_array(path, ArrayKind(np.int64, most=6))


@pytest.mark.parametrize("shape", [(3, 4), (0, 4), (3, 0), (1, 2**40)])
def test_a_matrix_is_read_as_scipy_wrote_it(tmp_path, shape):
    X = sp.csr_array(([1.5, 2], ([0, 0], [0, 1])), shape) if min(shape) else sp.csr_array(shape)
    sp.save_npz(tmp_path / "a.npz", X, compressed=False)
    found = _array_files.read_csr(tmp_path / "a.npz")
    assert found.shape == shape
    assert (found != X).nnz == 0


@pytest.mark.parametrize("kind", [sp.csc_array, sp.coo_array])
def test_a_matrix_of_another_format_is_refused(tmp_path, kind):
    """Rows that are taken for columns would be another matrix."""
    sp.save_npz(tmp_path / "a.npz", kind(np.triu(np.ones((3, 3)))), compressed=False)
    with pytest.raises(ValueError, match="it is not a CSR matrix"):
        _array_files.read_csr(tmp_path / "a.npz")


def test_a_compressed_matrix_is_refused(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array((3, 4)))
    with pytest.raises(ValueError, match="shape is compressed; expected arrays without compr"):
        _array_files.read_csr(tmp_path / "a.npz")


def damaged(draw, content):
    """A file with changed, lost or added bytes."""
    content = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 5])):
        kind, at = draw.randrange(5), draw.randrange(len(content))
        if kind == 0:
            del content[at:]
        elif kind == 1:
            content[at:at] = draw.randbytes(draw.choice([1, 8, 40]))
        elif kind == 2:
            word = struct.pack("<Q", draw.choice([0, 2**32, 2**63, 2**64 - 1]))
            content[at : at + 8] = word
        else:
            content[at] = draw.choice([content[at] ^ 1 << draw.randrange(8), draw.randrange(256)])
        if not content:
            break
    return bytes(content)


def test_damaged_files_are_read_or_refused(tmp_path):
    """What is read has its type, shape and range; nothing else is raised."""
    path = tmp_path / "a.npy"
    array = np.arange(40, dtype=np.uint32).reshape(2, 20)
    write(path, array)
    content = path.read_bytes()
    n_read = 0
    for seed in range(600):
        draw = random.Random(SEED + seed)
        path.write_bytes(damaged(draw, content))
        try:
            found = read_array(str(path), ArrayKind(np.uint32, (2, None), 60), draw.random() < 0.5)
        except ValueError:
            continue
        assert found.dtype == np.uint32
        assert found.shape[0] == 2
        assert found.size == 0 or found.max() <= 60
        n_read += 1
    assert 15 < n_read < 300


def test_a_damaged_result_is_made_again(tmp_path):
    made = []

    def make():
        made.append(True)
        return np.array([1, 2], np.uint32)

    steps = KeptSteps(Results(str(tmp_path)), "", None)
    kind = ArrayKind(np.uint32, most=2)
    for expected in (1, 1):
        assert steps.array("some", kind, make).tolist() == [1, 2]
        assert len(made) == expected
    contents = [b"", b"damaged"]
    for other in ([3], [1, 3]):  # of another size, and of another range
        write(tmp_path / "other.npy", np.array(other, np.uint32))
        contents.append((tmp_path / "other.npy").read_bytes())
    for content in contents:
        results_in(tmp_path)["some.npy"].write_bytes(content)
        before = len(made)
        assert steps.array("some", kind, make).tolist() == [1, 2]
        assert len(made) == before + 1


def test_damaged_json_is_made_again(tmp_path):
    steps = KeptSteps(Results(str(tmp_path)), "", None)
    assert steps.drawn("some", lambda: 3)[0] == 3
    (record,) = tmp_path.iterdir()
    for content in (b"", b"{", b"\xff", b"[" * 10**5):
        steps = KeptSteps(Results(str(tmp_path)), "", None)
        record.write_bytes(content)
        assert steps.drawn("some", lambda: 3)[0] == 3


def test_one_thread_at_a_time_parses_headers(tmp_path, monkeypatch):
    """Python 3.11's parser may fail if several threads use it."""
    path = write(tmp_path / "a.npy", np.arange(5))
    reading, parse = threading.Semaphore(1), np.lib.format.read_array_header_1_0

    def parse_alone(*arguments, **options):
        assert reading.acquire(blocking=False)
        time.sleep(0.005)
        reading.release()
        return parse(*arguments, **options)

    monkeypatch.setattr(np.lib.format, "read_array_header_1_0", parse_alone)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: read_array(path, ArrayKind(np.int64)), range(8)):
            np.testing.assert_array_equal(found, np.arange(5))
