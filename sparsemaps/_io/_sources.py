"""Inputs and outputs of a call: files, directories, patterns, pipes."""

import contextlib
import copy
import functools
import glob
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, TypeGuard

from sparsemaps._io import _paths, _text_input, _urls
from sparsemaps._tools._typing import Destination, Reader, StrPath

RECEIPT, LABELS, QIDS, CLASSES, IDS = (
    ".json", ".labels.npy", ".qids.npy", ".classes.tsv", ".ids.txt",
)  # fmt: skip
"""Suffixes of files next to an output: the receipt, labels, query ids, the table of label numbers,
and ids."""

LENGTHS, DIGESTS, COMMENTS, CHECKSUMS, KEYS, BAD = (
    ".lengths.npy", ".digests.npy", ".comments.tsv", ".checksums.npy", ".keys.npy", ".bad.tsv",
)  # fmt: skip
"""Suffixes of files next to codes of records: lengths of the records, digests of records without
samples, comments of lines, checksums, keys that order the records, and unreadable records."""

WEIGHTS = ".weights.npy", ".weights.txt"
"""Suffixes of files of weights next to rows, as an array or as text."""

STAGES = ".stages"
"""Suffix of the folder of the results of stages next to an output."""

SIMILARITY = ".similarity.npy"
"""Suffix of the file of similarities next to pairs of rows."""

BESIDE_ROWS = LABELS, QIDS, CLASSES, IDS
"""Everything that jobs write next to rows, except weights, which users may have put there."""

BESIDE = (
    *BESIDE_ROWS, LENGTHS, DIGESTS, COMMENTS, CHECKSUMS, KEYS, BAD, SIMILARITY, WEIGHTS[0],
)  # fmt: skip
"""Everything that jobs write next to outputs, except the receipt."""


def is_standard(path: object) -> bool:
    """Return whether an input or output is "-", standard input or output."""
    return isinstance(path, (str, os.PathLike)) and os.fspath(path) == "-"


@contextlib.contextmanager
def open_input(
    input: object, max_line_bytes: int = _text_input.MAX_LINE_BYTES
) -> Iterator[_text_input.Text]:
    """Yield the text of an input: a path, "-", a file object, or an object with ``open_text``."""
    if hasattr(input, "open_text"):
        with input.open_text(max_line_bytes) as text:
            yield text
    elif not is_standard(input):
        with _text_input.open_text(input, max_line_bytes) as text:
            yield text
    elif sys.stdin is None:
        raise ValueError("standard input is closed")
    else:
        file = sys.stdin.buffer
        yield _text_input.Text(file, file, "standard input: ", max_line_bytes)


# ---- inputs that a job knows ---------------------------------------------------------------------


class InputFile:
    """A regular file as it was when a job began, or the lines in a range of its bytes. It replaces
    the file's path.

    Every reading raises an error if the size, time or inode of the file has changed.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.given = path  # as shown in tables; `path` may be made absolute
        self._identity = _paths.identity(path)
        self._range = 0, -1

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    @contextlib.contextmanager
    def open_text(self, max_line_bytes: int) -> Iterator[_text_input.Text]:
        try:
            with _text_input.open_text(self.path, max_line_bytes, *self._range) as text:
                yield text
        except (OSError, ValueError):  # which a change may have caused
            self.refuse_change()
            raise
        self.refuse_change()

    @property
    def n_bytes(self) -> int:
        """Length of the range."""
        return self._identity[0] if self._range[1] < 0 else self._range[1]

    @property
    def recipe(self) -> list[Any]:
        """The facts that determine the content, for a later run: path, size, time and range. The
        inode is not included, because a copy has another one."""
        return [_paths.full_path(self.path), *self._identity[:2], *self._range]

    def cut(self, max_bytes: int) -> "list[InputFile]":
        """Return ranges of at most `max_bytes` bytes, which together contain each line once. Their
        lengths differ by at most one byte. A compressed file is a single range, because it can only
        be read from its beginning."""
        size = self._identity[0]
        if size <= max_bytes or _text_input.without_compression(self.path) != self.path:
            return [self]
        n = -(-size // max_bytes)
        parts = [copy.copy(self) for _ in range(n)]
        for i, part in enumerate(parts):
            part.path = self.path  # copies have the absolute path
            part._range = size * i // n, size * (i + 1) // n - size * i // n
        return parts

    @functools.cached_property
    def lines_before(self) -> int:
        """Number of lines before the range. They must be read to be counted."""
        if not self._range[0]:
            return 0
        with self.open_text(_text_input.MAX_LINE_BYTES) as text:
            next(text.blocks(1), None)
            return text.lines_before()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the absolute path, because another process may have another current
        directory. Copies of the object get this state too."""
        return {**self.__dict__, "path": _paths.full_path(self.path)}

    def refuse_change(self) -> None:
        """Raise a ValueError if the file has changed since the beginning."""
        try:
            now = _paths.identity(self.path)
        except OSError:
            raise ValueError(f"the input {self.path} was removed during the run") from None
        for what, before, after in zip(_IDENTITY, self._identity, now, strict=True):
            if before != after:
                raise ValueError(
                    f"the input {self.path} changed during the run: its {what} was {before}, and "
                    f"is now {after}; run again when the file is complete"
                )


_IDENTITY = "size", "time in nanoseconds", "inode"


class SpooledInput:
    """The content of an input that can be read only once, in a temporary file for repeated
    reading."""

    def __init__(self, input: object, stack: contextlib.ExitStack) -> None:
        self.path = input
        self._file = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        with open_input(input) as text:
            self._name = text.name
            shutil.copyfileobj(text.file, self._file, 2**20)

    @contextlib.contextmanager
    def open_text(self, max_line_bytes: int) -> Iterator[_text_input.Text]:
        self._file.seek(0)
        yield _text_input.Text(self._file, self._file, self._name, max_line_bytes)


Input: TypeAlias = InputFile | SpooledInput | StrPath | Reader
"""An input of a job: a file known to it, or a source that can be read only once."""


def known_inputs(inputs: Iterable[Any]) -> list[Any]:
    """Return the inputs of a job, with the paths of regular files replaced by `InputFile`.

    The others can be read only once: "-", file objects, named pipes, devices. Raise a ValueError if
    such an input is given twice.
    """
    known: list[Any] = []
    streams: set[Any] = set()
    for input in inputs:
        if is_regular(input):
            known.append(InputFile(os.fspath(input)))
            continue
        stream = _stream(input)
        if stream in streams:
            name = "standard input" if is_standard(input) else getattr(input, "name", input)
            raise ValueError(f"{name} is given twice, but can only be read once")
        streams.add(stream)
        known.append(input)
    return known


def are_files(inputs: Iterable[Any]) -> bool:
    """Return whether all inputs of a job (from `known_inputs`) are regular files."""
    return all(isinstance(input, InputFile) for input in inputs)


def n_bytes_of(inputs: Iterable[Any]) -> int:
    """Return the total size of the inputs of a job. Inputs of unknown size count as 0."""
    return sum(getattr(input, "n_bytes", 0) for input in inputs)


def is_regular(input: object) -> TypeGuard[StrPath]:
    """Return whether an input is the path of a regular file, or of a file that does not exist."""
    if not isinstance(input, (str, os.PathLike)) or is_standard(input):
        return False
    if _urls.is_url(input):
        return True
    return os.path.isfile(input) or not os.path.exists(input)


def _stream(input: object) -> Any:
    """Return a value that identifies an input that can be read only once."""
    if not isinstance(input, (str, os.PathLike)):
        return id(input)
    try:
        about = os.fstat(sys.stdin.fileno()) if is_standard(input) else os.stat(input)
    except (OSError, ValueError, AttributeError):  # standard input is closed, or an object
        return input
    return about.st_dev, about.st_ino


def spooled(inputs: list[Any], stack: contextlib.ExitStack) -> list[Any]:
    """Return known inputs that can be read repeatedly, as long as `stack` is open."""
    return [one if hasattr(one, "open_text") else SpooledInput(one, stack) for one in inputs]


def refuse_changes(inputs: Iterable[Any]) -> None:
    """Raise a ValueError if a file has changed since the job began."""
    for input in inputs:
        if hasattr(input, "refuse_change"):
            input.refuse_change()


def refuse_inside(folder: str, paths: list[Any]) -> None:
    """Raise a ValueError if an input is a file in the folder of stages."""
    place = _paths.real_path(folder)
    for path in paths:
        if is_regular(path) and os.path.dirname(_paths.real_path(path)) == place:
            raise ValueError(f"the input {path} is in the folder of stages; move it elsewhere")


# ---- names ---------------------------------------------------------------------------------------


def is_directory(output: Destination) -> TypeGuard[StrPath]:
    """Return whether an output is a directory: its name ends with a slash, or the directory
    exists."""
    if hasattr(output, "write"):
        return False
    path: Any = output
    name = os.fspath(path)
    if _urls.is_url(name):
        _urls.refuse_read_only(name)
    return name.endswith(("/", os.sep)) or _paths.is_folder(name)


def expand(inputs: Any) -> list[Any]:
    """Return inputs as a list of files, with directories and patterns expanded."""
    if isinstance(inputs, (str, os.PathLike)) or hasattr(inputs, "read"):
        inputs = [inputs]
    paths: list[Any] = []
    for input in inputs:
        if hasattr(input, "read"):
            paths.append(input)
            continue
        if isinstance(input, str) and input.lower().startswith("file://"):
            input = _urls.system_of(input)[1]
        name = os.fspath(input)
        if _paths.is_folder(name):
            files = _inputs_in(name)
        elif glob.has_magic(name) and not _paths.exists(name):
            files = _paths.matching(name)
        else:
            paths.append(name)
            continue
        if not files:
            raise ValueError(f"{name}: there are no files")
        paths += sorted(files)
    if not paths:
        raise ValueError("there are no inputs")
    return paths


def _inputs_in(folder: str) -> list[str]:
    """Return the files in a directory, except hidden files and files that jobs write next to
    outputs. Warn that the files of its directories are not read."""
    names, folders = _paths.entries_of(folder)
    beside = (*BESIDE_ROWS, BAD)

    def is_input(name: str) -> bool:
        is_receipt = name.endswith(RECEIPT) and name.removesuffix(RECEIPT) in names
        has_weights = any(name.removesuffix(one) in names for one in WEIGHTS if name.endswith(one))
        is_beside = name.endswith(beside) or is_receipt or has_weights
        return not (name.startswith(".") or is_beside)

    files = [_paths.join(folder, name) for name in names if is_input(name)]
    _warn_of_folders(folder, folders, files)
    return files


def _warn_of_folders(folder: str, names: list[str], files: list[str]) -> None:
    """Warn that the files of a directory's directories, which have these names, are not read,
    unless the names say that they are hidden or written by a job. If the directory has no other
    files, raise a ValueError."""
    names = sorted(name for name in names if not name.startswith((".", "_")))
    names = [name for name in names if not name.endswith(STAGES)]
    if names:
        advice = f"give {_paths.join(folder, '**/*')!r} to read the files of all directories"
        if not files:
            raise ValueError(f"{folder}: there are no files, only directories; {advice}")
        warnings.warn(f"{folder}: the files in {names[0]} are not read; {advice}", stacklevel=5)
