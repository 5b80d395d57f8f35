"""Random records in files of every format, and what plain Python says of their texts."""

import bz2
import csv
import gzip
import importlib
import io
import json
import lzma
import re
import unicodedata
from typing import NamedTuple

from sklearn.feature_extraction.text import CountVectorizer

from sparsemaps._io._zstd import MODULE as ZSTD
from sparsemaps.text import normalize

WRITERS = {
    "": lambda content: content,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: _zstd().compress(content),
}


def _zstd():
    return importlib.import_module(ZSTD)


# ---- records -------------------------------------------------------------------------------------

WORDS = [*"abcdefgÄßé", "the", "The", "x-y", "don't", "cafe\u0301", "ﬁn", "12"]
CJK = [*"私は東京に住んで", "ありがとう"]


class Record(NamedTuple):
    """A record of a file, or a line that is none."""

    content: object
    """The line, or the row of a table."""
    text: str | None
    """The text, or the entries of a row; None of a bad record."""
    id: str
    number: float | None = None
    """What orders the records."""
    label: object = None


def draw_text(draw, before):
    """A text, which often is a changed copy of an earlier one."""
    if before and draw.random() < 0.6:
        words = list(draw.choice(before))
        for _ in range(draw.choice([0, 0, 1, 1, 2, 4])):
            place = draw.randrange(len(words) + 1)
            words[place : place + draw.randrange(2)] = draw.choices(WORDS, k=draw.randrange(2))
    else:
        words = draw.choices(WORDS, k=draw.choice([0, 1, 2, 8, 20]))
        if draw.random() < 0.15:
            words += ["".join(draw.choices(CJK, k=draw.randrange(1, 9)))]
    before.append(words)
    return draw.choice([" ", " ", " ", "  ", "\t"]).join(words)


def draw_records(draw, n, format, before, bad_share, has_numbers=True, label=None):
    """Records, of which a share is bad."""
    records = []
    for place in range(n):
        text, id = draw_text(draw, before), f"r{draw.randrange(10**12)}"
        number = draw.choice([None, 0, 1, 2, 0.5, -3, 2**60, 2**60 + 1]) if has_numbers else None
        is_bad = draw.random() < bad_share
        own_label = None if label is None else label(draw, text)
        records.append(MAKERS[format](draw, text, id, number, own_label, is_bad, place == n - 1))
    return records


def json_record(draw, text, id, number, label, is_bad, is_last):
    fields = {"id": id, "text": text, "other": draw.choice([None, [1], "é", 1e300])}
    if number is not None or draw.random() < 0.5:
        fields["n"] = number
    if label is not None:
        fields["label"] = label
    if is_bad:
        fields["text"] = draw.choice([None, 3, ["a"]])
    keys = list(fields)
    draw.shuffle(keys)
    line = json.dumps({key: fields[key] for key in keys}, ensure_ascii=draw.random() < 0.5)
    if is_bad and draw.random() < 0.5:
        line = draw.choice(["[1]", line[:-1], "{} x", '{"id": "x"}'])
    line = line.encode() + draw.choice([b"\n", b"\n", b"\r\n", b" \n", b"\n\n"])
    return Record(_unended(draw, line, is_last), None if is_bad else text, id, number, label)


def txt_record(draw, text, id, number, label, is_bad, is_last):
    text = text or "a"  # an empty line without an end is no record
    line = text.encode() + draw.choice([b"\n", b"\n", b"\r\n"])
    if is_bad:
        line = b"one \xff two\n"
    return Record(_unended(draw, line, is_last), None if is_bad else text, id)


def svm_record(draw, text, id, number, label, is_bad, is_last):
    columns = sorted({1 + sum(map(ord, word)) % 97 for word in text.split()})
    label = draw.choice([0, 1, -1]) if label is None else int(label)
    line = f"{label} " + " ".join(f"{column}:{draw.choice([1, 0.5, 2])}" for column in columns)
    line += draw.choice(["", "", " # more", " "])
    if is_bad:
        line = draw.choice(["x 1:1", "1 2:1 1:1", "1 a:1"])
    line = line.encode() + draw.choice([b"\n", b"\n", b"\r\n", b"\n\n", b"\n# a comment\n"])
    return Record(
        _unended(draw, line, is_last), None if is_bad else tuple(columns), id, None, label
    )


def table_record(draw, text, id, number, label, is_bad, is_last):
    row = {"text": None if is_bad else text, "id": id, "n": number, "more": [draw.randrange(9)]}
    row["n"] = None if number is None else float(number)
    if label is not None:
        row["label"] = label
    return Record(row, None if is_bad else text, id, row["n"], label)


def _unended(draw, line, is_last):
    """The last line of a file, which may have no end."""
    has_none = is_last and line.count(b"\n") == 1 and draw.random() < 0.3
    return line.rstrip(b"\n\r \t") if has_none else line


def csv_record(draw, text, id, number, label, is_bad, is_last):
    """A record of CSV, which may span several lines."""
    if draw.random() < 0.2:
        text = text.replace(" ", draw.choice(["\n", "\r\n", ' "', " , "]))
    row = {"id": id, "text": text, "other": draw.choice(["", "é", "\n", '"']), "n": number}
    if label is not None:
        row["label"] = label
    values = list(row.values())
    if is_bad:
        values = draw.choice([values[:-1], [*values, "more"]])
    file = io.StringIO(newline="")
    quoting = draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(file, quoting=quoting, lineterminator=draw.choice(["\n", "\r\n"])).writerow(values)
    line = file.getvalue().encode()
    if is_last and draw.random() < 0.3:
        line = line.rstrip(b"\r\n")
    return Record(line, None if is_bad else text, id, number, label)


HEADERS = b"id,text,other,n\n", b"id,text,other,n,label\n"
"""The headers of CSV, without labels and with them."""

MAKERS = {
    "jsonl": json_record, "txt": txt_record, "svm": svm_record, "csv": csv_record,
    "parquet": table_record, "arrow": table_record,
}  # fmt: skip

TABLES = ".parquet", ".arrow"


TYPES = ["string", "large_string", "binary", "dictionary"]


def write_file(draw, path, records, type="string", label_type=None):
    if path.suffix in TABLES:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {"binary": pa.binary(), "large_string": pa.large_string(), "string": pa.string()}
        fields = [("text", types.get(type, pa.dictionary(pa.int32(), pa.string())))]
        fields += [("id", pa.string()), ("n", pa.float64()), ("more", pa.list_(pa.int8()))]
        rows = [record.content for record in records]
        if label_type is not None:
            kinds = {bool: pa.bool_(), int: pa.int32(), str: pa.string()}
            fields += [("label", kinds[label_type])]
        table, size = pa.Table.from_pylist(rows, pa.schema(fields)), draw.choice([1, 3, 50])
        if path.suffix == ".parquet":
            pq.write_table(table, path, row_group_size=size)
            return
        options = pa.ipc.IpcWriteOptions(compression=draw.choice([None, "lz4", "zstd"]))
        new = draw.choice([pa.ipc.new_file, pa.ipc.new_stream])
        with new(path, table.schema, options=options) as file:
            file.write_table(table, max_chunksize=size)
        return
    content = b"".join(record.content for record in records)
    if ".csv" in path.suffixes:
        content = HEADERS[label_type is not None] + content
    path.write_bytes(WRITERS[path.suffix if path.suffix in WRITERS else ""](content))


def read_rows(path):
    """The rows of a file of Parquet or Arrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix == ".parquet":
        table = pq.read_table(path)
    else:
        is_file = path.read_bytes().startswith(b"ARROW1")
        table = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(path).read_all()
    rows = table.to_pylist()
    return [  # texts may be bytes
        {name: value.decode() if isinstance(value, bytes) else value for name, value in row.items()}
        for row in rows
    ]


# ---- n-grams -------------------------------------------------------------------------------------

PATTERNS = {None: r"\S+", r"\w+": r"\w+", "[a-z]+": "[a-z]+"}
ALONE = re.compile("([\u3040-\u30ff\u3400-\u9fff])")


def analyzer_of(analyzer, pattern, form):
    """A function from a text to the set of its n-grams."""
    kind, sizes = analyzer.split(":")
    low, high = (int(size) for size in (sizes.split("-") * 2)[:2])
    if kind == "byte":

        def ngrams(text):
            content = text.encode()
            starts = ((start, n) for n in range(low, high + 1) for start in range(len(content)))
            return {content[at : at + n] for at, n in starts if at + n <= len(content)}

        return ngrams
    split = CountVectorizer(
        analyzer="word" if kind == "auto" else kind, ngram_range=(low, high),
        token_pattern=PATTERNS[pattern],
    ).build_analyzer()  # fmt: skip

    def ngrams(text):
        text = in_form(text, form)
        return set(split(ALONE.sub(r" \1 ", text) if kind == "auto" else text))

    return ngrams


def in_form(text, form):
    if form is None:
        return text
    return normalize(text) if form == "plain" else unicodedata.normalize(form.upper(), text)


# ---- comparing -----------------------------------------------------------------------------------


def same(found, expected):
    if isinstance(found, list) and found != expected:
        both, found = found, [one for one in found if one not in expected]
        expected = [one for one in expected if one not in both]
    assert found == expected, f"found {found!r}, expected {expected!r}"


def check_bad(path, paths, inputs, is_good):
    """Compare the table of bad records, but for reasons."""
    expected = []
    for input, records in zip(paths, inputs, strict=True):
        number = 2 if ".csv" in input.suffixes else 1
        for record in records:
            content = b"" if isinstance(record.content, dict) else record.content
            if not is_good(record):
                line = content.split(b"\n")[0].rstrip(b"\r")
                if ".csv" in input.suffixes:
                    line = content.rstrip(b"\r\n")
                    if b"\n" in line:
                        for raw, escape in ((b"\\", b"\\\\"), (b"\n", b"\\n"), (b"\r", b"\\r")):
                            line = line.replace(raw, escape)
                expected.append((str(input).encode(), number, line))
            number += max(1, content.count(b"\n"))
    header, *lines = path.read_bytes().split(b"\n")
    same(header, b"file\tline\treason\trecord")
    lines = [line.split(b"\t", 3) for line in lines if line]
    same([(name, int(number), text) for name, number, _, text in lines], expected)


def compare(path, records):
    """Compare the content of an output with records."""
    if path.suffix in TABLES:
        same(read_rows(path), [record.content for record in records])
        return
    if ".csv" in path.suffixes:
        content = opened(path)
        before = next(header for header in HEADERS if content.startswith(header))
        for record in records:
            before += b"" if before.endswith(b"\n") else b"\n"
            before += record.content
        same(content, before)
        return
    lines = [line + end for line, end, _ in (one.content.partition(b"\n") for one in records)]
    before = [line if line.endswith(b"\n") else line + b"\n" for line in lines[:-1]]
    same(opened(path), b"".join([*before, *lines[-1:]]))


def opened(path):
    readers = {".gz": gzip, ".bz2": bz2, ".xz": lzma, ".zst": _zstd()}
    content = path.read_bytes()
    return readers[path.suffix].decompress(content) if path.suffix in readers else content
