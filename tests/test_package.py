"""The house: which module may import which, examples that run, what is installed."""

import ast
import doctest
import importlib
import pkgutil
import re
from importlib.metadata import version
from pathlib import Path

import pytest

import sparsemaps
import sparsemaps._kernels

PACKAGE = Path(sparsemaps.__file__).parent
SOURCES = Path(__file__).parent.parent / "sparsemaps"

# Floors, lowest first: a module imports from lower floors only, or from what is listed for it.
FLOORS = [
    {"_kernels"},
    {"_seeding", "_threads", "_validation"},
    {"_base"},
    {"count_sketch", "weighted_sampling"},
    {"__init__"},
]
ONLY_IN_BASE = "sklearn"


def modules():
    return sorted(info.name for info in pkgutil.iter_modules(sparsemaps.__path__))


def imports(name):
    """Names of the modules that `name` imports, the package's own by their last part."""
    tree = ast.parse((PACKAGE / f"{name}.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            yield node.module
            if node.module in ("sparsemaps", "sparsemaps._kernels"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def floor_of(name):
    return next((number for number, names in enumerate(FLOORS) if name in names), None)


def test_every_module_has_a_floor():
    assert set(modules()) | {"__init__"} == set().union(*FLOORS)


@pytest.mark.parametrize("name", [*modules(), "__init__"])
def test_calls_go_down_only(name):
    if name == "_kernels":
        return
    for imported in imports(name):
        if imported == ONLY_IN_BASE or imported.startswith(ONLY_IN_BASE + "."):
            assert name == "_base", f"{name} imports scikit-learn"
        parts = imported.split(".")
        if parts[0] == "sparsemaps" and len(parts) > 1:
            assert floor_of(parts[1]) < floor_of(name), f"{name} imports {imported}"


@pytest.mark.skipif(not SOURCES.joinpath("_kernels", "rows.pyx").exists(), reason="no sources here")
def test_kernels_stand_on_nothing_above():
    for path in [*SOURCES.glob("_kernels/*.pyx"), *SOURCES.glob("_kernels/*.pxd")]:
        for line in path.read_text().splitlines():
            found = re.match(r"\s*(?:from\s+(\S+)\s+c?import|c?import\s+(\S+))", line)
            if found:
                module = found[1] or found[2]
                assert re.match(r"(libc\.|numpy|cpython|sparsemaps\._kernels\.)", module), (
                    f"{path.name} imports {module}"
                )


@pytest.mark.parametrize("name", [*modules(), "__init__"])
def test_examples(name):
    module = sparsemaps if name == "__init__" else importlib.import_module(f"sparsemaps.{name}")
    assert doctest.testmod(module).failed == 0


def test_all():
    assert sparsemaps.__all__ == sorted(sparsemaps.__all__)
    for name in sparsemaps.__all__:
        assert name in sparsemaps.__doc__
        assert getattr(sparsemaps, name).__doc__


def test_version():
    assert sparsemaps.__version__ == version("sparsemaps")


def test_typed():
    assert PACKAGE.joinpath("py.typed").exists() or SOURCES.joinpath("py.typed").exists()
