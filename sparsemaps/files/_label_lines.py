"""The lines about records that `predict_files` writes: lines of a table, or JSON Lines."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._io._sources import is_regular
from sparsemaps._tools._escapes import escaped, unescaped
from sparsemaps._tools._parameters import named, setting
from sparsemaps._tools._typing import Array, Destination
from sparsemaps.files._job_options import LineOptions
from sparsemaps.files._record_labels import Model, name_of, plain_label
from sparsemaps.linear import KernelClassifier
from sparsemaps.linear._classifier import probabilities
from sparsemaps.linear._losses import WITH_PROBABILITIES
from sparsemaps.records._table import format_by_name

UNKNOWN = ""
"""The default label of a record without samples, such as a text without an n-gram."""


HAS_PROBA = (
    f"a classifier that is calibrated, or of the loss {' or '.join(WITH_PROBABILITIES)}: train it "
    "with --calibrate, or call calibrate"
)
"""The condition for probabilities, in errors."""


class Scored(NamedTuple):
    """Records with their scores, one column per model."""

    scores: Array
    known: Array
    """The mask of records with samples. The score of the others is the intercept."""
    ids: Sequence[str] | None
    """Their ids as columns of a table."""
    given_ids: Sequence[Any] | None = None
    """Their ids in the input's form."""
    reasons: list[list[tuple[str, float]]] | None = None
    """For each text, the n-grams that contribute most to its score."""


def scores_of_classes(model: Model, scores: Array) -> Array:
    """Return a score for each class. With two classes, a model has only the score of the second."""
    if scores.shape[1] > 1 or has_several(model):
        return scores
    return np.hstack([0.0 - scores, 0.0 + scores])  # avoid negative zeros


def has_several(model: Model) -> bool:
    """Return whether a record may have several labels."""
    return bool(getattr(model, "multilabel_", False))


def check_for(model: Model, options: LineOptions) -> None:
    """Raise a ValueError if options of lines about records do not apply to a model."""
    if not isinstance(model, KernelClassifier):
        for name in ("proba", "top", "min_score", "min_proba", "unknown"):
            value = getattr(options, name)
            if value is not False and value not in (None, UNKNOWN):
                raise ValueError(f"{setting(name, value)} is for classifiers, not for regression")
    if (options.proba or options.min_proba is not None) and not hasattr(model, "predict_proba"):
        name = "proba" if options.proba else "min_proba"
        raise ValueError(f"{setting(name, getattr(options, name))} needs {HAS_PROBA}")


def check_for_table(model: Model, options: LineOptions) -> None:
    """Raise a ValueError if a table would show a label of the model like an unknown record."""
    if options.top is not None or options.unknown != UNKNOWN:
        return  # with `top`, unknown records have no score
    if isinstance(model, KernelClassifier) and UNKNOWN in model.classes_.tolist():
        raise ValueError(
            'the model has the label "", which looks like an unknown record in a table: set '
            f"{named('unknown')}, or write JSON Lines (.jsonl)"
        )


class Labelled(NamedTuple):
    """Records with their labels."""

    shown: Array
    """The number to write for each class: a score or a probability."""
    order: Array
    """Indices of classes, best first: all that may be written."""
    taken: Array
    """The mask of labels that reach the minimum score or probability, for records with samples.
    Without a minimum, in a model with several labels per record, it has the labels that ``predict``
    returns, or with `top` all labels."""


def labelled(model: KernelClassifier, options: LineOptions, part: Scored) -> Labelled:
    """Return the labels of some records."""
    shown = compared = scores = scores_of_classes(model, part.scores)
    if options.proba or options.min_proba is not None:
        shares = probabilities(model, part.scores)
        shown = shares if options.proba else scores
        compared = scores if options.min_proba is None else shares
    several = has_several(model)
    ranked = shown if several else scores  # each label has its own calibration
    if options.top == 1 or (options.top is None and not several):
        order = ranked.argmax(axis=1)[:, None]
    else:
        order = np.argsort(-ranked, axis=1, kind="stable")[:, : options.top]
    least = options.min_score if options.min_proba is None else options.min_proba
    taken = np.broadcast_to(part.known[:, None], order.shape)
    if least is not None:
        taken = taken & (np.take_along_axis(compared, order, axis=1) >= least)
    elif several and options.top is None:
        taken = taken & (np.take_along_axis(scores, order, axis=1) > 0)
    return Labelled(shown, order, taken)


def in_one_column(labels: Iterable[str]) -> str:
    """Join labels, which are columns of a table, into one column, separated by commas. Commas
    within labels are escaped by a backslash."""
    return ",".join(label.replace(",", "\\,") for label in labels)


def refuse_other_formats(output: Destination) -> None:
    """Raise a ValueError if the name of an output implies a format in which labels cannot be
    written."""
    format = format_by_name(output)
    if format is not None and format.name not in ("jsonl", "txt"):
        raise ValueError(
            f"{output}: labels are written as a table with tabs (.tsv) or as JSON Lines (.jsonl), "
            f"not as {format.title}"
        )


class Table:
    """Lines with tab-separated columns, after a header."""

    def __init__(self, model: Model, options: LineOptions, has_ids: bool) -> None:
        self._model, self._options, self._has_ids = model, options, has_ids
        self._names: list[str] = []
        if isinstance(model, KernelClassifier):
            self._names = [escaped(name_of(label)) for label in model.classes_.tolist()]
        self._several = has_several(model)
        self._n_top = min(options.top or 0, len(self._names))

    def header(self) -> bytes:
        columns = ["id" if self._has_ids else "record"]
        value = "proba" if self._options.proba else "score"
        if not self._names:
            columns.append("value")
        elif self._options.top is None:
            columns += ["labels" if self._several else "label", *self._names]
        else:
            numbers = range(1, self._n_top + 1)
            columns += [name for n in numbers for name in (f"label_{n}", f"{value}_{n}")]
        columns += [f"explain_{n + 1}" for n in range(self._options.explain)]
        return ("\t".join(columns) + "\n").encode("utf-8", "surrogatepass")

    def lines(self, part: Scored, found: Labelled | None, first: int) -> bytes:
        """Return lines about records, numbered from `first`. For a regressor, `found` is None."""
        ids = part.ids or range(first, first + len(part.scores))
        columns = self._values(part) if found is None else self._labels(found)
        lines = []
        for id, words, ngrams in zip(ids, columns, _reasons(part), strict=True):
            reasons = [f"{escaped(ngram)} {share:+.4g}" for ngram, share in ngrams]
            blanks = [""] * (self._options.explain - len(reasons))
            lines.append("\t".join([str(id), *words, *reasons, *blanks]) + "\n")
        return "".join(lines).encode("utf-8", "surrogatepass")

    def _values(self, part: Scored) -> Iterator[list[str]]:
        for (value,), is_known in zip(part.scores.tolist(), part.known.tolist(), strict=True):
            yield [f"{value:.9g}" if is_known else UNKNOWN]

    def _labels(self, found: Labelled) -> Iterator[list[str]]:
        unknown, names = escaped(self._options.unknown), self._names
        for row, order, taken in zip(*map(np.ndarray.tolist, found), strict=True):
            best = [number for number, is_taken in zip(order, taken, strict=True) if is_taken]
            if self._options.top is None:
                some = [names[number] for number in best] or [unknown]
                label = in_one_column(some) if self._several else some[0]
                yield [label, *(f"{number:.6g}" for number in row)]
                continue
            words = [word for n in best for word in (self._names[n], f"{row[n]:.6g}")]
            words = words or [unknown]
            yield words + [""] * (2 * self._n_top - len(words))


class JsonLines:
    """One JSON object per line. Numbers have the same digits as in a `Table`."""

    def __init__(self, model: Model, options: LineOptions, has_ids: bool) -> None:
        self._options, self._has_ids = options, has_ids
        self._labels: list[str] = []
        self._keys: list[str] = []
        if isinstance(model, KernelClassifier):
            self._labels = [_dumps(plain_label(label)) for label in model.classes_.tolist()]
            self._keys = [_dumps(name_of(label)) for label in model.classes_.tolist()]
        self._unknown = _dumps(options.unknown) if options.unknown else ""
        self._several = has_several(model)

    def header(self) -> bytes:
        return b""

    def lines(self, part: Scored, found: Labelled | None, first: int) -> bytes:
        """Return lines about records, like `Table.lines`."""
        ids: Sequence[Any] = range(first, first + len(part.scores))
        if part.ids is not None:
            ids = part.given_ids or [unescaped(id) for id in part.ids]
        name = '"id"' if self._has_ids else '"record"'
        members = self._values(part) if found is None else self._of_classes(found)
        lines = []
        for id, own, ngrams in zip(ids, members, _reasons(part), strict=True):
            if self._options.explain:
                pairs = (f"[{_dumps(ngram)}, {share:.4g}]" for ngram, share in ngrams)
                own = f'{own}, "explain": [{", ".join(pairs)}]'
            lines.append(f"{{{name}: {_dumps(id)}, {own}}}\n")
        return "".join(lines).encode("utf-8", "surrogatepass")

    def _values(self, part: Scored) -> Iterator[str]:
        for (value,), is_known in zip(part.scores.tolist(), part.known.tolist(), strict=True):
            yield f'"value": {value:.9g}' if is_known else '"value": null'

    def _of_classes(self, found: Labelled) -> Iterator[str]:
        value = '"probas"' if self._options.proba else '"scores"'
        for row, order, taken in zip(*map(np.ndarray.tolist, found), strict=True):
            best = [number for number, is_taken in zip(order, taken, strict=True) if is_taken]
            labels = ", ".join(self._labels[number] for number in best)
            labels = labels or self._unknown
            if self._options.top is None:
                pairs = (f"{k}: {x:.6g}" for k, x in zip(self._keys, row, strict=True))
                label = f'"labels": [{labels}]' if self._several else f'"label": {labels or "null"}'
                yield f"{label}, {value}: {{{', '.join(pairs)}}}"
                continue
            numbers = ", ".join(f"{row[number]:.6g}" for number in best)
            yield f'"labels": [{labels}], {value}: [{numbers}]'


Form = type[Table] | type[JsonLines]
"""A class that formats lines about records."""


def form_of(output: Destination) -> Form:
    """Return the form of the lines of an output: JSON Lines if its name ends like theirs."""
    format = format_by_name(output) if is_regular(output) else None
    return JsonLines if format is not None and format.name == "jsonl" else Table


def _reasons(part: Scored) -> list[list[tuple[str, float]]]:
    return part.reasons or [[]] * len(part.scores)


def _dumps(value: object) -> str:
    """Return a value as JSON. Only unpaired surrogates, which UTF-8 lacks, are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text
