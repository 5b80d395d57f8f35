"""`deduplicate_files`: removal of near-duplicate records, for ``sparsemaps dedup``."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from sparsemaps._io import _output_files
from sparsemaps._io._sources import KEYS, expand, is_directory, spooled
from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._typing import Destination, Inputs
from sparsemaps.files._coded_records import numbers_beside
from sparsemaps.files._dedup_plan import CLUSTERS, CODES, REMOVED, DedupPlan
from sparsemaps.files._dedup_stages import KeptCounts, stages
from sparsemaps.files._evidence import write_evidence
from sparsemaps.files._frequency_stages import FREQUENCIES
from sparsemaps.files._job_options import JOBS, Removal, Run, Search, Svmlight, Tables, Texts
from sparsemaps.files._keywords import DeduplicateFilesKeywords
from sparsemaps.files._kinds_of_inputs import by_names
from sparsemaps.files._results import counts, opened
from sparsemaps.maps._sparse_map import SparseMap


class DeduplicatedFile(NamedTuple):
    """An input, its output, the numbers of its records and kept records, and whether the output was
    already complete."""

    input: Any
    output: Any
    n_records: int
    n_kept: int
    skipped: bool


class Deduplicated(NamedTuple):
    """The numbers of records, of kept records, and of clusters of several records; the size of the
    largest cluster; the files; the numbers of records removed as equal to a kept one, as similar to
    a kept one, and as similar to an earlier delivery; and the number of bad records."""

    n_records: int
    n_kept: int
    n_clusters: int
    largest: int
    files: list[DeduplicatedFile]
    n_equal: int
    n_near: int
    n_earlier: int
    n_bad: int = 0
    n_unordered: int = 0
    """Number of records without a number in the field that `keep` names."""

    def named_counts(self) -> dict[str, int]:
        """Return the numbers of records, with the words of a summary."""
        return {
            "records": self.n_records,
            "kept": self.n_kept,
            "equal to a kept one": self.n_equal,
            "near a kept one": self.n_near,
            "near an earlier delivery": self.n_earlier,
            "bad": self.n_bad,
            "without the number of keep": self.n_unordered,
        }


@takes(*JOBS["deduplicate_files"])
def deduplicate_files(
    map: SparseMap | None,
    inputs: Inputs,
    output: Destination,
    *,
    source: Texts | Svmlight | str | None = None,
    **options: Unpack[DeduplicateFilesKeywords],
) -> Deduplicated:
    r"""Remove near-duplicate records.

    The command ``sparsemaps dedup`` calls this function. Records are texts or rows of LIBSVM files,
    and are processed in order. A record is removed if its similarity to an earlier kept record is
    at least the threshold. So for every removed record, the output has the record that it
    duplicates. Kept records are written unchanged and in order. The inputs are read once for the
    codes, and once more for the output. Only the codes are kept in memory or mapped into it. With
    `max_df`, a table of counts takes up to 1 GB of memory, and the n-grams are stored in a
    temporary file.

    Parameters
    ----------
    map : map of sparsemaps with codes, or None
        A map of sparsemaps with codes. A fitted map is used unchanged; other maps are copied and
        fitted for rows of any width. None is ``MinHash(random_state=0)``, whose similarity is the
        Jaccard similarity of sets.
    inputs : str, path-like, file-like, or a sequence of these
        Texts (.txt, .jsonl, .csv; .parquet, .arrow) or LIBSVM files, plain or, except Parquet and
        Arrow, compressed (.gz, .bz2, .xz, .zst); "-" is standard input. A directory is read as its
        files in the order of their names, and a pattern with ``*``, ``?`` or ``[`` as the matching
        files. Clusters may have records of several inputs.
    output : str, path-like or file-like
        The file to write. The ending of its name determines the compression; "-" is standard
        output. If it is an existing directory, or a name that ends in a slash, each input gets an
        output of the same name there.
    source : Texts, Svmlight, str or None, default=None
        Kind of the inputs. A string is the analyzer of raw texts: "auto:5" is
        ``Texts("auto:5")``. None is ``Texts()`` if the inputs are texts by their names,
        and otherwise ``Svmlight()``.
    [options]

    Returns
    -------
    result : Deduplicated
        `n_records`, `n_kept`; `n_clusters`, the clusters of several records; `largest`, the size of
        the largest cluster; the numbers of removed records that are equal to a kept one
        (`n_equal`), similar to a kept one (`n_near`), or similar to an earlier delivery
        (`n_earlier`); `n_unordered`, the records without the number that `keep` names; `n_bad`, the
        records that could not be read and are not counted above; and `files`, with `input`,
        `output`, `n_records`, `n_kept` and `skipped` of each input.

    Raises
    ------
    ValueError
        If a parameter is not allowed; if an output is an input; if a record is bad, with file and
        line; if `against` has codes of another map; if an input changes during the run.
    OSError
        If a file cannot be read or written. An output is either complete or missing.

    See Also
    --------
    sparsemaps.neighbors.similar_pairs, sparsemaps.neighbors.clusters : The same for codes.

    Notes
    -----
    A record without samples, such as a text that is too short for one n-gram, is not similar to any
    other. It is kept unless an earlier record has the same text or the same LIBSVM line.

    Lines that are not records (blank lines of JSON, comments) are omitted. A last line without a
    line end gets one if another record follows. Each row group of Parquet is filtered separately,
    with all columns, the schema and the compression; a group of more than 256 MB is split.

    Results are stored in the directory ``OUTPUT.stages``, under names with a digest of their
    recipe. After a complete run they also have plain names: ``codes.npy``, which `PackedCodes`
    loads and `against` takes, with lengths and digests next to it; ``removed.npy``,
    ``clusters.npy`` and ``kept.npy``. Results of other recipes are then removed. The directory may
    be deleted. If a run is interrupted, the next one continues with the first incomplete result.
    For standard output, the results are in a temporary folder.

    Besides the codes, which are memory-mapped, the memory is about 50 bytes per record, for any
    number of pairs; with Parquet, also the kept rows of a group, or 256 MB of them.

    `exact` does not apply to `against`, since only the codes of earlier deliveries are known.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps.files import Texts, deduplicate_files
    >>> lines = b"a cat sat on the mat\nthe dog ate\na cat sat on the mat\n"
    >>> output = BytesIO()
    >>> result = deduplicate_files(
    ...     None, BytesIO(lines), output, source=Texts("word:2", format="txt")
    ... )
    >>> result.n_records, result.n_kept, result.n_clusters, result.largest
    (3, 2, 1, 2)
    >>> output.getvalue()
    b'a cat sat on the mat\nthe dog ate\n'
    """
    search, run_ = Search.of(options), Run.of(options)
    removal, tables = Removal.of(options), Tables.of(options)
    paths = expand(inputs)
    kind = by_names(source, paths)
    return Dedup.of(map, paths, output, kind, search, removal, tables).run(run_)


# ---- running -------------------------------------------------------------------------------------


_SHOWN = (
    ("codes", CODES), ("codes-join", CODES), ("clusters", CLUSTERS), ("removals", REMOVED),
    ("frequencies", FREQUENCIES), ("frequencies-join", FREQUENCIES),
)  # fmt: skip
"""Stages whose results the tables and the report use. A stage that joins parts comes after the
stage that makes them."""


class Dedup(DedupPlan):
    """A deduplication that can run."""

    stages = stages

    def run(self, how: Run) -> Deduplicated:
        """Run all tasks or a share of them; the numbers of a share are 0."""
        self.check(how)
        is_share = how.task is not None
        has_directory = is_directory(self.output) and not self.tables.dry_run
        if has_directory:
            _output_files.make_folder(self.output)
        with opened(self.folder, shared=is_share) as results, ExitStack() as stack:
            if has_directory and not is_share:
                _output_files.remove_temporaries(self.output)
            plan = replace(self, inputs=spooled(self.inputs, stack))
            made = plan.make(results, how)
            if is_share:
                return Deduplicated(0, 0, 0, 0, [], 0, 0, 0)
            kept = KeptCounts(*counts(made["kept"][0].value, len(KeptCounts._fields), "kept"))
            numbers = Deduplicated(files=[], **kept._asdict())
            files = {name: made[stage][0].path for stage, name in _SHOWN if stage in made}
            if self.removal.key_field is not None:
                keys = numbers_beside(files[CODES], KEYS, kept.n_records)
                numbers = numbers._replace(n_unordered=int(np.isnan(keys).sum()))
            if self.tables.files():
                write_evidence(plan, files, numbers.named_counts(), how.n_jobs)
        written = [] if self.tables.dry_run else self.files
        for (output, paths), result in zip(written, made.get("outputs", []), strict=True):
            sizes = counts(result.value, 2 * len(paths), output)
            numbers.files.extend(
                DeduplicatedFile(path, output, n, n_kept_here, not result.is_new)
                for path, n, n_kept_here in zip(paths, sizes[::2], sizes[1::2], strict=True)
            )
        return numbers
