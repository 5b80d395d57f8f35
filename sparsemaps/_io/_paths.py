"""Paths of files and folders, on this machine or at URLs.

``_urls`` has functions for URLs only.
"""

import glob
import os
from typing import Any

from sparsemaps._io import _urls
from sparsemaps._io._urls import is_url
from sparsemaps._tools._typing import StrPath


def full_path(path: StrPath) -> str:
    """Return the path by which other processes can find a file or a folder."""
    name = os.fspath(path)
    return name.rstrip("/") if is_url(name) else os.path.abspath(name)


def real_path(path: StrPath) -> str:
    """Return the path of a file, with links resolved."""
    name = os.fspath(path)
    return name if is_url(name) else os.path.realpath(name)


def join(folder: StrPath, name: str) -> str:
    """Return the path of a file in a folder."""
    path = os.fspath(folder)
    return f"{path.rstrip('/')}/{name}" if is_url(path) else os.path.join(path, name)


def folder_of(path: str) -> str:
    """Return the folder of a file."""
    return path.rpartition("/")[0] if is_url(path) else os.path.dirname(path)


def exists(path: str) -> bool:
    """Return whether a file or a folder exists."""
    return _urls.exists(path) if is_url(path) else os.path.exists(path)


def is_folder(path: str) -> bool:
    """Return whether a folder exists."""
    return _urls.is_folder(path) if is_url(path) else os.path.isdir(path)


def entries_of(folder: str) -> tuple[list[str], list[str]]:
    """Return the names of the files in a folder, and the names of its subfolders."""
    if is_url(folder):
        return _urls.entries_of(folder)
    entries = list(os.scandir(folder))
    files = [entry.name for entry in entries if entry.is_file()]
    return files, [entry.name for entry in entries if entry.is_dir()]


def matching(pattern: str) -> list[str]:
    """Return the paths of the files that match a pattern."""
    if is_url(pattern):
        return _urls.matching(pattern)
    return [path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path)]


def identity(path: str) -> tuple[int, Any, Any]:
    """Return the size of a file, and values that distinguish it from another file at its path: time
    and inode or, at a URL, a text."""
    if is_url(path):
        return _urls.identity(path)
    about = os.stat(path)
    return about.st_size, about.st_mtime_ns, about.st_ino
