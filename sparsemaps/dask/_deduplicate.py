"""Records without near-duplicates: their codes and pairs on a cluster, the rest here."""

import os
import shutil
from functools import partial
from typing import Any

import dask.array as da
import dask.base
import numpy as np

from sparsemaps._tools._array_files import read_array
from sparsemaps._tools._sources import LENGTHS, is_regular
from sparsemaps._tools._stages import KeptStages
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.dask._codes import like
from sparsemaps.dask._components import forest_of, pairs_of
from sparsemaps.dask._map_files import run_job
from sparsemaps.dask._ranges import cut, find_inputs
from sparsemaps.dask._similar_pairs import arrays_of, make_plan
from sparsemaps.files import _coded_records
from sparsemaps.files._coded_records import CODES, Search, Stage, verified
from sparsemaps.files._dedup import Deduplicated, DedupPlan, run
from sparsemaps.files._job import Job
from sparsemaps.files._stage_records import StageRecords
from sparsemaps.neighbors import _search

PARTITION_BYTES = 2**26
"""Largest length of a range of an input, whose codes are one part; and of a block of codes."""


def deduplicate(
    plan: DedupPlan,
    progress: bool | None = None,
    resume: bool = False,
    client: Any = None,
    partition_bytes: int = PARTITION_BYTES,
) -> Deduplicated:
    """What `sparsemaps.files.deduplicate_files` does. Workers reach inputs and stages by the paths
    that they have here."""
    refuse_pipes(plan)
    return run(
        plan,
        progress,
        resume,
        partial(_encode, client=client, partition_bytes=partition_bytes),
        partial(_similar, partition_bytes=partition_bytes),
    )


def refuse_pipes(plan: DedupPlan) -> None:
    """Raise a ValueError if workers cannot reach inputs or stages."""
    if plan.folder is None or not all(map(is_regular, plan.inputs)):
        raise ValueError("on a cluster, inputs and outputs are files")


def _encode(
    job: Job,
    inputs: list[Any],
    stages: StageRecords,
    progress: bool | None,
    *,
    client: Any,
    partition_bytes: int,
) -> Stage:
    """The stage of codes; a part that is complete stays if a worker or the job ends."""
    record = _coded_records.record_of_codes(job, inputs)
    before = _coded_records.finished_codes(stages, record)
    if before is not None:
        return before
    paths = [os.path.abspath(path) for path in inputs]
    folder = os.path.abspath(stages.path("parts"))
    parts = run_job(
        job, paths, folder, partition_bytes, client=client, resume=stages.resume, progress=progress
    )
    n_rows = iter([len(read_array(part + LENGTHS, _coded_records.LENGTHS_OF)) for part in parts])
    n_ranges = [
        len(cut([one], partition_bytes, None, job.is_cut)) for one in find_inputs(paths, None)
    ]
    n_records = [sum(next(n_rows) for _ in range(n)) for n in n_ranges]
    results = _coded_records.join_codes(stages, record, parts, n_records)
    shutil.rmtree(folder)
    return results


def _similar(
    job: Job,
    search: Search,
    inputs: list[Any],
    codes: PackedCodes,
    stages: StageRecords,
    steps: KeptStages,
    progress: bool | None,
    *,
    partition_bytes: int,
) -> tuple[Array, Array]:
    """Pairs that join the records of each cluster: a spanning forest, which workers make. The exact
    kernel is computed here, of all candidates."""
    path = os.path.abspath(stages.path(CODES))
    n_bytes = codes.shape[1]
    step = max(1, partition_bytes // n_bytes)
    lengths = tuple(min(step, len(codes) - start) for start in range(0, len(codes), step)) or (0,)
    starts = da.from_array(np.cumsum([0, *lengths[:-1]]), chunks=1)
    array = starts.map_blocks(
        _rows, path, step, new_axis=1, chunks=(lengths, n_bytes), dtype=np.uint8,
        meta=np.empty((0, 0), np.uint8),
    )  # fmt: skip
    sampled = da.from_array(codes.sampled, chunks=(lengths,))
    results = arrays_of(
        *make_plan(
            like(codes[:0], array, sampled), search.threshold, recall=search.recall,
            max_bucket=_search.MAX_BUCKET, for_exact=search.exact,
        )
    )  # fmt: skip
    if not search.exact:
        (forest,) = dask.base.compute(forest_of(*results[:2], len(codes)))[0]
        return pairs_of(forest)
    i, j = dask.base.compute(*results[:2])
    order = np.lexsort([j, i])
    i, j = i[order], j[order]
    return verified(job, inputs, len(codes), i, j, search.threshold, stages, progress)


def _rows(start: Array, path: str, step: int) -> Array:
    """Some rows of a file of codes."""
    first = int(start[0])
    return np.array(PackedCodes.load(path).array[first : first + step])
