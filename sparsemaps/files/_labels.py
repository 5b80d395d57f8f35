"""The job of `predict_files` and `filter_files`: labels of the records of files."""

import dataclasses
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, Any, NamedTuple

import numpy as np

from sparsemaps._io import _output_files, _text_input, _urls
from sparsemaps._io._progress import FileProgress, Progress
from sparsemaps._io._sources import IDS, expand, refuse_changes, spooled
from sparsemaps._tools._parameters import ParameterError, setting
from sparsemaps._tools._typing import Array, Destination, Inputs, StrPath
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._bad_table import BadTable, opened_table
from sparsemaps.files._fractions import FractionStages, cut_of, taken
from sparsemaps.files._job_options import (
    GivenSource,
    LabelChoice,
    LineOptions,
)
from sparsemaps.files._kept_records import Selection, check_outputs, write_kept
from sparsemaps.files._label_lines import (
    HAS_PROBA,
    JsonLines,
    Scored,
    Table,
    has_several,
    labelled,
    names_jsonl,
    scores_of_classes,
)
from sparsemaps.files._learning import Model, rows_of
from sparsemaps.files._outputs import MadeOutput
from sparsemaps.files._row_names import names_of_rows
from sparsemaps.files._rows import codes_of, read_rows
from sparsemaps.files._tasks import TaskRun
from sparsemaps.files._text_rows import Source
from sparsemaps.linear import KernelClassifier
from sparsemaps.linear._classifier import probabilities
from sparsemaps.linear._model import scores_of
from sparsemaps.linear._model_checks import number_of_label, refuse_other_codes
from sparsemaps.linear._model_file import digest_of
from sparsemaps.records._batch import Batch
from sparsemaps.records._table import holds_codes

_CODED_ROWS = 2**16
"""The most rows of a file of codes whose scores are computed together."""

_SCORES = 2**22
"""The most scores of rows that are in memory together, for each thread."""


def most_rows(model: Model) -> int:
    """Return the most rows whose scores are computed together."""
    return max(1, _SCORES // len(model.intercept_))


# ---- the job -------------------------------------------------------------------------------------


class Labelling(NamedTuple):
    """A job that writes lines about records, with their scores by a model, or the records of some
    labels. It takes the place of a `Job`."""

    model: Model
    source: Source
    n_jobs: int | None
    lines: LineOptions | None = None
    """The options of `predict_files`; None for `filter_files`."""
    filter: "LabelFilter | None" = None
    """Which records that `filter_files` writes."""
    beside: tuple[str, ...] = ()
    bad_records: Any = None
    """The path of a table of records that are set aside; None if there is none."""

    @property
    def name(self) -> str:
        return "predict" if self.filter is None else "filter"

    @property
    def n_counts(self) -> int:
        """How many numbers there are for each input: of all records, written ones, unknown ones,
        those without samples, and bad ones; and in `predict_files`, of those of each label."""
        return 5 + (0 if self.lines is None else _n_classes(self.model))

    def check(self, outputs: list[tuple[Any, list[Any]]]) -> None:
        """Raise a ValueError where inputs cannot be read, or not go to their output."""
        coded = [input for _, inputs in outputs for input in inputs if holds_codes(input)]
        if self.lines is not None:
            if self.lines.explain and (coded or not self.source.has_ngrams):
                raise ValueError(f"{setting('explain', self.lines.explain)} is for texts")
            return
        if coded:
            raise ValueError(f"{coded[0]} has codes, from which records cannot be written")
        check_outputs(self.source, outputs)

    def prepared(self, inputs: list[Any], stack: ExitStack) -> "tuple[Labelling, list[Any]]":
        """Return the job, and inputs that can be read as often as it does."""
        return self, inputs if self.filter is None else spooled(inputs, stack)

    def recipe(self) -> dict[str, Any]:
        """Return the model and the options, which decide an output beside its inputs."""
        if self.lines is not None:
            return self._recipe({"lines": dataclasses.asdict(self.lines)})
        return self._recipe({"rule": self.filter and self.filter.recipe})

    def recipe_of_scores(self) -> dict[str, Any]:
        """Return what decides the scores of records, beside these."""
        assert self.filter is not None
        return self._recipe({"labels": self.filter.numbers})

    def _recipe(self, options: dict[str, Any]) -> dict[str, Any]:
        options["sets_aside"] = self.bad_records is not None
        options["source"] = dataclasses.asdict(self.source.given)
        return {"model": digest_of(self.model), "options": options}

    def in_common(self, inputs: list[Any], folder: str) -> FractionStages | None:
        """Return the stages by which outputs depend on all inputs; None if they do not."""
        has_fraction = self.filter is not None and self.filter.least.fraction is not None
        return FractionStages(self, inputs, folder) if has_fraction else None

    def name_of_output(self, name: str) -> str:
        """Return the name of an output in a directory, by that of its input."""
        plain = _text_input.without_compression(name)
        return f"{plain}.tsv" if self.filter is None else name

    def run(self, inputs: list[Any], output: Destination, run: TaskRun) -> list[list[int]]:
        """Write lines about the records of some inputs, or records; returns the numbers of each
        input, as `n_counts` has them."""
        with (
            _output_files.atomic_output(output) as file,
            opened_table(self.bad_records) as aside,
        ):
            if self.filter is None:
                numbers = self._write_lines(inputs, file, names_jsonl(output), run, aside)
            else:
                numbers = self._write_records(inputs, file, run, aside)
            if aside is not None:
                aside.finish()
            refuse_changes(inputs)
        return numbers

    def _write_lines(
        self,
        inputs: list[Any],
        file: IO[bytes],
        is_json: bool,
        run: TaskRun,
        aside: BadTable | None,
    ) -> list[list[int]]:
        assert self.lines is not None
        form = JsonLines if is_json else Table
        lines = form(self.model, self.lines, any(map(self._has_ids, inputs)))
        file.write(lines.header())
        numbers, n_before = [[0] * self.n_counts for _ in inputs], 0
        for number, part, n_bad in self.scored(inputs, run, aside):
            n, found, more = len(part.scores), None, []
            is_unknown: Any = ~part.known
            if isinstance(self.model, KernelClassifier):
                found = labelled(self.model, self.lines, part)
                n_each = found.order.shape[1] if has_several(self.model) else 1
                taken = found.taken[:, :n_each]
                is_unknown = ~taken.any(axis=1)
                of_labels = found.order[:, :n_each][taken]
                more = np.bincount(of_labels, minlength=_n_classes(self.model)).tolist()
            file.write(lines.lines(part, found, n_before + 1))
            n_before += n
            counted = [n, n, int(is_unknown.sum()), int((~part.known).sum()), n_bad, *more]
            numbers[number] = list(map(sum, zip(numbers[number], counted, strict=True)))
        return numbers

    def _has_ids(self, input: Any) -> bool:
        if holds_codes(input):
            return _urls.exists(os.fspath(input) + IDS)
        return self.source.has_ids

    def _write_records(
        self, inputs: list[Any], file: IO[bytes], run: TaskRun, aside: BadTable | None
    ) -> list[list[int]]:
        assert self.filter is not None
        marks, n_unknown, n_bad = zip(*self.marks(inputs, run, aside), strict=True)
        selections = list(map(Selection, inputs, self.filter.kept(list(marks))))
        with FileProgress(inputs, run.bar is None and run.progress, "records") as bar:
            write_kept(self.source, selections, file, run.n_jobs, bar)
        return [
            [len(one.kept), int(one.kept.sum()), unknown, unknown, bad]
            for one, unknown, bad in zip(selections, n_unknown, n_bad, strict=True)
        ]

    def marks(
        self, inputs: list[Any], run: TaskRun, aside: BadTable | None
    ) -> list[tuple[Array, int, int]]:
        """Return for each input the marks of its records, by the filter, and how many records are
        unknown and bad."""
        assert self.filter is not None
        marks: list[list[Array]] = [[self.filter.nothing] for _ in inputs]
        n_unknown, n_bad = [0] * len(inputs), [0] * len(inputs)
        for number, part, n_more in self.scored(inputs, run, aside):
            marks[number].append(self.filter.marks(self.model, part))
            n_unknown[number] += int((~part.known).sum())
            n_bad[number] += n_more
        return list(zip(map(np.concatenate, marks), n_unknown, n_bad, strict=True))

    def scored(
        self, inputs: list[Any], run: TaskRun, aside: BadTable | None
    ) -> Iterator[tuple[int, Scored, int]]:
        """Yield the scores of the records of each input, with its number, a block at a time; and
        how many bad records came with the block."""
        n_reasons = 0 if self.lines is None else self.lines.explain
        by_proba = self.lines is not None and self.lines.proba

        def convert(block: Batch) -> Scored:
            codes = codes_of(self.model.map_, block)
            scores = scores_of(self.model, codes)
            reasons = None
            if n_reasons:
                every = _reasons(self.model, block, scores, by_proba)
                reasons = [some[:n_reasons] for some in every]
            return Scored(scores, codes.sampled, block.id_columns, block.ids, reasons)

        n_bad = 0
        with run.reading(inputs, "scores") as bar:
            for number, input in enumerate(inputs):
                if holds_codes(input):
                    parts = _scored_codes(self.model, input, bar)
                else:
                    reading: dict[str, Any] = {"n_jobs": run.n_jobs, "bar": bar, "aside": aside}
                    reading["max_rows"] = most_rows(self.model)
                    parts = read_rows(self.source, input, convert, **reading)
                for part in parts:
                    n_before, n_bad = n_bad, 0 if aside is None else aside.n_bad
                    yield number, part, n_bad - n_before


def _reasons(
    model: Model, block: Batch, scores: Array, by_proba: bool
) -> Iterator[list[tuple[str, float]]]:
    """Yield what the n-grams of each text add to the score of its label; if texts may have several,
    of the first that is written."""
    texts = map(str, block.texts)
    if not (isinstance(model, KernelClassifier) and model.multilabel_):
        yield from map(model.explain, texts)
        return
    best = (probabilities(model, scores) if by_proba else scores).argmax(axis=1)
    for text, number in zip(texts, best.tolist(), strict=True):
        yield model.explain(text, model.classes_[number])


def _n_classes(model: Model) -> int:
    return len(model.classes_) if isinstance(model, KernelClassifier) else 0


def checked_job(
    model: Model,
    inputs: Inputs,
    source: GivenSource,
    n_jobs: int | None,
    bad_records: StrPath | None,
    lines: LineOptions | None = None,
    filter: "LabelFilter | None" = None,
) -> Labelling:
    """Return the job of `predict_files`, or with a filter, of `filter_files`."""
    rows = rows_of(model.map_, getattr(model, "vectorizer_", None), source, expand(inputs))
    rows = rows._replace(sets_aside=bad_records is not None)
    return Labelling(model, rows, n_jobs, lines, filter, bad_records=bad_records)


def sums(job: Labelling, made: list[MadeOutput]) -> list[int]:
    """Return the sums of the numbers of all inputs."""
    numbers = [one.numbers for one in made]
    return list(map(sum, zip(*numbers, strict=True))) or [0] * job.n_counts


class LabelFilter(NamedTuple):
    """The records that `filter_files` writes. Of several labels, the highest value counts."""

    numbers: list[int]
    """The numbers of the labels among the classes."""
    least: LabelChoice = LabelChoice()

    @property
    def recipe(self) -> list[Any]:
        return [self.numbers, *dataclasses.astuple(self.least)]

    @property
    def nothing(self) -> Array:
        """Marks of no records."""
        return np.zeros(0, bool if self.least.fraction is None else float)

    def marks(self, model: Any, part: Scored) -> Array:
        """Return which records are written; of a fraction, their scores, or minus infinity for
        records without samples."""
        scores = scores_of_classes(model, part.scores)
        if self.least.min_proba is not None:
            shares = probabilities(model, part.scores)
            return part.known & (shares[:, self.numbers].max(axis=1) >= self.least.min_proba)
        best = scores[:, self.numbers].max(axis=1)
        if self.least.fraction is not None:
            return np.where(part.known, best, -np.inf)
        if self.least.min_score is not None:
            return part.known & (best >= self.least.min_score)
        if has_several(model):
            return part.known & (best > 0)
        return part.known & np.isin(scores.argmax(axis=1), self.numbers)

    def kept(self, marks: list[Array]) -> list[Array]:
        """Return which records of each input are written, by all marks."""
        if self.least.fraction is None:
            return marks
        cut = cut_of(marks, self.least.fraction)
        return [taken(some, cut.least, n) for some, n in zip(marks, cut.n_equal, strict=True)]


def filter_for(
    model: Model,
    labels: object,
    least: LabelChoice,
) -> LabelFilter:
    """Return the filter of `filter_files`, after a check."""
    if not isinstance(model, KernelClassifier):
        raise ValueError(f"records are chosen by a KernelClassifier, got a {type(model).__name__}")
    several = labels.reshape(-1) if isinstance(labels, np.ndarray) else labels
    several = list(several) if isinstance(several, (list, tuple, np.ndarray)) else [labels]
    numbers = [number_of_label(model.classes_, label) for label in several]
    found = [number for number in numbers if number is not None]
    if len(found) < len(several) or not found:
        shown = ", ".join(repr(one) for one in model.classes_[:20].tolist())
        wrong = repr(several[numbers.index(None)]) if several else "none"
        raise ParameterError("label", wrong, f"a class of the model ({shown})")
    if least.min_proba is not None and not hasattr(model, "predict_proba"):
        raise ValueError(f"{setting('min_proba', least.min_proba)} needs {HAS_PROBA}")
    return LabelFilter(sorted(set(found)), least)


# ---- scores --------------------------------------------------------------------------------------


def _scored_codes(model: Model, path: StrPath, bar: Progress) -> Iterator[Scored]:
    """Yield the scores of the records of a file of codes."""
    codes = PackedCodes.load(path)
    try:
        refuse_other_codes(model, codes)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    has_ids = _urls.exists(os.fspath(path) + IDS)
    with names_of_rows(path, len(codes)) as name:
        step = min(_CODED_ROWS, most_rows(model))
        for start in range(0, len(codes), step):
            some = codes[start : start + step]
            ids = [name(start + row) for row in range(len(some))] if has_ids else None
            yield Scored(scores_of(model, some), some.sampled, ids)
    bar.add(getattr(path, "n_bytes", 0), len(codes))
