"""Inputs of jobs: those that change are refused, and those that can be read once are."""

import contextlib
import functools
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from _scripts.commands import command
from _scripts.programs import Program, posix

from sparsemaps import MinHash
from sparsemaps._io import _locks, _output_files, _sources
from sparsemaps.files import (
    Svmlight,
    deduplicate_files,
    filter_files,
    map_files,
    predict_files,
    similar_pairs_of_files,
    train_files,
)
from sparsemaps.files._kernel_matrix import write_kernel_file
from sparsemaps.kernels import min_max_kernel
from sparsemaps.linear import KernelClassifier

MINHASH = MinHash(n_hashes=32, random_state=0)
ROWS = b"".join(b"%d 1:1 %d:1 %d:1\n" % (n % 2, n + 2, n + 3) for n in range(0, 40, 2)) * 2
TEXTS = b"".join(b'{"text": "some words %d", "label": "%d"}\n' % (n, n % 2) for n in range(20)) * 2


def rewrite(path):
    """Other content of the same size, at another time."""
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"1:1", b"1:2"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


def rename(path):
    """The same content, size and time, in another file."""
    before, other = path.stat(), path.with_suffix(".new")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(other, path)


def append(path):
    about = path.stat()
    with open(path, "ab") as file:
        file.write(b"1 x\n")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


CHANGES = [(rewrite, "time in nanoseconds"), (rename, "inode"), (append, "size")]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "in.svm").write_bytes(ROWS)
    return tmp_path / "in.svm"


def jobs(file, output):
    """Each job, with the number of times that it reads the input."""
    return {
        "map": (1, lambda: map_files(MINHASH, [file], output)),
        "npy": (1, lambda: map_files(MINHASH, [file], output, format="npy")),
        "pairs": (2, lambda: similar_pairs_of_files(MINHASH, file, output, exact=True)),
        "dedup": (2, lambda: deduplicate_files(MINHASH, file, output)),
        "exact": (3, lambda: deduplicate_files(MINHASH, file, output, exact=True)),
        "kernel": (1, lambda: command("kernel", "minmax", file, "-o", output)),
    }


def refused_in_one_line(done, file, what):
    """A command says what has changed."""
    assert done.returncode == 2
    n = len(ROWS)
    values = {"size": f"was {n}, and is now {n + 4}"}.get(what, "was .*, and is now .*")
    said = (
        f"sparsemaps: the input {re.escape(str(file))} changed during the run: its {what} "
        f"{values}; run again when the file is complete\n"
    )
    assert re.fullmatch(said, done.stderr.decode())


@pytest.mark.parametrize(("change", "what"), CHANGES)
@pytest.mark.parametrize("job", ["map", "npy", "pairs", "dedup", "exact", "kernel"])
def test_an_input_that_changes_gives_no_output(file, tmp_path, monkeypatch, job, change, what):
    """Before or after any of its readings."""
    if sys.platform == "win32" and change is rename:
        pytest.skip("an open file has no other one in its place")
    n_readings, run = jobs(file, tmp_path / "out")[job]
    content, before = file.read_bytes(), _sources._text_input.open_text
    for moment in range(2 * n_readings):
        file.write_bytes(content)
        n_opened = 0

        def opening(path, *arguments, moment=moment, **limits):
            nonlocal n_opened
            if n_opened == moment // 2 and moment % 2 == 0:
                change(file)
            n_opened += 1
            return _Reading(
                before(path, *arguments, **limits), n_opened - 1 == moment // 2 and moment % 2
            )

        class _Reading:
            def __init__(self, reading, changes):
                self.reading, self.changes = reading, changes

            def __enter__(self):
                return self.reading.__enter__()

            def __exit__(self, *error):
                if self.changes:
                    change(file)
                return self.reading.__exit__(*error)

        with monkeypatch.context() as patch:
            patch.setattr(_sources._text_input, "open_text", opening)
            if job == "kernel":
                refused_in_one_line(run(), file, what)
            else:
                with pytest.raises(ValueError, match=rf"the input .*in\.svm changed.*{what}"):
                    run()
        assert n_opened == moment // 2 + 1
        left = {path.name for path in tmp_path.iterdir() if path.is_file()} - {"in.svm"}
        assert left == set()


class _Disturbing(io.BytesIO):
    """An output; when it gets a line of the second input, another file changes."""

    def __init__(self, mark, path):
        super().__init__()
        self.mark, self.path = mark, path

    def write(self, content):
        if self.mark in content:
            rewrite(self.path)
        return super().write(content)


@functools.lru_cache
def model():
    X = np.eye(4, 60)[[0, 1, 2, 3] * 5]
    return KernelClassifier(MinHash(n_hashes=32, random_state=0)).fit(X, [0, 1] * 10)


def two_inputs(file, output):
    """Jobs of two inputs that write to an object, with what stands in the second input alone."""
    both = [file, file.with_name("second.svm")]
    return {
        "map": (b"7 ", lambda: map_files(MINHASH, both, output)),
        "dedup": (b"7 ", lambda: deduplicate_files(MINHASH, both, output)),
        "predict": (b"41\t", lambda: predict_files(model(), both, output)),
        "filter": (b"7 ", lambda: filter_files(model(), both, output, label=0, min_score=-9)),
    }


@pytest.mark.parametrize("job", ["map", "dedup", "predict", "filter"])
def test_an_input_that_changes_while_another_is_read(file, job):
    """After its own last reading."""
    second = file.with_name("second.svm")
    second.write_bytes(b"7 1:1 55:1 56:1\n")
    mark, _ = two_inputs(file, None)[job]
    output = _Disturbing(mark, file)
    with pytest.raises(ValueError, match=r"in\.svm changed during the run: its time"):
        two_inputs(file, output)[job][1]()
    assert mark in output.getvalue()


@posix
@pytest.mark.parametrize("job", ["train", "kernel"])
def test_an_input_that_changes_before_a_pipe_is_read(file, tmp_path, job):
    """The job opens the pipe when it has read the file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with open(pipe, "wb") as rows:
            rewrite(file)
            rows.write(ROWS)

    run = {
        "train": lambda: train_files(model(), [file, pipe], tmp_path / "model"),
        "kernel": lambda: write_kernel_file(
            min_max_kernel, file, pipe, tmp_path / "out", source=Svmlight()
        ),
    }[job]
    writer = threading.Thread(target=write)
    writer.start()
    with pytest.raises(ValueError, match=r"in\.svm changed during the run: its time"):
        run()
    writer.join()
    assert {path.name for path in tmp_path.iterdir()} == {"in.svm", "pipe"}


def test_an_earlier_delivery_that_changes(file, tmp_path):
    """While the records that are kept are written."""
    deduplicate_files(MINHASH, file, tmp_path / "one")
    codes = tmp_path / "one.stages" / "codes.npy"
    (tmp_path / "second.svm").write_bytes(b"7 1:1 55:1 56:1\n")
    output = _Disturbing(b"7 ", codes)
    with pytest.raises(ValueError, match=r"codes\.npy changed during the run: its time"):
        deduplicate_files(MINHASH, tmp_path / "second.svm", output, against=tmp_path / "one.stages")


def test_codes_that_change_while_they_are_read(file, tmp_path):
    """Before an output of their own appears."""
    codes = tmp_path / "codes.npy"
    map_files(MINHASH, [file], codes, format="npy")

    class Disturbed(KernelClassifier):
        def _scores_of_block(self, *some):
            rewrite(codes)
            return super()._scores_of_block(*some)

    disturbed = Disturbed(MINHASH).fit(np.eye(4, 60), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"codes\.npy changed during the run: its time"):
        predict_files(disturbed, codes, f"{tmp_path}/labels/")
    assert not list((tmp_path / "labels").glob("codes*"))


def test_an_input_that_is_removed(file):
    (known,) = _sources.known_inputs([file])
    file.unlink()
    with pytest.raises(ValueError, match=r"in\.svm was removed during the run"):
        _sources.refuse_changes([known])
    with pytest.raises(FileNotFoundError):
        _sources.known_inputs([file])


# ---- what can be read once -----------------------------------------------------------------------


COMMANDS = {
    "map": ["map", "minhash", "{}", "-o", "out"],
    "map, threads": ["map", "minhash", "{}", "-o", "out", "--n-jobs", "2"],
    "map, npy": ["map", "minhash", "{}", "-o", "out", "--format", "npy"],
    "map, texts": ["map", "minhash", "{}", "-o", "out", "--texts", "word:1", "--text-format",
                   "jsonl", "--label-field", "label"],
    "text": ["text", "{}", "-o", "out", "--text-format", "jsonl", "--label-field", "label"],
    "kernel": ["kernel", "minmax", "{}", "-o", "out"],
    "pairs": ["pairs", "minhash", "{}", "-o", "out", "--exact"],
    "dedup": ["dedup", "{}", "-o", "out"],
    "dedup, exact": ["dedup", "{}", "-o", "out", "--exact", "--clusters", "table"],
    "dedup, texts": ["dedup", "{}", "-o", "out", "--texts", "word:1", "--text-format", "jsonl"],
    "info": ["info", "{}"],
}  # fmt: skip


def content_of(arguments):
    return TEXTS if "jsonl" in arguments else ROWS


@posix
@pytest.mark.parametrize("name", COMMANDS)
def test_a_named_pipe(tmp_path, name, monkeypatch):
    """It is what a file of its content is."""
    arguments, content = COMMANDS[name], content_of(COMMANDS[name])
    (tmp_path / "file").write_bytes(content)
    monkeypatch.chdir(tmp_path)

    def outputs(input):
        done = command(*(input if one == "{}" else one for one in arguments))
        found = {one: (tmp_path / one).read_bytes() for one in os.listdir() if one in
                 ("out", "table")}  # fmt: skip
        return done.returncode, done.stdout, found

    expected = outputs("file")
    assert expected[0] == 0
    os.mkfifo("pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()
    assert outputs("pipe") == expected
    writer.join()


@posix
@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="no such device")
@pytest.mark.parametrize("name", ["map, npy", "dedup, exact", "pairs", "kernel", "info"])
def test_standard_input_by_its_name(file, tmp_path, name):
    """A pipe, and a file."""
    outputs = []
    for number, input in enumerate((file, "/dev/stdin", "/dev/stdin")):
        folder = tmp_path / str(number)
        folder.mkdir()
        arguments = [input if one == "{}" else one for one in COMMANDS[name]]
        reader, writer = os.pipe()
        with open(file, "rb") as rows, open(reader, "rb") as pipe, open(folder / "o", "wb") as said:
            streams = {"stdin": rows if number == 2 else pipe, "stdout": said}
            program = Program(*arguments, cwd=folder, **streams)
            if number == 1:
                os.write(writer, ROWS)
            os.close(writer)
            assert program.end()[0] == 0
        outputs.append(
            {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        )
    assert outputs[0] == outputs[1] == outputs[2]
    assert any(outputs[0].values())


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_a_substituted_process(file, tmp_path):
    program = shlex.join([sys.executable, "-P", "-m", "sparsemaps", "dedup"])
    line = f"{program} <(cat in.svm) <(cat in.svm) -o piped --exact"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert command("dedup", file, "-o", tmp_path / "out", "--exact").returncode == 0
    assert (tmp_path / "piped").read_bytes() == (tmp_path / "out").read_bytes()


@posix
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["map", "minhash", "pipe", "-o", "out/"], "inputs that are files"),
        (["dedup", "pipe", "-o", "out/"], "inputs that are files"),
        (["map", "minhash", "pipe", "./pipe", "-o", "out"], "./pipe is given twice, but can"),
        (["kernel", "minmax", "pipe", "pipe", "-o", "out"], "pipe is given twice"),
        (["kernel", "minmax", "-", "-", "-o", "out"], "standard input is given twice"),
        (["pairs", "minhash", "pipe", "--other", "pipe", "-o", "out"], "pipe is given twice"),
        (["dedup", "in.svm", "--against", "pipe", "-o", "out"], "or folders of stages, got pipe"),
        (["dedup", "table.parquet", "-o", "out"], "Parquet cannot be read from pipes"),
        (["map", "minhash", "table.parquet", "--texts", "word:1", "-o", "out"], "Parquet cannot"),
    ],
)
def test_pipes_that_are_refused(file, tmp_path, monkeypatch, arguments, message):
    """Before they are opened, which would wait for somebody who writes."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    os.mkfifo("table.parquet")
    done = command(*arguments)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert sorted(os.listdir()) == ["in.svm", "pipe", "table.parquet"]


@posix
def test_a_character_device(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("map", "map, texts", "dedup", "pairs", "info"):
        assert (
            command(*("/dev/null" if one == "{}" else one for one in COMMANDS[name])).returncode
            == 0
        )


# ---- one writer ----------------------------------------------------------------------------------


@posix
def test_a_second_run_is_one_error(file, tmp_path, monkeypatch):
    """By the command and by Python; the first one is not disturbed."""
    monkeypatch.chdir(tmp_path)
    for arguments, folder in (
        (["dedup", "in.svm", "-o", "out"], "out.stages"),
        (["dedup", "in.svm", "-o", "many/"], "many.stages"),
        (["map", "minhash", "in.svm", "-o", "mapped/"], "mapped/"),
    ):
        with _locks.one_writer(folder):
            before = os.listdir(folder)
            done = command(*arguments)
            assert done.returncode == 2
            assert done.stderr.startswith(b"sparsemaps: another run is writing to ")
            assert done.stderr.count(b"\n") == 1
            assert os.listdir(folder) == before
        assert os.listdir(folder) == []
        assert command(*arguments).returncode == 0


@posix
def test_a_run_that_was_killed_leaves_no_lock(tmp_path):
    code = (
        "import os, sys\n"
        "from sparsemaps._io import _locks\n"
        "with _locks.one_writer(sys.argv[1]):\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    folder = str(tmp_path / "folder")
    program = [sys.executable, "-P", "-c", code, folder]
    assert subprocess.run(program, check=False).returncode == -9
    assert os.listdir(folder) == [_locks.LOCK]
    with _locks.one_writer(folder):
        pass
    assert os.listdir(folder) == []


@posix
def test_a_run_that_ends_while_another_one_begins(tmp_path):
    """It has the lock for itself for a moment, to remove its file."""
    import fcntl

    path = tmp_path / _locks.LOCK
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(file, fcntl.LOCK_EX)

    def end():
        os.unlink(path)
        os.close(file)

    timer = threading.Timer(0.1, end)
    timer.start()
    with _locks.one_writer(str(tmp_path), shared=True):
        assert path.exists()
    timer.join()


@posix
def test_locks_that_are_shared(tmp_path):
    folder = str(tmp_path / "folder")
    with _locks.one_writer(folder, shared=True):
        with _locks.one_writer(folder, shared=True):
            pass
        assert os.listdir(folder) == [_locks.LOCK]
        with pytest.raises(ValueError, match="another run is wri"), _locks.one_writer(folder):
            pass
    assert os.listdir(folder) == []
    with (
        _locks.one_writer(folder),
        pytest.raises(ValueError, match="another run is writing to"),
        _locks.one_writer(folder, shared=True),
    ):
        pass


@posix
def test_one_of_many_has_the_lock(tmp_path):
    """Though each removes the file of the lock, and the folder, at its end."""
    folder = str(tmp_path / "folder")
    inside, n_met = [], []

    def work():
        n_done = 0
        while n_done < 100:
            try:
                with _locks.one_writer(folder):
                    inside.append(1)
                    n_met.append(len(inside))
                    inside.pop()
                    n_done += 1
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            except ValueError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(n_met) == {1}


def test_files_of_others_stay(file, tmp_path):
    """In the folder of stages too: only what the program can have made is removed."""
    stages = tmp_path / "out.stages"
    stages.mkdir()
    others = [
        "codes-part-of-mine",
        "part-000000.npy",
        "mine.tmp",
        ".sparsemaps-mine.tmp",
        "search.json",
    ]
    for name in others:
        (stages / name).write_bytes(b"mine")
    own = [".sparsemaps-0123456789abcdef.tmp"]
    for name in own:
        (stages / name).write_bytes(b"left")
    deduplicate_files(MINHASH, file, tmp_path / "out")
    left = set(os.listdir(stages))
    assert left >= set(others)
    assert not left & set(own)
    (stages / "rows.svm").write_bytes(ROWS)
    with pytest.raises(ValueError, match=r"rows\.svm is in the folder of stages; move it"):
        deduplicate_files(MINHASH, stages / "rows.svm", tmp_path / "out")


def test_names_of_temporary_files_differ(tmp_path):
    seen = set()
    for _ in range(20):
        with _output_files.atomic_output(tmp_path / "out"):
            seen |= set(os.listdir(tmp_path))
    seen.discard("out")
    assert len(seen) == 20
    assert all(_output_files._TEMPORARY.fullmatch(name) for name in seen)
    np.testing.assert_equal(os.listdir(tmp_path), ["out"])
