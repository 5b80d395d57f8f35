"""The pages of the documentation: each is in the table of contents, links lead somewhere, and the
first page runs as it stands there."""

import doctest
import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from sparsemaps import cli

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
WRITTEN = {"options", "maps", "losses", "command"}
"""Pages and parts of pages that are written when the site is built."""

pytestmark = pytest.mark.skipif(not (DOCS / "index.md").exists(), reason="no documentation here")


def text_of(path):
    return path.read_text(encoding="utf-8")


def with_includes(path):
    """The text of a page and of the files that it includes."""
    text = text_of(path)
    for name in re.findall(r"^```\{include\} (.*)$", text, re.MULTILINE):
        part = path.parent / name
        text += text_of(part) if part.exists() else ""
    return text


def anchors(path):
    """The targets of a page: its headings, as GitHub and MyST name them, and its labels."""
    text = re.sub(r"^```.*?^```", "", with_includes(path), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)
    return {*plain, *re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)}


def links(path):
    """The links of a page to others: paths from the page, and anchors."""
    text = re.sub(r"^```.*?^```", "", text_of(path), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    github = "https://github.com/sparsemaps/sparsemaps/blob/main/"
    raw = "https://raw.githubusercontent.com/sparsemaps/sparsemaps/main/"
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        for prefix in (github, raw):
            if target.startswith(prefix):
                yield ROOT / target.removeprefix(prefix).partition("#")[0], target.partition("#")[2]
        if not re.match(r"\w+:", target):
            name, _, anchor = target.partition("#")
            yield (path.parent / name if name else path), anchor


def rows_of_tables(path):
    """Return pairs of a table's header and another of its lines."""
    lines = ["", *text_of(path).splitlines(), ""]
    for number, line in enumerate(lines):
        if re.fullmatch(r"\|( ?:?-+:? ?\|)+", line):
            end = lines.index("", number)
            yield from ((lines[number - 1], other) for other in lines[number:end])


def cells(line):
    return re.sub(r"\\\||`[^`]*`", "", line).count("|") if line.startswith("|") else 0


def sections(page):
    """The pages in the tables of contents of a page."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines if line and line[0] != ":"]
    return [DOCS / f"{name}.md" for name in names]


def test_every_page_is_in_the_table_of_contents():
    found, ahead = set(), [DOCS / "index.md"]
    while ahead:
        page = ahead.pop()
        found.add(page)
        ahead += [one for one in sections(page) if one.exists() and one not in found]
    assert {path.stem for path in PAGES} - WRITTEN <= {path.stem for path in found}
    # The pages for developers have a part of their own.
    parts = {page.stem for page in sections(DOCS / "index.md")}
    assert {"getting_started", "how_to", "explanation", "reference", "faq", "develop"} <= parts
    assert {page.stem for page in sections(DOCS / "develop.md")} >= {"design", "release"}


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda path: path.stem
)
def test_links_lead_somewhere(page):
    """And the rows of each table have as many cells as its header."""
    for header, row in rows_of_tables(page):
        assert cells(row) == cells(header), f"{page.name}: {row}"
    for target, anchor in links(page):
        if "auto_gallery" in target.parts:
            example = DOCS / "gallery" / f"{target.name}.py"
            assert target.name == "index" or example.exists(), target
        elif target.stem not in WRITTEN and "generated" not in target.parts:
            assert target.exists(), f"{page.name} leads to {target}"
            if anchor and target.suffix == ".md":
                assert anchor in anchors(target), f"{page.name} leads to {target.name}#{anchor}"


def test_the_page_of_results_repeats_its_parts():
    """The same tables and pictures as in the files that other pages include."""
    whole, n_parts = text_of(DOCS / "results" / "index.md"), 0
    for path in sorted((DOCS / "results").glob("*.md")):
        part = "#" + text_of(path)
        if path.stem != "index" and f"\n{part.splitlines()[0]}\n" in whole:
            n_parts += 1
            assert part in whole, path.name
    assert n_parts > 30


def test_the_first_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = DOCS / "getting_started.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert (failed, tried > 10) == (0, True)
    commands = re.findall(r"<!-- command -->\n    sparsemaps (.*)", text_of(page))
    assert len(commands) == 3
    for command in commands:
        assert cli.main(shlex.split(command)) == 0, command
    # Functions have aliases in every version of NumPy.
    assert "numpy.absolute\tnumpy.abs\t1.0" in Path("removed.tsv").read_text(encoding="utf-8")
    labels = Path("labels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    right = sum(line.split("\t")[0].startswith(line.split("\t")[1] + ".") for line in labels)
    assert right > 0.9 * len(labels) > 500
    capsys.readouterr()


def program(name, path):
    """A program beside the package, as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_docstrings_of_functions_begin_with_a_verb():
    count_tics = program("count_tics", DOCS / "count_tics.py")
    lines = list(count_tics.first_lines(ROOT))
    assert len(lines) > 1000
    assert [place for place, line in lines if count_tics.NOUN.match(line)] == []


def test_tests_of_what_has_changed(tmp_path):
    changed = program("changed", ROOT / ".spin" / "changed.py")
    for folder in ("maps", "io", "files"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
    for name in ("package", "imports", "golden", "documents", "experiments"):
        (tmp_path / "tests" / f"test_{name}.py").touch()
    (tmp_path / "tests" / "io" / "test_a.py").touch()

    def found(*paths):
        return [path.removeprefix("tests/") for path in changed.belonging_tests(paths, tmp_path)]

    of_package = ["test_imports.py", "test_package.py"]
    assert found("sparsemaps/_io/_sources.py") == ["io", *of_package]
    assert found("sparsemaps/maps/minhash.py") == ["maps", "test_golden.py", *of_package]
    assert found("tests/io/test_a.py") == ["io/test_a.py"]
    assert found("tests/io/test_a.py", "sparsemaps/_io/x.py") == ["io", *of_package]
    assert found("sparsemaps/__init__.py") == of_package
    assert found("docs/faq.md") == ["test_documents.py", "test_package.py"]
    assert found("experiments/advice.py", "LICENSE") == ["test_experiments.py"]
    # Each folder of the package has tests, or is tested by others.
    folders = {path.parent.name.strip("_") for path in (ROOT / "sparsemaps").glob("*/__init__.py")}
    tested = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    assert folders <= tested
