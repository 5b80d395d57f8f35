"""The table of changes to the source (tests/mutants) names what there is, once."""

import ast
from pathlib import Path

import pytest
from mutants import run

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "sparsemaps").exists(), reason="not in a checkout")
MUTANTS = run.load()


def names_in(file):
    """The functions that a file of tests defines."""
    return {node.name for node in ast.walk(ast.parse(file.read_text())) if hasattr(node, "name")}


def test_names_are_unique():
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names) >= 150


@pytest.mark.parametrize("path", sorted({mutant.path for mutant in MUTANTS}))
def test_texts_stand_once(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    for mutant in MUTANTS:
        if mutant.path == path:
            assert text.count(mutant.text) == 1, mutant.name
            assert mutant.new != mutant.text, mutant.name


def test_tests_exist():
    for test in sorted({test for mutant in MUTANTS for test in mutant.tests}):
        file, _, name = test.partition("::")
        assert (ROOT / file).exists(), test
        assert not name or name.partition("[")[0] in names_in(ROOT / file), test
        assert "golden" not in test


def test_every_change_has_tests():
    assert [mutant.name for mutant in MUTANTS if not mutant.tests] == []


def test_a_share_is_the_same_for_the_same_text():
    chosen = run.share(MUTANTS, 20, "4f0c")
    assert chosen == run.share(MUTANTS[::-1], 20, "4f0c")
    assert len(chosen) == -(-len(MUTANTS) // 20)
    assert chosen != run.share(MUTANTS, 20, "4f0d")
