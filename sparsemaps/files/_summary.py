"""Summaries of files: LIBSVM text, and what the package writes, with the map that made it."""

import contextlib
import os
import shlex
from collections.abc import Iterator

import numpy as np

from sparsemaps._io._array_files import ArrayKind, read_array
from sparsemaps._io._described_files import is_marked
from sparsemaps._io._progress import FileProgress
from sparsemaps._io._sources import (
    CLASSES,
    IDS,
    LABELS,
    QIDS,
    RECEIPT,
    WEIGHTS,
    is_standard,
    known_inputs,
)
from sparsemaps._tools._typing import Array
from sparsemaps._tools._whole_numbers import is_held
from sparsemaps.codes import _file
from sparsemaps.codes._code_checks import TEXTS
from sparsemaps.codes._packed import open_file
from sparsemaps.files._job_options import Svmlight
from sparsemaps.files._libsvm_rows import LibsvmRows
from sparsemaps.files._recipes import read_receipt
from sparsemaps.files._record_labels import Model, labels_beside, values_of
from sparsemaps.files._rows import read_rows
from sparsemaps.linear import KernelClassifier, load_model
from sparsemaps.linear._model_file import MARK
from sparsemaps.linear._training_facts import TrainingFacts
from sparsemaps.records._table import cannot_be_rows
from sparsemaps.text import _frequencies
from sparsemaps.text._analyzers import spec_of

_LARGEST_COUNT = 1000  # of different labels that are counted

_SHOWN_CLASSES = 20

_LONGEST_HEADER = 2**12
"""Bytes of a comment, and characters of options, that are shown."""


class Summary:
    """The numbers of rows, entries and labels, and their ranges, in blocks that are added."""

    def __init__(self) -> None:
        self.n_rows = self.n_entries = self.n_qids = 0
        self._columns: tuple[int, int] | None = None
        self._values: tuple[float, float] | None = None
        self._labels: dict[float | int, int] = {}

    def add_entries(self, indices: Array, values: Array) -> None:
        if not len(indices):
            return
        self.n_entries += len(indices)
        low, high = self._columns or (int(indices[0]), int(indices[0]))
        self._columns = min(low, int(indices.min())), max(high, int(indices.max()))
        least, largest = self._values or (values[0], values[0])
        self._values = min(least, values.min()), max(largest, values.max())

    def add_labels(self, labels: Array) -> None:
        found, counts = np.unique(labels, return_counts=True)
        for label, count in zip(found.tolist(), counts.tolist(), strict=True):
            if len(self._labels) <= _LARGEST_COUNT:
                self._labels[label] = self._labels.get(label, 0) + count

    def lines(self) -> Iterator[str]:
        yield f"rows     {self.n_rows}"
        yield "columns  " + ("{} to {}".format(*self._columns) if self._columns else "none")
        a_row = f" ({self.n_entries / self.n_rows:.1f} a row)" if self.n_rows else ""
        yield f"entries  {self.n_entries}{a_row}"
        yield "values   " + ("{:g} to {:g}".format(*self._values) if self._values else "none")
        yield self.labels_line()
        if self.n_qids:
            yield f"qids     {self.n_qids}"

    def labels_line(self) -> str:
        labels = self._labels
        if len(labels) > _SHOWN_CLASSES:
            number = f"over {_LARGEST_COUNT}" if len(labels) > _LARGEST_COUNT else str(len(labels))
            return f"labels   {number} of {_shown(min(labels))} to {_shown(max(labels))}"
        counts = ", ".join(f"{_shown(label)}: {count}" for label, count in sorted(labels.items()))
        return f"labels   {counts or 'none'}"


def _shown(label: float | int) -> str:
    """Return a label. Whole numbers have all their digits."""
    is_whole = isinstance(label, int) or (label.is_integer() and is_held(int(label)))
    return str(int(label)) if is_whole else f"{label:g}"


def summarize(path: str, *, n_jobs: int | None = None, progress: bool | None = None) -> list[str]:
    """Return the lines of the summary of a file."""
    if is_standard(path):
        return list(_of_text(path, n_jobs, progress))
    if os.path.isfile(path) and is_marked(path, MARK):
        return list(_of_model(path))
    if os.path.isfile(path) and is_marked(path, _frequencies.MARK):
        return list(_of_frequencies(path))
    if path.endswith((LABELS, QIDS, CLASSES, IDS, WEIGHTS[0])) or _is_receipt(path):
        raise ValueError(
            f"{path}: expected a LIBSVM file, codes, an index or a model; info of an output "
            "describes the files beside it"
        )
    if path.endswith(".npy"):
        return list(_of_npy(path))
    if cannot_be_rows(path):
        raise ValueError(
            f"{path} is a file of texts by its name, and {_DESCRIBED}; "
            f"'sparsemaps text {shlex.quote(path)} --field FIELD -o - | sparsemaps info -' "
            "counts its records and n-grams"
        )
    try:
        lines = list(_of_text(path, n_jobs, progress))
    except ValueError as error:
        if ": line 1, " in str(error):
            raise ValueError(f"{error}; {_DESCRIBED}") from None
        raise
    return [*lines, *_of_receipt_beside(path)]


_DESCRIBED = "info describes LIBSVM files, codes, indexes, models and tables of frequencies"


def _is_receipt(path: str) -> bool:
    """Return whether a name is that of an output, which has an ending, with RECEIPT."""
    output = path.removesuffix(RECEIPT)
    return output != path and os.path.splitext(output)[1] != ""


def _of_text(path: str, n_jobs: int | None, progress: bool | None) -> Iterator[str]:
    summary, header = Summary(), b""
    (input,) = known_inputs([path])
    with FileProgress([input], progress) as bar:
        source = LibsvmRows(Svmlight(zero_based=True))
        for block in read_rows(source, input, lambda block: block, n_jobs=n_jobs, bar=bar):
            if not summary.n_rows and block.text.startswith(b"#"):
                header = block.text[:_LONGEST_HEADER].partition(b"\n")[0].strip(b"# \r")
            summary.n_rows += block.n_rows
            summary.n_qids += len(block.heads.qids)
            summary.add_entries(block.X.indices, block.X.data)
            summary.add_labels(block.exact_heads().labels)
    if header:
        yield f"header   {header.decode('utf-8', 'backslashreplace')}"
    yield from summary.lines()


def _of_npy(path: str) -> Iterator[str]:
    if is_marked(path, _file.MARK):
        yield from _of_codes(path)
        return
    array = read_array(path, ArrayKind(np.uint8, (None, None)), mmap=True)
    yield f"rows     {len(array)}"
    yield f"codes    {array.shape[1]} bytes a row, of a map that the file does not name"


def _of_codes(path: str) -> Iterator[str]:
    codes, contents = open_file(path, "r")
    summary = Summary()
    if os.path.exists(path + LABELS):
        summary.add_labels(values_of(labels_beside(path, len(codes))))
    n_without = len(codes) - int(np.count_nonzero(codes.sampled))
    yield f"rows     {len(codes)}" + (f" ({n_without} without samples)" if n_without else "")
    yield f"codes    {codes.n_hashes} of {codes.bits} bits, {codes.shape[1]} bytes a row"
    yield from _of_config(codes.config)
    if "index" in contents.description:
        description = contents.description
        parameters = ", ".join(f"{name}={value}" for name, value in description["index"].items())
        yield f"index    version {description.get('index_version')}, {parameters}"
        if "bands" in description:
            length, n_bands = description["bands"][:2]
            yield f"tables   {n_bands} bands of {length} codes"
    yield summary.labels_line()
    if os.path.exists(path + QIDS):
        yield f"qids     {len(read_array(path + QIDS, ArrayKind(None, (len(codes),))))}"


def _of_model(path: str) -> Iterator[str]:
    """Yield lines about a linear model, its map and its vectorizer."""
    model = load_model(path)
    parameters = model.get_params(deep=False)
    for name in ("map", "vectorizer", "random_state", "n_jobs"):
        del parameters[name]
    yield f"model    {_call({'class': type(model).__name__, 'parameters': parameters})}"
    if isinstance(model, KernelClassifier):
        labels = model.classes_.tolist()
        shown = ", ".join(map(repr, labels[:_SHOWN_CLASSES]))
        more = ", ..." if len(labels) > _SHOWN_CLASSES else ""
        several = ", several a record" if model.multilabel_ else ""
        yield f"classes  {len(labels)}{several}: {shown}{more}"
        by_loss = f"by the loss {model.loss}" if hasattr(model, "predict_proba") else "none"
        yield f"probas   {'calibrated' if hasattr(model, 'calibration_') else by_loss}"
    yield f"weights  {model.coef_.size}"
    yield from _of_training(model)
    config = model.map_.to_config()
    if model.vectorizer is not None:
        from sparsemaps.text._descriptions import vectorizer_config

        config[TEXTS] = vectorizer_config(model.vectorizer_)
    yield from _of_config(config)


def _of_frequencies(path: str) -> Iterator[str]:
    """Yield lines about a table of how many records have an n-gram or a column."""
    table, description = _frequencies.read(path)
    n_rows, n_buckets = table.counts.shape
    yield f"records  {table.n_records}"
    yield f"table    {n_rows} x {n_buckets} buckets of {table.counts.itemsize} bytes"
    yield f"largest  {int(table.counts.max(initial=0))} records in a bucket"
    if isinstance(description.get("parameters"), dict):
        yield f"weights  {_call(description)}"


def _of_training(model: Model) -> Iterator[str]:
    """Yield lines about when and on what a model was trained, if its file says so."""
    facts: TrainingFacts | None = vars(model).get("_facts")
    if facts is None:
        return
    weight = "" if facts.weight is None else f", weights of {facts.weight:.6g} in all"
    yield f"trained  {facts.date} on {facts.n_records} records{weight}"
    if facts.options:
        given = ", ".join(f"{name}={value!r}" for name, value in facts.options.items())
        yield f"options  {given[:_LONGEST_HEADER]}"
    score = "accuracy" if isinstance(model, KernelClassifier) else "R2"
    score = "F1" if getattr(model, "multilabel_", False) else score
    if facts.validation is not None:
        n_records, value = facts.validation
        kind = " (micro)" if score == "F1" else ""
        yield f"{score:9}{value:.4f}{kind} on {n_records} records of validation"
    if facts.scores:
        parts = (
            f"{C:g}: {value:.4f}" + ("" if error is None else f" (error {error:.4f})")
            for C, value, error in facts.scores
        )
        yield f"C        {score} of {', '.join(parts)}"


def _of_receipt_beside(output: str) -> Iterator[str]:
    """Yield lines about the map of an output, if its receipt names it."""
    with contextlib.suppress(OSError):
        with open(output + RECEIPT, "rb") as file:
            recipe = read_receipt(file.read()).get("recipe")
        if isinstance(recipe, dict):
            yield from _of_config(recipe.get("map"))


def _of_config(config: object) -> Iterator[str]:
    """Yield lines about a map, and about the vectorizer of texts if there is one."""
    if not isinstance(config, dict) or "class" not in config:
        return
    yield f"map      {_call(config)}"
    yield f"seed     {config.get('seed')}"
    yield f"scheme   {config.get('scheme', 'not known')}"
    width = config.get("n_features")
    yield f"width    {'any' if width is None else width}"
    texts = config.get(TEXTS)
    if not isinstance(texts, dict):
        return
    spec = spec_of(texts)
    if spec is not None:
        yield f"ngrams   {spec}"
    yield f"texts    {_call(texts)}"
    if isinstance(texts.get("idf"), dict):
        yield f"weights  {_call(texts['idf'])}, of {texts['idf'].get('n_records')} records"


def _call(value: object) -> str:
    """Return the Python code that makes a map or a vectorizer."""
    if isinstance(value, dict) and {"class", "parameters"} <= value.keys():
        parameters = value["parameters"].items()
        return f"{value['class']}({', '.join(f'{n}={_call(v)}' for n, v in parameters)})"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(_call(item) for item in value)})"
    return repr(value)
