"""The subcommand compare: which map suits the rows of a file."""

import argparse
import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tqdm import tqdm

from sparsemaps._io import _output_files
from sparsemaps._io._sources import known_inputs
from sparsemaps._tools import _checks
from sparsemaps._tools._escapes import print_line
from sparsemaps.cli._given import source_to_learn
from sparsemaps.cli._last_line import say
from sparsemaps.cli._shared_options import flag
from sparsemaps.comparison import Comparison, Measured, compare_by
from sparsemaps.comparison._budget import Budget
from sparsemaps.comparison._programs import given_parameters
from sparsemaps.files._job_options import Texts
from sparsemaps.libsvm import load_svmlight_files
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.text import iter_records


def compare(options: argparse.Namespace) -> None:
    budget = Budget(_checks.check_real("seconds", options.seconds, 0, open_low=True))
    paths = [options.input, *([] if options.test is None else [options.test])]
    if "-" in paths:
        raise ValueError("compare reads files, as its last lines name them; got standard input")
    known_inputs(paths)  # which must be there
    if options.plot is not None:
        _output_files.refuse_clashes(paths, [(options.plot, "the picture of --plot")])
    source = source_to_learn(options, paths)
    texts = source if isinstance(source, Texts) else None
    (X, y), *test = read(texts, paths, options)
    with progress(options.progress, budget) as watch:
        comparison = compare_by(
            budget, X, y, test=test[0] if test else None, watch=watch,
            vectorizer=vectorizer_of(texts), regression=options.regression or None,
            random_state=options.seed, n_jobs=options.n_jobs,
        )  # fmt: skip
    for line in str(comparison).splitlines():
        print_line(line)
    for line in commands_of(comparison, options, texts):
        print_line(line)
    sys.stdout.flush()  # here, as main reports its errors
    if options.plot is not None:
        picture_of({os.path.basename(options.input): comparison}, options.plot)
    say(options, f"{len(comparison)} models, {comparison.seconds:.1f} s", _figures(comparison))


def _figures(comparison: Comparison) -> dict[str, Any]:
    best, choice = comparison.best.label, comparison.choice.label
    return {"rows": comparison.n_rows, "models": len(comparison), "best": best, "choice": choice}


def read(
    source: Texts | None, paths: list[str], options: argparse.Namespace
) -> list[tuple[Any, Any]]:
    """Return rows or texts, and labels, of each file."""
    if source is None:
        loaded = load_svmlight_files(paths, zero_based=bool(options.zero_based))
        return list(zip(loaded[::2], loaded[1::2], strict=True))
    if source.label_field is None:
        raise ValueError("texts need --label-field FIELD, the field of their labels")
    return [_read_texts(source, path) for path in paths]


def _read_texts(source: Texts, path: str) -> tuple[list[Any], list[Any]]:
    texts: list[Any] = []
    labels: list[Any] = []
    for some, some_labels, _ in iter_records(path, **_fields(source)):
        texts += map(str, some)  # of columns, they are Arrow's
        labels += some_labels
    return texts, labels


def _fields(source: Texts) -> dict[str, Any]:
    """Return the parameters of `iter_records` for some texts."""
    names = ("field", "label_field", "format", "max_line_bytes")
    given = {name: getattr(source, name) for name in names}
    return {name: value for name, value in given.items() if value != getattr(Texts(), name)}


def vectorizer_of(source: Texts | None) -> Any:
    """Return what says which n-grams texts have; None of rows."""
    if source is None:
        return None
    if source.token_pattern is None and source.normalize is None:
        return source.analyzer
    return Texts(source.analyzer, token_pattern=source.token_pattern, normalize=source.normalize)


@contextlib.contextmanager
def progress(shown: bool | None, budget: Budget) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows what is done next, and the time."""
    total = round(budget.seconds, 1)
    bar_format = "{n:.0f} of {total:.0f} s |{bar:20}| {desc}"
    hidden = None if shown is None else not shown
    with tqdm(total=total, disable=hidden, leave=False, bar_format=bar_format) as bar:

        def watch(line: str) -> None:
            bar.n = min(budget.spent(), total)
            bar.set_description_str(line)

        yield watch


def picture_of(comparisons: dict[str, Comparison], path: str) -> None:
    """Draw comparisons side by side, by their titles."""
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


def commands_of(
    comparison: Comparison, options: argparse.Namespace, source: Texts | None
) -> Iterator[str]:  # fmt: skip
    """Yield the lines that train the choice, and the best if it is another."""
    best, choice = comparison.best, comparison.choice
    rows = {"choice": choice} if best is choice else {"best": best, "choice": choice}
    for name, row in rows.items():
        yield ""
        yield f"To train the {name}:"
        yield from command_of(row, options, source)


def command_of(row: Measured, options: argparse.Namespace, source: Texts | None) -> list[str]:
    """Return the lines of a shell that train a model on the input, and save it."""
    model = row.estimator
    if isinstance(model, (KernelClassifier, KernelRegressor)) and isinstance(
        model.vectorizer, (str, Texts, type(None))
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
        for name in ("analyzer", "field", "label_field", "format", "token_pattern", "normalize"):
            value = getattr(source, name)
            if name == "analyzer" or value != getattr(Texts(), name):
                given[named.get(name, name)] = value
    elif options.zero_based:
        given["zero_based"] = True
    for name, value in given.items():
        words.append(flag(name))
        words += [] if value is True else [f"{value:g}" if isinstance(value, float) else str(value)]
    return words


def _output(options: argparse.Namespace) -> str:
    """Return the name of the model, in the working directory, which can be written to."""
    return f"{os.path.basename(options.input)}.model"


def _program(row: Measured, options: argparse.Namespace, source: Texts | None) -> list[str]:
    """Return the lines of a program of Python, as a shell takes them."""
    imports, _, made = row.program.rpartition("\n")
    lines = ["import joblib", *imports.splitlines()]
    if source is not None:
        fields = ", ".join(f"{name}={value!r}" for name, value in _fields(source).items())
        lines += [
            "from sparsemaps.text import iter_records",
            f"records = iter_records({options.input!r}, {fields})",
            "pairs = [pair for texts, labels, _ in records for pair in zip(texts, labels)]",
            "X, y = zip(*pairs)",
        ]
    else:
        zero_based = bool(options.zero_based)
        lines += [
            "from sparsemaps.libsvm import load_svmlight_file",
            f"X, y = load_svmlight_file({options.input!r}, zero_based={zero_based})",
            *(["X = X.toarray()"] if row.takes_dense else []),
        ]
    lines += [made, f"joblib.dump(model.fit(X, y), {_output(options)!r})"]
    return ["python - <<'END'", *lines, "END"]
