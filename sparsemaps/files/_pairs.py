"""`similar_pairs_of_files`: search for near-duplicates among the rows of files, for ``sparsemaps
pairs``."""

import contextlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from sparsemaps._io import _output_files, _paths, _sources
from sparsemaps._io._array_files import ArrayKind, read_array, save_array
from sparsemaps._io._sources import SIMILARITY
from sparsemaps._io._steps import Steps
from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._parameters import named, named_class, setting
from sparsemaps._tools._typing import Destination, Inputs, StrPath
from sparsemaps.codes._code_checks import TEXTS, refuse_different
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._bad_records import TABLE, join_tables
from sparsemaps.files._coded_records import BESIDE_CODES, CodedInputs, Sides, encode, similar
from sparsemaps.files._formats import FormatOptions
from sparsemaps.files._frequency_stages import FREQUENCIES, frequency_stages
from sparsemaps.files._job import Job
from sparsemaps.files._job_options import JOBS, Aside, GivenSource, PairSearch, Run, Svmlight, Texts
from sparsemaps.files._keywords import SimilarPairsOfFilesKeywords
from sparsemaps.files._kinds_of_inputs import by_names
from sparsemaps.files._libsvm_rows import LibsvmRows
from sparsemaps.files._plan import Plan
from sparsemaps.files._recipes import digest
from sparsemaps.files._results import Results, counts, opened
from sparsemaps.files._row_names import names_of_rows, read_comments, write_table
from sparsemaps.files._search_tasks import search_stages
from sparsemaps.files._tasks import Stage, Task, TaskRun
from sparsemaps.maps._config import from_config
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.records._table import holds_codes
from sparsemaps.records.codes import recipe_of


class FoundPairs(NamedTuple):
    """The numbers of rows of the inputs, of rows of `other`, and of pairs; and whether the output
    was already complete."""

    n_rows: int
    n_other: int
    n_pairs: int
    skipped: bool
    n_bad: int = 0
    """Number of records that were set aside."""


@takes(*JOBS["similar_pairs_of_files"])
def similar_pairs_of_files(
    map: SparseMap | None,
    inputs: Inputs,
    output: Destination,
    *,
    other: Inputs | None = None,
    source: Texts | Svmlight | str | None = None,
    **options: Unpack[SimilarPairsOfFilesKeywords],
) -> FoundPairs:
    r"""Write the pairs of similar rows of files.

    The command ``sparsemaps pairs`` calls this function. Each line of the output has two rows and
    their similarity with six decimals, separated by tabs. A row is given by its number, counted
    from 1 over all inputs, or by its id. If lines of LIBSVM files have comments, the comments of
    the two lines follow. The output appears when it is complete.

    Parameters
    ----------
    map : sampled map or None
        As for `map_files`. None uses the map of the first file of codes.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files, or raw texts; files of packed codes (.npy), as written by `map_files` and
        `sparsemaps.codes.PackedCodes.save`; directories and patterns. Each input is read once, and
        once more with `exact`. Codes are written to OUTPUT.stages and memory-mapped; a single file
        of codes is used directly.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); "-" is standard output.
    other : as `inputs`, or None, default=None
        Find pairs between `inputs` and these inputs; None finds pairs within `inputs`.
    source : Texts, Svmlight, str or None, default=None
        Kind of the inputs and `other`, except files of codes: `Texts`, or its analyzer, or
        `Svmlight`. None is ``Texts()`` if their names say that they are texts (.txt, .jsonl,
        .ndjson, .csv, .parquet, .arrow, also compressed), and ``Svmlight()`` otherwise.
    [options]

    Returns
    -------
    answer : FoundPairs
        The numbers of rows (`n_rows`), of rows of `other` (`n_other`), and of pairs (`n_pairs`);
        and `skipped`, whether the output was already complete.

    Raises
    ------
    ValueError
        If a parameter is not allowed, codes of inputs have different maps, seeds or vectorizers, or
        a line does not have the format.
    OSError
        If a file cannot be read or written.

    See Also
    --------
    sparsemaps.neighbors.similar_pairs : Pairs of codes in memory.

    Notes
    -----
    Besides the codes, which are memory-mapped, and the keys of rows (`max_bytes`), memory holds the
    written pairs, about 32 bytes each; with `exact`, it holds no other candidates.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import similar_pairs_of_files
    >>> rows, out = BytesIO(b"0 1:1 3:1 # a\n0 2:1\n0 1:1 3:1 # b\n"), BytesIO()
    >>> similar_pairs_of_files(MinHash(random_state=0), rows, out).n_pairs
    1
    >>> out.getvalue()
    b'1\t3\t1.000000\ta\tb\n'
    """
    search, run_, aside = PairSearch.of(options), Run.of(options), Aside.of(options).aside
    paths, others = _sources.expand(inputs), None if other is None else _sources.expand(other)
    return PairsPlan.of(map, paths, output, others, source, search, aside).run(run_)


# ---- the plan ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairsPlan(Plan):
    """A search for pairs whose options have been checked."""

    job: Job
    """The job that makes the codes."""
    search: PairSearch
    inputs: list[Any]
    others: list[Any]
    """The other side; empty if pairs are within the inputs."""
    output: Any
    folder: str | None
    """The folder of the stages; None for a temporary one."""
    bad_records: Any = None
    """The path of the table of bad records; None if bad records raise errors."""

    @property
    def can_be_shared(self) -> bool:
        return self.folder is not None and _sources.are_files([*self.inputs, *self.others])

    @classmethod
    def of(
        cls,
        map: SparseMap | None,
        paths: list[Any],
        output: Destination,
        others: list[Any] | None,
        source: GivenSource,
        search: PairSearch,
        bad_records: StrPath | None = None,
    ) -> "PairsPlan":
        """Return a plan, after checking the options, all names, and the codes."""
        read = [*paths, *(others or [])]
        coded = [path for path in read if holds_codes(path)]
        rows = [path for path in read if not holds_codes(path)]
        if search.exact and coded:
            raise ValueError(
                f"{setting('exact', True)} needs rows, and {coded[0]} is a file of codes"
            )
        job = _job(map, coded, rows, source)
        job = replace(job, source=job.source.with_fields(sets_aside=bad_records is not None))
        if job.source.texts_to_count is not None and coded:
            raise ValueError(
                f"{named('max_df')} counts n-grams of texts, and {coded[0]} is a file of codes"
            )
        if search.containment and job.map is not None and not job.map.law.is_of_sets:
            raise ValueError(f"{setting('containment', True)} is for {named_class('MinHash')}")
        folder = _paths.full_path(output) + _sources.STAGES if _sources.is_regular(output) else None
        names = [(output, _output_files.OUTPUT)]
        if bad_records is not None:
            names.append((bad_records, TABLE))
        if folder is not None:
            names += [(_paths.join(folder, name), "a result of a stage") for name in STAGE_FILES]
            _sources.refuse_inside(folder, read)
        _output_files.refuse_clashes(read, names, [] if folder is None else [folder])
        _refuse_different(job, coded)
        known = _sources.known_inputs(read)
        sides = known[: len(paths)], known[len(paths) :]
        return cls(job, search, *sides, output, folder, bad_records)

    def stages(self, results: Results) -> Iterator[Stage]:
        job = yield from frequency_stages(self.job, [*self.inputs, *self.others], results)
        own = yield from _encode(job, self.inputs, results, OWN)
        other = None
        if self.others:
            other = yield from _encode(job, self.others, results, OTHER)
        sides = own, other
        recipe = {"codes": own.digest, "other": other and other.digest, **self.search.recipe}
        pairs = Task(PAIRS, recipe, (self.search, sides))
        about = "pairs of similar rows"
        last = Stage("pairs", [pairs], _find_pairs, results, ("", SIMILARITY), about=about)
        yield from search_stages(last, [*self.inputs, *self.others])
        output = None if self.folder is None else _paths.full_path(self.output)
        of_lines = results.path(pairs.file), sides, self.output if output is None else None
        target = None if output is None else _paths.real_path(output)
        lines = Task("output", {"pairs": digest(recipe), "output": output}, of_lines, output=target)
        endings = () if output is None else ("",)
        about = "a line for each pair"
        yield Stage("output", [lines], _write_output, results, endings, about=about)

    def run(self, how: Run) -> FoundPairs:
        """Run all tasks or a share of them; the numbers of a share are 0."""
        self.check(how)
        plan, is_share = self, how.task is not None
        with opened(plan.folder, shared=is_share) as results, contextlib.ExitStack() as stack:
            is_counted = plan.job.source.texts_to_count is not None
            if plan.search.exact or is_counted:  # inputs are read again
                inputs, others = (
                    _sources.spooled(side, stack) for side in (plan.inputs, plan.others)
                )
                plan = replace(self, inputs=inputs, others=others)
            made = plan.make(results, how)
            n_bad = 0
            if plan.bad_records is not None and not is_share:
                sides = (made.get(f"{name}-join", made.get(name)) for name in (OWN, OTHER))
                tables = [side[0].path + _sources.BAD for side in sides if side is not None]
                n_bad = join_tables(plan.bad_records, tables)
        if is_share:
            return FoundPairs(0, 0, 0, False)
        numbers = PairCounts(*counts(made["pairs"][0].value, len(PairCounts._fields), "pairs"))
        return FoundPairs(*numbers, not made["output"][0].is_new, n_bad)


def _refuse_different(job: Job, coded: list[str]) -> None:
    """Raise a ValueError if codes of inputs are not comparable."""
    name, known = "rows of the map", None
    if job.map is not None:
        known = job.map._packed_codes([], job.options.texts)
    for path in coded:
        codes = PackedCodes.load(path)
        if known is not None:
            refuse_different(f"{name} and {path}", known, codes)
        if known is None or TEXTS not in known.config:
            name, known = path, codes[:0]


def _job(map: SparseMap | None, coded: list[str], rows: list[Any], source: GivenSource) -> Job:
    """Return the job that makes codes of `rows`, the inputs that are not files of codes. Without a
    map, it uses the map of the first file of codes."""
    given = by_names(source, rows)
    if map is None and not rows:
        if isinstance(given, Texts):
            said = setting("source", given.analyzer)
            raise ValueError(f"{said} is for texts; all inputs are codes")
        return Job(None, LibsvmRows(given), FormatOptions(False, True, ""), "records")
    if map is None and not coded:
        raise ValueError("map must be given if no input is a file of codes")
    if map is None:
        try:
            map = from_config(PackedCodes.load(coded[0]).config)
        except ValueError as error:
            raise ValueError(f"{coded[0]}: the map of its codes is not known: {error}") from None
    job = Job.of_codes(map, given, comments=True)
    for path in rows:
        job.source.format(path)  # raises for unknown formats
    return job


# ---- the stages ----------------------------------------------------------------------------------

PAIRS = "pairs.npy"
"""The result file of a stage: the rows of the pairs."""

OWN, OTHER = "codes", "other"
"""Names of the stages of the codes of both sides, and of their files."""

STAGE_FILES = (
    *(f"{name}.npy{ending}" for name in (OWN, OTHER) for ending in ("", *BESIDE_CODES)),
    *(PAIRS, PAIRS + SIMILARITY, FREQUENCIES),
)


def _encode(
    job: Job, inputs: list[Any], results: Results, name: str
) -> Generator[Stage, None, CodedInputs]:
    """Yield the stages that make the codes of inputs. A single file of codes is used directly."""
    if len(inputs) > 1 or not holds_codes(inputs[0]):
        return (yield from encode(job, inputs, results, name))
    path = inputs[0].path
    return CodedInputs(job, inputs, path, digest(recipe_of(inputs[0])))


class PairCounts(NamedTuple):
    """The value of the stage *pairs*: numbers of rows and of pairs, as in `FoundPairs`."""

    n_rows: int
    n_other: int
    n_pairs: int


def _find_pairs(
    search: PairSearch, sides: Sides, path: str, run: TaskRun, steps: Steps | None = None
) -> PairCounts:
    """Write the pairs and their similarities, and return the counts."""
    steps = steps or Steps(shown=run.progress)
    i, j, value = similar(sides, search, run, steps)
    if steps.share is None:
        save_array(path, np.stack([i, j]).astype(np.uint32))
        save_array(path + SIMILARITY, value)
    return PairCounts(sides[0].n_rows, 0 if sides[1] is None else sides[1].n_rows, len(i))


def _write_output(pairs: str, sides: Sides, output: object, path: str, run: TaskRun) -> bool:
    """Write a line per pair: the names of the two rows, their similarity, and their comments. Raise
    an error if an input has changed."""
    given = [side for side in sides if side is not None]
    known = [(side.path, side.n_rows) for side in given]
    most = known[0][1] - 1, known[-1][1] - 1
    i, j = read_array(pairs, ArrayKind(np.uint32, (2, None), most), mmap=True)
    value = read_array(pairs + SIMILARITY, ArrayKind(np.float64, (len(i),)), mmap=True)
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(_output_files.atomic_output(output or path))
        names = [stack.enter_context(names_of_rows(*one)) for one in known]
        comments = [dict(read_comments(*one)) for one in known]

        def line(i: int, j: int, similarity: float) -> str:
            words = [names[0](i), names[-1](j), f"{similarity:.6f}"]
            if any(comments):
                words += [comments[0].get(i, ""), comments[-1].get(j, "")]
            return "\t".join(words) + "\n"

        write_table(file, (i, j, value), line)
        _sources.refuse_changes([input for side in given for input in side.inputs])
    return True
