"""Jobs with one output of all inputs, or in a directory with one output for each input."""

import os
from abc import abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

from sparsemaps._io import _output_files, _sources, _urls
from sparsemaps._io._folders import writing
from sparsemaps._io._sources import Input
from sparsemaps._tools._typing import Destination, Inputs
from sparsemaps.files._bad_table import TABLE, check_output, join_tables
from sparsemaps.files._job_run import JobRun
from sparsemaps.files._plan import Plan
from sparsemaps.files._results import FOLDER_ENDING, NOWHERE, Results, counts, opened
from sparsemaps.files._tasks import Listing, Stage, Task, TaskRun, listed
from sparsemaps.records._table import holds_codes


class MadeOutput(NamedTuple):
    """An input, its output, the numbers of its records that the job counts, and whether the output
    was complete before."""

    input: Any
    output: Any
    numbers: list[int]
    skipped: bool


@dataclass(frozen=True)
class OutputPlan(Plan):
    """A job and its files. No output, and no file beside one, is an input."""

    job: Any
    """A `Job`, or one that labels records: it makes an output of some inputs."""
    paths: list[Any]
    """The inputs as they are given."""
    inputs: list[Any]
    output: Any
    written: list[tuple[Any, str]]
    """All files that are written, each with words for it in an error."""

    @abstractmethod
    def answer(self, made: list[MadeOutput]) -> Any:
        """Return the answer of the job; for a share, of the outputs that it has made."""

    @classmethod
    def of_job(cls, job: Any, inputs: Inputs, output: Destination) -> Self:
        """Return the plan of a job, after a check of all names."""
        paths = _sources.expand(inputs)
        outputs = outputs_of(paths, output, job.name_of_output)
        endings = job.beside
        if _sources.is_directory(output):
            endings = (*_endings(job), _sources.RECEIPT)
        written: list[tuple[Any, str]] = []
        for name, _, words in outputs:
            written.append((name, words))
            if _sources.is_regular(name):
                beside = f"a file beside {name}"
                written += [(os.fspath(name) + ending, beside) for ending in endings]
        check_output(job.bad_records, output)
        if job.bad_records is not None:
            written.append((job.bad_records, TABLE))
        folders = folders_of(output)
        if folders and (job.in_common([], "") is not None or job.source.needs_counts is not None):
            folders.append(_urls.full_path(folders[0]) + FOLDER_ENDING)
        _output_files.refuse_clashes(paths, written, folders)
        job.check([(name, own) for name, own, _ in outputs])
        return cls(job, paths, _sources.known_inputs(paths), output, written)

    @property
    def is_shared(self) -> bool:
        return _sources.is_directory(self.output)

    @property
    def _folder(self) -> str:
        """The directory of outputs, by a path that workers reach from any directory."""
        return _urls.full_path(self.output)

    @cached_property
    def _outputs(self) -> list[str]:
        named = outputs_of(self.paths, self.output, self.job.name_of_output)
        return [output for output, _, _ in named]

    def stages(self, results: Results) -> list[Stage]:
        """Return the stage of the outputs in a directory, after those on which all depend."""
        job, tasks = self.job, []
        common = job.in_common(self.inputs, self._folder + FOLDER_ENDING)
        whole = job.recipe()
        if common is not None:
            whole["cut"] = common.cut.digest
        for number, (input, output) in enumerate(zip(self.inputs, self._outputs, strict=True)):
            recipe, name = {**whole, **recipe_of_input(job.source, input)}, os.path.basename(output)
            of = input if common is None else number
            tasks.append(Task(name, recipe, of, input.n_bytes, name))
        make = partial(_make, job) if common is None else common.make
        endings, about = ("", *_endings(job)), "an output for each input"
        before = [] if common is None else common.before()
        return [*before, Stage(job.name, tasks, make, endings, about=about)]

    def listing(self) -> Listing:
        if not self.is_shared:
            raise ValueError("tasks are for an output that is a directory")
        counting: Listing = []
        if self.job.source.needs_counts is not None:
            from sparsemaps.files._frequency_stages import counted

            counting = listed(counted(self.job, self.inputs, NOWHERE))
        return [*counting, *super().listing()]

    def run(self, how: JobRun) -> Any:
        """Make the output, or all outputs; of a share, those of its tasks."""
        how.check(self.listing, self.is_shared)
        with ExitStack() as stack:
            job, inputs = self.job, self.inputs
            if job.source.needs_counts is not None:
                from sparsemaps.files._frequency_stages import count

                inputs = _sources.spooled(inputs, stack)
                folder = self._folder + FOLDER_ENDING if self.is_shared else None
                results = stack.enter_context(opened(folder, shared=how.is_share))
                job, names = count(job, inputs, results, how)
                if how.share is not None and how.share.stage in names:
                    return self.answer([])
            job, inputs = job.prepared(inputs, stack)
            plan = replace(self, job=job, inputs=inputs)
            return self.answer(plan._make_each(how) if self.is_shared else plan._make_one(how))

    def _make_one(self, how: JobRun) -> list[MadeOutput]:
        """Make the output of all inputs."""
        job = self.job
        with _output_files.staged(self.output, job.beside) as path:
            values = job.run(self.inputs, path, TaskRun(job.n_jobs, None, how.progress))
        return [
            MadeOutput(path, self.output, counts(value, job.n_counts, self.output), False)
            for path, value in zip(self.paths, values, strict=True)
        ]

    def _make_each(self, how: JobRun) -> list[MadeOutput]:
        """Make the output of each input, as a task."""
        job, share, folder = self.job, how.share, self._folder
        with writing(folder, shared=how.is_share):
            results = Results(folder)
            *before, last = self.stages(results)
            with ExitStack() as stack:
                if before and (last.missing(results) or not how.resume):
                    first = opened(folder + FOLDER_ENDING, shared=how.is_share)
                    how.run(before, stack.enter_context(first), job.n_jobs)
                if share is not None and share.stage != last.name:
                    return []
                made = how.run([last], results, job.n_jobs)[last.name]
        if job.bad_records is not None and share is None:
            join_tables(job.bad_records, [output + _sources.BAD for output in self._outputs])
        own = slice(None) if share is None else slice(share.i, None, share.n)
        return [
            MadeOutput(path, output, counts(result.value, job.n_counts, output), not result.is_new)
            for path, output, result in zip(self.paths[own], self._outputs[own], made, strict=True)
        ]


def folders_of(output: Destination) -> list[Any]:
    """Return the folders that are made for an output."""
    return [output] if _sources.is_directory(output) else []


def recipe_of_input(source: Any, input: _sources.InputFile) -> dict[str, Any]:
    """Return what is known of an input, and of the file of ids beside codes."""
    recipe: dict[str, Any] = {"input": [*input.recipe, source.format(input).name]}
    if holds_codes(input) and _urls.exists(ids := input.path + _sources.IDS):
        recipe["ids"] = _sources.InputFile(ids).recipe
    return recipe


def _make(job: Any, input: Input, path: str, run: TaskRun) -> int | list[int]:
    """Make the output of an input; a table of its bad records stands beside it. One count stands
    without a list."""
    if job.bad_records is not None:
        job = job._replace(bad_records=path + _sources.BAD)
    numbers: list[int] = job.run([input], path, run)[0]
    return numbers if len(numbers) > 1 else numbers[0]


def _endings(job: Any) -> tuple[str, ...]:
    """Return the endings of the names of files that may be written beside an output of a
    directory."""
    return (*job.beside, *(() if job.bad_records is None else (_sources.BAD,)))


def outputs_of(
    paths: list[Any], output: Destination, name_of: Callable[[str], str]
) -> list[tuple[Any, list[Any], str]]:
    """Return each output with its inputs, and words for it: one of all inputs, or in a directory
    one for each, of the name that ``name_of`` makes of the input's. An error if two have the same
    name."""
    if not _sources.is_directory(output):
        return [(output, paths, _output_files.OUTPUT)]
    inputs: dict[str, Any] = {}
    for path in paths:
        if not _sources.is_regular(path):
            raise ValueError("an output directory needs inputs that are files")
        name = _urls.join(output, name_of(os.path.basename(os.fspath(path))))
        if name in inputs:
            raise ValueError(f"{inputs[name]} and {path} have the same output {name}")
        inputs[name] = path
    return [(name, [path], f"the output of {path}") for name, path in inputs.items()]
