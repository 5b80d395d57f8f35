"""Text that is read in blocks of lines."""

import bz2
import gzip
import importlib
import lzma
import tracemalloc

import pytest

from sparsemaps._io import _text_input, _zstd

LINE = b"0123456 " * 2**20


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "lines.txt"
    path.write_bytes(b"first\n" + LINE + b"\nlast")
    return path


@pytest.mark.parametrize("length", [-1, 100])
def test_a_line_that_is_too_long_is_held_once(path, length):
    """Of a whole file and of a range in which the line begins."""
    tracemalloc.start()
    with (
        _text_input.open_text(path, len(LINE) - 1, length=length) as text,
        pytest.raises(_text_input.LineTooLong, match=f"longer than max_line_bytes={len(LINE) - 1}"),
    ):
        list(text.blocks(2**16))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * len(LINE)


@pytest.mark.parametrize("limit", [len(LINE), len(LINE) + 1, 2**30])
def test_a_line_of_the_longest_length(path, limit):
    """In pieces, whatever the range: each line belongs to one."""
    size = path.stat().st_size
    for cut in (3, 5, 6, 7, 2**20 + 1, size - 5, size - 4, size - 1):
        found = []
        for offset, length in ((0, cut), (cut, size - cut)):
            with _text_input.open_text(path, limit, offset=offset, length=length) as text:
                found += list(text.blocks(2**16))
        assert b"".join(found) == path.read_bytes()


def compress_zstd(content):
    return importlib.import_module(_zstd.MODULE).compress(content)


COMPRESS = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
    ".zst": compress_zstd, ".zstd": compress_zstd,
}  # fmt: skip


@pytest.mark.parametrize("ending", _text_input._READERS)
def test_a_small_file_of_a_line_that_does_not_end(tmp_path, ending):
    """A gigabyte in some kilobytes, as streams one after the other, is read up to the limit."""
    if ending.startswith(".zst"):
        pytest.importorskip(_zstd.MODULE)
    path, limit = tmp_path / f"bomb{ending}", 2**23
    path.write_bytes(COMPRESS[ending](bytes(2**24)) * 64)
    assert path.stat().st_size < 2**21
    tracemalloc.start()
    with (
        _text_input.open_text(path, limit) as text,
        pytest.raises(_text_input.LineTooLong, match=f"longer than max_line_bytes={limit}"),
    ):
        list(text.blocks(2**16))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**25  # with the window of the decompression
