"""`similar_pairs_of_files`: near-duplicates among the rows of files, for ``sparsemaps pairs``."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools import _checks, _output_files, _text_input, _threads
from sparsemaps._tools._distinct import distinct
from sparsemaps._tools._locks import one_writer
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import (
    RECORD,
    expand,
    is_regular,
    is_standard,
    known_inputs,
    refuse_changes,
)
from sparsemaps._tools._stages import KeptStages, Stages
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._coded_rows import CodedRows, Encoder, holds_codes
from sparsemaps.files._job import source_of
from sparsemaps.files._record import (
    difference,
    make_record,
    record_beside,
    write_beside,
)
from sparsemaps.files._rows import LibsvmRows, stacked
from sparsemaps.files._text_rows import TextRows
from sparsemaps.maps._config import from_config
from sparsemaps.maps._sparse_map import as_fitted
from sparsemaps.neighbors import _containment, _hashing, _search
from sparsemaps.neighbors._exact import exact_pairs

_LINES = 2**14
"""Lines that are written at a time."""

STAGES = ".stages"
"""What the name of the folder of a run that is not complete ends with."""


class FoundPairs(NamedTuple):
    """Numbers of rows of the inputs, of rows of `other`, and of pairs; and whether the output was
    complete before (`resume`)."""

    n_rows: int
    n_other: int
    n_pairs: int
    skipped: bool


def similar_pairs_of_files(
    map: Any,
    inputs: Any,
    output: Any,
    *,
    threshold: float = 0.8,
    other: Any = None,
    recall: float = 0.95,
    exact: bool = False,
    containment: bool = False,
    zero_based: bool = False,
    texts: str | None = None,
    field: str = "text",
    id_field: str | None = None,
    token_pattern: str | None = None,
    text_format: str | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: bool = False,
    max_bytes: int = _hashing.MAX_BYTES,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> FoundPairs:
    r"""Write the pairs of similar rows of files.

    The command ``sparsemaps pairs`` calls this function. Each line of the output has the numbers of
    two rows, from 1 through all inputs, or their ids, and their similarity with six decimals. Where
    LIBSVM files have comments, the comments of the two lines follow. Columns are separated by tabs.
    The output appears when it is complete.

    Parameters
    ----------
    map : sampled map or None
        As for `map_files`. None takes the map of the first file of codes.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files, or with `texts` raw texts; files of packed codes (.npy), as `map_files` and
        `sparsemaps.codes.PackedCodes.save` write them; directories and patterns. Each input is read
        once, one after the other. Codes are kept in memory. Files of codes are mapped into memory;
        if there are several inputs, their codes are joined in a temporary file beside the output.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); "-" is standard output.
    threshold : float, default=0.8
        The least similarity, above 0, at most 1.
    other : as `inputs`, or None, default=None
        Inputs for pairs of a row of `inputs` and a row of these; None is for pairs within `inputs`.
    recall : float, default=0.95
        The probability with which a pair at the threshold is written, above 0, at most 1; 1
        compares all pairs.
    exact : bool, default=False
        Whether the exact kernel decides, among pairs whose estimates may be a little lower, and is
        written. The rows are then kept in memory.
    containment : bool, default=False
        For `MinHash`, whether to write pairs of which the first set is contained in the second, up
        to `threshold`, as `sparsemaps.neighbors.contained_pairs` returns them. With `exact` fewer
        hashes are enough.
    zero_based, texts, field, id_field, token_pattern, text_format, n_jobs, progress, max_line_bytes
        As for `map_files`.
    resume : bool, default=False
        Whether to keep the results of steps in the folder OUTPUT.stages until the output is
        complete, and to start from the results of an earlier run, which may have been killed. A
        file OUTPUT.json then says what the output was made of, and a complete output is not made
        again. Other parameters or inputs are an error. The results are codes, and pairs of each
        part of the search, which with `containment` are two classes of sizes. With `exact`, inputs
        are read again.
    max_bytes : int, default=2**30
        As for `sparsemaps.neighbors.similar_pairs`.

    Returns
    -------
    answer : FoundPairs
        The numbers of rows (`n_rows`), of rows of `other` (`n_other`), and of pairs (`n_pairs`);
        and `skipped`, whether the output was complete before.

    Raises
    ------
    ValueError
        If a parameter is not allowed, codes of inputs are of different maps, seeds or vectorizers,
        or a line is not of its format.
    OSError
        If a file cannot be read or written.

    See Also
    --------
    sparsemaps.neighbors.similar_pairs : Pairs of codes in memory.

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
    paths, others = expand(inputs), [] if other is None else expand(other)
    read = [*paths, *others]
    for name, value in (("exact", exact), ("containment", containment), ("resume", resume)):
        _checks.check_bool(name, value)
    job = _Job(
        _map_of(map, read), _search.check_share("threshold", threshold),
        _search.check_share("recall", recall), exact, containment, n_jobs,
        _checks.check_int("max_bytes", max_bytes, 2**20, _checks.LARGEST_INT),
    )  # fmt: skip
    job.check(read)
    what = {
        "zero_based": zero_based, "field": field, "id_field": id_field,
        "token_pattern": token_pattern, "text_format": text_format,
    }  # fmt: skip
    source, config = _source(job.map, read, texts, max_line_bytes=max_line_bytes, **what)
    encoder = Encoder(job.map, source, config, keep_rows=exact)
    target = None if hasattr(output, "write") else os.fspath(output)
    if not resume:
        written = [] if target is None else [(target, _output_files.OUTPUT)]
        _output_files.refuse_clashes(read, written)
        paths, others = _known(paths, others)
        with _temporary_folder(target, read) as folder:
            return job.run(encoder, paths, others, output, progress, Stages(progress), folder)
    if target is None or not all(is_regular(path) for path in [target, *read]):
        raise ValueError(f"{setting('resume', True)} needs inputs and an output that are files")
    beside = [(target + ending, f"a file beside {target}") for ending in (RECORD, STAGES)]
    _output_files.refuse_clashes(read, [(target, _output_files.OUTPUT), *beside])
    paths, others = _known(paths, others)
    states = [[path.path, *path.state.values()] for path in (*paths, *others)]
    record = job.record({**what, "texts": config, "inputs": states})
    answer = _complete(target, record)
    if answer is None:
        with one_writer(target + STAGES):
            stages = _begin(target, record, progress)
            answer = job.run(encoder, paths, others, target, progress, stages, None)
            _finish(target, record, answer)
            stages.remove()
    return answer


def _known(paths: list[Any], others: list[Any]) -> tuple[list[Any], list[Any]]:
    """The inputs as they are now; none of them may be a stream that is given twice."""
    known = known_inputs([*paths, *others])
    return known[: len(paths)], known[len(paths) :]


class _Job(NamedTuple):
    """The map and the options that decide the pairs, after a check."""

    map: Any
    threshold: float
    recall: float
    exact: bool
    containment: bool
    n_jobs: int | None
    max_bytes: int

    def check(self, read: list[Any]) -> None:
        """Raise where options exclude one another, or exclude an input."""
        _threads.resolve_n_jobs(self.n_jobs)
        coded = [path for path in read if holds_codes(path)]
        if self.exact and coded:
            raise ValueError(
                f"{setting('exact', True)} needs rows, and {coded[0]} is a file of codes"
            )
        if self.containment and self.map is not None and not self.map.law.knows_sizes:
            raise ValueError(f"{setting('containment', True)} is for MinHash")

    def record(self, more: dict[str, Any]) -> dict[str, Any]:
        """The record of the output, for resuming."""
        names = ("threshold", "recall", "exact", "containment")
        return make_record(self.map, {**{name: getattr(self, name) for name in names}, **more})

    def run(
        self, encoder: Encoder, paths: list[Any], others: list[Any], output: Any,
        progress: bool | None, stages: Stages, folder: str | None,
    ) -> FoundPairs:  # fmt: skip
        """Find the pairs and write them."""
        opened = (
            contextlib.nullcontext(output)
            if hasattr(output, "write")
            else _output_files.atomic_output(output)
        )
        with opened as out:
            with FileProgress([*paths, *others], progress) as bar:
                how = bar, self.n_jobs, stages, folder
                rows = encoder.read("rows", paths, *how)
                second = encoder.read("other", others, *how) if others else None
            i, j, value = self._find(rows, second, stages)
            _write_lines(out, rows, second, i, j, value)
            refuse_changes([*paths, *others])
        n_other = 0 if second is None else second.names.n_rows
        return FoundPairs(rows.names.n_rows, n_other, len(i), False)

    def _find(
        self, rows: CodedRows, second: CodedRows | None, stages: Stages
    ) -> tuple[Array, Array, Array]:
        codes, other = rows.codes, None if second is None else second.codes
        if codes is None or (second is not None and other is None):
            none = np.empty(0, np.int64)
            return none, none, np.empty(0)
        if self.exact:
            return self._exactly(codes, other, rows.X, None if second is None else second.X, stages)
        how = codes, other, self.threshold, self.recall
        if self.containment:
            return _containment.contained(*how, self.n_jobs, self._sizes, stages)[:3]
        return _search.similar(*how, _search.MAX_BUCKET, self.n_jobs, self._sizes, stages)

    @property
    def _sizes(self) -> _hashing.Sizes:
        return _hashing.Sizes(keys=self.max_bytes // 8)

    def _exactly(
        self, codes: PackedCodes, other: PackedCodes | None, X: list[Any], Y: list[Any] | None,
        stages: Stages,
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """Of candidates, those whose exact value is at least the threshold."""
        how = codes, other, self.threshold, self.recall, self.n_jobs
        if self.containment:
            i, j = _containment.candidates(*how, self._sizes, stages)
        else:
            i, j = _search.candidates(*how, sizes=self._sizes, stages=stages)
        width = max(1, *(block.shape[1] for block in [*X, *(Y or [])]))
        first = stacked(X, width)
        value = exact_pairs(self.map, first, first if Y is None else stacked(Y, width), i, j)
        if self.containment:
            value = _containment.of_similarity(value, codes, other, i, j)
        kept = _search.reaches(value, self.threshold)
        return i[kept], j[kept], value[kept]


def _map_of(map: Any, read: list[Any]) -> Any:
    """The fitted map; for None, the map of the first file of codes, or None if all are files of
    codes."""
    if map is not None:
        fitted = as_fitted(map)
        if not fitted.has_codes:
            raise ValueError(f"map must be a map with codes, got {map!r}")
        return fitted
    coded = [path for path in read if holds_codes(path)]
    if not coded:
        raise ValueError("map must be given where no input is a file of codes")
    if len(coded) == len(read):
        return None
    try:
        return from_config(PackedCodes.load(coded[0]).config)
    except ValueError as error:
        raise ValueError(f"{coded[0]}: the map of its codes is not known: {error}") from None


def _source(map: Any, read: list[Any], texts: str | None, **options: Any) -> Any:
    """What inputs are that are no files of codes, and the vectorizer of texts."""
    if map is None:
        if texts is not None:
            raise ValueError(f"{setting('texts', texts)} is for texts; all inputs are codes")
        return LibsvmRows(), None
    source, config = source_of(map, texts, **options)
    for path in read:
        if isinstance(source, TextRows) and not holds_codes(path):
            source.format_of(path)
    return source, config


@contextlib.contextmanager
def _temporary_folder(name: str | None, read: list[Any]) -> Iterator[str | None]:
    """A folder beside the output, where codes of several inputs are joined, if it may be needed."""
    if len(read) == 1 or not any(holds_codes(path) for path in read):
        yield None
        return
    place = None if name is None or is_standard(name) else os.path.dirname(os.path.realpath(name))
    with tempfile.TemporaryDirectory(prefix=".sparsemaps-", suffix=".tmp", dir=place) as folder:
        yield folder


# ---- resuming ------------------------------------------------------------------------------------


def _complete(name: str, record: dict[str, Any]) -> FoundPairs | None:
    """The answer of an earlier run whose output is complete; an error if it is of another job."""
    before = record_beside(name)
    if before is None or not os.path.exists(name):
        return None
    if before.pop("output_size", None) != os.path.getsize(name):
        return None
    numbers: Any = before.pop("found", None)
    other = difference(before, record)
    if other is not None:
        raise ValueError(
            f"{name} is of another map, command or input: made with {other}; write to another "
            "file, or remove it"
        )
    shutil.rmtree(name + STAGES, ignore_errors=True)
    return FoundPairs(numbers[0], numbers[1], numbers[2], skipped=True)


def _begin(name: str, record: dict[str, Any], progress: bool | None) -> KeptStages:
    """The kept results of an earlier run; an error if it is of another job."""
    stages = KeptStages(name + STAGES, progress)
    other = difference(stages.value("record", lambda: record), record)
    if other is not None:
        raise ValueError(
            f"{stages.folder} is of another map, command or input: made with {other}; write to "
            "another file, or remove that folder"
        )
    return stages


def _finish(name: str, record: dict[str, Any], answer: FoundPairs) -> None:
    """Write the record of a complete output."""
    finished = {**record, "output_size": os.path.getsize(name), "found": answer[:3]}
    write_beside(name, finished, synced=False)


# ---- lines ---------------------------------------------------------------------------------------


def _write_lines(
    out: Any, rows: CodedRows, second: CodedRows | None, i: Array, j: Array, value: Array
) -> None:
    names = rows.names, rows.names if second is None else second.names
    named = [one.lookup(distinct(some)) for one, some in zip(names, (i, j), strict=True)]
    has_comments = any(one.comments for one in names)
    for start in range(0, len(i), _LINES):
        some = slice(start, start + _LINES)
        lines = []
        for *pair, similarity in zip(i[some].tolist(), j[some].tolist(), value[some].tolist(),
                                strict=True):  # fmt: skip
            columns = [name(row) for name, row in zip(named, pair, strict=True)]
            columns.append(f"{similarity:.6f}")
            if has_comments:
                columns += [one.comments.get(row, "") for one, row in zip(names, pair, strict=True)]
            lines.append("\t".join(columns) + "\n")
        out.write("".join(lines).encode("utf-8", "surrogateescape"))
