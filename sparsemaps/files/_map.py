"""`map_files`; and the outputs of a job, one of all inputs, or one for each."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple, Unpack

from sparsemaps._io import _output_files, _sources, _urls
from sparsemaps._io._folders import writing
from sparsemaps._io._sources import Input
from sparsemaps._tools._checks import check_bool
from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._typing import Destination, Inputs
from sparsemaps.files._bad_table import TABLE, check_output, join_tables
from sparsemaps.files._job import make_job
from sparsemaps.files._job_options import JOBS, Aside, MappedRows, Run, Svmlight, Texts
from sparsemaps.files._job_run import JobRun
from sparsemaps.files._keywords import MapFilesKeywords
from sparsemaps.files._kinds_of_inputs import rows_unless_said
from sparsemaps.files._results import FOLDER_ENDING, NOWHERE, Results, counts, opened
from sparsemaps.files._tasks import Listing, Stage, Task, TaskRun, listed
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.records._table import holds_codes


class MappedFile(NamedTuple):
    """An input, the output of its rows, the number of rows, and whether the output was complete
    before; the number of rows is then that of the earlier run."""

    input: Any
    output: Any
    n_rows: int
    skipped: bool
    n_bad: int = 0
    """Records that were set aside."""


@takes(*JOBS["map_files"])
def map_files(
    map: SparseMap,
    inputs: Inputs,
    output: Destination,
    *,
    source: Texts | Svmlight | str | None = None,
    zero_based: bool = False,
    **options: Unpack[MapFilesKeywords],
) -> list[MappedFile]:
    r"""Map the rows of LIBSVM files, in bounded memory.

    The command ``sparsemaps map`` calls this function. Rows are read, mapped and written block by
    block. The labels of a row, one or several, and its number of ``qid:`` are copied to the output.
    A file appears only when it is complete.

    Parameters
    ----------
    map : map of sparsemaps
        A fitted map is used as it is. Of other maps, a copy is fitted for rows of any width; choose
        a `random_state`, so that other files are mapped in the same way.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files (.gz, .bz2, .xz, .zst); "-" is standard input. A directory stands for its files
        in the order of their names, without hidden ones and those that this function writes beside
        its outputs; a pattern with ``*``, ``?`` or ``[`` for the files that match.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst for format "svmlight"); "-" is standard output. A
        directory, which is one that exists or a name that ends in a slash, gets one output for each
        input: of the input's name, without its ending of compression, and with ".npy" or ".npz"
        in those formats, or ".svm" for texts.
    source : Texts, Svmlight, str or None, default=None
        What the inputs are. A string is the analyzer of raw texts: "auto:5" is ``Texts("auto:5")``.
        None is ``Svmlight()``. Of texts, ids are comments in format "svmlight", and stand in
        OUTPUT.ids.txt in the other formats, one a line, where a tab is ``\t``, a line end ``\n``
        and a backslash is doubled. Labels that are strings are numbered, and
        OUTPUT.classes.tsv has the numbers and the labels; the inputs are then read twice, and those
        from a pipe are kept in a temporary file.
    zero_based : bool, default=False
        Short for ``source=Svmlight(zero_based=True)``: the indices of the inputs count from 0.
        Those written count from 1.
    [options]

    Returns
    -------
    files : list of MappedFile
        For each input its `input`, `output`, `n_rows`, and `skipped`; of a `task`, none.

    Raises
    ------
    ValueError
        If a parameter is not allowed, an output is an input, or two inputs have the same output. If
        a line is not of the format, or the map refuses its row; the error names file, line and
        reason. Complete outputs remain.
    OSError
        If a file cannot be read or written.

    See Also
    --------
    sparsemaps.libsvm.iter_svmlight_file : Blocks of the rows of a file.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.files import map_files
    >>> cws = ConsistentWeightedSampling(n_hashes=3, bits=2, random_state=0)
    >>> file = BytesIO()
    >>> mapped = map_files(cws, BytesIO(b"1 1:0.5 3:2\n-1 2:7\n"), file, ones=True)
    >>> mapped[0].n_rows
    2
    >>> file.getvalue()
    b'1 1:1 8:1 12:1\n-1 4:1 5:1 11:1\n'
    """
    if check_bool("zero_based", zero_based):
        if source is not None:
            raise ValueError(f"{setting('zero_based', True)} is for LIBSVM files without a source")
        source = Svmlight(zero_based=True)
    paths = _sources.expand(inputs)
    run_ = Run.of(options)
    job = make_job(
        map, rows_unless_said(source, paths), MappedRows.of(options), run_.n_jobs,
        Aside.of(options).aside,
    )  # fmt: skip
    running = JobRun.of(run_)
    made = run(make_plan(job, paths, output), running)
    made = [] if running.is_share else made
    return [
        MappedFile(one.input, one.output, one.numbers[0], one.skipped, sum(one.numbers[1:]))
        for one in made
    ]


# ---- a job with one output, or with one for each input -------------------------------------------


class OutputPlan(NamedTuple):
    """A job and its files, after a check of all names: one output of all inputs, or in a directory
    an output for each input."""

    job: Any
    """A `Job`, or one that labels records: it makes an output of some inputs."""
    inputs: list[Any]
    output: Any
    written: list[tuple[Any, str]]
    """All files that are written, each with words for it in an error."""

    @property
    def is_shared(self) -> bool:
        """Whether several processes can make the outputs."""
        return _sources.is_directory(self.output)


class MadeOutput(NamedTuple):
    """An input, its output, the numbers of its records that the job counts, and whether the output
    was complete before."""

    input: Any
    output: Any
    numbers: list[int]
    skipped: bool


def make_plan(job: Any, inputs: Inputs, output: Destination) -> OutputPlan:
    """Return a plan. No output, and no file beside one, may be an input."""
    paths = _sources.expand(inputs)
    outputs = outputs_of(paths, output, job.name_of_output)
    endings = job.beside
    if _sources.is_directory(output):
        endings = (*_endings(job), _sources.RECEIPT)
    written: list[tuple[Any, str]] = []
    for name, _, words in outputs:
        written.append((name, words))
        if _sources.is_regular(name):
            written += [(os.fspath(name) + ending, f"a file beside {name}") for ending in endings]
    check_output(job.bad_records, output)
    if job.bad_records is not None:
        written.append((job.bad_records, TABLE))
    folders = folders_of(output)
    if folders and (job.in_common([], "") is not None or _needs_counts(job)):
        folders.append(_urls.full_path(folders[0]) + FOLDER_ENDING)
    _output_files.refuse_clashes(paths, written, folders)
    job.check([(name, own) for name, own, _ in outputs])
    return OutputPlan(job, paths, output, written)


def folders_of(output: Destination) -> list[Any]:
    """Return the folders that are made for an output."""
    return [output] if _sources.is_directory(output) else []


def listing(plan: OutputPlan) -> Listing:
    """Of the stage whose tasks are the outputs in a directory, and of those before."""
    if not plan.is_shared:
        raise ValueError("tasks are for an output that is a directory")
    job, inputs = plan.job, _sources.known_inputs(plan.inputs)
    common = job.in_common(inputs, "")
    before = [] if common is None else listed(common.before())
    if _needs_counts(job):
        from sparsemaps.files._frequency_stages import counted

        before += listed(counted(job, inputs, NOWHERE))
    return [*before, (job.name, len(inputs), "an output for each input")]


def _needs_counts(job: Any) -> bool:
    given = job.source.given
    return isinstance(given, Texts) and given.idf is not None


def run(plan: OutputPlan, running: JobRun) -> list[MadeOutput]:
    """Make the output, or all outputs; of a share, those of its tasks, without a word of others."""
    running.check(lambda: listing(plan), plan.is_shared)
    with ExitStack() as stack:
        job, inputs = plan.job, _sources.known_inputs(plan.inputs)
        if _needs_counts(job):
            from sparsemaps.files._frequency_stages import count

            inputs = _sources.spooled(inputs, stack)
            folder = None
            if plan.is_shared:
                folder = _urls.full_path(plan.output) + FOLDER_ENDING
            results = stack.enter_context(opened(folder, shared=running.is_share))
            job, names = count(job, inputs, results, running)
            if running.share is not None and running.share.stage in names:
                return []
        job, inputs = job.prepared(inputs, stack)
        if plan.is_shared:
            return _make_each(plan._replace(job=job), inputs, running)
        with _output_files.staged(plan.output, job.beside) as path:
            values = job.run(inputs, path, TaskRun(job.n_jobs, None, running.progress))
    return [
        MadeOutput(path, plan.output, counts(value, job.n_counts), False)
        for path, value in zip(plan.inputs, values, strict=True)
    ]


def _make_each(
    plan: OutputPlan, inputs: list[_sources.InputFile], running: JobRun
) -> list[MadeOutput]:
    """Make the output of each input, as a task."""
    job, directory = plan.job, os.fspath(plan.output)
    outputs = [output for output, _, _ in outputs_of(plan.inputs, directory, job.name_of_output)]
    folder = _urls.full_path(directory)  # which workers reach from any directory
    common = job.in_common(inputs, folder + FOLDER_ENDING)
    whole, tasks = job.recipe(), []
    if common is not None:
        whole["cut"] = common.cut.digest
    for number, (input, output) in enumerate(zip(inputs, outputs, strict=True)):
        recipe, name = {**whole, **recipe_of_input(job.source, input)}, os.path.basename(output)
        of = input if common is None else number
        tasks.append(Task(name, recipe, of, input.n_bytes, name))
    make = partial(_make, job) if common is None else common.make
    stage = Stage(job.name, tasks, make, ("", *_endings(job)))
    share = running.share
    with writing(directory, shared=running.is_share):
        results = Results(folder)
        with ExitStack() as stack:
            if common is not None and (stage.missing(results) or not running.resume):
                first = stack.enter_context(opened(common.folder, shared=running.is_share))
                running.run(common.before(), first, job.n_jobs)
            if share is not None and share.stage != stage.name:
                return []
            made = running.run([stage], results, job.n_jobs)[stage.name]
    if job.bad_records is not None and share is None:
        join_tables(job.bad_records, [output + _sources.BAD for output in outputs])
    own = slice(None) if share is None else slice(share.i, None, share.n)
    return [
        MadeOutput(path, output, counts(result.value, job.n_counts), not result.is_new)
        for path, output, result in zip(plan.inputs[own], outputs[own], made, strict=True)
    ]


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
    """Endings of the names of files that may be written beside an output of a directory."""
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
