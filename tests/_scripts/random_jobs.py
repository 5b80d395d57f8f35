"""Random jobs of files beside plain Python: records without near-duplicates, and models of records.

``python -m _scripts.random_jobs 1000`` runs so many of each kind, and prints which differ. A job is
named by a number, so that ``python -m _scripts.random_jobs 1 417`` runs job 417 again.
"""

import bz2
import collections
import gzip
import importlib
import itertools
import json
import lzma
import operator
import os
import random
import re
import sys
import tempfile
import traceback
import unicodedata
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
import scipy.sparse as sp
from _data.chance import named
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_extraction.text import HashingVectorizer as Hashing

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps._tools._zstd import MODULE as ZSTD
from sparsemaps.codes import unpack
from sparsemaps.files import (
    Texts,
    _coded_records,
    deduplicate_files,
    filter_files,
    map_files,
    predict_files,
    train_files,
)
from sparsemaps.linear import KernelClassifier
from sparsemaps.text import _frequencies, normalize
from sparsemaps.text._analyzers import vectorizer_of

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


MAKERS = {"jsonl": json_record, "txt": txt_record, "svm": svm_record, "parquet": table_record}


TYPES = ["string", "large_string", "binary", "dictionary"]


def write_file(draw, path, records, type="string", label_type=None):
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {"binary": pa.binary(), "large_string": pa.large_string(), "string": pa.string()}
        fields = [("text", types.get(type, pa.dictionary(pa.int32(), pa.string())))]
        fields += [("id", pa.string()), ("n", pa.float64()), ("more", pa.list_(pa.int8()))]
        rows = [record.content for record in records]
        if label_type is not None:
            kinds = {bool: pa.bool_(), int: pa.int32(), str: pa.string()}
            fields += [("label", kinds[label_type])]
        table = pa.Table.from_pylist(rows, pa.schema(fields))
        pq.write_table(table, path, row_group_size=draw.choice([1, 3, 50]))
        return
    content = b"".join(record.content for record in records)
    path.write_bytes(WRITERS[path.suffix if path.suffix in WRITERS else ""](content))


def read_rows(path):
    """The rows of a Parquet file."""
    import pyarrow.parquet as pq

    rows = pq.read_table(path).to_pylist()
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


def frequencies_of(sets):
    """How many sets each member is in."""
    return collections.Counter(itertools.chain.from_iterable(sets))


def own_ngrams(how, sets, frequencies):
    """The n-grams that decide, by how many records have each."""
    if how["max_df"] is None:
        return sets
    own = [{ngram for ngram in one if frequencies[ngram] <= how["max_df"]} for one in sets]
    return [few if len(few) >= how["min_own"] else all for few, all in zip(own, sets, strict=True)]


# ---- records without near-duplicates -------------------------------------------------------------


class Delivery(NamedTuple):
    """Inputs, and what plain Python finds in them."""

    folder: Path
    """The folder of the stages."""
    names: list
    """What tables call the records."""
    sets: list
    codes: object
    kept: list
    frequencies: list
    """How many records have each n-gram, and each column."""


def dedup_options(draw):
    format = draw.choice(["jsonl", "jsonl", "txt", "parquet", "svm"])
    analyzers = "word:1", "word:2", "word:1-2", "char:2-3", "char_wb:3", "byte:4", "auto:2"
    analyzer = draw.choice(analyzers)
    pattern = draw.choice([None, None, *PATTERNS]) if analyzer.startswith("word") else None
    forms = [None, None, "nfc", "nfkc", "plain"]
    form = None if analyzer.startswith("byte") else draw.choice(forms)
    sets_aside = draw.random() < 0.5
    lengths = [None, None]
    if sets_aside and format != "svm" and draw.random() < 0.6:
        lengths = [draw.choice([None, 0, 2]), draw.choice([None, 40])]
    keeps = {"jsonl": ["first", "longest", "n"], "parquet": ["first", "longest", "n"]}
    n_hashes, bits = draw.choice([32, 64, 256]), draw.choice([1, 4, 8, 16])
    return {
        "format": format, "analyzer": analyzer, "pattern": pattern, "form": form,
        "sets_aside": sets_aside, "lengths": lengths,
        "keep": draw.choice(keeps.get(format, ["first", "longest"])),
        "exact": draw.random() < 0.7,
        "threshold": draw.choice([0.5, 0.25, 0.6, 2 / 3, 0.8, 1.0, draw.uniform(0.05, 1)]),
        "has_ids": format in ("jsonl", "parquet") and draw.random() < 0.5,
        "map": MinHash(n_hashes=n_hashes, bits=bits, random_state=draw.randrange(99)),
        "is_folder": draw.random() < 0.4, "dry_run": draw.random() < 0.1,
        "n_jobs": draw.choice([None, 1, 2]), "in_shares": draw.random() < 0.4,
        "range_bytes": draw.choice([2**26, 200, 1000]), "type": draw.choice(TYPES),
        "max_df": draw.choice([1, 2, 5, 100]) if format != "svm" and draw.random() < 0.3 else None,
        "min_own": draw.choice([1, 2, 5]),
    }  # fmt: skip


def check_dedup(number, folder):
    """Run a job of some deliveries, and compare all that it writes with plain Python."""
    draw = random.Random(named(f"dedup {number}"))
    how, before, deliveries = dedup_options(draw), [], []
    for which in range(draw.choice([1, 1, 2, 3])):
        deliveries.append(check_delivery(draw, folder, which, how, before, deliveries))


def check_delivery(draw, folder, which, how, before, deliveries):
    format, keep = how["format"], how["keep"]
    ending = draw.choice(list(WRITERS)) if format != "parquet" else ""
    paths, inputs = [], []
    for part in range(draw.choice([1, 1, 2, 3])):
        n = draw.choice([1, 5, 12, 25]) if not part else draw.choice([0, 1, 12])
        share = 0.25 if how["sets_aside"] and part else 0
        inputs.append(draw_records(draw, n, format, before, share))
        paths.append(folder / f"in{which}{part}.{format}{ending}")
        write_file(draw, paths[-1], inputs[-1], how["type"])
    source, is_good = source_of(how), good_of(how)
    good = [record for some in inputs for record in some if is_good(record)]
    if not good or (keep == "n" and all(record.number is None for record in good)):
        return Delivery(None, [], [], None, [], [])
    sets, X = sets_of(how, good), rows_of(how, good)
    name = f"out{which}.{format}"
    output = f"{folder / name}/" if how["is_folder"] else folder / (name + ending)
    known = [one for one in deliveries if one.folder is not None]
    known = draw.sample(known, draw.randrange(len(known) + 1))
    if how["max_df"] is not None:  # codes by several tables of frequencies are not compared
        known = [one for one in known if one.frequencies is known[0].frequencies]
    tables = {name: folder / f"{name}{which}" for name in ("removed", "clusters", "report")}
    options = {
        **tables, "threshold": how["threshold"], "recall": 1, "exact": how["exact"],
        "source": source, "keep": keep, "dry_run": how["dry_run"], "n_jobs": how["n_jobs"],
        "against": [one.folder for one in known] or None,
    }  # fmt: skip
    if how["sets_aside"]:
        options["bad_records"] = folder / f"bad{which}"
    with mock.patch.object(_coded_records, "RANGE_BYTES", how["range_bytes"]):
        if how["in_shares"]:
            run_in_shares(draw, how, paths, output, options)
        done = deduplicate_files(how["map"], paths, output, **options)
    if how["dry_run"]:
        assert not os.path.exists(output), "a dry run has an output"

    # plain Python
    counted = [frequencies_of(sets), frequencies_of(columns_of(X))]
    if known:
        counted = known[0].frequencies
    stages = folder / f"out{which}.{format}{'' if how['is_folder'] else ending}.stages"
    if how["max_df"] is not None and are_mixed_up(stages, columns_of(X), counted[1]):
        return Delivery(None, [], [], None, [], [])
    sets = own_ngrams(how, sets, counted[0])
    codes = codes_of(how, without(X, own_ngrams(how, columns_of(X), counted[1])))
    found = plain_removals(how, good, sets, codes, known)
    witness = [one for one, _ in found]
    kept = [row for row in range(len(good)) if witness[row] is None]
    names = [record.id if how["has_ids"] else str(row) for row, record in enumerate(good, 1)]
    check_removed(tables["removed"], names, known, found)
    sizes = check_clusters(tables["clusters"], names, found)
    n_bad = sum(map(len, inputs)) - len(good)
    same(done[:4], (len(good), len(kept), sum(size > 1 for size in sizes), max(sizes)))
    same((done.n_bad, done.n_equal + done.n_near + done.n_earlier), (n_bad, len(good) - len(kept)))
    same(done.n_earlier, sum(isinstance(one, tuple) for one in witness))
    if format != "svm":
        own = [row for row, one in enumerate(witness) if isinstance(one, int)]
        same(done.n_equal, sum(good[row].text == good[witness[row]].text for row in own))
    if how["sets_aside"]:
        check_bad(options["bad_records"], paths, inputs, is_good)
    if not how["dry_run"]:
        check_outputs(how, output, paths, inputs, is_good, set(kept))
        same([file.n_kept for file in done.files], counts_of(inputs, is_good, set(kept)))
    return Delivery(stages, names, sets, codes, kept, counted)


def are_mixed_up(stages, columns, exact):
    """Return whether a table of frequencies has two of these columns in one bucket, which happens
    in one job of some hundreds. Their frequencies are then too large."""
    table, _ = _frequencies.read(stages / "frequencies.npy")
    known = np.array(sorted(set().union(*columns)), np.int64)
    counts = table.of(known).tolist()
    expected = [exact[column] for column in known.tolist()]
    assert all(map(operator.ge, counts, expected))
    return counts != expected


def same(found, expected):
    if isinstance(found, list) and found != expected:
        both, found = found, [one for one in found if one not in expected]
        expected = [one for one in expected if one not in both]
    assert found == expected, f"found {found!r}, expected {expected!r}"


def source_of(how):
    if how["format"] == "svm":
        return None
    return Texts(
        how["analyzer"], token_pattern=how["pattern"], normalize=how["form"],
        min_length=how["lengths"][0], max_length=how["lengths"][1], max_df=how["max_df"],
        min_own=how["min_own"],
        id_field="id" if how["has_ids"] else None,
    )  # fmt: skip


def good_of(how):
    """A function that tells whether a record is good."""
    least, most = how["lengths"]

    def is_good(record):
        if record.text is None:
            return False
        return (least or 0) <= len(record.text) <= (10**9 if most is None else most)

    return is_good if how["format"] != "svm" else (lambda record: record.text is not None)


def sets_of(how, good):
    if how["format"] == "svm":
        return [set(record.text) for record in good]
    ngrams = analyzer_of(how["analyzer"], how["pattern"], how["form"])
    return [ngrams(record.text) for record in good]


def codes_of(how, X):
    """The codes of rows as numbers."""
    map = how["map"].fit_any_width()
    return unpack(map.encode(sp.csr_array(X)), map.bits, n_hashes=map.n_hashes)


def columns_of(X):
    """The columns of the entries of each row, as sets."""
    return [set(some.tolist()) for some in np.split(X.indices, X.indptr[1:-1])]


def without(X, sets):
    """Rows with those of their entries that are in sets of columns."""
    columns = [sorted(some) for some in sets]
    indptr = np.cumsum([0, *map(len, columns)])
    indices = np.array([one for some in columns for one in some], np.int64)
    return sp.csr_array((np.ones(len(indices)), indices, indptr), X.shape)


def rows_of(how, good):
    """The rows of records, by scikit-learn where it has them."""
    if how["format"] == "svm":
        rows = [[column in record.text for column in range(1, 300)] for record in good]
        X = sp.csr_array(np.array(rows, float).reshape(len(good), 299))
    elif how["analyzer"].startswith("byte"):
        X = vectorizer_of(how["analyzer"]).transform([record.text for record in good])
    else:
        kind, sizes = how["analyzer"].split(":")
        low, high = (int(size) for size in (sizes.split("-") * 2)[:2])
        texts = [record.text for record in good]
        texts = [in_form(text, how["form"]) for text in texts]
        if kind == "auto":
            texts = [ALONE.sub(r" \1 ", text) for text in texts]
        X = Hashing(
            analyzer="word" if kind == "auto" else kind, ngram_range=(low, high), norm=None,
            token_pattern=PATTERNS[how["pattern"]], n_features=2**31 - 2, alternate_sign=False,
        ).transform(texts)  # fmt: skip
    return sp.csr_array(X)


def plain_removals(how, good, sets, codes, known):
    """Of each record its witness, and their similarity: None of records that are kept, the number
    of a record, or a delivery and the number of its record."""
    chance = Fraction(1, 2 ** how["map"].bits)

    def estimate(one, other):
        share = Fraction(int((one == other).sum()), len(one))
        return float((share - chance) / (1 - chance))

    def exact(one, other):
        return len(one & other) / len(one | other)

    def is_near(similarity):
        return similarity >= how["threshold"] - 1e-12

    order, keep = list(range(len(good))), how["keep"]
    if keep == "longest":
        order.sort(key=lambda row: -len(good[row].text))
    elif keep == "n":
        order.sort(key=lambda row: (good[row].number is None, -(good[row].number or 0)))
    found, kept = [(None, None)] * len(good), []
    for row in order:
        candidates = []
        if sets[row]:
            for which, one in enumerate(known):
                for other in one.kept:
                    if one.sets[other]:
                        near = estimate(codes[row], one.codes[other])
                        candidates.append(((which, other), near))
            for other in kept:
                if sets[other]:
                    near = exact(sets[row], sets[other])
                    if not how["exact"]:
                        near = estimate(codes[row], codes[other])
                    candidates.append((other, near))
        else:
            equals = (o for o in kept if not sets[o] and contents(good[o]) == contents(good[row]))
            candidates = [(other, 1.0) for other in equals]
        found[row] = next((one for one in candidates if is_near(one[1])), (None, None))
        if found[row][0] is None:
            kept.append(row)
    return found


def contents(record):
    """What records without samples are compared by: texts, or lines without their ends."""
    if not isinstance(record.text, tuple):
        return record.text
    return record.content.split(b"\n")[0].removesuffix(b"\r")


def check_removed(path, names, known, found):
    lines = ["removed\tkept\tsimilarity"]
    for row, (witness, similarity) in enumerate(found):
        if witness is None:
            continue
        if isinstance(witness, tuple):
            one = known[witness[0]]
            name = f"{one.folder}:{one.names[witness[1]]}"
        else:
            name = names[witness]
        lines.append(f"{names[row]}\t{name}\t{similarity:.6f}")
    same(path.read_text().splitlines(), lines)


def check_clusters(path, names, found):
    """Compare the table of clusters; the sizes of these."""
    groups = [row if witness is None else witness for row, (witness, _) in enumerate(found)]
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups), 1)}
    lines = [f"{name}\t{numbers[group]}" for name, group in zip(names, groups, strict=True)]
    same(path.read_text().splitlines(), lines)
    return list(collections.Counter(groups).values())


def check_bad(path, paths, inputs, is_good):
    """Compare the table of bad records, but for reasons."""
    expected = []
    for input, records in zip(paths, inputs, strict=True):
        number = 1
        for record in records:
            content = b"" if isinstance(record.content, dict) else record.content
            if not is_good(record):
                line = content.split(b"\n")[0].rstrip(b"\r")
                expected.append((str(input).encode(), number, line))
            number += max(1, content.count(b"\n"))
    header, *lines = path.read_bytes().split(b"\n")
    same(header, b"file\tline\treason\trecord")
    lines = [line.split(b"\t", 3) for line in lines if line]
    same([(name, int(number), text) for name, number, _, text in lines], expected)


def check_outputs(how, output, paths, inputs, is_good, kept):
    """Compare the records that are written."""
    row, written = 0, []
    for records in inputs:
        good = [record for record in records if is_good(record)]
        written.append([one for place, one in enumerate(good, row) if place in kept])
        row += len(good)
    if how["is_folder"]:
        for input, records in zip(paths, written, strict=True):
            compare(Path(output) / input.name, records)
    else:
        compare(Path(output), [record for records in written for record in records])


def compare(path, records):
    """Compare the content of an output with records."""
    if path.suffix == ".parquet":
        same(read_rows(path), [record.content for record in records])
        return
    lines = [line + end for line, end, _ in (one.content.partition(b"\n") for one in records)]
    before = [line if line.endswith(b"\n") else line + b"\n" for line in lines[:-1]]
    same(opened(path), b"".join([*before, *lines[-1:]]))


def opened(path):
    readers = {".gz": gzip, ".bz2": bz2, ".xz": lzma, ".zst": _zstd()}
    content = path.read_bytes()
    return readers[path.suffix].decompress(content) if path.suffix in readers else content


def counts_of(inputs, is_good, kept):
    row, counts = 0, []
    for records in inputs:
        n = sum(map(is_good, records))
        counts.append(sum(place in kept for place in range(row, row + n)))
        row += n
    return counts


STAGES = [
    "frequencies", "frequencies-join", "codes", "codes-join", "search-keys", "search", "removals",
    "clusters", "kept", "outputs",
]  # fmt: skip


def run_in_shares(draw, how, paths, output, options):
    """Run all tasks, and some of them twice, in any order within each stage."""
    for stage in STAGES:
        n = draw.choice([1, 2, 3])
        order = [*range(n), *draw.choices(range(n), k=draw.randrange(2))]
        draw.shuffle(order)
        for i in order:
            try:
                deduplicate_files(how["map"], paths, output, task=(stage, i, n), **options)
            except ValueError as error:
                if not str(error).startswith("the stage must be"):
                    raise


# ---- models --------------------------------------------------------------------------------------

CLASSES = {
    str: [["yes", "no"], ["b", "a\tb", "é"], ["1", "01", "2", "x"]],
    int: [[0, 1], [-1, 1], [3, 1, 2], [2**53 + 1, 2**53], [-5, 0, 7, 9]],
    bool: [[False, True]],
}


def learning_options(draw):
    kind = draw.choice(["jsonl", "jsonl", "parquet", "svm", "codes of jsonl", "codes of svm"])
    format = kind.removeprefix("codes of ")
    label_type = int if format == "svm" else draw.choice([str, int, bool])
    classes = draw.choice(CLASSES[label_type])
    if format == "parquet" and label_type is int:
        classes = [3, 1, 2]
    takes_values = format == "svm" and draw.random() < 0.5
    map = (ConsistentWeightedSampling if takes_values else MinHash)(
        n_hashes=draw.choice([8, 32, 64]), bits=draw.choice([1, 4, 8]),
        random_state=draw.randrange(99),
    )  # fmt: skip
    analyzer = draw.choice(["word:1", "word:1-2", "char:3", "byte:3"])
    has_texts = format != "svm"
    model = KernelClassifier(
        map, vectorizer=vectorizer_of(analyzer, binary=True) if has_texts else None,
        C=draw.choice([0.1, 1.0, 10.0]), fit_intercept=draw.random() < 0.8,
        class_weight=draw.choice([None, None, "balanced"]), n_jobs=draw.choice([None, 2]),
        loss=draw.choice(["squared_hinge", "squared_hinge", "hinge", "log_loss"]),
        random_state=draw.randrange(99),
    )  # fmt: skip
    return {
        "format": format, "is_coded": kind != format, "label_type": label_type,
        "classes": classes, "model": model, "analyzer": analyzer,
        "has_ids": has_texts and draw.random() < 0.5, "type": draw.choice(TYPES),
        "sets_aside": draw.random() < 0.5, "n_jobs": draw.choice([None, 2]),
        "is_folder": draw.random() < 0.3,
    }  # fmt: skip


def check_learning(number, folder):
    """Train a model on files, and label and filter others, as in memory."""
    draw = random.Random(named(f"learning {number}"))
    how, before = learning_options(draw), []
    classes = how["classes"]

    def label(draw, text):
        return classes[0] if draw.random() < 0.2 else classes[len(text) % len(classes)]

    paths, inputs = labelled_files(draw, folder, "train", how, before, label)
    good = [record for records in inputs for record in records if record.text is not None]
    if len({record.label for record in good}) < 2:
        return
    has_texts = how["format"] != "svm"
    source = Texts(how["analyzer"], label_field="label") if has_texts else None
    options = {"n_jobs": how["n_jobs"]}
    if how["sets_aside"]:
        options["bad_records"] = folder / "bad"
    if how["is_coded"]:
        coded = []
        for path in paths:
            coded.append(folder / f"{path.name}.npy")
            aside = {"bad_records": folder / f"{path.name}.bad"} if how["sets_aside"] else {}
            if not sum(record.text is not None for record in inputs[paths.index(path)]):
                return  # all records are bad, which is an error
            map_files(how["model"].map, path, coded[-1], format="npy", source=source, **aside)
        done = train_files(how["model"], coded, folder / "model", n_jobs=how["n_jobs"])
    else:
        done = train_files(how["model"], paths, folder / "model", source=source, **options)
        if how["sets_aside"]:
            check_bad(folder / "bad", paths, inputs, lambda record: record.text is not None)
    same(done.n_records, len(good))

    # in memory
    labels = np.array([record.label for record in good])
    if how["is_coded"] and labels.dtype == bool:
        labels = labels.astype(float)  # beside codes, booleans are numbers
    wide = clone(how["model"]).fit(contents_of(how, good), labels)
    found = KernelClassifier.load(folder / "model")
    same(found.classes_.tolist(), wide.classes_.tolist())
    same(found.coef_.tolist(), wide.coef_.tolist())
    same(found.intercept_.tolist(), wide.intercept_.tolist())

    check_labels(draw, folder, how, before, label, found, wide)


def labelled_files(draw, folder, name, how, before, label):
    paths, inputs = [], []
    ending = draw.choice(list(WRITERS)) if how["format"] != "parquet" else ""
    for part in range(draw.choice([1, 1, 2, 3])):
        n = draw.choice([2, 5, 12, 25]) if not part else draw.choice([0, 1, 12])
        share = 0.2 if how["sets_aside"] and part else 0
        records = draw_records(draw, n, how["format"], before, share, label=label)
        inputs.append(records)
        paths.append(folder / f"{name}{part}.{how['format']}{ending}")
        write_file(draw, paths[-1], records, how["type"], how["label_type"])
    return paths, inputs


def contents_of(how, good):
    """What a model in memory takes."""
    if how["format"] != "svm":
        return [record.text for record in good]
    X = np.zeros((len(good), 99))
    for row, record in enumerate(good):
        line = record.content.partition(b"#")[0].decode().split()[1:]
        for column, value in (entry.split(":") for entry in line):
            X[row, int(column) - 1] = float(value)
    return sp.csr_array(X)


def name_of(label):
    if isinstance(label, float):
        return f"{label:.17g}"
    return str(label).lower() if isinstance(label, bool) else str(label).replace("\t", "\\t")


def check_labels(draw, folder, how, before, label, model, in_memory):
    """Compare the labels of other records, and those of one label."""
    paths, inputs = labelled_files(draw, folder, "new", how, before, label)
    every = [[record for record in records if record.text is not None] for records in inputs]
    is_folder = how["is_folder"] and not how["sets_aside"]
    source = None
    if how["format"] != "svm":
        source = Texts(how["analyzer"], id_field="id" if how["has_ids"] else None)
    options = {"source": source, "n_jobs": how["n_jobs"]}
    if how["sets_aside"]:
        options["bad_records"] = folder / "bad"
    lines, chosen, n_unknown, number = [], [], 0, 0
    classes = in_memory.classes_.tolist()
    wanted, min_score = draw.choice(classes), draw.choice([None, None, 0.0, -0.5, 0.25])
    for good in every:
        lines.append([])
        chosen.append([])
        number = 0 if is_folder else number
        scores = found = np.empty(0)
        if good:
            scores = in_memory.decision_function(contents_of(how, good)).tolist()
            found = in_memory.predict(contents_of(how, good)).tolist()
        for record, own, predicted in zip(good, scores, found, strict=True):
            number += 1
            is_known = bool(ngrams_of(how, record))
            n_unknown += not is_known
            columns = [record.id if how["has_ids"] else str(number)]
            columns.append(name_of(predicted) if is_known else "")
            own = own if isinstance(own, list) else [own]
            columns += [f"{score:.6g}" for score in own]
            lines[-1].append("\t".join(columns))
            score = own[classes.index(wanted)] if len(own) > 1 else own[0]
            score = -score if len(own) == 1 and wanted == classes[0] else score
            is_wanted = predicted == wanted if min_score is None else score >= min_score
            if is_known and is_wanted:
                chosen[-1].append(record)
    n = sum(map(len, every))
    if how["sets_aside"] and not n:
        return  # all records are bad, which is an error
    output = f"{folder}/labels/" if is_folder else folder / "labels"
    done = predict_files(model, paths, output, **options)
    same(done, (n, n_unknown))
    if is_folder:
        for path, own in zip(paths, lines, strict=True):
            name = path.name.removesuffix(path.suffix if path.suffix in WRITERS else "")
            same(lines_in(folder / "labels" / f"{name}.tsv"), own)
    else:
        same(lines_in(output), [line for own in lines for line in own])
    if how["sets_aside"]:
        check_bad(folder / "bad", paths, inputs, lambda record: record.text is not None)

    ending = ".parquet" if how["format"] == "parquet" else ""
    output = f"{folder}/chosen/" if is_folder else folder / f"chosen{ending}"
    done = filter_files(model, paths, output, label=wanted, min_score=min_score, **options)
    same(done, (n, sum(map(len, chosen)), n_unknown))
    if is_folder:
        for path, own in zip(paths, chosen, strict=True):
            compare(folder / "chosen" / path.name, own)
    else:
        compare(output, [record for own in chosen for record in own])


def lines_in(path):
    return path.read_text("utf-8").split("\n")[:-1]


def ngrams_of(how, record):
    if how["format"] == "svm":
        return record.text
    return analyzer_of(how["analyzer"], None, None)(record.text)


# ---- running -------------------------------------------------------------------------------------

KINDS = {"dedup": check_dedup, "learning": check_learning}


def difference(kind, number):
    """The traceback of a job that is not as plain Python has it; None if it is."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            KINDS[kind](number, Path(folder))
        except Exception:
            return traceback.format_exc()
    return None


def main(n, first=0, kinds=tuple(KINDS)):
    for kind in kinds:
        n_different = 0
        for number in range(first, first + n):
            found = difference(kind, number)
            if found is not None:
                n_different += 1
                print(f"{kind} {number}: {found}", flush=True)
        print(f"{kind}: {n_different} of {n} differ", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *([sys.argv[3:]] if sys.argv[3:] else []))
