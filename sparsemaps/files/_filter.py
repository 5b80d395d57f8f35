"""`filter_files`: the records of files that have some label."""

import dataclasses
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any, ClassVar, NamedTuple, Self, Unpack

import numpy as np

from sparsemaps._io._progress import FileProgress
from sparsemaps._io._sources import expand, spooled
from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._parameters import ParameterError, setting, shown
from sparsemaps._tools._typing import Array, Destination, Inputs
from sparsemaps.files._bad_records import BadTable
from sparsemaps.files._fractions import cut_of, fraction_stages, taken
from sparsemaps.files._job_options import JOBS, Aside, LabelChoice, Run, Svmlight, Texts
from sparsemaps.files._kept_records import Selection, check_outputs, write_kept
from sparsemaps.files._keywords import FilterFilesKeywords
from sparsemaps.files._label_lines import HAS_PROBA, Scored, has_several, scores_of_classes
from sparsemaps.files._labels import Labelling, RecordCounts
from sparsemaps.files._output_job import MadeOutput
from sparsemaps.files._outputs import OutputPlan
from sparsemaps.files._record_labels import Model
from sparsemaps.files._results import Results
from sparsemaps.files._tasks import Stage, TaskRun
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.linear._classifier import probabilities
from sparsemaps.linear._model_checks import number_of_label
from sparsemaps.records._table import holds_codes


class FilteredFile(NamedTuple):
    """The result of `filter_files`."""

    n_records: int
    n_kept: int
    n_unknown: int
    """Records without an n-gram or an entry, which have no label."""
    n_bad: int
    """Records that were set aside."""


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
        A class of the model, of the same type: "1" is not 1. Of several classes, a record needs
        one, and the highest of their scores counts. If records may have several labels, a record
        has those with a score above 0.
    source : Texts, Svmlight or None, default=None
        As for `predict_files`.
    [options]

    Returns
    -------
    answer : FilteredFile
        The numbers of all records (`n_records`), of written (`n_kept`), unknown (`n_unknown`) and
        bad ones (`n_bad`); with a `task`, in the outputs that it has made.

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
    >>> from sparsemaps.linear import KernelClassifier, KernelRegressor
    >>> model = KernelClassifier(MinHash(random_state=0), random_state=0)
    >>> model = model.fit([[1, 0, 1], [0, 1, 0]], ["a", "b"])
    >>> out = BytesIO()
    >>> filter_files(model, BytesIO(b"0 2:1 # kept\n0 1:1 3:1\n"), out, label="b")
    FilteredFile(n_records=2, n_kept=1, n_unknown=0, n_bad=0)
    >>> out.getvalue()
    b'0 2:1 # kept\n'
    """
    choice, run_, aside = LabelChoice.of(options), Run.of(options), Aside.of(options).aside
    paths, keep = expand(inputs), filter_for(model, label, choice)
    job = Filtering.of(model, paths, source, aside, filter=keep)
    answer: FilteredFile = OutputPlan.of(job, paths, output).run(run_)
    return answer


@dataclass(frozen=True)
class Filtering(Labelling):
    """A job that writes the records of some labels."""

    filter: "LabelFilter"

    name: ClassVar[str] = "filter"
    n_counts: ClassVar[int] = len(RecordCounts._fields)

    @property
    def needs_all_inputs(self) -> bool:
        """Whether a fraction of the records is written, which is one of all inputs together."""
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

    def recipe_of_scores(self) -> dict[str, Any]:
        """Return what decides the scores of records, beside these."""
        return self._recipe({"labels": self.filter.numbers})

    def name_of_output(self, name: str) -> str:
        return name

    def stages_to(self, outputs: Stage, results: Results) -> Iterator[Stage]:
        fraction = self.filter.least.fraction
        if fraction is None:
            return iter([outputs])
        return fraction_stages(self, fraction, outputs, results)

    def write(
        self,
        inputs: list[Any],
        file: IO[bytes],
        run: TaskRun,
        aside: BadTable | None,
        is_json: bool,
    ) -> list[list[int]]:
        marks, n_empty, n_bad = zip(*self.marks(inputs, run, aside), strict=True)
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
        """Return for each input the marks of its records, by the filter, and how many records are
        empty and bad."""
        marks: list[list[Array]] = [[self.filter.nothing] for _ in inputs]
        n_empty, n_bad = [0] * len(inputs), [0] * len(inputs)
        for number, part, n_more in self.scored(inputs, run, aside):
            marks[number].append(self.filter.marks(self.model, part))
            n_empty[number] += int((~part.known).sum())
            n_bad[number] += n_more
        return list(zip(map(np.concatenate, marks), n_empty, n_bad, strict=True))


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


def filter_for(model: Model, labels: object, least: LabelChoice) -> LabelFilter:
    """Return the filter of `filter_files`, after a check."""
    if isinstance(model, KernelRegressor):
        raise ValueError("records are chosen by their labels, and the model is for regression")
    if not isinstance(model, KernelClassifier):
        raise ValueError(f"records are chosen by a KernelClassifier, got a {type(model).__name__}")
    several = labels.reshape(-1) if isinstance(labels, np.ndarray) else labels
    several = list(several) if isinstance(several, (list, tuple, np.ndarray)) else [labels]
    numbers = [number_of_label(model.classes_, label) for label in several]
    found = [number for number in numbers if number is not None]
    if len(found) < len(several) or not found:
        some = ", ".join(map(shown, model.classes_[:20].tolist()))
        wrong = repr(several[numbers.index(None)]) if several else "none"
        raise ParameterError("label", wrong, f"a class of the model ({some})")
    if least.min_proba is not None and not hasattr(model, "predict_proba"):
        raise ValueError(f"{setting('min_proba', least.min_proba)} needs {HAS_PROBA}")
    return LabelFilter(sorted(set(found)), least)
