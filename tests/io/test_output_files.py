"""Output files: complete or not there."""

import bz2
import gzip
import lzma
import os
import stat
import time

import pytest
from _scripts.programs import posix

from sparsemaps._io import _locks, _output_files, _zstd


def test_nothing_is_there_before_the_end(tmp_path):
    path = tmp_path / "out"
    with _output_files.atomic_output(path) as file:
        file.write(b"content")
        assert not path.exists()
    assert path.read_bytes() == b"content"
    with pytest.raises(KeyboardInterrupt), _output_files.atomic_output(path) as file:  # noqa: PT012
        file.write(b"more")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"content"
    assert os.listdir(tmp_path) == ["out"]


def test_a_signal_while_the_file_is_made(tmp_path, monkeypatch):
    make = open

    def interrupted(path, mode, **how):
        make(path, mode, **how).close()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", interrupted)
        with pytest.raises(KeyboardInterrupt), _output_files.atomic_output(tmp_path / "out"):
            pass
    assert os.listdir(tmp_path) == []


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666, None])
def test_permissions_while_a_file_is_written(tmp_path, mode):
    """They are those of the file that is replaced, from the start; of a new file, those of any."""
    before = os.umask(0o022)
    try:
        if mode is not None:
            (tmp_path / "out").touch()
            os.chmod(tmp_path / "out", mode)
        with _output_files.atomic_output(tmp_path / "out") as file:
            found = [path.stat().st_mode & 0o777 for path in tmp_path.glob(".sparsemaps-*")]
            file.write(b"x")
        assert found == [0o644 if mode is None else mode]
        assert (tmp_path / "out").stat().st_mode & 0o777 == found[0]
    finally:
        os.umask(before)


@posix
def test_the_umask_is_kept(tmp_path):
    """It decides the permissions, and is never changed, not even for a moment."""
    before = os.umask(0o027)
    try:
        with _output_files.atomic_output(tmp_path / "out"):
            found = os.umask(0o027)
        assert found == 0o027
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_umask_is_not_called(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("umask is the whole process'"))
    with _output_files.atomic_output(tmp_path / "out"):
        pass


def test_the_longest_name(tmp_path):
    for name in ("x" * 250 + ".svm", "x" * 255):
        with _output_files.atomic_output(tmp_path / name) as file:
            file.write(b"1")
        assert (tmp_path / name).read_bytes() == b"1"


def test_no_name():
    with pytest.raises(ValueError, match="must not be empty"), _output_files.atomic_output(""):
        pass


def test_synced_before_it_has_its_name(tmp_path, monkeypatch):
    calls = []

    def noting(name, call):
        def noted(*arguments, **options):
            calls.append(name)
            return call(*arguments, **options)

        return noted

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, noting(name, getattr(os, name)))
    for _ in range(2):  # the second time there is a file to replace
        with _output_files.atomic_output(tmp_path / "out"):
            pass
    assert calls == ["fsync", "replace"] * 2


def test_the_same_content_is_the_same_file(tmp_path):
    """Compressed files hold no time and no name."""
    for ending in ("gz", "bz2", "xz"):
        paths = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
        for path in paths:
            with _output_files.atomic_output(path) as file:
                file.write(b"content" * 100)
            time.sleep(0.01)
        assert paths[0].read_bytes() == paths[1].read_bytes()


DECOMPRESS = {
    ".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress,
    ".zst": "zstd", ".zstd": "zstd",
}  # fmt: skip


@pytest.mark.parametrize("ending", _output_files._WRITERS)
@pytest.mark.parametrize("content", [b"", b"content"])
def test_any_content_is_a_file_of_its_compression(tmp_path, ending, content):
    """Empty content too: programs do not read a file of no bytes."""
    decompress = DECOMPRESS[ending]
    if decompress == "zstd":
        decompress = pytest.importorskip(_zstd.MODULE).decompress
    path = tmp_path / f"out{ending}"
    with _output_files.atomic_output(path) as file:
        file.write(content)
    assert path.stat().st_size
    assert decompress(path.read_bytes()) == content
    path.unlink()
    with _output_files.atomic_output(path):
        pass
    assert decompress(path.read_bytes()) == b""


@posix
def test_a_folder_that_is_a_link_to_none(tmp_path, monkeypatch):
    monkeypatch.setattr(_locks, "_PATIENCE", 0.01)
    os.symlink(tmp_path / "missing", tmp_path / "folder")
    with pytest.raises(FileNotFoundError), _locks.one_writer(str(tmp_path / "folder")):
        pass
