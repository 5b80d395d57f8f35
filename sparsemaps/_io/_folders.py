"""Folders of results, on this machine or at a URL."""

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sparsemaps._io import _output_files, _paths, _regular_files, _sources, _text_input, _urls
from sparsemaps._io._locks import one_writer

_LARGEST_CONTENT = 2**28
"""Largest size of a small file in bytes. A larger one is damaged."""


@dataclass(frozen=True)
class Folder:
    """A folder on this machine. Names are relative to it; absolute paths stay unchanged."""

    path: str

    def place(self, name: str) -> str:
        """Return the path of a file."""
        return os.path.join(self.path, name)

    @contextlib.contextmanager
    def making(self, name: str, endings: Sequence[str], output: str | None) -> Iterator[str]:
        """Yield the path at which to write a file, and others next to it. Files of an output get
        the permissions of the files that they replace from the start."""
        path = self.place(name)
        if output is None:
            yield path
            return
        with _output_files.instead_of(self.place(output), path, endings):
            yield path

    def names(self) -> Iterable[str]:
        return os.listdir(self.path)

    def read(self, name: str) -> bytes:
        """Return the content of a small file, or empty bytes if it is missing or not a regular
        file."""
        try:
            with _regular_files.open_regular(self.place(name), follow=False) as file:
                if os.fstat(file.fileno()).st_size <= _LARGEST_CONTENT:
                    return file.read()
        except (OSError, ValueError):
            pass
        return b""

    def write(self, name: str, content: bytes) -> None:
        self.remove([name])  # do not follow a link
        # After a power failure it may be empty; it then counts as missing.
        with _output_files.atomic_output(self.place(name), synced=False) as file:
            file.write(content)

    def size(self, name: str) -> int | None:
        """Return the size of a regular file, or None if it is missing. Links are not followed."""
        try:
            about = os.lstat(self.place(name))
        except (OSError, ValueError):
            return None
        return about.st_size if stat.S_ISREG(about.st_mode) else None

    def has(self, name: str) -> bool:
        """Return whether there is a file or a link. Nothing else is ever replaced or removed."""
        path = self.place(name)
        return os.path.islink(path) or os.path.isfile(path)

    def time(self, name: str) -> Any:
        """Return a file's time of writing, to compare with the times of others, or None if
        unknown."""
        try:
            return os.lstat(self.place(name)).st_mtime_ns
        except OSError:
            return None

    def move(self, name: str, target: str) -> None:
        """Rename a file, even to another file system. An existing target is replaced, and a link
        there is not followed. Errors name the target."""
        path, place = self.place(name), self.place(target)
        try:
            os.replace(path, place)
        except OSError as error:
            if error.errno != errno.EXDEV:
                error.filename = place
                raise
            with (
                open(path, "rb") as file,
                _output_files.errors_naming(place),
                _output_files.replacing(place, True) as copy,
            ):
                shutil.copyfileobj(file, copy, 2**20)
            os.unlink(path)

    def deliver(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Give the files of an output their names, all or none of them. For each file, `pairs` has
        its present name (the file may not have been made) and its final name; the output itself
        comes first.

        First, an earlier output and the files next to it are moved to hidden names, the output
        first. The new output gets its name last. After an error, files are moved back. Anyone who
        looks in the meantime, or after the process was killed, thus finds the files of a single
        run, or no output.
        """
        new = [pair for pair in pairs if self.size(pair[0]) is not None]
        old = [target for _, target in pairs if self.has(target)]
        if {*old, *(target for _, target in new)} == {pairs[0][1]}:  # only the output itself
            self.move(*pairs[0])
            return
        aside = [
            (target, _paths.join(_paths.folder_of(target), _urls.hidden_name())) for target in old
        ]
        done: list[tuple[str, str]] = []
        try:
            for pair in (*aside, *reversed(new)):
                done.append(pair)
                self.move(*pair)
        except BaseException as error:
            self._undo(done, aside, error)
            raise
        with contextlib.suppress(OSError):  # the output is in place
            self.remove(hidden for _, hidden in aside)

    def _undo(
        self, done: list[tuple[str, str]], aside: list[tuple[str, str]], error: BaseException
    ) -> None:
        """Move files back, the last one first. The last move may not have happened, or only its
        copy. If moving back fails too, the error says where the earlier output is."""
        try:
            for name, target in reversed(done):
                if self.has(name):
                    self.remove([target])
                else:
                    self.move(target, name)
        except OSError:
            if aside and isinstance(error, OSError) and error.strerror:
                kept = f"{error.strerror}; {aside[0][0]} has been renamed to {aside[0][1]}"
                raise OSError(error.errno, kept, error.filename) from error

    def are_one(self, name: str, other: str) -> bool:
        """Return whether two names refer to the same file."""
        try:
            return os.path.samestat(os.lstat(self.place(name)), os.lstat(self.place(other)))
        except OSError:
            return False

    def link(self, name: str, second: str) -> None:
        """Give a file a second name. If the file system has no links, copy it."""
        path, copy = self.place(name), self.place(second)
        try:
            os.link(path, copy)
        except FileExistsError:  # another process has just done the same
            pass
        except OSError:
            with open(path, "rb") as file, _output_files.atomic_output(copy) as output:
                shutil.copyfileobj(file, output)

    def remove(self, names: Iterable[str]) -> None:
        """Remove the files that exist."""
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.place(name))


class UrlFolder(Folder):
    """A folder at a URL. Files are first written on this machine, and are read from local
    copies."""

    def place(self, name: str) -> str:
        return name if _urls.is_url(name) else _paths.join(self.path, name)

    @contextlib.contextmanager
    def making(self, name: str, endings: Sequence[str], output: str | None) -> Iterator[str]:
        with _urls.uploaded(self.place(name), endings) as path:
            yield path

    def names(self) -> Iterable[str]:
        return _urls.entries_of(self.path)[0]

    def read(self, name: str) -> bytes:
        try:
            return _urls.content(self.place(name))
        except FileNotFoundError:
            return b""

    def write(self, name: str, content: bytes) -> None:
        with _urls.uploaded(self.place(name)) as path, open(path, "wb") as file:
            file.write(content)

    def size(self, name: str) -> int | None:
        try:
            return _urls.identity(self.place(name))[0]
        except (FileNotFoundError, IsADirectoryError):
            return None

    def has(self, name: str) -> bool:
        return self.size(name) is not None

    def time(self, name: str) -> Any:
        return _urls.time_of(self.place(name))

    def move(self, name: str, target: str) -> None:
        _urls.move(self.place(name), self.place(target))

    def are_one(self, name: str, other: str) -> bool:
        return False  # copies do not record their origin

    def link(self, name: str, second: str) -> None:
        _urls.copy(self.place(name), self.place(second))

    def remove(self, names: Iterable[str]) -> None:
        here = set(self.names())
        for name in names:
            if name in here or _urls.is_url(name):
                _urls.remove(self.place(name))


@contextlib.contextmanager
def writing(folder: str, *, shared: bool = False) -> Iterator[None]:
    """Lock a folder with `one_writer`. Remove temporary files of killed processes, unless the
    folder is shared, because another process may be writing them. Folders at URLs are not
    locked."""
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


# ---- outputs -------------------------------------------------------------------------------------


@contextlib.contextmanager
def staged(output: Any, endings: Sequence[str]) -> Iterator[Any]:
    """Yield a local path at which to write an output and the files next to it, named by `endings`.
    Unless an error occurs, they all appear at the end, and earlier files next to the output are
    removed. An output thus never has files of another run next to it, such as the labels of a run
    that had no space left for its codes."""
    if not endings or not _sources.is_regular(output):
        yield output
        return
    output = os.fspath(output)
    one = _staged_at_url if _urls.is_url(output) else _staged_here
    with one(output, ("", *endings)) as path:
        yield path


@contextlib.contextmanager
def _staged_here(output: str, endings: Sequence[str]) -> Iterator[str]:
    """Yield a hidden path in the folder of an output, as `staged` does."""
    output, files = os.path.abspath(output), Folder(os.path.dirname(output))
    compression = output.removeprefix(_text_input.without_compression(output))
    path = os.path.join(os.path.dirname(output), _urls.hidden_name("") + compression)
    try:
        with _output_files.instead_of(output, path, endings):
            yield path
        pairs = []
        for ending in endings:
            target = output + ending
            if os.path.lexists(path + ending):  # otherwise remove the link, not the file behind it
                target = os.path.realpath(target)
            pairs.append((path + ending, target))
        files.deliver(pairs)
    finally:
        files.remove(path + ending for ending in endings)


@contextlib.contextmanager
def _staged_at_url(url: str, endings: Sequence[str]) -> Iterator[str]:
    """Yield a path on this machine, as `staged` does. All files are uploaded before the first one
    gets its name."""
    files = UrlFolder(_paths.folder_of(url))
    with _urls.written_here(url) as path:
        yield path
        made = [ending for ending in endings if os.path.exists(path + ending)]
        if made == [""] and not any(files.has(url + ending) for ending in endings[1:]):
            _urls.put(path, url)
            return
        hidden = files.place(_urls.hidden_name(""))
        try:
            for ending in made:
                _urls.put(path + ending, hidden + ending)
            files.deliver([(hidden + ending, url + ending) for ending in endings])
        except BaseException:
            with contextlib.suppress(OSError):  # report the first error
                files.remove(hidden + ending for ending in made)
            raise
