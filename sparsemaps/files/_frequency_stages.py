"""The stages that count how many records have each n-gram, and the rows that follow: own n-grams,
or weighted ones."""

import os
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sparsemaps._io import _paths, _sources, _text_input
from sparsemaps._io._array_files import ArrayKind, read_array, save_array
from sparsemaps._io._sources import Input
from sparsemaps._tools._typing import Array
from sparsemaps.files._coded_records import ranges_of
from sparsemaps.files._counted_rows import CountedRows
from sparsemaps.files._formats import rows_at_once
from sparsemaps.files._job import Job
from sparsemaps.files._job_options import Run, Texts
from sparsemaps.files._job_run import run_stages
from sparsemaps.files._results import NOWHERE, Results, files_named
from sparsemaps.files._rows import read_rows, reader_of
from sparsemaps.files._tasks import Stage, Task, TaskRun
from sparsemaps.files._text_rows import TextRows
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.records._batch import Batch, CountedBatch
from sparsemaps.records._table import format_by_name
from sparsemaps.text import _frequencies
from sparsemaps.text._csr import sets_of_texts
from sparsemaps.text._descriptions import compiled_loops, vectorizer_config
from sparsemaps.text._frequencies import Buckets, Frequencies
from sparsemaps.text._own_ngrams import OwnNgrams
from sparsemaps.text._weighted_ngrams import NgramsByTable, read_table

FREQUENCIES = "frequencies.npy"
"""The file of the stages: a table of counts."""

_BUCKETS = 2**20, 2**30
"""The least and the largest number of buckets of a table."""

_WEIGHTS = 2**22, 4
"""The number of buckets of a table of weights, and the bytes of a count, as in `IdfWeights`."""

_PACKED = 4
"""The bytes of text that a byte of a compressed input is taken for."""


def counted(job: Job, inputs: list[Any], results: Results) -> Generator[Stage, None, Job]:
    """Yield the stages that count the n-grams of inputs, or take a given table; return the job
    whose rows follow from the counts. A job that needs no counts has no such stage."""
    given = job.source.needs_counts
    if given is None:
        return job
    if given.frequencies is not None:
        path = os.fspath(given.frequencies)
        of = path, given.idf is not None
        table = Task(FREQUENCIES, {"table": _sources.InputFile(path).recipe}, of)
        about = "the table of frequencies that is given"
        yield Stage("frequencies", [table], _take, results, about=about)
    else:
        if given.max_df is not None and job.map.law.is_of_sets:
            job = replace(job, counted=CountedRows(rows_at_once(job.map.size)))
        table = yield from _count_all(job, given, inputs, results)
    return job if results is NOWHERE else with_table(job, results.path(table.file))


def count(job: Job, inputs: list[Any], results: Results, how: Run) -> Job:
    """Run the stages of `counted` alone, and return the job that follows."""
    jobs: list[Job] = []

    def stages() -> Generator[Stage, None, None]:
        jobs.append((yield from counted(job, inputs, results)))

    run_stages(stages(), how)
    return jobs[0]


def _count_all(
    job: Job, given: Texts, inputs: list[Any], results: Results
) -> Generator[Stage, None, Task]:
    """Yield the stages that count the n-grams of ranges of inputs, and of all. A single range needs
    no parts."""
    form = _WEIGHTS if given.max_df is None else _form(inputs, given.max_df)
    of_all = job.source, form, job.counted, job.options.checksums
    facts: dict[str, Any] = {
        "texts": job.options.texts,
        "options": job.source.options(),
        "form": form,
    }
    if job.options.weights is not None:  # records of weight 0 do not count
        facts["weights"] = job.options.weights
    ranges = [one for input in inputs for one in ranges_of(job, input)]
    tasks = []
    for number, one in enumerate(ranges):
        of_input = (
            [*one.recipe, job.source.format(one).name] if hasattr(one, "recipe") else repr(one)
        )
        name = FREQUENCIES if len(ranges) == 1 else f"frequencies-part-{number:06d}.npy"
        recipe, n_bytes = {**facts, "input": of_input}, _sources.n_bytes_of([one])
        tasks.append(Task(name, recipe, (*of_all, one), n_bytes))
    about = "how many records have each n-gram"
    if len(tasks) == 1:
        yield Stage("frequencies", tasks, partial(_count, _write), results, about=about)
        return tasks[0]
    whole = {"parts": [task.digest for task in tasks]}
    table = Task(FREQUENCIES, whole, ([results.path(task.file) for task in tasks], form))
    removes = files_named(r"frequencies-part-\d{6}")
    join = Stage("frequencies-join", [table], _join, results, about=about, removes=removes)
    of_ranges = f"{about}, by ranges"
    yield Stage("frequencies", tasks, partial(_count, _write_part), results, part_of=join,
                about=of_ranges, stays=False)  # fmt: skip
    yield join
    return table


def with_table(job: Job, table: str) -> Job:
    """Return a job whose rows are own n-grams, or weighted ones, by the table of a file."""
    given = job.source.needs_counts
    assert given is not None
    source: Any = job.source
    vectorizer: Any
    if given.idf is not None:
        vectorizer = NgramsByTable(source.vectorizer, table, given.idf, given.idf_levels)
    else:
        assert given.max_df is not None
        vectorizer = OwnNgrams(source.vectorizer, table, given.max_df, given.min_own)
    config = vectorizer_config(vectorizer, values=not job.map.law.is_of_sets)
    return replace(
        job,
        source=replace(
            source,
            vectorizer=vectorizer,
            encoder=None if source.encoder is None else TextEncoder(job.map, vectorizer),
        ),
        options=job.options._replace(texts=config),
    )


def with_table_of(job: Job, folder: str) -> Job:
    """Return a job that takes the table of an earlier run, if it needs one and has none."""
    given, table = job.source.needs_counts, _paths.join(folder, FREQUENCIES)
    if given is None or given.frequencies is not None or not _paths.exists(table):
        return job
    source: Any = job.source
    return replace(job, source=replace(source, given=replace(given, frequencies=table)))


def _form(inputs: list[Any], max_df: int) -> tuple[int, int]:
    """Return how many buckets a table has, one for two to four bytes of text, and how many bytes a
    count has."""
    n_bytes = 0
    for input in inputs:
        path = str(getattr(input, "path", ""))
        known = format_by_name(path)
        is_packed = _text_input.without_compression(path) != path
        is_packed = is_packed or (known is not None and known.is_packed)
        n_bytes += _sources.n_bytes_of([input]) * (_PACKED if is_packed else 1)
    least, largest = _BUCKETS
    n_buckets = min(max(1 << (n_bytes // 4).bit_length(), least), largest)
    return n_buckets, 1 if max_df < 255 else 2 if max_df < 2**16 - 1 else 4


def _count(
    write: Callable[[str, Frequencies], None],
    source: TextRows,
    form: tuple[int, int],
    counted: CountedRows | None,
    checksums: bool,
    input: Input,
    path: str,
    run: TaskRun,
) -> int:
    """Write what is counted of an input by ``write(path, table)``; return the number of records."""
    table = Frequencies(form[0], count_bytes=form[1])
    add_records(table, source, input, run, counted, checksums)
    write(path, table)
    return table.n_records


def _write(path: str, table: Frequencies) -> None:
    _frequencies.write(path, table, {})


def _write_part(path: str, table: Frequencies) -> None:
    """Write the buckets of a table that are not empty, with their counts, after the number of
    records."""
    (counts,) = table.counts
    buckets = np.flatnonzero(counts)
    part = np.empty((2, 1 + len(buckets)), np.uint32)
    part[:, 0] = divmod(table.n_records, 2**32)
    part[0, 1:], part[1, 1:] = buckets, counts[buckets]
    save_array(path, part)


def add_records(
    table: Frequencies,
    source: TextRows,
    input: Input,
    run: TaskRun,
    counted: CountedRows | None = None,
    checksums: bool = False,
) -> None:
    """Count the n-grams of the records of an input in a table, in place; records of weight 0 do not
    count. As far as `counted` has room, it takes these n-grams, with checksums of the texts if they
    are wanted."""
    source = replace(source, numbers_labels=False)
    loops = compiled_loops(source.vectorizer)
    has_sets, has_room = getattr(loops, "has_sets", False), counted is not None

    def found(block: Batch) -> tuple[list[Buckets], CountedBatch | None]:
        weights = None if block.weights is None else np.array(block.weights, float)
        if not has_sets:
            rows = reader_of(block)
            some = rows.block(0, rows.n_rows)
            return [table.buckets(*_of_weight(weights, 0, some.indices, some.indptr))], None
        buckets, sets, is_held, n_rows = [], [], has_room, 0
        for columns, indptr in sets_of_texts(loops, block.texts):
            buckets.append(table.buckets(*_of_weight(weights, n_rows, columns, indptr)))
            n_rows += len(indptr) - 1
            if is_held:
                sets.append((columns.copy(), indptr))
        return buckets, block.counted(sets, checksums) if is_held else None

    max_rows = None if counted is None else counted.max_rows
    if counted is not None:
        counted.take(input)  # of an attempt before
    with run.reading([input]) as bar:
        reading: dict[str, Any] = {"n_jobs": run.n_jobs, "bar": bar, "max_rows": max_rows}
        for several, batch in read_rows(source, input, found, **reading):
            for buckets in several:
                table.add_buckets(buckets)
            if counted is not None and has_room:
                has_room = batch is not None and counted.add(input, batch)


def _of_weight(
    weights: Array | None, first: int, columns: Array, indptr: Array
) -> tuple[Array, Array]:
    """Return the columns of consecutive rows but for those of weight 0; `first` is the number of
    the first one."""
    if weights is None:
        return columns, indptr
    lengths = np.diff(indptr)
    counts = weights[first : first + len(lengths)] > 0
    ends = np.append(0, np.cumsum(lengths[counts])).astype(indptr.dtype)
    return columns[indptr[0] : indptr[-1]][np.repeat(counts, lengths)], ends


def _join(parts: list[str], form: tuple[int, int], path: str, run: TaskRun) -> int:
    """Write the table of all parts; return the number of records."""
    n_buckets, count_bytes = form
    table = Frequencies(n_buckets, count_bytes=count_bytes)
    (counts,) = table.counts
    most = np.iinfo(counts.dtype).max
    for part in parts:
        found: Array = read_array(part, ArrayKind(np.uint32, (2, None)))
        if not found.shape[1] or found[0, 1:].max(initial=0) >= n_buckets:
            raise ValueError(f"{part} is damaged: expected buckets from 0 to {n_buckets - 1}")
        high, low = found[:, 0].tolist()
        table.n_records += high * 2**32 + low
        buckets = found[0, 1:]
        counts[buckets] = np.minimum(counts[buckets].astype(np.uint64) + found[1, 1:], most)
    _write(path, table)
    return table.n_records


def _take(given: str, is_of_weights: bool, path: str, run: TaskRun) -> int:
    """Write a copy of a table, so that later deliveries find it beside the codes."""
    table = read_table(given) if is_of_weights else _frequencies.read(given)[0]
    _write(path, table)
    return table.n_records
