"""The same records in files of every format of texts."""

import csv
import io
import json

import pytest

WORDS = {
    "pets": ["cat", "dog", "paw", "fur", "tail", "whiskers", "claw", "kitten"],
    "money": ["bank", "loan", "fund", "rate", "bond", "stock", "yield", "share"],
}


def records(n=80):
    """Records of two labels, some of several lines; the last ones have the texts of the first."""
    found = []
    for row in range(n):
        label = "pets" if row % 3 else "money"
        of_text = row if row < n - 10 else row - n + 10
        label = "pets" if of_text % 3 else "money"
        words = [WORDS[label][(of_text * step + step) % 8] for step in range(1, 7)]
        text = " ".join([*words, f"w{of_text}"])
        if of_text % 5 == 0:
            text += '\r\na "second", line'
        inner = {"score": of_text / 4, "lang": label, "text": text}
        found.append({"id": f"r{row}", "text": text, "label": label, "n": row % 7, "inner": inner})
    return found


def _write_txt(path, rows):
    texts = (b"\xff" if row["text"] is None else row["text"].encode() for row in rows)
    path.write_bytes(b"".join(b" ".join(text.split()) + b"\n" for text in texts))


def _write_jsonl(path, rows):
    path.write_bytes("".join(json.dumps(row) + "\n" for row in rows).encode())


def _flat(rows):
    """Rows without objects: the fields of these are columns."""
    return [
        {
            name: value
            for key, of_key in row.items()
            for name, value in (
                ((f"{key}.{inner}", one) for inner, one in of_key.items())
                if isinstance(of_key, dict)
                else [(key, of_key)]
            )
        }
        for row in rows
    ]


def _write_csv(path, rows):
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(_flat(rows or records(1))[0]))
    writer.writeheader()
    for row in _flat(rows):
        if None in (row.get("id", ""), row["text"]):
            file.write(",,,,,,,,")  # any text is an id, but so many fields are an error
        writer.writerow(row)
    path.write_bytes(file.getvalue().encode())


def _table(rows):
    pa = pytest.importorskip("pyarrow")
    of_type = {"text": ""}  # if all texts are None
    return pa.Table.from_pylist([*(rows or records(1)), of_type]).slice(0, len(rows))


def _write_parquet(path, rows):
    from pyarrow import parquet

    parquet.write_table(_table(rows), path, row_group_size=30)


def _write_arrow(path, rows):
    from pyarrow import ipc

    table = _table(rows)
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=30)


WRITERS = {
    "txt": _write_txt,
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
}
"""Functions that write records to a path. Lines of text have texts alone. A record whose id or text
is None is one that cannot be read. A file without records has the columns of `records`, if the
format has columns."""
