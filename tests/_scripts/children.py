"""Functions that tests run in processes of their own.

They stand here as such a process imports them by name, which it cannot do with a file of tests.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from sparsemaps import libsvm


def dump(number, path, start):
    start.wait()
    for _ in range(10):
        libsvm.dump_svmlight_file(np.full((300, 5), number), np.zeros(300), path)


class Substitute:
    """Puts our functions in the place of scikit-learn's in its tests, and counts what passes."""

    n_passed = 0

    def pytest_collection_modifyitems(self, items):
        import sklearn.datasets.tests.test_svmlight_format as theirs

        for function in (
            libsvm.dump_svmlight_file,
            libsvm.load_svmlight_file,
            libsvm.load_svmlight_files,
        ):
            assert hasattr(theirs, function.__name__)
            setattr(theirs, function.__name__, function)

    def pytest_runtest_logreport(self, report):
        self.n_passed += report.when == "call" and report.passed


def run_theirs(configuration):
    arguments = ["-q", "-p", "no:cacheprovider", "-c", configuration, "--pyargs"]
    module = "sklearn.datasets.tests.test_svmlight_format"
    substitute = Substitute()
    status = pytest.main([*arguments, module], [substitute])
    sys.exit(status if substitute.n_passed else "none has passed")


def leave_little_memory():
    """64 MiB: enough for the worker to speak with the scheduler, too little for the long line."""
    import resource  # which Windows does not have

    n_pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = n_pages * resource.getpagesize() + 2**26
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
