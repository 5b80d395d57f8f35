"""The records with the highest scores of several inputs, a fraction of all of them.

Where each input has an output of its own, the fraction is one of all inputs together. So there are
two stages before the outputs: the scores of each input, and the cut, which is one value.
"""

import math
import shutil
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparsemaps._io import _output_files
from sparsemaps._io._array_files import ArrayKind, read_array, save_array
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._sources import BAD, Input, refuse_changes
from sparsemaps._tools._typing import Array
from sparsemaps.files._bad_records import opened_table
from sparsemaps.files._kept_records import Selection, write_kept
from sparsemaps.files._labels import RecordCounts
from sparsemaps.files._outputs import recipe_of_input
from sparsemaps.files._results import Results, counts
from sparsemaps.files._tasks import Stage, Task, TaskRun

if TYPE_CHECKING:
    from sparsemaps.files._filter import Filtering


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


# ---- stages --------------------------------------------------------------------------------------


def fraction_stages(
    job: "Filtering", fraction: float, outputs: Stage, results: Results
) -> Iterator[Stage]:
    """Yield the stages of the scores of each input, of the cut, and of the outputs of a filter.

    `outputs` is the stage of the outputs as if each depended on its input alone; `results` are
    the results of the stages before it.
    """
    whole, whole_of_scores = job.recipe(), job.recipe_of_scores()
    scores = []
    for number, task in enumerate(outputs.tasks):
        recipe = {**whole_of_scores, **recipe_of_input(job.source, *task.of)}
        scores.append(Task(f"scores-{number:06d}.npy", recipe, task.of, task.size))
    files = [task.file for task in scores]
    cut = Task("cut", {"fraction": fraction, "scores": files}, (files, fraction))
    tasks = [
        task._replace(  # in receipts, the cut stands before the input
            recipe={**whole, "cut": cut.digest, **task.recipe},
            of=(*task.of, number, scores[number], cut),
        )
        for number, task in enumerate(outputs.tasks)
    ]
    outputs = outputs._replace(tasks=tasks, make=partial(_write_part, job, results))
    about, endings = "the scores of the records of each input", ("", *_ending(job))
    yield Stage("scores", scores, partial(_write_scores, job), results, endings, outputs, about)
    find = partial(_find_cut, results)
    yield Stage("cut", [cut], find, results, (), outputs, about="the least score")
    yield outputs


def _ending(job: "Filtering") -> tuple[str, ...]:
    """Return the ending of the table of bad records, if there is one."""
    return () if job.bad_records is None else (BAD,)


def _find_cut(results: Results, files: list[str], fraction: float, path: str, run: TaskRun) -> Any:
    """Return the cut of all inputs for JSON."""
    cut = cut_of([_scores_in(results, file) for file in files], fraction)
    return [cut.least.hex(), cut.n_equal]


def _scores_in(results: Results, file: str) -> Array:
    return read_array(results.path(file), ArrayKind("<f8"))


def _write_part(
    job: "Filtering",
    results: Results,
    input: Input,
    number: int,
    scores: Task,
    cut: Task,
    path: str,
    run: TaskRun,
) -> list[int]:
    """Write the output of the input of a number, and beside it the table of bad records."""
    value = results.value(cut.file, cut.digest)
    try:
        least, n_equal = float.fromhex(value[0]), int(value[1][number])
    except (TypeError, ValueError, LookupError):
        raise ValueError(
            f"the receipt of {cut.file} is damaged: expected a cut; found {value!r}"
        ) from None
    of_scores = counts(results.value(scores.file, scores.digest), 3, scores.file)
    kept = taken(_scores_in(results, scores.file), least, n_equal)
    with _output_files.atomic_output(path) as file, run.reading([input], "records") as bar:
        write_kept(job.source, [Selection(input, kept)], file, run.n_jobs, bar)
        refuse_changes([input])
    for ending in _ending(job):
        with (
            open_regular(results.path(scores.file + ending)) as table,
            _output_files.atomic_output(path + ending) as copy,
        ):
            shutil.copyfileobj(table, copy)
    n_records, n_empty, n_bad = of_scores
    return list(RecordCounts(n_records, int(kept.sum()), n_empty, n_empty, n_bad))


def _write_scores(job: "Filtering", input: Input, path: str, run: TaskRun) -> list[int]:
    """Write the scores of the records of an input; return how many records there are, empty ones
    and bad ones."""
    with opened_table(None if job.bad_records is None else path + BAD) as aside:
        ((scores, n_empty, n_bad),) = job.marks([input], run, aside)
        if aside is not None:
            aside.finish()
        refuse_changes([input])
        save_array(path, scores)
    return [len(scores), n_empty, n_bad]
