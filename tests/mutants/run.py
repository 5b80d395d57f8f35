"""Puts each change of the tables beside this file into a copy of the source, and runs the tests
that must then fail.

    python tests/mutants/run.py                      all of them
    python tests/mutants/run.py --only 'hashing|emit'
    python tests/mutants/run.py --share 20 --of "$(git rev-parse HEAD)" --seconds 120
    python tests/mutants/run.py --stale              only list the entries that are stale

A change is killed if one of its tests fails or crashes. It is no merit of the tests if the change
does not compile, if the tests cannot be imported, or if they only take too long; nor do tests count
that compare with stored outputs (golden values), as they would kill any change. Needs what tests
need, and meson, ninja and Cython. One line is printed for each change, and a summary. The exit
status is 1 if one survived, took too long, or if its tests could not run.

An entry names a function and the tokens that change there (places.py). It is stale if they do not
stand there once, if a test that it names is not there, or if its change does not compile. Stale
entries are printed, and do not change the exit status.
"""

import argparse
import ast
import contextlib
import functools
import hashlib
import json
import math
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import places  # noqa: E402

ROOT = HERE.parent.parent
COMPILED = {".c", ".h", ".pyx", ".pxd", ".pxi"}
MEMORY = 8 << 30  # of a process of tests, as a change may ask for any amount


@dataclass(frozen=True)
class Mutant:
    """A change of one place of the source."""

    name: str
    path: str  # of the file, from the root of the repository
    tokens: str  # which stand there once
    new: str  # what is put in their place
    tests: tuple[str, ...]  # of which one must fail
    function: str = ""  # where the tokens stand; "" is anywhere in the file
    reason: str = ""  # why the change alters nothing, if so
    seconds: int = 120  # which the tests may take
    timeout: bool = False  # whether to take longer is to fail


def load(folder=HERE):
    """The changes of all tables."""
    mutants = []
    for table in sorted(folder.glob("*.toml")):
        try:
            files = tomllib.loads(table.read_text(encoding="utf-8"))["file"]
        except (tomllib.TOMLDecodeError, KeyError) as error:
            raise ValueError(f"{table.name}: {error}") from None
        for file in files:
            for change in file["change"]:
                change = {"path": file["path"], "tests": file.get("tests", []), **change}
                change["tests"] = tuple(change["tests"])
                mutants.append(Mutant(**change))
    return mutants


def staleness(mutant, root=ROOT):
    """Why a change cannot be put in or tested; "" if it can."""
    file = root / mutant.path
    if not file.exists():
        return f"{mutant.path} is not there"
    n = len(spans(mutant, file.read_text(encoding="utf-8")))
    if n != 1:
        where = f"{mutant.function} of {mutant.path}" if mutant.function else mutant.path
        return f"its tokens stand {n} times in {where}"
    for test in mutant.tests:
        path, _, name = test.partition("::")
        if not (root / path).exists():
            return f"{path} is not there"
        if name and name.partition("[")[0] not in _names_in(root / path):
            return f"{test} is not there"
    return ""


def spans(mutant, source):
    """The places where the tokens of a change stand."""
    return places.find(source, Path(mutant.path).suffix, mutant.function, mutant.tokens)


@functools.cache
def _names_in(file):
    """The functions and classes that a file of tests defines."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if hasattr(node, "name")}


def without_stale(mutants, root=ROOT):
    """The changes that can be tried; a line is printed for each of the others."""
    why = {mutant: staleness(mutant, root) for mutant in mutants}
    stale = [mutant for mutant in mutants if why[mutant]]
    for mutant in stale:
        print(f"stale: {mutant.name}: {why[mutant]}")
    print(f"{len(stale)} of {len(mutants)} entries are stale", flush=True)
    return [mutant for mutant in mutants if not why[mutant]]


def share(mutants, n, text):
    """One n-th of the changes, as the hash of `text` has it."""
    key = {mutant: hashlib.sha256(f"{text} {mutant.name}".encode()).digest() for mutant in mutants}
    return sorted(mutants, key=key.__getitem__)[: math.ceil(len(mutants) / n)]


# ---- processes of tests, forked from one that has imported what all need -------------------------


def serve():
    """Run pytest with the arguments of each line of standard input; print how it ended."""
    import resource  # which Windows does not have

    import pytest
    import scipy.sparse
    import scipy.stats  # noqa: F401
    import sklearn.utils.estimator_checks  # noqa: F401

    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.alarm(job["seconds"])
            status = int(pytest.main(job["arguments"]))
            sys.stdout.flush()
            os._exit(status)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):  # what the tests have started
            os.killpg(child, signal.SIGKILL)
        print(os.waitstatus_to_exitcode(status), flush=True)


class Copy:
    """The source in a folder of its own, built there, and a process that runs tests on it."""

    def __init__(self, folder):
        self.tree, self.build, self.site = folder / "tree", folder / "build", folder / "site"
        self.log = folder / "log"
        self._write_tree()
        self._environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if shutil.which("ccache"):
            self._environment.setdefault("CC", "ccache cc")
        if not (self.build / "build.ninja").exists():
            self._call("meson", "setup", self.build, self.tree, "-Dnative=true")
        if not self.compile():
            raise SystemExit(self.log.read_text())
        self._build_is_changed = False
        self._link_site()
        python = self._make_environment(folder / "venv")
        self._server = subprocess.Popen(
            [python, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.tree,
            env=self._environment,
        )

    def _write_tree(self):
        """The files that git knows; one that is there already keeps its time."""
        names = subprocess.run(
            ["git", "ls-files", "-coz", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, names.split("\0")):
            source, target = ROOT / name, self.tree / name
            if not source.exists():
                continue
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

    def _call(self, *command):
        with open(self.log, "wb") as log:
            done = subprocess.run(
                command, cwd=self.tree, env=self._environment, stdout=log, stderr=log, check=False
            )
        return done.returncode == 0

    def _link_site(self):
        """The package as it would be installed, of links to the source and to what is built."""
        asked = ["meson", "introspect", "--installed", self.build]
        installed = subprocess.run(
            asked, env=self._environment, capture_output=True, text=True, check=True
        )
        for source, target in json.loads(installed.stdout).items():
            name = target.partition("-packages/")[2]  # of Debian's Python, dist-packages
            if not name:  # the manual page, which is elsewhere
                continue
            link = self.site / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(source)

    def _make_environment(self, folder):
        """An interpreter that imports the copy, and all else from where this one has it."""
        venv.create(folder, symlinks=True)
        paths = [str(self.site), *(path for path in sys.path if path.endswith("-packages"))]
        (packages,) = folder.glob("lib/python*/site-packages")
        (packages / "copy.pth").write_text("\n".join(paths))
        return folder / "bin" / "python"

    def compile(self):
        return self._call("ninja", "-C", self.build)

    def test(self, tests, seconds):
        """The exit status of the tests; that of a signal is negative."""
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        # Ray waits for ever if it cannot have all the address space that it asks for.
        options += ["-k", "not golden and not test_ray"]
        # The difference of two long lists, which pytest shows in CI, takes longer than most tests.
        options.append("--assert=plain")
        arguments = {"arguments": [*options, *tests], "log": str(self.log), "seconds": seconds}
        self._server.stdin.write(json.dumps(arguments) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())

    def outcome(self, mutant):
        """What became of a change: killed, survived, or why it counts as neither."""
        file = self.tree / mutant.path
        text = file.read_text(encoding="utf-8")
        is_compiled = file.suffix in COMPILED
        try:
            (span,) = spans(mutant, text)
            changed = places.replaced(text, span, mutant.tokens, mutant.new)
            file.write_text(changed, encoding="utf-8")
            # The build still has the change of before, if that was of a compiled file.
            if (is_compiled or self._build_is_changed) and not self.compile():
                self._build_is_changed = True
                return "does not compile"
            self._build_is_changed = is_compiled
            status = self.test(mutant.tests, mutant.seconds)
        finally:
            file.write_text(text, encoding="utf-8")
        if status == -signal.SIGALRM:
            return "killed" if mutant.timeout else "takes too long"
        if status == 0:
            return "survived"
        return "killed" if status == 1 or status < 0 else "tests cannot run"

    def close(self):
        self._server.stdin.close()
        self._server.wait()


def run(mutants, folder, jobs, seconds):
    """Try the changes in `jobs` copies at once; what became of each, of those that were tried."""
    began = time.monotonic()
    waiting = queue.SimpleQueue()
    outcomes = {}
    for mutant in mutants:
        waiting.put(mutant)

    def work(number):
        copy = Copy(folder / str(number))
        if number == 0:
            check_unchanged(copy, mutants)
        while time.monotonic() - began < seconds:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                break
            start = time.monotonic()
            outcomes[mutant] = outcome = copy.outcome(mutant)
            took = time.monotonic() - start
            alike = ", changes nothing" if mutant.reason else ""
            print(f"{outcome + alike:28} {took:5.1f} s  {mutant.name}", flush=True)
            if outcome not in ("killed", "survived"):
                print(copy.log.read_text(errors="replace")[-2000:], flush=True)
        copy.close()

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, range(jobs)))
    return outcomes


def check_unchanged(copy, mutants):
    """The tests pass as long as nothing is changed."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    if copy.test(tests, 600) != 0:
        print(copy.log.read_text(errors="replace"))
        os._exit(1)


def report(mutants, outcomes, seconds):
    """Print what is wrong, and a summary; whether nothing is wrong."""
    wrong = [
        mutant
        for mutant, outcome in outcomes.items()
        if outcome not in ("survived" if mutant.reason else "killed", "does not compile")
    ]
    for mutant, outcome in outcomes.items():
        if outcome == "does not compile":
            print(f"stale: {mutant.name}: {outcome}")
    for mutant in mutants:
        if mutant not in outcomes:
            print(f"not run, for lack of time: {mutant.name}")
    for mutant in wrong:
        print(f"wrong: {mutant.name}: {outcomes[mutant]}")
    print(summary(mutants, outcomes, seconds))
    return not wrong


def summary(mutants, outcomes, seconds):
    """How many changes became what, in a line."""
    found = Counter(
        "explained" if mutant.reason and outcome == "survived" else outcome
        for mutant, outcome in outcomes.items()
    )
    counts = {name: found.pop(name, 0) for name in ("killed", "explained", "survived")}
    counts |= dict(sorted(found.items()))
    if len(outcomes) < len(mutants):
        counts["not run"] = len(mutants) - len(outcomes)
    parts = ", ".join(f"{n} {name}" for name, n in counts.items())
    return f"{len(mutants)} changes: {parts}; {seconds:.0f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="changes whose names match")
    parser.add_argument("--share", type=int, default=1, metavar="N", help="one N-th of them ...")
    parser.add_argument("--of", default="", metavar="TEXT", help="... chosen by the hash of this")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin none after these")
    parser.add_argument("--jobs", type=int, default=1, help="how many at once")
    parser.add_argument("--folder", type=Path, help="keep the copies here, for the next time")
    parser.add_argument("--stale", action="store_true", help="only list the stale entries")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve()
    named = [mutant for mutant in load() if re.search(options.only, mutant.name)]
    if not named:
        parser.error("no change has such a name")
    mutants = without_stale(named)
    if options.stale:
        return 0
    if options.share > 1:
        mutants = share(mutants, options.share, options.of)
    if not mutants:
        return 0
    with contextlib.ExitStack() as stack:
        folder = options.folder or stack.enter_context(tempfile.TemporaryDirectory())
        began = time.monotonic()
        outcomes = run(mutants, Path(folder).resolve(), options.jobs, options.seconds)
    return 0 if report(mutants, outcomes, time.monotonic() - began) else 1


if __name__ == "__main__":
    sys.exit(main())
