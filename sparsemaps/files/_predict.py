"""`predict_files`: the label and the scores of each record of files."""

import dataclasses
import os
from dataclasses import dataclass
from typing import IO, Any, ClassVar, NamedTuple, Unpack

import numpy as np

from sparsemaps._io import _paths, _text_input
from sparsemaps._io._sources import IDS, expand
from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._typing import Destination, Inputs, StrPath
from sparsemaps.files._bad_records import BadTable
from sparsemaps.files._job_options import JOBS, Aside, LineOptions, Run, Svmlight, Texts
from sparsemaps.files._keywords import PredictFilesKeywords
from sparsemaps.files._label_lines import (
    Form,
    Labelled,
    Scored,
    Table,
    check_for,
    check_for_table,
    form_of,
    has_several,
    labelled,
    refuse_other_formats,
    scores_of_classes,
)
from sparsemaps.files._labels import Labelling, RecordCounts
from sparsemaps.files._output_job import MadeOutput
from sparsemaps.files._outputs import OutputPlan
from sparsemaps.files._record_labels import Model
from sparsemaps.files._tasks import TaskRun
from sparsemaps.linear import KernelClassifier
from sparsemaps.records._table import holds_codes


class LabelledFile(NamedTuple):
    """The result of `predict_files`."""

    n_records: int
    n_unknown: int
    """Number of records without a label: the `n_empty` ones, and records below `min_score` or
    `min_proba`."""
    n_empty: int
    """Number of records without an n-gram or an entry."""
    n_bad: int
    """Number of records that were set aside."""
    labels: dict[Any, int]
    """The number of records of each label, most frequent label first."""
    n_negative: int = 0
    """Number of non-empty records whose highest score is below 0. If their share grows, the records
    differ more from the training records."""


@takes(*JOBS["predict_files"])
def predict_files(
    model: Model,
    inputs: Inputs,
    output: Destination,
    *,
    source: Texts | Svmlight | None = None,
    **options: Unpack[PredictFilesKeywords],
) -> LabelledFile:
    r"""Write the label and the scores of each record of files.

    The command ``sparsemaps predict`` calls this function. The output is a tab-separated table with
    a header. Its columns are "record", the number of the record counted from 1 over all inputs, or
    "id"; "label"; and the score of each class, under its name. With two classes, the score of the
    first is minus the score of the second. A regressor has one column, "value". A record without an
    n-gram, or a row without an entry, is unknown, and has no label or value. The output appears
    when it is complete.

    If records may have several labels, the column "labels" has the labels with a score above 0,
    best first, separated by commas. A comma within a label is preceded by a backslash. A record
    without labels is unknown. In JSON Lines, "labels" is a list.

    If the name of the output ends in .jsonl, .ndjson or .json, the output has a JSON object per
    record instead: "record" or "id", "label" and "scores" (or "probas"), an object of numbers. With
    `top`, "labels" and "scores" are lists. With `explain`, "explain" is a list of pairs. The label
    of an unknown record is null unless `unknown` is given. Names of other formats, such as .csv and
    .parquet, raise an error.

    Parameters
    ----------
    model : KernelClassifier or KernelRegressor
        A fitted model.
    inputs : str, path-like, file-like, or a sequence of these
        As for `train_files`; labels are not read. Inputs are read once, block by block.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); "-" is standard output. An existing directory, or
        a name that ends in a slash, gets one output per input, a table named like the input,
        without an ending of compression and with ".tsv"; records then count from 1 in each.
    source : Texts, Svmlight or None, default=None
        Kind of the inputs. For texts, the model's vectorizer is the analyzer.
    [options]

    Returns
    -------
    answer : LabelledFile
        The numbers of all records (`n_records`), of unknown records (`n_unknown`), of records
        without an n-gram or entry (`n_empty`), of bad records (`n_bad`), of the records of each
        label (`labels`), and of other records whose highest score is below 0 (`n_negative`). With a
        `task`, they cover the outputs that it made.

    Raises
    ------
    ValueError
        If a parameter is not allowed, codes are of another map, or a line does not have the format.
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
    lines, run_, aside = LineOptions.of(options), Run.of(options), Aside.of(options).aside
    paths = expand(inputs)
    job = Predicting.of(model, paths, source, aside, lines=lines, form=form_of(output))
    answer: LabelledFile = OutputPlan.of(job, paths, output).run(run_)
    return answer


@dataclass(frozen=True)
class Predicting(Labelling):
    """A job that writes lines about records, with labels by a model."""

    lines: LineOptions
    form: Form = Table

    name: ClassVar[str] = "predict"
    beside: ClassVar[tuple[str, ...]] = ()

    @property
    def n_counts(self) -> int:
        """The number of fields of `RecordCounts`, one for the records whose scores are all below 0,
        and one for the records of each label."""
        return len(RecordCounts._fields) + 1 + self._n_classes

    @property
    def _n_classes(self) -> int:
        return len(self.model.classes_) if isinstance(self.model, KernelClassifier) else 0

    def check(self, outputs: list[tuple[Any, list[Any]]]) -> None:
        check_for(self.model, self.lines)
        if self.form is Table:
            check_for_table(self.model, self.lines)
        for output, _ in outputs:
            refuse_other_formats(output)
        coded = any(holds_codes(input) for _, inputs in outputs for input in inputs)
        if self.lines.explain and (coded or not self.source.has_ngrams):
            raise ValueError(f"{setting('explain', self.lines.explain)} is for texts")

    def recipe(self) -> dict[str, Any]:
        return self._recipe({"lines": dataclasses.asdict(self.lines)})

    def name_of_output(self, name: str) -> str:
        return f"{_text_input.without_compression(name)}.tsv"

    def answer(self, made: list[MadeOutput]) -> LabelledFile:
        counts, (n_negative, *of_labels) = self.sums(made)
        classes = getattr(self.model, "classes_", np.empty(0)).tolist()
        pairs = sorted(zip(classes, of_labels, strict=True), key=lambda pair: -pair[1])
        labels = {label: n for label, n in pairs if n}
        return LabelledFile(
            counts.n_records, counts.n_unknown, counts.n_empty, counts.n_bad, labels, n_negative
        )

    def write(
        self,
        inputs: list[Any],
        file: IO[bytes],
        run: TaskRun,
        aside: BadTable | None,
    ) -> list[list[int]]:
        lines = self.form(self.model, self.lines, any(map(self._has_ids, inputs)))
        header = lines.header()
        numbers, n_before = [[0] * self.n_counts for _ in inputs], 0
        for number, part, n_bad in self.scored(
            inputs, run, aside, self.lines.explain, self.lines.proba
        ):
            found = None
            if isinstance(self.model, KernelClassifier):
                found = labelled(self.model, self.lines, part)
            if len(part.scores):
                file.write(header + lines.lines(part, found, n_before + 1))
                header = b""
            n_before += len(part.scores)
            counts = self._counts(part, found, n_bad)
            numbers[number] = list(map(sum, zip(numbers[number], counts, strict=True)))
        if aside is not None:
            aside.finish()  # before a pipe gets a table without records
        file.write(header)
        return numbers

    def _counts(self, part: Scored, found: Labelled | None, n_bad: int) -> list[int]:
        """Return the `n_counts` numbers of some records. For a regressor, `found` is None."""
        n, n_empty = len(part.scores), int((~part.known).sum())
        if found is None:
            return [*RecordCounts(n, n, n_empty, n_empty, n_bad), 0]
        n_each = found.order.shape[1] if has_several(self.model) else 1
        taken = found.taken[:, :n_each]
        n_unknown = int((~taken.any(axis=1)).sum())
        is_negative = scores_of_classes(self.model, part.scores).max(axis=1) < 0
        n_negative = int((is_negative & part.known).sum())
        of_labels = np.bincount(found.order[:, :n_each][taken], minlength=self._n_classes)
        return [*RecordCounts(n, n, n_unknown, n_empty, n_bad), n_negative, *of_labels.tolist()]

    def _has_ids(self, input: StrPath) -> bool:
        if holds_codes(input):
            return _paths.exists(os.fspath(input) + IDS)
        return self.source.has_ids
