"""Files and folders at URLs, by themselves: copies, versions, and servers of whole files."""

import os
from pathlib import Path

import pytest

from sparsemaps._io import _urls
from sparsemaps._io._folders import UrlFolder
from sparsemaps._io._sources import InputFile, expand, refuse_inside

fsspec = pytest.importorskip("fsspec")

URL = "memory://io/file"


@pytest.fixture
def fs():
    fs = fsspec.filesystem("memory")
    fs.pipe_file("/io/file", b"before")
    yield fs
    fs.rm("/io", recursive=True)


def test_a_copy_is_of_the_file_as_it_is(fs):
    first = _urls.local_copy(URL)
    assert _urls.local_copy(URL) == first
    fs.pipe_file("/io/file", b"after!")  # as long
    second = _urls.local_copy(URL)
    assert [Path(path).read_bytes() for path in (first, second)] == [b"before", b"after!"]


def test_readers_of_a_file_have_their_own_positions(fs):
    with _urls.opened(URL) as one, _urls.opened(URL) as other:
        assert [one.read(), other.read()] == [b"before", b"before"]


def test_another_version_is_another_file(fs):
    input = InputFile(URL)
    input.refuse_change()
    fs.pipe_file("/io/file", b"after!")
    with pytest.raises(ValueError, match="changed during the run"):
        input.refuse_change()


def test_files_of_a_folder_are_removed(fs):
    folder = UrlFolder("memory://io")
    folder.write("other", b"more")
    assert set(folder.names()) == {"file", "other"}
    folder.remove(["other", "a file that is not there"])
    assert set(folder.names()) == {"file"}


@pytest.mark.parametrize("folder", ["memory://io/out.stages", "out.stages"])
def test_an_input_in_the_folder_of_stages(folder):
    """Results of a job are removed there. A folder in it is another one."""
    refuse_inside(folder, [f"{folder}/more/codes.npy", "memory://io/codes.npy", "codes.npy"])
    with pytest.raises(ValueError, match="is in the folder of stages; move it"):
        refuse_inside(folder, [f"{folder}/codes.npy"])


class Web:
    """A server; `has_parts` says whether it gives parts of a file."""

    def __init__(self, has_parts):
        self.has_parts, self.opened = has_parts, 0

    def info(self, place):
        return {"type": "file", "size": 6, **({"partial": True} if self.has_parts else {})}

    def get_file(self, place, path):
        Path(path).write_bytes(b"before")

    def open(self, place, mode):
        self.opened += 1
        return open(os.devnull, "rb")


@pytest.mark.parametrize("has_parts", [False, True])
def test_a_file_is_copied_if_its_server_gives_whole_files(monkeypatch, has_parts):
    web = Web(has_parts)
    monkeypatch.setattr(_urls, "system_of", lambda url: (web, url))
    with _urls.opened(f"https://example.org/{has_parts}") as file:
        assert file.read() == (b"" if has_parts else b"before")
    assert web.opened == has_parts


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.jsonl", ["a.jsonl", "b.jsonl"]),
        ("?.jsonl", ["a.jsonl", "b.jsonl"]),
        ("**/*.jsonl", ["a.jsonl", "b.jsonl", "in/a.jsonl"]),
        ("*/*.jsonl", ["in/a.jsonl"]),
        (".s*.jsonl", [".sparsemaps-1.jsonl"]),
        (".in/*.jsonl", [".in/a.jsonl"]),
        ("[ab].jsonl", ["a.jsonl", "b.jsonl"]),
    ],
)
@pytest.mark.parametrize("is_here", [False, True])
def test_hidden_names_match_patterns_that_begin_with_a_point(
    tmp_path, fs, pattern, expected, is_here
):
    """A run that is killed leaves parts of its output under such names."""
    folder = str(tmp_path) if is_here else "memory://io/hidden"
    for name in ("a", "b", ".sparsemaps-1", "in/a", ".in/a", "in/.b"):
        if is_here:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / f"{name}.jsonl").write_bytes(b'{"text": "a"}\n')
        else:
            fs.pipe(f"/io/hidden/{name}.jsonl", b'{"text": "a"}\n')
    found = [one.partition(f"{folder[8:]}/")[2] for one in expand(f"{folder}/{pattern}")]
    assert sorted(found) == expected


@pytest.mark.parametrize("is_here", [False, True])
def test_directories_in_a_directory_are_named(tmp_path, fs, is_here):
    """Their files are not read, which would pass unnoticed."""
    folder = str(tmp_path) if is_here else "memory://io/directories"

    def write(name):
        if is_here:
            (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
            (tmp_path / name).write_bytes(b"")
        else:
            fs.pipe(f"/io/directories/{name}", b"")

    for name in (".hidden/a", "_delta_log/a", "out.stages/a", "b/c/a"):
        write(f"in/{name}")
    with pytest.raises(ValueError, match=r"no files, only directories; give '.*in/\*\*/\*' to"):
        expand(f"{folder}/in")
    write("in/a")
    with pytest.warns(UserWarning, match=r"the files in b are not read; give '.*in/\*\*/\*' to"):
        assert len(expand(f"{folder}/in")) == 1
    assert any(path.endswith("in/b/c/a") for path in expand(f"{folder}/in/**/*"))
    for name in ("a", "_delta_log/a", "out.stages/a"):
        write(f"other/{name}")
    assert len(expand(f"{folder}/other")) == 1
