"""Models over files: `train_files`, `predict_files` and `filter_files`."""

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools import _checks, _output_files
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._parameters import ParameterError, setting
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import (
    CLASSES,
    IDS,
    LABELS,
    expand,
    is_directory,
    known_inputs,
    refuse_changes,
    spooled,
)
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files import _text_rows
from sparsemaps.files._coded_records import holds_codes
from sparsemaps.files._job_options import Svmlight, Texts, as_source
from sparsemaps.files._kept_records import Selection, check_outputs, write_kept
from sparsemaps.files._rows import InputBlock, LibsvmRows, Source, apply, read_rows
from sparsemaps.files._text_rows import TextRows
from sparsemaps.linear import KernelClassifier, KernelRegressor

_Model = KernelClassifier | KernelRegressor

_CODED_ROWS = 2**16
"""Rows of a file of codes whose scores are computed together."""


class TrainedModel(NamedTuple):
    """A model that was trained on files."""

    model: _Model
    n_records: int
    """Records that it was trained on."""


class LabelledFile(NamedTuple):
    """What `predict_files` has written."""

    n_records: int


class FilteredFile(NamedTuple):
    """What `filter_files` has written."""

    n_records: int
    n_kept: int


class LabelledRows(NamedTuple):
    """Codes of records, and their labels."""

    codes: PackedCodes
    labels: Array


# ---- reading -------------------------------------------------------------------------------------


def read_labelled(
    map: Any,
    inputs: Any,
    *,
    vectorizer: Any = None,
    source: Texts | Svmlight | str | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> LabelledRows:
    """The codes of the records of some inputs, and their labels: numbers, or strings of texts.

    A file of codes alone is mapped into memory; codes of other inputs are in memory.
    """
    paths = expand(inputs)
    coded = [path for path in paths if holds_codes(path)]
    if coded:
        if len(coded) < len(paths):
            raise ValueError(
                f"{coded[0]} has codes, and other inputs do not: take one or the other"
            )
        parts = [_coded_and_labelled(path) for path in coded]
        codes = parts[0].codes
        if len(parts) > 1:
            codes = PackedCodes.concatenate([part.codes for part in parts])
        return LabelledRows(codes, np.concatenate([part.labels for part in parts]))
    rows = _rows(vectorizer, source, multilabel=False)
    if isinstance(rows, TextRows) and rows.label_field is None:
        raise ValueError(f"texts need a label_field, got {setting('label_field', None)}")
    blocks: list[PackedCodes] = []
    labels: list[Array] = []
    with contextlib.ExitStack() as stack:
        known: list[Any] = known_inputs(paths)
        if isinstance(rows, TextRows):
            rows, known = _text_rows.number_labels(rows, known, n_jobs, stack)
        convert = partial(_labelled, map)
        with FileProgress(known, progress, "codes") as bar:
            for input in known:
                for part in read_rows(rows, input, convert, n_jobs=n_jobs, bar=bar):
                    blocks.append(part.codes)
                    labels.append(part.labels)
        refuse_changes(known)
    if not any(len(block) for block in blocks):
        raise ValueError(f"{', '.join(str(path) for path in paths)}: there are no records")
    codes, numbers = PackedCodes.concatenate(blocks), np.concatenate(labels)
    if isinstance(rows, TextRows) and rows.classes is not None:
        return LabelledRows(codes, np.array(list(rows.classes))[numbers.astype(np.intp)])
    return LabelledRows(codes, numbers)


def _labelled(map: Any, block: InputBlock) -> LabelledRows:
    if len(block.heads.labels) != block.n_rows:
        row = int(np.argmax(np.diff(block.heads.label_ends, prepend=0) != 1))
        raise block.error(row, 0, ": expected one label")
    return LabelledRows(_encoded(map, block), np.array(block.heads.labels, float))


def _encoded(map: Any, block: InputBlock) -> PackedCodes:
    codes: PackedCodes = apply(map, partial(map.encode, packed=True), block)
    return codes


def _coded_and_labelled(path: Any) -> LabelledRows:
    """A file of codes, and the labels beside it."""
    codes = PackedCodes.load(path)
    beside = os.fspath(path) + LABELS
    if not os.path.exists(beside):
        raise ValueError(f"{path}: its labels are not in {beside}")
    labels = read_array(beside, ArrayKind(None, (len(codes),)))
    if os.path.exists(os.fspath(path) + CLASSES):
        names = _names_in(os.fspath(path) + CLASSES)
        if not np.isin(labels, np.arange(len(names))).all():
            raise ValueError(f"{beside}: not all labels are in the table {path}{CLASSES}")
        labels = np.array(names)[labels.astype(np.intp)]
    return LabelledRows(codes, labels)


def _names_in(path: str) -> list[str]:
    """The labels of a table, which are numbered from 0."""
    escapes = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}
    names = []
    with open(path, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file):
            first, tab, text = line.removesuffix("\n").partition("\t")
            if first != str(number) or not tab:
                raise ValueError(f"{path}: line {number + 1}: expected {number}, a tab and a label")
            parts = [escapes.get(text[i : i + 2], text[i]) for i in _starts(text)]
            names.append("".join(parts))
    return names


def _starts(text: str) -> Iterator[int]:
    """Where the characters of a text with escapes begin."""
    i = 0
    while i < len(text):
        yield i
        i += 2 if text[i] == "\\" else 1


# ---- training ------------------------------------------------------------------------------------


def train_files(
    model: _Model,
    inputs: Any,
    output: Any,
    *,
    source: Texts | Svmlight | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> TrainedModel:
    r"""Train a model on files, and save it.

    The command ``sparsemaps train`` calls this function.

    Parameters
    ----------
    model : KernelClassifier or KernelRegressor
        The model to train. With a `vectorizer`, inputs are texts.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files, or texts (.txt, .jsonl, .parquet), or files of packed codes of the model's map
        (.npy) with their labels beside, as `map_files` writes them; directories and patterns. The
        codes of all records are kept in memory; one file of codes alone is mapped into it.
    output : str or path-like
        The file of the model, which `KernelClassifier.load` reads.
    source : Texts, Svmlight or None, default=None
        What the inputs are; of texts, the model's vectorizer is the analyzer, and a `label_field`
        is needed.
    progress
        As for `map_files`.
    n_jobs : int or None, default=None
        Threads that read; None is 1, -1 all processors. The model has its own for training.

    Returns
    -------
    trained : TrainedModel
        The model, and the number of records (`n_records`).

    Raises
    ------
    ValueError
        If a parameter is not allowed, there are no records or only one class, codes are of another
        map, or a line is not of its format.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> import tempfile
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import train_files
    >>> from sparsemaps.linear import KernelClassifier
    >>> rows = BytesIO(b"1 1:1 3:1\n0 2:1\n1 1:1 4:1\n")
    >>> model = KernelClassifier(MinHash(random_state=0), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     train_files(model, rows, f"{folder}/model").n_records
    3
    """
    if not isinstance(model, (KernelClassifier, KernelRegressor)):
        raise ParameterError("model", repr(model), "a KernelClassifier or a KernelRegressor")
    paths = expand(inputs)
    _output_files.refuse_clashes(paths, [(output, _output_files.OUTPUT)])
    model._check_parameters()
    known = [path for path in paths if holds_codes(path)]
    fitted = model._map_of(PackedCodes.load(known[0])) if known else model.map.fit_any_width()
    rows = read_labelled(
        fitted, paths, vectorizer=model.vectorizer, source=source, n_jobs=n_jobs, progress=progress
    )
    if isinstance(model, KernelRegressor) and rows.labels.dtype.kind == "U":
        raise ValueError("a regressor needs labels that are numbers, got strings")
    model.fit(rows.codes, rows.labels)
    model.save(output)
    return TrainedModel(model, len(rows.codes))


# ---- scores --------------------------------------------------------------------------------------


class _Scored(NamedTuple):
    """Records with their scores, one column for each model."""

    scores: Array
    ids: list[str] | None
    reasons: list[list[tuple[str, float]]] | None = None
    """Of each text, the n-grams that add most to its score."""


def _scored(
    model: _Model,
    source: Source,
    inputs: list[Any],
    n_jobs: int | None,
    bar: FileProgress,
    explain: int = 0,
) -> Iterator[tuple[int, _Scored]]:
    """The scores of the records of each input, and its number, a block at a time; and `explain`
    n-grams of each text."""

    def convert(block: InputBlock) -> _Scored:
        codes = _encoded(model.map_, block)
        reasons = None
        if explain:
            texts = (str(text) for text in block.texts)
            reasons = [model.explain(text)[:explain] for text in texts]
        return _Scored(model._scores(codes), block.ids, reasons)

    for number, input in enumerate(inputs):
        if holds_codes(input):
            codes = PackedCodes.load(input)
            model._refuse_other_codes(codes)
            ids = _ids_beside(input)
            for start in range(0, len(codes), _CODED_ROWS):
                some = codes[start : start + _CODED_ROWS]
                names = None if ids is None else [next(ids) for _ in range(len(some))]
                yield number, _Scored(model._scores(some), names)
            bar.add(os.path.getsize(input), len(codes))
            continue
        for part in read_rows(source, input, convert, n_jobs=n_jobs, bar=bar):
            yield number, part


def _ids_beside(path: Any) -> Iterator[str] | None:
    name = os.fspath(path) + IDS
    if not os.path.exists(name):
        return None

    def lines() -> Iterator[str]:
        with open(name, encoding="utf-8", newline="\n") as file:
            for line in file:
                yield line.removesuffix("\n")

    return lines()


def _rows(vectorizer: Any, source: Any, *, multilabel: bool = True) -> LibsvmRows | TextRows:
    """The rows of the inputs of a model: of texts, if it has a vectorizer, or of LIBSVM files."""
    given = as_source(source)
    if vectorizer is None:
        if isinstance(given, Texts):
            raise ValueError("the model has no vectorizer: its inputs are no texts")
        return LibsvmRows(given or Svmlight(), multilabel)
    if isinstance(given, Svmlight):
        raise ValueError("the model has a vectorizer: its inputs are texts, not LIBSVM files")
    given = given or Texts()
    plain: dict[str, Any] = {"analyzer": Texts.analyzer, "token_pattern": None, "normalize": None}
    if given != dataclasses.replace(given, **plain):
        from sparsemaps.text._analyzers import vectorizer_config, vectorizer_of

        said = vectorizer_of(
            given.analyzer, token_pattern=given.token_pattern, normalize=given.normalize
        )
        one, other = (vectorizer_config(each, values=False) for each in (said, vectorizer))
        if one != other:
            raise ValueError(f"the model has another vectorizer than that of {given.analyzer}")
    return TextRows(vectorizer, given)


def predict_files(
    model: _Model,
    inputs: Any,
    output: Any,
    *,
    source: Texts | Svmlight | None = None,
    explain: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> LabelledFile:
    r"""Write the label and the scores of each record of files.

    The command ``sparsemaps predict`` calls this function. A line of the output has the number of a
    record, from 1 through all inputs, or its id; its label; and the score of each class, of two
    classes that of the second. Of a regressor, it has the number that is predicted. Columns are
    separated by tabs. The output appears when it is complete.

    Parameters
    ----------
    model : KernelClassifier or KernelRegressor
        A model that is fitted.
    inputs : str, path-like, file-like, or a sequence of these
        As for `train_files`; labels are not read. They are read once, a block at a time.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); "-" is standard output.
    source : Texts, Svmlight or None, default=None
        What the inputs are; of texts, the model's vectorizer is the analyzer.
    n_jobs, progress
        As for `map_files`.
    explain : int, default=0
        For models of texts, how many n-grams to write in further columns, with what they add to the
        score of the label: those that add or take away most, as ``model.explain`` gives them.

    Returns
    -------
    answer : LabelledFile
        The number of records (`n_records`).

    Raises
    ------
    ValueError
        If a parameter is not allowed, codes are of another map, or a line is not of its format.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import predict_files
    >>> from sparsemaps.linear import KernelClassifier
    >>> model = KernelClassifier(MinHash(random_state=0), random_state=0)
    >>> model = model.fit([[1, 0, 1], [0, 1, 0]], ["a", "b"])
    >>> out = BytesIO()
    >>> predict_files(model, BytesIO(b"0 2:1\n0 1:1 3:1\n"), out).n_records
    2
    >>> [line.split(b"\t")[1] for line in out.getvalue().splitlines()]
    [b'b', b'a']
    """
    rows = _rows(getattr(model, "vectorizer_", None), source)
    paths = expand(inputs)
    explain = _checks.check_int("explain", explain, 0, _checks.LARGEST_INT32)
    if explain and (not isinstance(rows, TextRows) or any(map(holds_codes, paths))):
        raise ValueError(f"{setting('explain', explain)} is for texts")
    if not hasattr(output, "write"):
        _output_files.refuse_clashes(paths, [(output, _output_files.OUTPUT)])
    known = known_inputs(paths)
    names = _names_of(model)
    n_records = 0
    with contextlib.ExitStack() as stack:
        file = output
        if not hasattr(output, "write"):
            file = stack.enter_context(_output_files.atomic_output(output))
        bar = stack.enter_context(FileProgress(known, progress, "labels"))
        for _, part in _scored(model, rows, known, n_jobs, bar, explain):
            ids = part.ids or range(n_records + 1, n_records + 1 + len(part.scores))
            file.write(_lines(names, part, ids))
            n_records += len(part.scores)
        refuse_changes(known)
    return LabelledFile(n_records)


_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _names_of(model: _Model) -> list[str] | None:
    """The classes as a file has them; None for a regressor."""
    if isinstance(model, KernelRegressor):
        return None
    return [name_of(label).translate(_ESCAPES) for label in model.classes_.tolist()]


def name_of(label: Any) -> str:
    """A label as text: whole numbers have no point."""
    return f"{label:.17g}" if isinstance(label, float) else str(label)


def _lines(names: list[str] | None, part: _Scored, ids: Any) -> bytes:
    lines = []
    reasons = part.reasons or [[]] * len(part.scores)
    for id, row, ngrams in zip(ids, part.scores.tolist(), reasons, strict=True):
        if names is None:
            columns = [f"{row[0]:.9g}"]
        else:
            best = int(row[0] > 0) if len(row) == 1 else max(range(len(row)), key=row.__getitem__)
            columns = [names[best], *(f"{score:.6g}" for score in row)]
        columns += [f"{ngram.translate(_ESCAPES)} {share:+.4g}" for ngram, share in ngrams]
        lines.append("\t".join([str(id), *columns]) + "\n")
    return "".join(lines).encode("utf-8", "surrogatepass")


def filter_files(
    model: KernelClassifier,
    inputs: Any,
    output: Any,
    *,
    label: Any,
    min_score: float | None = None,
    source: Texts | Svmlight | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> FilteredFile:
    r"""Write the records of files that have a label, byte for byte and in their order.

    The command ``sparsemaps filter`` calls this function. The inputs are read twice, once for the
    scores and once for the records; a byte a record is kept in between. The output appears when it
    is complete.

    Parameters
    ----------
    model : KernelClassifier
        A model that is fitted.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files, or texts if the model has a vectorizer, all of one format. Labels are not
        read.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); Parquet, if the inputs are; "-" is standard
        output.
    label : object
        A class of the model, or its text.
    min_score : float or None, default=None
        The least score of that class; None takes the records whose score is highest for it. Of two
        classes, the score of the first is that of the second times -1.
    source, n_jobs, progress
        As for `predict_files`.

    Returns
    -------
    answer : FilteredFile
        The numbers of records (`n_records`) and of those that are written (`n_kept`).

    Raises
    ------
    ValueError
        If a parameter is not allowed, the model has no such class, an input changes meanwhile, or a
        line is not of its format.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import filter_files
    >>> from sparsemaps.linear import KernelClassifier
    >>> model = KernelClassifier(MinHash(random_state=0), random_state=0)
    >>> model = model.fit([[1, 0, 1], [0, 1, 0]], ["a", "b"])
    >>> out = BytesIO()
    >>> filter_files(model, BytesIO(b"0 2:1 # kept\n0 1:1 3:1\n"), out, label="b")
    FilteredFile(n_records=2, n_kept=1)
    >>> out.getvalue()
    b'0 2:1 # kept\n'
    """
    if not isinstance(model, KernelClassifier):
        raise ParameterError("model", repr(model), "a KernelClassifier")
    is_wanted = _rule(model, label, min_score)
    rows = _rows(getattr(model, "vectorizer_", None), source)
    paths = expand(inputs)
    coded = [path for path in paths if holds_codes(path)]
    if coded:
        raise ValueError(f"{coded[0]} has codes, from which records cannot be written")
    if is_directory(output):
        raise ValueError(f"{output} must be a file, got a directory")
    if not hasattr(output, "write"):
        _output_files.refuse_clashes(paths, [(output, _output_files.OUTPUT)])
    with contextlib.ExitStack() as stack:
        known: list[Any] = spooled(known_inputs(paths), stack)
        check_outputs(rows, [(output, known)])
        kept: list[list[Array]] = [[] for _ in known]
        with FileProgress(known, progress, "scores") as bar:
            for number, part in _scored(model, rows, known, n_jobs, bar):
                kept[number].append(is_wanted(part.scores))
        selections = [
            Selection(input, np.concatenate([np.zeros(0, bool), *some]))
            for input, some in zip(known, kept, strict=True)
        ]
        file = output
        if not hasattr(output, "write"):
            file = stack.enter_context(_output_files.atomic_output(output))
        with FileProgress(known, progress, "records") as bar:
            write_kept(rows, selections, file, n_jobs, bar)
        refuse_changes(known)
    n_kept = sum(int(one.kept.sum()) for one in selections)
    return FilteredFile(sum(len(one.kept) for one in selections), n_kept)


def _rule(model: KernelClassifier, label: Any, min_score: float | None) -> Callable[[Array], Array]:
    """Which records, by their scores, are written."""
    labels = model.classes_.tolist()
    found = [n for n, one in enumerate(labels) if one == label or name_of(one) == str(label)]
    if len(found) != 1:
        shown = ", ".join(name_of(one) for one in labels[:20])
        raise ParameterError("label", repr(label), f"a class of the model ({shown})")
    if min_score is not None:
        min_score = _checks.check_real("min_score", min_score)

    def is_wanted(scores: Array) -> Array:
        if scores.shape[1] == 1:
            scores = np.hstack([-scores, scores])
            if min_score is None:  # of equal scores, the first, as predict has it
                return (scores[:, 1] > 0) == bool(found[0])
        if min_score is None:
            return scores.argmax(axis=1) == found[0]
        return scores[:, found[0]] >= min_score

    return is_wanted


# ---- validation ----------------------------------------------------------------------------------


def validation(model: _Model, rows: LabelledRows) -> list[str]:
    """Lines about how well a model does on records with labels."""
    if isinstance(model, KernelRegressor):
        differences = rows.labels - model.predict(rows.codes)
        spread = float(((rows.labels - rows.labels.mean()) ** 2).sum())
        error = float((differences**2).mean() ** 0.5)
        share = 1 - float((differences**2).sum()) / spread if spread else float("nan")
        return [f"{len(differences)} records, root mean square error {error:.6g}, R2 {share:.4f}"]
    found = model.predict(rows.codes)
    right = float((found == rows.labels).mean())
    lines = [f"{len(found)} records, accuracy {right:.4f}"]
    classes = model.classes_
    if len(classes) == 2:
        share = area_under_curve(model.decision_function(rows.codes), rows.labels == classes[1])
        lines[0] += f", area under the ROC curve {share:.4f}"
    if len(classes) <= _TABLE:
        lines += _confusion(classes, rows.labels, found)
    return lines


_TABLE = 12
"""The largest number of classes of which a table of confusion is printed."""


def area_under_curve(scores: Array, positive: Array) -> float:
    """The probability that a positive record has the higher score; equal scores count half."""
    values, number, counts = np.unique(scores, return_inverse=True, return_counts=True)
    del values
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[number]
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return float("nan")
    excess = ranks[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(excess / (n_positive * n_negative))


def _confusion(classes: Array, labels: Array, found: Array) -> list[str]:
    """A row for each class that there is, a column for each class that is predicted."""
    known = classes.tolist()
    rows = known + sorted(set(labels.tolist()) - set(known))
    number = {label: n for n, label in enumerate(rows)}
    table = np.zeros((len(rows), len(known)), np.int64)
    where = [number[label] for label in labels.tolist()], [number[one] for one in found.tolist()]
    np.add.at(table, where, 1)
    lines = ["\t".join(["label \\ predicted", *map(name_of, known)])]
    for label, counts in zip(rows, table.tolist(), strict=True):
        lines.append("\t".join([name_of(label), *map(str, counts)]))
    return lines
