"""Random jobs of `deduplicate_files` beside plain Python."""

import collections
import itertools
import operator
import os
import random
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
import scipy.sparse as sp
from _data.chance import named
from sklearn.feature_extraction.text import HashingVectorizer

from _scripts.random_records import (
    ALONE,
    PATTERNS,
    TYPES,
    WRITERS,
    analyzer_of,
    check_bad,
    compare,
    draw_records,
    in_form,
    same,
    write_file,
)  # fmt: skip
from sparsemaps import MinHash
from sparsemaps.codes import unpack
from sparsemaps.files import Texts, _coded_records, deduplicate_files
from sparsemaps.text import _frequencies
from sparsemaps.text._analyzers import vectorizer_of


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
    format = draw.choice(["jsonl", "jsonl", "txt", "csv", "parquet", "arrow", "svm"])
    analyzers = "word:1", "word:2", "word:1-2", "char:2-3", "char_wb:3", "byte:4", "auto:2"
    analyzer = draw.choice(analyzers)
    pattern = draw.choice([None, None, *PATTERNS]) if analyzer.startswith("word") else None
    forms = [None, None, "nfc", "nfkc", "plain"]
    form = None if analyzer.startswith("byte") else draw.choice(forms)
    sets_aside = draw.random() < 0.5
    lengths = [None, None]
    if sets_aside and format != "svm" and draw.random() < 0.6:
        lengths = [draw.choice([None, 0, 2]), draw.choice([None, 40])]
    has_fields = format not in ("txt", "svm")
    n_hashes, bits = draw.choice([32, 64, 256]), draw.choice([1, 4, 8, 16])
    return {
        "format": format, "analyzer": analyzer, "pattern": pattern, "form": form,
        "sets_aside": sets_aside, "lengths": lengths,
        "keep": draw.choice(["first", "longest", *(["n"] if has_fields else [])]),
        "exact": draw.random() < 0.7,
        "threshold": draw.choice([0.5, 0.25, 0.6, 2 / 3, 0.8, 1.0, draw.uniform(0.05, 1)]),
        "has_ids": has_fields and draw.random() < 0.5,
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
    ending = draw.choice(list(WRITERS)) if format not in ("parquet", "arrow") else ""
    paths, inputs = [], []
    for part in range(draw.choice([1, 1, 2, 3])):
        n = draw.choice([1, 5, 12, 25]) if not part else draw.choice([0, 1, 12])
        share = 0.25 if how["sets_aside"] and part else 0
        inputs.append(draw_records(draw, n, format, before, share))
        paths.append(folder / f"in{which}{part}.{format}{ending}")
    source, is_good = source_of(how), good_of(how)
    if how["is_folder"]:  # an output of bad records alone would be empty, which is an error
        inputs = [some if any(map(is_good, some)) else [] for some in inputs]
    for path, some in zip(paths, inputs, strict=True):
        write_file(draw, path, some, how["type"])
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


def source_of(how):
    if how["format"] == "svm":
        return None
    limits = {} if how["max_df"] is None else {"max_df": how["max_df"], "min_own": how["min_own"]}
    return Texts(
        how["analyzer"], token_pattern=how["pattern"], normalize=how["form"],
        min_length=how["lengths"][0], max_length=how["lengths"][1],
        id_field="id" if how["has_ids"] else None, **limits,
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
        X = HashingVectorizer(
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


# ---- n-grams -------------------------------------------------------------------------------------


def frequencies_of(sets):
    """How many sets each member is in."""
    return collections.Counter(itertools.chain.from_iterable(sets))


def own_ngrams(how, sets, frequencies):
    """The n-grams that decide, by how many records have each."""
    if how["max_df"] is None:
        return sets
    own = [{ngram for ngram in one if frequencies[ngram] <= how["max_df"]} for one in sets]
    return [few if len(few) >= how["min_own"] else all for few, all in zip(own, sets, strict=True)]
