"""The codes of records, and the pairs of near records, as files of stages."""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._tools import _output_files
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._checks import LARGEST_INT32, check_int
from sparsemaps._tools._distinct import distinct
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import DIGESTS, IDS, LENGTHS, InputFile
from sparsemaps._tools._stages import KeptStages
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes, join_files
from sparsemaps.files._job import Job
from sparsemaps.files._map import map_each_to
from sparsemaps.files._record import difference, digest
from sparsemaps.files._rows import InputBlock, read_rows
from sparsemaps.files._stage_records import StageRecords
from sparsemaps.neighbors import _search
from sparsemaps.neighbors._exact import exact_pairs

CODES, PAIRS, NEAR, CLUSTERS = "codes.npy", "pairs.npy", "near.npy", "clusters.npy"
"""Files of stages: codes of all records; pairs of rows; rows near those of an earlier delivery;
numbers of clusters."""

STAGE_FILES = CODES, CODES + LENGTHS, CODES + DIGESTS, CODES + IDS, PAIRS, NEAR, CLUSTERS

LENGTHS_OF, DIGESTS_OF = ArrayKind(np.uint32), ArrayKind(np.uint64)
"""What files beside codes hold: of a digest, three numbers, the first of which is the row."""

_PARTS = r"part-\d{6}-[0-9a-f]{16}\.npy(\.lengths\.npy|\.digests\.npy|\.ids\.txt|\.json)?"
"""Names of files of a part of the codes."""

STEPS = "search"
"""Folder of the steps of a search that is not complete."""


class Search(NamedTuple):
    """The parameters that decide which records are near."""

    threshold: float
    recall: float
    exact: bool
    against: tuple[InputFile, ...]


class Stage(NamedTuple):
    """A stage: the numbers of records of the inputs, and the digest of what it was made of."""

    n_records: list[int]
    digest: str


# ---- codes ---------------------------------------------------------------------------------------


def encode_records(
    job: Job, inputs: list[Any], stages: StageRecords, progress: bool | None
) -> Stage:
    """The stage of codes."""
    record = record_of_codes(job, inputs)
    before = finished_codes(stages, record)
    if before is not None:
        return before
    parts = [
        stages.path(f"part-{n:06d}-{hashlib.sha256(str(one).encode()).hexdigest()[:16]}.npy")
        for n, one in enumerate(inputs)
    ]
    if all(isinstance(input, InputFile) for input in inputs):
        pairs = list(zip(inputs, parts, strict=True))
        files = map_each_to(job, pairs, stages.resume, progress, "codes")
    else:
        with FileProgress([], progress, "codes") as bar:
            files = [job.run([one], part, bar)[0] for one, part in zip(inputs, parts, strict=True)]
    codes = join_codes(stages, record, parts, [file.n_rows for file in files])
    stages.remove(_PARTS)
    return codes


def record_of_codes(job: Job, inputs: list[Any]) -> dict[str, Any]:
    """The record of the codes of inputs."""
    return {**job.record(), "inputs": [_describe(input) for input in inputs]}


def _describe(input: Any) -> Any:
    """The path, size and time of an input, which tell whether it has changed."""
    return [os.path.abspath(input), input.state] if isinstance(input, InputFile) else None


def finished_codes(stages: StageRecords, record: dict[str, Any]) -> Stage | None:
    """The stage of codes, if an earlier run has finished it."""
    before = stages.record("codes")
    if before is None:
        stages.begin("codes")
        return None
    own = {name: value for name, value in record.items() if name != "inputs"}
    other = difference({name: before.get(name) for name in own}, own)
    if other is not None:
        raise ValueError(
            f"{stages.folder} has codes of another map or command, made with {other}; take another "
            f"output, or {setting('resume', False)}"
        )
    n_records: Any = before.get("n_records")
    is_same = stages.has("codes", {**record, "n_records": n_records})  # if no input has changed
    counts = n_records if isinstance(n_records, list) else [None]
    is_sound = all(type(n) is int and n >= 0 for n in counts)
    if not is_same or not is_sound or not os.path.exists(stages.path(CODES)):
        stages.begin("codes")
        return None
    return Stage(n_records, digest(record))


def join_codes(
    stages: StageRecords, record: dict[str, Any], parts: Sequence[str], n_records: list[int]
) -> Stage:
    """Finish the stage of codes, of which these are the parts."""
    lengths = [read_array(part + LENGTHS, LENGTHS_OF) for part in parts]
    starts = np.cumsum([0, *map(len, lengths)])
    digests = []
    for part, start in zip(parts, starts, strict=False):
        own_digests = read_array(part + DIGESTS, DIGESTS_OF).reshape(-1, 3)
        own_digests[:, 0] += np.uint64(start)
        digests.append(own_digests)
    path = stages.path(CODES)
    save(path + LENGTHS, np.concatenate(lengths))
    save(path + DIGESTS, np.concatenate(digests))
    stages.remove(re.escape(CODES + IDS))  # which another command may have left
    if os.path.exists(parts[0] + IDS):
        with _output_files.atomic_output(path + IDS) as file:
            for part in parts:
                with open(part + IDS, "rb") as ids:
                    file.writelines(ids)
    if len(parts) == 1:
        os.replace(parts[0], path)
    else:
        join_files(parts, path)
    stages.finish("codes", {**record, "n_records": n_records})
    return Stage(n_records, digest(record))


def save(path: str, array: Array) -> None:
    """Write a NumPy file, which appears when it is complete."""
    header = np.lib.format.header_data_from_array_1_0(array)
    with _output_files.atomic_output(path) as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(array.reshape(-1).view(np.uint8).data)


# ---- pairs ---------------------------------------------------------------------------------------


def similar_records(
    job: Job,
    search: Search,
    inputs: list[Any],
    codes: PackedCodes,
    stages: StageRecords,
    steps: KeptStages,
    progress: bool | None,
) -> tuple[Array, Array]:
    """Pairs that join the records of each cluster, by the estimates or by the exact kernel.
    `steps` are those of the stage of pairs."""
    threshold, recall, is_exact, _ = search
    if not is_exact:
        return _search.joined(codes, threshold, recall, _search.MAX_BUCKET, job.n_jobs, steps)
    i, j = _search.candidates(codes, None, threshold, recall, job.n_jobs, stages=steps)
    return verified(job, inputs, len(codes), i, j, threshold, stages, progress)


def find_pairs(
    job: Job,
    search: Search,
    inputs: list[Any],
    codes: Stage,
    stages: StageRecords,
    progress: bool | None,
    similar: Callable[..., tuple[Array, Array]] = similar_records,
) -> Stage:
    """The stage of pairs."""
    check_int("the number of records", sum(codes.n_records), 0, LARGEST_INT32)
    against = [_describe(path) for path in search.against]
    record = {"codes": codes.digest, **search._asdict(), "against": against}
    stage = Stage(codes.n_records, digest(record))
    if stages.has("pairs", record):
        return stage
    stages.begin("pairs")
    own = PackedCodes.load(stages.path(CODES))
    if len(own) != sum(codes.n_records):
        raise ValueError(
            f"{stages.path(CODES)} is damaged: expected {sum(codes.n_records)} rows; found "
            f"{len(own)}"
        )
    steps = _steps(stages, stage.digest, progress)
    i, j = similar(job, search, inputs, own, stages, steps, progress)
    i_copies, j_copies = _copies(stages.path(CODES + DIGESTS), len(own))
    pairs = np.empty((2, len(i) + len(i_copies)), np.uint32)
    np.concatenate([i, i_copies], out=pairs[0], casting="unsafe")
    np.concatenate([j, j_copies], out=pairs[1], casting="unsafe")
    save(stages.path(PAIRS), pairs)
    save(stages.path(NEAR), _near_rows(search, own, job.n_jobs, steps))
    stages.finish("pairs", record)
    shutil.rmtree(stages.path(STEPS), ignore_errors=True)
    return stage


def _steps(stages: StageRecords, made_of: str, progress: bool | None) -> KeptStages:
    """The steps of a search; with `resume`, also those of an earlier run of the same search."""
    folder = stages.path(STEPS)
    if not stages.resume:
        shutil.rmtree(folder, ignore_errors=True)
    steps = KeptStages(folder, progress)
    if steps.value("record", lambda: made_of) != made_of:
        steps.remove()
        steps = KeptStages(folder, progress)
        steps.value("record", lambda: made_of)
    return steps


def _near_rows(search: Search, codes: PackedCodes, n_jobs: int | None, steps: KeptStages) -> Array:
    """The rows that are near a row of an earlier delivery."""
    near = [np.empty(0, np.int64)]
    for number, path in enumerate(search.against):
        earlier = PackedCodes.load(path)
        if len(earlier) and len(codes):
            how = search.threshold, search.recall, _search.MAX_BUCKET, n_jobs
            more = steps.within(f"against-{number}")
            near.append(_search.near_rows(earlier, codes, *how, more))
    return distinct(np.concatenate(near))


def _copies(path: str, n_records: int) -> tuple[Array, Array]:
    """Pairs of records without samples of equal bytes: each record with the first of its equals."""
    digests = read_array(path, DIGESTS_OF._replace(shape=(None, 3)))
    if not (digests[:, 0] < n_records).all():
        raise ValueError(f"{path} is damaged: expected digests of rows below {n_records}")
    rows = digests[:, 0].astype(np.int64)
    if not len(rows):
        return rows, rows
    _, first, which = np.unique(digests[:, 1:], axis=0, return_index=True, return_inverse=True)
    first_of = rows[first[which.reshape(-1)]]
    is_later = first_of < rows
    return first_of[is_later], rows[is_later]


# ---- the exact kernel ----------------------------------------------------------------------------


def verified(
    job: Job,
    inputs: list[Any],
    n_rows: int,
    i: Array,
    j: Array,
    threshold: float,
    stages: StageRecords,
    progress: bool | None,
) -> tuple[Array, Array]:
    """The pairs whose exact kernel is at least `threshold`, i ascending. Inputs are read again; the
    rows of pairs are kept in temporary files."""
    in_pair = np.zeros(n_rows, bool)
    in_pair[i] = in_pair[j] = True
    place = np.cumsum(in_pair) - 1
    with ExitStack() as stack:
        X = _rows_of(job, inputs, in_pair, stages.folder, progress, stack)
        kept = _search.reaches(exact_pairs(job.map, X, X, place[i], place[j]), threshold)
    return i[kept], j[kept]


def _rows_of(
    job: Job,
    inputs: list[Any],
    wanted: Array,
    folder: str,
    progress: bool | None,
    stack: ExitStack,
) -> Any:
    """Some rows of files, as a matrix in temporary files."""
    temporary = partial(tempfile.TemporaryFile, dir=folder)
    files: list[Any] = [stack.enter_context(temporary()) for _ in _TYPES]
    n_rows = n_entries = width = 0
    ends = [np.zeros(1, np.int64)]
    with _output_files.blaming(folder), FileProgress(inputs, progress, "rows") as bar:
        for input in inputs:
            for X in read_rows(job.source, input, _matrix, n_jobs=job.n_jobs, bar=bar):
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
