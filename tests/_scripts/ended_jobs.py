"""Each subcommand that writes, and what signals leave of it that end it at any moment.

``python -m _scripts.ended_jobs 25`` ends each of them 25 times by each of four signals, and prints
how many runs had ended before. What is left is right, and the next run writes the output.
"""

import collections
import contextlib
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

from _data.chance import named
from _data.dedup_records import make_texts

from _scripts.commands import command
from _scripts.programs import Program

TEXTS = ["--texts", "word:2"]
JOBS = {
    "map": ["map", "minhash", *TEXTS, "--id-field", "id", "--format", "npy", "in"],
    "text": ["text", "in"],
    "pairs": ["pairs", "minhash", *TEXTS, "--threshold", "0.5", "--exact", "in"],
    "dedup": ["dedup", "minhash", *TEXTS, "--threshold", "0.5", "--exact", "in"],
    "kernel": ["kernel", "minmax", "in.svm"],
    "train": ["train", "minhash", *TEXTS, "--n-hashes", "64", "--label-field", "label", "in"],
    "predict": ["predict", "model", "in", "--id-field", "id"],
    "filter": ["filter", "model", "in", "--label", "a"],
}
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]


def write_inputs(folder, n_copies=1):
    """Two files of texts with labels, a LIBSVM file, and a model."""
    (folder / "in").mkdir(exist_ok=True)
    texts = make_texts(240, seed=6)
    for part in range(2):
        lines = []
        for copy in range(n_copies):
            for row, text in enumerate(texts[120 * part : 120 * part + 120]):
                record = {"id": f"{part} {row} {copy}", "text": f"{text} {copy}"}
                lines.append(json.dumps({**record, "label": "ab"[row % 2]}))
        (folder / f"in/{part}.jsonl").write_text("\n".join(lines) + "\n")
    rows = [f"{row % 2} {1 + row % 7}:1 {9 + row % 5}:2" for row in range(100 * n_copies)]
    (folder / "in.svm").write_text("\n".join(rows) + "\n")
    done = command(*JOBS["train"][:-1], folder / "in", "-o", folder / "model")
    assert done.returncode == 0, done.stderr


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def outputs(folder, name):
    """The output, or the outputs in a directory, without records of where they are."""
    found = files(folder)
    return {
        path.removeprefix(name): content
        for path, content in found.items()
        if path.startswith(name) and not path.startswith(f"{name}.stages") and path[-5:] != ".json"
    }


OF_IMPORTS = rb"Exception ignored in: <function _get_module_lock(.*\n)+?KeyboardInterrupt: \n"
"""What the interpreter says of an interrupt that it drops while it imports a module."""


def end(folder, name, number, seconds, draw):
    """Start a job, and send it a signal at some moment; its exit status, None if it had not begun.

    Checks what it leaves: all outputs or none, one line on standard error at most, and no temporary
    file but of a job that was killed.
    """
    whole, before = outputs(folder, "whole"), set(folder.rglob("*"))
    program = Program(*JOBS[name], "-o", "out", cwd=folder)
    end_of_wait = time.monotonic() + seconds
    while program.process.is_alive() and set(folder.rglob("*")) == before:
        if time.monotonic() > end_of_wait:
            break  # there is nothing before the output
        time.sleep(0.0005)  # until it has begun
    time.sleep(draw.uniform(0, seconds / 2))
    with contextlib.suppress(ProcessLookupError):  # it has ended
        program.signal(number)
    status, said = program.end()
    if (status, said) == (1, b""):
        return None  # the new process was not yet that of the command
    assert status in (0, 128 + number, -number), (status, said)
    said = re.sub(OF_IMPORTS, b"", said)
    assert said.count(b"\n") <= 1, said
    found = outputs(folder, "out")
    assert all(whole.get(path) == content for path, content in found.items()), found.keys()
    if "" in found:
        assert found == whole
    if number != signal.SIGKILL:
        assert temporary(folder) <= {path.name for path in before}
        assert temporary(folder / "out.stages") == set()
    return status


def temporary(folder):
    return {path.name for path in folder.glob(".*")}


def check_the_next_run(folder, name):
    status, said = Program(*JOBS[name], "-o", "out", cwd=folder).end()
    assert status == 0, said
    assert outputs(folder, "out") == outputs(folder, "whole")


def run_whole(folder, name):
    """Write the output of a job that is not ended; how long that takes."""
    start = time.monotonic()
    status, said = Program(*JOBS[name], "-o", "whole", cwd=folder).end()
    assert status == 0, said
    return time.monotonic() - start


def main(n_times):
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # a model says when it was trained
    for name in JOBS:
        ended, draw = collections.Counter(), random.Random(named(name))
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            write_inputs(folder, 8 if name in ("pairs", "dedup", "kernel") else 60)
            seconds = run_whole(folder, name)
            for number in SIGNALS * n_times:
                status = end(folder, name, number, seconds, draw)
                ended[{0: "complete", None: "not begun"}.get(status, number.name)] += 1
                if draw.random() < 0.25:
                    check_the_next_run(folder, name)
                    for path in folder.glob("out*"):
                        remove(path)
            check_the_next_run(folder, name)
        print(name, dict(ended), flush=True)


def remove(path):
    if path.is_dir():
        for child in path.iterdir():
            remove(child)
        path.rmdir()
    else:
        path.unlink()


if __name__ == "__main__":
    main(int(sys.argv[1]))
