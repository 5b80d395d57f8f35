"""The manual page of the command."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sparsemaps.cli import make_parser
from sparsemaps.cli._options import KERNELS, MAPS

DOCS = Path(__file__).parents[2] / "docs"

pytestmark = pytest.mark.skipif(
    not (DOCS / "write_man.py").exists(), reason="the documents are not beside the tests"
)


@pytest.fixture(scope="module")
def writer():
    spec = importlib.util.spec_from_file_location("write_man", DOCS / "write_man.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(writer):
    assert writer.PAGE.read_text(encoding="utf-8") == writer.page()


def test_the_page_has_every_name(writer):
    text = re.sub(r"\\f[BIR]", "", writer.page()).replace("\\-", "-")
    commands, _ = writer.commands_of(make_parser())
    for name in [*commands, *(f"map {name}" for name in MAPS), *(f"kernel {k}" for k in KERNELS)]:
        assert re.search(rf"^(sparsemaps )?{name}\b", text, re.MULTILINE), name
    for kind in [*MAPS.values(), *KERNELS.values()]:
        for option in kind.options:
            assert f"--{option.name.replace('_', '-')}" in text


@pytest.mark.skipif(shutil.which("man") is None, reason="the program man is not installed")
def test_man_reads_it_without_a_warning(writer):
    shown = subprocess.run(
        ["man", "--warnings", "--encoding=utf-8", "--local-file", writer.PAGE],
        capture_output=True,
        env={"MANWIDTH": "100", "LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    assert shown.returncode == 0
    assert shown.stderr == b""
    assert b"EXIT STATUS" in shown.stdout
