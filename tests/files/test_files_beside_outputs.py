"""Files beside an output, such as labels and ids: they change together with it, whatever fails, and
none of an earlier run stays."""

import itertools
import os
import shutil
from pathlib import Path

import pytest
from _data.labelled_records import write_jsonl

from sparsemaps import cli
from sparsemaps._io import _output_files, _urls
from sparsemaps._io._folders import staged
from sparsemaps._io._sources import BESIDE_ROWS, WEIGHTS
from sparsemaps.files._formats import FORMATS

fsspec = pytest.importorskip("fsspec")

TEXTS = "in.jsonl --texts word:1"
JOBS = {
    "svmlight": f"map minhash --n-hashes 8 {TEXTS}",
    "npy": f"map minhash --n-hashes 8 --format npy {TEXTS}",
    "text": "text in.jsonl",
    "filter": "filter model in.jsonl --label x",
    "dedup": "dedup in.jsonl",
}
"""Commands that write records or rows: to one output, or to one for each input."""


def test_all_formats_are_listed():
    assert set(FORMATS) - {"records"} <= set(JOBS)


def records(labels):
    return [
        {"text": f"a b c{i} {label}", "label": label, "id": f"{label}{i}", "weight": i + 1}
        for i, label in enumerate(labels * 4)
    ]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    write_jsonl(folder / "in.jsonl", records("xy"))
    words = f"train {folder}/{TEXTS} --label-field label -o {folder}/model"
    assert cli.main(words.split()) == 0
    return folder / "model"


@pytest.fixture
def folder(tmp_path, monkeypatch, model):
    """An input, a model of it, and no files at URLs."""
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "in.jsonl", records("xy"))
    shutil.copy(model, tmp_path)
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    return tmp_path


def place_of(name, is_url, is_many):
    """The option for the output of a command, and the path or URL of the output."""
    there = "memory://out/" if is_url else "out/"
    ending = {"npy": ".npy", "dedup": "", "filter": ""}.get(name, ".svm")
    output = f"{there}in.jsonl{ending}"
    return there if is_many else output, output


def contents(folder, is_url):
    """What stands in the folder of the output, but for receipts and results of stages."""
    if is_url:
        fs = fsspec.filesystem("memory")
        found = {path.removeprefix("/out/"): fs.cat_file(path) for path in fs.find("/out")}
    else:
        paths = [path for path in (folder / "out").iterdir() if path.is_file()]
        found = {path.name: path.read_bytes() for path in paths}
    shown = {name: text for name, text in found.items() if ".stages/" not in name}
    return {name: text for name, text in shown.items() if not name.endswith((".json", "-lock"))}


def put(path, content):
    if _urls.is_url(path):
        fsspec.filesystem("memory").pipe_file(path, content)
    else:
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(content)


@pytest.mark.parametrize("is_many", [False, True])
@pytest.mark.parametrize("is_url", [False, True])
@pytest.mark.parametrize("name", JOBS)
def test_none_of_an_earlier_run_stays(folder, name, is_url, is_many):
    """Beside a new output, only its own files stand, and weights of rows, which are a user's."""
    option, output = place_of(name, is_url, is_many)
    (folder / "out").mkdir()
    words = [*JOBS[name].split(), "-o", option]
    assert cli.main(words) == 0
    fresh = contents(folder, is_url)
    stale = [*BESIDE_ROWS, *(WEIGHTS if name != "npy" else WEIGHTS[:1])]
    for ending in stale:
        put(output + ending, b"stale")
    assert cli.main([*words, "--fresh"] if is_many or name == "dedup" else words) == 0
    base = output.rpartition("/")[2]
    kept = {} if name == "npy" else {base + ending: b"stale" for ending in WEIGHTS}
    assert contents(folder, is_url) == {**fresh, **kept}


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("ending", BESIDE_ROWS)
def test_none_is_an_input(folder, name, ending, capsys):
    """It would be removed."""
    words = JOBS[name].split()
    words[words.index("in.jsonl")] = f"in.txt{ending}"
    put(f"in.txt{ending}", b"mine")
    more = [] if name == "npy" else ["--text-format", "txt"]
    assert cli.main([*words, "-o", "in.txt", *more]) == 2
    assert f"is the input in.txt{ending}" in capsys.readouterr().err
    assert Path(f"in.txt{ending}").read_bytes() == b"mine"


# ---- failures ------------------------------------------------------------------------------------

CHANGES = ("put_file", "mv", "rm_file")
"""What changes files at a URL."""


class FailingSystem:
    """A file system whose call of this number fails: before it does something, or after it, when
    the answer is lost; or that call and all later ones."""

    def __init__(self, fs, fails):
        self._fs, self._fails = fs, fails

    def __getattr__(self, name):
        call = getattr(self._fs, name)
        if name not in CHANGES:
            return call

        def failing(*given, **named):
            how = self._fails()
            if how == "before":
                raise OSError(5, "the cable is loose")
            answer = call(*given, **named)
            if how == "after":
                raise OSError(5, "the answer is lost")
            return answer

        return failing


@pytest.fixture
def failing(monkeypatch):
    """A function that lets the changes of some numbers fail, of files here and at URLs, and returns
    a function that tells how many there were."""
    system_of, replace = _urls.system_of, os.replace

    def fail(number, how):
        numbers = itertools.count()
        n_made = [0]

        def fails():
            n_made[0] = now = next(numbers)
            if now == number or (how == "for ever" and now > number):
                return "before" if how == "for ever" else how
            return None

        def failing_system(url):
            fs, place = system_of(url)
            return FailingSystem(fs, fails), place

        def failing_replace(one, other):
            how = fails()
            if how == "before":
                raise OSError(5, "the disk is loose", one, None, other)
            replace(one, other)
            if how == "after":
                raise OSError(5, "the answer is lost", one, None, other)

        monkeypatch.setattr(_urls, "system_of", failing_system)
        monkeypatch.setattr(_output_files.os, "replace", failing_replace)
        return lambda: n_made[0] + 1

    yield fail
    monkeypatch.setattr(_output_files.os, "replace", replace)


HOW = ["before", "after", "for ever"]
ENDINGS = ("", ".ids.txt", ".labels.npy")
OLD = [set(), {""}, {"", ".labels.npy"}, set(ENDINGS)]


def check_each_failure(failing, how, output, leaves, before, make, seen):
    """Restore what was before and let each change fail in turn, as `how` says. The files are then
    those of one run; if all changes fail from then on, the output itself may be missing. `leaves`
    says whether hidden files may stay."""
    old, n_failed = seen(before), 0
    failing(-1, "before")
    make()
    new = seen(None)
    for number in itertools.count():
        seen(before)
        n_changes = failing(number, how)
        try:
            make()
        except OSError:
            n_failed += 1
        found = seen(None)
        shown = {name: text for name, text in found.items() if not name.startswith(".")}
        assert shown in (old, new) or (how == "for ever" and output not in shown), number
        if how == "before" and not leaves:
            assert shown == found
        failing(-1, "before")
        make()
        found = seen(None)
        assert {name: text for name, text in found.items() if not name.startswith(".")} == new
        if n_changes() <= number:
            break
    assert n_failed >= 1


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("is_url", [False, True])
@pytest.mark.parametrize("old", OLD, ids=len)
@pytest.mark.parametrize("new", [{""}, {"", ".ids.txt"}], ids=len)
def test_they_change_together_or_not_at_all(tmp_path, failing, monkeypatch, old, new, is_url, how):
    """Whichever change of a file fails."""
    monkeypatch.chdir(tmp_path)
    fs = fsspec.filesystem("memory")
    folder = "memory://out/" if is_url else "out/"

    def seen(before):
        if before is not None:
            fs.store.clear()
            shutil.rmtree("out", ignore_errors=True)
            os.mkdir("out")
            for ending in before:
                put(f"{folder}x{ending}", f"old{ending}".encode())
        return contents(tmp_path, is_url)

    def make():
        with staged(f"{folder}x", ENDINGS[1:]) as path:
            for ending in new:
                with _output_files.atomic_output(path + ending, synced=False) as file:
                    file.write(f"new{ending}".encode())

    check_each_failure(failing, how, "x", is_url, old, make, seen)


@pytest.mark.parametrize(("is_url", "is_many"), [(False, False), (True, False), (True, True)])
def test_files_of_jobs_change_together(folder, failing, is_url, is_many):
    option, output = place_of("npy", is_url, is_many)
    words = [*f"{JOBS['npy']} --label-field label --id-field id".split(), "-o", option]
    (folder / "out").mkdir()
    assert cli.main(words) == 0
    fs = fsspec.filesystem("memory")
    before = dict(fs.store)
    shutil.copytree("out", "before")
    write_jsonl(folder / "in.jsonl", records("wz"))

    def seen(state):
        if state is not None:
            fs.store.clear()
            fs.store.update(before)
            shutil.rmtree("out")
            shutil.copytree("before", "out")
        return contents(folder, is_url)

    def make():
        if cli.main(words):
            raise OSError(5, "which the command has said")

    base = output.rpartition("/")[2]
    check_each_failure(failing, "before", base, is_url or is_many, (), make, seen)
