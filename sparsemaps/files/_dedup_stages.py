"""The stages of a deduplication: codes, the search, clusters, and the records that are kept."""

import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from sparsemaps._tools import _output_files
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._distinct import distinct
from sparsemaps._tools._sources import refuse_changes
from sparsemaps._tools._typing import Array
from sparsemaps.files._coded_records import Coded, copies, encode, exact_kernel
from sparsemaps.files._dedup_plan import CLUSTERS, KEPT, NEAR, PAIRS, REMOVED, DedupPlan, files_of
from sparsemaps.files._kept_records import Selection, write_kept
from sparsemaps.files._recipes import digest
from sparsemaps.files._removed_records import (
    SIMILARITY,
    check_number,
    find_removals,
    key_of,
    leaders,
    read_removals,
)
from sparsemaps.files._results import NONE, Results, Steps, counts, save_array
from sparsemaps.files._search_tasks import n_tasks_of, search_stages
from sparsemaps.files._tasks import How, Listing, Stage, Task, listed
from sparsemaps.neighbors import _search
from sparsemaps.neighbors._clusters import numbered_components
from sparsemaps.neighbors._hashing import Limits


def stages(plan: DedupPlan, inputs: list[Any], results: Results) -> Iterator[Stage]:
    """The stages of a plan. Pairs and the choice of records need nothing but codes."""
    coded = yield from encode(plan.job, inputs, results)
    of = plan, coded
    find = _removal_stages if plan.rule.name == "kept" else _chain_stages
    of_clusters, of_kept = yield from find(plan, coded, results)
    clusters = Task(CLUSTERS, of_clusters, of)
    yield Stage("clusters", [clusters], _find_clusters, about="the cluster of each record")
    kept = Task(KEPT, {**of_kept, "clusters": digest(clusters.recipe)}, of)
    yield Stage("kept", [kept], _choose, about="which records are kept")
    if not plan.outputs.dry_run:
        if results is not NONE:
            _check_kept(kept, results)
        tasks = output_tasks(plan, coded, kept, results)
        endings, about = () if plan.folder is None else ("",), "the records that are kept"
        yield Stage("outputs", tasks, _write_output, endings, about=about)


Recipe = dict[str, Any]


def _removal_stages(
    plan: DedupPlan, coded: Coded, results: Results
) -> Generator[Stage, None, tuple[Recipe, Recipe]]:
    """The first stages of rule "kept"; what decides the clusters, and which records are kept."""
    recipe = {**_near_recipe(plan, coded), "keep": plan.rule.keep}
    removals = Task(REMOVED, recipe, (plan, coded))
    about = "records near a kept one"
    last = Stage("removals", [removals], find_removals, ("", SIMILARITY), about=about)
    yield from search_stages(last, results, n_tasks_of(plan.inputs))
    decides = {"removals": digest(recipe)}
    return decides, decides


def _chain_stages(
    plan: DedupPlan, coded: Coded, results: Results
) -> Generator[Stage, None, tuple[Recipe, Recipe]]:
    """The same of rule "chain"."""
    of, n_tasks = (plan, coded), n_tasks_of(plan.inputs)
    pairs = Task(PAIRS, {"codes": coded.digest, **plan.search.recipe}, of)
    last = Stage("pairs", [pairs], _find_pairs, about="pairs of near records")
    yield from search_stages(last, results, n_tasks)
    # Of an earlier delivery only codes are known.
    near = Task(NEAR, {**_near_recipe(plan, coded), "exact": None}, of)
    about = "records near those of earlier deliveries"
    last = Stage("near", [near], _find_near, about=about)
    of_near = search_stages(last, results, n_tasks, "near-search")
    yield from (stage for stage in of_near if plan.rule.against or stage.name == last.name)
    of_kept = {"near": digest(near.recipe), "keep": plan.rule.keep}
    return {"pairs": digest(pairs.recipe)}, of_kept


def _near_recipe(plan: DedupPlan, coded: Coded) -> dict[str, Any]:
    """Options and inputs that decide which records are near others and earlier ones."""
    against = [[file.recipe for file in earlier.files] for earlier in plan.rule.against]
    return {"codes": coded.digest, **plan.search.recipe, "against": against}


def listing(plan: DedupPlan) -> Listing:
    return listed(stages(plan, plan.inputs, NONE))


def _find_pairs(of: Any, path: str, how: How, steps: Steps) -> int:
    """Write pairs that join the records of each cluster; returns their number."""
    plan, coded = of
    check_number(coded)
    search, codes, limits = plan.search, coded.load(), Limits(n_jobs=how.n_jobs, stages=steps)
    wanted = search.threshold, search.recall
    if not search.exact:
        i, j = _search.spanning_pairs(codes, *wanted, limits)
    else:
        wanted = _search.for_candidates(codes, *wanted)
        limits = limits._replace(stages=steps.within("rows"))
        rows = _search.joined_rows(codes, *wanted, limits)
        if steps.is_share:
            return 0
        limits = limits._replace(stages=steps.within("exact", how.progress))
        with ExitStack() as stack:
            kernel = exact_kernel((coded, None), (rows, rows), steps.folder, how, stack)
            decide = _search.deciding(kernel, search.threshold)
            i, j = _search.joined_by(codes, *wanted, decide, limits)
    if steps.is_share:
        return 0
    pairs = np.hstack([[i, j], copies(coded)])
    save_array(path, pairs.astype(np.uint32))
    return pairs.shape[1]


def _find_near(of: Any, path: str, how: How, steps: Steps) -> int:
    """Write the rows that are near a row of earlier deliveries; returns their number."""
    plan, coded = of
    codes, found = coded.load(), [np.empty(0, np.int64)]
    for number, one in enumerate(plan.rule.against):
        earlier = one.load()
        if len(earlier) and len(codes):
            limits = Limits(n_jobs=how.n_jobs, stages=steps.within(f"against-{number}"))
            wanted = plan.search.threshold, plan.search.recall
            found.append(_search.near_rows(earlier, codes, *wanted, limits))
    near = distinct(np.concatenate(found))
    if not steps.is_share:
        save_array(path, near)
    return len(near)


def _find_clusters(of: Any, path: str, how: How) -> int:
    """Write the number of each record's cluster; returns the number of clusters. By rule "kept", a
    cluster is a kept record and the records that are near it."""
    plan, coded = of
    n = coded.n_rows
    if plan.rule.name == "kept":
        found = read_removals(_beside(path, REMOVED), n, plan.rule.against)
        i, j = leaders(found, n), found.removed
    else:
        kind = ArrayKind(np.uint32, (2, None), most=n - 1)
        i, j = read_array(_beside(path, PAIRS), kind, mmap=True)
    numbers = numbered_components(i, j, n).astype(np.uint32)
    save_array(path, numbers)
    return int(numbers.max()) + 1 if n else 0


def _choose(of: Any, path: str, how: How) -> list[int]:
    """Write which records are kept; returns the numbers of `Deduplicated`."""
    plan, coded = of
    n = coded.n_rows
    numbers = read_array(_beside(path, CLUSTERS), ArrayKind(np.uint32, (n,), most=n - 1))
    if plan.rule.name == "kept":
        found = read_removals(_beside(path, REMOVED), n, plan.rule.against)
        kept = np.ones(n, bool)
        kept[found.removed] = False
        is_own = found.witness < n
        n_equal = int(coded.are_equal(found.removed[is_own], found.witness[is_own]).sum())
        n_others = int(is_own.sum()) - n_equal
        n_near, n_contained = (0, n_others) if plan.search.is_containment else (n_others, 0)
        causes = [n_equal, n_near, len(found.removed) - n_equal - n_others, n_contained]
    else:
        near = read_array(_beside(path, NEAR), ArrayKind(np.int64, most=n - 1))
        kept = kept_rows(numbers, near, key_of(coded, plan.rule))
        causes = [0, 0, 0, 0]
    save_array(path, kept)
    sizes = np.bincount(numbers)
    clusters = int((sizes > 1).sum()), int(sizes.max(initial=0))
    return [n, int(kept.sum()), *clusters, *causes, coded.n_bad()]


def _check_kept(kept: Task, results: Results) -> None:
    """Raise a ValueError if the array of records that are kept is not as it was written."""
    made, path = results.find(kept.name, kept.recipe), results.path(kept.name)
    if made is None:
        raise ValueError(f"{path} has been removed meanwhile")
    n_records, n_kept = counts(made.value, 9)[:2]
    n = int(np.count_nonzero(read_array(path, ArrayKind(np.bool_, (n_records,)), mmap=True)))
    if n != n_kept:
        raise ValueError(f"{path} is damaged: expected {n_kept} records that are kept; found {n}")


def kept_rows(numbers: Array, near: Array, key: Array | None) -> Array:
    """Whether each record is kept: of each cluster the first, by number or by ascending key; but
    none of a cluster that is near an earlier delivery."""
    n_clusters = int(numbers.max()) + 1 if len(numbers) else 0
    rows = np.arange(len(numbers)) if key is None else np.argsort(key, kind="stable")
    chosen = np.full(n_clusters, -1)
    chosen[numbers[rows[::-1]]] = rows[::-1]  # of rows of one cluster, the first is written last
    if chosen.min(initial=0) < 0:
        missing = int(np.argmin(chosen))
        raise ValueError(f"the numbers of clusters are damaged: no record has {missing}")
    is_new = np.ones(n_clusters, bool)
    is_new[numbers[near]] = False
    kept = np.zeros(len(numbers), bool)
    kept[chosen[is_new]] = True
    return kept


def _beside(path: str, name: str) -> str:
    return os.path.join(os.path.dirname(path), name)


def output_tasks(plan: DedupPlan, coded: Coded, kept: Task, results: Results) -> list[Task]:
    """A task for each output, which takes the records of its inputs."""
    against, tasks, first = files_of(plan.rule.against), [], 0
    for number, (output, paths) in enumerate(plan.files):
        own = slice(first, first + len(paths))
        recipe = {"kept": digest(kept.recipe), "output": str(output), "codes": coded.digest}
        path = os.path.abspath(output) if plan.folder is not None else None
        of = coded, results.path(KEPT), own, path or output, against
        size = sum(getattr(input, "n_bytes", 0) for input in coded.inputs[own])
        tasks.append(Task(f"output-{number:06d}", recipe, of, size, path))
        first = own.stop
    return tasks


def _write_output(of: Any, path: str, how: How) -> list[int]:
    """Write the kept records of some inputs; returns the numbers of all and of kept ones."""
    coded, file_of_kept, own, output, against = of
    kept = read_array(file_of_kept, ArrayKind(np.bool_), mmap=True)
    inputs, n_records = coded.inputs[own], coded.n_records
    row, selections = sum(n_records[: own.start]), []
    for input, n in zip(inputs, n_records[own], strict=True):
        selections.append(Selection(input, np.array(kept[row : row + n])))
        row += n
    with _output_files.atomic_output(output) as file, how.reading(inputs) as bar:
        write_kept(coded.job.source, selections, file, how.n_jobs, bar)
        refuse_changes([*inputs, *against])
    return [n for one in selections for n in (len(one.kept), int(one.kept.sum()))]
