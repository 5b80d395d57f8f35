"""Jobs whose inputs, outputs and folders are URLs: what they write is what files of this machine
have."""

import gzip
import http.server
import os
import re
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from _data.dedup_records import make_texts, write_lines
from _data.labelled_records import records, write_jsonl
from _data.svmlight import write

from sparsemaps import cli
from sparsemaps._io import _urls
from sparsemaps._io._sources import expand

fsspec = pytest.importorskip("fsspec")

TEXTS = make_texts(60, seed=4)


def write_inputs(folder):
    """The inputs of all jobs."""
    (folder / "parts").mkdir()
    (folder / "rows").mkdir()
    write_lines(folder / "parts/a.jsonl", TEXTS[:30])
    write_lines(folder / "parts/b.jsonl", TEXTS[20:])
    (folder / "c.jsonl.gz").write_bytes(gzip.compress((folder / "parts/a.jsonl").read_bytes()))
    lines = (folder / "parts/a.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "bad.jsonl").write_bytes(b"".join([*lines[:9], b"bad\n", *lines[9:]]))
    write_jsonl(folder / "labelled.jsonl", records())
    write(folder / "rows/a.svm", 20)
    write(folder / "rows/b.svm", 12, seed=1)
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table({"text": TEXTS})
    parquet.write_table(table, folder / "texts.parquet", row_group_size=20)


MAP = "map minhash --n-hashes 16"
WORDS = "--texts word:2"
DEDUP = f"dedup minhash --n-hashes 32 {WORDS} --threshold .6"
PAIRS = f"pairs minhash --n-hashes 32 {WORDS} --threshold .6"

JOBS = {
    "map": f"{MAP} IN/rows/a.svm IN/rows/b.svm -o OUT/one.gz",
    "map npy": f"{MAP} IN/rows/ -o OUT/codes.npy --format npy",
    "map of each": f"{MAP} IN/rows/*.svm -o OUT/each/ --format npy",
    "map of texts": f"{MAP} IN/labelled.jsonl {WORDS} --label-field label -o OUT/classes",
    "map of bad": f"{MAP} IN/bad.jsonl {WORDS} -o OUT/good --bad-records OUT/bad.tsv",
    "text": "text IN/parts/ -o OUT/text/",
    "pairs": f"{PAIRS} IN/parts/ -o OUT/pairs.tsv --exact",
    "pairs of codes": f"{PAIRS} OUT/c/a.jsonl.npy -o OUT/of_codes.tsv --other IN/c.jsonl.gz",
    "dedup": f"{DEDUP} IN/parts/a.jsonl IN/c.jsonl.gz -o OUT/kept.jsonl --exact "
    "--removed OUT/removed.tsv --clusters OUT/clusters.tsv --report OUT/report.html",
    "dedup of each": f"{DEDUP} IN/parts/ -o OUT/kept/ --keep longest",
    "dedup of own": f"{DEDUP} IN/bad.jsonl -o OUT/own.jsonl --max-df 3 --min-own 4 "
    "--bad-records OUT/own.tsv",
    "dedup against": f"{DEDUP} IN/parts/b.jsonl -o OUT/new.jsonl --against OUT/a.jsonl.stages "
    "--against OUT/c/a.jsonl.npy --removed OUT/new.tsv",
    "dedup of parquet": f"{DEDUP} IN/texts.parquet -o OUT/kept.parquet",
    "train": "train minhash --n-hashes 16 IN/labelled.jsonl --texts char:3 --label-field label "
    "-o OUT/new_model",
    "train on codes": "train minhash --n-hashes 16 OUT/t/labelled.jsonl.npy -o OUT/of_codes",
    "predict": "predict OUT/model IN/parts/a.jsonl -o OUT/labels.tsv",
    "predict codes": "predict OUT/model OUT/t/labelled.jsonl.npy -o OUT/labels.jsonl",
    "predict each": "predict OUT/model IN/parts/ -o OUT/labels/",
    "filter": "filter OUT/model IN/labelled.jsonl -o OUT/pets.jsonl --label pets",
    "filter each": "filter OUT/model IN/parts/ -o OUT/pets/ --label pets --fraction .5",
    "kernel": "kernel minmax IN/rows/a.svm IN/rows/b.svm -o OUT/kernel",
}
"""Commands, whose inputs are in IN and whose outputs are in OUT."""

BEFORE = [
    f"{MAP} IN/parts/ {WORDS} -o OUT/c/ --n-hashes 32 --format npy",
    f"{MAP} IN/labelled.jsonl --texts char:3 --label-field label -o OUT/t/ --format npy",
    f"{DEDUP} IN/parts/a.jsonl -o OUT/a.jsonl",
    "train minhash --n-hashes 16 IN/labelled.jsonl --texts char:3 --label-field label -o OUT/model",
]
"""Commands that make what others take."""


def run(command, inputs, outputs):
    words = command.replace("IN/", f"{inputs}/").replace("OUT/", f"{outputs}/").split()
    return cli.main([*words, "--no-progress"])


def content_here(folder):
    paths = (path for path in Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def content_there(url):
    fs, place = fsspec.core.url_to_fs(url)
    fs.invalidate_cache()
    return {name.removeprefix(f"{place}/"): fs.cat_file(name) for name in fs.find(place)}


def shown(content, *places):
    """What a folder has, but for receipts, whose recipes name the inputs, and the folder's name."""

    def is_shown(name):
        parts = name.split("/")
        is_step = parts[-2:-1] and parts[-2].endswith(".stages") and "-" in parts[-1]
        return not (name.endswith(".json") or parts[-1].startswith(".") or is_step)

    found = {name: text for name, text in content.items() if is_shown(name)}
    for name in found:
        for place in places:
            found[name] = found[name].replace(str(place).encode(), b"PLACE")
    return found


def outputs_of(command):
    """A pattern of the names that a command writes in OUT."""
    names = re.findall(r"(?:-o|--removed|--clusters|--report|--bad-records) OUT/(\S+)", command)
    beside = r"\.(?:labels|qids|classes|ids)\.\w+"
    patterns = (
        rf"{re.escape(name[:-1])}(?:\.stages)?/.*"
        if name.endswith("/")
        else rf"{re.escape(name)}(?:\.stages/.*|{beside})?"
        for name in names
    )
    return re.compile("|".join(patterns))


def check_outputs(name, content, here, *places):
    """The files of a job are those that it writes on this machine."""
    expected = shown(content_here(here / "out"), here / "in", here / "out")
    found, pattern = shown(content, *places), outputs_of(JOBS[name])
    expected, found = (
        {name: text for name, text in some.items() if pattern.fullmatch(name)}
        for some in (expected, found)
    )
    assert found.keys() == expected.keys()
    assert found == expected


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """Inputs, and what all jobs write on this machine."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "in").mkdir()
    (folder / "out").mkdir()
    write_inputs(folder / "in")
    for command in [*BEFORE, *JOBS.values()]:
        assert run(command, folder / "in", folder / "out") == 0, command
    return folder


@pytest.fixture(scope="module")
def filled(here):
    """A file system in memory, with the inputs and what jobs take; and its content."""
    fs = fsspec.filesystem("memory")
    fs.put(f"{here}/in", "/in", recursive=True)
    for command in BEFORE:
        assert run(command, "memory://in", "memory://out") == 0
    yield fs, dict(fs.store), list(fs.pseudo_dirs)
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]


@pytest.fixture
def memory(filled):
    fs, files, folders = filled
    fs.store.clear()
    fs.store.update(files)
    fs.pseudo_dirs[:] = folders
    return fs


@pytest.mark.parametrize("name", JOBS)
def test_a_job_in_memory(here, memory, tmp_path, name):
    assert run(JOBS[name], "memory://in", "memory://out") == 0
    found = content_there("memory://out")
    check_outputs(name, found, here, "memory://in", "memory://out")
    assert not [name for name in found if ".tmp" in name]


@pytest.mark.parametrize("name", JOBS)
def test_inputs_in_memory_and_outputs_here(here, memory, tmp_path, name):
    """And what other jobs have made, which stands beside the outputs."""
    command = JOBS[name].replace(" OUT/", " memory://out/")
    command = re.sub(rf"(-o|--[a-z-]+) memory://out/(?!{OF_OTHERS})", r"\1 OUT/", command)
    assert run(command, "memory://in", tmp_path) == 0
    places = "memory://in", "memory://out", tmp_path
    check_outputs(name, content_here(tmp_path), here, *places)


def created(fs):
    return {name: file.created for name, file in fs.store.items() if name.startswith("/out/")}


@pytest.mark.parametrize("name", ["map of each", "pairs", "dedup of each", "predict each"])
def test_a_second_run_takes_what_is_there(memory, name):
    """Other files may be copied again, which have a second name."""
    assert run(JOBS[name], "memory://in", "memory://out") == 0
    before = created(memory)
    assert run(JOBS[name], "memory://in", "memory://out") == 0
    after = created(memory)
    assert after.keys() == before.keys()
    pattern = re.compile(r".*\.stages/[a-z]+\.npy.*")
    same = [name for name in before if not pattern.fullmatch(name)]
    assert same
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    memory.pipe("/in/parts/a.jsonl", memory.cat("/in/parts/b.jsonl"))
    memory.pipe("/in/rows/a.svm", memory.cat("/in/rows/b.svm"))
    assert run(JOBS[name], "memory://in", "memory://out") == 0
    assert created(memory) != after


@pytest.mark.parametrize("name", ["map of each", "dedup of each", "pairs"])
def test_tasks_at_a_url(here, memory, name, short_ranges):
    short_ranges(3000)
    stages = {"map of each": ["map"], "pairs": [*CODING, "pairs", "output"]}
    for stage in stages.get(name, [*CODING, "removals", "clusters", "kept", "outputs"]):
        for i in (1, 0):
            command = f"{JOBS[name]} --stage {stage} --task {i}/2"
            assert run(command, "memory://in", "memory://out") == 0
    before = created(memory)
    check_outputs(name, content_there("memory://out"), here, "memory://in", "memory://out")
    assert run(JOBS[name], "memory://in", "memory://out") == 0
    after = created(memory)
    assert all(
        after.get(name, time) == time for name, time in before.items() if "stages" not in name
    )


CODING = ["codes", "codes-join", "search-keys", "search"]
OF_OTHERS = r"(?:c/|t/|a\.jsonl|model\b)"
"""The outputs of `BEFORE`."""


def test_inputs_that_change(memory, tmp_path, capsys, monkeypatch):
    """The first block is read; then the file is another one."""
    opened = _urls.opened

    def changing(path):
        memory.pipe("/in/rows/a.svm", b"1 1:1\n")
        return opened(path)

    monkeypatch.setattr(_urls, "opened", changing)
    assert run(JOBS["map"], "memory://in", tmp_path) == 2
    assert "the input memory://in/rows/a.svm changed during the run" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("map minmax IN/rows/a.svm -o https://example.org/out", "can only be read"),
        ("dedup IN/parts/ -o https://example.org/out/", "can only be read"),
        ("map minmax IN/rows/a.svm -o file:///tmp/out", "/tmp/out: to write to this machine, give"),
        ("dedup IN/parts/ -o File:///tmp/out/", "to write to this machine, give a path instead of"),
        ("map minmax IN/rows/c.svm -o OUT/x", "memory://in/rows/c.svm: No such file or directory"),
        ("map minmax IN/nothing/* -o OUT/x", "there are no files"),
        ("map minmax nothing://a/b -o OUT/x", "nothing"),
        ("map minmax IN/rows/a.svm -o IN/rows/a.svm", "is the input"),
    ],
)
def test_what_is_refused(memory, capsys, command, message):
    before = created(memory)
    assert run(command, "memory://in", "memory://out") == 2
    assert message in capsys.readouterr().err
    assert created(memory) == before


def test_folders_of_a_folder(memory):
    """They are no inputs, and files are no folders."""
    fsspec.filesystem("memory").pipe_file("/in/parts/more/c.jsonl", b"{}")
    with pytest.warns(UserWarning, match="the files in more are not read"):
        found = expand("memory://in/parts/")
    assert [path.rpartition("/")[2] for path in found] == ["a.jsonl", "b.jsonl"]
    assert _urls.entries_of("memory://in/parts/")[1] == ["more"]


def test_urls_of_this_machine(here, tmp_path):
    command = JOBS["dedup of each"]
    assert run(command, f"file://{here}/in", tmp_path) == 0
    check_outputs("dedup of each", content_here(tmp_path), here, here / "in", tmp_path)


def test_without_fsspec(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    assert run("map minmax IN/a.svm -o OUT/x", "memory://in", tmp_path) == 2
    assert 'a URL needs fsspec: pip install "sparsemaps[urls]"' in capsys.readouterr().err


# ---- servers -------------------------------------------------------------------------------------


@pytest.fixture
def web(here):
    """A server that gives whole files only."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=here)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        handler.log_message = lambda *words: None
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    "name",
    ["map", "map of bad", "dedup", "dedup of parquet", "train on codes", "predict", "kernel"],
)
def test_inputs_of_a_web_server(here, web, tmp_path, name):
    pytest.importorskip("aiohttp")
    command = re.sub(rf"OUT/(?={OF_OTHERS})", f"{web}/out/", JOBS[name])
    assert run(command, f"{web}/in", tmp_path) == 0
    check_outputs(name, content_here(tmp_path), here, f"{web}/in", tmp_path)


@pytest.fixture(scope="module")
def store():
    """The variables of a process that has an object store, with a bucket."""
    pytest.importorskip("s3fs")
    pytest.importorskip("moto.server")
    code = (
        "import time; from moto.server import ThreadedMotoServer\n"
        "server = ThreadedMotoServer('127.0.0.1', 0, verbose=False); server.start()\n"
        "print(server.get_host_and_port()[1], flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", code]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, **pipes) as server:
        port = next(line for line in server.stdout if line.strip().isdecimal())
        yield {
            "FSSPEC_S3_ENDPOINT_URL": f"http://127.0.0.1:{port.strip()}",
            "FSSPEC_S3_KEY": "key",
            "FSSPEC_S3_SECRET": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        server.kill()


KILLED = "map of each", "dedup of each", "filter"


def test_jobs_that_are_killed_at_an_object_store(here, store, monkeypatch):
    """An output is complete or not there, and the next run goes on."""
    own = {"endpoint_url": store["FSSPEC_S3_ENDPOINT_URL"], "key": "key", "secret": "secret"}
    monkeypatch.setitem(fsspec.config.conf, "s3", own)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    fs = fsspec.filesystem("s3", **own)
    fs.mkdir("bucket")
    fs.put(f"{here}/in", "bucket/in", recursive=True)
    for command in BEFORE[:3:2] + BEFORE[3:]:
        assert run(command, "s3://bucket/in", "s3://bucket/out") == 0
    n_killed = 0
    for name in KILLED:
        for n_writes in (2, 9):
            words = JOBS[name].replace("IN/", "s3://bucket/in/").replace("OUT/", "s3://bucket/out/")
            code = DYING.format(words=[*words.split(), "--no-progress"], n_writes=n_writes)
            environment = {**os.environ, **store}
            done = subprocess.run(
                [sys.executable, "-P", "-c", code], env=environment, capture_output=True
            )
            assert done.returncode in (0, -signal.SIGKILL), done.stderr
            n_killed += done.returncode != 0
            found = content_there("s3://bucket/out")
            pattern = outputs_of(JOBS[name])
            complete = shown(content_here(here / "out"), here / "in", here / "out")
            for path, text in shown(found, "s3://bucket/in", "s3://bucket/out").items():
                if pattern.fullmatch(path):
                    assert text == complete[path]
        assert run(JOBS[name], "s3://bucket/in", "s3://bucket/out") == 0
        check_outputs(
            name, content_there("s3://bucket/out"), here, "s3://bucket/in", "s3://bucket/out"
        )
    assert n_killed > len(KILLED)


DYING = """
import os, signal
from sparsemaps import cli
from sparsemaps._io import _urls

n_left, put = [{n_writes}], _urls.system_of

def dying(url):
    fs, place = put(url)
    move, upload = fs.mv, fs.put_file

    def counted(function):
        def call(*given, **named):
            n_left[0] -= 1
            if n_left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*given, **named)
        return call

    if not hasattr(fs, "_counted"):
        fs._counted = True
        fs.mv, fs.put_file = counted(move), counted(upload)
    return fs, place

_urls.system_of = dying
raise SystemExit(cli.main({words!r}))
"""
