"""The records to remove, each with the kept record that it duplicates."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from sparsemaps._io._array_files import ArrayKind, read_array, save_array
from sparsemaps._io._sources import KEYS, LENGTHS, SIMILARITY
from sparsemaps._io._steps import Steps
from sparsemaps._tools._checks import LARGEST_INT32, check_int
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes, save_blocks
from sparsemaps.files._coded_records import CodedInputs, Delivery, copies, numbers_beside, rows_of
from sparsemaps.files._dedup_plan import DedupPlan
from sparsemaps.files._job_options import Removal, Search
from sparsemaps.files._results import Place, Results
from sparsemaps.files._tasks import TaskRun
from sparsemaps.neighbors import _removals, _search
from sparsemaps.neighbors._exact import exact_pairs
from sparsemaps.neighbors._hashing import SearchRun
from sparsemaps.neighbors._removals import NearBy, Removals


def find_removals(
    plan: DedupPlan, coded: CodedInputs, path: str, run: TaskRun, steps: Steps | None = None
) -> int:
    """Write the removed records with their witnesses and similarities; return their number."""
    steps, scratch = steps or Steps(shown=run.progress), run.results.scratch
    check_int("the number of records", coded.n_rows, 0, LARGEST_INT32)
    search, own = plan.search, PackedCodes.load(coded.path)
    key = key_of(coded, plan.removal)
    earlier = _codes_of_all(plan.earlier, run.results) if plan.earlier else None
    with ExitStack() as stack:
        near = _near(coded, own, earlier, search, run, stack)
        limits = SearchRun(n_jobs=run.n_jobs, steps=steps)
        if steps.share is not None:
            _search.rows_near_others(own, near.least, near.recall, limits, earlier)
            return 0
        found = _removals.removed_rows(own, earlier, near, key, limits, scratch)
    # A record without samples is a duplicate of the first of its equals.
    first, later = copies(coded, key)
    removed = np.concatenate([found.removed, later])
    order = np.argsort(removed)
    pairs = np.stack([removed, np.concatenate([found.witness, first])])[:, order]
    save_array(path, pairs.astype(np.uint32))
    save_array(path + SIMILARITY, np.concatenate([found.similarity, np.ones(len(later))])[order])
    return len(removed)


def _codes_of_all(deliveries: Sequence[Delivery], results: Results) -> PackedCodes:
    """Return the codes of earlier deliveries. The codes of several are joined in a file, once for
    all tasks of the search."""
    sets = [earlier.load() for earlier in deliveries]
    if len(sets) == 1:
        return sets[0]

    def write(path: str) -> bool:
        save_blocks(path, sets)
        return True

    recipe = [file.recipe for earlier in deliveries for file in earlier.files]
    return PackedCodes.load(results.made(Place.of("search-earlier.npy", recipe), write).path)


def read_removals(path: str, n_records: int, against: Sequence[Delivery]) -> Removals:
    """Return the removals from a file. Raise ValueError if it is damaged."""
    n_earlier = sum(len(PackedCodes.load(earlier.codes)) for earlier in against)
    most = max(0, n_records - 1), max(0, n_records + n_earlier - 1)
    removed, witness = read_array(path, ArrayKind(np.uint32, (2, None), most))
    similarity = read_array(path + SIMILARITY, ArrayKind(np.float64, (len(removed),)))
    return Removals(removed.astype(np.int64), witness.astype(np.int64), similarity)


def key_of(codes: CodedInputs, removal: Removal) -> Array | None:
    """Return the numbers by which records are ordered, ascending; None orders them by place."""
    if removal.keep == "first":
        return None
    if removal.keep == "longest":
        return -numbers_beside(codes.path, LENGTHS, codes.n_rows).astype(np.int64)
    # Numbers have two parts (`_whole_numbers.in_two`). NaN, for a record without a number, is
    # sorted to the end.
    keys = -numbers_beside(codes.path, KEYS, codes.n_rows)
    if len(keys) and np.isnan(keys).all():
        no_field = "'first', 'longest' or a field of the records; no record has a number in it"
        raise ParameterError("keep", repr(removal.keep), no_field)
    order = np.argsort(keys, kind="stable")
    in_order, place = keys[order], np.zeros(len(keys), np.int64)
    place[order[1:]] = np.cumsum(in_order[1:] != in_order[:-1])
    return place


def _near(
    coded: CodedInputs,
    codes: PackedCodes,
    earlier: PackedCodes | None,
    search: Search,
    run: TaskRun,
    stack: ExitStack,
) -> NearBy:
    """Return the rule that decides which pairs are duplicates, by the estimates or by the exact
    kernel. The exact kernel reads rows that may be in a pair once more. For earlier deliveries,
    only the codes are known."""
    near = _removals.by_estimate(codes, earlier, search.threshold, search.recall)
    if not search.exact:
        return near
    n_given = 0 if earlier is None else len(earlier)
    read: list[Any] = []

    def prepare(wanted: Array) -> None:
        read[:] = rows_of(coded, [wanted], run, stack)

    def similarity(i: Array, j: Array, differing: Array) -> Array:
        X, place = read
        values = np.empty(len(i))
        is_given = i < n_given
        values[is_given] = near.similarity(i[is_given], j[is_given], differing[is_given])
        own = np.flatnonzero(~is_given)
        own = own[np.argsort(i[own], kind="stable")]
        one, other = place[i[own] - n_given], place[j[own] - n_given]
        values[own] = exact_pairs(coded.job.map, X, X, one, other)
        return values

    least, recall = _search.for_candidates(codes, search.threshold, search.recall)
    return NearBy(least, recall, search.threshold, similarity, prepare)
