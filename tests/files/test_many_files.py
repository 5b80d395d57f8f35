"""Inputs and outputs of mapping: never the same file; many of them; work that is resumed."""

import io
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from _data.file_maps import cws, outputs
from _data.labelled_records import write_jsonl
from _data.rows import random_csr
from _scripts.programs import Program, posix

from sparsemaps import CountSketch, MinHash
from sparsemaps._io import _output_files
from sparsemaps.files import Svmlight, Texts, _job_run, map_files
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file

# ---- inputs and outputs --------------------------------------------------------------------------


@posix
def test_an_input_is_no_output(file, tmp_path):
    """By whatever name; nothing is written, and the input stays."""
    before = file.read_bytes()
    os.link(file, tmp_path / "hard")
    os.symlink(file, tmp_path / "soft")
    (tmp_path / "folder").mkdir()
    os.symlink(tmp_path, tmp_path / "folder" / "up")
    for output in (file, tmp_path / "hard", tmp_path / "soft", tmp_path / "folder/up/in.svm"):
        with pytest.raises(ValueError, match="is the input"):
            map_files(cws(), file, output)
    with pytest.raises(ValueError, match="is the input"):
        map_files(cws(), [file, tmp_path / "soft"], tmp_path)
    with pytest.raises(ValueError, match="is the input"), open(file, "rb") as opened:
        map_files(cws(), opened, file)
    assert file.read_bytes() == before
    assert not (tmp_path / "in.svm.json").exists()


def test_one_output_for_each_input(folder, tmp_path):
    done = map_files(cws(), folder, f"{tmp_path}/out/")
    assert [os.path.basename(one.output) for one in done] == [f"p{i}.svm" for i in range(7)]
    assert [one.n_rows for one in done] == list(range(10, 17))
    together = io.BytesIO()
    map_files(cws(), str(folder / "p*.svm"), together)
    each = [Path(one.output).read_bytes() for one in done]
    assert b"".join(each) == together.getvalue()
    # Its outputs are inputs in turn, without what is beside them.
    again = map_files(CountSketch(n_components=4), tmp_path / "out", f"{tmp_path}/two/")
    assert len(again) == 7
    for i in (2, 0, 1, 1):
        assert map_files(cws(), folder, f"{tmp_path}/tasks/", task=("map", i, 3)) == []
    found, expected = outputs(tmp_path / "tasks"), outputs(tmp_path / "out")
    assert found == expected


@pytest.mark.parametrize("small_bytes", [0, 3500, 2**23])
def test_threads_over_small_files(folder, tmp_path, set_limits, capsys, small_bytes):
    """Large files one by one, small ones in a thread each: the same outputs."""
    set_limits(_job_run, _SMALL_BYTES=small_bytes)
    sizes = [path.stat().st_size for path in folder.iterdir()]
    assert min(sizes) < 3500 < max(sizes)
    map_files(cws(), folder, f"{tmp_path}/one/")
    done = map_files(cws(), folder, f"{tmp_path}/two/", n_jobs=3, progress=True)
    assert [one.n_rows for one in done] == list(range(10, 17))
    found, expected = outputs(tmp_path / "two"), outputs(tmp_path / "one")
    assert found == expected
    assert "100%" in capsys.readouterr().err
    for name in ("p2.svm", "p5.svm"):
        with open(folder / name, "ab") as file:
            file.write(b"1 x:1\n")
    with pytest.raises(ValueError, match=r"p2\.svm: line 13, column 3"):
        map_files(cws(), folder, f"{tmp_path}/three/", n_jobs=3)
    found = outputs(tmp_path / "three")
    assert all(found[name] == expected[name] for name in found)
    assert not {"p2.svm", "p2.svm.json", "p5.svm", "p5.svm.json"} & found.keys()


def test_names_of_outputs(tmp_path, folder):
    X = random_csr()
    for name in ("a.svm.gz", "b.xz"):
        dump_svmlight_file(X, np.zeros(40), tmp_path / name)
    inputs = [tmp_path / "a.svm.gz", tmp_path / "b.xz"]
    done = map_files(cws(), inputs, f"{tmp_path}/o/", format="npy", zero_based=True)
    assert [os.path.basename(one.output) for one in done] == ["a.svm.npy", "b.npy"]
    with pytest.raises(ValueError, match="have the same output"):
        map_files(cws(), [folder / "p1.svm", folder / ".." / "in" / "p1.svm"], tmp_path)
    with pytest.raises(ValueError, match="inputs that are files"):
        map_files(cws(), io.BytesIO(b"1 1:1\n"), tmp_path)
    with pytest.raises(ValueError, match="there are no files"):
        map_files(cws(), str(tmp_path / "none*"), tmp_path / "out")


def test_resume(folder, tmp_path):
    out = f"{tmp_path}/out/"
    broken = folder / "p3.svm"
    good = broken.read_bytes()
    broken.write_bytes(good + b"1 x:1\n")
    with pytest.raises(ValueError, match=r"p3\.svm: line 14, column 3"):
        map_files(cws(), folder, out)
    kept = outputs(out)
    assert sorted(kept) == [f"p{i}.svm{end}" for i in range(3) for end in ("", ".json")]
    broken.write_bytes(good)
    done = map_files(cws(), folder, out)
    assert [one.skipped for one in done] == [True] * 3 + [False] * 4
    assert [one.n_rows for one in done] == list(range(10, 17))
    undisturbed = f"{tmp_path}/undisturbed/"
    map_files(cws(), folder, undisturbed)
    found, expected = (
        {name: text for name, text in outputs(path).items() if name.endswith(".svm")}
        for path in (out, undisturbed)
    )
    assert found == expected
    # An input that has changed is mapped again, an output that has been cut too.
    broken.write_bytes(good + good)
    (Path(out) / "p5.svm").write_bytes(b"")
    done = map_files(cws(), folder, out)
    assert [i for i, one in enumerate(done) if not one.skipped] == [3, 5]


@pytest.mark.parametrize(
    ("new_map", "options"),
    [
        (cws(bits=4), {}),
        (cws(random_state=1), {}),
        (CountSketch(random_state=0), {}),
        (cws(), {"ones": True}),
        (cws(), {"zero_based": True}),
        (cws(), {"comments": True}),
        (cws(), {"header": True}),
    ],
)
def test_what_is_of_other_options_is_made_again(folder, tmp_path, new_map, options):
    """And what is of the same is not."""
    out, anew = (f"{tmp_path}/{name}/" for name in ("out", "anew"))
    map_files(cws(), folder, out)
    for is_complete in (False, True):
        done = map_files(new_map, folder, out, **options)
        assert [one.skipped for one in done] == [is_complete] * 7
    assert [one.skipped for one in map_files(new_map, folder, out, n_jobs=2, **options)] == [
        True
    ] * 7
    map_files(new_map, folder, anew, **options)
    assert outputs(out) == outputs(anew)
    done = map_files(new_map, folder, out, resume=False, **options)
    assert [one.skipped for one in done] == [False] * 7
    assert outputs(out) == outputs(anew)


@pytest.mark.parametrize("format", ["npy", "svmlight"])
def test_no_file_of_other_options_stays(tmp_path, format):
    """Beside outputs stand the files of these options alone."""
    texts = [{"text": f"a b c{i}", "label": "x" if i % 2 else "y", "id": str(i)} for i in range(9)]
    path = write_jsonl(tmp_path / "in.jsonl", texts)
    new_map = MinHash(n_hashes=9, random_state=0)
    fields = [{"label_field": "label"}, {"id_field": "id"}, {}, {"label_field": "label"}]
    for number, more in enumerate(fields):
        source = Texts("word:1", **more)
        anew = tmp_path / f"anew{number}"
        for out in (tmp_path / "out", anew):
            map_files(new_map, path, f"{out}/", format=format, source=source)
        assert sorted(os.listdir(tmp_path / "out")) == sorted(os.listdir(anew))
        for name in os.listdir(anew):
            if not name.endswith(".json"):
                assert (tmp_path / "out" / name).read_bytes() == (anew / name).read_bytes()


def test_labels_decide_their_numbers(tmp_path):
    """Another label in one input changes the numbers in all outputs."""
    for name, label in (("a", "x"), ("b", "z")):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"text": "some words", "label": "{label}"}}\n')
    how = {"source": Texts("word:1", label_field="label")}
    inputs, out = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"], f"{tmp_path}/out/"
    map_files(cws(), inputs, out, **how)
    (tmp_path / "a.jsonl").write_text('{"text": "some words", "label": "zz"}\n')
    assert [one.skipped for one in map_files(cws(), inputs, out, **how)] == [False, False]
    assert (tmp_path / "out/b.jsonl.svm").read_bytes().startswith(b"0 ")


@pytest.mark.parametrize(
    "record",
    ["", "{", "[]", "[" * 10**5, "\xff", {"value": None}, {"files": [1]}, {"files": {"p0.svm": 3}},
     {"recipe": [1]}],
    ids=lambda record: str(record)[:20],
)  # fmt: skip
def test_a_record_that_is_no_record(folder, tmp_path, record):
    """As a loss of power, or another program, may leave it: the output is made again."""
    out = f"{tmp_path}/out/"
    map_files(cws(), folder, out)
    path = Path(out) / "p0.svm.json"
    if isinstance(record, dict):
        path.write_text(json.dumps({**json.loads(path.read_text()), **record}))
    else:
        path.write_text(record, encoding="latin-1")
    done = map_files(cws(), folder, out)
    assert [one.skipped for one in done] == [False] + [True] * 6


def test_many_inputs(tmp_path):
    """No handle stays open: more files than a process may have."""
    resource = pytest.importorskip("resource")
    (tmp_path / "in").mkdir()
    for i in range(120):
        (tmp_path / "in" / f"{i:03}").write_bytes(b"%d 1:%d\n" % (i, i + 1))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = [os.open(os.devnull, os.O_RDONLY) for _ in range(40)]  # whatever other tests left open
    for descriptor in free:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(free) + 1, limits[1]))
    try:
        out = tmp_path / "all"
        map_files(cws(), tmp_path / "in", out)
        map_files(cws(), tmp_path / "in", f"{tmp_path}/each/")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert load_svmlight_file(out)[1].tolist() == list(range(120))
    assert len(os.listdir(tmp_path / "each")) == 240


@posix
def test_killed_at_any_moment(folder, tmp_path):
    """Whatever is there is complete; going on gives what an undisturbed run gives."""
    for i in range(7):
        path = folder / f"p{i}.svm"
        path.write_bytes(path.read_bytes() * 100)
    out = tmp_path / "out"
    arguments = [
        "map", "minmax", "--n-hashes", 5, "--bits", 3, folder, "-o", f"{out}/",
    ]  # fmt: skip
    map_files(cws(), folder, f"{tmp_path}/undisturbed/")
    expected = outputs(tmp_path / "undisturbed")
    n_done = 0
    for _ in range(2):
        program = Program(*arguments, cwd=tmp_path)
        deadline = time.monotonic() + 60
        while len(list(out.glob("*.svm"))) <= n_done and time.monotonic() < deadline:
            time.sleep(0.001)
        program.signal(signal.SIGKILL)
        program.end()
        n_done = len(list(out.glob("*.svm")))
        for name, text in outputs(out).items():
            assert name.endswith((".svm", ".json", ".tmp", "-lock"))
            assert not name.endswith(".svm") or text == expected[name]
    assert Program(*arguments, cwd=tmp_path).end()[0] == 0
    for name, text in outputs(out).items():
        assert name.endswith(".json") or text == expected[name]
    assert outputs(out).keys() == expected.keys()


# ---- names of outputs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "output", "options"),
    [
        (["a", "a.json"], "out/", {}),
        (["a", "b/a.json.gz"], "out/", {}),
        (["a", "a.npy.labels"], "out/", {"format": "npy"}),
        (["a", "a.npy.qids.xz"], "out/", {"format": "npy"}),
        (["a.json", "a"], "out/", {"resume": False}),
        (["a.npy.labels.npy"], "a.npy", {"format": "npy"}),
        (["a.npy.qids.npy"], "a.npy", {"format": "npy"}),
        (["b/a", "a.json"], ".", {}),
    ],
)
def test_no_output_is_written_over(tmp_path, monkeypatch, names, output, options):
    """By what is beside another one: nothing is written, and the error names both."""
    monkeypatch.chdir(tmp_path)
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"1 1:1\n")
    before = sorted(tmp_path.rglob("*"))
    message = r"would be .* and (a file beside|the output of) |a file beside .*, is the input "
    with pytest.raises(ValueError, match=message):
        map_files(cws(), names, output, source=Svmlight(), **options)
    assert sorted(tmp_path.rglob("*")) == before
    assert all((tmp_path / name).read_bytes() == b"1 1:1\n" for name in names)


@posix
def test_outputs_by_other_names(tmp_path, monkeypatch):
    """Links and dots lead to the same file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.npy.labels.npy").write_bytes(b"1 1:1\n")
    os.symlink("a.npy.labels.npy", "soft")
    os.link("a.npy.labels.npy", "hard")
    (tmp_path / "to").symlink_to(tmp_path)
    for name in ("soft", "hard"):
        with pytest.raises(ValueError, match=f"is the input {name}"):
            map_files(cws(), name, "./to/a.npy", format="npy")
    os.symlink("later.json", "one")  # the output does not exist yet
    with pytest.raises(ValueError, match="would be"):
        _output_files.refuse_clashes([], [("./to/one", "the first"), ("later.json", "the second")])
