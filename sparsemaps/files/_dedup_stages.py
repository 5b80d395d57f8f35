"""The stages of a deduplication: codes, the search, clusters, and the records that are kept."""

import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from sparsemaps._tools import _output_files
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._checks import LARGEST_INT32, check_int
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import refuse_changes
from sparsemaps._tools._typing import Array
from sparsemaps.files import _coded_records, _search_tasks
from sparsemaps.files._coded_records import Coded, encode, joining_pairs, near_rows
from sparsemaps.files._dedup_plan import (
    CLUSTERS,
    KEPT,
    NEAR,
    PAIRS,
    REMOVED,
    DedupPlan,
    files_of,
)
from sparsemaps.files._kept_records import Selection, write_kept
from sparsemaps.files._recipes import digest
from sparsemaps.files._removed_records import (
    SIMILARITY,
    find_removals,
    key_of,
    leaders,
    read_removals,
)
from sparsemaps.files._results import Results, Steps, counts, save_array
from sparsemaps.files._search_tasks import n_tasks_of, search_stages
from sparsemaps.files._tasks import How, Listing, Stage, Task
from sparsemaps.neighbors._clusters import numbered_components


def stages(plan: DedupPlan, inputs: list[Any], results: Results) -> Iterator[Stage]:
    """The stages of a plan. Pairs and the choice of records need nothing but codes."""
    coded = yield from encode(plan.job, inputs, results)
    check_int("the number of records", coded.n_rows, 0, LARGEST_INT32)
    decide = _removal_stages if plan.rule.name == "kept" else _chain_stages
    kept = yield from decide(plan, coded, results)
    if plan.outputs.dry_run:
        return
    _check_kept(kept, results)
    endings = () if plan.folder is None else ("",)
    yield Stage("outputs", output_tasks(plan, coded, kept, results), _write_output, endings)


def _removal_stages(
    plan: DedupPlan, coded: Coded, results: Results
) -> Generator[Stage, None, Task]:
    """The stages of rule "kept"; the task whose result says which records are kept."""
    of = plan, coded
    removals = Task(REMOVED, {**_near_recipe(plan, coded), "keep": plan.rule.keep}, of)
    last = Stage("removals", [removals], find_removals, ("", SIMILARITY))
    yield from search_stages(last, results, n_tasks_of(plan.inputs))
    recipe = {"removals": digest(removals.recipe)}
    clusters = Task(CLUSTERS, recipe, of)
    yield Stage("clusters", [clusters], _find_stars)
    kept = Task(KEPT, {**recipe, "clusters": digest(clusters.recipe)}, of)
    yield Stage("kept", [kept], _leave_removed)
    return kept


def _chain_stages(plan: DedupPlan, coded: Coded, results: Results) -> Generator[Stage, None, Task]:
    """The stages of rule "chain"; the task whose result says which records are kept."""
    of, n_tasks = (plan, coded), n_tasks_of(plan.inputs)
    pairs = Task(PAIRS, {"codes": coded.digest, **plan.search.recipe}, of)
    yield from search_stages(Stage("pairs", [pairs], _find_pairs), results, n_tasks)
    # Of an earlier delivery only codes are known.
    near = Task(NEAR, {**_near_recipe(plan, coded), "exact": None}, of)
    last = search_stages(Stage("near", [near], _find_near), results, n_tasks, _NEAR_SEARCH)
    yield from (stage for stage in last if plan.rule.against or stage.name == "near")
    clusters = Task(CLUSTERS, {"pairs": digest(pairs.recipe)}, coded)
    yield Stage("clusters", [clusters], _find_clusters)
    recipe = {
        "clusters": digest(clusters.recipe),
        "near": digest(near.recipe),
        "keep": plan.rule.keep,
    }
    kept = Task(KEPT, recipe, of)
    yield Stage("kept", [kept], _choose)
    return kept


def _near_recipe(plan: DedupPlan, coded: Coded) -> dict[str, Any]:
    """Options and inputs that decide which records are near others and earlier ones."""
    against = [[file.recipe for file in earlier.files] for earlier in plan.rule.against]
    return {"codes": coded.digest, **plan.search.recipe, "against": against}


def listing(plan: DedupPlan) -> Listing:
    n_tasks = n_tasks_of(plan.inputs)
    lines = [*_coded_records.listing(plan.job, plan.inputs), *_search_tasks.listing(n_tasks)]
    if plan.rule.name == "kept":
        lines.append(("removals", 1, "records near a kept one"))
    else:
        lines.append(("pairs", 1, "pairs of near records"))
        if plan.rule.against:
            lines += _search_tasks.listing(n_tasks, _NEAR_SEARCH)
        lines.append(("near", 1, "records near those of earlier deliveries"))
    lines.append(("clusters", 1, "the cluster of each record"))
    lines.append(("kept", 1, "which records are kept"))
    if not plan.outputs.dry_run:
        lines.append(("outputs", len(plan.files), "the records that are kept"))
    return lines


_NEAR_SEARCH = "near-search"


def _find_pairs(of: Any, path: str, how: How, steps: Steps) -> int:
    """Write pairs that join the records of each cluster; returns their number."""
    plan, coded = of
    i, j = joining_pairs(coded, plan.search, how, steps)
    if not steps.is_share:
        save_array(path, np.stack([i, j]).astype(np.uint32))
    return len(i)


def _find_near(of: Any, path: str, how: How, steps: Steps) -> int:
    """Write the rows that are near a row of earlier deliveries; returns their number."""
    plan, coded = of
    near = near_rows(plan.search, coded, plan.rule.against, how, steps)
    if not steps.is_share:
        save_array(path, near)
    return len(near)


def _find_clusters(coded: Coded, path: str, how: How) -> int:
    """Write the number of each record's cluster; returns the number of clusters."""
    n = coded.n_rows
    i, j = read_array(_beside(path, PAIRS), ArrayKind(np.uint32, (2, None), most=n - 1), mmap=True)
    numbers = numbered_components(i, j, n).astype(np.uint32)
    save_array(path, numbers)
    return int(numbers.max()) + 1 if n else 0


def _choose(of: Any, path: str, how: How) -> list[int]:
    """Write which records are kept; returns the numbers that `Deduplicated` begins with."""
    plan, coded = of
    n = coded.n_rows
    numbers = read_array(_beside(path, CLUSTERS), ArrayKind(np.uint32, (n,), most=n - 1))
    near = read_array(_beside(path, NEAR), ArrayKind(np.int64, most=n - 1))
    kept = kept_rows(numbers, near, key_of(coded, plan.rule))
    save_array(path, kept)
    sizes = np.bincount(numbers)
    causes = 0, 0, 0, 0
    return [n, int(kept.sum()), *_of_clusters(sizes), *causes, coded.n_bad()]


def _of_clusters(sizes: Array) -> tuple[int, int]:
    """The number of clusters of several records, and the size of the largest."""
    return int((sizes > 1).sum()), int(sizes.max(initial=0))


def _find_stars(of: Any, path: str, how: How) -> int:
    """Write the number of each record's cluster: a kept record and the records that are near it;
    returns the number of clusters."""
    plan, coded = of
    n = coded.n_rows
    found = read_removals(_beside(path, REMOVED), n, plan.rule.against)
    numbers = numbered_components(leaders(found, n), found.removed, n).astype(np.uint32)
    save_array(path, numbers)
    return int(numbers.max()) + 1 if n else 0


def _leave_removed(of: Any, path: str, how: How) -> list[int]:
    """Write which records are kept; returns the numbers of `Deduplicated`."""
    plan, coded = of
    n = coded.n_rows
    found = read_removals(_beside(path, REMOVED), n, plan.rule.against)
    kept = np.ones(n, bool)
    kept[found.removed] = False
    save_array(path, kept)
    sizes = np.bincount(read_array(_beside(path, CLUSTERS), ArrayKind(np.uint32, (n,), most=n - 1)))
    is_own = found.witness < n
    removed, witness = found.removed[is_own], found.witness[is_own]
    n_equal = int(coded.are_equal(removed, witness).sum())
    n_near, n_earlier, n_contained = len(removed) - n_equal, len(found.removed) - len(removed), 0
    if plan.search.is_containment:
        n_near, n_contained = 0, n_near
    causes = n_equal, n_near, n_earlier, n_contained
    return [n, int(kept.sum()), *_of_clusters(sizes), *causes, coded.n_bad()]


def _check_kept(kept: Task, results: Results) -> None:
    """Raise a ValueError if the array of records that are kept is not as it was written."""
    made, path = results.find(kept.name, kept.recipe), results.path(kept.name)
    if made is None:
        raise ValueError(f"{path} has been removed meanwhile")
    n_records, n_kept = counts(made, 9)[:2]
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
    tasks, rest = [], list(zip(coded.inputs, coded.n_records, strict=True))
    row = 0
    for number, (output, paths) in enumerate(plan.files):
        own, rest = rest[: len(paths)], rest[len(paths) :]
        recipe = {"kept": digest(kept.recipe), "output": str(output), "codes": coded.digest}
        path = os.path.abspath(output) if plan.folder is not None else None
        of = (
            plan.job.source,
            results.path(KEPT),
            own,
            row,
            path or output,
            files_of(plan.rule.against),
        )
        size = sum(getattr(input, "n_bytes", 0) for input, _ in own)
        tasks.append(Task(f"output-{number:06d}", recipe, of, size, path))
        row += sum(n for _, n in own)
    return tasks


def _write_output(of: Any, path: str, how: How) -> list[int]:
    """Write the records that are kept of some inputs; returns the number of records and the number
    of kept ones, of each input."""
    source, file_of_kept, own, row, output, against = of
    kept = read_array(file_of_kept, ArrayKind(np.bool_), mmap=True)
    selections = []
    for input, n in own:
        selections.append(Selection(input, np.array(kept[row : row + n])))
        row += n
    with ExitStack() as stack:
        file = output
        if not hasattr(output, "write"):
            file = stack.enter_context(_output_files.atomic_output(output))
        bar = how.bar or FileProgress([], False)
        write_kept(source, selections, file, how.n_jobs, bar)
        refuse_changes([*(input for input, _ in own), *against])
    return [n for one in selections for n in (len(one.kept), int(one.kept.sum()))]
