"""Files to files: each range of bytes of the inputs becomes one part in a directory."""

import contextlib
import json
import os
import tempfile
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import fsspec
from dask.delayed import delayed

from sparsemaps._tools._checks import LARGEST_INT, check_bool, check_int
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._progress import Progress
from sparsemaps.dask._graphs import compute_each
from sparsemaps.dask._ranges import ByteRange, cut, find_inputs, full_name, is_local
from sparsemaps.files._job import Job, make_job
from sparsemaps.files._record import difference, read_record
from sparsemaps.files._rows import read_pieces
from sparsemaps.files._text_rows import TextRows, with_classes

_RECORD = "_sparsemaps.json"

_TEMPORARY = (".part-", ".sparsemaps-", f".{_RECORD}")
"""Beginnings of the names of files that are not complete."""

_OPTIONS = (
    *("zero_based", "ones", "comments", "max_line_bytes"),
    *("texts", "field", "label_field", "id_field", "token_pattern", "text_format"),
)


def map_files(
    map: Any,
    inputs: Any,
    directory: str | os.PathLike[str],
    *,
    partition_bytes: int = 2**26,
    format: str = "svmlight",
    client: Any = None,
    resume: bool = True,
    progress: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[str]:
    """Map the rows of LIBSVM files on a Dask cluster.

    Every input is cut into ranges of bytes, at ends of lines. A task reads one range and writes one
    part, block by block, so that the memory of a worker does not depend on the sizes of inputs and
    parts. A part appears under its name when it is complete, and has the same bytes whichever task
    writes it. So a worker may be lost, and a task run again, at any moment.

    Parameters
    ----------
    map : map of sparsemaps
        A fitted map is used as it is. Of other maps, a copy is fitted for rows of any width; choose
        a `random_state`, so that other files are mapped in the same way.
    inputs : str, path-like, or a sequence of these
        LIBSVM files (.gz, .bz2, .xz), by paths or by URLs of any file system that fsspec knows and
        every worker reaches. A directory stands for its files in the order of their names; a
        pattern with ``*``, ``?`` or ``[`` for the files that match. A compressed file is one part,
        as it can be read from its beginning only.
    directory : str or path-like
        The path or URL of a directory for the parts, which is made if it does not exist.
    partition_bytes : int, default=2**26
        Largest length of a range. A task costs the scheduler a millisecond, and parts that a lost
        worker was writing are written again. So choose ranges that take seconds to minutes.
    format : {"svmlight", "npy", "npz"}, default="svmlight"
        As in `sparsemaps.files.map_files`.
    client : distributed.Client or None, default=None
        Where tasks run. None takes the client that is current; without one, the scheduler that
        Dask is configured for, which is threads of this process.
    resume : bool, default=True
        Whether to keep the parts of an earlier run of the same call, and make the others. A file
        ``_sparsemaps.json`` in `directory` says what the parts are made of; another map, option or
        input is an error. False removes the parts of the earlier run.
    progress : bool or None, default=None
        Whether to show a bar of the parts that are complete on standard error, in bytes of the
        input; None shows it if standard error is a terminal.
    storage_options : mapping or None, default=None
        Options of fsspec for `inputs` and `directory`, such as keys.
    **options
        `zero_based`, `ones`, `comments`, `max_line_bytes`, and `texts`, `field`, `label_field`,
        `id_field`, `token_pattern` and `text_format`, as in `sparsemaps.files.map_files`. A Parquet
        file is one part. Labels that are strings have the same numbers in all parts: tasks read
        the labels of all inputs first.

    Returns
    -------
    parts : list of str
        The parts' paths or URLs. Their names sort in the order of the rows. LIBSVM parts one after
        the other are byte for byte what ``sparsemaps map`` writes for the same inputs.

    Raises
    ------
    ValueError
        If a parameter is not allowed, or `directory` has parts of another call. If a line is not of
        the format, or the map refuses its row; the error names file and line. Complete parts stay.
    OSError
        If a file cannot be read or written.

    See Also
    --------
    sparsemaps.files.map_files : On one machine.
    read_svmlight : Dask arrays of the rows.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.dask import map_files
    >>> cws = ConsistentWeightedSampling(n_hashes=3, bits=2, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "rows.svm")
    ...     _ = file.write_text("1 1:0.5 3:2\\n-1 2:7\\n")
    ...     parts = map_files(cws, file, Path(folder, "mapped"), partition_bytes=12, ones=True)
    ...     for part in map(Path, parts):
    ...         print(part.name, part.read_text().split())
    part-000000.svm ['1', '1:1', '8:1', '12:1']
    part-000001.svm ['-1', '4:1', '5:1', '11:1']
    """
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"map_files() got an unexpected keyword argument {name!r}")
    job = make_job(map, format=format, **options)
    return run_job(
        job, inputs, directory, partition_bytes, client=client, resume=resume, progress=progress,
        storage_options=storage_options,
    )  # fmt: skip


def run_job(
    job: Job,
    inputs: Any,
    directory: str | os.PathLike[str],
    partition_bytes: int = 2**26,
    *,
    client: Any = None,
    resume: bool = True,
    progress: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> list[str]:
    """Run a job as `map_files` does."""
    check_int("partition_bytes", partition_bytes, 1, LARGEST_INT)
    check_bool("resume", resume)
    if progress is not None:
        check_bool("progress", progress)
    ending = {"svmlight": ".svm", "npz": ".npz"}.get(job.format, ".npy")
    files = find_inputs(inputs, storage_options)
    ranges = cut(files, partition_bytes, storage_options, job.is_cut)
    job = _with_classes(job, ranges, client)
    parts = _Parts.at(directory, storage_options)
    record = job.record(partition_bytes=partition_bytes)
    record["inputs"] = [list(file) for file in files]
    parts.refuse_inputs(path for path, _, _ in files)
    complete = parts.begin(record, resume)
    names = [f"part-{number:06d}{ending}" for number in range(len(ranges))]
    to_do = [pair for pair in zip(ranges, names, strict=True) if pair[1] not in complete]
    sizes = {path: size for path, size, _ in files}

    def n_bytes(part: ByteRange) -> int:
        return sizes[part.path] if part.length < 0 else part.length

    shared = delayed((job, parts), traverse=False)
    with Progress(sum(n_bytes(part) for part, _ in to_do), progress) as bar:
        compute_each(
            to_do,
            _run,
            lambda item, n_rows: bar.add(n_bytes(item[0]), n_rows),
            client,
            shared=shared,
        )
    parts.end()
    return [parts.full_name(name) for name in names]


def _with_classes(job: Job, ranges: list[ByteRange], client: Any) -> Job:
    """The job with the numbers of labels that are strings, in any range."""
    if not isinstance(job.source, TextRows) or job.source.label_field is None:
        return job
    labels: set[Any] = set()
    source = delayed(job.source, traverse=False)
    compute_each(ranges, _labels_of, lambda _, new: labels.update(new), client, source=source)
    return job._replace(source=with_classes(job.source, labels))


def _labels_of(part: ByteRange, *, source: TextRows) -> set[Any]:
    sets = read_pieces(source, part, source.distinct_labels, None)
    labels: set[Any] = set().union(*sets)
    # If there are numbers, one is enough to say that labels are not all strings.
    numbers = [label for label in labels if isinstance(label, float)]
    return {*numbers[:1], *(label for label in labels if isinstance(label, str))}


class _Parts(NamedTuple):
    """The directory of the parts."""

    url: str
    storage_options: Mapping[str, Any] | None

    @classmethod
    def at(cls, directory: Any, storage_options: Mapping[str, Any] | None) -> "_Parts":
        fs, path = fsspec.core.url_to_fs(os.fspath(directory), **(storage_options or {}))
        return cls(full_name(fs, path), storage_options)

    def _open(self) -> tuple[Any, str]:
        fs, path = fsspec.core.url_to_fs(self.url, **(self.storage_options or {}))
        return fs, path.rstrip("/") or "/"

    def full_name(self, name: str) -> str:
        return f"{self.url.rstrip('/')}/{name}"

    def begin(self, record: Mapping[str, Any], resume: bool) -> set[str]:
        """Prepare the directory for the parts of `record`; returns the names of its parts."""
        fs, path = self._open()
        fs.makedirs(path, exist_ok=True)
        names = self._names()
        parts = {name for name in names if name.startswith("part-")}
        if _RECORD in names:
            before = read_record(fs.cat_file(f"{path}/{_RECORD}"))
            if not resume:
                fs.rm_file(f"{path}/{_RECORD}")  # first, as it speaks of all parts
                for name in parts:
                    fs.rm_file(f"{path}/{name}")
                parts = set()
            elif before is None:
                raise ValueError(
                    f"{path}/{_RECORD} is damaged; take another directory, or "
                    f"{setting('resume', False)}, which removes the parts"
                )
            elif (other := difference(before, record)) is not None:
                raise ValueError(
                    f"{self.url} has parts of another call, made with {other}; take "
                    f"another directory, or {setting('resume', False)}, which removes them"
                )
            else:
                return parts
        if parts:
            raise ValueError(
                f"{self.url} has files part-..., and no {_RECORD} that says what they are; take "
                "another directory"
            )
        with tempfile.TemporaryDirectory() as folder:
            local = os.path.join(folder, _RECORD)
            with open(local, "w", encoding="utf-8") as file:
                json.dump(record, file, indent=1)
            self.publish(local, _RECORD)
        return parts

    def refuse_inputs(self, inputs: Iterable[str]) -> None:
        """Raise a ValueError if an input has the name of a file that is written or removed."""
        fs, directory = self._open()
        place = os.path.realpath if is_local(fs) else str
        begins = place(directory) if is_local(fs) else self.url.rstrip("/")
        for path in inputs:
            name = place(path).removeprefix(f"{begins}/")
            if name.startswith(("part-", _RECORD, *_TEMPORARY)):
                raise ValueError(
                    f"the input {path} has the name of a file that is written to {self.url}; take "
                    "another directory"
                )

    def end(self) -> None:
        """Remove the temporary files of tasks that were ended."""
        fs, path = self._open()
        for name in self._names():
            if name.startswith(_TEMPORARY):
                with contextlib.suppress(FileNotFoundError):  # by a task that ended just now
                    fs.rm_file(f"{path}/{name}")

    def _names(self) -> set[str]:
        fs, path = self._open()
        fs.invalidate_cache(path)
        return {os.path.basename(str(name)) for name in fs.ls(path, detail=False)}

    def local_path(self, name: str) -> str | None:
        """The path of a part on this machine; None if parts are on another file system."""
        fs, path = self._open()
        return f"{path}/{name}" if is_local(fs) else None

    def publish(self, local: str, name: str) -> None:
        """Copy a file of this machine to the directory, where it appears when it is complete."""
        fs, path = self._open()
        temporary = f"{path}/.{name}.{uuid.uuid4().hex}.tmp"
        fs.put_file(local, temporary)
        fs.mv(temporary, f"{path}/{name}")


def _run(item: tuple[ByteRange, str], *, shared: tuple[Job, _Parts]) -> int:
    """Write the part of a range; returns its number of rows. Each run writes the same bytes."""
    part, name = item
    job, parts = shared
    path = parts.local_path(name)
    if path is not None:
        return job.run([part], path)[0].n_rows
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        (mapped,) = job.run([part], path)
        for ending in (*job.names().beside, ""):  # the part itself appears last
            if os.path.exists(path + ending):
                parts.publish(path + ending, name + ending)
    return mapped.n_rows
