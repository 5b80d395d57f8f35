"""CPU time of starting: what a command that only says its version waits for."""

import subprocess
import sys

_SPARSEMAPS = ("-c", "import sparsemaps")
_VERSION = ("-m", "sparsemaps", "--version")
_HELP = ("-m", "sparsemaps", "--help")
_REFERENCE = ("-c", "import numpy, scipy.sparse")


def _cpu_seconds(arguments, repeats=5):
    """The least CPU time of a new interpreter, by the clock of its own process."""
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
    """Seconds of CPU beyond those of importing NumPy and scipy.sparse; the limit is 0.2."""

    unit = "seconds"
    timeout = 120

    def track_import(self):
        return _cpu_seconds(_SPARSEMAPS) - _cpu_seconds(_REFERENCE)

    def track_version(self):
        return _cpu_seconds(_VERSION) - _cpu_seconds(_REFERENCE)

    def track_help(self):
        return _cpu_seconds(_HELP) - _cpu_seconds(_REFERENCE)
