"""The stages of a deduplication: codes, search, clusters, and the choice of kept records."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sparsemaps._io import _output_files, _paths
from sparsemaps._io._array_files import ArrayKind, read_array, save_array
from sparsemaps._io._sources import (
    BESIDE_ROWS,
    SIMILARITY,
    InputFile,
    is_directory,
    n_bytes_of,
    refuse_changes,
)
from sparsemaps.files._coded_records import CodedInputs, bad_lines_beside, encode
from sparsemaps.files._dedup_plan import CLUSTERS, KEPT, REMOVED, DedupPlan, files_of
from sparsemaps.files._frequency_stages import frequency_stages
from sparsemaps.files._kept_records import Selection, write_kept
from sparsemaps.files._removed_records import find_removals, read_removals
from sparsemaps.files._results import NOWHERE, Place, Results, counts
from sparsemaps.files._search_tasks import search_stages
from sparsemaps.files._tasks import Stage, Task, TaskRun
from sparsemaps.neighbors._clusters import numbered_components


class KeptCounts(NamedTuple):
    """The value of the stage *kept*: numbers of records and of clusters, as in `Deduplicated`."""

    n_records: int
    n_kept: int
    n_clusters: int
    largest: int
    n_equal: int
    n_near: int
    n_earlier: int
    n_bad: int


def stages(plan: DedupPlan, results: Results) -> Iterator[Stage]:
    """Yield the stages of a plan. The choice of records depends only on codes."""
    job = yield from frequency_stages(plan.job, plan.inputs, results)
    coded = yield from encode(job, plan.inputs, results)
    if results is not NOWHERE and is_directory(plan.output):
        coded.refuse_bad_inputs()
    against = [[file.recipe for file in earlier.files] for earlier in plan.earlier]
    recipe = {"codes": coded.digest, **plan.search.recipe, "against": against}
    removals = Task(REMOVED, {**recipe, "keep": plan.removal.keep}, (plan, coded))
    about = "records near a kept one"
    last = Stage("removals", [removals], find_removals, results, ("", SIMILARITY), about=about)
    yield from search_stages(last, [*plan.inputs, *files_of(plan.earlier)])
    decides = {"removals": removals.digest}
    files = {REMOVED: results.path(removals.file)}
    clusters = Task(CLUSTERS, decides, (plan, coded, files))
    about = "the cluster of each record"
    yield Stage("clusters", [clusters], _find_clusters, results, about=about)
    files = {**files, CLUSTERS: results.path(clusters.file)}
    kept = Task(KEPT, {**decides, "clusters": clusters.digest}, (plan, coded, files))
    yield Stage("kept", [kept], _choose, results, about="which records are kept")
    if not plan.tables.dry_run:
        if results is not NOWHERE:
            _check_kept(kept, results)
        tasks = output_tasks(plan, coded, kept, results)
        endings = () if plan.folder is None else ("", *BESIDE_ROWS)
        yield Stage(
            "outputs", tasks, _write_output, results, endings, about="the kept records",
            replaces_all=True,
        )  # fmt: skip


def _find_clusters(
    plan: DedupPlan, coded: CodedInputs, files: dict[str, str], path: str, run: TaskRun
) -> int:
    """Write the number of each record's cluster, and return the number of clusters. A cluster
    consists of a kept record and the records removed as its duplicates, or of the records that
    duplicate the same record of an earlier delivery."""
    n = coded.n_rows
    found = read_removals(files[REMOVED], n, plan.earlier)
    other = found.witness.copy()  # a record of the same cluster
    # Records near the same record of an earlier delivery join the first of them.
    is_earlier = other >= n
    _, first, which = np.unique(other[is_earlier], return_index=True, return_inverse=True)
    other[is_earlier] = found.removed[is_earlier][first][which]
    numbers = numbered_components(other, found.removed, n).astype(np.uint32)
    save_array(path, numbers)
    return int(numbers.max()) + 1 if n else 0


def _choose(
    plan: DedupPlan, coded: CodedInputs, files: dict[str, str], path: str, run: TaskRun
) -> KeptCounts:
    """Write the mask of kept records, and return the counts."""
    n = coded.n_rows
    numbers = read_array(files[CLUSTERS], ArrayKind(np.uint32, (n,), most=n - 1))
    found = read_removals(files[REMOVED], n, plan.earlier)
    kept = np.ones(n, bool)
    kept[found.removed] = False
    is_own = found.witness < n
    n_equal = int(coded.are_equal(found.removed[is_own], found.witness[is_own]).sum())
    n_own = int(is_own.sum())
    save_array(path, kept)
    sizes = np.bincount(numbers)
    return KeptCounts(
        n, int(kept.sum()), n_clusters=int((sizes > 1).sum()), largest=int(sizes.max(initial=0)),
        n_equal=n_equal, n_near=n_own - n_equal, n_earlier=len(found.removed) - n_own,
        n_bad=sum(1 for _ in bad_lines_beside(coded.path)) if plan.job.source.sets_aside else 0,
    )  # fmt: skip


def _check_kept(kept: Task, results: Results) -> None:
    """Raise a ValueError if the mask of kept records has been damaged or removed."""
    made, path = results.find(Place.of(kept.name, kept.recipe)), results.path(kept.file)
    if made is None:
        raise ValueError(f"{path} was removed during the run")
    numbers = KeptCounts(*counts(made.value, len(KeptCounts._fields), path))
    kind = ArrayKind(np.bool_, (numbers.n_records,))
    n = int(np.count_nonzero(read_array(path, kind, mmap=True)))
    if n != numbers.n_kept:
        raise ValueError(f"{path} is damaged: expected {numbers.n_kept} kept records; found {n}")


def output_tasks(plan: DedupPlan, coded: CodedInputs, kept: Task, results: Results) -> list[Task]:
    """Return one task per output, which writes the records of its inputs."""
    against, tasks, first = files_of(plan.earlier), [], 0
    for number, (output, paths) in enumerate(plan.files):
        own = slice(first, first + len(paths))
        recipe = {"kept": kept.digest, "output": str(output), "codes": coded.digest}
        path = None
        if plan.folder is not None:  # follow links only for names that users give
            is_given = output is plan.output
            path = _paths.real_path(output) if is_given else _paths.full_path(output)
        of = coded, results.path(kept.file), own, None if path else output, against
        size = n_bytes_of(coded.inputs[own])
        tasks.append(Task(f"output-{number:06d}", recipe, of, size, path))
        first = own.stop
    return tasks


def _write_output(
    coded: CodedInputs,
    file_of_kept: str,
    own: slice,
    output: object,
    against: list[InputFile],
    path: str,
    run: TaskRun,
) -> list[int]:
    """Write the kept records of some inputs, and return the numbers of all and of kept records of
    each. Raise an error if files of earlier deliveries have changed."""
    kept = read_array(file_of_kept, ArrayKind(np.bool_), mmap=True)
    inputs, n_records = coded.inputs[own], coded.n_records
    row, selections = sum(n_records[: own.start]), []
    for input, n in zip(inputs, n_records[own], strict=True):
        selections.append(Selection(input, np.array(kept[row : row + n])))
        row += n
    with _output_files.atomic_output(output or path) as file, run.reading(inputs) as bar:
        write_kept(coded.job.source, selections, file, run.n_jobs, bar)
        refuse_changes([*inputs, *against])
    return [n for one in selections for n in (len(one.kept), int(one.kept.sum()))]
