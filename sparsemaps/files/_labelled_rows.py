"""Records with their labels: codes of records, read from files of any kind."""

import contextlib
import io
import itertools
import os
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from sparsemaps._io import _paths
from sparsemaps._io._progress import FileProgress
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._sources import CLASSES, LABELS, is_regular, refuse_changes, spooled
from sparsemaps._tools import _sklearn
from sparsemaps._tools._escapes import unescaped
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._sklearn import width_of
from sparsemaps._tools._typing import Array, StrPath
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._bad_records import BadTable
from sparsemaps.files._finite_labels import ALL_FINITE, check_labels, not_finite
from sparsemaps.files._job import refuse_options, refuse_weights_of_sets
from sparsemaps.files._job_options import GivenSource, Reading, Svmlight, Texts
from sparsemaps.files._kinds_of_inputs import as_source
from sparsemaps.files._libsvm_rows import LibsvmRows
from sparsemaps.files._record_labels import (
    Labels,
    joined_labels,
    labels_beside,
    values_of,
    with_values,
)
from sparsemaps.files._record_weights import joined_weights, weights_beside
from sparsemaps.files._row_source import Source
from sparsemaps.files._rows import codes_of, read_rows
from sparsemaps.files._snippet_rows import SnippetRows
from sparsemaps.files._text_rows import TextRows
from sparsemaps.libsvm import iter_svmlight_file
from sparsemaps.linear._indicators import LabelLists
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.records._batch import Batch
from sparsemaps.records._table import cannot_be_rows, format_by_name, holds_codes
from sparsemaps.records.svmlight import SeveralLabels
from sparsemaps.text._frequencies import Frequencies

KindOfLabels = Literal["classes", "lists", "numbers"]
"""The kind of labels: one class each, lists of classes, or regression targets."""


class LabelledRows(NamedTuple):
    """Codes of records, and their labels."""

    codes: PackedCodes
    labels: Labels
    vectorizer: Any = None
    """The vectorizer of the texts, if its weights were counted on these records."""
    weights: Array | None = None
    """The weights of the records; None without weights."""
    records: Array | None = None
    """The record of each row, if there are rows of snippets, which come last."""

    @property
    def n_records(self) -> int:
        return len(self.codes) if self.records is None else int(self.records.max()) + 1

    def some(self, rows: Array) -> "LabelledRows":
        """Return the rows selected by a mask."""
        weights = None if self.weights is None else self.weights[rows]
        return LabelledRows(self.codes[rows], self.labels[rows], weights=weights)


def read_labelled(
    map: SparseMap,
    inputs: list[Any],
    *,
    vectorizer: object = None,
    source: Texts | Svmlight | str | None = None,
    weight_field: str | None = None,
    reading: Reading | None = None,
    aside: BadTable | None = None,
    snippets: tuple[tuple[int, ...], int] | None = None,
    labels: KindOfLabels = "classes",
) -> LabelledRows:
    """Return the codes of the records of some inputs, and their labels: numbers, or strings for
    texts.

    With "classes", each row of a LIBSVM file needs a label. If any row has several, or with
    "lists", all rows have lists of labels, which may be empty. "numbers" are regression targets.
    With `snippets`, given as their lengths and a seed, rows of snippets of the texts follow the
    rows of all records.

    A single file of codes is memory-mapped; codes of other inputs are held in memory.
    """
    reading = reading or Reading()
    if any(holds_codes(path) for path in inputs):
        return _read_codes(inputs, weight_field, snippets)
    rows: Any = source_for(
        map, vectorizer, source, inputs, multilabel=labels == "lists" or None, learns=True
    )
    rows = rows.with_fields(weight=weight_field, sets_aside=aside is not None)
    rows.check_labels(inputs)
    if rows.has_ngrams:
        rows = replace(rows, of_numbers=labels == "numbers")
    _check_snippets(snippets, rows)
    with contextlib.ExitStack() as stack:
        known, counted = inputs, None
        if rows.has_ngrams and _idf_to_count(rows) is not None:
            known = spooled(known, stack)
            rows = _with_idf(map, rows, known, reading.n_jobs, reading.progress)
            counted = rows.vectorizer
        rows, known = rows.prepared(known, reading.n_jobs, stack)
        short = None if snippets is None else SnippetRows(*snippets, rows.encoder)
        try:
            blocks, weights = _read_blocks(map, rows, known, short, reading, aside)
        except SeveralLabels:  # in rows of LIBSVM files
            rows = replace(rows, multilabel=True)
            blocks, weights = _read_blocks(map, rows, known, short, reading, aside)
        refuse_changes(known)
    if aside is not None:
        aside.finish()
    labelled = _joined(inputs, rows, blocks)
    labelled = labelled._replace(vectorizer=counted, weights=_weights_of(known, weights))
    return labelled if short is None else _with_snippets(labelled, short)


def _joined(inputs: list[Any], rows: Source, blocks: list[LabelledRows]) -> LabelledRows:
    """Return the codes and labels of all blocks. Labels that are numbers of strings become these
    strings. Raise a ValueError if there are no records."""
    if not any(len(block.codes) for block in blocks):
        raise ValueError(f"{', '.join(map(str, inputs))}: there are no records")
    labels = joined_labels(inputs, [block.labels for block in blocks])
    labels = with_values(labels, rows.named(values_of(labels)))
    return LabelledRows(PackedCodes.concatenate([block.codes for block in blocks]), labels)


def _read_codes(
    inputs: list[Any],
    weight_field: str | None,
    snippets: tuple[tuple[int, ...], int] | None,
) -> LabelledRows:
    """Return the codes of files of codes, with the labels and weights stored next to them."""
    _check_snippets(snippets, None)
    coded = [path for path in inputs if holds_codes(path)]
    if len(coded) < len(inputs):
        raise ValueError(f"{coded[0]} has codes, and other inputs do not: use one kind of input")
    # Raises if a field is given.
    LibsvmRows().with_fields(weight=weight_field, sets_aside=False)
    parts = [_coded_and_labelled(path) for path in coded]
    are_strings = [values_of(part.labels).dtype.kind == "U" for part in parts]
    if len(set(are_strings)) > 1:
        strings, numbers = (coded[are_strings.index(kind)] for kind in (True, False))
        raise ValueError(f"labels in {strings} are strings, labels in {numbers} numbers")
    codes = parts[0].codes
    if len(parts) > 1:
        codes = PackedCodes.concatenate([part.codes for part in parts])
    labels = joined_labels(coded, [part.labels for part in parts])
    weights = _weights_of(coded, [part.weights for part in parts])
    return LabelledRows(codes, labels, weights=weights)


def _read_blocks(
    map: SparseMap,
    rows: Source,
    inputs: list[Any],
    short: SnippetRows | None,
    reading: Reading,
    aside: BadTable | None,
) -> tuple[list[LabelledRows], list[Array | None]]:
    """Return the records of inputs in blocks, and the weights of records. Snippets of texts are
    added to `short`."""
    n_jobs = reading.n_jobs
    blocks: list[LabelledRows] = []
    weights: list[Array | None] = []
    convert: Any = partial(_labelled if short is None else _labelled_with_texts, map)
    attempt = contextlib.nullcontext() if aside is None else aside.attempt()
    with FileProgress(inputs, reading.progress, "codes") as bar, attempt as table:
        for input in inputs:
            n_before = len(blocks)
            read: Any = read_rows(rows, input, convert, n_jobs=n_jobs, bar=bar, aside=table)
            blocks += read if short is None else short.take(read, n_jobs)
            some = blocks[n_before:]
            if not rows.has_ngrams:
                weights.append(weights_beside(input, sum(len(part.codes) for part in some)))
            elif any(part.weights is not None for part in some):
                weights += [part.weights for part in some]
    return blocks, weights


def _with_snippets(rows: LabelledRows, short: SnippetRows) -> LabelledRows:
    """Return the rows of records, followed by the rows of their snippets."""
    codes, records = short.after(rows.codes)
    weights = None if rows.weights is None else rows.weights[records]
    return rows._replace(codes=codes, labels=rows.labels[records], weights=weights, records=records)


def _weights_of(inputs: list[Any], weights: list[Array | None]) -> Array | None:
    """Return the weights of all records. Raise ValueError if all of them are 0."""
    joined = joined_weights(inputs, weights)
    if joined is not None and not joined.any():
        raise ValueError(f"{', '.join(map(str, inputs))}: all records have the weight 0")
    return joined


def _check_snippets(snippets: tuple[tuple[int, ...], int] | None, rows: Source | None) -> None:
    """Raise a ValueError if snippets are requested of rows that are not texts. `rows` is None for
    codes."""
    if snippets is not None and (rows is None or not rows.has_ngrams):
        said, found = setting("snippets", snippets[0]), "codes" if rows is None else "rows"
        raise ValueError(f"{said} is for raw texts, and the inputs are {found}")


def _idf_to_count(rows: TextRows) -> tuple[Any, Any] | None:
    """Return a vectorizer and its weights of n-grams if these are not fitted yet; None without
    such weights or with fitted ones."""
    from sparsemaps.text._weighted_ngrams import to_fit

    return to_fit(rows.vectorizer)


def _with_idf(
    map: SparseMap, rows: TextRows, inputs: list[Any], n_jobs: int | None, progress: bool | None
) -> TextRows:
    """Return the rows of texts whose n-grams are weighted by document frequencies, from the inputs
    or from a given table."""
    from sparsemaps.files._frequency_stages import add_records
    from sparsemaps.text._idf import IdfWeights
    from sparsemaps.text._weighted_ngrams import NgramsByTable, WeightedNgrams

    parts = _idf_to_count(rows)
    assert parts is not None
    inner, asked = parts
    if rows.given.frequencies is not None:
        table = os.fspath(rows.given.frequencies)
        weights = NgramsByTable(inner, table, asked.power, asked.levels).weights
    else:
        weights = _sklearn.clone(asked)
        counts = Frequencies(weights.n_buckets)
        plain = replace(rows, vectorizer=inner, encoder=None)
        with FileProgress(inputs, progress, "frequencies") as bar:
            add_records(counts, plain, inputs, bar, n_jobs)
        weights = IdfWeights.of_frequencies(
            counts, width_of(inner), power=asked.power, levels=asked.levels,
            sublinear_tf=asked.sublinear_tf,
        )  # fmt: skip
    vectorizer = WeightedNgrams(inner, weights)
    return replace(rows, vectorizer=vectorizer, encoder=TextEncoder(map, vectorizer))


def _labelled(map: SparseMap, block: Batch) -> LabelledRows:
    weights = None if block.weights is None else np.array(block.weights, np.float64)
    heads = block.exact_heads()
    labels: Labels = np.array(heads.labels)
    check_labels(block)
    if block.has_lists:
        labels = LabelLists(np.array(heads.labels), np.array(heads.label_ends))
    return LabelledRows(codes_of(map, block), labels, weights=weights)


def _labelled_with_texts(map: SparseMap, block: Batch) -> tuple[LabelledRows, Any]:
    return _labelled(map, block), block.texts


def _coded_and_labelled(path: StrPath) -> LabelledRows:
    codes = PackedCodes.load(path)
    beside = os.fspath(path) + LABELS
    if not _paths.exists(beside):
        raise ValueError(f"{path}: its labels are not in {beside}")
    labels = labels_beside(path, len(codes))
    if _paths.exists(os.fspath(path) + CLASSES):
        names, values = _names_in(os.fspath(path) + CLASSES), values_of(labels)
        if not np.isin(values, np.arange(len(names))).all():
            raise ValueError(f"{beside}: not all labels are in the table {path}{CLASSES}")
        labels = with_values(labels, np.array(names)[values.astype(np.intp)])
    place = not_finite(values_of(labels))
    if place is not None:
        raise ValueError(f"{beside}: label {place + 1} is {values_of(labels)[place]}; {ALL_FINITE}")
    return LabelledRows(codes, labels, weights=weights_beside(path, len(codes)))


def _names_in(path: str) -> list[str]:
    """Return the labels of a table, which are numbered from 0."""
    names = []
    with open_regular(path) as raw, io.TextIOWrapper(raw, "utf-8", newline="\n") as file:
        for number, line in enumerate(file):
            first, tab, text = line.removesuffix("\n").partition("\t")
            if first != str(number) or not tab:
                raise ValueError(f"{path}: line {number + 1}: expected {number}, a tab and a label")
            names.append(unescaped(text))
    return names


def source_for(
    map: SparseMap,
    vectorizer: object,
    source: GivenSource,
    paths: list[Any],
    *,
    multilabel: bool | None = True,
    learns: bool = False,
) -> Source:
    """Return the source of a model's rows: texts if it has a vectorizer, or else LIBSVM files. The
    weights of a model that `learns` are counted on the inputs."""
    given: Any = as_source(source)
    refuse_options(given, "max_df", *([] if learns else ["idf"]))
    if given is not None and isinstance(given, Texts) == (vectorizer is None):
        raise ValueError(
            "the model has no vectorizer: its inputs are not texts"
            if vectorizer is None
            else "the model has a vectorizer: its inputs are texts, not LIBSVM files"
        )
    if vectorizer is not None:
        given = given or Texts()
        if given.format is None:
            _refuse_rows(paths)
        return _texts_for(map, vectorizer, given, learns=learns)
    for path in paths:
        if cannot_be_rows(path):
            raise ValueError(f"{path} is a file of texts, and the model has no vectorizer")
    return LibsvmRows(given or Svmlight(), multilabel)


def _refuse_rows(paths: list[Any]) -> None:
    """Raise a ValueError if an input of texts begins with a row of LIBSVM text. Inputs whose names
    determine the format of texts are not opened."""
    for path in paths:
        if is_regular(path) and format_by_name(path) is None and _begins_with_a_row(path):
            name = os.fspath(path)
            raise ValueError(f"{name} is a LIBSVM file, and the model has a vectorizer for texts")


def _begins_with_a_row(path: StrPath) -> bool:
    with contextlib.suppress(OSError, EOFError, ValueError):
        blocks = iter_svmlight_file(path, block_bytes=2**12, multilabel=True, zero_based=True)
        return any(X.nnz > 0 for X, _ in itertools.islice(blocks, 1))
    return False


def _texts_for(map: SparseMap, vectorizer: Any, given: Texts, *, learns: bool) -> TextRows:
    """Return the texts of a model's vectorizer. Raise ValueError for another analyzer than the
    model's."""
    from sparsemaps.text._analyzers import as_vectorizer, vectorizer_of
    from sparsemaps.text._descriptions import vectorizer_config
    from sparsemaps.text._weighted_ngrams import plain as without_weights

    vectorizer = as_vectorizer(vectorizer, binary=map.law.is_of_sets)
    inner = without_weights(vectorizer)
    if learns and given.idf is not None and inner is vectorizer:
        from sparsemaps.text._idf import IdfWeights
        from sparsemaps.text._weighted_ngrams import WeightedNgrams

        refuse_weights_of_sets(map, given)
        weights = IdfWeights(power=given.idf, levels=given.idf_levels)
        vectorizer = WeightedNgrams(inner, weights)
    plain: dict[str, Any] = {"analyzer": Texts.analyzer, "token_pattern": None, "normalize": None}
    if given != replace(given, **plain):
        said = vectorizer_of(
            given.analyzer, token_pattern=given.token_pattern, normalize=given.normalize
        )
        one, other = (vectorizer_config(each, values=False) for each in (said, inner))
        if one != other:
            raise ValueError(f"the model has a different vectorizer than {given.analyzer}")
    return TextRows(vectorizer, given, encoder=TextEncoder(map, vectorizer))
