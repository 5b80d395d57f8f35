"""The ``sparsemaps`` command."""

import gzip
import io
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import map_classes, random_csr

import sparsemaps
from sparsemaps import ConsistentWeightedSampling, CountSketch, cli
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file


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
    assert b"--ones is for one-hot maps" in done.stderr


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
    made = (make(random_state=0, n_jobs=1) for make in cli.MAPS.values())
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
    assert (done.returncode, done.stderr) == (2, b"sparsemaps: --ones is for one-hot maps\n")


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


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_do_not_show(tmp_path, monkeypatch, n_jobs, file):
    expected = command("map", "minmax", "-o", "-", file).stdout
    out = tmp_path / "out.svm"
    monkeypatch.setattr(cli, "_BLOCK_BYTES", 100)
    assert len(list(cli._blocks(file, False))) > 5
    assert cli.main(["map", "minmax", "--n-jobs", str(n_jobs), "-o", str(out), str(file)]) == 0
    assert out.read_bytes() == expected


def test_empty_rows_keep_their_lines(tmp_path):
    (tmp_path / "in").write_bytes(b"1\n2 1:1\n3\n")
    done = command("map", "minmax", "--n-hashes", 2, "-o", "-", tmp_path / "in")
    assert [line.split()[0] for line in done.stdout.splitlines()] == [b"1", b"2", b"3"]


BAD = {
    "no such file": (None, "No such file or directory"),
    "not the format": (b"1 1:1\n1 x:2\n", "line 2, column 3: expected index:value"),
    "negative": (b"1 1:1\n1 2:-4\n", "-4.0 in row 1, column 1; the min-max kernel takes"),
    "NaN": (b"1 1:nan\n", "NaN in row 0, column 0"),
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


def test_bad_parameters(file, tmp_path):
    done = command("map", "minmax", "--bits", 40, file, "-o", tmp_path / "out")
    assert done.stderr == b"sparsemaps: bits must be from 1 to 16, got 40\n"
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


def test_closed_pipe(file):
    code = f"{sys.executable} -m sparsemaps map minmax -o - {file} | head -c 1"
    if shutil.which("head") is None:
        pytest.skip("no head")
    done = subprocess.run(code, shell=True, capture_output=True, check=False, cwd=file.parent)
    assert b"Traceback" not in done.stderr


def test_as_a_program(file):
    arguments = ["map", "minmax", "-o", "-", str(file)]
    for program in ([sys.executable, "-m", "sparsemaps"], [shutil.which("sparsemaps")]):
        if program[0] is not None:
            done = subprocess.run(
                [*program, *arguments], capture_output=True, check=False, cwd=file.parent
            )
            assert (done.returncode, done.stderr) == (0, b"")
            assert done.stdout == command(*arguments).stdout


def test_version_and_help():
    assert sparsemaps.__version__ in command("--version").stdout.decode()
    for arguments in (["--help"], ["map", "--help"], ["map", "minmax", "--help"]):
        done = command(*arguments)
        assert done.returncode == 0
        assert b"usage" in done.stdout


@pytest.mark.skipif(shutil.which("liblinear-train") is None, reason="no LIBLINEAR")
def test_liblinear_reads_it(tmp_path, file):
    out, model = tmp_path / "out.svm", tmp_path / "model"
    assert command("map", "minmax", file, "-o", out).returncode == 0
    subprocess.run(["liblinear-train", "-q", out, model], check=True, capture_output=True)
    done = subprocess.run(
        ["liblinear-predict", out, model, tmp_path / "predicted"], check=True, capture_output=True
    )
    assert b"Accuracy" in done.stdout


def test_demo(tmp_path, monkeypatch, capsys):
    """The whole demonstration, with fewer texts."""
    from sparsemaps import _demo

    monkeypatch.setattr(_demo, "TEXTS_EACH", 60)
    monkeypatch.setattr(_demo, "N_HASHES", (16, 64))
    assert cli.main(["demo", "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    for name in ("min-max", "polynomial", "Gaussian", "acos"):
        assert f"exact {name} kernel" in said
    for cls in map_classes():
        assert said.count(cls.__name__) >= 2 or cls is sparsemaps.KernelProduct
    assert "train -c 1" in said
    X, y = load_svmlight_file(str(tmp_path / "texts.train"))
    assert sp.issparse(X)
    assert X.shape[0] == len(y) > 100
