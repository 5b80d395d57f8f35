"""Small files that stand for much memory, in every format: they are refused, or read, in memory
that follows from the size of the file and the longest line."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
from _data import record_files
from _data.chance import SEED
from _scripts.file_claims import peak_of

from sparsemaps._io import _zstd
from sparsemaps._io._text_input import _READERS
from sparsemaps.libsvm import load_svmlight_file
from sparsemaps.records import TEXT_FORMATS, _columns, parquet
from sparsemaps.records._fields import Fields
from sparsemaps.records._table import FORMATS
from sparsemaps.text import iter_records

N_BYTES = 2**24
"""The bytes of one text."""

MOST = 2**16
"""The longest line."""

ALLOWED = 2**22
"""Bytes that are taken whatever the file is: buffers of fixed size and those of decompression."""


def zstd(content):
    return pytest.importorskip(_zstd.MODULE).compress(content)


COMPRESSIONS = {
    "": bytes,
    ".gz": lambda content: gzip.compress(content, 1),
    ".bz2": bz2.compress,
    ".xz": lambda content: lzma.compress(content, preset=0),
    ".zst": zstd,
}
LINES = [*(kind for kind in TEXT_FORMATS if FORMATS[kind].is_streamed), "svm"]
TABLES = [kind for kind in TEXT_FORMATS if not FORMATS[kind].is_streamed]


def test_all_compressions_are_listed():
    assert {*COMPRESSIONS} - {""} == {*_READERS} - {".zstd"}


def read(path):
    if ".svm" in path.name:
        load_svmlight_file(path, max_line_bytes=MOST)
    for _ in iter_records(path, max_line_bytes=MOST):
        pass


@pytest.fixture(scope="module", params=LINES)
def long_line(request, tmp_path_factory):
    """A format, and a file of it with one record."""
    path = tmp_path_factory.mktemp("lines") / request.param
    if request.param == "svm":
        path.write_bytes(b"1 1:1" + b" " * N_BYTES + b"2:1\n")
    else:
        record_files.WRITERS[request.param](
            path, [{"text": ("a" * 2**14 + "\n") * (N_BYTES // 2**14)}]
        )
    return request.param, path.read_bytes()


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_a_long_line(tmp_path, long_line, ending):
    kind, content = long_line
    path = tmp_path / f"in.{kind}{ending}"
    path.write_bytes(COMPRESSIONS[ending](content))
    peak, is_read = peak_of(read, path)
    assert not is_read
    assert peak <= ALLOWED + 16 * MOST
    with pytest.raises(ValueError, match=r"line \d+.* is longer than max_line_bytes=65536"):
        read(path)


def column_of(texts):
    pa = pytest.importorskip("pyarrow")
    return pa.table({"text": pa.array(texts, pa.large_string())})


def write_parquet(path, table, **options):
    from pyarrow import parquet

    how = {"compression": "zstd", "use_dictionary": False, "data_page_size": 2**30}
    parquet.write_table(table, path, **how | options)


def write_arrow(path, table, **options):
    pa = pytest.importorskip("pyarrow")
    how = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(path, table.schema, options=how) as file:
        file.write_table(table)


WRITERS = {"parquet": write_parquet, "arrow": write_arrow}


@pytest.fixture
def small_limits(monkeypatch):
    for module in (_columns, parquet):
        monkeypatch.setattr(module, "EXPANDED_BYTES", 2**20)


@pytest.mark.parametrize("options", [{}, {"data_page_version": "2.0"}, {"use_dictionary": True}])
@pytest.mark.parametrize("kind", TABLES)
def test_a_compressed_column(tmp_path, small_limits, kind, options):
    path = tmp_path / f"in.{kind}"
    WRITERS[kind](path, column_of(["a" * N_BYTES]), **options)
    assert path.stat().st_size * _columns.TIMES < N_BYTES
    peak, is_read = peak_of(lambda path: list(iter_records(path)), path)
    assert not is_read
    assert peak <= ALLOWED
    where = r"row group 1, column 'text': a page" if kind == "parquet" else "a record batch"
    rule = rf"in\.{kind}: {where} of \d+ bytes claims to hold 1677\d+; 1048576 bytes are allowed"
    with pytest.raises(ValueError, match=rule):
        next(iter_records(path))
    with pytest.raises(ValueError, match=f"{where} of 1677.* is larger than max_line_bytes="):
        next(iter_records(path, max_line_bytes=2**22))


@pytest.mark.parametrize("kind", TABLES)
def test_columns_that_are_compressed_well_are_read(tmp_path, small_limits, kind):
    """Pages of usual sizes are so however well they are compressed."""
    words = np.random.default_rng(SEED).integers(0, 10**6, 2**18).astype(str)
    for number, texts in enumerate((["a" * 2**10] * 2**9, [" ".join(words)])):
        path = tmp_path / f"{number}.{kind}"
        WRITERS[kind](path, column_of(texts))
        assert sum(len(batch.texts) for batch in iter_records(path)) == len(texts)


def test_pages_of_parquet_that_claim_more_than_they_have(tmp_path):
    """A byte of a header of a page is another one; Arrow believes it."""
    path = tmp_path / "in.parquet"
    write_parquet(path, column_of([f"text {row}" for row in range(50)]))
    content = path.read_bytes()
    n_refused = 0
    for place in range(4, 80):
        for byte in (0x00, 0x7F, 0xFF):
            path.write_bytes(content[:place] + bytes([byte]) + content[place + 1 :])
            peak, is_read = peak_of(lambda path: list(iter_records(path)), path)
            assert peak <= ALLOWED
            n_refused += not is_read
    assert n_refused > 50
    number = content[5:12]  # the type of the page, then its size as a varint
    assert number[:1] == b"\x00"
    path.write_bytes(content[:7] + b"\xfe\xff\xff\xff\x0f" + content[9:])
    with pytest.raises(ValueError, match="row group 1, column 'text': a page"):
        next(iter_records(path))


def test_only_columns_that_are_read_are_checked(tmp_path, small_limits):
    pa = pytest.importorskip("pyarrow")
    table = column_of(["a b"]).append_column("other", pa.array(["a" * N_BYTES]))
    write_parquet(tmp_path / "in.parquet", table)
    (batch,) = iter_records(tmp_path / "in.parquet", records=False)
    assert [str(text) for text in batch.texts] == ["a b"]
    with pytest.raises(ValueError, match="column 'other': a page of"):
        next(iter_records(tmp_path / "in.parquet", records=True))


def lists_of_zeros(lengths):
    """Lists of so many zeros, which take next to no bytes of a Parquet file."""
    pa = pytest.importorskip("pyarrow")
    ends = np.concatenate([[0], np.cumsum(lengths)])
    zeros = pa.array(np.zeros(ends[-1], np.int64))
    lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), zeros)
    return column_of(["a b"] * len(lengths)).append_column("numbers", lists)


def test_numbers_that_a_row_repeats(tmp_path, small_limits):
    """Their number is known before Arrow decodes them."""
    path = tmp_path / "in.parquet"
    write_parquet(path, lists_of_zeros([2**18] * 2), use_dictionary=True)
    assert path.stat().st_size < 2**11
    for options in ({"records": True}, {"label_field": "numbers"}):
        with pytest.raises(
            ValueError, match=r"'numbers[.\w]*': a row of \d+ bytes claims to hold 2097"
        ):
            next(iter_records(path, **options))
    (batch,) = iter_records(path, records=False)
    assert [str(text) for text in batch.texts] == ["a b"] * 2


def of_one_value(n_rows):
    """Long values of one size, all equal."""
    pa = pytest.importorskip("pyarrow")
    values = pa.array([bytes(2**12)] * n_rows, pa.binary(2**12))
    return column_of(["a b"] * n_rows).append_column("numbers", values)


@pytest.mark.parametrize("table_of", [lambda n: lists_of_zeros([2**9] * n), of_one_value])
def test_numbers_that_many_rows_repeat(tmp_path, table_of):
    """As many rows are decoded at a time as there is room for their numbers, not for the bytes of
    the file."""
    path = tmp_path / "in.parquet"
    write_parquet(path, table_of(2**14).select(["numbers", "text"]), use_dictionary=True)
    assert path.stat().st_size < 2**16
    fields = Fields("text", None, None, records=True)
    with open(path, "rb") as file:
        opened = parquet.Opened.of(file, "in", fields, 2**30)
        sizes = [part.nbytes for part in opened.parts(2**20, 2**20, 2**30)]
    assert max(sizes) <= 2**21
    assert sum(sizes) >= 2**26


@pytest.mark.parametrize("kind", TABLES)
def test_groups_without_rows(tmp_path, kind):
    pa = pytest.importorskip("pyarrow")
    path, texts = tmp_path / f"in.{kind}", ["a", "b"]
    some, none = column_of(texts), column_of([])
    if kind == "parquet":
        from pyarrow import parquet

        with parquet.ParquetWriter(path, some.schema) as file:
            for table in (none, some, none):
                file.write_table(table)
        assert parquet.ParquetFile(path).num_row_groups == 3
    else:
        with pa.ipc.new_file(path, some.schema) as file:
            for table in (none, some, none):
                for batch in table.to_batches() or [pa.RecordBatch.from_pylist([], some.schema)]:
                    file.write_batch(batch)
    assert [str(text) for batch in iter_records(path) for text in batch.texts] == texts
    WRITERS[kind](path, none)
    assert list(iter_records(path)) == []
