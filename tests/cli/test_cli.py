"""The ``sparsemaps`` command: what it writes."""

import dataclasses
import functools
import gzip
import io
import itertools
import json
import os
import re

import numpy as np
import pytest
import scipy.sparse as sp
from _data.rows import random_csr
from _scripts.commands import command

import sparsemaps
from sparsemaps import ConsistentWeightedSampling, CountSketch, kernels
from sparsemaps.cli import main
from sparsemaps.cli._options import KERNELS, MAPS, load
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file
from sparsemaps.libsvm._pipeline import cut_lines


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
    made = (load(kind.make)(random_state=0) for kind in MAPS.values())
    assert {type(one).__name__ for one in made} == {
        name for name in sparsemaps.__all__ if isinstance(getattr(sparsemaps, name), type)
    }


def test_minmax(file, tmp_path):
    out = tmp_path / "out.svm"
    done = command("map", "minmax", "--n-hashes", 20, "--bits", 4, "--seed", 3, file, "-o", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"40 rows, 3 without an entry\n")
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
@pytest.mark.parametrize(("n_copies", "n_hashes"), [(30, 16), (3, 3000)])
def test_blocks_and_threads_do_not_show(tmp_path, n_jobs, n_copies, n_hashes, file):
    """Byte for byte the same; also where short lines are cut again, as they become long."""
    sketch = "map", "minmax", "--n-hashes", n_hashes, "--n-jobs", n_jobs
    expected = command(*sketch, "-o", "-", file).stdout
    many, out = tmp_path / "many.svm", tmp_path / "out.svm"
    many.write_bytes(file.read_bytes() * n_copies)
    assert command(*sketch, "-o", out, many).returncode == 0
    assert out.read_bytes() == expected * n_copies


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_and_threads_do_not_show_in_kernels(tmp_path, n_jobs, file):
    """The rows of a file stand 15 times: all rows are several blocks, those of the file are one."""
    many = tmp_path / "many.svm"
    many.write_bytes(file.read_bytes() * 15)
    few = command("kernel", "minmax", many, file, "-o", "-").stdout.splitlines()
    parts = [line.split(b" ", 2) for line in few * 15]
    expected = [b"%s 0:%d %s" % (part[0], i, part[2]) for i, part in enumerate(parts, 1)]
    found = command("kernel", "minmax", "--n-jobs", n_jobs, many, "-o", "-").stdout
    assert found.splitlines() == expected


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_errors_name_the_line_in_every_block(tmp_path, n_jobs):
    source = tmp_path / "in"
    for line, message in (
        (b"1 x:1", "line 10001, column 3"),
        (b"1 2:-1", "line 10001, index 2: the value -1 is"),
    ):
        block = b"1 1:1 2:1\n" * 10_000
        source.write_bytes(block + line + b"\n" + block + b"wrong too\n")
        sketch = "map", "minmax", "--n-hashes", 2, "--n-jobs", n_jobs
        done = command(*sketch, source, "-o", tmp_path / "out")
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


FUNCTIONS = {
    "minmax": kernels.min_max_kernel,
    "generalized-minmax": kernels.generalized_min_max_kernel,
    "chi2": kernels.chi2_similarity,
    "acos": kernels.acos_kernel,
    "acos-chi2": kernels.acos_chi2_kernel,
    "normalized-rbf": kernels.normalized_rbf_kernel,
    "folded-rbf": kernels.folded_rbf_kernel,
    "rbf": kernels.rbf_kernel,
    "polynomial": kernels.polynomial_kernel,
    "laplacian": kernels.laplacian_kernel,
    "cauchy": kernels.cauchy_kernel,
    "matern": kernels.matern_kernel,
    "minmax-acos": lambda X, Y: kernels.min_max_kernel(X, Y) * kernels.acos_kernel(X, Y),
    "minmax-acos-chi2": lambda X, Y: kernels.min_max_kernel(X, Y) * kernels.acos_chi2_kernel(X, Y),
}


def test_the_functions_of_kernels_differ(file):
    """So the test below tells each from the others."""
    assert sorted(FUNCTIONS) == sorted(KERNELS)
    X, _ = load_svmlight_file(file, zero_based=False)
    values = {name: function(X, X) for name, function in FUNCTIONS.items()}
    alike = [
        {one, other}
        for one, other in itertools.combinations(values, 2)
        if np.allclose(values[one], values[other], rtol=1e-4)
    ]
    assert alike == [{"minmax", "generalized-minmax"}]  # of values >= 0


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(file, tmp_path, name):
    """Each row's number, then its kernel with every row of TRAIN, in full precision."""
    X, y = load_svmlight_file(file, zero_based=False)
    test = tmp_path / "test.svm"
    dump_svmlight_file(X[5:8], y[5:8], test, zero_based=False)
    function = FUNCTIONS[name]
    for inputs, rows in (([file], slice(None)), ([file, test], slice(5, 8))):
        out = tmp_path / "out"
        done = command("kernel", name, *inputs, "-o", out)
        assert (done.returncode, done.stdout) == (0, b"")
        assert done.stderr == f"{len(y[rows])} rows\n".encode()
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


def test_an_empty_input_is_said(tmp_path):
    (tmp_path / "in").write_bytes(b"# nothing\n")
    done = command("map", "minmax", tmp_path / "in", "-o", tmp_path / "out")
    assert done.returncode == 0
    assert done.stderr.decode() == f"sparsemaps: {tmp_path / 'in'}: there are no rows\n0 rows\n"
    done = command("map", "minmax", "-", "-o", "-")
    assert done.stderr == b"sparsemaps: standard input: there are no rows\n0 rows\n"


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
        (["minmax", "--config", saved, "--bits", 3], b"--bits is in the file of --config"),
        (["minmax", "--config", saved, "--seed", 3], b"--seed is in the file of --config"),
        (["signs", "--config", saved], b"it has the map minmax, not signs"),
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
    assert command(*arguments, "--stage", "map", "--task", "0/1").returncode == 0
    assert command(*arguments).returncode == 0
    assert (tmp_path / "out" / "in.svm.npy").stat().st_mtime_ns == before
    assert command(*arguments, "--tasks").stdout == b"map            1  an output for each input\n"
    assert command(*arguments, "--fresh").returncode == 0
    assert (tmp_path / "out" / "in.svm.npy").stat().st_mtime_ns > before
    codes = (tmp_path / "out" / "in.svm.npy").read_bytes()
    assert command(*arguments, "--seed", 1).returncode == 0
    assert (tmp_path / "out" / "in.svm.npy").read_bytes() != codes
    assert command(*arguments).returncode == 0
    assert (tmp_path / "out" / "in.svm.npy").read_bytes() == codes
    said = command("info", tmp_path / "out" / "in.svm.npy").stdout.decode().splitlines()
    assert said[:2] == ["rows     40 (3 without samples)", "codes    3 of 8 bits, 3 bytes per row"]
    assert said[-1] == "labels   0: 14, 1: 13, 2: 13"
    (tmp_path / "bad.npy").write_bytes(b"x")
    (tmp_path / "bad.npz").write_bytes(b"x")
    np.save(tmp_path / "worse.npy", np.ones(3))
    for name in ("bad.npy", "bad.npz", "worse.npy"):
        done = command("info", tmp_path / name)
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"sparsemaps: {tmp_path / name}")
        assert done.stderr.count(b"\n") == 1


def test_demo(tmp_path, capsys, monkeypatch):
    """The whole demonstration, with fewer texts and in less time. The last line is an object."""
    from sparsemaps.cli import _demo

    pytest.importorskip("matplotlib")
    picture = tmp_path / "demo.svg"
    compared = []

    def compare_by(*arguments, **options):
        found = sparsemaps.comparison.compare_by(*arguments, **options)
        compared.append(dataclasses.replace(found, neighbours_alike=True))
        return compared[-1]

    monkeypatch.setattr(_demo, "compare_by", compare_by)
    sizes = _demo.DemoSizes(texts_each=45, n_hashes=16, seconds=0.1)
    monkeypatch.setattr(_demo, "run", functools.partial(_demo.run, sizes=sizes))
    assert main(["demo", "-o", str(tmp_path), "--plot", str(picture), "--json"]) == 0
    assert "<svg" in picture.read_text(encoding="utf-8")
    said, errors = capsys.readouterr()
    figures = json.loads(errors.splitlines()[-1])
    assert figures.keys() == {"digits", "texts", "pairs"}
    assert f"\n  {figures['pairs']} pairs of similarity" in said
    for task in ("digits", "texts"):
        assert figures[task].keys() == {"rows", "models", "best", "choice"}
        assert figures[task]["best"] in said
        assert figures[task]["models"] >= 1
    assert said.count("within one standard error") == 2
    assert said.count("If new rows come after these, compare with --ordered.") == 2
    for comparison in compared:  # the table and all advice of compare
        assert f"\n\n{comparison}\n\n" in said.replace("--ordered", "ordered=True")
    assert said.count("similarity 0.") + said.count("similarity 1.") > 1
    assert said.count("What to see:") == 1
    assert "train -c 1" in said
    X, y = load_svmlight_file(str(tmp_path / "texts.train"))
    assert sp.issparse(X)
    assert X.shape[0] == len(y) > 100
