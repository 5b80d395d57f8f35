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


def test_the_summary():
    def mutant(name, reason=""):
        return run.Mutant(name, "path", "text", "new", ("test",), reason)

    a, b, c, d, e = (mutant(name) for name in "abcde")
    alike, not_alike = mutant("alike", "no number changes"), mutant("not alike", "it seems")
    every = [a, b, c, d, e, alike, not_alike]
    outcomes = {a: "killed", b: "survived", c: "takes too long", d: "killed", alike: "survived"}
    assert run.summary(every, outcomes, 61.4) == (
        "7 changes: 2 killed, 1 explained, 1 survived, 1 takes too long, 2 not run; 61 s"
    )
    assert run.summary([a], {a: "killed"}, 1) == "1 changes: 1 killed, 0 explained, 0 survived; 1 s"
    assert not run.report(every, outcomes, 1)
    assert not run.report([not_alike], {not_alike: "killed"}, 1)  # its reason is wrong
    assert run.report([a, alike], {a: "killed", alike: "survived"}, 1)
