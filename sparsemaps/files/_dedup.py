"""Records without near-duplicates: codes, pairs, clusters, and the records that are kept."""

import itertools
import os
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from sparsemaps._tools import _output_files, _text_input, _threads
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._checks import LARGEST_INT32, check_bool, check_choice, check_int
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import (
    IDS,
    InputFile,
    expand,
    is_directory,
    is_regular,
    is_standard,
    known_inputs,
    refuse_changes,
    refuse_inside,
    spooled,
)
from sparsemaps._tools._typing import Array
from sparsemaps.codes._code_checks import refuse_different
from sparsemaps.files._coded_records import (
    BESIDE,
    RANGE_BYTES,
    Codes,
    Earlier,
    Search,
    encode,
    joining_pairs,
    near_rows,
    ranges_of,
)
from sparsemaps.files._formats import FormatOptions, empty_codes
from sparsemaps.files._job import Job, source_of
from sparsemaps.files._kept_records import Selection, check_outputs, write_kept
from sparsemaps.files._map import one_each
from sparsemaps.files._recipes import digest
from sparsemaps.files._removed_records import (
    SIMILARITY,
    find_removals,
    leaders,
    names_of,
    read_removals,
    write_removals,
)
from sparsemaps.files._report import render
from sparsemaps.files._reported import report_of, texts_of
from sparsemaps.files._results import Results, Steps, counts, save_array
from sparsemaps.files._tasks import (
    Engine,
    How,
    Share,
    Stage,
    Task,
    Threads,
    check_share,
    check_stage,
    run_share,
    run_stages,
)
from sparsemaps.maps._sparse_map import as_fitted
from sparsemaps.maps.minhash import MinHash
from sparsemaps.neighbors import _search
from sparsemaps.neighbors._clusters import numbered_components
from sparsemaps.text._records import is_text_file


class DeduplicatedFile(NamedTuple):
    """An input, the output of its records, the number of its records, the number of kept records,
    and whether the output was complete before."""

    input: Any
    output: Any
    n_records: int
    n_kept: int
    skipped: bool


class Deduplicated(NamedTuple):
    """The numbers of records, of kept records, of clusters of several records, and of records of
    the largest cluster; the files; and the numbers of records that are removed as near a kept
    record of equal codes or text, near another one, and near an earlier delivery (by rule "chain",
    these are 0)."""

    n_records: int
    n_kept: int
    n_clusters: int
    largest: int
    files: list[DeduplicatedFile]
    n_equal: int
    n_near: int
    n_earlier: int


def deduplicate_files(
    map: Any,
    inputs: Any,
    output: Any,
    *,
    threshold: float = 0.8,
    recall: float = 0.95,
    exact: bool = False,
    rule: Literal["kept", "chain"] = "kept",
    texts: str | None = None,
    field: str = "text",
    keep: Literal["first", "longest"] = "first",
    removed: Any = None,
    report: Any = None,
    dry_run: bool = False,
    clusters: Any = None,
    against: Any = None,
    id_field: str | None = None,
    zero_based: bool = False,
    token_pattern: str | None = None,
    text_format: str | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: bool = True,
    task: tuple[str, int, int] | None = None,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> Deduplicated:
    r"""Remove the records that are near a record which is kept.

    The command ``sparsemaps dedup`` calls this function. Records are texts, or rows of LIBSVM
    files. Going through the records in their order, a record is removed if its similarity to a
    record that was kept before is at least the threshold: so each removal has a record that shows
    why. The kept records are written byte for byte, in their order. Only codes are in memory or
    mapped into it: the inputs are read once for the codes, and once more for the output.

    Parameters
    ----------
    map : map of sparsemaps with codes, or None
        A fitted map is used as it is; of other maps, a copy is fitted for rows of any width. None
        is ``MinHash(random_state=0)``, whose similarity is the Jaccard similarity of sets.
    inputs : str, path-like, file-like, or a sequence of these
        Texts (.txt, .jsonl, .ndjson; .parquet) or LIBSVM files, all but Parquet plain or compressed
        (.gz, .bz2, .xz, .zst); "-" is standard input. A directory stands for its files in the order
        of their names, a pattern with ``*``, ``?`` or ``[`` for the files that match. Clusters may
        have records of several inputs.
    output : str, path-like or file-like
        The file to write; the ending of its name chooses the compression; "-" is standard output. A
        directory, which
        is one that exists or a name that ends in a slash, gets one output for each input, of its
        name.
    threshold : float, default=0.8
        The least similarity of near-duplicates, above 0 and at most 1: the estimate by the codes.
    recall : float, default=0.95
        The probability with which a pair at the threshold is found; 1 compares all pairs.
    exact : bool, default=False
        Whether the exact kernel decides, among pairs whose estimates may be a little lower. The
        inputs are then read once more, and the rows of pairs are written to temporary files.
    rule : {"kept", "chain"}, default="kept"
        By rule "kept", a removed record is near a record that is kept. By rule "chain", one record
        is kept of each cluster: records that chains of similar pairs join. A removed record may
        then resemble no kept one.
    texts : str or None, default=None
        The n-grams that are the rows of texts, as in `map_files`. None is "word:5" if the names of
        the inputs are those of texts, or with a `text_format`; other inputs are LIBSVM files.
    field : str, default="text"
        For texts, the field of a record of .jsonl, or the column of .parquet.
    keep : {"first", "longest"}, default="first"
        The order in which records are taken: as they come, or the longest first, which have the
        most characters of text or the most entries. By rule "chain", which record of a cluster is
        kept.
    removed : str, path-like or None, default=None
        For rule "kept", a table to write: a header, then a line for each removed record, with its
        number or id, the kept record that it is near, and their similarity, with tabs between them.
        A record of an earlier delivery is ``DELIVERY:record``. Records are numbered from 1 through
        all inputs.
    report : str, path-like or None, default=None
        For rule "kept", a page of HTML to write, for people who decide whether to trust the
        removals: counts, similarities, the witnesses of most records, and fifty removals side by
        side, most of them near the threshold. It contains texts of records, and needs no network.
        The inputs are read once more for it.
    dry_run : bool, default=False
        Write tables and the report, but no output.
    clusters : str, path-like or None, default=None
        A table to write. Each line has the number of a record, or its id, a tab, and the number of
        its cluster. Clusters are numbered in the order of their first records. By rule "kept", a
        cluster is a kept record and those that were removed as near it, or those that are near the
        same record of an earlier delivery.
    against : str, path-like, a sequence of these, or None, default=None
        Earlier deliveries: the folder ``OUTPUT.stages`` of an earlier run, which stands for the
        records that were kept there, or a file of codes, which stands for all its records. They
        come before all records. By rule "kept", the records that are kept of deliveries one after
        the other are those that are kept of all of them together. By rule "chain", a cluster with a
        record that is near one of them is left out.
    id_field : str or None, default=None
        For texts, the field of ids, for the table.
    zero_based : bool, default=False
        Whether the indices of LIBSVM files count from 0.
    token_pattern : str or None, default=None
        Of texts: what a word is, a regular expression; None is ``\S+``.
    text_format : {"txt", "jsonl", "parquet"} or None, default=None
        Of texts: the format of all inputs; None follows the names. Pipes and file objects need it.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The output does not depend on it.
    progress : bool or None, default=None
        Show bars on standard error; None shows them if that is a terminal.
    resume : bool, default=True
        Take the results of earlier runs as far as they are of the same inputs and options: another
        threshold needs no new codes. False makes all anew.
    task : tuple (stage, i, n) or None, default=None
        Make only those results of a stage whose numbers are i modulo n, as ``--stage`` and
        ``--task`` of the command do; the numbers that are returned are 0.
    max_line_bytes : int, default=2**30
        A longer line is an error.

    Returns
    -------
    result : Deduplicated
        `n_records`, `n_kept`; `n_clusters`, those of several records; `largest`, the most records
        of a cluster; `n_equal`, `n_near` and `n_earlier`, the records that are removed as near a
        kept record of equal codes or text, near another kept record, and near an earlier delivery;
        and `files`, with `input`, `output`, `n_records`, `n_kept` and `skipped` of
        each input.

    Raises
    ------
    ValueError
        If a parameter is not allowed; if an output is an input; if a record is bad, with file and
        line; if `against` has codes of another map; if an input changes meanwhile.
    OSError
        If a file cannot be read or written. An output is complete, or not there.

    See Also
    --------
    sparsemaps.neighbors.similar_pairs, sparsemaps.neighbors.clusters : The same for codes.

    Notes
    -----
    A record without samples, such as a text that is too short for one n-gram, is near no other. It
    is kept, unless a record before it has the same text, or the same line of a LIBSVM file.

    Lines that are no records (blank lines of JSON, comments) are left out. A last line without an
    end gets one if another record follows. Of Parquet, each group of rows is filtered by itself,
    with all columns, the schema and the compression.

    Results are in the directory ``OUTPUT.stages``: ``codes.npy``, which is what `PackedCodes` loads
    and `against` takes, with lengths and digests beside it; ``pairs.npy``, ``near.npy``,
    ``clusters.npy`` and ``kept.npy``. It may be removed. A run that was ended goes on with the
    first result that is not complete. The results for standard output are in a temporary folder.

    Beside the codes, which are mapped into memory, there are some 50 bytes a record, however many
    pairs there are; by rule "chain" with `exact` all candidates, 24 bytes each; of Parquet, a group
    of rows.

    `exact` does not apply to `against`: of an earlier delivery only the codes are known.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps.files import deduplicate_files
    >>> lines = b"a cat sat on the mat\nthe dog ate\na cat sat on the mat\n"
    >>> output = BytesIO()
    >>> result = deduplicate_files(
    ...     None, BytesIO(lines), output, texts="word:2", text_format="txt"
    ... )
    >>> result.n_records, result.n_kept, result.n_clusters, result.largest
    (3, 2, 1, 2)
    >>> output.getvalue()
    b'a cat sat on the mat\nthe dog ate\n'
    """
    plan = make_plan(
        map, inputs, output, threshold=threshold, recall=recall, exact=exact, texts=texts,
        field=field, rule=rule, keep=keep, removed=removed, report=report, dry_run=dry_run,
        clusters=clusters, against=against, id_field=id_field, zero_based=zero_based,
        token_pattern=token_pattern, text_format=text_format, n_jobs=n_jobs,
        max_line_bytes=max_line_bytes,
    )  # fmt: skip
    share = check_share(task)
    if share is None:
        return run(plan, progress, resume)
    run_part(plan, share, progress)
    return Deduplicated(0, 0, 0, 0, [], 0, 0, 0)


# ---- the plan ------------------------------------------------------------------------------------


class DedupPlan(NamedTuple):
    """The job of encoding, the search, the inputs and the outputs, after a check of all options."""

    job: Job
    search: Search
    inputs: list[Any]
    outputs: list[tuple[Any, list[Any]]]
    """Each output with its inputs, in the order of all inputs."""
    is_many: bool
    folder: str | None
    """The folder of the stages; None if they are not kept."""
    rule: str
    keep: str
    removed: Any
    report: Any
    dry_run: bool
    clusters: Any
    against: tuple[Earlier, ...]


def make_plan(
    map: Any,
    inputs: Any,
    output: Any,
    *,
    threshold: float,
    recall: float,
    exact: bool,
    texts: str | None,
    id_field: str | None,
    rule: str,
    keep: str,
    removed: Any,
    report: Any,
    dry_run: bool,
    clusters: Any,
    against: Any,
    n_jobs: int | None,
    **options: Any,
) -> DedupPlan:
    """A plan of the options of `deduplicate_files`, after a check of these, of the names of all
    files, and of the codes of earlier deliveries."""
    paths = expand(inputs)
    search = Search(
        _search.check_share("threshold", threshold),
        _search.check_share("recall", recall),
        check_bool("exact", exact),
    )
    earlier = _earlier_deliveries(against)
    check_choice("rule", rule, ("kept", "chain"))
    check_choice("keep", keep, ("first", "longest"))
    check_bool("dry_run", dry_run)
    for table, what in ((removed, "the table of removals"), (report, "the report")):
        if table is not None and rule == "chain":
            raise ValueError(f"{what} is for rule 'kept': by chains, no record says why")
    job = _make_job(map, paths, texts, id_field, n_jobs, **options)
    _check_codes(job, search, earlier)
    is_many = is_directory(output)
    if is_many:
        pairs = one_each(paths, os.fspath(output), lambda name: name)
        outputs = [(name, [path]) for name, path in pairs]
    else:
        outputs = [(output, paths)]
    folder = None
    if is_many or _is_file(output):
        folder = os.path.abspath(output) + STAGES
    check_outputs(job.source, outputs)
    names = [(name, f"the output of {paths[0]}" if is_many else _output_files.OUTPUT)
             for name, paths in outputs]  # fmt: skip
    is_standard_output = not hasattr(output, "write") and is_standard(output)
    tables = (
        (clusters, "the table of clusters"),
        (removed, "the table of removals"),
        (report, "the report"),
    )
    for table, what in tables:
        if table is not None:
            if is_standard(table) and is_standard_output:
                raise ValueError(f"the output and {what} are both standard output")
            names.append((table, what))
    if folder is not None:
        refuse_inside(folder, paths)
        names += [(os.path.join(folder, name), "a stage") for name in STAGE_FILES]
    _output_files.refuse_clashes([*paths, *_files_of(earlier)], names)
    known = known_inputs(paths)
    return DedupPlan(
        job,
        search,
        known,
        outputs,
        is_many,
        folder,
        rule,
        keep,
        removed,
        report,
        dry_run,
        clusters,
        earlier,
    )


def _earlier_deliveries(against: Any) -> tuple[Earlier, ...]:
    """The codes of earlier deliveries, and which of their records were kept."""
    paths: list[Any] = []
    if against is not None:
        paths = list(against) if isinstance(against, (list, tuple)) else [against]
    return tuple(earlier for path in paths for earlier in _earlier(path))


def _earlier(path: Any) -> list[Earlier]:
    codes, kept = (os.path.join(path, name) for name in (CODES, KEPT))
    if os.path.isdir(path) and os.path.exists(codes):
        if not os.path.exists(kept):
            raise ValueError(f"{path} is of a run that is not complete: {KEPT} is missing")
        return [Earlier(InputFile(codes), InputFile(kept))]
    paths = expand(path)
    for one in paths:
        if not is_regular(one):
            raise ValueError(f"against must be files of codes, or folders of stages, got {one}")
    return [Earlier(InputFile(one), None) for one in paths]


def _files_of(against: tuple[Earlier, ...]) -> list[InputFile]:
    return [file for earlier in against for file in earlier.files]


def _is_file(output: Any) -> bool:
    """Whether an output is or will be a file, and no pipe or device."""
    if hasattr(output, "write") or is_standard(output):
        return False
    return os.path.isfile(output) or not os.path.exists(output)


def _make_job(
    map: Any, paths: list[Any], texts: str | None, id_field: str | None, n_jobs: int | None,
    **options: Any,
) -> Job:  # fmt: skip
    _threads.resolve_n_jobs(n_jobs)
    fitted = as_fitted(MinHash(random_state=0) if map is None else map)
    if not fitted.has_codes:
        raise ValueError(f"map must be a map with codes, got {type(fitted).__name__}")
    texts = _analyzer(texts, paths, options["text_format"])
    if texts is None and options["field"] != "text":
        raise ValueError(f"{setting('field', options['field'])} is for texts")
    source, config = source_of(fitted, texts, id_field=id_field, **options)
    kind = FormatOptions(False, False, "", config, id_field is not None)
    return Job(fitted, source, kind, "records", n_jobs)


def _analyzer(texts: str | None, paths: list[Any], text_format: str | None) -> str | None:
    """The n-grams that are the rows of texts; None if the inputs are not texts."""
    if texts is not None:
        return texts
    if text_format is not None:
        return TEXTS
    kinds = {is_text_file(path): path for path in paths}
    if len(kinds) > 1:
        raise ValueError(f"{kinds[True]} is a file of texts, and {kinds[False]} is none, by their "
                         "names; take one kind at a time")  # fmt: skip
    return TEXTS if True in kinds else None


def _check_codes(job: Job, search: Search, against: tuple[Earlier, ...]) -> None:
    """Raise a ValueError where codes cannot be compared, before they are made."""
    own = empty_codes(job.map, job.options.texts)
    _search.least_agreeing(own, search.threshold)
    for earlier in against:
        refuse_different(f"{earlier.codes} and the inputs", earlier.load(), own)


CODES = "codes.npy"

STAGES = ".stages"
"""The ending of the name of the folder of stages, after the name of the output."""

TEXTS = "word:5"
"""The default n-grams of texts."""


# ---- the stages ----------------------------------------------------------------------------------

CLUSTERS, KEPT, REMOVED = "clusters.npy", "kept.npy", "removed.npy"
PAIRS, NEAR = "pairs.npy", "near.npy"
"""Files of stages: numbers of clusters; which records are kept; by rule "kept", removed records and
the kept record that each is near; by rule "chain", pairs of rows, and rows near those of an earlier
delivery."""

STAGE_FILES = (
    *(CODES, *(CODES + ending for ending in BESIDE), CLUSTERS, KEPT),
    *(REMOVED, REMOVED + SIMILARITY, PAIRS, NEAR),
)


def stages(plan: DedupPlan, inputs: list[Any], results: Results) -> Iterator[Stage]:
    """The stages of a plan. Those of pairs and of what is kept need nothing but codes."""
    codes = yield from encode(plan.job, inputs, results)
    check_int("the number of records", sum(codes.n_records), 0, LARGEST_INT32)
    decide = _removal_stages if plan.rule == "kept" else _chain_stages
    kept = yield from decide(plan, inputs, codes, results)
    if plan.dry_run:
        return
    outputs = output_tasks(plan, inputs, codes, kept, results)
    endings = () if plan.folder is None else ("",)
    yield Stage("outputs", "the records that are kept", outputs, _write_output, endings)


def _removal_stages(
    plan: DedupPlan, inputs: list[Any], codes: Codes, results: Results
) -> Generator[Stage, None, Task]:
    """The stages of rule "kept"; the task whose result says which records are kept."""
    of = plan, inputs, codes
    recipe = {
        "codes": codes.digest, **plan.search._asdict(), "against": _recipe_of(plan.against),
        "keep": plan.keep,
    }  # fmt: skip
    removals = Task(REMOVED, recipe, of)
    endings = "", SIMILARITY
    yield Stage("removals", "records near a kept one", [removals], _find_removals, endings)
    results.remove(rf"{_STEPS}.*\.(npy|json)")
    recipe = {"removals": digest(removals.recipe)}
    clusters = Task(CLUSTERS, recipe, of)
    yield Stage("clusters", "the cluster of each record", [clusters], _find_stars)
    kept = Task(KEPT, {**recipe, "clusters": digest(clusters.recipe)}, of)
    yield Stage("kept", "which records are kept", [kept], _leave_removed)
    return kept


def _chain_stages(
    plan: DedupPlan, inputs: list[Any], codes: Codes, results: Results
) -> Generator[Stage, None, Task]:
    """The stages of rule "chain"; the task whose result says which records are kept."""
    of = plan, inputs, codes
    recipe = {"codes": codes.digest, **plan.search._asdict()}
    pairs = Task(PAIRS, recipe, of)
    yield Stage("pairs", "pairs of near records", [pairs], _find_pairs)
    results.remove(rf"{_STEPS}.*\.(npy|json)")
    recipe = {**recipe, "exact": None, "against": _recipe_of(plan.against)}
    near = Task(NEAR, recipe, of)  # of an earlier delivery only codes are known
    yield Stage("near", "records near those of earlier deliveries", [near], _find_near)
    results.remove(rf"{_STEPS}.*\.(npy|json)")
    clusters = Task(CLUSTERS, {"pairs": digest(pairs.recipe)}, codes)
    yield Stage("clusters", "the cluster of each record", [clusters], _find_clusters)
    recipe = {"clusters": digest(clusters.recipe), "near": digest(near.recipe), "keep": plan.keep}
    kept = Task(KEPT, recipe, of)
    yield Stage("kept", "which records are kept", [kept], _choose)
    return kept


def _recipe_of(against: tuple[Earlier, ...]) -> list[Any]:
    return [[file.recipe for file in earlier.files] for earlier in against]


def listing(plan: DedupPlan) -> list[tuple[str, int, str]]:
    """Name, number of tasks, and meaning of each stage."""
    n_ranges = sum(len(ranges_of(plan.job, input)) for input in plan.inputs)
    outputs = "outputs", len(plan.outputs), "the records that are kept"
    return [
        ("codes", n_ranges, f"the codes of at most {RANGE_BYTES >> 20} MB of the inputs"),
        ("codes-join", 1, "the codes of all inputs in one file"),
        *_SEARCHES[plan.rule],
        ("clusters", 1, "the cluster of each record"),
        ("kept", 1, "which records are kept"),
        *([] if plan.dry_run else [outputs]),
    ]


_SEARCHES = {
    "kept": [("removals", 1, "records near a kept one")],
    "chain": [
        ("pairs", 1, "pairs of near records"),
        ("near", 1, "records near those of earlier deliveries"),
    ],
}


_STEPS = "search-"
"""What names of results of a search that is not complete begin with."""


def _find_pairs(of: Any, path: str, how: How) -> int:
    """Write pairs that join the records of each cluster; returns their number."""
    plan, inputs, codes = of
    folder = os.path.dirname(path)
    recipe = {"codes": codes.digest, **plan.search._asdict()}
    steps = Steps(Results(folder), _STEPS, recipe, how.progress)
    i, j = joining_pairs(plan.job, plan.search, inputs, codes, folder, how, steps)
    save_array(path, np.stack([i, j]).astype(np.uint32))
    return len(i)


def _find_near(of: Any, path: str, how: How) -> int:
    """Write the rows that are near those of earlier deliveries; returns their number."""
    plan, _, codes = of
    recipe = {"codes": codes.digest, "against": _recipe_of(plan.against),
              **plan.search._asdict()}  # fmt: skip
    steps = Steps(Results(os.path.dirname(path)), _STEPS, recipe, how.progress)
    near = near_rows(plan.search, codes, plan.against, how, steps)
    save_array(path, near)
    return len(near)


def _find_clusters(codes: Codes, path: str, how: How) -> int:
    """Write the number of each record's cluster; returns the number of clusters."""
    n = sum(codes.n_records)
    i, j = read_array(_beside(path, PAIRS), ArrayKind(np.uint32, (2, None), most=n - 1), mmap=True)
    numbers = numbered_components(i, j, n).astype(np.uint32)
    save_array(path, numbers)
    return int(numbers.max()) + 1 if n else 0


def _choose(of: Any, path: str, how: How) -> list[int]:
    """Write which records are kept; returns the numbers that `Deduplicated` begins with."""
    plan, _, codes = of
    n = sum(codes.n_records)
    numbers = read_array(_beside(path, CLUSTERS), ArrayKind(np.uint32, (n,), most=n - 1))
    near = read_array(_beside(path, NEAR), ArrayKind(np.int64, most=n - 1))
    kept = kept_rows(numbers, codes.lengths(), near, plan.keep)
    save_array(path, kept)
    sizes = np.bincount(numbers)
    return [n, int(kept.sum()), int((sizes > 1).sum()), int(sizes.max(initial=0)), 0, 0, 0]


def _find_removals(of: Any, path: str, how: How) -> int:
    """Write the removed records; returns their number."""
    plan, inputs, codes = of
    recipe = {"codes": codes.digest, "against": _recipe_of(plan.against), "rule": "kept",
              **plan.search._asdict()}  # fmt: skip
    steps = Steps(Results(os.path.dirname(path)), _STEPS, recipe, how.progress)
    return find_removals(
        plan.job, plan.search, plan.keep, inputs, codes, plan.against, path, how, steps
    )


def _find_stars(of: Any, path: str, how: How) -> int:
    """Write the number of each record's cluster: a kept record and those that are near it; returns
    the number of clusters."""
    plan, _, codes = of
    n = sum(codes.n_records)
    found = read_removals(_beside(path, REMOVED), n, plan.against)
    numbers = numbered_components(leaders(found, n), found.removed, n).astype(np.uint32)
    save_array(path, numbers)
    return int(numbers.max()) + 1 if n else 0


def _leave_removed(of: Any, path: str, how: How) -> list[int]:
    """Write which records are kept; returns the numbers of `Deduplicated`."""
    plan, _, codes = of
    n = sum(codes.n_records)
    found = read_removals(_beside(path, REMOVED), n, plan.against)
    kept = np.ones(n, bool)
    kept[found.removed] = False
    save_array(path, kept)
    sizes = np.bincount(read_array(_beside(path, CLUSTERS), ArrayKind(np.uint32, (n,), most=n - 1)))
    is_earlier = found.witness >= n
    n_earlier, n_equal = int(is_earlier.sum()), int((found.similarity[~is_earlier] == 1).sum())
    return [
        n, int(kept.sum()), int((sizes > 1).sum()), int(sizes.max(initial=0)), n_equal,
        len(found.removed) - n_equal - n_earlier, n_earlier,
    ]  # fmt: skip


def _beside(path: str, name: str) -> str:
    return os.path.join(os.path.dirname(path), name)


def output_tasks(
    plan: DedupPlan, inputs: list[Any], codes: Codes, kept: Task, results: Results
) -> list[Task]:
    """A task for each output, which takes the records of its inputs."""
    tasks, rest = [], list(zip(inputs, codes.n_records, strict=True))
    row = 0
    for number, (output, paths) in enumerate(plan.outputs):
        own, rest = rest[: len(paths)], rest[len(paths) :]
        recipe = {"kept": digest(kept.recipe), "output": str(output), "codes": codes.digest}
        path = os.path.abspath(output) if plan.folder is not None else None
        of = plan.job.source, results.path(KEPT), own, row, path or output, _files_of(plan.against)
        size = sum(getattr(input, "n_bytes", 0) for input, _ in own)
        tasks.append(Task(f"output-{number:06d}", recipe, of, size, path))
        row += sum(n for _, n in own)
    return tasks


def _write_output(of: Any, path: str, how: How) -> list[int]:
    """Write the records that are kept of some inputs; returns for each input the numbers of its
    records and of those that are kept."""
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


# ---- running -------------------------------------------------------------------------------------


def run(
    plan: DedupPlan, progress: bool | None, resume: bool, engine: Engine | None = None
) -> Deduplicated:
    """Run all tasks of a plan."""
    check_bool("resume", resume)
    with ExitStack() as stack:
        job, inputs, results = _begun(plan, stack, shared=False)
        plan = plan._replace(job=job)
        made = run_stages(
            stages(plan, inputs, results), results, engine or Threads(plan.job.n_jobs),
            not resume, progress,
        )  # fmt: skip
        n_records, n_kept, n_several, largest, *causes = counts(made["kept"][0], 7)
        numbers = Deduplicated(n_records, n_kept, n_several, largest, [], *causes)
        _write_evidence(plan, inputs, results, numbers)
        if plan.clusters is not None:
            of_records = read_array(
                results.path(CLUSTERS), ArrayKind(np.uint32, (n_records,)), mmap=True
            )
            write_table(plan.clusters, of_records, results.path(CODES + IDS))
    files = []
    outputs = [] if plan.dry_run else plan.outputs
    for (output, paths), result in zip(outputs, made.get("outputs", []), strict=True):
        sizes = counts(result, 2 * len(paths))
        files += [
            DeduplicatedFile(path, output, n, n_kept_here, not result.is_new)
            for path, n, n_kept_here in zip(paths, sizes[::2], sizes[1::2], strict=True)
        ]
    return numbers._replace(files=files)


def _write_evidence(
    plan: DedupPlan, inputs: list[Any], results: Results, numbers: Deduplicated
) -> None:
    """Write the table of removals and the report, where they are asked for."""
    if plan.removed is None and plan.report is None:
        return
    found = read_removals(results.path(REMOVED), numbers.n_records, plan.against)
    with names_of(numbers.n_records, results.path(CODES), plan.against) as name_of:
        if plan.removed is not None:
            write_removals(plan.removed, found, name_of)
        if plan.report is None:
            return
        settings = {
            "inputs": ", ".join(str(getattr(input, "path", input)) for input in inputs),
            "map": plan.job.map.to_config(),
            "n-grams": plan.job.options.texts or "rows of LIBSVM files",
            **plan.search._asdict(),
            "keep": plan.keep,
            "against": [str(earlier.codes) for earlier in plan.against],
        }
        counted = {
            "records": numbers.n_records,
            "kept": numbers.n_kept,
            "removed, equal to a kept one": numbers.n_equal,
            "removed, near a kept one": numbers.n_near,
            "removed, near an earlier delivery": numbers.n_earlier,
        }
        read = partial(texts_of, plan.job.source, inputs)
        page = report_of(found, settings, counted, name_of, read)
    with _output_files.atomic_output(plan.report) as file:
        for piece in render(page):
            file.write(piece.encode())


def run_part(plan: DedupPlan, share: Share, progress: bool | None) -> int:
    """Run some tasks of a stage; returns how many results were made."""
    check_stage(share, listing(plan))
    with ExitStack() as stack:
        if plan.folder is None or not all(isinstance(one, InputFile) for one in plan.inputs):
            raise ValueError("tasks are for inputs and outputs that are files")
        job, inputs, results = _begun(plan, stack, shared=True)
        plan = plan._replace(job=job)
        how = How(job.n_jobs, None, progress)
        return run_share(stages(plan, inputs, results), results, share, how)


def _begun(plan: DedupPlan, stack: ExitStack, *, shared: bool) -> tuple[Job, list[Any], Results]:
    """The job, the inputs to read, and the folder of results, which is locked."""
    if plan.is_many:
        os.makedirs(os.path.dirname(plan.outputs[0][0]), exist_ok=True)
    if plan.folder is None:
        results = Results(stack.enter_context(tempfile.TemporaryDirectory()))
    else:
        results = Results(plan.folder)
        stack.enter_context(results.open(shared=shared))
    job, inputs = plan.job.prepared(spooled(plan.inputs, stack), stack)
    return job, inputs, results


def kept_rows(numbers: Array, lengths: Array, near: Array, keep: str) -> Array:
    """Whether each record is kept: one of each cluster, but none of a cluster that is near an
    earlier delivery."""
    n_clusters = int(numbers.max()) + 1 if len(numbers) else 0
    rows = np.arange(len(numbers))
    if keep == "longest":
        longest = np.zeros(n_clusters, lengths.dtype)
        np.maximum.at(longest, numbers, lengths)
        rows = np.flatnonzero(lengths == longest[numbers])
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


_LINES = 2**14
"""Lines of a table that are written at a time."""


def write_table(output: Any, numbers: Array, ids: str) -> None:
    """Write lines of a record's number, or its id, and the number of its cluster, both from 1."""
    with ExitStack() as stack:
        file = stack.enter_context(_output_files.atomic_output(output))
        names: Iterator[Any] = itertools.count(1)
        if os.path.exists(ids):
            lines = stack.enter_context(open(ids, encoding="utf-8", newline="\n"))
            names = (line[:-1] for line in lines)
        for start in range(0, len(numbers), _LINES):
            some = (numbers[start : start + _LINES].astype(np.int64) + 1).tolist()
            text = "".join(f"{next(names)}\t{number}\n" for number in some)
            file.write(text.encode())
