"""What a release consists of: versions that agree, files that are complete."""

import re
import tomllib
from pathlib import Path

import pytest

import sparsemaps

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(
    not (ROOT / "CITATION.cff").exists(), reason="the files of a release are not beside the tests"
)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version():
    version = re.search(r"version: '(.*)'", read("meson.build"))[1]
    for name, pattern in (
        ("CITATION.cff", r"^version: (.*)$"),
        ("recipe/recipe.yaml", r"^  version: (.*)$"),
        ("CHANGELOG.md", r"^## ([^,\n]*)"),
    ):
        assert re.search(pattern, read(name), re.MULTILINE)[1] == version, name


def test_the_recipe_needs_what_the_package_needs():
    """The same requirements, with the same least versions."""
    project = tomllib.loads(read("pyproject.toml"))
    recipe = read("recipe/recipe.yaml")
    run = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    needed = [*project["project"]["dependencies"], f"python{project['project']['requires-python']}"]
    assert sorted(re.findall(r"- (.*)", run)) == sorted(
        requirement.replace(">=", " >=") for requirement in needed
    )
    host = recipe.partition("  host:\n")[2].partition("  run:\n")[0]
    for requirement in project["build-system"]["requires"]:
        assert f"- {requirement.lower().replace('>=', ' >=')}\n" in host


def test_the_recipe_imports_all_public_modules():
    tests = read("recipe/recipe.yaml").partition("\ntests:")[2]
    public = [name for name, module in sparsemaps._MODULE_OF.items() if module == "sparsemaps"]
    assert re.findall(r"^ +- sparsemaps\.(\w+)$", tests, re.MULTILINE) == sorted(public)
    assert "linear" in public


def test_the_paper_cites_what_its_bibliography_has():
    cited = set(re.findall(r"@(\w+\d{4}\w*)", read("paper/paper.md")))
    entries = re.findall(r"^@\w+\{(.*),$", read("paper/paper.bib"), re.MULTILINE)
    assert len(set(entries)) == len(entries)
    assert cited == set(entries)
    for entry in read("paper/paper.bib").split("\n@"):
        assert re.search(r"^  (doi|url) = ", entry, re.MULTILINE), entry


def test_files_that_name_authors_name_the_developers():
    for name in ("CITATION.cff", "paper/paper.md"):
        assert re.findall(r"^ +- name: (.*)$", read(name), re.MULTILINE)[0] == (
            "The sparsemaps developers"
        )


@pytest.mark.parametrize("form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")))
def test_issue_forms_are_complete(form):
    """As GitHub wants them: a name, a description, fields with labels and ids of their own."""
    yaml = pytest.importorskip("yaml")
    content = yaml.safe_load(form.read_text(encoding="utf-8"))
    if form.stem == "config":
        assert all({"name", "url", "about"} == set(link) for link in content["contact_links"])
        return
    assert {"name", "description", "body"} <= set(content)
    ids = [field["id"] for field in content["body"]]
    assert len(set(ids)) == len(ids)
    for field in content["body"]:
        assert field["type"] in ("textarea", "input", "dropdown", "checkboxes")
        assert field["attributes"]["label"]


def test_settings_of_wheels_hold_no_shell():
    """cibuildwheel reads no operators of the shell in them."""
    settings = tomllib.loads(read("pyproject.toml"))["tool"]["cibuildwheel"]
    parts = [
        *settings["overrides"],
        *(part for part in settings.values() if isinstance(part, dict)),
    ]
    values = [value for part in parts for value in part.get("environment", {}).values()]
    assert len(values) >= 4
    assert [value for value in values if not re.fullmatch(r"[\w.-]+", value)] == []


def test_each_python_that_is_named_has_wheels_and_the_newest_is_tested():
    pyproject = tomllib.loads(read("pyproject.toml"))
    named = re.findall(r":: Python :: 3\.(\d+)", " ".join(pyproject["project"]["classifiers"]))
    built = re.findall(r"cp3(\d+)-", pyproject["tool"]["cibuildwheel"]["build"])
    assert built == named == sorted(named)
    assert f'python: ["3.{named[0]}", "3.{named[-1]}"]' in read(".github/workflows/test.yml")
    assert pyproject["project"]["requires-python"] == f">=3.{named[0]}"


def test_free_threaded_python_gets_the_test_packages_that_have_wheels():
    """All of the extra "test" but two, for the wheels and in the workflow; Zstandard's is part of
    the standard library there."""
    pyproject = tomllib.loads(read("pyproject.toml"))
    extras = {
        extra: {requirement.partition(">")[0] for requirement in requirements}
        for extra, requirements in pyproject["project"]["optional-dependencies"].items()
    }
    (override,) = (
        part
        for part in pyproject["tool"]["cibuildwheel"]["overrides"]
        if part["select"] == "cp31?t-*"
    )
    brought = set(override["test-requires"]).union(*(extras[e] for e in override["test-extras"]))
    assert brought == extras["test"] - {"orjson", "backports.zstd"}
    job = read(".github/workflows/test.yml").partition("  free-threaded:\n")[2].partition("\n\n")[0]
    wanted = f'".[{",".join(override["test-extras"])}]" {" ".join(override["test-requires"])}'
    assert wanted in " ".join(job.split())
