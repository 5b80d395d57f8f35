"""Codes of the records of inputs, as stages of a job, and pairs of similar records."""

import dataclasses
import functools
import itertools
import os
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._io import _output_files, _paths, _sources
from sparsemaps._io._array_files import ArrayKind, read_array
from sparsemaps._io._progress import FileProgress, Progress
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._steps import Steps
from sparsemaps._tools import _threads
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import CodesOfFiles, PackedCodes, save_blocks, with_rows
from sparsemaps.files._bad_records import BadRecords, name_in_table
from sparsemaps.files._formats import NOTHING, RecordsFormat, Spool
from sparsemaps.files._job import Job
from sparsemaps.files._job_options import PairSearch
from sparsemaps.files._results import NOWHERE, Results, files_named
from sparsemaps.files._row_names import comment_lines, names_of_rows, read_comments
from sparsemaps.files._rows import read_rows, with_width
from sparsemaps.files._tasks import Stage, Task, TaskRun
from sparsemaps.neighbors import _containment, _search
from sparsemaps.neighbors._exact import remembered_kernel
from sparsemaps.neighbors._hashing import SearchRun, Sizes
from sparsemaps.records._batch import Batch
from sparsemaps.records._table import holds_codes
from sparsemaps.records.codes import recipe_of

RANGE_BYTES = 2**26
"""Largest length of a range of an input, whose codes one task makes."""

BESIDE_CODES = tuple(RecordsFormat.beside)
"""Endings of the names of files next to codes."""


@dataclasses.dataclass(frozen=True)
class CodedInputs:
    """Inputs, and the file with the codes of all their records."""

    job: Job
    """The job that makes rows of the inputs, also when they are read again."""
    inputs: list[Any]
    path: str
    digest: str
    """A digest of the inputs and of all that determines the codes."""
    n_parts: list[int] | None = None
    """The number of parts from which the codes of each input are joined; None for a single part."""

    @functools.cached_property
    def n_records(self) -> list[int]:
        """The number of records of each input. The codes must exist."""
        if self.n_parts is None:
            return [len(PackedCodes.load(self.path))]
        folder, name = os.path.split(self.path)
        of_parts = iter(Results(folder).counts(name, self.digest, sum(self.n_parts)))
        return [sum(itertools.islice(of_parts, n)) for n in self.n_parts]

    @property
    def n_rows(self) -> int:
        return sum(self.n_records)

    def are_equal(self, rows: Array, others: Array) -> Array:
        """Return a mask of the pairs of records that have the same content. The error probability
        is 2^-32."""
        same = np.ones(len(rows), bool)
        for ending in (_sources.CHECKSUMS, _sources.LENGTHS):
            numbers = numbers_beside(self.path, ending, self.n_rows)
            same &= numbers[rows] == numbers[others]
        return same

    def refuse_bad_inputs(self) -> None:
        """Raise a ValueError if all records of an input are bad, since its output would be
        empty."""
        pairs = zip(self.inputs, self.n_records, strict=True)
        empty = {name_in_table(input): input for input, n in pairs if not n}
        for line in bad_lines_beside(self.path) if empty else ():
            if line.partition(b"\t")[0] in empty:
                alone = BadRecords()
                alone.add(0, 1, line)
                alone.finish()


def numbers_beside(path: str, ending: str, n_records: int) -> Array:
    """Return the numbers of records from a file next to their codes."""
    kind = ArrayKind(RecordsFormat.beside[ending], (n_records,))
    # Without records, the file may be missing.
    return read_array(path + ending, kind, True) if n_records else np.empty(0, kind.dtype)


def digests_of(path: str, n_records: int) -> Array:
    """Return, for each record without samples, its number and a digest of its content in two
    words."""
    array = read_array(path + _sources.DIGESTS, ArrayKind(np.uint64))
    if len(array) % 3:
        raise ValueError(f"{path + _sources.DIGESTS} is damaged: it has {len(array)} numbers")
    rows = array[::3]
    if len(rows) and not (rows[-1] < n_records and np.all(rows[1:] > rows[:-1])):
        raise ValueError(f"{path + _sources.DIGESTS} is damaged: its rows do not ascend")
    return array.reshape(-1, 3)


class Delivery(NamedTuple):
    """An earlier delivery: its codes, and the mask of its kept records; None if all were kept."""

    codes: _sources.InputFile
    kept: _sources.InputFile | None

    def load(self) -> PackedCodes:
        """Return the codes. Records that were not kept are marked as records without samples."""
        codes = PackedCodes.load(self.codes)
        if self.kept is None:
            return codes
        kept = read_array(self.kept.path, ArrayKind(np.bool_, (len(codes),)))
        sizes = None if codes.sizes is None else codes.sizes * kept
        return with_rows(codes, codes.array, codes.sampled & kept, sizes)

    @property
    def files(self) -> list[_sources.InputFile]:
        return [self.codes] if self.kept is None else [self.codes, self.kept]


# ---- codes ---------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """Codes to join: the result of a task, or a file of codes given as an input."""

    path: str
    made_of: Any
    """The digest of the recipe of the result, or the facts about the input."""
    is_made: bool = True

    def counts(self, results: Results) -> list[int]:
        """Return the number of records, and of bad records before the first of them."""
        if not self.is_made:
            return [len(PackedCodes.load(self.path)), 0]
        return results.counts(os.path.basename(self.path), self.made_of, 2)


def encode(
    job: Job, inputs: list[Any], results: Results, name: str = "codes"
) -> Generator[Stage, None, CodedInputs]:
    """Yield the stages that make the codes: first of ranges of the inputs, then joined. Return the
    codes. A single range needs no parts."""
    ranges = [ranges_of(job, input) for input in inputs]
    every = [one for some in ranges for one in some]
    file = f"{name}.npy"
    tasks: list[Task] = []
    parts: list[_Part] = []
    for number, one in enumerate(every):
        if holds_codes(one):
            parts.append(_Part(one.path, recipe_of(one), is_made=False))
            continue
        facts: Any = secrets.token_hex(16)  # a pipe cannot be read again
        if isinstance(one, _sources.InputFile):
            facts = job.source.facts(one)
        part = file if len(every) == 1 else f"{name}-part-{len(tasks):06d}.npy"
        recipe = {**job.recipe(), "input": facts}
        tasks.append(Task(part, recipe, (one, number == 0), _sources.n_bytes_of([one])))
        parts.append(_Part(results.path(tasks[-1].file), tasks[-1].digest))
    endings = ("", *BESIDE_CODES)
    about = f"the codes of at most {RANGE_BYTES >> 20} MB of the inputs"
    if len(every) == len(tasks) == 1:  # no parts
        yield Stage(name, tasks, job.make, results, endings, about=about)
        if job.source.sets_aside and results is not NOWHERE:
            _counts_of(parts, results)
        return CodedInputs(job, inputs, results.path(tasks[0].file), tasks[0].digest)
    joined = Task(file, {"parts": [part.made_of for part in parts]}, (parts,))
    join = Stage(
        f"{name}-join", [joined], _join, results, endings,
        about="the codes of all inputs in one file", removes=files_named(rf"{name}-part-\d{{6}}"),
    )  # fmt: skip
    yield Stage(name, tasks, job.make, results, endings, join, about, stays=False)
    yield join
    n_parts = list(map(len, ranges))
    return CodedInputs(job, inputs, results.path(joined.file), joined.digest, n_parts)


def ranges_of(job: Job, input: Any) -> list[Any]:
    """Return the ranges of an input whose records tasks read."""
    is_whole = not isinstance(input, _sources.InputFile) or holds_codes(input)
    if is_whole or not job.source.format(input).is_cut_by_bytes:
        return [input]
    return list(input.cut(RANGE_BYTES))


def _join(made: list[_Part], path: str, run: TaskRun) -> list[int]:
    """Join the codes of several files into one, and return the numbers of their records. Files of
    codes that are inputs lack lengths and digests."""
    parts, n_records = [part.path for part in made], _counts_of(made, run.results)
    have_ids = all(_paths.exists(part + _sources.IDS) for part in parts)
    with ExitStack() as stack:
        beside, start = RecordsFormat.files_beside(path, stack), 0
        for ending in (_sources.LENGTHS, _sources.DIGESTS):
            beside[ending].append(NOTHING)
        for part, n in zip(parts, n_records, strict=True):
            if _paths.exists(part + _sources.LENGTHS):
                for ending in (_sources.LENGTHS, _sources.CHECKSUMS, _sources.KEYS):
                    if _paths.exists(part + ending):
                        beside[ending].append(numbers_beside(part, ending, n))
                own = np.array(digests_of(part, n))
                own[:, 0] += np.uint64(start)
                beside[_sources.DIGESTS].append(own.reshape(-1))
                comments = read_comments(part, n)
                if comments:
                    beside[_sources.COMMENTS].append(comment_lines(comments, start))
            else:  # a file of codes given as an input
                beside[_sources.LENGTHS].append(np.zeros(n))
            if _paths.exists(part + _sources.BAD):
                beside[_sources.BAD].append_file(part + _sources.BAD)
            if have_ids:
                with names_of_rows(part, n):  # an error unless there is one id per row
                    beside[_sources.IDS].append_file(part + _sources.IDS)
            start += n
        for file in beside.values():
            file.finish()
    save_blocks(path, CodesOfFiles(parts))
    return n_records


def _counts_of(parts: list[_Part], results: Results) -> list[int]:
    """Return the number of records of each part. Raise a ValueError if all records or the first
    `MOST` are bad."""
    bad_records, n_records = BadRecords(), []
    for one in parts:
        n, n_leading = one.counts(results)
        bad_records.add(n, n_leading, next(bad_lines_beside(one.path), b""))
        n_records.append(n)
    bad_records.finish()
    return n_records


def bad_lines_beside(codes: str) -> Iterator[bytes]:
    """Yield the table lines about bad records next to a file of codes."""
    if _paths.exists(codes + _sources.BAD):
        with open_regular(codes + _sources.BAD) as file:
            yield from file


# ---- pairs ---------------------------------------------------------------------------------------


def copies(coded: CodedInputs, key: Array | None = None) -> tuple[Array, Array]:
    """Return pairs of records without samples that have equal bytes: each record with the first of
    its equals, by number or by ascending key."""
    digests = digests_of(coded.path, coded.n_rows)
    rows = digests[:, 0].astype(np.int64)
    if not len(rows):
        return rows, rows
    if key is not None:
        order = np.argsort(key[rows], kind="stable")
        rows, digests = rows[order], digests[order]
    _, first, which = np.unique(digests[:, 1:], axis=0, return_index=True, return_inverse=True)
    first_of = rows[first[which.reshape(-1)]]
    is_other = first_of != rows
    return first_of[is_other], rows[is_other]


Sides = tuple[CodedInputs, CodedInputs | None]
"""The records to pair: of one set, or of two."""


def similar(
    sides: Sides, search: PairSearch, run: TaskRun, steps: Steps
) -> tuple[Array, Array, Array]:
    """Return pairs of records of one set or of two, and their similarities or containments."""
    own = PackedCodes.load(sides[0].path)
    other = None if sides[1] is None else PackedCodes.load(sides[1].path)
    limits = SearchRun(n_jobs=run.n_jobs, sizes=Sizes(keys=search.max_bytes // 8), steps=steps)
    if search.exact:
        return _similar_exactly(sides, own, other, search, run, limits)
    find: Any = _containment.contained if search.containment else _search.similar_codes
    i, j, similarity, *_ = find(own, other, search.threshold, search.recall, limits)
    return i, j, similarity


def _similar_exactly(
    sides: Sides,
    own: PackedCodes,
    other: PackedCodes | None,
    search: PairSearch,
    run: TaskRun,
    limits: SearchRun,
) -> tuple[Array, Array, Array]:
    """Return the same as `similar`, by the exact kernel. The codes are searched twice: for the rows
    of candidates, which are then read, and for the pairs."""
    find: Any = _containment.candidates
    wanted = search.threshold, search.recall
    if not search.containment:
        find, wanted = _search.filtered, _search.for_candidates(own, *wanted)
    steps = limits.steps
    new = _search.first_pairs(len(own), None if other is None else len(other))
    rows = find(own, other, *wanted, new, limits._replace(steps=steps.within("rows")))
    if steps.share is not None:
        return *rows, np.empty(0)
    limits = limits._replace(steps=steps.within("exact", run.progress))
    with ExitStack() as stack:
        kernel = exact_kernel(sides, rows, run, stack)

        def similarity(i: Array, j: Array) -> Array:
            value = kernel(i, j)
            if search.containment:
                value = _containment.of_similarity(value, own, other, i, j)
            return value

        decide = _search.filter_for(similarity, search.threshold)
        i, j = find(own, other, *wanted, decide, limits)
        if search.containment:
            i, j = _containment.directed(i, j, other is None, decide)
        return i, j, similarity(i, j)


# ---- the exact kernel ----------------------------------------------------------------------------


def exact_kernel(
    sides: Sides, rows: tuple[Array, Array], run: TaskRun, stack: ExitStack
) -> Callable[[Array, Array], Array]:
    """Return a function from pairs of records to their exact kernel, for the given rows of one set
    or of two. The inputs are read again. The rows are in temporary files as long as `stack` is
    open."""
    own, other = sides
    if other is None:
        X, place = Y, other_place = rows_of(own, rows, run, stack)
    else:
        X, place = rows_of(own, rows[:1], run, stack)
        Y, other_place = rows_of(other, rows[1:], run, stack)
        width = max(X.shape[1], Y.shape[1])
        X, Y = with_width(X, width), with_width(Y, width)
    kernel = remembered_kernel(own.job.map, X, Y)
    return lambda i, j: kernel(place[i], other_place[j])


def rows_of(
    coded: CodedInputs, rows: Iterable[Array], run: TaskRun, stack: ExitStack
) -> tuple[Any, Array]:
    """Return the given rows of inputs as a matrix in temporary files, and a map from records to
    rows of the matrix."""
    wanted = np.zeros(coded.n_rows, bool)
    for some_rows in rows:
        wanted[some_rows] = True
    folder, n_jobs = run.results.scratch, run.n_jobs
    data, columns = (Spool(folder, dtype, stack) for dtype in (np.float64, np.int64))
    source, inputs = coded.job.source, coded.inputs
    n_rows = width = 0

    def chosen(bar: Progress) -> Iterator[tuple[Batch, Array]]:
        """Yield the blocks of all inputs, with the wanted rows of each."""
        nonlocal n_rows
        for input in inputs:
            for block in read_rows(source, input, lambda block: block, n_jobs=n_jobs, bar=bar):
                yield block, np.flatnonzero(wanted[n_rows : n_rows + block.n_rows])
                n_rows += block.n_rows

    ends = [np.zeros(1, np.int64)]
    with _output_files.errors_naming(folder), FileProgress(inputs, run.progress, "rows") as bar:
        for some in _threads.stream(Batch.some, chosen(bar), n_jobs):
            width = max(width, some.shape[1])
            ends.append(data.n + some.indptr[1:].astype(np.int64))
            data.append(some.data)
            columns.append(some.indices)
        arrays = data.array(), columns.array()
    if n_rows != len(wanted):
        before = counted(len(wanted), "records")
        raise ValueError(f"the inputs changed during the run, from {before} to {n_rows}")
    indptr = np.concatenate(ends)
    X = sp.csr_array((*arrays, indptr), shape=(len(indptr) - 1, max(width, 1)))
    return X, np.cumsum(wanted) - 1
