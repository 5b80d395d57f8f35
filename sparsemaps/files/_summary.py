"""Summaries of files: LIBSVM text, and files written by this package, with the map that made
them."""

import contextlib
import os
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

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
from sparsemaps._io._text_input import UnreadableRecord
from sparsemaps._tools._checks import finite_or_none
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array
from sparsemaps._tools._whole_numbers import is_held
from sparsemaps.codes import _file
from sparsemaps.codes._code_checks import TEXTS
from sparsemaps.codes._packed import open_file
from sparsemaps.files._job_options import Svmlight
from sparsemaps.files._libsvm_rows import LibsvmRows
from sparsemaps.files._recipes import read_receipt
from sparsemaps.files._record_labels import (
    Model,
    labels_beside,
    name_of,
    name_of_score,
    plain_label,
    values_of,
)
from sparsemaps.files._rows import read_rows
from sparsemaps.linear import KernelClassifier, load_model
from sparsemaps.linear._model_file import MARK
from sparsemaps.linear._training_facts import TrainingFacts
from sparsemaps.records._table import cannot_be_rows
from sparsemaps.text import _frequencies
from sparsemaps.text._analyzers import spec_of

_LARGEST_COUNT = 1000  # distinct labels that are counted

_SHOWN_CLASSES = 20

_LONGEST_HEADER = 2**12
"""Largest number of shown bytes of a comment, and of characters of options."""


class Fact(NamedTuple):
    """A fact of a summary, with its name, in words and as a value."""

    name: str
    words: str
    value: Any
    """A value for JSON: None, a number, a string, a list or a mapping."""
    key: str | None = None
    """The name of the value, if it differs from `name`."""

    @property
    def line(self) -> str:
        return f"{self.name:9}{self.words}"

    @property
    def item(self) -> tuple[str, Any]:
        return self.key or self.name, self.value


class Summary:
    """The numbers of rows, entries and labels, and their ranges, accumulated over blocks."""

    def __init__(self) -> None:
        self.n_rows = self.n_entries = self.n_qids = 0
        self._columns: tuple[int, int] | None = None
        self._values: tuple[float, float] | None = None
        self._labels: dict[float | int, int] = {}
        self._ends: tuple[float | int, float | int] | None = None

    def add_entries(self, indices: Array, values: Array) -> None:
        if not len(indices):
            return
        self.n_entries += len(indices)
        low, high = self._columns or (int(indices[0]), int(indices[0]))
        self._columns = min(low, int(indices.min())), max(high, int(indices.max()))
        least, largest = self._values or (values[0], values[0])
        self._values = min(least, values.min()), max(largest, values.max())

    def add_labels(self, labels: Array) -> None:
        if not len(labels):
            return
        found, counts = np.unique(labels, return_counts=True)
        low, high = self._ends or (found[0].item(), found[0].item())
        self._ends = min(low, found[0].item()), max(high, found[-1].item())
        for label, count in zip(found.tolist(), counts.tolist(), strict=True):
            if len(self._labels) <= _LARGEST_COUNT:
                self._labels[label] = self._labels.get(label, 0) + count

    def facts(self) -> Iterator[Fact]:
        yield Fact("rows", str(self.n_rows), self.n_rows)
        columns, values = self._columns, self._values
        yield Fact("columns", "{} to {}".format(*columns) if columns else "none", columns)
        a_row = f" ({self.n_entries / self.n_rows:.1f} a row)" if self.n_rows else ""
        yield Fact("entries", f"{self.n_entries}{a_row}", self.n_entries)
        range_ = values and [finite_or_none(float(value)) for value in values]
        yield Fact("values", "{:g} to {:g}".format(*values) if values else "none", range_)
        yield self.labels()
        if self.n_qids:
            yield Fact("qids", str(self.n_qids), self.n_qids)

    def labels(self) -> Fact:
        """Return the frequency of each label, or the least and the largest label if there are
        many."""
        counts, ends = sorted(self._labels.items()), self._ends
        is_counted = len(counts) <= _LARGEST_COUNT
        value = {name_of(label): count for label, count in counts} if is_counted else None
        if ends is not None and len(counts) > _SHOWN_CLASSES:
            n = len(counts) if is_counted else f"over {_LARGEST_COUNT}"
            return Fact("labels", f"{n} of {_shown(ends[0])} to {_shown(ends[1])}", value)
        words = ", ".join(f"{_shown(label)}: {count}" for label, count in counts)
        return Fact("labels", words or "none", value)


def _shown(label: float | int) -> str:
    """Return a label as text. Whole numbers have all their digits."""
    is_whole = isinstance(label, int) or (label.is_integer() and is_held(int(label)))
    return str(int(label)) if is_whole else f"{label:g}"


def summarize(path: str, *, n_jobs: int | None = None, progress: bool | None = None) -> list[Fact]:
    """Return the facts about a file, in order."""
    if is_standard(path):
        return list(_of_text(path, n_jobs, progress))
    if os.path.isfile(path) and is_marked(path, MARK):
        return list(_of_model(path))
    if os.path.isfile(path) and is_marked(path, _frequencies.MARK):
        return list(_of_frequencies(path))
    if os.path.isdir(path):
        raise ValueError(f"{path} is a directory: name a file of it; {_DESCRIBED}")
    if path.endswith((LABELS, QIDS, CLASSES, IDS, WEIGHTS[0])) or _is_receipt(path):
        raise ValueError(
            f"{path}: expected a LIBSVM file, codes, an index or a model; info of an output "
            "describes the files beside it"
        )
    if path.endswith(".npy"):
        return list(_of_npy(path))
    if cannot_be_rows(path):
        raise ValueError(
            f"{path} is a file of records by its name, and {_DESCRIBED}; "
            f"'sparsemaps text {shlex.quote(path)} --field FIELD -o - | sparsemaps info -' "
            "counts its records and n-grams"
        )
    try:
        facts = list(_of_text(path, n_jobs, progress))
    except UnreadableRecord as error:
        if error.may_be_all:
            raise ValueError(f"{error.message}; {_DESCRIBED}") from None
        raise
    return [*facts, *_of_receipt_beside(path)]


_DESCRIBED = "info describes LIBSVM files, codes, indexes, models and tables of frequencies"


def _is_receipt(path: str) -> bool:
    """Return whether a file has the name of an output's receipt."""
    output = path.removesuffix(RECEIPT)
    return output != path and os.path.splitext(output)[1] != ""


def _of_text(path: str, n_jobs: int | None, progress: bool | None) -> Iterator[Fact]:
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
        words = header.decode("utf-8", "backslashreplace")
        yield Fact("header", words, words)
    yield from summary.facts()


def _of_npy(path: str) -> Iterator[Fact]:
    if is_marked(path, _file.MARK):
        yield from _of_codes(path)
        return
    array = read_array(path, ArrayKind(np.uint8, (None, None)), mmap=True)
    yield Fact("rows", str(len(array)), len(array))
    n_bytes = array.shape[1]
    words = f"{counted(n_bytes, 'bytes')} per row, of a map that the file does not name"
    yield Fact("codes", words, {"bytes": n_bytes})


def _of_codes(path: str) -> Iterator[Fact]:
    codes, contents = open_file(path, "r")
    summary = Summary()
    if os.path.exists(path + LABELS):
        summary.add_labels(values_of(labels_beside(path, len(codes))))
    n_rows, n_bytes = codes.shape
    n_without = n_rows - int(np.count_nonzero(codes.sampled))
    without = f" ({n_without} without samples)" if n_without else ""
    yield Fact("rows", f"{n_rows}{without}", n_rows)
    size = counted(n_bytes, "bytes")
    words = f"{codes.n_hashes} of {counted(codes.bits, 'bits')}, {size} per row"
    value = {"hashes": codes.n_hashes, "bits": codes.bits, "bytes": n_bytes, "empty": n_without}
    yield Fact("codes", words, value)
    yield from _of_config(codes.config)
    if "index" in contents.description:
        description = contents.description
        index, version = description["index"], description.get("index_version")
        parameters = ", ".join(f"{name}={value}" for name, value in index.items())
        words = f"version {version}, {parameters}"
        yield Fact("index", words, {"version": version, **index})
        if "bands" in description:
            length, n_bands = description["bands"][:2]
            words = f"{counted(n_bands, 'bands')} of {counted(length, 'codes')}"
            yield Fact("tables", words, {"bands": n_bands, "length": length})
    yield summary.labels()
    if os.path.exists(path + QIDS):
        n_qids = len(read_array(path + QIDS, ArrayKind(None, (n_rows,))))
        yield Fact("qids", str(n_qids), n_qids)


def _of_model(path: str) -> Iterator[Fact]:
    """Yield facts about a linear model, its map and its vectorizer."""
    model = load_model(path)
    parameters = model.get_params(deep=False)
    for name in ("map", "vectorizer", "random_state", "n_jobs"):
        del parameters[name]
    if isinstance(parameters.get("class_weight"), dict):
        pairs = parameters["class_weight"].items()
        parameters["class_weight"] = {plain_label(label): weight for label, weight in pairs}
    made = {"class": type(model).__name__, "parameters": parameters}
    yield Fact("model", _call(made), made)
    if isinstance(model, KernelClassifier):
        labels = [plain_label(label) for label in model.classes_.tolist()]
        shown = ", ".join(
            repr(label) if isinstance(label, str) else name_of(label)
            for label in labels[:_SHOWN_CLASSES]
        )
        more = ", ..." if len(labels) > _SHOWN_CLASSES else ""
        several = ", several a record" if model.multilabel_ else ""
        value = {"labels": labels, "several": model.multilabel_}
        yield Fact("classes", f"{len(labels)}{several}: {shown}{more}", value)
        by_loss = f"by the loss {model.loss}" if hasattr(model, "predict_proba") else "none"
        words = "calibrated" if hasattr(model, "calibration_") else by_loss
        yield Fact("probas", words, words)
    yield Fact("weights", str(model.coef_.size), model.coef_.size)
    yield from _of_training(model)
    config = model.map_.to_config()
    if model.vectorizer is not None:
        from sparsemaps.text._descriptions import vectorizer_config

        config[TEXTS] = vectorizer_config(model.vectorizer_)
    yield from _of_config(config)


def _of_frequencies(path: str) -> Iterator[Fact]:
    """Yield facts about a frequency table of n-grams or columns."""
    table, description = _frequencies.read(path)
    n_rows, n_buckets = table.counts.shape
    n_bytes, largest = table.counts.itemsize, int(table.counts.max(initial=0))
    yield Fact("records", str(table.n_records), table.n_records)
    value = {"rows": n_rows, "buckets": n_buckets, "bytes": n_bytes}
    buckets = counted(n_buckets, "buckets")
    yield Fact("table", f"{n_rows} x {buckets} of {counted(n_bytes, 'bytes')}", value)
    yield Fact("largest", f"{counted(largest, 'records')} in a bucket", largest)
    if isinstance(description.get("parameters"), dict):
        yield _of_weights(description, _call(description))


def _of_training(model: Model) -> Iterator[Fact]:
    """Yield facts about the training of a model, if its file has them."""
    facts: TrainingFacts | None = vars(model).get("_facts")
    if facts is None:
        return
    value: dict[str, Any] = {"date": facts.date, "records": facts.n_records}
    weight = ""
    if facts.weight is not None:
        value, weight = value | {"weight": facts.weight}, f", weights of {facts.weight:.6g} in all"
    yield Fact("trained", f"{facts.date} on {counted(facts.n_records, 'records')}{weight}", value)
    if facts.options:
        given = ", ".join(f"{name}={value!r}" for name, value in facts.options.items())
        yield Fact("options", given[:_LONGEST_HEADER], facts.options)
    score, key = name_of_score(model)
    if facts.validation is not None:
        n_records, reached = facts.validation
        words = f"{score} {reached:.4f} on {counted(n_records, 'records')} of validation"
        yield Fact("score", words, {"records": n_records, key: reached}, "validation")
    if facts.scores:
        parts = (
            f"{C:g}: {value:.4f}" + ("" if error is None else f" (error {error:.4f})")
            for C, value, error in facts.scores
        )
        value = {f"{C:g}": reached for C, reached, _ in facts.scores}
        yield Fact("C", f"{score} of {', '.join(parts)}", value, "scores")


def _of_receipt_beside(output: str) -> Iterator[Fact]:
    """Yield facts about the map of an output, if its receipt names it."""
    with contextlib.suppress(OSError):
        with open(output + RECEIPT, "rb") as file:
            recipe = read_receipt(file.read()).get("recipe")
        if isinstance(recipe, dict):
            yield from _of_config(recipe.get("map"))


def _of_config(config: object) -> Iterator[Fact]:
    """Yield facts about a map, and about the vectorizer of texts if there is one."""
    if not isinstance(config, dict) or "class" not in config:
        return
    yield Fact("map", _call(config), _call_of(config))
    seed, scheme = config.get("seed"), config.get("scheme")
    yield Fact("seed", str(seed), seed)
    yield Fact("scheme", "not known" if scheme is None else str(scheme), scheme)
    width = config.get("n_features")
    yield Fact("width", "any" if width is None else str(width), width)
    texts = config.get(TEXTS)
    if not isinstance(texts, dict):
        return
    spec = spec_of(texts)
    if spec is not None:
        yield Fact("ngrams", spec, spec)
    yield Fact("texts", _call(texts), _call_of(texts))
    idf = texts.get("idf")
    if isinstance(idf, dict):
        yield _of_weights(idf, f"{_call(idf)}, of {counted(idf.get('n_records'), 'records')}")


def _of_weights(idf: dict[str, Any], words: str) -> Fact:
    """Return the weights of n-grams; the fact of a model's own weights has the same name."""
    return Fact("weights", words, {**_call_of(idf), "records": idf.get("n_records")}, "idf")


def _call_of(config: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a configuration that make a map or a vectorizer."""
    return {"class": config.get("class"), "parameters": config.get("parameters")}


def _call(value: object) -> str:
    """Return Python code that makes a map or a vectorizer."""
    if isinstance(value, dict) and {"class", "parameters"} <= value.keys():
        parameters = value["parameters"].items()
        return f"{value['class']}({', '.join(f'{n}={_call(v)}' for n, v in parameters)})"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(_call(item) for item in value)})"
    return repr(value)
