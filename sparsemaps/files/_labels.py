"""Labels of the records of files: `predict_files`, and `filter_files` of those of one label."""

import dataclasses
import math
import os
from collections.abc import Iterator
from contextlib import ExitStack
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._io import _output_files, _text_input
from sparsemaps._io._progress import FileProgress
from sparsemaps._io._sources import IDS, expand, refuse_changes, spooled
from sparsemaps._tools import _checks
from sparsemaps._tools._parameters import ParameterError, setting
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files import _map
from sparsemaps.files._bad_table import BadTable, opened_table, path_of
from sparsemaps.files._job_options import Svmlight, Texts
from sparsemaps.files._job_run import JobRun
from sparsemaps.files._kept_records import Selection, check_outputs, write_kept
from sparsemaps.files._label_lines import (
    HAS_PROBA,
    UNKNOWN,
    JsonLines,
    LineOptions,
    Scored,
    Table,
    checked_least,
    checked_options,
    labelled,
    names_jsonl,
    scores_of_classes,
)
from sparsemaps.files._learning import Model, rows_of
from sparsemaps.files._map import OutputPlan, make_plan
from sparsemaps.files._row_names import names_of_rows
from sparsemaps.files._rows import codes_of, read_rows
from sparsemaps.files._tasks import Engine, TaskRun
from sparsemaps.files._text_rows import Source, TextRows
from sparsemaps.linear import KernelClassifier
from sparsemaps.linear._classifier import probabilities
from sparsemaps.linear._model import scores_of
from sparsemaps.linear._model_checks import number_of_label, refuse_other_codes
from sparsemaps.linear._model_file import digest_of
from sparsemaps.records._batch import Batch
from sparsemaps.records._table import holds_codes

_CODED_ROWS = 2**16
"""Rows of a file of codes whose scores are computed together."""


class LabelledFile(NamedTuple):
    """The result of `predict_files`."""

    n_records: int
    n_unknown: int
    """Records without a label: those of `n_empty`, and those below `min_score` or `min_proba`."""
    n_empty: int
    """Records without an n-gram or an entry."""
    n_bad: int
    """Records that were set aside."""
    labels: dict[Any, int]
    """The number of records of each label, the most frequent label first."""


class FilteredFile(NamedTuple):
    """The result of `filter_files`."""

    n_records: int
    n_kept: int
    n_unknown: int
    """Records without an n-gram or an entry, which have no label."""
    n_bad: int
    """Records that were set aside."""


def predict_files(
    model: Model,
    inputs: Any,
    output: Any,
    *,
    source: Texts | Svmlight | None = None,
    proba: bool = False,
    top: int | None = None,
    min_score: float | None = None,
    min_proba: float | None = None,
    unknown: str = UNKNOWN,
    explain: int = 0,
    bad_records: Any = "error",
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: bool = True,
    task: tuple[str, int, int] | None = None,
    engine: Engine | None = None,
) -> LabelledFile:
    r"""Write the label and the scores of each record of files.

    The command ``sparsemaps predict`` calls this function. The output is a table with a header,
    whose columns are separated by tabs: "record", the number of a record, from 1 through all
    inputs, or "id"; "label"; and the score of each class, under its name. Of two classes, the score
    of the first is that of the second times -1. A regressor has one column, "value". A record
    without an n-gram, or a row without an entry, is unknown, and has no label or value. The output
    appears when it is complete.

    An output whose name ends in .jsonl or .ndjson has an object for each record instead: "record"
    or "id", "label" and "scores" (or "probas"), an object of numbers; with `top`, "labels" and
    "scores" are lists; with `explain`, "explain" is a list of pairs. The label of an unknown record
    is null unless `unknown` is given.

    Parameters
    ----------
    model : KernelClassifier or KernelRegressor
        A model that is fitted.
    inputs : str, path-like, file-like, or a sequence of these
        As for `train_files`; labels are not read. They are read once, a block at a time.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); "-" is standard output. A directory, which is one
        that exists or a name that ends in a slash, gets one output for each input, of the input's
        name without its ending of compression and with ".tsv", which is a table; records then count
        from 1 in each.
    source : Texts, Svmlight or None, default=None
        What the inputs are; of texts, the model's vectorizer is the analyzer.
    bad_records : str or path-like, default="error"
        As for `deduplicate_files`: a table of the records that cannot be read, which are set aside.
        It is an error if all records of an output are bad.
    n_jobs, progress
        As for `map_files`.
    proba : bool, default=False
        Whether to write the probability of each class in place of its score. The model must be
        calibrated, or of ``loss="log_loss"``. The label is that of the highest score all the same.
    top : int or None, default=None
        How many labels to write, the highest score first, each with its score or probability, in
        place of the label and the numbers of all classes. The columns are "label_1", "score_1" (or
        "proba_1"), "label_2" and so on.
    min_score, min_proba : float or None, default=None
        The least score or probability of a label. A record whose label has less is unknown; with
        `top`, labels that have less are left out. At most one of them is given.
    unknown : str, default=""
        The label of unknown records.
    explain : int, default=0
        For models of texts, how many n-grams to write in further columns, with what they add to the
        score of the label: those that add or take away most, as ``model.explain`` gives them.
    resume : bool, default=True
        For an output that is a directory, whether to take outputs that are complete already. A file
        OUTPUT.json beside each output records the model, the options, and the path, size and time
        of the input. Where one of these is another one, the output is made again.
    task : tuple (stage, i, n) or None, default=None
        For an output that is a directory: ("predict", i, n) makes only those outputs whose numbers
        are i modulo n. So n processes, on machines that share the directory, make all of them.
    engine : Engine or None, default=None
        What runs the tasks, such as ``sparsemaps.dask.Workers(client)``. Its workers reach the
        paths of inputs and output. The output is the same. None makes all results here.

    Returns
    -------
    answer : LabelledFile
        The numbers of records (`n_records`), of those that are unknown (`n_unknown`) or have no
        n-gram or entry (`n_empty`), of bad ones (`n_bad`), and of those of each label (`labels`);
        of a `task` those of the outputs that it has made.

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
    >>> [line.split(b"\t")[:2] for line in out.getvalue().splitlines()]
    [[b'record', b'label'], [b'1', b'b'], [b'2', b'a']]
    """
    bad = path_of(bad_records)
    lines = LineOptions(explain, proba, top, min_score, min_proba, unknown)
    plan = plan_of(model, inputs, output, source, n_jobs, lines=lines, bad_records=bad)
    answer: LabelledFile = run(plan, JobRun.of(progress, resume, task, engine))
    return answer


def filter_files(
    model: KernelClassifier,
    inputs: Any,
    output: Any,
    *,
    label: Any,
    min_score: float | None = None,
    min_proba: float | None = None,
    fraction: float | None = None,
    source: Texts | Svmlight | None = None,
    bad_records: Any = "error",
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: bool = True,
    task: tuple[str, int, int] | None = None,
    engine: Engine | None = None,
) -> FilteredFile:
    r"""Write the records of files that have some label, byte for byte and in their order.

    The command ``sparsemaps filter`` calls this function. The inputs are read twice: once for the
    scores, and once for the records. In between, a record takes one byte of memory, and 9 with
    `fraction`. Records without an n-gram or an entry have no label and are not written. The output
    appears when it is complete.

    Parameters
    ----------
    model : KernelClassifier
        A model that is fitted.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files, or texts if the model has a vectorizer, of one format if they go to one
        file. Labels are not read.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); Parquet, if the inputs are; "-" is standard
        output. A directory, which is one that exists or a name that ends in a slash, gets one
        output for each input, of the input's name.
    label : object, or list of objects
        A class of the model, compared as it is: "1" is not 1. Of several classes, a record needs
        one, and the highest of their scores counts.
    min_score, min_proba : float or None, default=None
        The least score or probability of that class; without them, records are written whose score
        is highest for it. Of two classes, the score of the first is that of the second times -1.
        Probabilities need a model that is calibrated, or of ``loss="log_loss"``.
    fraction : float or None, default=None
        Above 0 and at most 1: the share of the records of an output that is written, rounded up:
        those with the highest score of that class, of equal scores the first. At most one of
        `min_score`, `min_proba` and `fraction` is given.
    source, bad_records, n_jobs, progress
        As for `predict_files`.
    resume, task, engine
        As for `predict_files`; the stage is "filter".

    Returns
    -------
    answer : FilteredFile
        The numbers of records (`n_records`), of those that are written (`n_kept`), of those that
        are unknown (`n_unknown`) and of bad ones (`n_bad`); of a `task` those of the outputs that
        it has made.

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
    FilteredFile(n_records=2, n_kept=1, n_unknown=0, n_bad=0)
    >>> out.getvalue()
    b'0 2:1 # kept\n'
    """
    rule = rule_of(model, label, min_score, min_proba, fraction)
    bad = path_of(bad_records)
    plan = plan_of(model, inputs, output, source, n_jobs, rule=rule, bad_records=bad)
    answer: FilteredFile = run(plan, JobRun.of(progress, resume, task, engine))
    return answer


# ---- the job -------------------------------------------------------------------------------------


class Labelling(NamedTuple):
    """A job that writes lines about records, with their scores by a model, or the records of some
    labels. It takes the place of a `Job`."""

    model: Model
    source: Source
    n_jobs: int | None
    lines: LineOptions | None = None
    """The options of `predict_files`; None for `filter_files`."""
    rule: "_Rule | None" = None
    """The rule of the records that `filter_files` writes."""
    beside: tuple[str, ...] = ()
    bad_records: Any = None
    """The path of a table of records that are set aside; None if there is none."""

    @property
    def name(self) -> str:
        return "predict" if self.rule is None else "filter"

    @property
    def n_counts(self) -> int:
        """How many numbers there are for each input: of all records, written ones, unknown ones,
        those without samples, and bad ones; and in `predict_files`, of those of each label."""
        return 5 + (0 if self.lines is None else _n_classes(self.model))

    def check(self, outputs: list[tuple[Any, list[Any]]]) -> None:
        """Raise a ValueError where inputs cannot be read, or not go to their output."""
        coded = [input for _, inputs in outputs for input in inputs if holds_codes(input)]
        if self.lines is not None:
            if self.lines.explain and (coded or not isinstance(self.source, TextRows)):
                raise ValueError(f"{setting('explain', self.lines.explain)} is for texts")
            return
        if coded:
            raise ValueError(f"{coded[0]} has codes, from which records cannot be written")
        check_outputs(self.source, outputs)

    def prepared(self, inputs: list[Any], stack: ExitStack) -> "tuple[Labelling, list[Any]]":
        """Return the job, and inputs that can be read as often as it does."""
        return self, inputs if self.rule is None else spooled(inputs, stack)

    def recipe(self) -> dict[str, Any]:
        """Return the model and the options, which decide an output beside its inputs."""
        options: dict[str, Any] = {"rule": self.rule}
        if self.rule is None:
            options = {"lines": self.lines}
        options["sets_aside"] = self.bad_records is not None
        options["source"] = dataclasses.asdict(self.source.given)
        return {"model": digest_of(self.model), "options": options}

    def name_of_output(self, name: str) -> str:
        """Return the name of an output in a directory, by that of its input."""
        plain = _text_input.without_compression(name)
        return f"{plain}.tsv" if self.rule is None else name

    def run(self, inputs: list[Any], output: Any, run: TaskRun) -> list[list[int]]:
        """Write lines about the records of some inputs, or records; returns the numbers of each
        input, as `n_counts` has them."""
        with (
            _output_files.atomic_output(output) as file,
            opened_table(self.bad_records) as aside,
        ):
            if self.rule is None:
                numbers = self._write_lines(inputs, file, names_jsonl(output), run, aside)
            else:
                numbers = self._write_records(inputs, file, run, aside)
            if aside is not None:
                aside.finish()
            refuse_changes(inputs)
        return numbers

    def _write_lines(
        self, inputs: list[Any], file: Any, is_json: bool, run: TaskRun, aside: BadTable | None
    ) -> list[list[int]]:
        assert self.lines is not None
        form = JsonLines if is_json else Table
        lines = form(self.model, self.lines, any(map(self._has_ids, inputs)))
        file.write(lines.header())
        numbers, n_before = [[0] * self.n_counts for _ in inputs], 0
        for number, part, n_bad in self.scored(inputs, run, aside):
            n, found, more = len(part.scores), None, []
            is_unknown = ~part.known
            if isinstance(self.model, KernelClassifier):
                found = labelled(self.model, self.lines, part)
                first = found.taken[:, 0]
                is_unknown = ~first
                of_labels = np.bincount(found.order[first, 0], minlength=_n_classes(self.model))
                more = of_labels.tolist()
            file.write(lines.lines(part, found, n_before + 1))
            n_before += n
            counted = [n, n, int(is_unknown.sum()), int((~part.known).sum()), n_bad, *more]
            numbers[number] = list(map(sum, zip(numbers[number], counted, strict=True)))
        return numbers

    def _has_ids(self, input: Any) -> bool:
        if holds_codes(input):
            return os.path.exists(os.fspath(input) + IDS)
        return isinstance(self.source, TextRows) and self.source.given.id_field is not None

    def _write_records(
        self, inputs: list[Any], file: Any, run: TaskRun, aside: BadTable | None
    ) -> list[list[int]]:
        assert self.rule is not None
        marks: list[list[Array]] = [[self.rule.nothing] for _ in inputs]
        n_unknown, n_bad = [0] * len(inputs), [0] * len(inputs)
        for number, part, n_more in self.scored(inputs, run, aside):
            marks[number].append(self.rule.marks(self.model, part))
            n_unknown[number] += int((~part.known).sum())
            n_bad[number] += n_more
        kept = self.rule.kept(list(map(np.concatenate, marks)))
        selections = list(map(Selection, inputs, kept))
        with FileProgress(inputs, run.bar is None and run.progress, "records") as bar:
            write_kept(self.source, selections, file, run.n_jobs, bar)
        return [
            [len(one.kept), int(one.kept.sum()), unknown, unknown, bad]
            for one, unknown, bad in zip(selections, n_unknown, n_bad, strict=True)
        ]

    def scored(
        self, inputs: list[Any], run: TaskRun, aside: BadTable | None
    ) -> Iterator[tuple[int, Scored, int]]:
        """Yield the scores of the records of each input, with its number, a block at a time; and
        how many bad records came with the block."""
        n_reasons = 0 if self.lines is None else self.lines.explain

        def convert(block: Batch) -> Scored:
            codes = codes_of(self.model.map_, block)
            reasons = None
            if n_reasons:
                texts = (str(text) for text in block.texts)
                reasons = [self.model.explain(text)[:n_reasons] for text in texts]
            scores = scores_of(self.model, codes)
            return Scored(scores, codes.sampled, block.id_columns, block.ids, reasons)

        n_bad = 0
        with run.reading(inputs, "scores") as bar:
            for number, input in enumerate(inputs):
                if holds_codes(input):
                    parts = _scored_codes(self.model, input, bar)
                else:
                    reading: dict[str, Any] = {"n_jobs": run.n_jobs, "bar": bar, "aside": aside}
                    parts = read_rows(self.source, input, convert, **reading)
                for part in parts:
                    n_before, n_bad = n_bad, 0 if aside is None else aside.n_bad
                    yield number, part, n_bad - n_before


def _n_classes(model: Model) -> int:
    return len(model.classes_) if isinstance(model, KernelClassifier) else 0


def plan_of(
    model: Any,
    inputs: Any,
    output: Any,
    source: Any,
    n_jobs: int | None,
    *,
    lines: LineOptions | None = None,
    rule: "_Rule | None" = None,
    bad_records: Any = None,
) -> OutputPlan:
    """Return the plan of `predict_files`, or with a rule, of `filter_files`."""
    if getattr(model, "multilabel_", False):
        raise ValueError(
            "files are labelled by models of one label a record, got one of several: predict and "
            "predict_proba take records of them"
        )
    if rule is None:
        lines = checked_options(model, lines or LineOptions())
    rows = rows_of(model.map_, getattr(model, "vectorizer_", None), source, expand(inputs))
    rows = rows._replace(sets_aside=bad_records is not None)
    job = Labelling(model, rows, n_jobs, lines, rule, bad_records=bad_records)
    return make_plan(job, inputs, output)


listing = _map.listing


def run(plan: OutputPlan, running: JobRun) -> Any:
    """Write the output, or all outputs, or those of a share: the numbers of records."""
    job = plan.job
    made = [made.numbers for made in _map.run(plan, running)]
    numbers = list(map(sum, zip(*made, strict=True))) or [0] * job.n_counts
    n_records, n_kept, n_unknown, n_empty, n_bad = numbers[:5]
    if job.rule is not None:
        return FilteredFile(n_records, n_kept, n_unknown, n_bad)
    classes = getattr(job.model, "classes_", np.empty(0)).tolist()
    pairs = sorted(zip(classes, numbers[5:], strict=True), key=lambda pair: -pair[1])
    labels = {label: n for label, n in pairs if n}
    return LabelledFile(n_records, n_unknown, n_empty, n_bad, labels)


class _Rule(NamedTuple):
    """The records that `filter_files` writes. Of several labels, the highest value counts."""

    numbers: list[int]
    """The numbers of the labels among the classes."""
    min_score: float | None = None
    min_proba: float | None = None
    fraction: float | None = None

    @property
    def nothing(self) -> Array:
        """Marks of no records."""
        return np.zeros(0, bool if self.fraction is None else float)

    def marks(self, model: Any, part: Scored) -> Array:
        """Return which records are written; of a fraction, their scores, or minus infinity for
        records without samples."""
        scores = scores_of_classes(part.scores)
        if self.min_proba is not None:
            shares = probabilities(model, part.scores)
            return part.known & (shares[:, self.numbers].max(axis=1) >= self.min_proba)
        best = scores[:, self.numbers].max(axis=1)
        if self.fraction is not None:
            return np.where(part.known, best, -np.inf)
        if self.min_score is not None:
            return part.known & (best >= self.min_score)
        return part.known & np.isin(scores.argmax(axis=1), self.numbers)

    def kept(self, marks: list[Array]) -> list[Array]:
        """Return which records of each input are written, by all marks."""
        if self.fraction is None:
            return marks
        scores = np.concatenate(marks)
        n_best = math.ceil(Fraction(repr(self.fraction)) * len(scores))
        kept = np.zeros(len(scores), bool)
        kept[np.argsort(-scores, kind="stable")[:n_best]] = True
        kept &= scores > -np.inf
        return np.split(kept, np.cumsum([len(some) for some in marks])[:-1])


def rule_of(
    model: Any,
    labels: Any,
    min_score: float | None = None,
    min_proba: float | None = None,
    fraction: float | None = None,
) -> _Rule:
    """Return the rule of `filter_files`, after a check."""
    if not isinstance(model, KernelClassifier):
        raise ValueError(f"records are chosen by a KernelClassifier, got a {type(model).__name__}")
    several = list(labels) if isinstance(labels, (list, tuple, np.ndarray)) else [labels]
    numbers = [number_of_label(model.classes_, label) for label in several]
    found = [number for number in numbers if number is not None]
    if len(found) < len(several) or not found:
        shown = ", ".join(repr(one) for one in model.classes_[:20].tolist())
        wrong = repr(several[numbers.index(None)]) if several else "none"
        raise ParameterError("label", wrong, f"a class of the model ({shown})")
    if min_proba is not None and not hasattr(model, "predict_proba"):
        raise ValueError(f"{setting('min_proba', min_proba)} needs {HAS_PROBA}")
    least = checked_least(min_score, min_proba)
    if fraction is not None:
        for name, value in (("min_score", min_score), ("min_proba", min_proba)):
            if value is not None:
                raise ValueError(
                    f"give {setting('fraction', fraction)} or {setting(name, value)}, not both"
                )
        fraction = _checks.check_real("fraction", fraction, 0, open_low=True)
        if fraction > 1:
            raise ParameterError("fraction", repr(fraction), "above 0 and at most 1")
    return _Rule(sorted(set(found)), *least, fraction)


# ---- scores --------------------------------------------------------------------------------------


def _scored_codes(model: Model, path: Any, bar: Any) -> Iterator[Scored]:
    """Yield the scores of the records of a file of codes."""
    codes = PackedCodes.load(path)
    try:
        refuse_other_codes(model, codes)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    has_ids = os.path.exists(os.fspath(path) + IDS)
    with names_of_rows(path, len(codes)) as name:
        for start in range(0, len(codes), _CODED_ROWS):
            some = codes[start : start + _CODED_ROWS]
            ids = [name(start + row) for row in range(len(some))] if has_ids else None
            yield Scored(scores_of(model, some), some.sampled, ids)
    bar.add(os.path.getsize(path), len(codes))
