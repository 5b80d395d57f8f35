"""Jobs of files by Ray, whose workers die in each stage, at any moment.

``python -m _scripts.dying_workers 10`` runs each job ten times. In each stage, the worker of a task
dies by SIGKILL when it opens, renames or removes its k-th file; Ray gives the task to another one.
Prints how many workers have died. All outputs are those of a run without Ray.
"""

import functools
import os
import random
import signal
import sys
import tempfile
from pathlib import Path

from _data.chance import named
from _data.dedup_records import make_texts, write_lines
from _data.labelled_records import records, text_model, write_jsonl

from sparsemaps import MinHash, files
from sparsemaps.files import Texts, _coded_records

MOMENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.listdir")
"""Events of `sys.addaudithook`, of a path."""

WORDS = {"source": "word:3", "threshold": 0.6, "exact": True}
SEARCH = ["search-keys", "search"]
STAGES = {
    "dedup": ["codes", "codes-join", *SEARCH, "removals", "clusters", "kept", "outputs"],
    "pairs": ["codes", "codes-join", *SEARCH, "pairs", "output"],
    "map": ["map"],
    "predict": ["predict"],
    "filter": ["filter"],
}
N_TASKS = 3


RANGE_BYTES = 2**14
"""The length of ranges of inputs, so that tasks share the search."""


def in_ranges(function, *arguments, **options):
    """Call a function of jobs with short ranges of inputs."""
    before, _coded_records.RANGE_BYTES = _coded_records.RANGE_BYTES, RANGE_BYTES
    try:
        return function(*arguments, **options)
    finally:
        _coded_records.RANGE_BYTES = before


def job_of(name, folder, output):
    """A function that takes a task, or none."""
    minhash, inputs = MinHash(n_hashes=64, random_state=0), str(folder / "in")
    if name == "dedup":
        return functools.partial(
            in_ranges,
            files.deduplicate_files,
            minhash,
            inputs,
            f"{output}/",
            keep="longest",
            **WORDS,
        )
    if name == "pairs":
        return functools.partial(
            in_ranges, files.similar_pairs_of_files, minhash, inputs, str(output), **WORDS
        )
    if name == "map":
        texts = Texts("word:3", id_field="id")
        return functools.partial(
            files.map_files, minhash, inputs, f"{output}/", source=texts, format="npy"
        )
    model = text_model().load(folder / "model")
    if name == "predict":
        return functools.partial(files.predict_files, model, inputs, f"{output}/")
    return functools.partial(files.filter_files, model, inputs, f"{output}/", label="pets")


def write_inputs(folder):
    (folder / "in").mkdir()
    texts = make_texts(180, seed=5)
    for part in range(N_TASKS):
        write_lines(folder / f"in/{part}.jsonl", texts[60 * part : 60 * part + 60])
    write_jsonl(folder / "train.jsonl", records())
    model, labels = text_model(), Texts(label_field="label")
    files.train_files(model, folder / "train.jsonl", folder / "model", source=labels)


def run_and_die(job, task, moment, mark, folder):
    """Run a task. The first process that does so dies at the given event of a path in a folder."""
    n_left = [moment]

    def hook(event, arguments):
        if event in MOMENTS and arguments and str(arguments[0]).startswith(folder):
            n_left[0] -= 1
            if n_left[0] == 0 and _is_first(mark):
                os.kill(os.getpid(), signal.SIGKILL)

    if not os.path.exists(mark):
        sys.addaudithook(hook)
    try:
        job(task=task)
    finally:
        n_left[0] = 0  # as hooks stay


def _is_first(mark):
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def outputs(path):
    if path.is_file():
        return path.read_bytes()
    return {one.name: one.read_bytes() for one in path.iterdir() if one.suffix != ".json"}


def run(ray, name, folder, draw, most=40):
    """Run a job by Ray, while workers die; returns how many have died in each stage."""
    expected, output = folder / f"{name} here", folder / f"{name} of Ray"
    if not expected.exists():
        job_of(name, folder, expected)()
    job, died = job_of(name, folder, output), {}
    part = ray.remote(max_retries=N_TASKS)(run_and_die)
    for stage in STAGES[name]:
        marks = [folder / f"{stage} {i}" for i in range(N_TASKS)]
        ray.get([
            part.remote(job, (stage, i, N_TASKS), draw.randint(1, most), str(mark), str(folder))
            for i, mark in enumerate(marks)
        ])  # fmt: skip
        died[stage] = sum(mark.exists() for mark in marks)
        for mark in marks:
            mark.unlink(missing_ok=True)
    job()
    assert outputs(output) == outputs(expected), name
    for path in sorted(folder.glob(f"{output.name}*")):
        _remove(path)
    return died


def _remove(path):
    if path.is_dir():
        for child in path.iterdir():
            _remove(child)
        path.rmdir()
    else:
        path.unlink()


def started():
    """Ray, on this machine; its workers find the modules of tests."""
    import ray

    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    return ray


def main(n_times):
    ray = started()
    try:
        with tempfile.TemporaryDirectory() as folder:
            write_inputs(Path(folder))
            for name in STAGES:
                draw, died = random.Random(named(name)), dict.fromkeys(STAGES[name], 0)
                for _ in range(n_times):
                    for stage, n in run(ray, name, Path(folder), draw).items():
                        died[stage] += n
                print(name, died, flush=True)
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
