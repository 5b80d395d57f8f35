"""CPU time of starting: the delay of a command that only prints its version, or of a server."""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

_SPARSEMAPS = ("-c", "import sparsemaps")
_VERSION = ("-m", "sparsemaps", "--version")
_HELP = ("-m", "sparsemaps", "--help")
_REFERENCE = ("-c", "import numpy, scipy.sparse")


def _cpu_seconds(arguments, repeats=5):
    """Return the least CPU time of a new interpreter, by the clock of its own process."""
    script = (
        "import runpy, sys, time, contextlib, io\n"
        "kind, what, *rest = sys.argv[1:]\n"
        "sys.argv = [what, *rest]\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    exec(what) if kind == '-c' else runpy.run_module(what, run_name='__main__')\n"
        "print(time.process_time())"
    )
    command = [sys.executable, "-c", script, *arguments]
    return min(
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(repeats)
    )


class Start:
    """CPU seconds in addition to importing NumPy and scipy.sparse; the limit is 0.2."""

    unit = "seconds"
    timeout = 120

    def track_import(self):
        return _cpu_seconds(_SPARSEMAPS) - _cpu_seconds(_REFERENCE)

    def track_version(self):
        return _cpu_seconds(_VERSION) - _cpu_seconds(_REFERENCE)

    def track_help(self):
        return _cpu_seconds(_HELP) - _cpu_seconds(_REFERENCE)


_SERVE = """
import sys, time
from sparsemaps.linear import load_model
load_model({path!r}).predict(["two cats"])
if sys.platform == "linux":
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
else:
    peak = "0 0"
print(time.process_time(), int(peak.split()[1]) / 1e3)
"""


class Serve:
    """From a new process to the label of a text; the limits are 0.3 s of CPU and 80 MB."""

    unit = "seconds"
    timeout = 120

    def setup(self):
        from sparsemaps import MinHash
        from sparsemaps.linear import KernelClassifier

        chance = random.Random(0)
        words = ["the", "cat", "sat", "on", "a", "mat", "money", "lends", "bank", "to", "market"]
        texts = [" ".join(chance.choices(words, k=20)) for _ in range(200)]
        model = KernelClassifier(MinHash(random_state=0), vectorizer="char:3", random_state=0)
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "model"
        model.fit(texts, [len(text) % 7 for text in texts]).save(path)
        self.command = [sys.executable, "-c", _SERVE.format(path=str(path))]

    def teardown(self):
        self.folder.cleanup()

    def _figures(self):
        done = subprocess.run(self.command, capture_output=True, text=True, check=True)
        return [float(word) for word in done.stdout.split()]

    def track_start(self):
        return min(self._figures()[0] for _ in range(5))

    def track_memory(self):
        return self._figures()[1]

    track_memory.unit = "MB"
