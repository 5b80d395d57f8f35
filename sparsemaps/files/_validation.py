"""Evaluation of a model on records with labels."""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._tools._checks import LARGEST_REAL
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._parameters import named
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._portable_math import weighted_sum
from sparsemaps._tools._typing import Array
from sparsemaps._tools._whole_numbers import are_equal
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._labelled_rows import LabelledRows
from sparsemaps.files._record_labels import Labels, Model, as_lists, name_of, values_of
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.linear._indicators import LabelLists
from sparsemaps.linear._path_of_C import are_all_equal


class Validation(NamedTuple):
    """The evaluation of a model on records that it was not trained on."""

    n_records: int
    score: float
    """The accuracy; micro F1 if records have lists of labels; R2 for regression."""
    lines: list[str]
    """The figures as text, with a confusion matrix if there are few classes."""
    figures: dict[str, float]
    """The figures by their names."""


def validation(model: Model, rows: LabelledRows) -> Validation:
    """Evaluate a model on records with labels."""
    if isinstance(rows.labels, LabelLists):
        several = figures_of_lists(model, rows.codes, rows.labels, rows.weights)
        line = f"{_counted(rows)}, {several.line()}"
        return Validation(len(rows.codes), several.micro_f1, [line], several.by_name())
    known = np.zeros(0) if isinstance(model, KernelRegressor) else model.classes_
    rows = comparable(model, known, rows)
    if isinstance(model, KernelRegressor):
        return _of_numbers(model, rows)
    return _of_classes(model, rows)


def _of_numbers(model: KernelRegressor, rows: LabelledRows) -> Validation:
    """Evaluate a regressor."""
    labels, weights = values_of(rows.labels).astype(np.float64), rows.weights
    squares = (labels - model.predict(rows.codes)) ** 2
    mean = float(np.average(squares, weights=weights))
    around = (labels - np.average(labels, weights=weights)) ** 2
    spread = float(np.average(around, weights=weights))
    share = math.nan if are_all_equal(labels, weights) else 1 - mean / spread
    r2 = _shown(share, "the labels are equal")
    line = f"{_counted(rows)}, root mean square error {mean**0.5:.6g}, R2 {r2}"
    return Validation(len(labels), share, [line], {"rmse": mean**0.5, "r2": share})


def _of_classes(model: KernelClassifier, rows: LabelledRows) -> Validation:
    """Evaluate a classifier on records with one label each."""
    found, labels = model.predict(rows.codes), values_of(rows.labels)
    right = float(np.average(are_equal(found, labels), weights=rows.weights))
    lines, figures = [f"{_counted(rows)}, accuracy {right:.4f}"], {"accuracy": right}
    classes = model.classes_
    if len(classes) == 2:
        scores = model.decision_function(rows.codes)
        share = area_under_curve(scores, are_equal(labels, classes[1:]), rows.weights)
        area = _shown(share, "the records do not have both classes")
        lines[0] += f", area under the ROC curve {area}"
        figures["area"] = share
    if len(classes) <= _TABLE:
        lines += _confusion(classes, rows, found)
    return Validation(len(found), right, lines, figures)


_TABLE = 12
"""Largest number of classes for which a confusion matrix is printed."""


def _shown(share: float, reason: str) -> str:
    """Return a figure as text; the reason why there is none if it is NaN."""
    return f"undefined ({reason})" if math.isnan(share) else f"{share:.4f}"


def _counted(rows: LabelledRows) -> str:
    """Return the number of records, and the sum of their weights, in words."""
    words = f"{counted(len(rows.codes), 'records')}"
    return words if rows.weights is None else f"{words} of weight {rows.weights.sum():.6g}"


def area_under_curve(scores: Array, positive: Array, weights: Array | None = None) -> float:
    """Return the probability that a positive record has a higher score than another record; equal
    scores count half. Records are drawn with their weights."""
    _, place = np.unique(scores, return_inverse=True)
    weights = np.ones(len(scores)) if weights is None else weights
    ours, others = np.bincount(place, weights * positive), np.bincount(place, weights * ~positive)
    below = np.cumsum(others) - others / 2
    n_pairs = float(ours.sum()) * float(others.sum())
    return weighted_sum(ours, below) / n_pairs if n_pairs else math.nan


def _confusion(classes: Array, rows: LabelledRows, found: Array) -> list[str]:
    """Return the lines of a confusion matrix: a row for each true class and a column for each
    predicted class, with numbers of records or sums of their weights."""
    labels, known = values_of(rows.labels), classes.tolist()
    names = known + sorted(set(labels.tolist()) - set(known))
    number = {label: n for n, label in enumerate(names)}
    counts = np.zeros((len(names), len(known)), np.int64 if rows.weights is None else np.float64)
    where = [number[label] for label in labels.tolist()], [number[one] for one in found.tolist()]
    np.add.at(counts, where, 1 if rows.weights is None else rows.weights)
    shown = [escaped(name_of(label)) for label in names]
    lines = ["\t".join(["label \\ predicted", *shown[: len(known)]])]
    for name, row in zip(shown, counts.tolist(), strict=True):
        lines.append(
            "\t".join([name, *(f"{n:.6g}" if isinstance(n, float) else str(n) for n in row)])
        )
    return lines


def comparable(model: Model, labels: Labels, others: LabelledRows) -> LabelledRows:
    """Return the evaluation records with labels like the training labels: lists if those are lists.
    Raise ValueError unless both are strings or both are numbers."""
    if isinstance(others.labels, LabelLists) and not isinstance(labels, LabelLists):
        raise ValueError(
            f"{named('validation')} must have one label per record, like the training records, got "
            "lists of labels"
        )
    wants = isinstance(model, KernelClassifier) and values_of(labels).dtype.kind in "UO"
    found = values_of(others.labels)
    has = found.dtype.kind in "UO"
    if has != wants and len(found):
        kinds = "numbers", "strings"
        raise ValueError(
            f"{named('validation')} must have labels that are {kinds[wants]}, like the training "
            f"labels, got {kinds[has]}"
        )
    if isinstance(model, KernelRegressor):
        most = np.abs(found.astype(np.float64)).max(initial=0)
        if most > LARGEST_REAL:
            raise ValueError(
                f"{named('validation')} must have labels from {-LARGEST_REAL:g} to "
                f"{LARGEST_REAL:g}, got numbers of up to {most:g}"
            )
    if isinstance(labels, LabelLists):
        return others._replace(labels=as_lists(others.labels))
    return others


# ---- several labels ------------------------------------------------------------------------------


class ListFigures(NamedTuple):
    """The evaluation of a model on records that may have several labels each."""

    micro_f1: float
    """F1 over all labels of all records together."""
    macro_f1: float
    """Mean F1 over the labels that any record has or is assigned."""
    precisions: dict[int, float]
    """The precision of the best k labels of each record, by k."""

    def line(self) -> str:
        shares = [_shown(share, "no labels") for share in (self.micro_f1, self.macro_f1)]
        at = [f"at {k} {share:.4f}" for k, share in self.precisions.items()]
        return f"micro F1 {shares[0]}, macro F1 {shares[1]}, precision {', '.join(at)}"

    def by_name(self) -> dict[str, float]:
        at = {f"precision_at_{k}": share for k, share in self.precisions.items()}
        return {"micro_f1": self.micro_f1, "macro_f1": self.macro_f1, **at}


_BEST = 1, 3, 5
"""Numbers of best labels whose precision is computed."""


def figures_of_lists(
    model: Any, codes: PackedCodes, labels: LabelLists, weights: Array | None
) -> ListFigures:
    """Return the weighted evaluation on records with several labels. Labels unknown to the model
    count as not found."""
    known = model.classes_.tolist()
    unknown = sorted(set(labels.values.tolist()).difference(known))
    wanted = labels.matrix(np.array([*known, *unknown], object)).astype(np.float64)
    found = sp.csc_array(model.predict(codes)).astype(np.float64)
    each = np.ones(len(labels)) if weights is None else weights
    right, counts = np.zeros(wanted.shape[1]), wanted.T @ each
    right[: len(known)] = wanted[:, : len(known)].multiply(found).T @ each
    counts[: len(known)] += found.T @ each
    there = counts > 0
    best = best_labels(model, codes, max(_BEST))
    hits = sp.csr_array(wanted)[np.arange(len(labels))[:, None], best].toarray()
    return ListFigures(
        float(2 * right.sum() / counts.sum()) if there.any() else math.nan,
        float((2 * right[there] / counts[there]).mean()) if there.any() else math.nan,
        {
            k: float(np.average(hits[:, :k].mean(axis=1), weights=each))
            for k in _BEST
            if k <= len(known)
        },
    )


def best_labels(model: Any, codes: PackedCodes, n: int) -> Array:
    """Return the indices of the classes with the highest scores for each row, best first."""
    best: Array = model._of_codes(
        codes, lambda scores: np.argsort(-scores, axis=1, kind="stable")[:, :n]
    )
    return best
