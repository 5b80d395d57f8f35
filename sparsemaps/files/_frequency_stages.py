"""The stages that count document frequencies of n-grams, and the rows based on them: own n-grams,
or weighted n-grams."""

import os
import threading
from collections import deque
from collections.abc import Generator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sparsemaps._io import _paths, _sources, _text_input
from sparsemaps._io._progress import Progress
from sparsemaps._io._sources import Input, InputFile, n_bytes_of
from sparsemaps._tools._blocks import cut_by_size
from sparsemaps._tools._typing import Array
from sparsemaps.files._coded_records import ranges_of
from sparsemaps.files._counted_rows import CountedRows
from sparsemaps.files._formats import rows_at_once
from sparsemaps.files._job import Job
from sparsemaps.files._job_options import Run, Texts
from sparsemaps.files._job_run import by_threads, run_stages
from sparsemaps.files._results import NOWHERE, Results, files_named
from sparsemaps.files._rows import read_rows, reader_of
from sparsemaps.files._tasks import Stage, Task, TaskRun
from sparsemaps.files._text_rows import TextRows
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.records._batch import Batch, CountedBatch
from sparsemaps.records._table import format_by_name
from sparsemaps.text import _frequencies
from sparsemaps.text._csr import Loops, sets_of_texts
from sparsemaps.text._descriptions import compiled_loops, vectorizer_config
from sparsemaps.text._frequencies import Buckets, Frequencies
from sparsemaps.text._own_ngrams import OwnNgrams
from sparsemaps.text._weighted_ngrams import NgramsByTable, read_table

FREQUENCIES = "frequencies.npy"
"""The result of the stages: a table of counts."""

_BUCKETS = 2**20, 2**30
"""The least and the largest number of buckets of a table."""

_WEIGHTS = 2**22, 4
"""The number of buckets of a table of weights, and the bytes of a count, as in `IdfWeights`."""

_TASK_BYTES = 4
"""Bytes of text that a task counts per bucket of its table. With this ratio, creating, writing and
adding tables takes a small part of the time."""

_PACKED = 4
"""Assumed number of bytes of text per byte of a compressed input."""


def frequency_stages(job: Job, inputs: list[Any], results: Results) -> Generator[Stage, None, Job]:
    """Yield the stages that count the n-grams of inputs or copy a given table. Return the job whose
    rows use the counts. A job that needs no counts has no such stages."""
    given = job.source.texts_to_count
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
            job = replace(job, counted=CountedRows(rows_at_once(job.map.size), results.scratch))
        table = yield from _count_all(job, given, inputs, results)
    return job if results is NOWHERE else with_table(job, results.path(table.file))


def count(job: Job, inputs: list[Any], results: Results, how: Run) -> Job:
    """Run only the stages of `frequency_stages`, and return the resulting job."""
    jobs: list[Job] = []

    def stages() -> Generator[Stage, None, None]:
        jobs.append((yield from frequency_stages(job, inputs, results)))

    run_stages(stages(), how)
    return jobs[0]


def _count_all(
    job: Job, given: Texts, inputs: list[Any], results: Results
) -> Generator[Stage, None, Task]:
    """Yield the stages that count the n-grams of ranges of inputs, and then join the counts. A
    single task needs no join."""
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
    sizes = np.array([_text_bytes(one) for one in ranges], np.int64)
    tasks = []
    for number, (first, last) in enumerate(cut_by_size(sizes, _TASK_BYTES * form[0])):
        some = ranges[first:last]
        of_inputs = [
            job.source.facts(one) if isinstance(one, InputFile) else repr(one) for one in some
        ]
        name = FREQUENCIES if last - first == len(ranges) else f"frequencies-part-{number:06d}.npy"
        recipe, n_bytes = {**facts, "inputs": of_inputs}, n_bytes_of(some)
        tasks.append(Task(name, recipe, (*of_all, some), n_bytes))
    about = "how many records have each n-gram"
    if len(tasks) == 1:
        yield Stage("frequencies", tasks, _count, results, about=about)
        return tasks[0]
    whole = {"parts": [task.digest for task in tasks]}
    table = Task(FREQUENCIES, whole, ([results.path(task.file) for task in tasks], form))
    removes = files_named(r"frequencies-part-\d{6}")
    join = Stage("frequencies-join", [table], _join, results, about=about, removes=removes)
    of_ranges = f"{about}, by ranges"
    yield Stage("frequencies", tasks, _count, results, part_of=join, about=of_ranges, stays=False)
    yield join
    return table


def with_table(job: Job, table: str | None) -> Job:
    """Return a job whose rows are own n-grams or weighted n-grams, by the table in a file. With
    None, the table is still to be counted: own n-grams can then be described, but not made."""
    given = job.source.texts_to_count
    assert given is not None
    source: Any = job.source
    vectorizer: Any
    if given.idf is not None:
        assert table is not None
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
    """Return a job that uses the table of an earlier run, if it needs a table and none is given."""
    given, table = job.source.texts_to_count, _paths.join(folder, FREQUENCIES)
    if given is None or given.frequencies is not None or not _paths.exists(table):
        return job
    source: Any = job.source
    return replace(job, source=replace(source, given=replace(given, frequencies=table)))


def _form(inputs: list[Any], max_df: int) -> tuple[int, int]:
    """Return the number of buckets of a table, about one per four bytes of text, and the number of
    bytes of a count."""
    n_bytes = sum(map(_text_bytes, inputs))
    least, largest = _BUCKETS
    n_buckets = min(max(1 << (n_bytes // 4).bit_length(), least), largest)
    return n_buckets, 1 if max_df < 255 else 2 if max_df < 2**16 - 1 else 4


def _text_bytes(input: Any) -> int:
    """Return the approximate number of bytes of text in an input."""
    path = str(getattr(input, "path", ""))
    known = format_by_name(path)
    is_packed = _text_input.without_compression(path) != path
    is_packed = is_packed or (known is not None and known.is_packed)
    return n_bytes_of([input]) * (_PACKED if is_packed else 1)


def _count(
    source: TextRows,
    form: tuple[int, int],
    counted: CountedRows | None,
    checksums: bool,
    inputs: list[Input],
    path: str,
    run: TaskRun,
) -> int:
    """Write the table of some inputs, and return the number of records."""
    table = Frequencies(form[0], count_bytes=form[1])
    with run.reading(inputs) as bar:
        add_records(table, source, inputs, bar, run.n_jobs, counted, checksums)
    _write(path, table)
    return table.n_records


def _write(path: str, table: Frequencies) -> None:
    _frequencies.write(path, table, {})


def add_records(
    table: Frequencies,
    source: TextRows,
    inputs: list[Input],
    bar: Progress,
    n_jobs: int | None,
    counted: CountedRows | None = None,
    checksums: bool = False,
) -> None:
    """Count the n-grams of the records of inputs in a table, in place. Records of weight 0 do not
    count. If `counted` has room, it stores these n-grams, with checksums of the texts if
    `checksums` is true."""
    source, lock = replace(source, numbers_labels=False), threading.Lock()
    add = partial(_add_input, table, lock, source, bar, counted, checksums)
    deque(by_threads(add, inputs, lambda input: n_bytes_of([input]), n_jobs), maxlen=0)


def _add_input(
    table: Frequencies,
    lock: threading.Lock,
    source: TextRows,
    bar: Progress,
    counted: CountedRows | None,
    checksums: bool,
    input: Input,
    n_jobs: int | None,
) -> None:
    """Count the n-grams of the records of an input, like `add_records`. Other threads may count in
    the same table."""
    loops = compiled_loops(source.vectorizer)
    max_rows = None if counted is None else counted.max_rows
    keeper, places = counted if isinstance(input, InputFile) else None, list[int]()

    def found(block: Batch) -> tuple[list[Buckets], CountedBatch | None]:
        return _buckets_of(table, loops, block, checksums, holds=keeper is not None)

    for several, batch in read_rows(
        source, input, found, n_jobs=n_jobs, bar=bar, max_rows=max_rows
    ):
        with lock:
            for buckets in several:
                table.add_buckets(buckets)
        place = None if keeper is None or batch is None else keeper.add(batch)
        if place is None:
            keeper = None
        else:
            places.append(place)
    if keeper is not None:
        keeper.keep(input, places)


def _buckets_of(
    table: Frequencies, loops: Loops | None, block: Batch, checksums: bool, *, holds: bool
) -> tuple[list[Buckets], CountedBatch | None]:
    """Return the buckets of the n-grams of a block, in parts. With `holds`, also return the records
    with these n-grams, if the loops make sets of them."""
    weights = None if block.weights is None else np.array(block.weights, float)
    if loops is None or not loops.has_sets:
        rows = reader_of(block)
        some = rows.block(0, rows.n_rows)
        return [table.buckets(*_of_weight(weights, 0, some.indices, some.indptr))], None
    buckets, sets, n_rows = [], [], 0
    for columns, indptr in sets_of_texts(loops, block.texts):
        buckets.append(table.buckets(*_of_weight(weights, n_rows, columns, indptr)))
        n_rows += len(indptr) - 1
        if holds:
            sets.append((columns.copy(), indptr))
    return buckets, block.counted(sets, checksums) if holds else None


def _of_weight(
    weights: Array | None, first: int, columns: Array, indptr: Array
) -> tuple[Array, Array]:
    """Return the columns of consecutive rows, except rows of weight 0. `first` is the number of the
    first row."""
    if weights is None:
        return columns, indptr
    lengths = np.diff(indptr)
    counts = weights[first : first + len(lengths)] > 0
    ends = np.append(0, np.cumsum(lengths[counts])).astype(indptr.dtype)
    return columns[indptr[0] : indptr[-1]][np.repeat(counts, lengths)], ends


def _join(parts: list[str], form: tuple[int, int], path: str, run: TaskRun) -> int:
    """Write the sum of the tables of all parts, and return the number of records."""
    table = Frequencies(form[0], count_bytes=form[1])
    for part in parts:
        table.merge(_frequencies.read(part)[0])
    _write(path, table)
    return table.n_records


def _take(given: str, is_of_weights: bool, path: str, run: TaskRun) -> int:
    """Copy a table, so that later deliveries find it next to the codes."""
    table = read_table(given) if is_of_weights else _frequencies.read(given)[0]
    _write(path, table)
    return table.n_records
