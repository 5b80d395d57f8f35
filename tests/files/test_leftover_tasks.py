"""Tasks that are left over from another run: they never change the results of this one.

A task of a run whose client was closed, or of a process that another machine lost sight of, may
begin, go on and end at any moment. Here it does so in one process, in a forced order: the task of
one recipe writes its result before, between and after the stages of a run of another recipe.
"""

import inspect
import os
import threading
from functools import cache, partial

import pytest
from _data.dedup_records import make_texts, write_lines
from _data.labelled_records import text_model
from _data.stage_names import without_digest

from sparsemaps import MinHash, files
from sparsemaps.files import (
    Texts,
    deduplicate_files,
    filter_files,
    map_files,
    predict_files,
    similar_pairs_of_files,
)
from sparsemaps.files._tasks import Stage, TaskRun

TEXTS = make_texts(60, seed=4)
SIZES = {"this": 64, "other": 32}
LEAST = {"this": 0.6, "other": 0.2}
"""Hashes of the map, and the threshold, of this run and of the run whose tasks are left over."""


def minhash(recipe):
    return MinHash(n_hashes=SIZES[recipe], random_state=0)


def dedup(folder, output, recipe, **options):
    how = {"source": "word:3", "threshold": LEAST[recipe], **options}
    return deduplicate_files(minhash(recipe), folder / "in", output, **how)


def pairs(folder, output, recipe, **options):
    how = {
        "source": "word:3",
        "threshold": LEAST[recipe],
        "other": folder / "in/0.jsonl",
        **options,
    }
    return similar_pairs_of_files(minhash(recipe), folder / "in", output, **how)


def map_(folder, output, recipe, **options):
    how = {"source": Texts("word:3", id_field="id"), "format": "npy", **options}
    return map_files(minhash(recipe), folder / "in", output, **how)


def predict(folder, output, recipe, **options):
    return predict_files(_model(recipe), folder / "in", output, **options)


def filter_(folder, output, recipe, **options):
    return filter_files(_model(recipe), folder / "in", output, label="a", **options)


@cache
def _model(recipe):
    model = text_model()
    model.set_params(map=minhash(recipe))
    return model.fit(TEXTS, ["a" if len(text) % 2 else "b" for text in TEXTS])


SEARCH = "search-keys", "search"
COUNTING = "frequencies", "frequencies-join"
OWN = Texts("word:3", max_df=2, min_own=3)
JOBS = {
    "dedup": (
        partial(dedup),
        ["codes", "codes-join", *SEARCH, "removals", "clusters", "kept", "outputs"],
    ),
    "dedup-exact": (
        partial(dedup, exact=True),
        ["codes", "codes-join", *SEARCH, "removals", "clusters", "kept", "outputs"],
    ),
    "dedup-own": (
        partial(dedup, source=OWN),
        [*COUNTING, "codes", "codes-join", *SEARCH, "removals", "clusters", "kept", "outputs"],
    ),
    "pairs-own": (
        partial(pairs, source=OWN),
        [*COUNTING, "codes", "codes-join", "other", "other-join", *SEARCH, "pairs", "output"],
    ),
    "pairs": (
        partial(pairs),
        ["codes", "codes-join", "other", "other-join", *SEARCH, "pairs", "output"],
    ),
    "map": (map_, ["map"]),
    "predict": (predict, ["predict"]),
    "filter": (filter_, ["filter"]),
}
"""Each job with its stages."""


@pytest.fixture
def folder(tmp_path, short_ranges):
    (tmp_path / "in").mkdir()
    for part in range(2):
        write_lines(tmp_path / f"in/{part}.jsonl", TEXTS[30 * part : 30 * part + 30])
    short_ranges(4000)
    return tmp_path


def output_of(name, folder, place):
    return f"{folder}/{place}" + ("" if name.startswith("pairs") else "/")


def contents(folder, place):
    """The outputs of a run, by their names; not what tasks have hidden, nor records."""
    root = folder / place
    if root.is_file():
        return root.read_bytes()
    paths = [path for path in root.iterdir() if path.name[0] != "." and path.suffix != ".json"]
    return {path.name: path.read_bytes() for path in paths}


class Leftover:
    """The tasks of a run: they are taken as they are made, and may be made again at any time."""

    def __init__(self, monkeypatch):
        self._patch, self.taken = monkeypatch, []

    def record(self, run):
        make_one = Stage.make_one

        def noting(stage, task, how):
            of_worker = type(stage.results)(stage.results.folder)
            self.taken.append((stage._replace(results=of_worker), task))
            return make_one(stage, task, how)

        with self._patch.context() as patch:
            patch.setattr(Stage, "make_one", noting)
            run()


@pytest.mark.parametrize("name", JOBS)
def test_tasks_of_another_recipe_at_any_moment(name, folder, monkeypatch):
    """Those of all stages are made again after each task of this run, and after its end."""
    job, _ = JOBS[name]
    out, one = (output_of(name, folder, place) for place in ("out", "one"))
    job(folder, one, "this")
    expected = contents(folder, "one")
    left = Leftover(monkeypatch)
    left.record(lambda: job(folder, out, "other"))
    assert {stage.name for stage, _ in left.taken} == set(JOBS[name][1])
    assert contents(folder, "out") != expected
    make_one, deliver = Stage.make_one, Stage.deliver
    again = partial(_make, make_one, left.taken)

    def disturbed(function, *given):
        again()
        made = function(*given)
        again()
        return made

    with monkeypatch.context() as patch:
        patch.setattr(Stage, "make_one", lambda *given: disturbed(make_one, *given))
        patch.setattr(Stage, "deliver", lambda *given: disturbed(deliver, *given))
        job(folder, out, "this")
    again()
    assert contents(folder, "out") == expected
    job(folder, out, "this")  # which takes what is there
    assert contents(folder, "out") == expected
    for place in ("out", "one"):
        assert not [path for path in folder.rglob(f"{place}/.sparsemaps-*")]
    if (folder / "out.stages").exists():
        found, wanted = (os.listdir(folder / f"{place}.stages") for place in ("out", "one"))
        assert sorted(map(without_digest, found)) == sorted(map(without_digest, wanted))


def _make(make_one, taken):
    """As a worker does it, which holds no lock. It may fail: others remove what it reads."""
    for stage, task in taken:
        try:
            make_one(stage, task, TaskRun())
        except (OSError, ValueError):
            continue


# ---- workers of a cluster that outlive their client ----------------------------------------------

HAS_STARTED, MAY_GO_ON, NONE_IS_LEFT = threading.Event(), threading.Event(), threading.Event()
LEFT = []


def make_late(make, task):
    """Make a result when that is allowed, whoever still waits for it. Two tasks wait, as others
    need threads too."""
    if len(LEFT) == 2:
        return make(task)
    LEFT.append(task)
    HAS_STARTED.set()
    MAY_GO_ON.wait(60)
    try:
        return make(task)
    except (OSError, ValueError):  # others remove what it reads
        return task.name, None
    finally:
        LEFT.remove(task)
        if not LEFT:
            NONE_IS_LEFT.set()


class Held:
    """The workers of a client, which is closed while they have tasks of a stage."""

    def __init__(self, client, stage):
        self._client, self._stage = client, stage

    def run(self, make, tasks):
        from sparsemaps.dask import Workers

        if make.stage.name != self._stage:
            return Workers(self._client).run(make, tasks)
        threading.Thread(target=self._close).start()
        return Workers(self._client).run(partial(make_late, make), tasks)

    def _close(self):
        HAS_STARTED.wait(60)
        self._client.close()


class Disturbed:
    """The workers of a client. When a stage is done, the tasks of it that are left may go on, and
    end before the next stage begins."""

    def __init__(self, client, stage):
        self._client, self._stage, self._is_done = client, stage, False

    def run(self, make, tasks):
        from sparsemaps.dask import Workers

        if self._is_done:
            let_end()
        self._is_done = self._is_done or make.stage.name == self._stage
        return Workers(self._client).run(make, tasks)


def let_end():
    MAY_GO_ON.set()
    assert NONE_IS_LEFT.wait(60)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    how = {"n_workers": 1, "threads_per_worker": 4, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster:
        yield cluster


WITH_ALL_STAGES = "dedup-own", "pairs-own", "map", "predict", "filter"
OF_CLUSTERS = [(name, stage) for name in WITH_ALL_STAGES for stage in JOBS[name][1]]


def test_every_stage_is_one_of_clusters():
    assert {stage for _, stage in OF_CLUSTERS} == {
        stage for _, stages in JOBS.values() for stage in stages
    }


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("name", "stage"), OF_CLUSTERS)
def test_workers_of_a_closed_client_in_each_stage(name, stage, folder, cluster):
    """They end in the midst of the next run, of other options, which has ended the stage."""
    import distributed

    job, _ = JOBS[name]
    out, one = (output_of(name, folder, place) for place in ("out", "one"))
    job(folder, one, "this")
    for event in (HAS_STARTED, MAY_GO_ON, NONE_IS_LEFT):
        event.clear()
    with pytest.raises(BaseException):  # noqa: B017, PT011 (whatever Dask says of a closed client)
        job(folder, out, "other", engine=Held(distributed.Client(cluster), stage))
    assert LEFT
    with distributed.Client(cluster) as client:
        job(folder, out, "this", engine=Disturbed(client, stage))
    let_end()
    assert contents(folder, "out") == contents(folder, "one")
    job(folder, out, "this")
    assert contents(folder, "out") == contents(folder, "one")


@pytest.mark.parametrize("name", JOBS)
def test_the_stages_of_each_job_are_known(name, folder):
    """The list above has those that are run."""
    job, stages = JOBS[name]
    run = []

    class Noting:
        def run(self, make, tasks):
            run.append(make.stage.name)
            return map(make, tasks)

    job(folder, output_of(name, folder, "out"), "this", engine=Noting())
    assert run == stages


def test_the_jobs_are_known():
    """Those with tasks."""
    with_tasks = {
        name
        for name in files.__all__
        if name.endswith("_files") and "task" in inspect.signature(getattr(files, name)).parameters
    }
    assert with_tasks == {
        "deduplicate_files", "filter_files", "map_files", "predict_files",
        "similar_pairs_of_files",
    }  # fmt: skip
