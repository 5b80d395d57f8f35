"""Output files: complete or not there."""

import os
import stat
import time

import numpy as np
import pytest
from programs import posix

from sparsemaps._tools import _output_files


@pytest.fixture(params=["unnamed", "named"])
def each_way(request, monkeypatch):
    """With and without files that have no name."""
    if request.param == "named":
        monkeypatch.setattr(_output_files, "_open_unnamed", lambda folder: None)


def test_nothing_is_there_before_the_end(tmp_path, each_way):
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
    monkeypatch.setattr(_output_files, "_open_unnamed", lambda folder: None)
    make = os.open

    def interrupted(path, flags, *mode):
        os.close(make(path, flags, *mode))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", interrupted)
        with pytest.raises(KeyboardInterrupt), _output_files.atomic_output(tmp_path / "out"):
            pass
    assert os.listdir(tmp_path) == []


def test_a_file_system_that_cannot_name_a_file_later(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    with _output_files.atomic_output(tmp_path / "out") as file:
        file.write(b"x" * 10**6)
    assert (tmp_path / "out").read_bytes() == b"x" * 10**6
    assert os.listdir(tmp_path) == ["out"]


@posix
def test_the_umask_is_kept(tmp_path, each_way):
    """It decides the permissions, and is never changed, not even for a moment."""
    before = os.umask(0o027)
    try:
        with _output_files.atomic_output(tmp_path / "out"):
            found = os.umask(0o027)
        assert found == 0o027
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_umask_is_not_called(tmp_path, monkeypatch, each_way):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("umask is the whole process'"))
    with _output_files.atomic_output(tmp_path / "out"):
        pass


def test_the_longest_name(tmp_path, each_way):
    for name in ("x" * 250 + ".svm", "x" * 255):
        with _output_files.atomic_output(tmp_path / name) as file:
            file.write(b"1")
        assert (tmp_path / name).read_bytes() == b"1"


def test_no_name():
    with pytest.raises(ValueError, match="must not be empty"), _output_files.atomic_output(""):
        pass


def test_synced_before_it_has_its_name(tmp_path, monkeypatch, each_way):
    calls = []

    def noting(name, call):
        def noted(*arguments, **options):
            calls.append(name)
            return call(*arguments, **options)

        return noted

    for name in ("fsync", "link", "replace"):
        monkeypatch.setattr(os, name, noting(name, getattr(os, name)))
    for _ in range(2):
        with _output_files.atomic_output(tmp_path / "out"):
            pass
    named, unnamed = ["fsync", "replace"], ["fsync", "link"]
    # The second time there is a file to replace.
    assert calls in (named * 2, unnamed * 2 + ["link", "replace"])


@pytest.mark.parametrize("error", [None, OSError(22, "Invalid argument")])
def test_the_disk_writes_while_more_is_made(tmp_path, monkeypatch, each_way, error):
    asked = []

    def advise(descriptor, offset, length, advice):
        asked.append((offset, length))
        if error is not None:
            raise error

    monkeypatch.setattr(_output_files, "_BEGUN_BYTES", 1000)
    # A system that has no such function gets it here.
    monkeypatch.setattr(os, "posix_fadvise", advise, raising=False)
    monkeypatch.setattr(os, "POSIX_FADV_DONTNEED", 4, raising=False)
    pieces = [bytes([i]) * (100 * i) for i in range(100)]
    with _output_files.atomic_output(tmp_path / "out") as file:
        file.writelines(pieces)
    content = b"".join(pieces)
    assert (tmp_path / "out").read_bytes() == content
    ends = np.cumsum([length for _, length in asked])
    assert [offset for offset, _ in asked] == [0, *ends[:-1]]
    assert len(content) - 1000 < ends[-1] <= len(content)
    asked.clear()
    with _output_files.atomic_output(tmp_path / "out", synced=False) as file:
        file.writelines(pieces)
    assert not asked


def test_a_system_without_advice_on_files(tmp_path, monkeypatch, each_way):
    monkeypatch.setattr(_output_files, "_BEGUN_BYTES", 1000)
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    with _output_files.atomic_output(tmp_path / "out") as file:
        file.write(b"x" * 10**4)
        file.write(b"y" * 10**4)
    assert (tmp_path / "out").read_bytes() == b"x" * 10**4 + b"y" * 10**4


def test_the_same_content_is_the_same_file(tmp_path):
    """Compressed files hold no time and no name."""
    for ending in ("gz", "bz2", "xz"):
        paths = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
        for path in paths:
            with _output_files.atomic_output(path) as file:
                file.write(b"content" * 100)
            time.sleep(0.01)
        assert paths[0].read_bytes() == paths[1].read_bytes()
