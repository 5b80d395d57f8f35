"""Every place of output is checked before work begins: nothing is read, and nothing written."""

import os

import pytest
from _scripts.programs import posix

from sparsemaps import cli
from sparsemaps.cli import make_parser

JOBS = {
    "map": ["map", "minhash", "in.svm", "-o", "out"],
    "text": ["text", "in.txt", "-o", "out"],
    "kernel": ["kernel", "minmax", "in.svm", "-o", "out"],
    "pairs": ["pairs", "in.svm", "-o", "out"],
    "dedup": ["dedup", "in.svm", "-o", "out"],
    "train": ["train", "minhash", "in.svm", "-o", "out"],
    "predict": ["predict", "model", "in.svm", "-o", "out"],
    "filter": ["filter", "model", "in.svm", "--label", "1", "-o", "out"],
}
"""A call of each command that writes."""

OPTIONS = {
    "map": ["--save-config"],
    "dedup": ["--removed", "--clusters", "--report", "--bad-records"],
}
"""Options of further files that are written."""

PLACES = [(name, "-o") for name in JOBS] + [
    (name, one) for name, all in OPTIONS.items() for one in all
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = b"1 1:1 2:1\n0 3:1\n"
    (tmp_path / "in.svm").write_bytes(lines)
    (tmp_path / "in.txt").write_bytes(b"a text\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"mine")
    assert cli.main(["train", "minhash", "in.svm", "-o", "model"]) == 0
    # Whoever reads records now finds a bad one: it is not said, as the place is wrong.
    (tmp_path / "in.svm").write_bytes(b"bad\n")
    return tmp_path


def files(folder):
    return sorted(str(path) for path in folder.rglob("*"))


def call(name, option, path):
    words = list(JOBS[name])
    if option == "-o":
        words[words.index("out")] = path
    else:
        words += [option, path]
    return cli.main(words)


@pytest.mark.parametrize(("name", "option"), PLACES)
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none/x", "none/x: No such file or directory"),
        ("file/x", "file/x: Not a directory"),
        ("folder", "folder: Is a directory"),
        ("new/", "new/: Is a directory"),
    ],
)
def test_a_place_where_nothing_can_be_written(name, option, path, message, folder, capsys):
    if path in ("folder", "new/") and option == "-o" and name not in ("kernel", "pairs", "train"):
        pytest.skip("an output may be a directory")
    before = files(folder)
    assert call(name, option, path) == 2
    assert capsys.readouterr().err == f"sparsemaps: {message}\n"
    assert files(folder) == before


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
@pytest.mark.parametrize(("name", "option"), PLACES)
def test_a_folder_that_may_only_be_read(name, option, folder, capsys):
    os.chmod("folder", 0o500)
    before = files(folder)
    assert call(name, option, "folder/x") == 2
    assert capsys.readouterr().err == "sparsemaps: folder/x: Permission denied\n"
    assert files(folder) == before


def test_the_commands_are_known():
    """Those that have an output; the demonstration writes to a folder, a comparison a picture."""
    commands = make_parser()._subparsers._group_actions[0].choices
    assert set(commands) == {*JOBS, "compare", "demo", "info"}
