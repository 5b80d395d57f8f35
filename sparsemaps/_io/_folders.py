"""Folders of results: one of this machine's, or one at a URL."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence

from sparsemaps._io import _output_files, _paths, _regular_files, _urls
from sparsemaps._io._locks import one_writer

_LARGEST_CONTENT = 2**28
"""Bytes of a small file; a larger one is damaged."""


class Folder:
    """A folder on this machine. Names are relative to it; an absolute path stays unchanged."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.scratch = path
        """A folder of this machine for temporary files."""

    def place(self, name: str) -> str:
        """Return the path of a file."""
        return os.path.join(self.path, name)

    @contextlib.contextmanager
    def making(self, name: str, endings: Sequence[str], output: str | None) -> Iterator[str]:
        """Yield the path where a file, and others beside it, are written. Files of an output have
        the permissions of the files that they replace, from the start."""
        path = self.place(name)
        if output is None:
            yield path
            return
        with _output_files.instead_of(self.place(output), path, endings):
            yield path

    def names(self) -> Iterable[str]:
        return os.listdir(self.path)

    def read(self, name: str) -> bytes:
        """Return the content of a small file; empty if it is not there, or no regular file."""
        try:
            with _regular_files.open_regular(self.place(name), follow=False) as file:
                if os.fstat(file.fileno()).st_size <= _LARGEST_CONTENT:
                    return file.read()
        except (OSError, ValueError):
            pass
        return b""

    def write(self, name: str, content: bytes) -> None:
        self.remove([name])  # a link is not followed
        # A loss of power may leave it empty: the result is not there then.
        with _output_files.atomic_output(self.place(name), synced=False) as file:
            file.write(content)

    def size(self, name: str) -> int | None:
        """Return the size of a file; None if it is not there."""
        return _regular_files.size_of(self.place(name))

    def move(self, name: str, target: str) -> None:
        _output_files.move(self.place(name), self.place(target))

    def are_one(self, name: str, other: str) -> bool:
        """Return whether two names are of one file, or of none."""
        try:
            return os.path.samestat(os.lstat(self.place(name)), os.lstat(self.place(other)))
        except OSError:
            return not any(os.path.lexists(self.place(one)) for one in (name, other))

    def link(self, name: str, second: str) -> None:
        """Give a file a second name; if the file system has no links, copy it."""
        path, copy = self.place(name), self.place(second)
        try:
            os.link(path, copy)
        except FileExistsError:  # by a process that does the same
            pass
        except OSError:
            with open(path, "rb") as file, _output_files.atomic_output(copy) as output:
                shutil.copyfileobj(file, output)

    def remove(self, names: Iterable[str]) -> None:
        """Remove the files that are there."""
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.place(name))


class UrlFolder(Folder):
    """A folder at a URL. Files are written on this machine first, and read there from copies."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.scratch = tempfile.gettempdir()

    def place(self, name: str) -> str:
        return name if _urls.is_url(name) else _paths.join(self.path, name)

    @contextlib.contextmanager
    def making(self, name: str, endings: Sequence[str], output: str | None) -> Iterator[str]:
        with _urls.staged(self.place(name), tuple(endings)) as path:
            yield path

    def names(self) -> Iterable[str]:
        return _urls.names_in(self.path, "file")

    def read(self, name: str) -> bytes:
        try:
            return _urls.content(self.place(name))
        except FileNotFoundError:
            return b""

    def write(self, name: str, content: bytes) -> None:
        with _urls.staged(self.place(name)) as path, open(path, "wb") as file:
            file.write(content)

    def size(self, name: str) -> int | None:
        try:
            return _urls.identity(self.place(name))[0]
        except (FileNotFoundError, IsADirectoryError):
            return None

    def move(self, name: str, target: str) -> None:
        _urls.move(self.place(name), self.place(target))

    def are_one(self, name: str, other: str) -> bool:
        """Return whether there is neither file: a copy has no mark of its origin."""
        return self.size(name) is self.size(other) is None

    def link(self, name: str, second: str) -> None:
        _urls.copy(self.place(name), self.place(second))

    def remove(self, names: Iterable[str]) -> None:
        here = set(self.names())
        for name in names:
            if name in here or _urls.is_url(name):
                _urls.remove(self.place(name))


def folder_at(path: str) -> Folder:
    return UrlFolder(path) if _urls.is_url(path) else Folder(path)


@contextlib.contextmanager
def writing(folder: str, *, shared: bool = False) -> Iterator[None]:
    """Lock a folder, as by `one_writer`. Remove the temporary files of killed processes, unless the
    folder is shared: another process may be writing them. A folder at a URL is not locked."""
    if _urls.is_url(folder):
        _urls.refuse_read_only(folder)
        try:
            yield
        finally:
            _urls.forget(folder)
        return
    with one_writer(folder, shared=shared):
        if not shared:
            _output_files.remove_temporaries(folder)
        yield
