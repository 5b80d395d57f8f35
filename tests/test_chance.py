"""All random numbers of tests follow from the variable SPARSEMAPS_TEST_SEED."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from _data import chance

HERE = Path(__file__).resolve().parent

ALWAYS_THE_SAME = {
    "_scripts/digests.py",  # what golden.json has
    "files/test_digests_of_jobs.py",
    "test_golden.py",
    "typing/client.py",  # is checked, and not run
}


def seeds_without_chance(text):
    """Generators that SEED has no part in, and seeds of maps in tests against standard errors."""
    tree = ast.parse(text)
    by_chance = re.search(r"\btheorems\b|standard error(?![\"':])", text)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        seeds = [k.value for k in node.keywords if by_chance and k.arg == "random_state"]
        if re.search(r"\b(default_rng|random\.Random)$", called):
            seeds += node.args
        for seed in map(ast.unparse, seeds):
            if seed.isdigit() or (seed.startswith(("seed", "[")) and "SEED" not in seed):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def test_the_search_for_seeds():
    text = "rng = default_rng(3)\nMinHash(random_state=0).fit(random.Random(seed))\n"
    assert list(seeds_without_chance(text)) == [
        "line 1: default_rng(3)",
        "line 2: random.Random(seed)",
    ]
    assert len(list(seeds_without_chance("import theorems\n" + text))) == 3
    assert not list(seeds_without_chance("import theorems\ndefault_rng(SEED + 1)"))


def test_the_variable_sets_the_seed():
    program = "from _data.chance import SEED; print(SEED)"
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, chance.VARIABLE: number},
            cwd=HERE,
            capture_output=True,
            check=True,
        ).stdout
        for number in ("0", "1", "4095")
    ]
    assert list(map(int, found)) == [0, 2**20, 4095 * 2**20]


@pytest.mark.parametrize("text", ["", "-1", "4096", "1.0", "one", "1_0"])
def test_other_texts_are_errors(text):
    with pytest.raises(ValueError, match=f"from 0 to 4095, got '{text}'"):
        chance.read_number(text)


def test_pytest_tells_the_number(pytestconfig):
    told = pytestconfig.hook.pytest_report_header(config=pytestconfig, start_path=HERE)
    assert f"{chance.VARIABLE}={chance.NUMBER}" in told
    seed = pytestconfig.getoption("hypothesis_seed")
    assert seed == os.environ.get(chance.VARIABLE) or chance.VARIABLE not in os.environ


@pytest.mark.parametrize("file", sorted(HERE.rglob("*.py")), ids=lambda file: file.name)
def test_seeds_follow_from_the_variable(file):
    if file.relative_to(HERE).as_posix() not in ALWAYS_THE_SAME:
        assert list(seeds_without_chance(file.read_text(encoding="utf-8"))) == []
