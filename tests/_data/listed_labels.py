"""Texts with lists of labels, in files of every kind that has them."""

import json

import numpy as np
import pytest

from _data.chance import SEED
from _data.labelled_records import WORDS, text_model
from sparsemaps import files
from sparsemaps.files import Texts

KINDS = {
    "strings": ["pets", "mon,ey", "sea\tsalt"],
    "numbers": [3, -1, 7],
    "large numbers": [2**60, 2**60 + 1, -(2**61) + 1],
    "larger numbers": [2**64 - 1, 2**64 - 2, 5],
    "booleans": [True, False],
}
"""Labels of each kind."""


def listed(n=60, kind="strings", seed=0):
    """Texts with lists of labels, of which some are empty and some have a label twice."""
    rng = np.random.default_rng(SEED + seed)
    labels, words = KINDS[kind], list(WORDS.values())
    some = []
    for number in range(n):
        has = np.flatnonzero(rng.random(len(labels)) < 0.5).tolist()
        pool = [word for one in has for word in words[one]] or ["nothing", "at", "all"]
        text = " ".join(rng.choice(pool, 9))
        found = [labels[one] for one in has]
        some.append({"text": text, "y": found + found[: number % 2]})
    return some


def _arrow(make):
    def table(some):
        pa = pytest.importorskip("pyarrow")
        lists = [one["y"] for one in some]
        flat = [label for labels in lists for label in labels]
        is_large = not isinstance(flat[0], str) and max(flat) >= 2**63
        kind = pa.uint64() if is_large else pa.array(flat).type
        column = make(pa, lists, kind)
        return pa.table({"text": [one["text"] for one in some], "y": column})

    return table


def _of_dictionaries(pa, lists, kind):
    ends = np.cumsum([0, *map(len, lists)])
    flat = pa.array([one for some in lists for one in some], kind).dictionary_encode()
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), flat)


def _of_views(pa, lists, kind):
    if not hasattr(pa, "list_view"):
        pytest.skip("this Arrow has no views")
    return pa.array(lists, pa.list_view(kind))


COLUMNS = {
    "list": lambda pa, lists, kind: pa.array(lists, pa.list_(kind)),
    "large list": lambda pa, lists, kind: pa.array(lists, pa.large_list(kind)),
    "list view": _of_views,
    "list of dictionary": _of_dictionaries,
}


def _parquet(columns):
    def write(path, some):
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(_arrow(columns)(some), path, row_group_size=7)

    return write


def _arrow_file(columns):
    def write(path, some):
        table = _arrow(columns)(some)
        pa = pytest.importorskip("pyarrow")
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=7)

    return write


def write_jsonl(path, some):
    path.write_text("".join(json.dumps(one) + "\n" for one in some))


FILES = {
    "jsonl": (".jsonl", write_jsonl),
    **{f"arrow {name}": (".arrow", _arrow_file(make)) for name, make in COLUMNS.items()},
    **{
        f"parquet {name}": (".parquet", _parquet(make))
        for name, make in COLUMNS.items()
        if name != "list view"
    },
}
"""Writers of files of texts with lists of labels."""


def write(path, file, some):
    """Write records to a file of a kind, and return its path."""
    ending, writer = FILES[file]
    path = path.with_name(path.name + ending)
    writer(path, some)
    return path


SOURCE = Texts("word:1", label_field="y")


def trained(path, folder, **options):
    """The model of a file, and what `train_files` returns."""
    return files.train_files(text_model(), path, folder / "model", source=SOURCE, **options)
