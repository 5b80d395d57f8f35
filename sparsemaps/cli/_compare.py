"""The subcommand compare: which map suits the rows of a file."""

import argparse
import contextlib
import os
import shlex
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsemaps._io import _output_files
from sparsemaps._io._progress import Bar
from sparsemaps._io._sources import expand, known_inputs
from sparsemaps._tools import _checks, _sklearn
from sparsemaps._tools._escapes import print_line
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array
from sparsemaps._tools._whole_numbers import FLOAT_HOLDS, MixedNumbers, array_of, number_of
from sparsemaps.cli._given import source_to_learn, value_of
from sparsemaps.cli._last_line import say
from sparsemaps.cli._number_table import NumberTable, number_table
from sparsemaps.cli._options import flag
from sparsemaps.comparison import Comparison, Measured, compare_by
from sparsemaps.comparison._budget import Budget
from sparsemaps.comparison._programs import given_parameters
from sparsemaps.files._bad_records import TABLE, BadTable, opened_table
from sparsemaps.files._finite_labels import ALL_FINITE, not_finite
from sparsemaps.files._job_options import Aside, Texts
from sparsemaps.files._kinds_of_inputs import texts_in
from sparsemaps.files._record_weights import files_of_weights
from sparsemaps.files._rows import read_rows
from sparsemaps.files._text_rows import TextRows
from sparsemaps.libsvm import load_svmlight_files
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import KINDS_OF_LABELS, kind_of_label, number_in
from sparsemaps.records._table import format_by_name


def compare(options: argparse.Namespace) -> None:
    budget = Budget(_checks.check_real("seconds", options.seconds, 0, open_low=True))
    paths = [options.input, *([] if options.test is None else [options.test])]
    if "-" in paths:
        raise ValueError("compare needs files, which its last lines name, not standard input")
    known_inputs(paths)  # they must exist
    aside = value_of(options, Aside).aside
    written = [(options.plot, "the picture of --plot"), (aside, TABLE)]
    _output_files.refuse_clashes(paths, [one for one in written if one[0] is not None])
    source = source_to_compare(options, paths)
    if aside is not None and texts_in(source) is None:
        raise ValueError("--bad-records is for texts; give --texts")
    with opened_table(aside) as table:
        (X, y), *test = read(source, paths, options, table)
    if isinstance(source, NumberTable):
        source = source._replace(dtype="str" if isinstance(y, list) else y.dtype.name)
    with progress(options.progress, budget):
        comparison = compare_by(
            budget, X, y, test=test[0] if test else None,
            vectorizer=ngram_spec(source), regression=options.regression or None,
            ordered=options.ordered, random_state=options.seed, n_jobs=options.n_jobs,
        )  # fmt: skip
    for line in str(comparison).splitlines():
        print_line(line)
    for line in lines_to_train(comparison, options, source):
        print_line(line)
    sys.stdout.flush()  # here, because main reports its errors
    if options.plot is not None:
        picture_of({os.path.basename(options.input): comparison}, options.plot)
    n_bad = 0 if table is None else table.n_bad
    words = f"{counted(len(comparison), 'models')}, {comparison.seconds:.1f} s"
    words += f", {counted(n_bad, 'bad records')}" if n_bad else ""
    say(options, words, {**figures_of(comparison), "bad": n_bad})


Source = Texts | NumberTable | None
"""The kind of the inputs; None for LIBSVM files."""


def source_to_compare(options: argparse.Namespace, paths: list[str]) -> Source:
    """Return the kind of the inputs. A CSV file holds numbers unless its columns or the options say
    that it holds texts."""
    texts = texts_in(source_to_learn(options, paths))
    if texts is None:
        return None
    table = number_table(texts, paths) if options.texts is None else None
    return table or texts


def figures_of(comparison: Comparison) -> dict[str, Any]:
    best, choice = comparison.best.label, comparison.choice.label
    return {"rows": comparison.n_rows, "models": len(comparison), "best": best, "choice": choice}


def read(
    source: Source,
    paths: list[str],
    options: argparse.Namespace,
    aside: BadTable | None = None,
) -> list[tuple[Any, Any]]:
    """Return (rows or texts, labels) of each file. Bad records go to the table `aside`."""
    if source is None:
        loaded = load_svmlight_files(paths, zero_based=bool(options.zero_based))
        made = list(zip(loaded[::2], loaded[1::2], strict=True))
        for path, (X, y) in zip(paths, made, strict=True):
            _check_rows(path, X, y, 0 if options.zero_based else 1)
            _check_labels(path, y, bool(options.regression))
        return made
    if isinstance(source, NumberTable):
        of_numbers = bool(options.regression)
        made = [source.read(path, of_numbers=of_numbers) for path in paths]
        return _as_arrays(paths, made, are_typed=of_numbers)
    if source.label_field is None:
        is_table = any(known and known.is_table for known in map(format_by_name, paths))
        try:
            TextRows(None, source).check_labels(paths)
        except ValueError as error:
            advice = "; compare reads tables of numbers from CSV only" if is_table else ""
            raise ValueError(f"{error}{advice}") from error
    rows = TextRows(
        None, source, numbers_labels=False, sets_aside=aside is not None,
        of_numbers=bool(options.regression),
    )  # fmt: skip
    made = [_read_texts(rows, path, options.n_jobs, aside) for path in paths]
    return _as_arrays(paths, made, are_typed=all(_are_typed(source, path) for path in paths))


def _as_arrays(
    paths: list[str], made: list[tuple[Any, Any]], *, are_typed: bool
) -> list[tuple[Any, Any]]:
    """Return the rows and labels of each file, with numeric labels as arrays. If the format of a
    file does not distinguish numbers from strings, labels are numbers if all look like numbers."""
    if not are_typed:
        numbers = [[number_in(label) for label in labels] for _, labels in made]
        if not any(number is None for some in numbers for number in some):
            made = [(rows, some) for (rows, _), some in zip(made, numbers, strict=True)]
    return [
        (rows, _as_array(path, labels)) for path, (rows, labels) in zip(paths, made, strict=True)
    ]


def _are_typed(source: Texts, path: str) -> bool:
    """Return whether the format of a file distinguishes numbers from strings as labels."""
    rows = TextRows(None, source)
    return all(rows.format(one).is_typed for one in known_inputs(expand(path)))


def _check_rows(path: str, X: Any, y: Array, first_index: int) -> None:
    """Raise a ValueError if rows have weights, which compare does not use, or if a label or a value
    is not finite."""
    weights = files_of_weights(path)
    if weights:
        raise ValueError(
            f"compare takes rows of equal weight, and {path} has weights in {weights[0]}; move "
            "that file elsewhere"
        )
    row = not_finite(y)
    if row is not None:
        raise ValueError(f"{path}: row {row + 1}: the label is {y[row]}; {ALL_FINITE}")
    entry = not_finite(X.data)
    if entry is not None:
        row, index = int(np.searchsorted(X.indptr, entry, "right")), X.indices[entry] + first_index
        value = X.data[entry]
        cure = "; leave such entries out, and they are 0" if np.isnan(value) else ""
        raise ValueError(
            f"{path}: row {row}, index {index}: the value is {value}; all values must be "
            f"finite{cure}"
        )
    if len(y) and not X.shape[1]:
        raise ValueError(f"{path}: no row has an entry")


def _check_labels(path: str, y: Array, is_regression: bool) -> None:
    """Raise a ValueError if there are no labels, or if float64 may have merged classes."""
    if not len(y):
        raise ValueError(f"{path}: there are no records")
    if not is_regression and (abs(y).max() >= FLOAT_HOLDS) and (y % 1 == 0).all():
        raise ValueError(
            f"{path}: compare takes whole numbers below 2^53 as classes, got {abs(y).max():.0f}; "
            "--regression takes any numbers"
        )


def _read_texts(
    rows: TextRows, path: str, n_jobs: int | None, aside: BadTable | None
) -> tuple[list[Any], list[Any]]:
    texts: list[Any] = []
    labels: list[Any] = []
    if aside is not None:
        aside.begin()
    for input in known_inputs(expand(path)):
        for some, some_labels in read_rows(rows, input, _of_batch, n_jobs=n_jobs, aside=aside):
            if any(isinstance(label, tuple) for label in some_labels):
                field = repr(rows.given.label_field)
                raise ValueError(
                    f"{path}: compare takes one label per record, got a list in the field {field}"
                )
            texts += some
            labels += some_labels
    if aside is not None:
        aside.finish()
    kinds = {KINDS_OF_LABELS[kind] for kind in set(map(kind_of_label, labels))}
    if len(kinds) > 1:
        raise ValueError(
            f"{path}: expected labels of one kind; found {' and '.join(sorted(kinds))}"
        )
    return texts, labels


def _as_array(path: str, labels: list[Any]) -> Any:
    """Return numeric labels as an array that has all their digits; return other labels
    unchanged."""
    if not labels:
        raise ValueError(f"{path}: there are no records")
    if kind_of_label(labels[0]) is not float:
        return labels
    try:
        return array_of([number_of(label) for label in labels])
    except MixedNumbers as error:
        raise ValueError(f"{path}: of the labels, {error}") from None


def _of_batch(batch: Batch) -> tuple[list[str], list[Any]]:
    return list(map(str, batch.texts)), batch.labels  # texts of columns are Arrow scalars


_OF_FIELDS = "field", "label_field", "format", "max_line_bytes"
"""Options for texts that are also parameters of `iter_records`."""


def _fields(source: Texts, options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of `iter_records` that read the same texts."""
    given = {name: getattr(source, name) for name in _OF_FIELDS}
    given = {name: value for name, value in given.items() if value != getattr(Texts(), name)}
    return given | ({} if value_of(options, Aside).aside is None else {"bad_records": "skip"})


def ngram_spec(source: Source) -> Any:
    """Return the specification of the n-grams of texts; None for rows."""
    texts = texts_in(source)
    if texts is None:
        return None
    if texts.token_pattern is None and texts.normalize is None:
        return texts.analyzer
    return Texts(texts.analyzer, token_pattern=texts.token_pattern, normalize=texts.normalize)


@contextlib.contextmanager
def progress(shown: bool | None, budget: Budget) -> Iterator[None]:
    """Show the current step of a comparison, and the time."""
    total = round(budget.seconds, 1)
    bar_format = "{n:.0f} of {total:.0f} s |{bar:20}| {desc}"
    with Bar(shown, total=total, leave=False, bar_format=bar_format) as bar:

        def watch(line: str) -> None:
            bar.n = min(budget.spent(), total)
            bar.set_description_str(line)

        budget.watch = watch
        yield


def picture_of(comparisons: dict[str, Comparison], path: str) -> None:
    """Draw comparisons side by side, with their titles."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("--plot needs matplotlib: pip install sparsemaps[plot]") from error
    figure = Figure(figsize=(8 * len(comparisons), 4.2), layout="constrained")
    axes = figure.subplots(1, len(comparisons), squeeze=False)[0]
    for ax, (title, comparison) in zip(axes, comparisons.items(), strict=True):
        comparison.plot(ax).set(title=title)
    with _output_files.atomic_output(path) as out:
        figure.savefig(out, format=os.path.splitext(path)[1].lstrip(".") or "svg")


# ---- commands ------------------------------------------------------------------------------------


def lines_to_train(
    comparison: Comparison, options: argparse.Namespace, source: Source
) -> Iterator[str]:
    """Yield the lines that train the choice, and the best model if it is not the choice."""
    best, choice = comparison.best, comparison.choice
    rows = {"choice": choice} if best is choice else {"best": best, "choice": choice}
    for name, row in rows.items():
        yield ""
        yield f"To train the {name}:"
        yield from command_of(row, options, source)


def command_of(row: Measured, options: argparse.Namespace, source: Source) -> list[str]:
    """Return shell lines that train a model on the input and save it."""
    model = row.estimator
    if (
        not isinstance(source, NumberTable)
        and isinstance(model, (KernelClassifier, KernelRegressor))
        and isinstance(model.vectorizer, (str, Texts, type(None)))
    ):
        return [shlex.join(_train(model, options, source))]
    return _program(row, options, source)


def _train(model: Any, options: argparse.Namespace, source: Texts | None) -> list[str]:
    """Return the words of ``sparsemaps train``."""
    words = ["sparsemaps", "train", type(model.map)._about.command, options.input]
    words += ["-o", _output(options)]
    given = given_parameters(model.map) | given_parameters(model)
    for name in ("map", "vectorizer", "random_state"):
        given.pop(name, None)
    if isinstance(model, KernelRegressor):
        given = {"loss": model.loss} | given
    if source is not None:
        named = {"analyzer": "texts", "format": "text_format"}
        names = "analyzer", "token_pattern", "normalize", "min_length", "max_length"
        for name in (*names, *_OF_FIELDS):
            value = getattr(source, name)
            if name == "analyzer" or value != getattr(Texts(), name):
                given[named.get(name, name)] = value
        if (aside := value_of(options, Aside).aside) is not None:
            given["bad_records"] = aside
    elif options.zero_based:
        given["zero_based"] = True
    for name, value in given.items():
        words.append(flag(name))
        words += [] if value is True else [f"{value:g}" if isinstance(value, float) else str(value)]
    return words


def _output(options: argparse.Namespace) -> str:
    """Return the file name of the model, in the working directory, since the input's may be
    read-only."""
    return f"{os.path.basename(options.input)}.model"


def _of_lengths(source: Texts) -> str:
    """Return the condition that skips texts shorter or longer than allowed."""
    least, most = source.min_length, source.max_length
    lower, upper = (f"{least or 0} <= ", "" if most is None else f" <= {most}")
    return "" if least is None and most is None else f" if {lower}len(pair[0]){upper}"


def _program(row: Measured, options: argparse.Namespace, source: Source) -> list[str]:
    """Return shell lines that run a Python program."""
    imports, _, made = row.program.rpartition("\n")
    lines = ["import joblib", *imports.splitlines()]
    if isinstance(source, NumberTable):
        lines += source.program(options.input)
    elif source is not None:
        given = _fields(source, options)
        fields = ", ".join(f"{name}={value!r}" for name, value in given.items())
        some = _of_lengths(source) if "bad_records" in given else ""
        lines += [
            "from sparsemaps.text import iter_records",
            f"records = iter_records({options.input!r}, {fields})",
            f"pairs = [pair for texts, labels, _ in records for pair in zip(texts, labels){some}]",
            "X, y = zip(*pairs)",
        ]
        is_regressor = _sklearn.get_tags(row.estimator).estimator_type == "regressor"
        if is_regressor and not _are_typed(source, options.input):
            lines.append("y = [float(label) for label in y]")
    else:
        zero_based = bool(options.zero_based)
        lines += [
            "from sparsemaps.libsvm import load_svmlight_file",
            f"X, y = load_svmlight_file({options.input!r}, zero_based={zero_based})",
            *(["X = X.toarray()"] if row.takes_dense else []),
        ]
    lines += [made, f"joblib.dump(model.fit(X, y), {_output(options)!r})"]
    return ["python - <<'END'", *lines, "END"]
