"""No assertion holds whatever the code does: the source of all tests is searched for these."""

import ast
from pathlib import Path

import pytest

TESTS = sorted(Path(__file__).parent.rglob("test_*.py"))


def idle(source):
    """Yield the assertions of a test that cannot fail: of a constant, of a name compared with
    itself, and of a size that is at least 0."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert) and _holds(node.test):
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("np.testing."):
            first, second, *_ = *node.args, None, None
            if second is not None and _are_equal(first, second):
                yield node.lineno, ast.unparse(node)


def _holds(test):
    if isinstance(test, (ast.Constant, ast.Tuple, ast.JoinedStr)):
        return True
    if isinstance(test, ast.BoolOp):
        return any(map(_holds, test.values))
    if not isinstance(test, ast.Compare):
        return False
    pairs = zip(test.ops, (test.left, *test.comparators), test.comparators, strict=False)
    return any(
        _are_equal(left, right) or (isinstance(op, ast.GtE) and ast.unparse(right) in ("0", "0.0"))
        for op, left, right in pairs
    )


def _are_equal(left, right):
    """Whether two expressions are the same one. Calls may have two answers."""
    has_calls = any(isinstance(node, ast.Call) for node in ast.walk(left))
    return ast.dump(left) == ast.dump(right) and not has_calls


def test_no_assertion_is_idle():
    found = [(path.name, *one) for path in TESTS for one in idle(path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "assert True", "assert x == x", "assert x.size >= 0", "assert a or 1", "assert (x, 'why')",
        "np.testing.assert_allclose(x, x)", "assert 0 <= y <= y",
    ],
)  # fmt: skip
def test_the_search_finds(source):
    assert list(idle(source))


@pytest.mark.parametrize(
    "source",
    ["assert next(x) == next(x)", "assert x >= 1", "assert x", "np.testing.assert_equal(x, y)"],
)  # fmt: skip
def test_the_search_leaves(source):
    assert not list(idle(source))
