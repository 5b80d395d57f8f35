"""The plan of a deduplication: inputs, outputs and options, after all checks."""

import os
from dataclasses import dataclass
from typing import Any, Self

from sparsemaps._io import _output_files, _paths, _sources
from sparsemaps._tools._parameters import named
from sparsemaps._tools._typing import Destination, StrPath
from sparsemaps.codes._code_checks import refuse_different
from sparsemaps.files._coded_records import BESIDE_CODES, Delivery
from sparsemaps.files._frequency_stages import FREQUENCIES, with_table, with_table_of
from sparsemaps.files._job import Job
from sparsemaps.files._job_options import Removal, Search, Svmlight, Tables, Texts
from sparsemaps.files._kept_records import check_outputs
from sparsemaps.files._outputs import outputs_of, written_files
from sparsemaps.files._plan import Plan
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.maps.minhash import MinHash
from sparsemaps.neighbors import _search
from sparsemaps.records._table import format_by_name, holds_codes

CODES = "codes.npy"

CLUSTERS, KEPT, REMOVED = "clusters.npy", "kept.npy", "removed.npy"
"""Result files of stages: the number of each record's cluster; the mask of kept records; the
removed records, with the kept record that each duplicates."""

STAGE_FILES = (
    *(CODES, *(CODES + ending for ending in BESIDE_CODES), CLUSTERS, KEPT),
    *(REMOVED, REMOVED + _sources.SIMILARITY, FREQUENCIES),
)


@dataclass(frozen=True)
class DedupPlan(Plan):
    """A deduplication whose options have been checked."""

    job: Job
    """The job that makes the codes."""
    search: Search
    removal: Removal
    earlier: "tuple[Delivery, ...]"
    """The codes of earlier deliveries."""
    inputs: list[Any]
    output: Any
    """The destination of kept records: a file or a directory."""
    tables: Tables
    files: list[tuple[Any, list[Any]]]
    """The output files, each with its inputs, in the order of all inputs."""
    folder: str | None
    """The folder of the stages; None for a temporary one."""

    @property
    def can_be_shared(self) -> bool:
        return self.folder is not None and _sources.are_files(self.inputs)

    @classmethod
    def of(
        cls,
        map: SparseMap | None,
        paths: list[Any],
        output: Destination,
        source: Texts | Svmlight,
        search: Search,
        removal: Removal,
        tables: Tables,
    ) -> Self:
        """Return a plan, after checking all options, names, and codes of earlier deliveries."""
        folder = None  # pipes and devices have none
        if _sources.is_directory(output) or _sources.is_regular(output):
            folder = _paths.full_path(output) + _sources.STAGES
        deliveries = [] if removal.against is None else removal.against
        if not isinstance(deliveries, (list, tuple)):
            deliveries = [deliveries]
        against = tuple(one for path in deliveries for one in _earlier(path, folder))
        if map is None:
            map = MinHash(random_state=0).fit_any_width()
        sets_aside = tables.aside is not None
        job = Job.of_codes(map, source, key_field=removal.key_field, sets_aside=sets_aside)
        codes = job.map._packed_codes([], job.options.texts)
        _search.least_agreeing(codes, search.threshold)  # raises for codes without estimates
        if against:
            job = _comparable_with(against, job)
        outputs = outputs_of(paths, output)
        files = [(one.path, one.inputs) for one in outputs]
        check_outputs(job.source, files)
        names = [*written_files(outputs, _sources.BESIDE_ROWS), *tables.files()]
        if folder is not None:
            _sources.refuse_inside(folder, paths)
            names += [(_paths.join(folder, name), "a result of a stage") for name in STAGE_FILES]
        made = [output] if _sources.is_directory(output) else []
        made += [] if folder is None else [folder]
        _output_files.refuse_clashes([*paths, *files_of(against)], names, made)
        known_inputs = _sources.known_inputs(paths)
        return cls(job, search, removal, against, known_inputs, output, tables, files, folder)


def _earlier(path: StrPath, own: str | None) -> list[Delivery]:
    """Return the codes of earlier deliveries with the masks of kept records. `path` is the folder
    of stages of a run, a directory of such folders, or files of codes. `own`, the folder of this
    run's stages, is skipped."""
    path = os.fspath(path)
    if _paths.exists(_paths.join(path, CODES)):
        return [_of_run(path)]
    if _paths.is_folder(path):
        names = sorted(_paths.entries_of(path)[1])
        runs = [_paths.join(path, name) for name in names if name.endswith(_sources.STAGES)]
        if runs:
            return [_of_run(run) for run in runs if _paths.full_path(run) != own]
    paths = _sources.expand(path)
    for one in [path.rstrip("/") or path, *paths]:
        stages = os.fspath(one) + _sources.STAGES
        if _paths.is_folder(stages) and not holds_codes(one):
            raise ValueError(f"{one} is an output of records; their codes are in {stages}")
    for one in paths:
        if not _sources.is_regular(one):
            raise ValueError(
                f"{named('against')} must be files of codes, or folders of stages, got {one}"
            )
        if format_by_name(one) is not None:
            raise ValueError(
                f"{one} has records, not codes: {named('against')} takes the folder OUTPUT.stages "
                "of an earlier run"
            )
    return [Delivery(_sources.InputFile(one), None) for one in paths]


def _comparable_with(against: tuple[Delivery, ...], job: Job) -> Job:
    """Return a job that takes the table of frequencies of the first delivery, if it needs one and
    none is given. Raise a ValueError unless its codes can be compared with the codes
    of all deliveries."""
    job = with_table_of(job, os.path.dirname(against[0].codes.path))
    given, known, inputs = job.source.texts_to_count, job, "the inputs"
    if given is not None:
        table = None if given.frequencies is None else os.fspath(given.frequencies)
        known = with_table(job, table)
        inputs += "" if table is None else f" by the table {table}"
    codes = known.map._packed_codes([], known.options.texts)
    for earlier in against:
        refuse_different(f"{earlier.codes} and {inputs}", earlier.load(), codes)
    return job


def _of_run(folder: StrPath) -> Delivery:
    codes, kept = (_paths.join(folder, name) for name in (CODES, KEPT))
    for file in (codes, kept):
        if not _paths.exists(file):
            name = os.path.basename(file)
            raise ValueError(f"the run of {folder} is not complete: {name} is missing")
    return Delivery(_sources.InputFile(codes), _sources.InputFile(kept))


def files_of(against: tuple[Delivery, ...]) -> list[_sources.InputFile]:
    return [file for earlier in against for file in earlier.files]
