"""The codes of records of inputs, as stages of a job; and the pairs of near records."""

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._tools import _output_files
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._distinct import distinct
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import (
    BAD,
    CHECKSUMS,
    COMMENTS,
    DIGESTS,
    IDS,
    KEYS,
    LENGTHS,
    RECORD,
    InputFile,
    is_regular,
)
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes, join_files
from sparsemaps.files._job import Job
from sparsemaps.files._job_options import Search
from sparsemaps.files._recipes import digest
from sparsemaps.files._results import Results, Steps, counts, save_array
from sparsemaps.files._row_names import read_comments, write_comments
from sparsemaps.files._rows import InputBlock, read_rows, with_width
from sparsemaps.files._tasks import How, Stage, Task
from sparsemaps.neighbors import _containment, _hashing, _search
from sparsemaps.neighbors._exact import ExactKernel

RANGE_BYTES = 2**26
"""Largest length of a range of an input, whose codes are made by one task."""

BESIDE = LENGTHS, DIGESTS, CHECKSUMS, IDS, COMMENTS, KEYS, BAD
"""Endings of the names of files beside codes."""


class Codes(NamedTuple):
    """The codes of all records of some inputs, which are in a file."""

    path: str
    n_records: list[int]
    """Of each input."""
    digest: str
    """Tells what they are made of."""

    def load(self) -> PackedCodes:
        return PackedCodes.load(self.path)

    def lengths(self) -> Array:
        """How long each record is."""
        return read_array(
            self.path + LENGTHS, ArrayKind(np.uint32, (sum(self.n_records),)), mmap=True
        )

    def keys(self) -> Array:
        """The number of each record, by which records are ordered; NaN if it has none."""
        kind = ArrayKind(np.float64, (sum(self.n_records),))
        if not sum(self.n_records):  # there is no file
            return np.empty(0)
        return read_array(self.path + KEYS, kind, mmap=True)

    def are_equal(self, rows: Array, others: Array) -> Array:
        """Which pairs of records hold the same, but for chance of 2^-32."""
        kind = ArrayKind(np.uint32, (sum(self.n_records),))
        checksums = read_array(self.path + CHECKSUMS, kind, mmap=True)
        lengths = self.lengths()
        same: Array = (checksums[rows] == checksums[others]) & (lengths[rows] == lengths[others])
        return same

    def n_bad(self) -> int:
        """The number of records that could not be read."""
        if not os.path.exists(self.path + BAD):
            return 0
        with open(self.path + BAD, "rb") as file:
            return sum(1 for _ in file)

    def digests(self) -> Array:
        """Of each record without samples: its number, and a digest of its content in two words."""
        return _digests(self.path, sum(self.n_records))


class CodedInputs(NamedTuple):
    """Inputs with the codes of their records, and how rows are made of them, to read them again."""

    job: Job
    inputs: list[Any]
    codes: Codes


def _digests(path: str, n_records: int) -> Array:
    array = read_array(path + DIGESTS, ArrayKind(np.uint64))
    if len(array) % 3:
        raise ValueError(f"{path + DIGESTS} is damaged: it has {len(array)} numbers")
    rows = array[::3]
    if len(rows) and not (rows[-1] < n_records and np.all(rows[1:] > rows[:-1])):
        raise ValueError(f"{path + DIGESTS} is damaged: its rows do not ascend")
    return array.reshape(-1, 3)


class Earlier(NamedTuple):
    """An earlier delivery: its codes, and which of its records were kept; None is all."""

    codes: InputFile
    kept: InputFile | None

    def load(self) -> PackedCodes:
        """The codes, of which records that were not kept have no samples."""
        codes = PackedCodes.load(self.codes)
        if self.kept is None:
            return codes
        kept = read_array(self.kept.path, ArrayKind(np.bool_, (len(codes),)))
        sizes = None if codes.sizes is None else codes.sizes * kept
        return codes._with_rows(codes.array, codes.sampled & kept, sizes)

    def absolute(self) -> "Earlier":
        """The same for processes whose current directory is another one."""
        return Earlier(self.codes.absolute(), self.kept and self.kept.absolute())

    @property
    def files(self) -> list[InputFile]:
        return [self.codes] if self.kept is None else [self.codes, self.kept]


# ---- codes ---------------------------------------------------------------------------------------


def encode(
    job: Job, inputs: Sequence[Any], results: Results, name: str = "codes"
) -> Generator[Stage, None, Codes]:
    """The stages that make the codes of inputs: of ranges of them, and of all. Inputs that are
    files of codes are joined as they are."""
    ranges = [ranges_of(job, input) for input in inputs]
    tasks: list[Task] = []
    parts: list[tuple[str, Any]] = []
    for one in [one for some in ranges for one in some]:
        if holds_codes(one):
            parts.append((one.path, one.recipe))
            continue
        part = f"{name}-part-{len(tasks):06d}.npy"
        recipe = {**job.recipe(), "input": recipe_of(job, one)}
        tasks.append(Task(part, recipe, (job, one), getattr(one, "n_bytes", 0)))
        parts.append((results.path(part), digest(recipe)))
    file = f"{name}.npy"
    recipe = {"parts": [made_of for _, made_of in parts]}
    endings = ("", *BESIDE)
    yield Stage(name, f"the codes of at most {RANGE_BYTES >> 20} MB of the inputs", tasks,
                _encode, endings, part_of=(file, recipe))  # fmt: skip
    joined = Task(file, recipe, [path for path, _ in parts])
    yield Stage(f"{name}-join", "the codes of all inputs in one file", [joined], _join, endings)
    beside = "|".join(re.escape(ending) for ending in (*BESIDE, RECORD))
    results.remove(rf"{re.escape(name)}-part-\d{{6}}\.npy({beside})?")
    made = results.find(file, recipe)
    if made is None:
        raise ValueError(f"{results.path(file)} has been removed meanwhile")
    n_records = iter(counts(made, len(parts)))
    return Codes(
        results.path(file), [sum(next(n_records) for _ in some) for some in ranges], made.digest
    )


def holds_codes(input: Any) -> bool:
    """Whether an input is a file of packed codes, by its name."""
    return is_regular(input) and os.fspath(input).endswith(".npy")


def ranges_of(job: Job, input: Any) -> list[Any]:
    """The ranges of an input whose records tasks read."""
    if not isinstance(input, InputFile) or holds_codes(input) or not job.is_cut(input.path):
        return [input]
    return list(input.cut(RANGE_BYTES))


def recipe_of(job: Job, input: Any) -> Any:
    """What decides the records of an input. Those of a pipe are never the same again."""
    if isinstance(input, InputFile):
        return [*input.recipe, job.format_of(input)]
    return secrets.token_hex(16)


def _encode(of: Any, path: str, how: How) -> int:
    """Write the codes of a range of an input; returns the number of its records."""
    job, input = of
    (mapped,) = job._replace(n_jobs=how.n_jobs).run([input], path, how.bar)
    return int(mapped.n_rows)


def _join(parts: list[str], path: str, how: How) -> list[int]:
    """Write the codes of several files to one; returns the numbers of their records. Files of codes
    that are inputs have no lengths and digests."""
    codes = [PackedCodes.load(part) for part in parts]
    n_records = list(map(len, codes))
    starts = np.cumsum([0, *n_records]).tolist()
    lengths, digests, comments = [np.empty(0, np.uint32)], [np.empty((0, 3), np.uint64)], []
    checksums: list[Array] = []
    keys: list[Array] = []
    for part, start, n in zip(parts, starts, n_records, strict=False):
        if not os.path.exists(part + LENGTHS):
            lengths.append(np.zeros(n, np.uint32))
            continue
        if os.path.exists(part + CHECKSUMS):
            checksums.append(read_array(part + CHECKSUMS, ArrayKind(np.uint32, (n,))))
        if os.path.exists(part + KEYS):
            keys.append(read_array(part + KEYS, ArrayKind(np.float64, (n,))))
        lengths.append(read_array(part + LENGTHS, ArrayKind(np.uint32, (n,))))
        own = np.array(_digests(part, n))
        own[:, 0] += np.uint64(start)
        digests.append(own)
        comments += [(start + row, text) for row, text in read_comments(part, n)]
    save_array(path + LENGTHS, np.concatenate(lengths))
    save_array(path + DIGESTS, np.concatenate(digests).reshape(-1))
    for ending, arrays in ((CHECKSUMS, checksums), (KEYS, keys)):
        if arrays:
            save_array(path + ending, np.concatenate(arrays))
    bad = [part + BAD for part in parts if os.path.exists(part + BAD)]
    if bad:
        with _output_files.atomic_output(path + BAD) as file:
            for name in bad:
                with open(name, "rb") as lines:
                    shutil.copyfileobj(lines, file)
    if comments:
        with _output_files.atomic_output(path + COMMENTS) as file:
            write_comments(file, comments)
    if parts and all(os.path.exists(part + IDS) for part in parts):
        with _output_files.atomic_output(path + IDS) as file:
            for part in parts:
                with open(part + IDS, "rb") as ids:
                    file.writelines(ids)
    join_files(parts, path)
    return n_records


# ---- pairs ---------------------------------------------------------------------------------------


def joining_pairs(
    coded: CodedInputs, search: Search, folder: str, how: How, steps: Steps
) -> tuple[Array, Array]:
    """Pairs that join the records of each cluster, by the estimates or by the exact kernel; and
    pairs of each record without samples and the first of its copies."""
    found = joined_candidates(coded, search, how, steps.made())
    if search.exact:
        i, j = _joined_exactly(coded, search, found, folder, how, steps)
    else:
        i, j = found
    i_copies, j_copies = copies(coded.codes.digests())
    return np.concatenate([i, i_copies]), np.concatenate([j, j_copies])


def joined_candidates(coded: CodedInputs, search: Search, how: How, steps: Steps) -> Any:
    """What codes tell of the pairs of `joining_pairs`: the pairs, or where the exact kernel decides
    the rows that may be in one."""
    codes = coded.codes.load()
    if not search.exact:
        limits = _hashing.Limits(n_jobs=how.n_jobs, stages=steps)
        return _search.spanning_pairs(codes, search.threshold, search.recall, limits)
    least, recall = _search.for_candidates(codes, search.threshold, search.recall)
    limits = _hashing.Limits(n_jobs=how.n_jobs, stages=steps.within("rows"))
    return _search.joined_rows(codes, least, recall, limits)


def _joined_exactly(
    coded: CodedInputs, search: Search, rows: Array, folder: str, how: How, steps: Steps
) -> tuple[Array, Array]:
    codes = coded.codes.load()
    least, recall = _search.for_candidates(codes, search.threshold, search.recall)
    limits = _hashing.Limits(n_jobs=how.n_jobs, stages=steps.within("exact"))
    inputs = coded.inputs, None
    with ExitStack() as stack:
        kernel = exact_kernel(coded.job, inputs, (codes, None), (rows, rows), folder, how, stack)
        decide = _search.deciding(kernel, search.threshold)
        return _search.joined_by(codes, least, recall, decide, limits)


def near_rows(
    search: Search, codes: Codes, against: Sequence[Earlier], how: How, steps: Steps
) -> Array:
    """The rows that are near a row of an earlier delivery, of which there may be several."""
    own, near = codes.load(), [np.empty(0, np.int64)]
    for number, one in enumerate(against):
        earlier = one.load()
        if len(earlier) and len(own):
            limits = _hashing.Limits(n_jobs=how.n_jobs, stages=steps.within(f"against-{number}"))
            near.append(_search.near_rows(earlier, own, search.threshold, search.recall, limits))
    return distinct(np.concatenate(near))


def copies(digests: Array, key: Array | None = None) -> tuple[Array, Array]:
    """Pairs of records without samples of equal bytes: each record with the first of its equals, by
    number, or by ascending key."""
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


def candidates(
    search: Search, codes: tuple[PackedCodes, PackedCodes | None], how: How, steps: Steps
) -> tuple[Array, ...]:
    """What codes tell of the pairs of `similar`: the pairs and their similarities, or where the
    exact kernel decides a few pairs, in which each row stands that it is asked about."""
    own, other = codes
    threshold, recall = search.threshold, search.recall
    if search.exact:
        limits = _limits(search, how, steps.within("rows"))
        if search.is_containment:
            return _containment.rows_in_pairs(own, other, threshold, recall, limits)
        least, recall = _search.for_candidates(own, threshold, recall)
        return _search.rows_in_pairs(own, other, least, recall, limits)
    given, limits = (own, other, threshold, recall), _limits(search, how, steps)
    if search.is_containment:
        return _containment.contained(*given, limits)[:3]
    return _search.similar(*given, limits)


def _limits(search: Search, how: How, steps: Steps) -> _hashing.Limits:
    """The limits of a search of pairs."""
    sizes = _hashing.Sizes(keys=search.max_bytes // 8)
    return _hashing.Limits(n_jobs=how.n_jobs, sizes=sizes, stages=steps)


def similar(
    job: Job,
    search: Search,
    inputs: tuple[list[Any], list[Any] | None],
    codes: tuple[PackedCodes, PackedCodes | None],
    folder: str,
    how: How,
    steps: Steps,
) -> tuple[Array, ...]:
    """Pairs of records, of one set or of two, and their similarities, or containments; by the
    estimate or by the exact kernel."""
    own, other = codes
    threshold, recall = search.threshold, search.recall
    found = candidates(search, codes, how, steps.made())
    if not search.exact:
        return found
    decided: Callable[..., tuple[Array, Array]] = _containment.decided
    if not search.is_containment:
        decided = _search.decided
        threshold, recall = _search.for_candidates(own, threshold, recall)
    with ExitStack() as stack:
        kernel = exact_kernel(job, inputs, codes, (found[0], found[1]), folder, how, stack)

        def similarity(i: Array, j: Array) -> Array:
            value = kernel(i, j)
            if search.is_containment:
                value = _containment.of_similarity(value, own, other, i, j)
            return value

        decide = _search.deciding(similarity, search.threshold)
        limits = _limits(search, how, steps.within("exact"))
        i, j = decided(own, other, threshold, recall, decide, limits)
        return i, j, similarity(i, j)


# ---- the exact kernel ----------------------------------------------------------------------------


def exact_kernel(
    job: Job,
    inputs: tuple[list[Any], list[Any] | None],
    codes: tuple[PackedCodes, PackedCodes | None],
    rows: tuple[Array, Array],
    folder: str,
    how: How,
    stack: ExitStack,
) -> Callable[[Array, Array], Array]:
    """A function of pairs of records, of one set or of two, among some rows, that gives their exact
    kernel. Inputs are read again; the rows are in temporary files as long as `stack` is open."""
    i, j = rows
    wanted = np.zeros(len(codes[0]), bool)
    wanted[i] = True
    if codes[1] is None or inputs[1] is None:
        wanted[j] = True
        X = Y = rows_of(job, inputs[0], wanted, folder, how, stack)
        place = other_place = np.cumsum(wanted) - 1
    else:
        of_other = np.zeros(len(codes[1]), bool)
        of_other[j] = True
        X = rows_of(job, inputs[0], wanted, folder, how, stack)
        Y = rows_of(job, inputs[1], of_other, folder, how, stack)
        place, other_place = np.cumsum(wanted) - 1, np.cumsum(of_other) - 1
        width = max(X.shape[1], Y.shape[1])
        X, Y = with_width(X, width), with_width(Y, width)
    kernel = ExactKernel(job.map, X, Y)
    return lambda i, j: kernel(place[i], other_place[j])


def rows_of(
    job: Job, inputs: list[Any], wanted: Array, folder: str, how: How, stack: ExitStack
) -> Any:
    """Some rows of files, as a matrix in temporary files."""
    temporary = partial(tempfile.TemporaryFile, dir=folder)
    files: list[Any] = [stack.enter_context(temporary()) for _ in _TYPES]
    n_rows = n_entries = width = 0
    ends = [np.zeros(1, np.int64)]
    with _output_files.errors_naming(folder), FileProgress(inputs, how.progress, "rows") as bar:
        for input in inputs:
            for X in read_rows(job.source, input, _matrix, n_jobs=how.n_jobs, bar=bar):
                some = X[np.flatnonzero(wanted[n_rows : n_rows + X.shape[0]])]
                n_rows += X.shape[0]
                width = max(width, X.shape[1])
                ends.append(n_entries + some.indptr[1:].astype(np.int64))
                n_entries += some.nnz
                for file, array, dtype in zip(
                    files, (some.data, some.indices), _TYPES, strict=True
                ):
                    file.write(np.ascontiguousarray(array, dtype).data)
                    file.flush()
    if n_rows != len(wanted):
        raise ValueError(f"the inputs have changed meanwhile: they had {len(wanted)} records, "
                         f"and have {n_rows}")  # fmt: skip
    indptr = np.concatenate(ends)
    arrays = []
    for file, dtype in zip(files, _TYPES, strict=True):
        empty = np.empty(0, dtype)
        arrays.append(np.memmap(file, dtype, "r", shape=n_entries) if n_entries else empty)
    return sp.csr_array((*arrays, indptr), shape=(len(indptr) - 1, max(width, 1)))


_TYPES = np.float64, np.int64
"""The types of values and of columns."""


def _matrix(block: InputBlock) -> Any:
    return block.X
