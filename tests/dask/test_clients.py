"""Jobs on files by the workers of a cluster: the outputs are those of this process."""

import contextlib
import functools
import operator
import os
import time
from types import SimpleNamespace

import pytest
from _data.dedup_records import make_texts

from sparsemaps import MinHash, cli
from sparsemaps.cli import make_parser
from sparsemaps.files import (
    Texts,
    deduplicate_files,
    filter_files,
    map_files,
    predict_files,
    similar_pairs_of_files,
    train_files,
)
from sparsemaps.linear import KernelClassifier
from sparsemaps.text import HashingVectorizer

distributed = pytest.importorskip("distributed")
from sparsemaps.dask import Workers  # noqa: E402
from sparsemaps.dask._engine import connect  # noqa: E402

MINHASH = MinHash(n_hashes=32, random_state=0)
WORDS = Texts("word:3", format="jsonl")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": "127.0.0.1:0"}
    with distributed.Client(processes=False, **options) as client:
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    texts = make_texts(120, seed=1)
    for part in range(3):
        lines = [
            f'{{"text": "{text}", "label": {number % 2}}}\n'
            for number, text in enumerate(texts[40 * part : 40 * part + 40])
        ]
        (folder / f"{part}.jsonl").write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def model(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    vectorizer = HashingVectorizer(ngram_range=(3, 3), alternate_sign=False, norm=None)
    model = KernelClassifier(MINHASH, vectorizer=vectorizer, random_state=0)
    return train_files(model, folder, path, source=Texts(label_field="label")).model


JOBS = {
    "map": lambda folder, model, **how: map_files(MINHASH, folder, source=WORDS, **how),
    "pairs": lambda folder, model, **how: similar_pairs_of_files(
        MINHASH, folder, source=WORDS, threshold=0.6, **how
    ),
    "dedup": lambda folder, model, **how: deduplicate_files(
        MINHASH, folder, source=WORDS, threshold=0.6, **how
    ),
    "predict": lambda folder, model, **how: predict_files(model, folder, **how),
    "filter": lambda folder, model, **how: filter_files(model, folder, label=1, **how),
    "filter, a fraction": lambda folder, model, **how: filter_files(
        model, folder, label=1, fraction=0.3, **how
    ),
}


@pytest.mark.parametrize("name", JOBS)
def test_the_outputs_are_those_of_this_process(name, folder, model, client, tmp_path):
    end = "" if name == "pairs" else "/"
    made = JOBS[name](folder, model, output=f"{tmp_path}/out{end}", engine=Workers(client))
    expected = JOBS[name](folder, model, output=f"{tmp_path}/one{end}")
    assert str(made).replace("/out/", "/one/") == str(expected)
    files = [sorted((tmp_path / which).glob("*")) for which in ("out", "one")] if end else []
    for one, other in zip(*files, strict=True) if end else [(tmp_path / "out", tmp_path / "one")]:
        assert one.name == other.name or not end
        if not one.name.endswith(".json"):
            assert one.read_bytes() == other.read_bytes()


def test_a_large_model_needs_no_warning(client):
    """Dask warns of functions above 10 MB."""
    make = functools.partial(operator.add, bytes(11_000_000))
    made = list(Workers(client).run(make, [b"a", b"bc"]))
    assert sorted(map(len, made)) == [11_000_001, 11_000_002]


@pytest.mark.parametrize("name", ["map", "predict", "filter", "filter, a fraction"])
def test_a_relative_directory(name, folder, model, client, tmp_path, monkeypatch):
    """Workers may have another current directory."""

    class Elsewhere:
        def run(self, make, tasks):
            os.chdir(tmp_path / "there")
            made = list(Workers(client).run(make, tasks))
            os.chdir(tmp_path / "here")
            return made

    for place in ("here", "there"):
        (tmp_path / place).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    JOBS[name](folder, model, output="out/", engine=Elsewhere())
    assert len(list((tmp_path / "here/out").glob("*.json"))) == 3
    assert not any((tmp_path / "there").iterdir())


STAGES = {
    "map": {"map": 3},
    "pairs": {
        **{"codes": 3, "codes-join": 1, "search-keys": 1, "search": 3},
        **{"pairs": 1, "output": 1},
    },
    "dedup": {
        **{"codes": 3, "codes-join": 1, "search-keys": 1, "search": 3},
        **{"removals": 1, "clusters": 1, "kept": 1, "outputs": 3},
    },
    "predict": {"predict": 3},
    "filter": {"filter": 3},
    "filter, a fraction": {"scores": 3, "cut": 1, "filter": 3},
}


@pytest.mark.parametrize("name", JOBS)
def test_the_workers_run_every_task(name, folder, model, client, tmp_path, short_ranges):
    """Of each stage; and only those tasks whose results are not there."""
    short_ranges(max(path.stat().st_size for path in folder.iterdir()))

    class Counting:
        def run(self, make, tasks):
            given[make.stage.name] = len(tasks)
            assert make.n_jobs == (-1 if STAGES[name][make.stage.name] == 1 else None)
            return Workers(client).run(make, tasks)

    end = "" if name == "pairs" else "/"
    for expected in (STAGES[name], {}):
        given = {}
        JOBS[name](folder, model, output=f"{tmp_path}/out{end}", engine=Counting())
        assert {stage: n for stage, n in given.items() if n} == expected


def test_the_cluster_forgets_what_has_arrived(client):
    """A result that would stay takes memory of its worker, and is made again if that is lost."""
    answers = Workers(client).run(str, range(20))
    for n_left in range(19, -1, -1):
        next(answers)
        end = time.monotonic() + 20
        while len(client.futures) > n_left + 1:  # with the function
            assert time.monotonic() < end, len(client.futures)
            time.sleep(0.001)
    assert next(answers, None) is None


@pytest.mark.parametrize("is_file", [False, True])
def test_the_command_names_a_scheduler_by_its_address_or_its_file(tmp_path, monkeypatch, is_file):
    """And a worker that died too often is an error of one line."""
    monkeypatch.setattr(distributed, "Client", lambda **how: contextlib.nullcontext(Known(how)))
    place = str(tmp_path / "scheduler.json")
    if is_file:
        (tmp_path / "scheduler.json").write_text("{}")

    def lose():
        with connect(place, 1) as workers:
            assert workers.client.how == {"scheduler_file" if is_file else "address": place}
            raise distributed.KilledWorker("a task", SimpleNamespace(address="tcp://gone"), 3)

    with pytest.raises(ValueError, match="Attempted to run task 'a task' on 4 different workers"):
        lose()


class Known:
    """In place of a client: how it was made."""

    map = submit = None

    def __init__(self, how):
        self.how = how


def test_an_engine_that_leaves_out_a_task(folder, tmp_path):
    class Lazy:
        def run(self, make, tasks):
            return map(make, tasks[1:])

    with pytest.raises(ValueError, match="the engine has made 2 of 3 results of the stage map"):
        map_files(MINHASH, folder, f"{tmp_path}/out/", source=WORDS, engine=Lazy())
    assert len(list(tmp_path.glob("out/*.svm"))) == 2


@pytest.mark.parametrize("name", JOBS)
def test_an_output_that_is_no_file(name, folder, model, client, tmp_path):
    needs = "inputs and outputs that are files"
    with (folder / "0.jsonl").open("rb") as file:
        if name not in ("pairs", "dedup"):
            file, needs = folder, "an output that is a directory"
        with pytest.raises(ValueError, match=f"tasks need {needs}"):
            JOBS[name](file, model, output=tmp_path / "out", engine=Workers(client))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", JOBS)
def test_bad_arguments(name, folder, model, tmp_path):
    out = f"{tmp_path}/out" + ("" if name == "pairs" else "/")
    with pytest.raises(ValueError, match=r"engine must be None or an engine, such as .*, got 3"):
        JOBS[name](folder, model, output=out, engine=3)
    with pytest.raises(ValueError, match=r"client must be a distributed\.Client, got 3"):
        Workers(3)
    engine = Workers(distributed.Client.__new__(distributed.Client))
    with pytest.raises(ValueError, match="give task or engine, not both"):
        JOBS[name](folder, model, output=out, engine=engine, task=(name, 0, 2))


# ---- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dask", [["--dask"], ["--scheduler", "tcp://nowhere:1"]])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "out"], "--dask needs an output directory, whose name ends in a slash"),
        (
            ["-o", "out/", "--stage", "map", "--task", "0/2"],
            "--task cannot be combined with",
        ),
    ],
)
def test_what_the_command_cannot_do(folder, tmp_path, monkeypatch, capsys, options, message, dask):
    monkeypatch.chdir(tmp_path)
    job = ["map", "minmax", str(folder / "0.jsonl"), "--texts", "word:3"]
    assert cli.main([*job, *options, *dask]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


COMMANDS = {
    "map": ["map", "--dask", "minmax", "in"],
    "text": ["text", "--dask", "in"],
    "pairs": ["pairs", "--dask", "minhash", "in"],
    "dedup": ["dedup", "--dask", "minhash", "in"],
    "predict": ["predict", "--dask", "model", "in"],
    "filter": ["filter", "--dask", "model", "in", "--label", "a"],
}
"""Calls with --dask before another word, of each command that has the option."""


def commands_with_dask():
    actions = make_parser()._subparsers._group_actions
    for name, command in actions[0].choices.items():
        parsers = [command]
        for parser in parsers:
            for action in parser._actions:
                if hasattr(action, "choices") and isinstance(action.choices, dict):
                    parsers += action.choices.values()
        if any("--dask" in parser._option_string_actions for parser in parsers):
            yield name


def test_the_commands_with_dask_are_known():
    assert set(commands_with_dask()) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_dask_takes_no_value(name):
    """The word after it is what it is without the option."""
    words = [*COMMANDS[name], "-o", "out"]
    if name in ("map", "pairs", "dedup"):  # the option is of the map's parser
        words[1], words[2] = words[2], words[1]
    options = make_parser().parse_args(words)
    assert (options.inputs, options.dask, options.scheduler) == (["in"], True, None)
    words[words.index("--dask")] = "--scheduler=file.json"
    options = make_parser().parse_args(words)
    assert (options.inputs, options.dask, options.scheduler) == (["in"], True, "file.json")
    with pytest.raises(SystemExit):
        make_parser().parse_args([*words[:-2], "-o", "out", "--dask=tcp://scheduler:1"])


@pytest.mark.parametrize("words", [["--dask", "minhash"], ["--exact", "--dask", "minhash"], []])
@pytest.mark.parametrize("command", ["dedup", "pairs"])
def test_the_map_after_dask(folder, tmp_path, capsys, command, words):
    """It is the map, and no address and no input."""
    job = [command, *words, str(folder), "--tasks", "-o", str(tmp_path / "out")]
    assert cli.main(job) == 0
    assert capsys.readouterr().out.startswith("codes ")
