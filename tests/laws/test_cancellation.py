"""Each difference that may lose digits is known, with the reason why it does not, or why that does
no harm.

Searched for are ``1 - x``, differences of which one side is a square, and logarithms and roots of
differences, in Python; and ``1.0 - x`` in Cython and C. Whoever writes a new one adds it here,
after a look at arguments near 0 and 1.
"""

import ast
import re
from pathlib import Path

import pytest

import sparsemaps

PACKAGE = Path(sparsemaps.__file__).resolve().parent

KNOWN = {
    "a figure that is shown with a few digits, or its standard error": {
        "approximation/_error.py": ["np.sqrt(max(0.0, (means ** 2).mean() - variance / n_seeds))"],
        "comparison/_halving.py": [
            "np.sqrt(max(top * (1 - top), 0) / (len(scores) * n_test))", "1 - top",
        ],
        "comparison/_learners.py": [
            "1 - float(((found - y) ** 2).sum() / max(((y - y.mean()) ** 2).sum(), 1e-300))",
        ],
        "comparison/_measurement.py": ["1 - float(losses.mean())"],
        "files/_report.py": ["1 - threshold"],
        "files/_validation.py": ["1 - mean / spread"],
        "linear/_path_of_C.py": ["1 - mean / spread"],
    },
    "whole numbers, or powers of 2: exact": {
        "laws/_agreement.py": ["1 - chance", "1 - p", "1 - q"],
        "laws/_sampled.py": ["1.0 - law.least_kernel", "1 - levels.data % 1"],
        "libsvm/_read.py": ["1 - one_based"],
        "linear/_solver.py": ["2 ** 31 - 2 ** 4"],
        "neighbors/_bands.py": ["1 - chance"],
        "neighbors/_containment.py": [
            "1 - codes.law.chance", "1 - chance", "math.sqrt(chance * (1 - chance))",
        ],
        "approximation/_coverage.py": ["1 - moments.span"],
    },
    "a distance or a share of a kernel: as exact, absolutely, as the kernel that it is made of": {
        "approximation/_coverage.py": ["1 - moments.kernel"],
        "kernels/_similarity.py": ["1 - acos(rho) / np.pi"],
        "laws/_agreement.py": ["1 - kernel"],
        "laws/_block_covariance.py": ["1 - kernel"],
        "laws/_product_law.py": ["1 - rate"],
        "laws/_sampled.py": ["1 - mean", "1 - pairs.kernel", "1 - kernel"],
        "neighbors/_bands.py": ["1 - differing / codes.n_hashes"],
        "neighbors/_containment.py": [
            "1 - similarity", "1 - rate", "math.sqrt(rate * (1 - rate))",
            "math.sqrt(rate * (1 - rate) / codes.n_hashes)",
        ],
        "neighbors/_index.py": ["1 - similarity"],
        "neighbors/_index_search.py": [
            "1 - self._estimates(queries, state, row, indices[row, place], differing)",
            "1 - exact_pairs(self.map, rows[some], state.rows, row, candidates[row, place])",
            "1 - distances[some, -1]",
        ],
    },
    "at least a half, so that it keeps its digits": {
        "laws/_shift_invariant.py": ["1 + doubled / 2 - k ** 2", "1 + k ** 4 / 2 - k ** 2"],
    },
    "compared with fractions in test_digits": {
        "laws/_shift_invariant.py": ["1 - k", "1 - doubled", "second - 2 * mean - mean ** 2"],
    },
    "a number that the user gives, which is as near to 1 as float64 can be": {
        "neighbors/_containment.py": ["1 - recall"],
        "neighbors/_index.py": ["1 - self._radius(radius)", "1 - self._radius(self.radius)"],
        "neighbors/_search.py": [
            "1 - check_share('recall', recall)", "1 - miss", "1 - recall",
        ],
    },
    "an inequality, whose value need not be exact": {
        "approximation/_coverage.py": ["1 - np.minimum(np.sqrt(variance) / slack, 1) ** 2"],
    },
    "places of a table, or steps of a loop": {
        "laws/_agreement.py": ["1 - np.geomspace(0.0099, 1e-09, 2000)", "1 - values"],
        "laws/_spectrum.py": ["1 - middles[at]"],
        "neighbors/_brute.py": ["1 - np.sqrt(1 - shares)", "np.sqrt(1 - shares)", "1 - shares"],
        "linear/_losses.py": ["1 - 1e-09"],
    },
    "a margin of a row; the loss of one near 0 is near 0": {
        "linear/_losses.py": ["1 - y * scores"],
    },
    "both parts have one sign, or the smaller one is given by itself": {
        "linear/_calibration.py": ["-numbers ** 2 - best ** 2"],
        "linear/_losses.py": ["1 - factor / ratio"],
    },
    "the ratio of a geometric series, which is below 1 by more than its rounding": {
        "kernels/_matern.py": ["1 - ratio"],
    },
    "summed again from the mean if it loses more than 4 bits": {
        "maps/_bandwidth.py": ["square - mean ** 2"],
    },
}  # fmt: skip

KNOWN_IN_C = {
    "beside 1 in a series or fraction, whose sum is at least a half": {
        "random/sin_cos.h": ["1.0f - 0.5f * z", "1.0 - 0.5 * z"],
        "random/quantiles.h": ["1.0 - (m", "1.0 - y"],
        "random/elementary.h": ["1.0 - size"],
    },
    "the end of a loop, or its first guess": {
        "random/quantiles.h": [
            "1.0 - a", "1.0 - ratio", "1.0 - third", "1.0 - tail", "1.0 - exp_f64(-z * z",
            "1.0 - c",
        ],
    },
    "the smaller tail is taken, and p has the bits that it was drawn with": {
        "random/quantiles.h": [
            "1.0 - p", "1.0 - gamma_below(a", "1.0 - gamma_above(a",
        ],
    },
    "a bound up to which levels are visited, and the search goes on if it was too low": {
        "maps/level_sampling.c": ["1.0 - exp_f64(-limit)", "1.0 - share"],
    },
}  # fmt: skip


def is_one(node):
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 1


def is_square(node):
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Pow):
        return True
    return isinstance(node.op, ast.Mult) and ast.dump(node.left) == ast.dump(node.right)


def is_difference(node):
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)


def may_lose_digits(node):
    if is_difference(node):
        return is_one(node.left) or is_square(node.right)
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func).rpartition(".")[2]
    inner = (one for given in node.args for one in ast.walk(given))
    return name in ("log", "log2", "log10", "sqrt") and any(map(is_difference, inner))


def found_in_python():
    found = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(PACKAGE).as_posix()
        nodes = filter(may_lose_digits, ast.walk(ast.parse(text)))
        found |= {(name, ast.unparse(node)) for node in nodes}
    return found


def found_in_c():
    found = set()
    folder = Path(__file__).parents[2] / "sparsemaps/_loops"
    if not folder.exists():
        pytest.skip("an installed package is tested, without the sources of its loops")
    for path in folder.rglob("*"):
        if path.suffix in (".c", ".h", ".pyx", ".pxi"):
            text = re.sub(r"/\*.*?\*/|//[^\n]*|#[^\n]*", "", path.read_text(), flags=re.DOTALL)
            name = path.relative_to(folder).as_posix().removeprefix("c/")
            places = re.findall(r"(?<![\w.])1\.0f? - [^;?&<,)]+\)?", text)
            found |= {(name, " ".join(place.split())) for place in places}
    return found


def listed(known):
    return [(name, one) for some in known.values() for name, ones in some.items() for one in ones]


def test_each_difference_in_python_is_known():
    known = listed(KNOWN)
    assert len(known) == len(set(known))
    assert found_in_python() == set(known)


def test_each_difference_in_c_is_known():
    """An entry is the beginning of an expression."""
    known, found = listed(KNOWN_IN_C), found_in_c()
    unknown = {
        (name, text)
        for name, text in found
        if not any(name == of and text.startswith(one) for of, one in known)
    }
    assert not unknown
    unused = {
        (of, one)
        for of, one in known
        if not any(name == of and text.startswith(one) for name, text in found)
    }
    assert not unused


@pytest.mark.parametrize(
    "text",
    ["1 - p", "1.0 - f(x)", "square - mean**2", "a - b * b", "np.log(a - b)", "log2(x * (c - d))"],
)
def test_the_search_finds(text):
    assert any(map(may_lose_digits, ast.walk(ast.parse(text))))
