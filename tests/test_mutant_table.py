"""The tables of changes to the source (tests/mutants) are sound, and their runner tells what it
should. That tokens are gone since an entry was written is for the runner to report."""

from pathlib import Path

import pytest
from mutants import places, run

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "sparsemaps").exists(), reason="not in a checkout")


@pytest.fixture(scope="module")
def mutants():
    """All changes. They are read when a test runs: a table that is being edited while tests are
    collected is no error of both workers."""
    return run.load()


def test_a_table_that_is_not_sound_is_named(tmp_path):
    (tmp_path / "one.toml").write_text('[[file]]\npath = "a"\nchange = [')
    with pytest.raises(ValueError, match=r"one\.toml: "):
        run.load(tmp_path)


def test_names_are_unique(mutants):
    names = [mutant.name for mutant in mutants]
    assert len(set(names)) == len(names) >= 150


def test_every_change_changes(mutants):
    assert [mutant.name for mutant in mutants if mutant.new == mutant.tokens] == []


def test_every_change_has_tests(mutants):
    assert [mutant.name for mutant in mutants if not mutant.tests] == []
    assert [mutant.name for mutant in mutants if "golden" in " ".join(mutant.tests)] == []


def test_stale_entries(tmp_path, capsys):
    """What has moved is said, and is left out; nothing is refused for it."""
    (tmp_path / "source.py").write_text("once\ntwice, twice\n")
    (tmp_path / "test_one.py").write_text("def test_a(): ...\n")

    def entry(text="once", path="source.py", test="test_one.py::test_a[1]"):
        return run.Mutant(f"{text} {path} {test}", path, text, "new", ("test_one.py", test))

    expected = {
        entry(): "",
        entry(test="test_one.py"): "",
        entry("never"): "its tokens stand 0 times in source.py",
        entry("twice"): "its tokens stand 2 times in source.py",
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


def test_a_share_is_the_same_for_the_same_text(mutants):
    chosen = run.share(mutants, 20, "4f0c")
    assert chosen == run.share(mutants[::-1], 20, "4f0c")
    assert len(chosen) == -(-len(mutants) // 20)
    assert chosen != run.share(mutants, 20, "4f0d")


def test_the_summary():
    def mutant(name, reason=""):
        return run.Mutant(name, "path", "text", "new", ("test",), reason=reason)

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


SOURCES = {
    ".py": """
@decorated
class Sweep(list):
    "A list."

    def begin(self, n):
        if n and (
            n < 3
        ):
            return [n,
                    n + 1]
        return n

def begin(n):
    return n
""",
    ".pyx": """
cdef class Sweep:
    cdef int n

    def begin(self, Py_ssize_t n):
        if n and n < 3:
            return [n, n + 1]
        return n

cdef inline int begin(int n) noexcept nogil:
    return n
""",
    ".c": """
static int TYPED(begin)(int n, const int *more)
{
    if (n && n < 3)
        return more[n,
                    n + 1];
    return n;
}

int begin_again(int n) { return begin(n);
}
""",
}


@pytest.mark.parametrize(
    ("suffix", "function", "tokens", "expected"),
    [
        (".py", "Sweep.begin", "[n, n+1]", "[n,\n                    n + 1]"),
        (".py", "Sweep.begin", "if n and (n < 3):", "if n and (\n            n < 3\n        ):"),
        (".py", "Sweep", '@decorated class Sweep', "@decorated\nclass Sweep"),
        (".py", "begin", "return", "return"),
        (".pyx", "Sweep.begin", "  return n\n", "return n"),
        (".pyx", "Sweep", "cdef int n", "cdef int n"),
        (".pyx", "begin", "return", "return"),
        (".c", "begin", "more[n, n+1]", "more[n,\n                    n + 1]"),
        (".c", "begin", "return n;", "return n;"),
        (".c", "begin_again", "return", "return"),
    ],
)  # fmt: skip
def test_tokens_are_found_wherever_lines_end(suffix, function, tokens, expected):
    source = SOURCES[suffix]
    (span,) = places.find(source, suffix, function, tokens)
    assert source[slice(*span)] == expected
    assert len(places.find(source, suffix, "", "return")) == 3
    assert places.find(source, suffix, "gone", tokens) == []
    assert places.find(source, suffix, function, tokens + "x") == []


def test_new_lines_move_with_the_function():
    source = "class A:\n    def f(self):\n        if a:\n            b\n            c\n"
    old = "    if a:\n        b\n"
    (span,) = places.find(source, ".py", "A.f", old)
    changed = places.replaced(source, span, old, "    if d:\n        e\n        b\n")
    assert changed == source.replace("if a:\n", "if d:\n            e\n")
    assert places.replaced(source, span, old, "") == source.replace("if a:\n            b", "")
