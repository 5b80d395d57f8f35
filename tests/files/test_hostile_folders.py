"""Folders of results that somebody else has made: no file outside is changed, and nothing hangs."""

import json
import os
import socket
import stat

import pytest
from _data.dedup_records import make_texts, write_lines
from _data.stage_names import results_in, without_digest
from _scripts.programs import posix

from sparsemaps import MinHash, cli
from sparsemaps._io import _locks, _output_files
from sparsemaps.files import deduplicate_files, map_files

pytestmark = posix
TEXTS = make_texts(40, seed=9)
MINHASH = MinHash(n_hashes=32, random_state=0)
RECEIPTS = ("codes.npy", "removed.npy", "clusters.npy", "kept.npy")


def dedup(folder, **options):
    how = {"source": "word:3", "threshold": 0.6, **options}
    return deduplicate_files(MINHASH, folder / "in.jsonl", folder / "out", **how)


def mapped(folder):
    return map_files(MINHASH, folder / "in.jsonl", f"{folder}/mapped/", source="word:3")


@pytest.fixture
def folder(tmp_path):
    """The results of a run, and a file of somebody outside."""
    write_lines(tmp_path / "in.jsonl", TEXTS)
    (tmp_path / "victim").write_bytes(b"precious")
    dedup(tmp_path)
    mapped(tmp_path)
    return tmp_path


def receipts(folder):
    named = results_in(folder / "out.stages")
    paths = [named[f"{name}.json"] for name in RECEIPTS]
    return [*paths, folder / "out.stages/output-000000.json", folder / "mapped/in.jsonl.svm.json"]


@pytest.mark.parametrize(
    "files",
    [
        {"../victim": 8}, {"/etc/passwd": 1}, {"..": 0}, {"sub/../../victim": 8}, {"": 0},
        {"..\\victim": 8}, {"codes.npy/../victim": 8}, [], 7, {"codes.npy": -1}, {"codes.npy": "x"},
        {"codes.npy": 1e300}, {"codes.npy": None}, {"codes.npy": [[[]]]},
        {"x" * 5000: 1}, {"\0": 1},
        {"in.jsonl.svm../../../victim.ids.txt": 8},
    ],
)  # fmt: skip
def test_names_in_records(folder, files):
    """A name that is not of the result makes the record damaged: the result is made again."""
    out, svm = (folder / "out").read_bytes(), (folder / "mapped/in.jsonl.svm").read_bytes()
    for path in receipts(folder):
        record = json.loads(path.read_bytes())
        path.write_text(json.dumps({**record, "files": files}))
    for resume in (True, False):
        dedup(folder, resume=resume)
        mapped(folder)
        assert (folder / "victim").read_bytes() == b"precious"
        assert (folder / "out").read_bytes() == out
        assert (folder / "mapped/in.jsonl.svm").read_bytes() == svm


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 10**6, b'{"recipe":' * 10**5, b'{"files": {}, "value": ' + b"9" * 10**5 + b"}",
        b"\xff\xfe", b"nan", b'"x"', b"null",
    ],
)  # fmt: skip
def test_contents_of_records(folder, content):
    out = (folder / "out").read_bytes()
    for path in receipts(folder):
        path.write_bytes(content)
    dedup(folder)
    mapped(folder)
    assert (folder / "out").read_bytes() == out


def put_link(path, folder):
    path.symlink_to(folder / "victim")


def put_pipe(path, folder):
    os.mkfifo(path)


def put_socket(path, folder):
    here = os.getcwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def put_device(path, folder):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("put", [put_link, put_pipe, put_socket, put_device])
def test_other_files_in_the_place_of_results(folder, put):
    """Of each file of the two folders in turn. Links are replaced, and not followed."""
    out = {name: (folder / name).read_bytes() for name in ("out", "mapped/in.jsonl.svm")}
    names = [path.relative_to(folder) for place in ("out.stages", "mapped")
             for path in (folder / place).iterdir()]  # fmt: skip
    assert len(names) > 15
    for name in [*names, "out.stages/codes.npy.ids.txt", "mapped/.sparsemaps-lock"]:
        (folder / name).unlink(missing_ok=True)
        put(folder / name, folder)
        try:
            dedup(folder)
            mapped(folder)
        except ValueError as error:
            if "is not a regular file" not in str(error):
                raise
            (folder / name).unlink()
            dedup(folder)
            mapped(folder)
        assert (folder / "victim").read_bytes() == b"precious"
        for one, content in out.items():
            assert (folder / one).read_bytes() == content
            assert stat.S_ISREG(os.lstat(folder / one).st_mode)


@pytest.mark.parametrize("put", [put_link, put_pipe, put_socket, put_device, None])
def test_locks(tmp_path, put):
    (tmp_path / "victim").write_bytes(b"precious")
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / _locks.LOCK
    if put is None:
        path.mkdir()
    else:
        put(path, tmp_path)
    if put in (put_link, put_device):
        with _locks.one_writer(str(tmp_path / "folder")):
            assert not path.is_symlink()
    else:
        with pytest.raises((ValueError, OSError)), _locks.one_writer(str(tmp_path / "folder")):
            pass
    assert (tmp_path / "victim").read_bytes() == b"precious"


@pytest.mark.parametrize("command", ["map", "dedup", "pairs", "predict", "filter", "train"])
def test_private_outputs_are_never_readable(tmp_path, monkeypatch, command):
    """Neither temporary files, nor results of stages, nor tables."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.svm").write_bytes(b"1 1:1 2:1\n0 3:1\n1 1:1 2:1\n")
    assert cli.main(["train", "minhash", "in.svm", "-o", "model"]) == 0
    words = {
        "map": ["map", "minhash", "in.svm", "-o", "out"],
        "dedup": ["dedup", "in.svm", "-o", "out", "--removed", "table"],
        "pairs": ["pairs", "in.svm", "-o", "out"],
        "predict": ["predict", "model", "in.svm", "-o", "out"],
        "filter": ["filter", "model", "in.svm", "--label", "1", "-o", "out"],
        "train": ["train", "minhash", "in.svm", "-o", "out"],
    }
    for name in ("out", "table"):
        (tmp_path / name).touch()
        os.chmod(name, 0o600)
    replace, readable = os.replace, []

    def watched(path, target, **how):
        found = [str(one) for one in tmp_path.rglob("*") if one.name.startswith(".sparsemaps-")]
        readable.extend(one for one in found if reachable(one))
        return replace(path, target, **how)

    def reachable(path):
        folder = os.stat(os.path.dirname(path)).st_mode & 0o055
        return folder and os.stat(path).st_mode & 0o077 and not path.endswith("lock")

    os.chmod(tmp_path, 0o755)
    monkeypatch.setattr(_output_files.os, "replace", watched)
    assert cli.main(words[command]) == 0
    assert not readable
    for name in ("out", "table"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    if (tmp_path / "out.stages").exists():
        assert (tmp_path / "out.stages").stat().st_mode & 0o777 == 0o700
        assert {without_digest(one.name) for one in (tmp_path / "out.stages").iterdir()}
