"""Inputs on any file system, and the ranges of bytes of them that tasks read."""

import contextlib
import glob
import io
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import fsspec
import fsspec.compression
import fsspec.utils
from fsspec.implementations.memory import MemoryFileSystem

from sparsemaps._io import _text_input


class ByteRange(NamedTuple):
    """The lines of a file that begin after byte `start` and up to byte `start + length`. The first
    range also has the line that begins at byte 0. A `length` of -1 takes the whole file, as inputs
    are found."""

    path: str
    start: int
    length: int
    storage_options: Mapping[str, Any] | None
    version: tuple[int, str]
    """The size of the file and the text that changes with its content, as the job began."""

    @property
    def n_bytes(self) -> int:
        return self.version[0] if self.length < 0 else self.length

    @contextlib.contextmanager
    def open_text(
        self, max_line_bytes: int = _text_input.MAX_LINE_BYTES
    ) -> Iterator[_text_input.Text]:
        """Yield the text of the range; errors name the file, and count lines from its beginning."""
        name = f"{self.path}: "
        try:
            with _text_input.decompressing(name), _open(self) as file:
                limits = max_line_bytes, self.start, self.length
                yield _text_input.Text(file, file, name, *limits)
        except (OSError, ValueError):  # which a change may have caused
            self.refuse_change()
            raise

    def refuse_change(self) -> None:
        """Raise a ValueError if the file is another one than when the job began."""
        fs, path = fsspec.core.url_to_fs(self.path, **(self.storage_options or {}))
        fs.invalidate_cache(os.path.dirname(path))
        if _describe(fs, fs.info(path), None).version != self.version:
            raise ValueError(f"the input {self.path} has changed meanwhile; run again when it is "
                             "complete")  # fmt: skip


def find_inputs(inputs: Any, storage_options: Mapping[str, Any] | None) -> list[ByteRange]:
    """Return the files that `inputs` stand for.

    A directory stands for its files in the order of their names, but for hidden ones; a pattern
    for the files that match.
    """
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    files: list[ByteRange] = []
    for input in inputs:
        if not isinstance(input, (str, os.PathLike)):
            raise TypeError(f"inputs must be paths or URLs, got {type(input).__name__}")
        files += _find(os.fspath(input), storage_options)
    if not files:
        raise ValueError("inputs: there are no files")
    return files


def _find(input: str, storage_options: Mapping[str, Any] | None) -> list[ByteRange]:
    fs, path = fsspec.core.url_to_fs(input, **(storage_options or {}))
    try:
        info = fs.info(path)
    except FileNotFoundError:
        if not glob.has_magic(path):
            raise FileNotFoundError(2, os.strerror(2), input) from None
        infos = [info for _, info in sorted(fs.glob(path, detail=True).items())]
    else:
        if info["type"] != "directory":
            return [_describe(fs, info, storage_options)]
        infos = sorted(fs.ls(path, detail=True), key=lambda info: str(info["name"]))
        infos = [info for info in infos if not os.path.basename(info["name"]).startswith(".")]
    # Some file systems write the time in lists of files in another way.
    names = [info["name"] for info in infos if info["type"] == "file"]
    files = [_describe(fs, fs.info(name), storage_options) for name in names]
    if not files:
        raise ValueError(f"{input}: there are no files")
    return files


def _describe(
    fs: Any, info: Mapping[str, Any], storage_options: Mapping[str, Any] | None
) -> ByteRange:
    # Each file system has another name for the text or time that changes with the content.
    marks = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")
    version = next((str(info[mark]) for mark in marks if info.get(mark) is not None), "")
    path = full_name(fs, info["name"])
    return ByteRange(path, 0, -1, storage_options, (int(info["size"]), version))


def full_name(fs: Any, path: str) -> str:
    """Return the URL of a path; a path of the operating system's files stays a plain path."""
    return path if is_local(fs) else str(fs.unstrip_protocol(path))


def is_local(fs: Any) -> bool:
    """Return whether a file system is the operating system's."""
    return "file" in ((fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol)


def cut(
    files: Iterable[ByteRange],
    partition_bytes: int,
    is_cut: Callable[[str], bool] = lambda path: True,
) -> list[ByteRange]:
    """Return ranges that together have each line once, in order.

    Ranges of a file differ in length by one byte at most. A compressed file is one range, as it can
    be read from its beginning only. A file without lines, for which `is_cut` is false, is one range
    too.
    """
    ranges = []
    for file in files:
        is_compressed = _text_input.without_compression(file.path) != file.path
        size = partition_bytes if is_compressed or not is_cut(file.path) else file.n_bytes
        n = max(1, -(-size // partition_bytes))
        if n == 1:
            ranges.append(file)
            continue
        ends = [size * i // n for i in range(n + 1)]
        ranges += [
            file._replace(start=start, length=stop - start)
            for start, stop in itertools.pairwise(ends)
        ]
    return ranges


def _open(range: ByteRange) -> Any:
    """Return the file of a range, decompressed."""
    file = fsspec.open(range.path, "rb", compression="infer", **(range.storage_options or {}))
    if not isinstance(file.fs, MemoryFileSystem):
        return file
    # Its readers share one file object with one position, which threads would move.
    own = io.BytesIO(file.fs.cat_file(file.path))
    return fsspec.compression.compr[file.compression](own, mode="rb") if file.compression else own
