"""Files at URLs, on any file system that fsspec supports: ``s3://``, ``https://``, ``memory://``.

Files are read through fsspec, one block at a time. Files to be mapped into memory or read in
arbitrary order are copied to this machine first. Files are written on this machine, and appear
under their URLs only when they are complete. Options of a file system, such as keys, come from
fsspec's configuration.
"""

import atexit
import contextlib
import errno
import fnmatch
import io
import os
import re
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from sparsemaps._tools._extras import library

_URL = re.compile(r"(?!file:)[a-z][a-z0-9+.\-]*(://|::)", re.IGNORECASE)

_VERSIONS = (
    *("ETag", "etag", "md5Hash", "Content-MD5", "mtime", "LastModified", "last_modified"),
    *("Last-Modified", "created"),
)
"""Names, on several file systems, of a text or time that changes with a file's content."""


def is_url(path: object) -> bool:
    """Return whether a path is a URL. A ``file:`` URL is not."""
    return isinstance(path, str) and _URL.match(path) is not None


def system_of(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path there. Cached listings of its folder are
    dropped."""
    fsspec = library("fsspec.core", "a URL", "fsspec", extra="urls")
    fs, place = fsspec.url_to_fs(url)
    fs.invalidate_cache(place)
    fs.invalidate_cache(place.rpartition("/")[0])
    return fs, place


@contextlib.contextmanager
def _errors_naming(url: str) -> Iterator[None]:
    """Turn any error of a file system into an OSError with the URL."""
    try:
        yield
    except (ImportError, ValueError, MemoryError):
        raise
    except Exception as error:
        number = errno.EIO
        for kind, its_number in _NUMBERS.items():
            if isinstance(error, kind):
                number = its_number
        reason = " ".join(str(error).split()) or type(error).__name__
        said = reason if number == errno.EIO else os.strerror(number)
        raise OSError(number, said, url) from error


_NUMBERS = {
    FileNotFoundError: errno.ENOENT,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
}


@contextlib.contextmanager
def _at(url: str) -> Iterator[tuple[Any, str]]:
    """Yield the file system of a URL, and the path there. Errors are as in `_errors_naming`."""
    with _errors_naming(url):
        yield system_of(url)


def _is_of_web(url: str) -> bool:
    return url.partition(":")[0].lower() in ("http", "https")


def refuse_read_only(url: str) -> None:
    """Raise a ValueError if the URL is read-only."""
    if _is_of_web(url):
        raise ValueError(f"{url} can only be read; write to a file, or to a URL such as s3://")


def exists(url: str) -> bool:
    """Return whether a file or a folder exists."""
    with _at(url) as (fs, place):
        return bool(fs.exists(place))


def is_folder(url: str) -> bool:
    """Return whether a folder exists."""
    with _at(url) as (fs, place):
        return bool(fs.isdir(place))


def entries_of(folder: str) -> tuple[list[str], list[str]]:
    """Return the names of the files in a folder, and the names of its subfolders. A missing folder
    has none."""
    with _at(folder) as (fs, place):
        found = fs.ls(place, detail=True) if fs.exists(place) else []
    names: dict[str, list[str]] = {"file": [], "directory": []}
    for one in found:
        name = str(one["name"]).rstrip("/").rpartition("/")[2]
        if name and one["type"] in names:
            names[one["type"]].append(name)
    return names["file"], names["directory"]


def matching(pattern: str) -> list[str]:
    """Return the URLs of the files that match a pattern. As on this machine, names that begin with
    a dot match only parts of the pattern that do so too."""
    with _at(pattern) as (fs, place):
        found = fs.glob(place, detail=True)
    dotted = [part for part in place.split("/") if part.startswith(".")]
    return [
        str(fs.unstrip_protocol(name))
        for name, one in found.items()
        if one["type"] == "file"
        and all(
            any(fnmatch.fnmatchcase(part, other) for other in dotted)
            for part in name.split("/")
            if part.startswith(".")
        )
    ]


def identity(url: str) -> tuple[int, str, str]:
    """Return the size of a file, and a text that changes with its content."""
    with _at(url) as (fs, place):
        return _identity(url, fs.info(place))


def _identity(url: str, info: Any) -> tuple[int, str, str]:
    if info["type"] == "directory":
        raise IsADirectoryError(21, os.strerror(21), url)
    version = next((str(info[name]) for name in _VERSIONS if info.get(name) is not None), "")
    return int(info.get("size") or 0), version, ""


def time_of(url: str) -> Any:
    """Return a file's time of writing, or None if its file system does not know it."""
    with contextlib.suppress(OSError, NotImplementedError), _at(url) as (fs, place):
        return fs.modified(place)


# ---- reading -------------------------------------------------------------------------------------


@contextlib.contextmanager
def opened(url: str) -> Iterator[Any]:
    """Yield a file that can be read in any order. It is copied first if its server only serves
    whole files."""
    with contextlib.ExitStack() as stack:
        with _at(url) as (fs, place):
            if type(fs).__name__ == "MemoryFileSystem":  # its readers share one position
                raw: Any = io.BytesIO(fs.cat_file(place))
            elif _is_of_web(url) and not fs.info(place).get("partial"):
                raw = stack.enter_context(open(local_copy(url), "rb"))
            else:
                raw = stack.enter_context(_Raw(url, fs.open(place, "rb")))
        yield io.BufferedReader(raw, 2**20)


class _Raw(io.RawIOBase):
    """A file of a file system. Its errors name the file."""

    def __init__(self, url: str, file: Any) -> None:
        self._url, self._file = url, file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        with _errors_naming(self._url):
            content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


_copies: dict[str, tuple[tuple[int, str, str], str]] = {}
_lock = threading.Lock()
_folder: list[str] = []


def local_copy(url: str) -> str:
    """Return the path of a local copy of a file. The copy is deleted when the process ends."""
    with _lock, _at(url) as (fs, place):
        now = _identity(url, fs.info(place))
        before, path = _copies.get(url, (None, ""))
        if before == now:
            return path
        path = _new_place(url)
        fs.get_file(place, path)
        _copies[url] = now, path
        return path


def _new_place(url: str) -> str:
    """Return the path of a new file in a folder of this process, with the name in the URL."""
    if not _folder or not os.path.isdir(_folder[0]):
        _folder[:] = [tempfile.mkdtemp(prefix="sparsemaps-")]
        atexit.register(shutil.rmtree, _folder[0], ignore_errors=True)
    folder = os.path.join(_folder[0], secrets.token_hex(8))
    os.mkdir(folder)
    return os.path.join(folder, url.rstrip("/").rpartition("/")[2])


def forget(folder: str) -> None:
    """Remove the local copies of files in a folder at a URL."""
    with _lock:
        for url in [url for url in _copies if url.startswith(f"{folder.rstrip('/')}/")]:
            with contextlib.suppress(OSError):  # on Windows, a mapped file
                shutil.rmtree(os.path.dirname(_copies.pop(url)[1]))


# ---- writing -------------------------------------------------------------------------------------

_OBJECT_STORES = {"s3", "gs", "gcs", "abfs", "az", "oss", "oci", "r2", "hf"}
"""File systems without folders, on which an uploaded file appears only when it is complete."""


@contextlib.contextmanager
def uploaded(url: str, endings: Iterable[str] = ("",)) -> Iterator[str]:
    """Yield a local path at which to write a file, and others next to it. They are uploaded unless
    an error occurs, the file itself last."""
    refuse_read_only(url)
    with written_here(url) as path:
        yield path
        for ending in sorted(endings, key=lambda ending: not ending):
            if os.path.exists(path + ending):
                put(path + ending, url + ending)


@contextlib.contextmanager
def written_here(url: str) -> Iterator[str]:
    """Yield a local path, in a folder of its own, with the name in the URL. Remove the folder at
    the end."""
    path = _new_place(url)
    try:
        yield path
    finally:
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def hidden_name(ending: str = ".tmp") -> str:
    """Return an unused file name, for this machine or for a URL."""
    return f".sparsemaps-{secrets.token_hex(8)}{ending}"


def put(path: str, url: str) -> None:
    """Upload a local file to a URL, where it appears only when it is complete."""
    with _at(url) as (fs, place):
        protocols = {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)
        if protocols & _OBJECT_STORES:
            fs.put_file(path, place)
            return
        parent = place.rpartition("/")[0]
        temporary = f"{parent}/{hidden_name()}"
        with contextlib.suppress(OSError, NotImplementedError):
            fs.makedirs(parent, exist_ok=True)
        try:
            fs.put_file(path, temporary)
            fs.mv(temporary, place)
        except BaseException:
            with contextlib.suppress(Exception):  # report the first error
                fs.rm_file(temporary)
            raise


def move(url: str, target: str) -> None:
    with _errors_naming(target):
        fs, place = system_of(url)
        fs.mv(place, system_of(target)[1])


def copy(url: str, target: str) -> None:
    with _errors_naming(target):
        fs, place = system_of(url)
        fs.cp_file(place, system_of(target)[1])


def remove(url: str) -> None:
    """Remove a file if it exists."""
    with contextlib.suppress(FileNotFoundError), _at(url) as (fs, place):
        fs.rm_file(place)


def content(url: str) -> bytes:
    with _at(url) as (fs, place):
        found: bytes = fs.cat_file(place)
        return found
