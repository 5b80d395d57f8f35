"""`filter_files`: selection of the records of files by label."""

import dataclasses
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any, ClassVar, NamedTuple, Self, Unpack

import numpy as np

from sparsemaps._io import _output_files
from sparsemaps._io._array_files import ArrayKind, read_array, save_array
from sparsemaps._io._progress import FileProgress
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._sources import BAD, Input, expand, refuse_changes, spooled
from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._parameters import ParameterError, setting
from sparsemaps._tools._typing import Array, Destination, Inputs
from sparsemaps.files._bad_records import BadTable, opened_table
from sparsemaps.files._fractions import Cut, cut_of, taken
from sparsemaps.files._job_options import JOBS, Aside, LabelChoice, Run, Svmlight, Texts
from sparsemaps.files._kept_records import Selection, check_outputs, write_kept
from sparsemaps.files._keywords import FilterFilesKeywords
from sparsemaps.files._label_lines import HAS_PROBA, Scored, has_several, scores_of_classes
from sparsemaps.files._labels import Labelling, RecordCounts
from sparsemaps.files._output_job import MadeOutput
from sparsemaps.files._outputs import OutputPlan, recipe_of_input
from sparsemaps.files._record_labels import Model, check_model
from sparsemaps.files._results import Results
from sparsemaps.files._tasks import Stage, Task, TaskRun
from sparsemaps.linear import KernelClassifier
from sparsemaps.linear._classifier import probabilities
from sparsemaps.linear._model_checks import number_of_label, shown_labels
from sparsemaps.records._table import holds_codes


class FilteredFile(NamedTuple):
    """The result of `filter_files`."""

    n_records: int
    n_kept: int
    n_unknown: int
    """Number of records without an n-gram or an entry, which get no label."""
    n_bad: int
    """Number of records that were set aside."""


@takes(*JOBS["filter_files"])
def filter_files(
    model: KernelClassifier,
    inputs: Inputs,
    output: Destination,
    *,
    label: object,
    source: Texts | Svmlight | None = None,
    **options: Unpack[FilterFilesKeywords],
) -> FilteredFile:
    r"""Write the records of files to which a model assigns a label, byte for byte and in order.

    The command ``sparsemaps filter`` calls this function. The inputs are read twice: once for the
    scores, and once for the records. In between, a record takes one byte of memory, or 9 with
    `fraction`. Records without an n-gram or an entry get no label and are not written. The output
    appears when it is complete.

    Parameters
    ----------
    model : KernelClassifier
        A fitted model.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files, or texts if the model has a vectorizer. Inputs that go to one file must have
        the same format. Labels are not read.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst), or Parquet if the inputs are Parquet; "-" is
        standard output. An existing directory, or a name that ends in a slash, gets one output per
        input, with the input's name.
    label : object, or list of objects
        A class of the model, of the same type: "1" is not 1. With several classes, a record needs
        one of them, and the highest of their scores counts. In a model with several labels per
        record, a record has the labels with a score above 0.
    source : Texts, Svmlight or None, default=None
        As for `predict_files`.
    [options]

    Returns
    -------
    answer : FilteredFile
        The numbers of all records (`n_records`), of written (`n_kept`), unknown (`n_unknown`) and
        bad ones (`n_bad`). With a `task`, they cover the outputs that it made.

    Raises
    ------
    ValueError
        If a parameter is not allowed, the model has no such class, an input changes during the run,
        or a line does not have the format.
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
    choice, run_, aside = LabelChoice.of(options), Run.of(options), Aside.of(options).aside
    paths, keep = expand(inputs), label_filter_for(model, label, choice)
    job = Filtering.of(model, paths, source, aside, filter=keep)
    answer: FilteredFile = OutputPlan.of(job, paths, output).run(run_)
    return answer


@dataclass(frozen=True)
class Filtering(Labelling):
    """A job that writes the records with given labels."""

    filter: "LabelFilter"

    name: ClassVar[str] = "filter"
    n_counts: ClassVar[int] = len(RecordCounts._fields)

    @property
    def needs_all_inputs(self) -> bool:
        """Whether a fraction of the records is written, which depends on all inputs together."""
        return self.filter.least.fraction is not None

    def check(self, outputs: list[tuple[Any, list[Any]]]) -> None:
        for input in [one for _, inputs in outputs for one in inputs]:
            if holds_codes(input):
                raise ValueError(f"{input} has codes, from which records cannot be written")
        check_outputs(self.source, outputs)

    def prepared(
        self, inputs: list[Any], n_jobs: int | None, stack: ExitStack
    ) -> tuple[Self, list[Any]]:
        return self, spooled(inputs, stack)

    def recipe(self) -> dict[str, Any]:
        return self._recipe({"rule": self.filter.recipe})

    def name_of_output(self, name: str) -> str:
        return name

    def stages_to(self, outputs: Stage, results: Results) -> Iterator[Stage]:
        """Yield the stage of the outputs. A fraction refers to the records of all inputs, so it
        needs two more stages before: the scores of each input, and the cut, which is one value."""
        fraction = self.filter.least.fraction
        if fraction is None:
            yield outputs
            return
        whole, whole_of_scores = self.recipe(), self._recipe({"labels": self.filter.numbers})
        scores = []
        for number, task in enumerate(outputs.tasks):
            recipe = {**whole_of_scores, **recipe_of_input(self.source, *task.of)}
            scores.append(Task(f"scores-{number:06d}.npy", recipe, task.of, task.size))
        files = [task.file for task in scores]
        cut = Task("cut", {"fraction": fraction, "scores": files}, (results, files, fraction))
        tasks = [
            task._replace(  # receipts have the cut before the input
                recipe={**whole, "cut": cut.digest, **task.recipe},
                of=(results, *task.of, number, scores[number], cut),
            )
            for number, task in enumerate(outputs.tasks)
        ]
        outputs = outputs._replace(tasks=tasks, make=self._write_part)
        about, endings = "the scores of the records of each input", ("", *self._ending)
        yield Stage("scores", scores, self._write_scores, results, endings, outputs, about)
        yield Stage("cut", [cut], _find_cut, results, (), outputs, about="the least score")
        yield outputs

    @property
    def _ending(self) -> tuple[str, ...]:
        """The ending of the table of bad records, if there is a table."""
        return () if self.bad_records is None else (BAD,)

    def _write_scores(self, input: Input, path: str, run: TaskRun) -> list[int]:
        """Write the scores of the records of an input, and return the numbers of records, of empty
        ones and of bad ones."""
        with opened_table(None if self.bad_records is None else path + BAD) as aside:
            ((scores, n_empty, n_bad),) = self.marks([input], run, aside)
            refuse_changes([input])
            save_array(path, scores)
        return [len(scores), n_empty, n_bad]

    def _write_part(
        self,
        results: Results,
        input: Input,
        number: int,
        scores: Task,
        cut: Task,
        path: str,
        run: TaskRun,
    ) -> list[int]:
        """Write the output of the given input and its table of bad records."""
        try:
            of_all = Cut.of_json(results.value(cut.file, cut.digest), number + 1)
        except ValueError as error:
            raise ValueError(f"the receipt of {cut.file} is damaged: {error}") from None
        n_records, n_empty, n_bad = results.counts(scores.file, scores.digest, 3)
        kept = taken(_scores_in(results, scores.file), of_all.least, of_all.n_equal[number])
        with _output_files.atomic_output(path) as file, run.reading([input], "records") as bar:
            write_kept(self.source, [Selection(input, kept)], file, run.n_jobs, bar)
            refuse_changes([input])
        for ending in self._ending:
            with (
                open_regular(results.path(scores.file + ending)) as table,
                _output_files.atomic_output(path + ending) as copy,
            ):
                shutil.copyfileobj(table, copy)
        return list(RecordCounts(n_records, int(kept.sum()), n_empty, n_empty, n_bad))

    def write(
        self,
        inputs: list[Any],
        file: IO[bytes],
        run: TaskRun,
        aside: BadTable | None,
    ) -> list[list[int]]:
        marks, n_empty, n_bad = zip(*self.marks(inputs, run, aside), strict=True)
        if aside is not None:
            aside.finish()  # before a pipe gets an output without records
        selections = list(map(Selection, inputs, self.filter.kept(list(marks))))
        with FileProgress(inputs, run.bar is None and run.progress, "records") as bar:
            write_kept(self.source, selections, file, run.n_jobs, bar)
        return [
            list(RecordCounts(len(one.kept), int(one.kept.sum()), empty, empty, bad))
            for one, empty, bad in zip(selections, n_empty, n_bad, strict=True)
        ]

    def answer(self, made: list[MadeOutput]) -> FilteredFile:
        counts, _ = self.sums(made)
        return FilteredFile(counts.n_records, counts.n_written, counts.n_unknown, counts.n_bad)

    def marks(
        self, inputs: list[Any], run: TaskRun, aside: BadTable | None
    ) -> list[tuple[Array, int, int]]:
        """Return, for each input, the marks of its records by the filter, and the numbers of empty
        and of bad records."""
        marks: list[list[Array]] = [[self.filter.nothing] for _ in inputs]
        n_empty, n_bad = [0] * len(inputs), [0] * len(inputs)
        for number, part, n_more in self.scored(inputs, run, aside):
            marks[number].append(self.filter.marks(self.model, part))
            n_empty[number] += int((~part.known).sum())
            n_bad[number] += n_more
        return list(zip(map(np.concatenate, marks), n_empty, n_bad, strict=True))


def _find_cut(results: Results, files: list[str], fraction: float, path: str, run: TaskRun) -> Any:
    """Return the cut of all inputs, for JSON."""
    return cut_of([_scores_in(results, file) for file in files], fraction).to_json()


def _scores_in(results: Results, file: str) -> Array:
    return read_array(results.path(file), ArrayKind("<f8"))


class LabelFilter(NamedTuple):
    """The rule by which `filter_files` selects records. With several labels, the highest value
    counts."""

    numbers: list[int]
    """Indices of the labels in the model's classes."""
    least: LabelChoice = LabelChoice()

    @property
    def recipe(self) -> list[Any]:
        return [self.numbers, *dataclasses.astuple(self.least)]

    @property
    def nothing(self) -> Array:
        """The marks of no records."""
        return np.zeros(0, bool if self.least.fraction is None else float)

    def marks(self, model: Any, part: Scored) -> Array:
        """Return a mask of the records to write. With a fraction, return their scores, and minus
        infinity for records without samples."""
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
        """Return masks of the records of each input to write, from all marks."""
        if self.least.fraction is None:
            return marks
        cut = cut_of(marks, self.least.fraction)
        return [taken(some, cut.least, n) for some, n in zip(marks, cut.n_equal, strict=True)]


def label_filter_for(model: Model, labels: object, least: LabelChoice) -> LabelFilter:
    """Return the filter of `filter_files`, after checking the arguments."""
    check_model(model)
    if not isinstance(model, KernelClassifier):
        raise ValueError("filter needs a classifier, but the model is for regression")
    several = labels.reshape(-1) if isinstance(labels, np.ndarray) else labels
    several = list(several) if isinstance(several, (list, tuple, np.ndarray)) else [labels]
    numbers = [number_of_label(model.classes_, label) for label in several]
    found = [number for number in numbers if number is not None]
    if len(found) < len(several) or not found:
        wrong = repr(several[numbers.index(None)]) if several else "none"
        raise ParameterError(
            "label", wrong, f"a class of the model ({shown_labels(model.classes_)})"
        )
    if least.min_proba is not None and not hasattr(model, "predict_proba"):
        raise ValueError(f"{setting('min_proba', least.min_proba)} needs {HAS_PROBA}")
    return LabelFilter(sorted(set(found)), least)
