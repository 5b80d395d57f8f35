"""Fixtures, and the list of maps for the tests of all maps."""

import bz2
import faulthandler
import gc
import gzip
import os
import signal

# Matrices are small here, so threads of linear algebra would only wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Models store the date of their training. A fixed date gives equally trained models the same bytes.
os.environ["SOURCE_DATE_EPOCH"] = "0"

import pytest
from _data import chance
from _data.rows import random_csr
from _data.svmlight import write
from _data.variants import MAPS, make

from sparsemaps.codes import _packed
from sparsemaps.files import _coded_records, _frequency_stages


def pytest_report_header():
    return f"{chance.VARIABLE}={chance.NUMBER}"


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its options
def pytest_configure(config):
    if chance.VARIABLE in os.environ:
        config.option.hypothesis_seed = str(chance.NUMBER)
    # A shell starts background commands with interrupts ignored, but some tests send interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _tell_where_tests_hang(config)


def _tell_where_tests_hang(config):
    """Print the running tests every ten minutes, more than twice the time of the whole suite.

    pytest's own timeout, which is per test, takes a fortieth of the time of the suite.
    """
    with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        errors = open(os.dup(2), "w")  # noqa: SIM115 (closed when pytest ends)
    config.add_cleanup(errors.close)
    config.add_cleanup(faulthandler.cancel_dump_traceback_later)
    faulthandler.dump_traceback_later(600, repeat=True, file=errors)


@pytest.fixture(scope="session", autouse=True)
def _no_waits_for_the_disk():
    """Leave outputs in the system's cache, since the machine does not crash in a test. The tests of
    `os.fsync` put their own function in its place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


def pytest_collection_finish():
    """Exempt all tests and modules from garbage collection, which takes a twentieth of the time."""
    gc.collect()
    gc.freeze()


def _maps():
    for name, variants in MAPS.items():
        for parameters in variants:
            # Name functions: their addresses differ between processes of pytest-xdist.
            named = {key: getattr(value, "__name__", value) for key, value in parameters.items()}
            text = ",".join(f"{key}={value}" for key, value in named.items())
            yield pytest.param((name, parameters), id=f"{name}({text})")


@pytest.fixture(params=_maps())
def new_map(request):
    """Return a function that makes a new map, for each class and variant."""
    name, parameters = request.param
    return lambda **more: make(name, **{**parameters, **more})


@pytest.fixture(params=[(name, variants[0]) for name, variants in MAPS.items()], ids=MAPS)
def first_variant(request):
    """Return a function that makes a new map, for each class: for properties that all variants
    share."""
    name, parameters = request.param
    return lambda **more: make(name, **{**parameters, **more})


@pytest.fixture
def X():
    return random_csr()


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "in.svm", 40)


@pytest.fixture
def folder(tmp_path):
    """Return a folder of files with different rows."""
    (tmp_path / "in").mkdir()
    for i in range(7):
        write(tmp_path / "in" / f"p{i}.svm", 10 + i, seed=i)
    return tmp_path / "in"


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """Return files with everything that a LIBSVM file may have; one is compressed, one has no
    rows."""
    folder = tmp_path_factory.mktemp("inputs")
    write(folder / "a.svm")
    text = write(folder / "b.svm", 40, seed=1).read_bytes()
    odd = b"\n\n# a comment\n  # another\n" + text.replace(b"\n", b"\r\n\n \t\n", 9) + b"1 3:1 7:2"
    (folder / "b.svm").write_bytes(odd)
    (folder / "c.svm.gz").write_bytes(gzip.compress(text))
    (folder / "d.svm").write_bytes(b"")
    (folder / "e.svm.bz2").write_bytes(bz2.compress(text))
    write(folder / "f.svm", 20, seed=2)
    return sorted(map(str, folder.iterdir()))


@pytest.fixture
def set_limits(monkeypatch):
    """Return a function that sets limits of a module by name, such as the rows of a block."""

    def set_limits(module, **limits):
        for name, value in limits.items():
            monkeypatch.setattr(module, name, value)

    return set_limits


@pytest.fixture
def short_ranges(set_limits):
    """Return a function that sets the length of the ranges of inputs that a task encodes or
    counts."""

    def set_length(n_bytes):
        set_limits(_coded_records, RANGE_BYTES=n_bytes)
        set_limits(_frequency_stages, _TASK_BYTES=0)

    return set_length


@pytest.fixture
def short_calls(set_limits):
    """Return a function that sets how few bits of codes a kernel compares per call."""
    return lambda n_bits: set_limits(_packed, _CALL_BITS=n_bits)
