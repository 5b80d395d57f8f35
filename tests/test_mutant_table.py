"""The tables of changes to the source (tests/mutants) are sound, and their runner tells what it
should. That texts have moved since an entry was written is for the runner to report."""

from pathlib import Path

import pytest
from mutants import run

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "sparsemaps").exists(), reason="not in a checkout")
MUTANTS = run.load()


def test_names_are_unique():
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names) >= 150


def test_every_change_changes():
    assert [mutant.name for mutant in MUTANTS if mutant.new == mutant.text] == []


def test_every_change_has_tests():
    assert [mutant.name for mutant in MUTANTS if not mutant.tests] == []
    assert [mutant.name for mutant in MUTANTS if "golden" in " ".join(mutant.tests)] == []


def test_stale_entries(tmp_path, capsys):
    """What has moved is said, and is left out; nothing is refused for it."""
    (tmp_path / "source.py").write_text("once\ntwice, twice\n")
    (tmp_path / "test_one.py").write_text("def test_a(): ...\n")

    def entry(text="once", path="source.py", test="test_one.py::test_a[1]"):
        return run.Mutant(f"{text} {path} {test}", path, text, "new", ("test_one.py", test))

    expected = {
        entry(): "",
        entry(test="test_one.py"): "",
        entry("never"): "its text stands 0 times in source.py",
        entry("twice"): "its text stands 2 times in source.py",
        entry(path="gone.py"): "gone.py is not there",
        entry(test="test_two.py::test_a"): "test_two.py is not there",
        entry(test="test_one.py::test_b"): "test_one.py::test_b is not there",
    }
    assert {mutant: run.staleness(mutant, tmp_path) for mutant in expected} == expected
    left = run.without_stale(expected, tmp_path)
    assert left == [mutant for mutant, why in expected.items() if not why]
    said = capsys.readouterr().out.splitlines()
    assert said[:-1] == [f"stale: {m.name}: {why}" for m, why in expected.items() if why]
    assert said[-1] == "5 of 7 entries are stale"


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
    assert run.report([a, b], {a: "killed", b: "does not compile"}, 1)
    assert not run.report([a], {a: "tests cannot run"}, 1)
