"""Labels, and records of a label, of many files: an output for each, by tasks and on Dask."""

import gzip
import signal
import time

import pytest
from _data.labelled_records import records, rows, text_model, write_jsonl
from _scripts.commands import command
from _scripts.programs import Program, posix

from sparsemaps import ConsistentWeightedSampling, files
from sparsemaps._io._sources import expand
from sparsemaps.files import Texts
from sparsemaps.files._filter import Filtering, label_filter_for
from sparsemaps.files._job_options import LabelChoice, LineOptions, Run
from sparsemaps.files._outputs import OutputPlan
from sparsemaps.files._predict import Predicting
from sparsemaps.linear import KernelClassifier

# ---- an output for each input --------------------------------------------------------------------


def outputs(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def added(answers):
    """The sums of the numbers of several answers, and of those of each label."""
    counts = [sum(numbers) for numbers in zip(*(answer[:4] for answer in answers), strict=True)]
    labels = [getattr(answer, "labels", {}) for answer in answers]
    names = {name for some in labels for name in some}
    sums = {name: sum(some.get(name, 0) for some in labels) for name in names}
    if not hasattr(answers[0], "labels"):
        return tuple(counts)
    return (*counts, sums, sum(answer.n_negative for answer in answers))


@pytest.fixture
def folder(tmp_path):
    """Three inputs of texts, of which one is compressed."""
    (tmp_path / "in").mkdir()
    for n in (4, 25, 30):
        path = write_jsonl(tmp_path / f"in/{n}.jsonl", records(n, seed=n))
        if n == 25:
            (tmp_path / "in/25.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    return tmp_path / "in"


def predict(model, inputs, output, **options):
    return files.predict_files(model, inputs, output, source=Texts(id_field="id"), **options)


def filter(model, inputs, output, **options):
    return files.filter_files(model, inputs, output, label="money", **options)


@pytest.mark.parametrize("job", [predict, filter])
def test_an_output_for_each_input(trained, folder, tmp_path, job):
    """Each as if it were alone; what is complete is taken, and what has changed is made anew."""
    model = KernelClassifier.load(trained)
    answer = job(model, folder, f"{tmp_path}/out/")
    alone = [job(model, path, tmp_path / f"{path.name}.alone") for path in sorted(folder.iterdir())]
    assert answer == added(alone)
    for path in sorted(folder.iterdir()):
        name = path.name.removesuffix(".gz") + ".tsv" if job is predict else path.name
        found, expected = tmp_path / "out" / name, (tmp_path / f"{path.name}.alone").read_bytes()
        found = found.read_bytes()
        if name.endswith(".gz"):
            found = gzip.decompress(found)
        assert found == expected
    before = outputs(tmp_path / "out")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    assert job(KernelClassifier.load(trained), folder, tmp_path / "out") == answer
    assert {path: path.stat().st_mtime_ns for path in times} == times
    other = text_model(C=0.01).fit([r["text"] for r in records()], [r["label"] for r in records()])
    job(other, folder, tmp_path / "out")
    changed = outputs(tmp_path / "out")
    assert all(changed[name] != before[name] for name in before if name.endswith(".json"))
    job(model, folder, tmp_path / "out", resume=False)
    assert outputs(tmp_path / "out") == before


@pytest.mark.parametrize("job", [predict, filter])
def test_tasks_in_any_order(trained, folder, tmp_path, job):
    model = KernelClassifier.load(trained)
    answer = job(model, folder, f"{tmp_path}/one/")
    of_tasks = [
        job(model, folder, f"{tmp_path}/out/", task=(job.__name__, i, 2)) for i in (1, 0, 1, 0)
    ]
    assert outputs(tmp_path / "out") == outputs(tmp_path / "one")
    assert answer == added(of_tasks[:2])
    with pytest.raises(ValueError, match=f"the stage must be {job.__name__}, got 'map'"):
        job(model, folder, f"{tmp_path}/out/", task=("map", 0, 1))
    with pytest.raises(ValueError, match="tasks need an output that is a directory"):
        job(model, folder / "4.jsonl", tmp_path / "file", task=(job.__name__, 0, 1))


@pytest.mark.parametrize("job", ["predict", "filter"])
def test_tasks_of_the_command(trained, folder, tmp_path, job):
    more = ["--explain", 1] if job == "predict" else ["--label", "pets"]
    arguments = [job, trained, folder, *more, "-o"]
    done = command(*arguments, f"{tmp_path}/one/")
    assert done.returncode == 0
    out = [*arguments, f"{tmp_path}/out/"]
    assert command(*out, "--tasks").stdout.decode().split() == [
        job, "3", "an", "output", "for", "each", "input"
    ]  # fmt: skip
    for i in range(3):
        part = command(*out, "--stage", job, "--task", f"{i}/3")
        assert (part.returncode, part.stdout, part.stderr) == (0, b"", b"")
    assert command(*out).stderr == done.stderr
    assert outputs(tmp_path / "out") == outputs(tmp_path / "one")
    to_file = [*arguments, tmp_path / "file"]
    assert b"needs an output directory" in command(*to_file, "--dask").stderr
    assert b"tasks need an output that is a directory" in command(*to_file, "--tasks").stderr


@posix
def test_a_task_that_is_killed(trained, folder, tmp_path):
    """Beside another one; it is begun again then."""
    write_jsonl(folder / "0.jsonl", records(3000, seed=0))
    arguments = ["filter", trained, folder, "--label", "pets", "-o", f"{tmp_path}/out/"]
    programs = [
        Program(*arguments, "--stage", "filter", "--task", f"{i}/2", cwd=tmp_path) for i in range(2)
    ]
    time.sleep(0.05)
    programs[0].signal(signal.SIGKILL)
    assert [program.end() for program in programs] == [(-signal.SIGKILL, b""), (0, b"")]
    model = KernelClassifier.load(trained)
    for name in ("out", "one"):
        files.filter_files(model, folder, f"{tmp_path}/{name}/", label="pets")
    assert outputs(tmp_path / "one") == outputs(tmp_path / "out")


@pytest.mark.parametrize("job", ["predict", "filter"])
def test_on_dask(trained, folder, tmp_path, job):
    """Workers that share the folder: the same bytes."""
    distributed = pytest.importorskip("distributed")
    from sparsemaps.dask import Workers

    model, paths = KernelClassifier.load(trained), expand(folder)
    if job == "predict":
        source = Texts(id_field="id")
        job = Predicting.of(model, paths, source, None, lines=LineOptions())
        expected = predict(model, folder, f"{tmp_path}/one/")
    else:
        keep = label_filter_for(model, "money", LabelChoice())
        job = Filtering.of(model, paths, None, None, filter=keep)
        expected = filter(model, folder, f"{tmp_path}/one/")
    plan = OutputPlan.of(job, paths, f"{tmp_path}/out/")
    with distributed.Client(processes=False, dashboard_address="127.0.0.1:0") as client:
        assert plan.run(Run(progress=False, engine=Workers(client))) == expected
    assert outputs(tmp_path / "out") == outputs(tmp_path / "one")


def test_outputs_of_other_options_are_made_anew(trained, folder, tmp_path):
    model = KernelClassifier.load(trained)
    for label, min_score in (("money", None), ("pets", None), ("pets", 0.3), ("pets", -0.3)):
        how = {"label": label, "min_score": min_score}
        files.filter_files(model, folder, f"{tmp_path}/out/", **how)
        files.filter_files(model, folder, f"{tmp_path}/{label}{min_score}/", **how)
        assert outputs(tmp_path / "out") == outputs(tmp_path / f"{label}{min_score}")


def test_ids_beside_codes_decide_too(tmp_path):
    """A file of ids that is another one: the output is made anew."""
    X, y = rows(9)
    map = ConsistentWeightedSampling(n_hashes=16, random_state=0).fit_any_width()
    model = KernelClassifier(map, random_state=0).fit(map.encode(X, packed=True), y)
    map.encode(X, packed=True).save(tmp_path / "codes.npy")
    for ids in (None, "abcdefghi", "rstuvwxyz"):
        if ids is not None:
            (tmp_path / "codes.npy.ids.txt").write_text("\n".join(ids) + "\n")
        files.predict_files(model, tmp_path / "codes.npy", f"{tmp_path}/out/")
        header, *lines = (tmp_path / "out/codes.npy.tsv").read_text().splitlines()
        assert header.split("\t")[0] == ("id" if ids else "record")
        assert [line.split("\t")[0] for line in lines] == list(ids or "123456789")
