"""Files to files: each range of bytes of the inputs becomes one part in a directory."""

import os
from collections.abc import Mapping
from typing import Any

from dask.delayed import delayed

from sparsemaps._tools._checks import LARGEST_INT, check_bool, check_int
from sparsemaps.dask._engine import Workers
from sparsemaps.dask._graphs import compute_each
from sparsemaps.dask._ranges import ByteRange, cut, find_inputs
from sparsemaps.dask._url_results import UrlResults
from sparsemaps.files._job import Job, make_job
from sparsemaps.files._job_options import Svmlight, Texts, as_source
from sparsemaps.files._rows import read_pieces
from sparsemaps.files._tasks import Running, Stage, Task
from sparsemaps.files._text_rows import TextRows, with_classes


def map_files(
    map: Any,
    inputs: Any,
    directory: str | os.PathLike[str],
    *,
    partition_bytes: int = 2**26,
    source: Texts | Svmlight | str | None = None,
    format: str = "svmlight",
    ones: bool = False,
    comments: bool = False,
    client: Any = None,
    resume: bool = True,
    progress: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> list[str]:
    """Map the rows of LIBSVM files on a Dask cluster.

    Every input is cut into ranges of bytes, at ends of lines. A task reads one range and writes one
    part, block by block. So the memory of a worker does not depend on the sizes of inputs and
    parts. A part appears under its name when it is complete. It has the same bytes whichever task
    writes it. So a worker may be lost, and a task may run again, at any moment.

    Parameters
    ----------
    map : map of sparsemaps
        A fitted map is used as it is. Of other maps, a copy is fitted for rows of any width; choose
        a `random_state`, so that other files are mapped in the same way.
    inputs : str, path-like, or a sequence of these
        LIBSVM files (.gz, .bz2, .xz, .zst), by paths or by URLs of any file system that fsspec
        knows and every worker reaches. A directory stands for its files in the order of their
        names; a pattern with ``*``, ``?`` or ``[`` for the files that match. A compressed file is
        one part, as it can be read from its beginning only.
    directory : str or path-like
        The path or URL of a directory for the parts, which is made if it does not exist.
    partition_bytes : int, default=2**26
        Largest length of a range. A task costs the scheduler a millisecond, and parts that a lost
        worker was writing are written again. So choose ranges that take seconds to minutes.
    source : Texts, Svmlight, str or None, default=None
        As in `sparsemaps.files.map_files`. A Parquet file is one part. Labels that are strings have
        the same numbers in all parts: tasks read the labels of all inputs first.
    format, ones, comments
        As in `sparsemaps.files.map_files`.
    client : distributed.Client or None, default=None
        Where tasks run. None takes the client that is current; without one, the scheduler that
        Dask is configured for, which is threads of this process.
    resume : bool, default=True
        Whether to keep the parts that are complete already. A file PART.json beside each part says
        what it is made of: map, options, and path, size, time and range of the input. Where one of
        these is another one, the part is made again, and parts of an earlier run that this one does
        not have are removed. False makes all parts again.
    progress : bool or None, default=None
        Whether to show a bar of the parts that are complete on standard error, in bytes of the
        input; None shows it if standard error is a terminal.
    storage_options : mapping or None, default=None
        Options of fsspec for `inputs` and `directory`, such as keys.

    Returns
    -------
    parts : list of str
        The parts' paths or URLs. Their names sort in the order of the rows. LIBSVM parts one after
        the other are byte for byte what ``sparsemaps map`` writes for the same inputs.

    Raises
    ------
    ValueError
        If a parameter is not allowed, or `directory` has files part-... that no run has made. If a
        line is not of the format, or the map refuses its row; the error names file and line.
        Complete parts stay.
    OSError
        If a file cannot be read or written.

    See Also
    --------
    sparsemaps.files.map_files : On one machine.

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
    given = as_source(source) or Svmlight()
    job = make_job(map, given, format=format, ones=ones, comments=comments)
    check_int("partition_bytes", partition_bytes, 1, LARGEST_INT)
    check_bool("resume", resume)
    if progress is not None:
        check_bool("progress", progress)
    files = find_inputs(inputs, storage_options)
    format_of = job.source.format
    ranges = cut(files, partition_bytes, lambda path: format_of(path).is_cut_by_bytes)
    job = _with_classes(job, ranges, client)
    results = UrlResults(directory, storage_options)
    names = [f"part-{number:06d}{job.ending or '.svm'}" for number in range(len(ranges))]
    results.refuse_inputs(file.path for file in files)
    results.begin()
    recipe = job.recipe()
    tasks = []
    for name, one in zip(names, ranges, strict=True):
        about = {**recipe, "input": [*one[:3], *one.version, format_of(one).name]}
        tasks.append(Task(name, about, one, one.n_bytes, name))
    stage = Stage("map", tasks, job.make, ("", *job.beside))
    with results.locked():
        Running(progress, resume, Workers(client)).run([stage], results, None)
        results.end(names)
    return [results.path(name) for name in names]


def _with_classes(job: Job, ranges: list[ByteRange], client: Any) -> Job:
    """Return the job with the numbers of labels that are strings or booleans, in any range."""
    if not isinstance(job.source, TextRows) or job.source.given.label_field is None:
        return job
    labels: set[Any] = set()
    source = delayed(job.source, traverse=False)
    compute_each(ranges, _labels_of, lambda _, new: labels.update(new), client, source=source)
    return job._replace(source=with_classes(job.source, labels))


def _labels_of(part: ByteRange, *, source: TextRows) -> set[Any]:
    pieces = read_pieces(source, part, source.distinct_labels, n_jobs=None)
    return {label for some in pieces for label in some if isinstance(label, (str, bool))}
