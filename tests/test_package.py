"""Which module may import which, examples that run, what is installed."""

import ast
import doctest
import importlib
import importlib.util
import pkgutil
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from importlib.metadata import version
from pathlib import Path

import pytest

import sparsemaps
import sparsemaps._loops

PACKAGE = Path(sparsemaps.__file__).parent
SOURCES = Path(__file__).parent.parent / "sparsemaps"
ROOT = SOURCES.parent
DOCS = ROOT / "docs"
WORKFLOW = ROOT / ".github" / "workflows" / "test.yml"

FOLDERS = [
    *("cli", "dask", "files", "comparison", "approximation", "linear", "neighbors", "maps"),
    *("codes", "laws", "kernels", "text", "records", "libsvm", "_input", "_io", "_tools", "_loops"),
]
"""The folders of the package: each imports from those behind it only."""

LOOSE = {"__init__", "__main__"}
"""The modules beside the folders."""


def modules():
    """All modules, as "folder/module"."""
    for folder in FOLDERS:
        yield f"{folder}/__init__"
        if folder != "_loops":
            for info in pkgutil.iter_modules([str(PACKAGE / folder)]):
                yield f"{folder}/{info.name}"


def imports(name):
    """Names of the modules that `name` imports."""
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            yield node.module
            if node.module.startswith("sparsemaps"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # What a function loads by its name.
            found = re.fullmatch(r"(sparsemaps(?:\.\w+)+)(?::\w+)?", node.value)
            if found:
                yield found[1]


def test_the_folders_are_the_architecture():
    assert {info.name for info in pkgutil.iter_modules([str(PACKAGE)])} | LOOSE == {
        *FOLDERS,
        *LOOSE,
    }


def test_one_name_is_one_thing():
    """But a file of loops has the name of the module or folder that calls it."""
    where, classes = {}, {}
    for path in SOURCES.rglob("*.py"):
        if path.stem not in LOOSE and path.parent.name != "_loops":
            where.setdefault(path.stem.lstrip("_"), []).append(path)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(path)
    assert [paths for paths in (*where.values(), *classes.values()) if len(paths) > 1] == []


SIGNATURES_OF_OTHERS = {
    "HashingVectorizer.__init__", "KernelClassifier.__init__", "KernelRegressor.__init__",
    "KernelClassifierCV.__init__", "KernelRegressorCV.__init__", "load_svmlight_file",
    "load_svmlight_files",
}  # fmt: skip
"""Functions with the parameters of scikit-learn's."""


def functions(node, name=""):
    """All functions of a module, with the names of the classes around them."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef):
            if isinstance(inner, ast.FunctionDef):
                yield f"{name}{inner.name}", inner.args
            yield from functions(inner, f"{name}{inner.name}.")


def test_no_function_has_more_than_nine_parameters():
    many = set()
    for path in SOURCES.rglob("*.py"):
        for name, given in functions(ast.parse(path.read_text(encoding="utf-8"))):
            named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            if len([one for one in named if one.arg not in ("self", "cls")]) > 9:
                many.add(name)
    assert many == SIGNATURES_OF_OTHERS


def test_files_of_tests_are_short():
    paths = list(Path(__file__).parent.rglob("*.py"))
    too_long = [path for path in paths if path.read_text(encoding="utf-8").count("\n") > 500]
    assert too_long == []


@pytest.mark.parametrize("name", list(modules()))
def test_imports_go_down_only(name):
    folder = name.partition("/")[0]
    for imported in imports(name):
        parts = imported.split(".")
        assert parts[0] != "sklearn" or name == "_tools/_sklearn", f"{name} imports scikit-learn"
        if parts[0] == "sparsemaps" and len(parts) > 1 and parts[1] in FOLDERS:
            assert FOLDERS.index(parts[1]) >= FOLDERS.index(folder), f"{name} imports {imported}"


def test_no_modules_import_one_another_in_a_circle():
    """Also not for their annotations alone, or within functions."""
    known = {f"sparsemaps.{name.replace('/', '.')}": name for name in modules()}
    known = {dotted: name for dotted, name in known.items() if not name.endswith("__init__")}
    graph = {dotted: known.keys() & set(imports(name)) for dotted, name in known.items()}
    TopologicalSorter(graph).prepare()  # raises for a circle


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_says_what_each_of_its_files_is(folder):
    doc = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text("utf-8")))
    assert 4 <= doc.count("\n") + 1 <= 45
    maps = {module.rpartition(".")[2] for module in sparsemaps._MAPS.values()}
    for path in SOURCES.joinpath(folder).glob("*.py*"):
        is_listed = path.stem in {"__init__", *(maps if folder == "maps" else ())}
        if path.suffix in (".py", ".pyx", ".pxi") and not is_listed:
            assert f"``{path.stem}``" in doc, f"{folder} does not say what {path.name} is"


@pytest.mark.skipif(not DOCS.exists(), reason="no documentation here")
def test_the_picture_of_the_folders_is_current():
    drawing = importlib.util.spec_from_file_location("draw_folders", DOCS / "draw_folders.py")
    module = importlib.util.module_from_spec(drawing)
    drawing.loader.exec_module(module)
    assert module.FOLDERS == FOLDERS
    assert module.PICTURE.read_text(encoding="utf-8") == module.draw()


@pytest.mark.skipif(not SOURCES.joinpath("_loops", "rows.pyx").exists(), reason="no sources here")
def test_kernels_import_kernels_only():
    for path in [*SOURCES.glob("_loops/*.pyx"), *SOURCES.glob("_loops/*.px[di]")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            found = re.match(r"\s*(?:from\s+(\S+)\s+c?import|c?import\s+(\S+))", line)
            if found:
                module = found[1] or found[2]
                assert re.match(
                    r"(libc\.|numpy|cpython|(os|decimal|threading)$|sparsemaps\._loops\.)", module
                ), f"{path.name} imports {module}"


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """A folder of its own for examples that write files."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize("name", [*modules(), "__init__"])
def test_docstring_examples(name):
    dotted = "sparsemaps." + name.replace("/", ".")
    module = importlib.import_module(dotted.removesuffix(".__init__"))
    assert doctest.testmod(module).failed == 0


def pages_with_examples():
    """README and the pages that have examples, but for the one that test_documents.py runs."""
    pages = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
    with_examples = [page for page in pages if ">>> " in page.read_text(encoding="utf-8")]
    return [page for page in with_examples if page.stem != "getting_started"]


@pytest.mark.usefixtures("scratch")
@pytest.mark.skipif(not DOCS.exists(), reason="no documentation here")
@pytest.mark.parametrize(
    "page", pages_with_examples() if DOCS.exists() else [], ids=lambda page: page.stem
)
def test_documentation_examples(page):
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failed == 0


@pytest.mark.skipif(not DOCS.exists(), reason="no documentation here")
@pytest.mark.parametrize(
    ("page", "files"),
    [
        ("add_a_map", [
            "sparsemaps/maps/random_projection.py", "sparsemaps/laws/_inner_products.py",
        ]),
        ("add_a_loss", [
            "sparsemaps/linear/_losses.py", "sparsemaps/_loops/c/linear/losses.h",
            "tests/_oracles/objectives.py",
        ]),
        ("add_a_format", [
            "sparsemaps/records/csv.py", "sparsemaps/records/lines.py",
            "sparsemaps/records/__init__.py",
        ]),
    ],
)  # fmt: skip
def test_pages_for_developers_show_the_code_that_is(page, files):
    code = "".join((DOCS.parent / path).read_text(encoding="utf-8") for path in files)
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    shown = re.findall(r"```(?:python|c|{code-block} python)\n(.*?)```", text, re.DOTALL)
    assert len(shown) >= 3
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
    least = [text.partition(";")[0].replace(">=", "==") for text in needed]
    assert printed.split() == least
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
    assert run == set(tools) - {"pre-commit", "spin"}
    for file in (WORKFLOW, ROOT / ".ci" / "run", ROOT / "pyproject.toml"):
        assert not [tool for tool in tools if re.search(rf"\b{tool}==", file.read_text())]


CIMPORT = re.compile(r"^from [\w.]+ cimport (\([^)]*\)|[^\n(]+)\n", re.MULTILINE)


def cimported(source):
    return {name for names in CIMPORT.findall(source) for name in re.findall(r"\w+", names)}


@pytest.mark.parametrize("module", sorted(path.stem for path in SOURCES.glob("_loops/*.pyx")))
def test_each_included_file_names_what_it_uses(module):
    """By cimport lines of its own, though the names of the module would do."""
    folder = SOURCES / "_loops"
    module = (folder / f"{module}.pyx").read_text(encoding="utf-8")
    files = {
        name: (folder / name).read_text(encoding="utf-8")
        for name in re.findall(r'^include "(\w+\.pxi)"', module, re.MULTILINE)
    }
    known = cimported(module).union(*map(cimported, files.values()))
    assert known
    for name, source in files.items():
        body = re.sub(r'"""(?:.|\n)*?"""|#[^\n]*', "", CIMPORT.sub("", source))
        used = {one for one in known if re.search(rf"(?<![\w.]){one}\b", body)}
        assert used == cimported(source), name


@pytest.mark.skipif(not DOCS.exists(), reason="no source here")
def test_source_without_compiled_modules_says_so():
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import sparsemaps._loops"
    ended = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True)
    if list(SOURCES.rglob("rows.*.so")):  # compiled in place
        return
    assert "the compiled modules of sparsemaps are missing here. In a checkout," in ended.stderr
