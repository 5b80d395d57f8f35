"""The ``sparsemaps`` command."""

import argparse
import gzip
import inspect
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import map_classes, random_csr
from programs import CLOSED, Program

import sparsemaps
from sparsemaps import ConsistentWeightedSampling, CountSketch, cli
from sparsemaps._tools._progress import Progress
from sparsemaps.cli import _commands
from sparsemaps.cli._options import KERNELS, MAPS
from sparsemaps.files import _map
from sparsemaps.libsvm import _pipeline, dump_svmlight_file, load_svmlight_file
from sparsemaps.libsvm._pipeline import cut_lines


class Done:
    """What a program leaves: its status and what it said."""

    def __init__(self, arguments, stdin):
        streams = [io.TextIOWrapper(io.BytesIO(text)) for text in (stdin, b"", b"")]
        kept = sys.stdin, sys.stdout, sys.stderr
        sys.stdin, sys.stdout, sys.stderr = streams
        try:
            self.returncode = cli.main(arguments)
        except SystemExit as left:  # argparse's way
            self.returncode = left.code or 0
        finally:
            sys.stdin, sys.stdout, sys.stderr = kept
        for stream in streams[1:]:
            stream.flush()
        self.stdout, self.stderr = (stream.buffer.getvalue() for stream in streams[1:])


def command(*arguments, stdin=b""):
    """Run the command within this process, as starting Python anew takes a second."""
    return Done([str(argument) for argument in arguments], stdin)


@pytest.fixture
def file(tmp_path):
    X, y = random_csr(), np.arange(40) % 3
    path = tmp_path / "in.svm"
    dump_svmlight_file(X, y, path, zero_based=False)
    return path


def test_products(file, tmp_path):
    """Min-max times signs and times Fourier features, of the file and of the class alike."""
    X, _ = load_svmlight_file(file, zero_based=False)
    sampled = sparsemaps.ConsistentWeightedSampling(n_hashes=9, bits=2)
    for name, other in (
        ("minmax-signs", sparsemaps.SignProjection(n_hashes=9)),
        ("minmax-fourier", sparsemaps.RandomFourier(n_components=9)),
    ):
        product = sparsemaps.KernelProduct(maps=(sampled, other), random_state=4)
        out = tmp_path / name
        done = command("map", name, "--n-hashes", 9, "--bits", 2, "--seed", 4, file, "-o", out)
        assert done.returncode == 0
        Z, _ = load_svmlight_file(out, zero_based=False, n_features=9 << (2 + (name[7] == "s")))
        np.testing.assert_array_equal(Z.toarray(), product.fit_transform(X).toarray())
    done = command("map", "minmax-fourier", "--ones", file, "-o", tmp_path / "x")
    assert done.returncode == 2
    assert b"is for maps with one-hot output" in done.stderr


@pytest.mark.parametrize(
    ("name", "new_map"),
    [
        ("count-sketch", sparsemaps.CountSketch(n_components=9, random_state=0)),
        (
            "tensor-sketch",
            sparsemaps.TensorSketch(
                degree=3, coef0=0.5, n_components=9, dense_output=False, random_state=0
            ),
        ),
        ("maclaurin", sparsemaps.RandomMaclaurin(kernel="exp", n_components=9, random_state=0)),
        ("maclaurin", sparsemaps.RandomMaclaurin(n_components=9, h01=True, random_state=0)),
        ("fourier", sparsemaps.RandomFourier(kernel="laplacian", n_components=9, random_state=0)),
        ("fastfood", sparsemaps.Fastfood(hash_dim=64, n_components=9, random_state=0)),
        ("binning", sparsemaps.RandomBinning(n_grids=9, n_bins=8, random_state=0)),
        ("signs", sparsemaps.SignProjection(n_hashes=9, random_state=0)),
        (
            "signs",
            sparsemaps.SignProjection(distribution="rademacher", n_hashes=9, random_state=0),
        ),
    ],
    ids=str,
)
def test_each_sketch(file, tmp_path, name, new_map):
    """The command's features are the class's, whatever the width of the file."""
    options = []
    for key, value in new_map.get_params().items():
        if value is True:
            options.append(f"--{key}")
        elif value is not None and key not in ("random_state", "n_jobs", "dense_output", "h01"):
            options.extend([f"--{key.replace('_', '-')}", value])
    out = tmp_path / "out.svm"
    assert command("map", name, *options, file, "-o", out).returncode == 0
    X, y = load_svmlight_file(file, zero_based=False)
    expected = sp.csr_array(new_map.fit_transform(X))
    Z, labels = load_svmlight_file(out, zero_based=False, n_features=expected.shape[1])
    np.testing.assert_array_equal(Z.toarray(), expected.toarray())
    np.testing.assert_array_equal(labels, y)


def test_every_map_is_a_command():
    made = (_commands._load(kind.make)(random_state=0) for kind in MAPS.values())
    assert {type(one).__name__ for one in made} == {
        name for name in sparsemaps.__all__ if isinstance(getattr(sparsemaps, name), type)
    }


def test_minmax(file, tmp_path):
    out = tmp_path / "out.svm"
    done = command("map", "minmax", "--n-hashes", 20, "--bits", 4, "--seed", 3, file, "-o", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    Z, y = load_svmlight_file(out, n_features=320, zero_based=False)
    cws = ConsistentWeightedSampling(n_hashes=20, bits=4, random_state=3)
    assert (cws.fit_transform(random_csr()) != Z).nnz == 0
    np.testing.assert_array_equal(y, np.arange(40) % 3)
    assert sorted(os.listdir(tmp_path)) == ["in.svm", "out.svm"]


def test_count_sketch_to_a_pipe(file):
    done = command("map", "count-sketch", "--n-components", 8, "-o", "-", "-",
                   stdin=file.read_bytes())  # fmt: skip
    assert done.returncode == 0
    Z = CountSketch(n_components=8, random_state=0).fit_transform(random_csr())
    lines = done.stdout.splitlines()
    assert len(lines) == 40
    assert sum(line.count(b":") for line in lines) == Z.nnz


def test_ones(file, tmp_path):
    out = tmp_path / "out.svm.gz"
    assert command("map", "minmax", "--ones", "--n-hashes", 4, file, "-o", out).returncode == 0
    text = gzip.decompress(out.read_bytes())
    assert set(re.findall(rb":(\S+)", text)) == {b"1"}
    done = command("map", "count-sketch", "--ones", file, "-o", out)
    assert done.returncode == 2


def test_widths_and_several_files_agree(tmp_path):
    """A row's features do not depend on what else is in its file."""
    row = b"1 3:1 7:2\n"
    wide = row + b"0 5:1 1000000000000:1\n"
    (tmp_path / "narrow").write_bytes(row)
    (tmp_path / "wide").write_bytes(wide)
    one = command("map", "minmax", "-o", "-", tmp_path / "narrow")
    both = command("map", "minmax", "-o", "-", tmp_path / "wide", tmp_path / "narrow")
    assert both.stdout.startswith(one.stdout)
    assert both.stdout.endswith(one.stdout)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("block_bytes", [1, 100, 5000])
def test_blocks_and_threads_do_not_show(tmp_path, monkeypatch, n_jobs, block_bytes, file):
    """Byte for byte the same; also where short lines are cut again, as they become long."""
    gram = "kernel", "minmax", file, "-o", "-"
    expected = command("map", "minmax", "-o", "-", file).stdout, command(*gram).stdout
    out = tmp_path / "out.svm"
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(_map, "_LINES_BYTES", block_bytes)
    assert command("map", "minmax", "--n-jobs", n_jobs, "-o", out, file).returncode == 0
    assert out.read_bytes() == expected[0]
    assert command(*gram, "--n-jobs", n_jobs).stdout == expected[1]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_errors_name_the_line_in_every_block(tmp_path, monkeypatch, n_jobs):
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", 20)
    source = tmp_path / "in"
    for line, message in (
        (b"1 x:1", "line 41, column 3"),
        (b"1 2:-1", "line 41, index 2: the value -1 is"),
    ):
        source.write_bytes(b"1 1:1 2:1\n" * 40 + line + b"\n1 3:1\nwrong too\n")
        done = command("map", "minmax", "--n-jobs", n_jobs, source, "-o", tmp_path / "out")
        assert done.returncode == 2
        assert message in done.stderr.decode()
        assert os.listdir(tmp_path) == ["in"]


def test_cut_lines():
    lines = b"".join(b"%d\n" % i for i in range(10))
    for text in (lines, lines + b"end"):
        for most in range(1, 12):
            parts = list(cut_lines(text, most))
            assert b"".join(parts) == text
            assert all(0 < len(part.splitlines()) <= most + part.endswith(b"d") for part in parts)


def test_empty_rows_keep_their_lines(tmp_path):
    (tmp_path / "in").write_bytes(b"1\n2 1:1\n3\n")
    done = command("map", "minmax", "--n-hashes", 2, "-o", "-", tmp_path / "in")
    assert [line.split()[0] for line in done.stdout.splitlines()] == [b"1", b"2", b"3"]


BAD = {
    "no such file": (None, "No such file or directory"),
    "not the format": (b"1 1:1\n1 x:2\n", "line 2, column 3: expected index:value"),
    "negative": (
        b"1 1:1\n1 2:-4\n",
        "line 2, index 2: the value -4 is negative; the min-max kernel takes",
    ),
    "NaN": (b"1 1:nan\n", "line 1, index 1: the value is NaN; all values"),
    "index 0": (b"1 0:1\n", "line 1, column 3: indices count from 1"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input(tmp_path, text, message):
    source = tmp_path / "in.svm"
    if text is not None:
        source.write_bytes(text)
    done = command("map", "minmax", source, "-o", tmp_path / "out.svm")
    error = done.stderr.decode()
    assert done.returncode == 2
    assert error.startswith(f"sparsemaps: {source}: ")
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out.svm").exists()
    assert set(os.listdir(tmp_path)) <= {"in.svm"}


def test_header(file, tmp_path):
    out = tmp_path / "out.svm"
    plain = command("map", "minmax", "--n-hashes", 4, file, "-o", "-").stdout
    done = command("map", "minmax", "--header", "--n-hashes", 4, file, "-o", out)
    assert done.returncode == 0
    header, _, rest = out.read_bytes().partition(b"\n")
    assert header.decode() == f"# sparsemaps map minmax --header --n-hashes 4 {file} -o {out}"
    assert rest == plain
    X, _ = load_svmlight_file(out)
    assert X.shape[0] == 40


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_compressed(file, tmp_path, ending):
    X, y = load_svmlight_file(file, zero_based=False)
    source, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    dump_svmlight_file(X, y, source, zero_based=False)
    assert command("map", "minmax", source, "-o", out).returncode == 0
    Z, _ = load_svmlight_file(out)
    expected, _ = load_svmlight_file(io.BytesIO(command("map", "minmax", file, "-o", "-").stdout))
    assert (expected != Z).nnz == 0
    source.write_bytes(source.read_bytes()[:200])
    done = command("map", "minmax", source, "-o", tmp_path / "none")
    assert done.returncode == 2
    assert done.stderr.startswith(f"sparsemaps: {source}: cannot be decompressed".encode())


def test_coefficients(file, tmp_path):
    out = tmp_path / "out"
    options = "--kernel", "0.5,0,2", "--n-components", 9
    assert command("map", "maclaurin", *options, file, "-o", out).returncode == 0
    X, _ = load_svmlight_file(file, zero_based=False)
    series = sparsemaps.RandomMaclaurin(kernel=(0.5, 0, 2), n_components=9, random_state=0)
    Z, _ = load_svmlight_file(out, zero_based=False, n_features=9)
    np.testing.assert_array_equal(Z.toarray(), series.fit_transform(X))


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(file, tmp_path, name):
    """Each row's number, then its kernel with every row of TRAIN, in full precision."""
    X, y = load_svmlight_file(file, zero_based=False)
    test = tmp_path / "test.svm"
    dump_svmlight_file(X[5:8], y[5:8], test, zero_based=False)
    function = _commands._load(KERNELS[name].make)
    for inputs, rows in (([file], slice(None)), ([file, test], slice(5, 8))):
        out = tmp_path / "out"
        done = command("kernel", name, *inputs, "-o", out)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        K, labels = load_svmlight_file(out, zero_based=True)
        K = K.toarray()
        np.testing.assert_array_equal(labels, y[rows])
        np.testing.assert_array_equal(K[:, 0], np.arange(1, len(labels) + 1))
        np.testing.assert_allclose(K[:, 1:], function(X[rows], X), rtol=1e-14, atol=1e-300)


def test_bad_kernels(file, tmp_path):
    out = tmp_path / "out"
    done = command("kernel", "laplacian", "--gamma", -1, file, "-o", out)
    assert done.returncode == 2
    assert done.stderr.startswith(b"sparsemaps: --gamma must be a finite number above 0, got -1")
    done = command("kernel", "minmax", file, tmp_path / "none", "-o", out)
    assert done.stderr.decode() == f"sparsemaps: {tmp_path / 'none'}: No such file or directory\n"
    assert not out.exists()


def test_bad_parameters(file, tmp_path):
    done = command("map", "minmax", "--bits", 40, file, "-o", tmp_path / "out")
    assert done.stderr == b"sparsemaps: --bits must be from 1 to 16, got 40\n"
    assert done.returncode == 2
    assert command("map", "minmax", "--bits", "x", file, "-o", tmp_path / "out").returncode == 2
    assert command("map", "nonsense").returncode == 2
    assert command().returncode == 2


def test_info(file, tmp_path):
    done = command("info", file)
    lines = dict(line.split(None, 1) for line in done.stdout.decode().splitlines())
    X = random_csr()
    assert lines["rows"] == "40"
    assert lines["entries"].startswith(f"{X.nnz} (")
    assert lines["columns"] == f"{X.indices.min() + 1} to {X.indices.max() + 1}"
    assert lines["values"] == f"{X.data.min():g} to {X.data.max():g}"
    assert lines["labels"] == "0: 14, 1: 13, 2: 13"
    assert command("info", tmp_path / "none").returncode == 2
    assert command("info", "-", stdin=b"").stdout.decode().split() == [
        "rows", "0", "columns", "none", "entries", "0", "values", "none", "labels", "none",
    ]  # fmt: skip


posix = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")


@posix
def test_closed_pipe(file):
    reader, writer = os.pipe()
    os.close(reader)
    program = Program("map", "minmax", file, "-o", "-", cwd=file.parent, stdout=writer)
    os.close(writer)
    assert program.end() == (141, b"")


@posix
@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        (signal.SIGINT, 130, b"sparsemaps: interrupted\n"),
        (signal.SIGTERM, 143, b"sparsemaps: terminated\n"),
    ],
)
def test_signals(tmp_path, number, status, said):
    """What ends it in the middle of its work leaves the output as it was."""
    out = tmp_path / "out.svm"
    out.write_bytes(b"before")
    reader, writer = os.pipe()
    program = Program("map", "minmax", "--n-jobs", 2, "-", "-o", out, cwd=tmp_path, stdin=reader)
    os.close(reader)
    with open(writer, "wb") as pipe:
        lines = b"1 1:1 2:1\n" * 10_000
        # It has read, and so begun, once it takes more than a pipe holds.
        for _ in range(20):
            pipe.write(lines)
        pipe.flush()
        program.signal(number)
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
@pytest.mark.parametrize("file_format", ["svmlight", "npy", "npz"])
def test_a_file_that_may_not_grow(file, tmp_path, file_format):
    """As on a full disk: an error in the middle of the output, which then is not there. It names
    the file that is too large, not one beside it."""
    import resource

    out = tmp_path / "out"
    limit, greatest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, greatest))
    try:
        done = command("map", "minmax", file, "-o", out, "--format", file_format)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, greatest))
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
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == command(*arguments).stdout


def test_options_are_the_parameters():
    """Every parameter that a file can use is an option, with the class's default."""
    left_out = {"random_state", "n_jobs", "dense_output", "pitch_density", "X", "Y"}
    for kind in [*MAPS.values(), *KERNELS.values()]:
        parameters = inspect.signature(_commands._load(kind.make)).parameters
        defaults = {name: one.default for name, one in parameters.items() if name not in left_out}
        assert {option.name: option.default for option in kind.options} == defaults, kind.make


def test_choices_are_what_the_maps_take():
    for name, kind in MAPS.items():
        for option in kind.options:
            for choice in option.kind if isinstance(option.kind, tuple) else ():
                given = [_options_flag(option.name), choice, "-o", "-", "-"]
                extra = ["--hash-dim", 4] if name == "fastfood" else []
                assert command("map", name, *extra, *given).returncode == 0, (name, choice)


def _options_flag(name):
    return "--" + name.replace("_", "-")


def test_streams_of_the_caller_stay(file, tmp_path):
    """Whatever goes wrong: only the program's own process may lose its output."""
    for arguments in (["map", "minmax", tmp_path / "none", "-o", "-"], ["info", tmp_path / "none"]):
        before = os.fstat(1).st_ino, sys.stdout
        assert cli.main([str(argument) for argument in arguments]) == 2
        assert (os.fstat(1).st_ino, sys.stdout) == before


def test_errors_are_one_line_that_speaks_of_options(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(b"1 1:1\n1 3:-2\n")
    for arguments, message in (
        (["minmax"], "in: line 2, index 3: the value -2 is negative; the min-max kernel takes "
         "values >= 0; --signed takes both signs"),
        (["minmax-signs"], "the min-max kernel takes values >= 0; HashingVectorizer gives"),
        (["minmax", "--n-hashes", 0], "--n-hashes must be from 1 to"),
        (["minmax", "--signed", "--zero-based", "--bits", 33], "--bits must be from"),
        (["count-sketch", "--ones"], "--ones is for maps with one-hot output"),
        (["minmax", "--ones", "--format", "npy"], "--ones is not for --format npy: packed"),
        (["count-sketch", "--format", "npy"], "--format npy"),
        (["fastfood"], "--hash-dim must be given"),
        (["minmax", "--max-line-bytes", 4], "line 1 is longer than --max-line-bytes 4"),
        (["minmax", "--resume"], "directory"),
        (["minmax", "--shard", "3/2"], "expected I/N with 1 <= I <= N, got '3/2'"),
        (["minmax", "--bits", "x"], "argument --bits: invalid integer value: 'x'"),
        (["nonsense"], "invalid choice: 'nonsense'"),
        (["minmax", "--config", tmp_path / "none"], "none: No such file or directory"),
    ):  # fmt: skip
        done = command("map", *arguments, source, "-o", tmp_path / "out")
        error = done.stderr.decode()
        assert done.returncode == 2
        assert error.count("\n") == 1
        assert error.startswith("sparsemaps: ")
        assert message in error
    assert os.listdir(tmp_path) == ["in"]
    done = command("map", "minmax", source, "-o", "")
    assert b"the name must not be empty" in done.stderr
    source.write_bytes(b"1 1:1\n\n# c\n1 3:-2\n")
    for paths in ([source], [tmp_path / "good", source]):
        (tmp_path / "good").write_bytes(b"1 1:1\n")
        done = command("kernel", "minmax", *paths, "-o", tmp_path / "out")
        assert f"{source}: line 4, index 3: the value -2 is negative" in done.stderr.decode()


@pytest.mark.parametrize(
    "name", ["bits=8.svm", "seed=3/part.svm", "n_jobs must be 3", "ones=True", "format='npy'"]
)
def test_names_of_files_stay_as_they_are(tmp_path, name):
    """However much they look like parameters."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"1 x:1\n")
    for arguments in (["map", "minmax"], ["kernel", "acos"], ["pairs", "minhash"]):
        done = command(*arguments, path, "-o", tmp_path / "out")
        assert done.stderr.decode().startswith(f"sparsemaps: {path}: line 1, column 3: ")
    assert f"{path}: line 1" in command("info", path).stderr.decode()
    done = command("map", "minmax", f"{path}; ones=True", "-o", tmp_path / "out")
    assert done.stderr.decode() == f"sparsemaps: {path}; ones=True: No such file or directory\n"


WRONG = {
    "bits": 99, "t_bits": 99, "n_hashes": 0, "n_components": 0, "gamma": -1, "nu": 10**6,
    "degree": 0, "coef0": "nan", "hash_dim": 0, "n_grids": 0, "n_bins": 3,
}  # fmt: skip


def test_wrong_values_name_their_options(file, tmp_path):
    """Each number of each map and kernel, and those of the commands."""
    out = tmp_path / "out"
    tried = set()
    for kinds, name_of_command in ((MAPS, "map"), (KERNELS, "kernel")):
        for name, kind in kinds.items():
            for option in kind.options:
                if option.name in WRONG:
                    tried.add(option.name)
                    flag = _options_flag(option.name)
                    given = [flag, WRONG[option.name]]
                    if name == "fastfood" and option.name != "hash_dim":
                        given += ["--hash-dim", 4]
                    said = command(name_of_command, name, *given, file, "-o", out).stderr.decode()
                    assert said.startswith(f"sparsemaps: {flag} must be "), (name, said)
                    assert said.count("\n") == 1
    assert tried == set(WRONG)
    for arguments, flag in (
        (["map", "minmax", "--seed", -1], "--seed"),
        (["map", "minmax", "--n-jobs", 0], "--n-jobs"),
        (["map", "minmax", "--max-line-bytes", 0], "--max-line-bytes"),
        (["kernel", "acos", "--n-jobs", 0], "--n-jobs"),
        (["pairs", "minhash", "--threshold", 2], "--threshold"),
        (["pairs", "minhash", "--recall", 0], "--recall"),
        (["pairs", "minhash", "--n-jobs", 0], "--n-jobs"),
        (["map", "maclaurin", "--kernel", "0,0"], "--kernel"),
        (["map", "maclaurin", "--kernel", "1,-1"], "--kernel"),
    ):
        done = command(*arguments, file, "-o", out)
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"sparsemaps: {flag} must be "), done.stderr
    assert not out.exists()


def test_a_config_is_no_input_and_no_output(file, tmp_path):
    """Nothing is written over: neither inputs by --save-config, nor its file by the output."""
    saved, before = tmp_path / "map.json", file.read_bytes()
    assert command("map", "signs", "--save-config", saved, file, "-o", "-").returncode == 0
    config = saved.read_bytes()
    for arguments in (
        ["minmax", "--save-config", file, file, "-o", tmp_path / "out"],
        ["minmax", "--save-config", tmp_path / "out", file, "-o", tmp_path / "out"],
        ["minmax", "--save-config", f"{tmp_path}/o/in.svm.json", file, "-o", f"{tmp_path}/o/"],
        ["--config", saved, file, "-o", saved],
        ["--config", saved, "--save-config", saved, file, "-o", tmp_path / "out"],
        ["minmax", "--save-config", file, file, "-o", f"{tmp_path}/o/", "--dask"],
    ):
        done = command("map", *arguments)
        assert done.returncode == 2, arguments
        assert b" would be " in done.stderr or b" is the input " in done.stderr
    assert (file.read_bytes(), saved.read_bytes()) == (before, config)
    assert sorted(os.listdir(tmp_path)) == ["in.svm", "map.json"]


def test_bad_configs(file, tmp_path):
    saved = tmp_path / "map.json"
    good = CountSketch(n_components=8, random_state=0).fit_any_width().to_config()
    deep = []
    for _ in range(900):
        deep = [deep]
    for config, message in (
        ("[" * 10**5, "nested too deeply"),
        ({**good, "parameters": {"n_components": deep}}, "n"),
        ({**good, "class": "Nonsense"}, "class of config must be the name of a map"),
        ({**good, "class": [1]}, "class of config must be the name of a map"),
        ({**good, "parameters": {"n_components": 2**70}}, "n_components must be from 1 to"),
        ({**good, "parameters": {"n_components": "8"}}, "n_components must be an integer"),
        ({**good, "parameters": {"nonsense": 8}}, "are not those of CountSketch"),
        ({**good, "parameters": {"n_jobs": 3}}, "must not have 'n_jobs'"),
        ({**good, "parameters": [8]}, "parameters of config must be a dictionary"),
        ({**good, "seed": -1}, "seed of config must be from 0"),
        ({**good, "seed": 2**5000}, "seed of config must be from 0"),
        ({**good, "scheme": 2}, "scheme 2"),
        ({**good, "scheme": True}, "scheme True"),
        ({**good, "n_features": 0}, "n_features of config must be from 1"),
        ([good], "config must be a dictionary"),
    ):
        saved.write_text(config if isinstance(config, str) else json.dumps(config))
        done = command("map", "--config", saved, file, "-o", tmp_path / "out")
        assert done.returncode == 2
        said = done.stderr.decode()
        assert said.startswith(f"sparsemaps: {saved}: ")
        assert said.count("\n") == 1
        assert message in said
    assert sorted(os.listdir(tmp_path)) == ["in.svm", "map.json"]


def test_info_of_unsound_arrays(file, tmp_path):
    """Whatever is wrong with a file of arrays, it is one error with its name."""
    matrix = tmp_path / "in.npz"
    assert command("map", "minmax", "--format", "npz", file, "-o", matrix).returncode == 0
    content = matrix.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(content)
        place = rng.integers(len(damaged) - 700, len(damaged)) if rng.random() < 0.5 else 0
        damaged[place or rng.integers(300)] ^= 1 << rng.integers(8)
        matrix.write_bytes(damaged[: rng.integers(1, len(damaged) + 200)])
        done = command("info", matrix)
        assert done.returncode in (0, 2)
        if done.returncode:
            assert done.stderr.decode().startswith(f"sparsemaps: {matrix}: ")
            assert done.stderr.count(b"\n") == 1
    for shape, indices in ((np.ones(3), [0]), (np.array([1, 2]), np.array([object()]))):
        np.savez(matrix, data=[1.0], indices=indices, indptr=[0, 1], shape=shape, format=b"csr")
        assert command("info", matrix).returncode == 2


def test_an_empty_input_is_said(tmp_path):
    (tmp_path / "in").write_bytes(b"# nothing\n")
    done = command("map", "minmax", tmp_path / "in", "-o", tmp_path / "out")
    assert done.returncode == 0
    assert done.stderr.decode() == f"sparsemaps: {tmp_path / 'in'}: there are no rows\n"
    done = command("map", "minmax", "-", "-o", "-")
    assert done.stderr == b"sparsemaps: standard input: there are no rows\n"


def test_an_input_is_no_output(file):
    before = file.read_bytes()
    done = command("map", "minmax", file, "-o", file)
    assert done.returncode == 2
    assert b"is the input" in done.stderr
    done = command("kernel", "minmax", file, "-o", file)
    assert b"is the input" in done.stderr
    for name in ("kernel", "map"):  # a map would read forever what it writes
        with open(file, "ab") as end_of_input:
            program = Program(name, "minmax", file, "-o", "-", cwd=file.parent, stdout=end_of_input)
            status, said = program.end()
        assert status == 2
        assert b"standard output is the input" in said
    assert file.read_bytes() == before


def test_a_saved_map(file, tmp_path):
    """The map of one command in the next: other options could not say it otherwise."""
    saved, out = tmp_path / "map.json", tmp_path / "out"
    options = ["--n-hashes", 7, "--bits", 2, "--seed", 5]
    first = command("map", "minmax", *options, "--save-config", saved, file, "-o", "-")
    assert first.returncode == 0
    again = command("map", "--config", saved, file, "-o", "-")
    assert again.stdout == first.stdout
    assert command("map", "minmax", "--config", saved, file, "-o", "-").stdout == first.stdout
    fitted = sparsemaps.from_config(json.loads(saved.read_text()))
    assert (fitted.n_hashes, fitted.bits, fitted.seed_) == (7, 2, 5)
    for arguments, message in (
        (["minmax", "--config", saved, "--bits", 3], b"is in the file of --config"),
        (["signs", "--config", saved], b"the map is ConsistentWeightedSampling, not that of signs"),
        (["--config", file], b"in.svm: "),
    ):
        done = command("map", *arguments, file, "-o", out)
        assert done.returncode == 2
        assert message in done.stderr
    assert not out.exists()


def test_many_files(file, tmp_path):
    out = f"{tmp_path}/out/"
    arguments = ["map", "minmax", "--n-hashes", 3, "--format", "npy", file, "-o", out]
    assert command(*arguments).returncode == 0
    before = (tmp_path / "out" / "in.svm.npy").stat().st_mtime_ns
    assert command(*arguments, "--resume", "--shard", "1/1").returncode == 0
    assert (tmp_path / "out" / "in.svm.npy").stat().st_mtime_ns == before
    done = command(*arguments, "--resume", "--seed", 1)
    assert done.returncode == 2
    assert b"seed 0, now 1" in done.stderr
    said = command("info", tmp_path / "out" / "in.svm.npy").stdout.decode().splitlines()
    assert said == ["rows     40", "codes    3 bytes a row", "labels   0: 14, 1: 13, 2: 13"]
    matrix = tmp_path / "in.npz"
    command("map", "minmax", "--n-hashes", 3, "--format", "npz", file, "-o", matrix)
    said = command("info", matrix).stdout.decode().splitlines()
    assert said[0] == "rows     40"
    assert said[1].endswith("of 768, from 0")
    (tmp_path / "bad.npy").write_bytes(b"x")
    (tmp_path / "bad.npz").write_bytes(b"x")
    np.save(tmp_path / "worse.npy", np.ones(3))
    for name in ("bad.npy", "bad.npz", "worse.npy"):
        done = command("info", tmp_path / name)
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"sparsemaps: {tmp_path / name}: ")
        assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("name", [*MAPS, "saved"])
def test_help_reads_like_documentation(name):
    said = command("map", name, "--help").stdout.decode()
    assert "examples:" in said
    assert "None" not in said
    assert not re.search(r"[\\$`]|:math:|\[\d\]", said)


def test_every_option_has_help():
    def check(parser):
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for choice in action.choices.values():
                    check(choice)
            else:
                assert action.help, (parser.prog, action.option_strings)
                assert action.help.strip() == action.help

    check(cli.make_parser())


def test_completion():
    pytest.importorskip("shtab")
    done = command("--print-completion", "bash")
    assert done.returncode == 0
    assert b"--n-hashes" in done.stdout


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
            assert Program(*arguments, cwd=folder).end() == (0, b"")
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


def test_demo(tmp_path, monkeypatch, capsys):
    """The whole demonstration, with fewer texts."""
    from sparsemaps.cli import _demo, _demo_data

    monkeypatch.setattr(_demo_data, "TEXTS_EACH", 45)
    monkeypatch.setattr(_demo, "N_HASHES", (16, 64))
    monkeypatch.setattr(_demo, "N_COMPONENTS", 128)
    pytest.importorskip("matplotlib")
    picture = tmp_path / "demo.svg"
    assert cli.main(["demo", "-o", str(tmp_path), "--plot", str(picture)]) == 0
    assert "<svg" in picture.read_text(encoding="utf-8")
    said = capsys.readouterr().out
    for name in ("min-max", "polynomial", "Gaussian", "Laplacian", "acos", "min-max times acos"):
        assert f"exact {name} kernel" in said
    for cls in map_classes():
        assert cls.__name__ in said
    assert said.count("What to see:") >= 2
    assert "train -c 1" in said
    X, y = load_svmlight_file(str(tmp_path / "texts.train"))
    assert sp.issparse(X)
    assert X.shape[0] == len(y) > 100
