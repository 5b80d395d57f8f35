"""Records without near-duplicates: codes, pairs, clusters, and the records that are kept."""

import contextlib
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Literal, NamedTuple

import numpy as np

from sparsemaps._tools import _output_files, _text_input, _threads
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._checks import check_bool, check_choice
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import (
    IDS,
    LENGTHS,
    InputFile,
    expand,
    is_directory,
    is_regular,
    is_standard,
    known_inputs,
    refuse_changes,
    spooled,
)
from sparsemaps._tools._typing import Array
from sparsemaps.codes._code_checks import refuse_different
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._coded_records import (
    CLUSTERS,
    CODES,
    LENGTHS_OF,
    NEAR,
    PAIRS,
    STAGE_FILES,
    Search,
    Stage,
    encode_records,
    find_pairs,
    save,
    similar_records,
)
from sparsemaps.files._formats import FormatOptions, empty_codes
from sparsemaps.files._job import Job, source_of
from sparsemaps.files._kept_records import Selection, check_outputs, write_kept
from sparsemaps.files._map import one_each
from sparsemaps.files._stage_records import StageRecords
from sparsemaps.maps._sparse_map import as_fitted
from sparsemaps.maps.minhash import MinHash
from sparsemaps.neighbors import _search
from sparsemaps.neighbors._clusters import numbered_components
from sparsemaps.text._records import is_text_file


class KeptFile(NamedTuple):
    """An input, the output of its records, the number of its records, the number of kept records,
    and whether the output was complete before (`resume`)."""

    input: Any
    output: Any
    n_records: int
    n_kept: int
    skipped: bool


class Deduplicated(NamedTuple):
    """The numbers of records, of kept records, of clusters of several records, and of records of
    the largest cluster; and the files."""

    n_records: int
    n_kept: int
    n_clusters: int
    largest: int
    files: list[KeptFile]


def deduplicate_files(
    map: Any,
    inputs: Any,
    output: Any,
    *,
    threshold: float = 0.8,
    recall: float = 0.95,
    exact: bool = False,
    texts: str | None = None,
    field: str = "text",
    keep: Literal["first", "longest"] = "first",
    clusters: Any = None,
    against: Any = None,
    id_field: str | None = None,
    zero_based: bool = False,
    token_pattern: str | None = None,
    text_format: str | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: bool = False,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> Deduplicated:
    r"""Keep one record of each cluster of near-duplicates.

    The command ``sparsemaps dedup`` calls this function. Records are texts, or rows of LIBSVM
    files. Two records whose similarity is at least a threshold are in one cluster, and so are
    records that a chain of such pairs joins. The kept records are written byte for byte, in their
    order. Only codes are in memory or mapped into it: the inputs are read once for the codes, and
    once more for the output.

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
        The probability with which a pair at the threshold is joined; 1 compares all pairs.
    exact : bool, default=False
        Whether the exact kernel decides, among pairs whose estimates may be a little lower. The
        inputs are then read once more, and the rows of pairs are written to temporary files.
    texts : str or None, default=None
        The n-grams that are the rows of texts, as in `map_files`. None is "word:5" if the names of
        the inputs are those of texts, or with a `text_format`; other inputs are LIBSVM files.
    field : str, default="text"
        For texts, the field of a record of .jsonl, or the column of .parquet.
    keep : {"first", "longest"}, default="first"
        Which record of a cluster is kept: the first, or the first of the longest, which have the
        most characters of text or the most entries.
    clusters : str, path-like or None, default=None
        A table to write. Each line has the number of a record, or its id, a tab, and the number of
        its cluster. Records are numbered from 1 through all inputs, clusters in the order of their
        first records.
    against : str, path-like, a sequence of these, or None, default=None
        Codes of earlier deliveries, such as ``OUTPUT.stages/codes.npy``. A cluster with a record
        that is near one of them is left out, as if those had come first.
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
    resume : bool, default=False
        Take the stages of an earlier run as far as they are of the same inputs and options: another
        threshold needs no new codes. Codes of another map or of texts in other n-grams are an
        error.
    max_line_bytes : int, default=2**30
        A longer line is an error.

    Returns
    -------
    result : Deduplicated
        `n_records`, `n_kept`; `n_clusters`, those of several records; `largest`, the most records
        of a cluster; and `files`, with `input`, `output`, `n_records`, `n_kept` and `skipped` of
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

    Stages are kept in the directory ``OUTPUT.stages``: ``codes.npy``, which is what `PackedCodes`
    loads and `against` takes, with lengths and digests beside it; ``pairs.npy``, ``near.npy`` and
    ``clusters.npy``. It may be removed. A run that was ended during the first stage goes on with
    the input that it had not finished. Standard output has no stages.

    Beside the codes, which are mapped into memory, there are some 50 bytes a record, however many
    pairs there are; with `exact` all candidates, 24 bytes each; of Parquet, a group of rows.

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
        field=field, keep=keep, clusters=clusters, against=against, id_field=id_field,
        zero_based=zero_based, token_pattern=token_pattern, text_format=text_format, n_jobs=n_jobs,
        max_line_bytes=max_line_bytes,
    )  # fmt: skip
    return run(plan, progress, resume)


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
    keep: str
    clusters: Any


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
    keep: str,
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
        _earlier_codes(against),
    )
    check_choice("keep", keep, ("first", "longest"))
    job = _make_job(map, paths, texts, id_field, n_jobs, **options)
    _check_codes(job, search)
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
    if clusters is not None:
        if is_standard(clusters) and not hasattr(output, "write") and is_standard(output):
            raise ValueError("the output and the table of clusters are both standard output")
        names.append((clusters, "the table of clusters"))
    if folder is not None:
        _refuse_inside(folder, paths)
        names += [(os.path.join(folder, name), "a stage") for name in STAGE_FILES]
    _output_files.refuse_clashes([*paths, *search.against], names)
    known = known_inputs(paths)
    return DedupPlan(job, search, known, outputs, is_many, folder, keep, clusters)


def _refuse_inside(folder: str, paths: list[Any]) -> None:
    """Raise a ValueError if an input is a file of the folder of stages."""
    for path in paths:
        if is_regular(path) and os.path.realpath(folder) == os.path.dirname(os.path.realpath(path)):
            raise ValueError(f"the input {path} is in the folder of stages; move it elsewhere")


def _earlier_codes(against: Any) -> tuple[InputFile, ...]:
    """The files of codes of earlier deliveries."""
    paths = [] if against is None or against == [] else expand(against)
    for path in paths:
        if not is_regular(path):
            raise ValueError(f"against must be files of codes, got {path}")
    return tuple(map(InputFile, paths))


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


def _check_codes(job: Job, search: Search) -> None:
    """Raise a ValueError where codes cannot be compared, before they are made."""
    own = empty_codes(job.map, job.options.texts)
    _search.least_agreeing(own, search.threshold)
    for path in search.against:
        refuse_different(f"{path} and the inputs", PackedCodes.load(path), own)


STAGES = ".stages"
"""The ending of the name of the folder of stages, after the name of the output."""

TEXTS = "word:5"
"""The default n-grams of texts."""


# ---- the stages ----------------------------------------------------------------------------------


def run(
    plan: DedupPlan,
    progress: bool | None,
    resume: bool,
    encode: Callable[..., Stage] = encode_records,
    similar: Callable[..., tuple[Array, Array]] = similar_records,
) -> Deduplicated:
    """Run a plan. Dask calls it with other functions to encode records and to search pairs."""
    are_files = all(isinstance(one, InputFile) for one in plan.inputs)
    if check_bool("resume", resume) and (plan.folder is None or not are_files):
        raise ValueError(f"{setting('resume', True)} is for inputs and outputs that are files")
    with ExitStack() as stack:
        if plan.is_many:
            os.makedirs(os.path.dirname(plan.outputs[0][0]), exist_ok=True)
        if plan.folder is None:
            stages = StageRecords(stack.enter_context(tempfile.TemporaryDirectory()), False)
        else:
            stages = StageRecords(plan.folder, resume)
            stack.enter_context(stages.open())
        job, inputs = plan.job.prepared(spooled(plan.inputs, stack), stack)
        codes = encode(job, inputs, stages, progress)
        pairs = find_pairs(job, plan.search, inputs, codes, stages, progress, similar)
        numbers = _find_clusters(pairs, stages)
        n_records = len(numbers)
        lengths = read_array(
            stages.path(CODES + LENGTHS), LENGTHS_OF._replace(shape=(n_records,)), mmap=True
        )
        near = read_array(stages.path(NEAR), ArrayKind(np.int64, most=n_records - 1))
        kept = kept_rows(numbers, lengths, near, plan.keep)
        sizes = np.bincount(numbers)
        if plan.clusters is not None:
            write_table(plan.clusters, numbers, stages.path(CODES + IDS))
        files = _write_outputs(plan, inputs, pairs, kept, stages, progress)
    n_several, largest = int((sizes > 1).sum()), int(sizes.max(initial=0))
    return Deduplicated(len(numbers), int(kept.sum()), n_several, largest, files)


def _find_clusters(pairs: Stage, stages: StageRecords) -> Array:
    """The stage of clusters: the number of each record's cluster."""
    record = {"pairs": pairs.digest}
    path = stages.path(CLUSTERS)
    n_records = sum(pairs.n_records)
    if not stages.has("clusters", record):
        stages.begin("clusters")
        kind = ArrayKind(np.uint32, (2, None), most=n_records - 1)
        i, j = read_array(stages.path(PAIRS), kind, mmap=True)
        save(path, numbered_components(i, j, n_records).astype(np.uint32))
        stages.finish("clusters", record)
    return read_array(path, ArrayKind(np.uint32, (n_records,), most=n_records - 1))


def kept_rows(numbers: Array, lengths: Array, near: Array, keep: str) -> Array:
    """Whether each record is kept: one of each cluster, but none of a cluster that is near an
    earlier delivery."""
    n_clusters = int(numbers.max()) + 1 if len(numbers) else 0
    rows = np.arange(len(numbers))
    if keep == "longest":
        longest = np.zeros(n_clusters, lengths.dtype)
        np.maximum.at(longest, numbers, lengths)
        rows = np.flatnonzero(lengths == longest[numbers])
    chosen = np.empty(n_clusters, np.int64)
    chosen[numbers[rows[::-1]]] = rows[::-1]  # of rows of one cluster, the first is written last
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


def _write_outputs(
    plan: DedupPlan,
    inputs: list[Any],
    pairs: Stage,
    kept: Array,
    stages: StageRecords,
    progress: bool | None,
) -> list[KeptFile]:
    """The stage of outputs, each of which has a record of its own."""
    ends = np.cumsum([0, *pairs.n_records])
    selections = [
        Selection(input, kept[start:stop])
        for input, (start, stop) in zip(inputs, itertools.pairwise(ends.tolist()), strict=True)
    ]
    tasks = []
    for number, (output, paths) in enumerate(plan.outputs):
        some = [selections.pop(0) for _ in paths]
        record = {"pairs": pairs.digest, "keep": plan.keep, "output": str(output)}
        stage = f"output-{number:06d}"
        tasks.append((output, paths, some, stage, record, _is_complete(stages, stage, record)))
    for output, _, _, stage, _, is_complete in tasks:
        if not is_complete:
            stages.begin(stage)
            if plan.is_many and os.path.exists(output):  # never beside outputs of other settings
                os.unlink(output)
    files = []
    to_read = [path for _, paths, *_, is_complete in tasks for path in paths if not is_complete]
    with FileProgress(to_read, progress, "kept") as bar:
        for output, paths, some, stage, record, is_complete in tasks:
            if not is_complete:
                with contextlib.ExitStack() as stack:
                    file = output
                    if not hasattr(output, "write"):
                        file = stack.enter_context(_output_files.atomic_output(output))
                    write_kept(plan.job.source, some, file, plan.job.n_jobs, bar)
                    refuse_changes([*inputs, *plan.search.against])
                if plan.folder is not None:
                    size = os.path.getsize(output)
                    stages.finish(stage, {**record, "size": size})
            files += [
                KeptFile(path, output, len(one.kept), int(one.kept.sum()), is_complete)
                for path, one in zip(paths, some, strict=True)
            ]
    return files


def _is_complete(stages: StageRecords, stage: str, record: dict[str, Any]) -> bool:
    """Whether an earlier run has finished an output, which is as it was."""
    if stages.record(stage) is None or not os.path.exists(record["output"]):
        return False
    return stages.has(stage, {**record, "size": os.path.getsize(record["output"])})
