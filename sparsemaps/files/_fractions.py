"""The records with the highest scores of several inputs, a fraction of all of them.

Where each input has an output of its own, the fraction is one of all inputs together. So there are
two stages before the outputs: the scores of each input, and the cut, which is one value.
"""

import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._io import _output_files, _urls
from sparsemaps._io._array_files import ArrayKind, read_array
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._sources import BAD, Input, refuse_changes
from sparsemaps._tools._typing import Array
from sparsemaps.files._bad_table import opened_table
from sparsemaps.files._kept_records import Selection, write_kept
from sparsemaps.files._outputs import recipe_of_input
from sparsemaps.files._results import Results, counts, save_array
from sparsemaps.files._tasks import Stage, Task, TaskRun


class Cut(NamedTuple):
    """Which scores are in the fraction."""

    least: float
    """Higher ones are."""
    n_equal: list[int]
    """Of each input, how many of the records with this score are, the first ones."""


def cut_of(scores: Sequence[Array], fraction: float) -> Cut:
    """Return the cut for a fraction of the records of some inputs, rounded up: those with the
    highest scores, of equal ones the first. Scores of minus infinity are never taken."""
    every = np.concatenate([np.empty(0), *scores])
    n_best = math.ceil(Fraction(repr(float(fraction))) * len(every))
    if not n_best:
        return Cut(-math.inf, [0] * len(scores))
    least = float(np.partition(every, len(every) - n_best)[len(every) - n_best])
    if least == -math.inf:
        return Cut(least, [0] * len(scores))
    left = n_best - int((every > least).sum())
    n_equal = []
    for some in scores:
        n_equal.append(min(left, int((some == least).sum())))
        left -= n_equal[-1]
    return Cut(least, n_equal)


def taken(scores: Array, least: float, n_equal: int) -> Array:
    """Return which records of an input are in the fraction."""
    is_taken = scores > least
    is_taken[np.flatnonzero(scores == least)[:n_equal]] = True
    return is_taken


@dataclass(frozen=True)
class FractionStages:
    """The stages of a filter that takes a fraction, with an output for each input."""

    job: Any
    """A `Labelling` with a filter that has a fraction."""
    inputs: list[Any]
    folder: str
    """Where the results of the stages before the outputs are."""

    @property
    def _ending(self) -> tuple[str, ...]:
        return () if self.job.bad_records is None else (BAD,)

    def before(self) -> list[Stage]:
        """Return the stages before the outputs."""
        scores = Stage(
            "scores", self._scores, partial(_write_scores, self.job), ("", *self._ending),
            about="the scores of the records of each input",
        )  # fmt: skip
        return [scores, Stage("cut", [self.cut], self._find_cut, (), about="the least score")]

    @cached_property
    def _scores(self) -> list[Task]:
        recipe, tasks = self.job.recipe_of_scores(), []
        for number, input in enumerate(self.inputs):
            own = {**recipe, **recipe_of_input(self.job.source, input)}
            tasks.append(Task(f"scores-{number:06d}.npy", own, input, input.n_bytes))
        return tasks

    @cached_property
    def cut(self) -> Task:
        """The task of the cut."""
        files = [task.file for task in self._scores]
        recipe = {"fraction": self.job.filter.least.fraction, "scores": files}
        return Task("cut", recipe, files)

    def _find_cut(self, files: list[str], path: str, run: TaskRun) -> Any:
        cut = cut_of([self._scores_in(file) for file in files], self.job.filter.least.fraction)
        return [cut.least.hex(), cut.n_equal]

    def _scores_in(self, file: str) -> Array:
        return read_array(_urls.join(self.folder, file), ArrayKind("<f8"))

    def make(self, number: int, path: str, run: TaskRun) -> list[int]:
        """Write the output of an input, and beside it the table of bad records."""
        results, input = Results(self.folder), self.inputs[number]
        cut, scores = self.cut, self._scores[number]
        value = results.value(cut.file, cut.digest)
        try:
            least, n_equal = float.fromhex(value[0]), int(value[1][number])
        except (TypeError, ValueError, LookupError):
            raise ValueError(
                f"the receipt of {cut.file} is damaged: expected a cut; found {value!r}"
            ) from None
        of_scores = counts(results.value(scores.file, scores.digest), 3, scores.file)
        kept = taken(self._scores_in(scores.file), least, n_equal)
        with _output_files.atomic_output(path) as file, run.reading([input], "records") as bar:
            write_kept(self.job.source, [Selection(input, kept)], file, run.n_jobs, bar)
            refuse_changes([input])
        for ending in self._ending:
            with (
                open_regular(_urls.join(self.folder, scores.file + ending)) as table,
                _output_files.atomic_output(path + ending) as copy,
            ):
                shutil.copyfileobj(table, copy)
        n_records, n_unknown, n_bad = of_scores
        return [n_records, int(kept.sum()), n_unknown, n_unknown, n_bad]


def _write_scores(job: Any, input: Input, path: str, run: TaskRun) -> list[int]:
    """Write the scores of the records of an input; return how many records there are, unknown ones
    and bad ones."""
    with opened_table(None if job.bad_records is None else path + BAD) as aside:
        ((scores, n_unknown, n_bad),) = job.marks([input], run, aside)
        if aside is not None:
            aside.finish()
        refuse_changes([input])
        save_array(path, scores)
    return [len(scores), n_unknown, n_bad]
