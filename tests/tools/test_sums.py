"""Sums that do not depend on the threads of BLAS."""

import ast
from pathlib import Path

import numpy as np
import pytest
from _data.chance import SEED
from threadpoolctl import threadpool_limits

import sparsemaps
from sparsemaps._tools._portable_math import length, weighted_sum

N = 20_001  # BLAS adds up more than 10,000 products by several threads


@pytest.mark.parametrize("of", [weighted_sum, lambda x, y: length(x * y)])
def test_no_bit_depends_on_threads(of):
    rng = np.random.default_rng(SEED)
    for _ in range(5):
        values, weights = rng.random((2, N))
        found = set()
        for n_threads in (1, 2):
            with threadpool_limits(n_threads):
                found.add(of(values, weights))
        assert len(found) == 1
    assert weighted_sum(weights, values) == pytest.approx(float(weights @ values), rel=1e-13)
    assert length(values) == pytest.approx(float(np.linalg.norm(values)), rel=1e-13)


MAY_CALL_BLAS = {
    "approximation/_error.py": "estimates of errors, which are reports",
    "comparison/_learners.py": "learners of `compare`",
    "files/_validation.py": "sparse matrices",
    "linear/_calibration.py": "systems of two equations",
    "linear/_indicators.py": "sparse matrices",
}


def calls_blas(node):
    if isinstance(node, ast.Attribute):
        return node.attr in {"dot", "vdot", "linalg", "matmul", "tensordot"}
    return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult)


def test_results_come_without_blas():
    package = Path(sparsemaps.__file__).resolve().parent
    found = set()
    for path in package.rglob("*.py"):
        if any(calls_blas(node) for node in ast.walk(ast.parse(path.read_text("utf-8")))):
            found.add(path.relative_to(package).as_posix())
    assert found == set(MAY_CALL_BLAS)
