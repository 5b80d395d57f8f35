"""Numbers agree with their nouns: "1 record", "2 records"."""

import ast
import itertools
import re
from pathlib import Path

import pytest

import sparsemaps
from sparsemaps._tools._plurals import counted

NOUNS = (
    "classes clusters columns duplicates entries fields hashes inputs labels lines models n-grams "
    "numbers outputs pairs passes qids records removals results rows seeds targets texts weights"
)
NUMBERED = re.compile(rf" (?:[a-z]+ )?(?:{NOUNS.replace(' ', '|')})\b(?![-/])")

ALLOWED = {
    "_allowed.py": ["self.n"],  # the longest list of an option
    "_array_files.py": ["size"],  # of damaged files, as in the next lines
    "_coded_records.py": ["len(array)"],
    "_dedup_stages.py": ["numbers.n_kept"],
    "_demo.py": ["n", "d", "len(task.y_test)", "n * (n - 1) // 2", "len(first)"],  # many
    "_formats.py": ["n_rows"],  # at least 2, of which some have a qid
    "_parse.py": ["width"],  # above 2**63; and a message of scikit-learn
    "_solver.py": ["n_models", "width"],  # above 1, and above 2**28
    "_sparse.py": ["n_slices + 1", "len(values)"],  # damaged matrices
    "arrow.py": ["n_rows"],  # more than the file can have, or below 0
    "fastfood.py": ["n_columns"],  # more than 2**13
    "parquet.py": ["len(kinds)"],
    "_classifier.py": ["who"],  # names and kinds, as in the next lines
    "_compare.py": ["path"],
    "_dedup_plan.py": ["one"],
    "_labelled_rows.py": ["numbers"],
    "_orthogonal.py": ["value"],
    "_record_weights.py": ["one"],
    "_row_reader.py": ["kinds[False]"],
}
"""Values that are never 1, or no numbers."""


def numbers_before_plurals(path):
    """Yield the values of f-strings that a plural noun follows."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        for value, text in itertools.pairwise(parts):
            if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant):
                found = [ast.unparse(value.value)] if NUMBERED.match(text.value) else []
                yield from found


def is_named(value):
    """Return whether an expression of an f-string is a constant, or the name of a parameter."""
    return value.split(".")[-1].isupper() or value.startswith(("counted(", "named", "setting("))


def test_numbers_before_nouns_agree():
    folder = Path(sparsemaps.__file__).resolve().parent
    found = {
        (path.name, value)
        for path in folder.rglob("*.py")
        for value in numbers_before_plurals(path)
        if not is_named(value)
    }
    assert found == {(name, value) for name, values in ALLOWED.items() for value in values}


@pytest.mark.parametrize("plural", NOUNS.split())
def test_counted(plural):
    one = {"entries": "entry", "classes": "class", "passes": "pass", "hashes": "hash"}
    assert counted(1, plural) == f"1 {one.get(plural, plural[:-1])}"
    assert [counted(n, plural) for n in (0, 2)] == [f"0 {plural}", f"2 {plural}"]
