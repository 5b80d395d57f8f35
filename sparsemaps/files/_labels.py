"""Jobs that apply a model: the scores of the records of files."""

import dataclasses
import os
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, NamedTuple, Self

from sparsemaps._io import _output_files, _paths
from sparsemaps._io._progress import Progress
from sparsemaps._io._sources import IDS, refuse_changes
from sparsemaps._tools._typing import Array, Destination, StrPath
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._bad_records import BadTable, opened_table
from sparsemaps.files._job_options import GivenSource
from sparsemaps.files._label_lines import Scored
from sparsemaps.files._labelled_rows import source_for
from sparsemaps.files._output_job import MadeOutput, OutputJob
from sparsemaps.files._record_labels import Model, check_model
from sparsemaps.files._row_names import names_of_rows
from sparsemaps.files._row_source import Source
from sparsemaps.files._rows import codes_of, read_rows
from sparsemaps.files._tasks import TaskRun
from sparsemaps.linear import KernelClassifier
from sparsemaps.linear._classifier import probabilities
from sparsemaps.linear._model import scores_of
from sparsemaps.linear._model_checks import refuse_other_codes
from sparsemaps.linear._model_file import digest_of
from sparsemaps.records._batch import Batch
from sparsemaps.records._table import holds_codes

_CODED_ROWS = 2**16
"""Largest number of rows of a file of codes whose scores are computed at once."""

_SCORES = 2**22
"""Largest number of scores that a thread holds in memory at once."""


def most_rows(model: Model) -> int:
    """Return the largest number of rows whose scores are computed at once."""
    return max(1, _SCORES // len(model.intercept_))


class RecordCounts(NamedTuple):
    """Counts of the records of an input: all, written, without a label, without an n-gram or entry,
    and bad."""

    n_records: int
    n_written: int
    n_unknown: int
    n_empty: int
    n_bad: int


@dataclass(frozen=True)
class Labelling(OutputJob):
    """The base of `Predicting` and `Filtering`: a model, and the source of records."""

    model: Model
    source: Source
    bad_records: Any

    @classmethod
    def of(
        cls,
        model: Model,
        paths: list[Any],
        source: GivenSource,
        bad_records: StrPath | None,
        **own: Any,
    ) -> Self:
        """Return the job for some inputs, after checking their kind."""
        check_model(model)
        rows = source_for(model.map_, getattr(model, "vectorizer_", None), source, paths)
        rows = rows.with_fields(sets_aside=bad_records is not None)
        for path in paths:
            if not holds_codes(path):
                rows.format(path)  # raises before anything is written to a pipe
        return cls(model, rows, bad_records, **own)

    @abstractmethod
    def write(
        self,
        inputs: list[Any],
        file: IO[bytes],
        run: TaskRun,
        aside: BadTable | None,
    ) -> list[list[int]]:
        """Write records, or lines about them; return the numbers of each input."""

    def run(
        self,
        inputs: list[Any],
        output: Destination,
        run: TaskRun,
        bad_records: StrPath | None = None,
    ) -> list[list[int]]:
        with _output_files.atomic_output(output) as file, opened_table(bad_records) as aside:
            numbers = self.write(inputs, file, run, aside)
            refuse_changes(inputs)
        return numbers

    def sums(self, made: list[MadeOutput]) -> tuple[RecordCounts, list[int]]:
        """Return the sums over all inputs: `RecordCounts`, and the sums of any further numbers."""
        numbers = [[0] * self.n_counts, *(one.numbers for one in made)]
        every = list(map(sum, zip(*numbers, strict=True)))
        n = len(RecordCounts._fields)
        return RecordCounts(*every[:n]), every[n:]

    def _recipe(self, options: dict[str, Any]) -> dict[str, Any]:
        options["sets_aside"] = self.bad_records is not None
        options["source"] = dataclasses.asdict(self.source.given)
        return {"model": digest_of(self.model), "options": options}

    def scored(
        self,
        inputs: list[Any],
        run: TaskRun,
        aside: BadTable | None,
        n_reasons: int = 0,
        by_proba: bool = False,
    ) -> Iterator[tuple[int, Scored, int]]:
        """Yield the scores of records in blocks, with the number of the input and the number of bad
        records in the block. If `n_reasons` is above 0, each record has reasons for the score, or
        the probability, of its label."""

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
    """Yield the contributions of the n-grams of each text to the score of its label. If texts may
    have several labels, use the one that is written first."""
    texts = map(str, block.texts)
    if not (isinstance(model, KernelClassifier) and model.multilabel_):
        yield from map(model.explain, texts)
        return
    best = (probabilities(model, scores) if by_proba else scores).argmax(axis=1)
    for text, number in zip(texts, best.tolist(), strict=True):
        yield model.explain(text, model.classes_[number])


def _scored_codes(model: Model, path: StrPath, bar: Progress) -> Iterator[Scored]:
    """Yield the scores of the records of a file of codes."""
    codes = PackedCodes.load(path)
    try:
        refuse_other_codes(model, codes)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    has_ids = _paths.exists(os.fspath(path) + IDS)
    with names_of_rows(path, len(codes)) as name:
        step = min(_CODED_ROWS, most_rows(model))
        for start in range(0, len(codes), step):
            some = codes[start : start + step]
            ids = [name(start + row) for row in range(len(some))] if has_ids else None
            yield Scored(scores_of(model, some), some.sampled, ids)
    bar.add(getattr(path, "n_bytes", 0), len(codes))
