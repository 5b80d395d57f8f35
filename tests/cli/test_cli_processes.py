"""The ``sparsemaps`` command as a process: streams, signals, full disks, progress."""

import contextlib
import functools
import importlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import scipy.sparse as sp
from _scripts.commands import command
from _scripts.limits import largest_file
from _scripts.programs import CLOSED, Program, posix

import sparsemaps
from sparsemaps import cli
from sparsemaps._io._progress import Progress
from sparsemaps.libsvm import dump_svmlight_file


@posix
def test_closed_pipe(file):
    reader, writer = os.pipe()
    os.close(reader)
    program = Program("map", "minmax", file, "-o", "-", cwd=file.parent, stdout=writer)
    os.close(writer)
    assert program.end() == (141, b"")


@posix
@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("SIGINT", 130, b"sparsemaps: interrupted\n"),
        ("SIGTERM", 143, b"sparsemaps: terminated\n"),
        ("SIGHUP", 129, b"sparsemaps: terminated\n"),  # which Windows does not have
    ],
)
def test_signals(tmp_path, name, status, said):
    """What ends it in the middle of its work leaves the output as it was."""
    out = tmp_path / "out.svm"
    out.write_bytes(b"before")
    reader, writer = os.pipe()
    # Under nohup, hangups are ignored.
    before = functools.partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)
    program = Program(
        "map", "minmax", "--n-jobs", 2, "-", "-o", out, cwd=tmp_path, stdin=reader, before=before
    )
    os.close(reader)
    with open(writer, "wb") as pipe:
        lines = b"1 1:1 2:1\n" * 10_000
        # It has read, and so begun, once it takes more than a pipe holds.
        for _ in range(20):
            pipe.write(lines)
        pipe.flush()
        program.signal(getattr(signal, name))
        program.wait()
    assert program.end() == (status, said)
    assert os.listdir(tmp_path) == ["out.svm"]
    assert out.read_bytes() == b"before"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_full_disk(file, tmp_path):
    done = command("map", "minmax", file, "-o", "/dev/full")
    assert (done.returncode, done.stderr) == (
        2,
        b"sparsemaps: /dev/full: No space left on device\n",
    )
    with open("/dev/full", "wb") as full:
        program = Program("map", "minmax", file, "-o", "-", cwd=tmp_path, stdout=full)
        assert program.end() == (2, b"sparsemaps: standard output: No space left on device\n")
        program = Program("info", file, cwd=tmp_path, stdout=full)
        assert program.end() == (2, b"sparsemaps: No space left on device\n")


@posix
@pytest.mark.parametrize("file_format", ["svmlight", "npy"])
def test_a_file_that_may_not_grow(file, tmp_path, file_format):
    """As on a full disk: an error in the middle of the output, which then is not there. It names
    the file that is too large, not one beside it."""
    out = tmp_path / "out"
    with largest_file(2000):
        done = command("map", "minmax", file, "-o", out, "--format", file_format)
    said = f"sparsemaps: {out}: File too large\n".encode()
    assert (done.returncode, done.stderr) == (2, said)
    assert os.listdir(tmp_path) == ["in.svm"]


@posix
def test_closed_streams(file):
    for name, arguments in (("stdin", ["-", "-o", "out"]), ("stdout", [file, "-o", "-"])):
        program = Program("map", "minmax", *arguments, cwd=file.parent, **{name: CLOSED})
        status, said = program.end()
        assert status == 2
        assert said.count(b"\n") == 1
        assert said.startswith(b"sparsemaps: standard ")


@posix
def test_progress_on_a_terminal(file, tmp_path):
    import fcntl
    import pty
    import struct
    import termios

    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    program = Program("map", "minmax", file, file, "-o", tmp_path / "out", cwd=tmp_path, stderr=end)
    assert program.end() == (0, b"")
    os.close(end)
    said = b""
    try:
        while more := os.read(terminal, 4096):
            said += more
    except OSError:  # Linux' way to say that the other end is closed
        pass
    os.close(terminal)
    assert b"100%" in said
    assert b"rows/s" in said


def test_a_bar_starts_no_thread(capsys):
    """Where none can be started it would warn of that."""
    before = threading.active_count()
    with Progress(10, shown=True) as bar:
        bar.add(5, 1)
        assert threading.active_count() == before
    assert "50%" in capsys.readouterr().err


def test_as_a_program(file):
    """By the name that the installation gives it; the other tests here fork a process for it."""
    arguments = ["map", "minmax", "-o", "-", str(file)]
    program = shutil.which("sparsemaps", path=os.path.dirname(sys.executable))
    if program is None:
        pytest.skip("it was not installed beside Python")
    done = subprocess.run([program, *arguments], capture_output=True, check=False, cwd=file.parent)
    assert (done.returncode, done.stderr) == (0, b"40 rows, 3 without an entry\n")
    assert done.stdout == command(*arguments).stdout


def test_streams_of_the_caller_stay(file, tmp_path):
    """Whatever goes wrong: only the program's own process may lose its output."""
    for arguments in (["map", "minmax", tmp_path / "none", "-o", "-"], ["info", tmp_path / "none"]):
        before = os.fstat(1).st_ino, sys.stdout
        assert cli.main([str(argument) for argument in arguments]) == 2
        assert (os.fstat(1).st_ino, sys.stdout) == before


@posix
def test_handlers_of_signals_are_those_of_the_caller(file):
    """A handler that the caller has set is not replaced; the others come back after the call."""
    numbers, seen = (signal.SIGTERM, signal.SIGHUP), []

    class Output(io.StringIO):
        def write(self, text):
            seen.append([signal.getsignal(number) for number in numbers])
            return super().write(text)

    def own(number, frame): ...

    before = [signal.signal(signal.SIGTERM, own), signal.signal(signal.SIGHUP, signal.SIG_DFL)]
    try:
        with contextlib.redirect_stdout(Output()):
            assert cli.main(["info", str(file)]) == 0
        after = [signal.getsignal(number) for number in numbers]
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    assert after == [own, signal.SIG_DFL]
    assert seen[0][0] is own
    assert seen[0][1] is not signal.SIG_DFL


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_wait_for_the_end_of_an_import(tmp_path, monkeypatch, name):
    """A compiled module that is interrupted raises an ImportError."""
    number = getattr(signal, name)
    (tmp_path / f"during_{name}.py").write_text(
        f"import signal\ntry:\n    signal.raise_signal({number:d})\n    whole = True\n"
        "except BaseException:\n    whole = False\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    imported = []

    def run(options):
        imported.append(importlib.import_module(f"during_{name}").whole)
        time.sleep(10)  # until the signal comes again

    monkeypatch.setattr(cli, "load", lambda name: run)
    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert cli.main(["info", str(tmp_path)]) == 128 + number
    finally:
        signal.signal(number, before)
    assert imported == [True]


@posix
def test_ctrl_c_while_it_is_imported(tmp_path):
    """One line, whatever is being imported."""
    code = (
        "import sys, builtins\n"
        "found = builtins.__import__\n"
        "def slow(name, *rest):\n"
        "    if name == 'argparse':\n"
        "        raise KeyboardInterrupt\n"
        "    return found(name, *rest)\n"
        "from sparsemaps import __main__ as program\n"
        "sys.modules.pop('sparsemaps.cli', None)\n"
        "builtins.__import__ = slow\n"
        "sys.exit(program.main())\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=False,
                          cwd=tmp_path)  # fmt: skip
    assert (done.returncode, done.stderr) == (130, b"sparsemaps: interrupted\n")


def test_version_and_help():
    said = command("--version").stdout
    assert sparsemaps.__version__ in said.decode()
    program = [sys.executable, "-P", "-m", "sparsemaps", "--version"]
    assert subprocess.run(program, capture_output=True, check=True).stdout.split() == said.split()
    for arguments in (["--help"], ["map", "--help"], ["map", "minmax", "--help"]):
        done = command(*arguments)
        assert done.returncode == 0
        assert b"usage" in done.stdout


GUIDE = Path(__file__).parents[2] / "docs" / "recipes.md"


def guide_commands(program):
    """The commands of the guide's block in which `program` is called."""
    blocks = re.findall(r"(?:^    \S.*\n)+", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    (block,) = (block for block in blocks if f"    {program} " in block)
    return [line.strip() for line in block.splitlines()]


def run_guide(program, folder):
    """Run them on the digits; what the last one says."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    for name, rows in (("train", slice(0, 1200)), ("test", slice(1200, None))):
        path = folder / f"{name}.svm"
        dump_svmlight_file(sp.csr_array(X[rows]), y[rows], path, zero_based=False)
    for line in guide_commands(program):
        name, *arguments = line.split()
        if name == "sparsemaps":
            status, said = Program(*arguments, cwd=folder).end()
            assert (status, said.endswith(b" rows\n")) == (0, True)
        else:
            done = subprocess.run([name, *arguments], check=True, capture_output=True, cwd=folder)
    return done.stdout.decode()


@pytest.mark.skipif(not GUIDE.exists(), reason="no documentation here")
@pytest.mark.parametrize(
    ("program", "least"), [("liblinear-train", 91), ("svm-train", 94)], ids=["LIBLINEAR", "LIBSVM"]
)
def test_commands_of_the_guide(program, least, tmp_path):
    """The commands as they stand there; the linear machine alone is at 89 %."""
    if shutil.which(program) is None:
        pytest.skip(f"no {program}")
    said = run_guide(program, tmp_path)
    assert float(re.search(r"Accuracy = ([\d.]+)%", said)[1]) > least
