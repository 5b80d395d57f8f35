"""Which module may import which, examples that run, what is installed."""

import ast
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import sparsemaps
import sparsemaps._kernels

PACKAGE = Path(sparsemaps.__file__).parent
SOURCES = Path(__file__).parent.parent / "sparsemaps"
ROOT = SOURCES.parent
DOCS = ROOT / "docs"
WORKFLOW = ROOT / ".github" / "workflows" / "test.yml"

# Layers, lowest first: a module imports from lower layers only.
LAYERS = [
    {"_kernels"},
    {"_parameters", "_typing"},
    {
        "_arrays",
        "_catalogue",
        "_files",
        "_functions",
        "_seeding",
        "_sklearn",
        "_threads",
        "_validation",
    },
    {"_codes_file", "_estimates", "_progress", "_rows", "_versions"},
    {"_packed"},
    {"_csr_output", "kernels", "text"},
    {"_bandwidth", "_base"},
    {"_sampled"},
    {"libsvm"},
    {"codes"},
    {
        "count_sketch",
        "fastfood",
        "minhash",
        "random_binning",
        "random_fourier",
        "random_maclaurin",
        "sign_projection",
        "tensor_sketch",
        "weighted_sampling",
    },
    {"_config", "kernel_product"},
    {"_search"},
    {"_row_index"},
    {"_kernel_neighbors"},
    {"neighbors"},
    {"_pairs"},
    {"_variance"},
    {"_kernel_error"},
    {"approximation"},
    {"dask"},
    {"_demo_data"},
    {"_demo", "__init__", "_options"},
    {"_commands", "_parser"},
    {"cli"},
    {"__main__"},
]

# The modules of packages, lowest first: each imports from those before it only.
PACKAGES = {
    "dask": [
        "_graphs",
        "_ranges",
        "_packed",
        "_arrays",
        "_files",
        "_pair_tasks",
        "_pairs",
        "_command",
        "__init__",
    ],
    "kernels": ["_matern", "_gram", "_similarity", "_polynomial", "_distance", "__init__"],
    "libsvm": [
        "_parse",
        "_blocks",
        "_write",
        "_read",
        "_stream",
        "_mapping",
        "_formats",
        "_inputs",
        "_files",
        "_gram",
        "_summary",
        "__init__",
    ],
    "text": ["_inputs", "_csr", "_hashing", "_byte_ngrams", "__init__"],
}


def modules():
    """Modules and packages, and "package/module" for those of packages."""
    for info in pkgutil.iter_modules(sparsemaps.__path__):
        yield info.name if info.name not in PACKAGES else f"{info.name}/__init__"
    for name in PACKAGES:
        for info in pkgutil.iter_modules([str(PACKAGE / name)]):
            yield f"{name}/{info.name}"


def imports(name):
    """Names of the modules that `name` imports, the package's own by their last part."""
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            yield node.module
            if node.module.removeprefix("sparsemaps.") in ("sparsemaps", "_kernels", *PACKAGES):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer_of(name):
    return next((number for number, names in enumerate(LAYERS) if name in names), None)


def test_every_module_has_a_layer():
    found = {name.partition("/")[0] for name in modules()}
    assert found | {"__init__"} == set().union(*LAYERS)
    for package, names in PACKAGES.items():
        assert {f"{package}/{name}" for name in names} <= set(modules())


@pytest.mark.parametrize("name", [*modules(), "__init__"])
def test_imports_go_down_only(name):
    if name == "_kernels":
        return
    package, _, module = name.partition("/")
    for imported in imports(name):
        parts = imported.split(".")
        assert parts[0] != "sklearn" or name == "_sklearn", f"{name} imports scikit-learn"
        if parts[:2] == ["sparsemaps", package]:
            order = PACKAGES[package]
            assert (
                len(parts) < 3
                or parts[2] not in order
                or (order.index(parts[2]) < order.index(module))
            ), f"{name} imports {imported}"
        elif parts[0] == "sparsemaps" and len(parts) > 1:
            assert layer_of(parts[1]) < layer_of(package), f"{name} imports {imported}"


@pytest.mark.skipif(not SOURCES.joinpath("_kernels", "rows.pyx").exists(), reason="no sources here")
def test_kernels_import_kernels_only():
    for path in [*SOURCES.glob("_kernels/*.pyx"), *SOURCES.glob("_kernels/*.pxd")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            found = re.match(r"\s*(?:from\s+(\S+)\s+c?import|c?import\s+(\S+))", line)
            if found:
                module = found[1] or found[2]
                assert re.match(
                    r"(libc\.|numpy|cpython|(os|decimal|threading)$|sparsemaps\._kernels\.)", module
                ), f"{path.name} imports {module}"


@pytest.mark.parametrize("name", [*modules(), "__init__"])
def test_docstring_examples(name):
    dotted = "sparsemaps." + name.replace("/", ".")
    module = importlib.import_module(dotted.removesuffix(".__init__"))
    assert doctest.testmod(module).failed == 0


@pytest.mark.skipif(not DOCS.exists(), reason="no documentation here")
@pytest.mark.parametrize(
    "name",
    ["../README.md", "tuning.md", "texts.md", "near_duplicates.md", "recipes.md", "libsvm.md"],
)
def test_documentation_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(DOCS / name), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failed == 0


@pytest.mark.skipif(not DOCS.exists(), reason="no documentation here")
def test_add_a_map_shows_the_code_that_is():
    code = (PACKAGE / "count_sketch.py").read_text(encoding="utf-8")
    shown = re.findall(
        r"```python\n(.*?)```", (DOCS / "add_a_map.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert len(shown) >= 4
    for block in shown:
        assert block in code


def test_all():
    assert sparsemaps.__all__ == sorted(sparsemaps.__all__)
    for name in sparsemaps.__all__:
        assert name in sparsemaps.__doc__
        assert getattr(sparsemaps, name).__doc__


def test_version():
    assert sparsemaps.__version__ == version("sparsemaps")


def test_typed():
    assert PACKAGE.joinpath("py.typed").exists() or SOURCES.joinpath("py.typed").exists()


@pytest.mark.skipif(not WORKFLOW.exists(), reason="not in a checkout")
def test_the_least_versions_are_those_of_continuous_integration():
    """Every requirement has a least version, which both ways to run CI take from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    printed = subprocess.run(
        [sys.executable, ROOT / ".ci" / "least_versions"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.split() == [text.replace(">=", "==") for text in needed]
    for file in (WORKFLOW, ROOT / ".ci" / "run"):
        assert ".ci/least_versions" in file.read_text()


@pytest.mark.skipif(not WORKFLOW.exists(), reason="not in a checkout")
def test_actions_are_pinned():
    """By the hash of a commit, which nobody can move, with the version that it is."""
    used = [
        line.strip()
        for file in sorted(WORKFLOW.parent.glob("*.yml"))
        for line in file.read_text().splitlines()
        if "uses:" in line
    ]
    assert len(used) > 20
    pinned = re.compile(r"(?:- )?uses: [\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+")
    assert [line for line in used if not pinned.fullmatch(line)] == []


@pytest.mark.skipif(not WORKFLOW.exists(), reason="not in a checkout")
def test_linters_have_one_version():
    """That of .ci/lint.txt, from which everything that lints takes its tools."""
    tools = re.findall(r"^([a-z-]+)==[0-9.]+$", (ROOT / ".ci" / "lint.txt").read_text(), re.M)
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall("- repo: (.*)", hooks) == ["local"]
    run = {words.split()[0] for words in re.findall(r"entry: (?:>\s+)?(.+)", hooks)}
    assert run == set(tools) - {"pre-commit"}
    for file in (WORKFLOW, ROOT / ".ci" / "run", ROOT / "pyproject.toml"):
        assert not [tool for tool in tools if re.search(rf"\b{tool}==", file.read_text())]
