"""Jobs with one output for all inputs, or in a directory with one output per input."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

from sparsemaps._io import _output_files, _paths, _sources
from sparsemaps._io._folders import staged, writing
from sparsemaps._io._sources import Input
from sparsemaps._tools._typing import Destination
from sparsemaps.files._bad_records import TABLE, join_tables
from sparsemaps.files._frequency_stages import count, frequency_stages
from sparsemaps.files._job_options import Run
from sparsemaps.files._output_job import MadeOutput, OutputJob
from sparsemaps.files._plan import Plan
from sparsemaps.files._results import NOWHERE, Results, counts, opened
from sparsemaps.files._row_source import Source
from sparsemaps.files._tasks import Listing, Stage, Task, TaskRun
from sparsemaps.records._table import holds_codes


class PlannedOutput(NamedTuple):
    path: Any
    inputs: list[Any]
    title: str
    """Its name in errors."""


@dataclass(frozen=True)
class OutputPlan(Plan):
    """A job and its files. No output, and no file next to one, is an input."""

    job: Any
    """An `OutputJob`."""
    paths: list[Any]
    """The inputs as given."""
    inputs: list[Any]
    output: Any
    outputs: list[Any]
    """The output file, or in a directory one per input."""
    written: list[tuple[Any, str]]
    """All files to write, each with its name in errors."""
    n_jobs: int | None = None
    """Number of threads that number labels before the stage of the outputs."""

    @classmethod
    def of(cls, job: OutputJob, paths: list[Any], output: Destination) -> Self:
        """Return the plan of a job, after checking all names."""
        outputs = outputs_of(paths, output, job.name_of_output)
        endings = job.beside
        if _sources.is_directory(output):
            endings = (*_endings(job), _sources.RECEIPT)
        written = written_files(outputs, endings)
        if job.bad_records is not None:
            written.append((job.bad_records, TABLE))
        folders = folders_of(output)
        if folders and _has_stages_before(job):
            folders.append(_paths.full_path(folders[0]) + _sources.STAGES)
        _output_files.refuse_clashes(paths, written, folders)
        job.check([(one.path, one.inputs) for one in outputs])
        made = [one.path for one in outputs]
        return cls(job, paths, _sources.known_inputs(paths), output, made, written)

    @property
    def can_be_shared(self) -> bool:
        return _sources.is_directory(self.output)

    @property
    def _folder(self) -> str:
        """The directory of outputs, as a path that is valid in any working directory."""
        return _paths.full_path(self.output)

    def listing(self) -> Listing:
        if not self.can_be_shared:
            raise ValueError("tasks need an output that is a directory")
        return super().listing()

    def stages(self, results: Results) -> Iterator[Stage]:
        """Yield the stage of the outputs in a directory, after the stages that it depends on."""
        job = yield from frequency_stages(self.job, self.inputs, results)
        if results is not NOWHERE:
            with ExitStack() as stack:
                job, _ = job.prepared(self.inputs, self.n_jobs, stack)
        folder = Results(self._folder, is_shared=results.is_shared)
        whole, tasks = job.recipe(), []
        for input, output in zip(self.inputs, self.outputs, strict=True):
            recipe, name = {**whole, **recipe_of_input(job.source, input)}, os.path.basename(output)
            tasks.append(Task(name, recipe, (input,), input.n_bytes, name))
        outputs = Stage(
            job.name, tasks, partial(_make, job), folder, ("", *_endings(job)),
            about="an output for each input",
        )  # fmt: skip
        yield from job.stages_to(outputs, results)

    def run(self, how: Run) -> Any:
        """Make the output or all outputs; for a share, make the outputs of its tasks."""
        self.check(how)
        return self.job.answer(self._make_each(how) if self.can_be_shared else self._make_one(how))

    def _make_one(self, how: Run) -> list[MadeOutput]:
        """Make the output of all inputs."""
        job, inputs = self.job, self.inputs
        with ExitStack() as stack:
            if job.source.texts_to_count is not None:
                inputs = _sources.spooled(inputs, stack)
                job = count(job, inputs, stack.enter_context(opened(None)), how)
            job, inputs = job.prepared(inputs, how.n_jobs, stack)
            run = TaskRun(how.n_jobs, None, how.progress)
            with staged(self.output, job.beside) as path:
                values = job.run(inputs, path, run, job.bad_records)
        return [
            MadeOutput(path, self.output, counts(value, job.n_counts, self.output), False)
            for path, value in zip(self.paths, values, strict=True)
        ]

    def _make_each(self, how: Run) -> list[MadeOutput]:
        """Make the output of each input, as a task."""
        job, share, folder = self.job, how.task, self._folder
        is_shared = share is not None
        with writing(folder, shared=is_shared), ExitStack() as stack:
            results = Results(folder, is_shared=is_shared)
            if _has_stages_before(job):
                results = stack.enter_context(opened(folder + _sources.STAGES, shared=is_shared))
            made = replace(self, n_jobs=how.n_jobs).make(results, how).get(job.name, [])
        if job.bad_records is not None and share is None:
            join_tables(job.bad_records, [output + _sources.BAD for output in self.outputs])
        own = slice(None)
        if share is not None:
            stage, i, n = share
            own = slice(i, None, n) if stage == job.name else slice(0)
        return [
            MadeOutput(path, output, counts(result.value, job.n_counts, output), not result.is_new)
            for path, output, result in zip(self.paths[own], self.outputs[own], made, strict=True)
        ]


def _has_stages_before(job: OutputJob) -> bool:
    """Return whether other stages precede the stage of the outputs."""
    return job.needs_all_inputs or job.source.texts_to_count is not None


def folders_of(output: Destination) -> list[Any]:
    """Return the folders that are created for an output."""
    return [output] if _sources.is_directory(output) else []


def recipe_of_input(source: Source, input: _sources.InputFile) -> dict[str, Any]:
    """Return the facts about an input, including the file of ids next to codes."""
    recipe: dict[str, Any] = {"input": source.facts(input)}
    if holds_codes(input) and _paths.exists(ids := input.path + _sources.IDS):
        recipe["ids"] = _sources.InputFile(ids).recipe
    return recipe


def _make(job: OutputJob, input: Input, path: str, run: TaskRun) -> list[int]:
    """Make the output of an input, with a table of its bad records next to it."""
    table = None if job.bad_records is None else path + _sources.BAD
    return job.run([input], path, run, table)[0]


def _endings(job: OutputJob) -> tuple[str, ...]:
    """Return the name endings of files that this run or an earlier one may have written next to an
    output in a directory."""
    return (*job.beside, _sources.BAD)


def written_files(
    outputs: Iterable[PlannedOutput], endings: Iterable[str]
) -> list[tuple[Any, str]]:
    """Return the outputs and the files next to them, each with its name in errors."""
    written: list[tuple[Any, str]] = []
    for path, _, title in outputs:
        written.append((path, title))
        if _sources.is_regular(path):
            beside = f"a file beside {path}"
            written += [(os.fspath(path) + ending, beside) for ending in endings]
    return written


def outputs_of(
    paths: list[Any], output: Destination, name_of: Callable[[str], str] = str
) -> list[PlannedOutput]:
    """Return the output of all inputs, or in a directory one per input. ``name_of`` returns its
    name for the name of the input, by default the same. Raise ValueError if two outputs have the
    same name."""
    if not _sources.is_directory(output):
        return [PlannedOutput(output, paths, _output_files.OUTPUT)]
    inputs: dict[str, Any] = {}
    for path in paths:
        if not _sources.is_regular(path):
            raise ValueError("an output directory needs inputs that are files")
        name = _paths.join(output, name_of(os.path.basename(os.fspath(path))))
        if name in inputs:
            raise ValueError(f"{inputs[name]} and {path} have the same output {name}")
        inputs[name] = path
    return [PlannedOutput(name, [path], f"the output of {path}") for name, path in inputs.items()]
