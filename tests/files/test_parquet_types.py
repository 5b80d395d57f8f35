"""Rows of Parquet of every type: what is read, filtered and written is what was there, or refused
before any work."""

import datetime
import decimal
import inspect
import itertools
import random
import uuid

import numpy as np
import pytest
from _data.chance import SEED
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsemaps._io._progress import FileProgress
from sparsemaps.files import Texts, deduplicate_files
from sparsemaps.files._kept_records import Selection, check_outputs, write_kept
from sparsemaps.files._text_rows import TextRows

# Older releases write fewer types, and refuse others with other words.
pa = pytest.importorskip("pyarrow", minversion="22")
parquet = pytest.importorskip("pyarrow.parquet")

SOURCE = TextRows(None)

INTEGERS = {
    getattr(pa, f"{sign}int{bits}")(): (0 if sign else -(2 ** (bits - 1)), 2 ** (bits - (not sign)))
    for sign in ("u", "")
    for bits in (8, 16, 32, 64)
}
COUNTED = {
    pa.date32(): 10**5,
    pa.time32("s"): 86_400,
    pa.time32("ms"): 86_400_000,
    pa.time64("us"): 86_400 * 10**6,
    **{pa.duration(unit): 10**9 for unit in ("s", "ms", "us")},
    **{pa.timestamp(unit, zone): 10 ** (9 + 3 * i)
       for i, unit in enumerate(("s", "ms", "us"))
       for zone in (None, "UTC", "Europe/Berlin")},
}  # fmt: skip
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
BYTES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)]
DECIMALS = [pa.decimal128(5, 2), pa.decimal128(20, 4), pa.decimal256(50, 10)]
DECIMALS += [getattr(pa, name)(7, 3) for name in ("decimal32", "decimal64") if hasattr(pa, name)]
EXTENSIONS = [getattr(pa, name)() for name in ("uuid", "json_", "bool8") if hasattr(pa, name)]
OTHERS = [pa.null(), pa.bool_(), pa.float16(), pa.float32(), pa.float64(), pa.timestamp("ns")]
DICTIONARIES = [
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.string(), ordered=True),
    pa.dictionary(pa.int32(), pa.int64()),
]
LEAVES = [*INTEGERS, *COUNTED, *TEXTS, *BYTES, *DECIMALS, *EXTENSIONS, *OTHERS, *DICTIONARIES]


def nested(types):
    yield from (types.map(pa.list_), types.map(pa.large_list), types.map(lambda t: pa.list_(t, 2)))
    if hasattr(pa, "list_view"):
        yield types.map(pa.list_view)
    yield types.map(lambda t: pa.map_(pa.string(), t))
    names = st.lists(st.tuples(st.sampled_from("ab.é"), types), min_size=1, max_size=2)
    yield names.map(lambda fields: pa.struct(dict(fields).items()))


types = st.recursive(st.sampled_from(LEAVES), lambda some: st.one_of(*nested(some)), max_leaves=3)


def value(draw, kind):
    """A random value of a type, for `pyarrow.array`."""
    if kind in INTEGERS or kind in COUNTED:
        low, high = INTEGERS.get(kind, (-COUNTED.get(kind, 0), COUNTED.get(kind)))
        if pa.types.is_time(kind):
            low = 0
        return draw.choice([low, high - 1, draw.randrange(low, high)])
    if kind in TEXTS:
        return draw.choice(["", "é\0", "語" * 9, str(draw.random())])
    if kind == pa.binary(3):
        return draw.randbytes(3)
    if kind in BYTES:
        return draw.randbytes(draw.choice([0, 3, 40]))
    if kind in DECIMALS:
        digits = draw.randrange(10**kind.precision)
        with decimal.localcontext(prec=60):
            return decimal.Decimal(digits).scaleb(-kind.scale)
    if kind == pa.timestamp("ns"):
        return draw.randrange(-(2**62), 2**62)
    if pa.types.is_struct(kind):
        return {kind.field(i).name: maybe(draw, kind.field(i).type) for i in range(kind.num_fields)}
    if pa.types.is_map(kind):
        return [(str(i), maybe(draw, kind.item_type)) for i in range(draw.randrange(3))]
    if pa.types.is_fixed_size_list(kind):
        return [maybe(draw, kind.value_type) for _ in range(kind.list_size)]
    if hasattr(kind, "value_type") and not pa.types.is_dictionary(kind):
        return [maybe(draw, kind.value_type) for _ in range(draw.randrange(4))]
    if pa.types.is_dictionary(kind):
        return value(draw, kind.value_type)
    if pa.types.is_floating(kind):
        return float(np.float16(draw.gauss(0, 9)))
    special = {"bool": bool(draw.randrange(2)), "null": None}
    if str(kind) in special:
        return special[str(kind)]
    of_extension = {
        "arrow.uuid": uuid.UUID(bytes=draw.randbytes(16)).bytes,
        "arrow.json": '{"a": 1}',
        "arrow.bool8": draw.randrange(-128, 128),
    }
    return of_extension[kind.extension_name]


def maybe(draw, kind):
    return None if draw.random() < 0.2 else value(draw, kind)


def column(draw, kind, n):
    rows = [maybe(draw, kind) for _ in range(n)]
    if kind in EXTENSIONS:
        return pa.ExtensionArray.from_storage(kind, pa.array(rows, kind.storage_type))
    return pa.array(rows, kind)


OPTIONS = {
    "version": ["2.6", "2.6", "2.4", "1.0"],
    "compression": ["snappy", "zstd", "none"],
    "use_dictionary": [True, False],
    "data_page_version": ["1.0", "2.0"],
    "use_deprecated_int96_timestamps": [False, False, True],
    "store_schema": [True, True, False],
    "row_group_size": [100, 3],
}
if "store_decimal_as_integer" in inspect.signature(parquet.ParquetWriter).parameters:
    OPTIONS["store_decimal_as_integer"] = [False, True]


def kinds(file):
    """The physical types and what they mean; decimals of any physical type."""
    columns = [file.schema.column(i) for i in range(file.metadata.num_columns)]
    logical = [str(column.logical_type).split(", is_from")[0] for column in columns]
    return [
        name if name.startswith("Decimal") else (column.physical_type, name)
        for name, column in zip(logical, columns, strict=True)
    ]


def keep_some(path, output, draw):
    """Write some rows of a file as `deduplicate_files` does; which ones."""
    kept = np.array([draw.random() < 0.6 for _ in range(parquet.read_metadata(path).num_rows)])
    check_outputs(SOURCE, [(output, [path])])
    bar = FileProgress([path], False, "kept")
    write_kept(SOURCE, [Selection(path, kept)], output, None, bar)
    return kept


@settings(max_examples=150, deadline=None)
@given(some=st.lists(types, min_size=1, max_size=3), seed=st.integers(0, 2**32))
def test_every_type_is_kept_or_refused(some, seed, tmp_path_factory):
    draw = random.Random(SEED + seed)
    folder = tmp_path_factory.mktemp("parquet", numbered=True)
    path, output = str(folder / "in.parquet"), str(folder / "out.parquet")
    try:
        table = pa.table({f"c{i}": column(draw, kind, 8) for i, kind in enumerate(some)})
        parquet.write_table(
            table, path, **{name: draw.choice(values) for name, values in OPTIONS.items()}
        )
        before = parquet.ParquetFile(path)
    except (pa.ArrowException, OSError, NotImplementedError, TypeError):
        return  # pyarrow makes or writes no such array
    try:
        kept = keep_some(path, output, draw)
    except ValueError as error:
        text = str(error)
        reasons = ("would be", "out of bounds timestamp", "Unsupported cast to list_view")
        assert any(reason in text for reason in reasons), text
        # Times of other units among those of INT96 would become INT96 too.
        assert "int96" in str(before.schema), text
        return
    after = parquet.ParquetFile(output)
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
    assert kinds(after) == kinds(before)
    assert rows_of(after) == list(itertools.compress(rows_of(before), kept))
    if "int96" in str(before.schema):  # then rows are what was written
        years = {time.year for time in times_in(table.to_pylist())}
        assert not years or 1677 <= min(years) <= max(years) <= 2262


def test_views_within_maps(tmp_path):
    """Keys and values of maps may be views, which pyarrow cannot filter as they are."""
    keys = pa.array([[("k", 1)], [], [("l", 2), ("m", 3)]], pa.map_(pa.string_view(), pa.int64()))
    values = pa.array([[("k", "x")], None, []], pa.map_(pa.string(), pa.string_view()))
    table = pa.table({"text": ["a", "b", "a"], "keys": keys, "values": values})
    path, output = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(table, path)
    deduplicate_files(None, path, output, source="word:1")
    kept = parquet.read_table(output)
    assert kept.schema.equals(parquet.read_schema(path))
    assert kept.to_pylist() == table.to_pylist()[:2]


def rows_of(file):
    """The rows, a group at a time, as pyarrow does not read all types of several groups at once."""
    groups = [file.read_row_group(i).to_pylist() for i in range(file.num_row_groups)]
    return [row for group in groups for row in group]


def times_in(values):
    """The times in lists and dictionaries of any depth."""
    if isinstance(values, datetime.datetime):
        yield values
    elif isinstance(values, (list, tuple)):
        for some in values:
            yield from times_in(some)
    elif isinstance(values, dict):
        yield from times_in(list(values.values()))


def write_int96(path, times):
    table = pa.table({"text": [f"text {i}" for i in range(len(times))], "t": times})
    parquet.write_table(table, path, use_deprecated_int96_timestamps=True, row_group_size=2)


def test_times_of_96_bits_are_kept(tmp_path):
    path, output = str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")
    times = [-(2**63) + 10**6, -1, 0, 1, 2**63 - 10**6, None]
    write_int96(path, pa.array(times, pa.timestamp("ns")))
    deduplicate_files(None, path, output, source="char:1", threshold=1.0)
    assert kinds(parquet.ParquetFile(output)) == kinds(parquet.ParquetFile(path))
    assert parquet.read_table(output)["t"].cast(pa.int64()).to_pylist() == times


@pytest.mark.parametrize("year", [1, 1600, 2300, 9999])
@pytest.mark.parametrize("is_list", [False, True])
def test_times_that_nanoseconds_do_not_reach_are_refused(tmp_path, year, is_list):
    """Arrow reads them as other times; nothing is begun."""
    path, output = str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")
    times = [None, datetime.datetime(2020, 1, 1), datetime.datetime(year, 6, 1)]
    kind = pa.timestamp("us")
    if is_list:
        times, kind = [[time] for time in times], pa.list_(kind)
    write_int96(path, pa.array(times, kind))
    for resume in (False, True):
        with pytest.raises(ValueError, match=r"in.parquet: .* out of bounds timestamp"):
            deduplicate_files(None, path, output, source="word:1", resume=resume)
    assert [file.name for file in tmp_path.iterdir()] == ["in.parquet"]


def test_times_of_each_column_of_a_name_are_looked_at(tmp_path):
    path, output = str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")
    near, far = (
        pa.array([datetime.datetime(year, 6, 1)], pa.timestamp("us")) for year in (2020, 2300)
    )
    texts = pa.array(["text"])

    def write(*columns):
        table = pa.Table.from_arrays([texts, *columns], names=["text"] + ["t"] * len(columns))
        parquet.write_table(table, path, use_deprecated_int96_timestamps=True)

    write(texts, near)  # of another type
    deduplicate_files(None, path, output, source="word:1")
    assert parquet.ParquetFile(output).read().equals(parquet.ParquetFile(path).read())
    for columns in ((near, far), (texts, far), (far, near)):
        write(*columns)
        with pytest.raises(ValueError, match=r"in.parquet: .* out of bounds timestamp"):
            deduplicate_files(None, path, output, source="word:1", resume=False)


def test_a_file_object_stays_where_it_is(tmp_path):
    path, output = str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")
    write_int96(path, pa.array([1, 2], pa.timestamp("ns")))
    with open(path, "rb") as file:
        deduplicate_files(None, file, output, source=Texts("char:1", format="parquet"), threshold=1)
    assert parquet.read_table(output).num_rows == 2


@pytest.mark.parametrize(
    "kind",
    [
        pa.binary_view(),
        pa.list_(pa.string_view()),
        pa.large_list(pa.string_view()),
        pa.list_(pa.string_view(), 1),
        pa.struct([("a", pa.string_view())]),
        pa.map_(pa.string_view(), pa.string_view()),
    ],
    ids=str,
)
def test_nested_views_are_filtered(tmp_path, kind):
    path, output = str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")
    rows = [maybe(random.Random(SEED + seed), kind) for seed in range(30)]
    assert rows.count(None) < 10
    with parquet.ParquetWriter(path, pa.schema([("c", kind)])) as writer:
        for start in range(0, len(rows), 7):
            writer.write_table(pa.table({"c": pa.array(rows[start : start + 7], kind)}))
    kept = keep_some(path, output, random.Random(SEED))
    written = parquet.ParquetFile(output)
    assert written.schema_arrow.equals(parquet.read_schema(path))
    expected = itertools.compress(pa.array(rows, kind).to_pylist(), kept)
    assert [row["c"] for row in rows_of(written)] == list(expected)


def test_views_are_filtered(tmp_path):
    path, output = str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")
    texts = [f"{i % 70} is the number of this text, more or less" for i in range(100)]
    table = pa.table({"text": pa.array(texts, pa.string_view())})
    parquet.write_table(table, path, row_group_size=30)
    result = deduplicate_files(None, path, output, source="word:1", threshold=1.0)
    assert result.n_kept == 70
    written = parquet.read_table(output)
    assert written.schema.equals(parquet.read_schema(path))
    assert written["text"].to_pylist() == texts[:70]


@pytest.mark.parametrize(
    "kind",
    [*TEXTS, *BYTES[:3], *(pa.dictionary(pa.int32(), kind) for kind in (pa.string(), pa.binary()))],
    ids=str,
)
@pytest.mark.parametrize("width", [1, 3, 50])
def test_bad_rows_of_any_type_of_text_are_set_aside(tmp_path, kind, width):
    path, output = str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")
    texts = [None if i % 4 == 1 else f"the text {i % 7}" for i in range(20)]
    table = pa.table({"text": pa.array(texts).cast(kind), "i": range(20)})
    parquet.write_table(table, path, row_group_size=width)
    result = deduplicate_files(
        None, path, output, source="word:1", threshold=1.0, bad_records=tmp_path / "aside"
    )
    assert (result.n_records, result.n_kept, result.n_bad) == (15, 7, 5)
    first = {text: row for row, text in reversed(list(enumerate(texts))) if text is not None}
    assert parquet.read_table(output)["i"].to_pylist() == sorted(first.values())


def test_times_of_96_and_of_64_bits_have_different_columns(tmp_path):
    one, other = str(tmp_path / "one.parquet"), str(tmp_path / "other.parquet")
    times = pa.array([1], pa.timestamp("ns"))
    write_int96(one, times)
    parquet.write_table(pa.table({"text": ["text"], "t": times}), other)
    with pytest.raises(ValueError, match="different columns"):
        check_outputs(SOURCE, [(str(tmp_path / "out.parquet"), [one, other])])


@pytest.mark.skipif(
    "write_time_adjusted_to_utc" not in inspect.signature(parquet.ParquetWriter).parameters,
    reason="pyarrow is older",
)
def test_a_type_that_would_become_another_is_refused(tmp_path):
    path, output = str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")
    table = pa.table({"text": ["text"], "t": pa.array([1], pa.time32("ms"))})
    parquet.write_table(table, path, write_time_adjusted_to_utc=True)
    wrong = r"in.parquet: .*'t' of type INT32 Time\(isAdjustedToUTC=true.* would be of type INT32"
    with pytest.raises(ValueError, match=wrong):
        deduplicate_files(None, path, output, source="word:1")
    assert [file.name for file in tmp_path.iterdir()] == ["in.parquet"]
