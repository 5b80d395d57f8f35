"""Each subcommand that writes, while another program changes its input, or removes its folders.

``python -m _scripts.disturbed_jobs 8`` does each of these at every eighth moment, nearly, at which
a job opens, renames or removes a file, or lists a folder. The job ends with one error, or it is
complete. Its outputs are those of the whole input, before or after the change, or are not there.
"""

import collections
import os
import random
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

from _data.chance import named

from _scripts.ended_jobs import JOBS, files, outputs, write_inputs
from _scripts.programs import Program

MOMENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.listdir", "os.scandir")
"""Events of `sys.addaudithook`, of a path."""


def first_input(name):
    return Path("in.svm" if name == "kernel" else "in/0.jsonl")


def rename(path):
    """Another file of the same lines but one."""
    before, other = path.stat(), path.with_suffix(".new")
    lines = path.read_bytes().splitlines(keepends=True)
    other.write_bytes(b"".join([*lines[1:], lines[0]]))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(other, path)


def truncate(path):
    """Without the second half of the lines."""
    lines = path.read_bytes().splitlines(keepends=True)
    os.truncate(path, sum(map(len, lines[: len(lines) // 2])))


def append(path):
    """With the first line once more."""
    content = path.read_bytes()
    with open(path, "ab") as file:
        file.write(content.partition(b"\n")[0] + b"\n")


CHANGES = {"rename": rename, "truncate": truncate, "append": append}


def disturb(name, kind):
    """What another program does in the folder of a job."""
    if kind in CHANGES:
        CHANGES[kind](first_input(name))
    else:
        shutil.rmtree({"output": "made", "stages": "made/out.stages"}[kind], ignore_errors=True)


def at_moment(name, kind, n, folder):
    """Disturb the job of this process before its n-th use of a file of a folder, from 0."""
    left = n

    def hook(event, arguments):
        nonlocal left
        if left < 0 or event not in MOMENTS or not isinstance(arguments[0], (str, bytes)):
            return
        if os.path.abspath(os.fsdecode(arguments[0])).startswith(folder):
            left -= 1
            if left < 0:
                os.close(os.open("happened", os.O_CREAT))
                disturb(name, kind)

    sys.addaudithook(hook)


def output_of(name, kind):
    has_many = name in ("map", "text", "dedup", "predict", "filter")
    return "made/" if kind == "output" and has_many else "made/out"


def written(folder):
    found = outputs(folder, "made").items()
    return {path: content for path, content in found if ".stages/" not in path}


def expected(folder, name, kind):
    """The outputs of the whole input, and of the changed one."""
    found = []
    for change in {None, kind if kind in CHANGES else None}:
        with tempfile.TemporaryDirectory() as made:
            other = Path(made)
            shutil.copytree(folder, other, dirs_exist_ok=True)
            if change is not None:
                CHANGES[change](other / first_input(name))
            status, said = run(other, name, kind)
            assert status == 0, said
            found.append(written(other))
    return found


def run(folder, name, kind, n=None):
    """The exit status of a job, and what it said."""
    (folder / "made").mkdir(exist_ok=True)
    before = None if n is None else partial(at_moment, name, kind, n, str(folder))
    return Program(*JOBS[name], "-o", output_of(name, kind), cwd=folder, before=before).end()


def check(folder, name, kind, n, wanted):
    """Run a disturbed job; "complete", "refused", or None where it has fewer uses of files."""
    inputs = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    times = {path: path.stat().st_mtime_ns for path in inputs}
    status, said = run(folder, name, kind, n)
    has_happened = (folder / "happened").exists()
    found = written(folder)
    about = f"{name}, {kind}, {n}: {status} {said!r} {sorted(found)}"
    assert status in (0, 2), about
    assert b"Traceback" not in said, about
    if status == 0:
        assert found in wanted or (kind == "output" and not found), about  # it was removed
    else:
        assert said.startswith(b"sparsemaps: "), about
        assert said.count(b"\n") == 1, about
        assert all(text in (one.get(path) for one in wanted) for path, text in found.items()), about
    left = [path for path in files(folder) if path.endswith((".tmp", "-lock"))]
    assert not left, (about, left)
    shutil.rmtree(folder / "made", ignore_errors=True)
    for path, text in inputs.items():
        path.write_bytes(text)
        os.utime(path, ns=(times[path], times[path]))
    (folder / "happened").unlink(missing_ok=True)
    return None if not has_happened else "complete" if status == 0 else "refused"


KINDS = *CHANGES, "output", "stages"


def main(step, names):
    for name in names or JOBS:
        for kind in KINDS:
            outcomes, draw = collections.Counter(), random.Random(named(f"{name} {kind}"))
            with tempfile.TemporaryDirectory() as made:
                folder = Path(made)
                write_inputs(folder)
                wanted = expected(folder, name, kind)
                n = 0
                while (outcome := check(folder, name, kind, n, wanted)) is not None:
                    outcomes[outcome] += 1
                    n += draw.randrange(1, 2 * step)
            print(name, kind, dict(outcomes), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
