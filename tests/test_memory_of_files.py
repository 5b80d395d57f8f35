"""No file takes memory by a number in it that is not compared with the file's size."""

import itertools
import re
from pathlib import Path

import pytest
from _scripts import file_claims

import sparsemaps
from sparsemaps._io import _sources
from sparsemaps.records import TEXT_FORMATS


@pytest.mark.parametrize("kind", file_claims.KINDS)
def test_memory_is_bounded_by_the_size_of_the_file(tmp_path, kind):
    write, read = file_claims.KINDS[kind]
    path = write(tmp_path)
    read(path)  # so that modules are loaded
    whole = path.read_bytes()
    n = 0
    step = 9 if kind.startswith("records") else 1  # a whole job each
    for content in itertools.chain(
        [whole], itertools.islice(file_claims.claims(whole), 0, None, step)
    ):
        path.write_bytes(content)
        peak, _ = file_claims.peak_of(read, path)
        assert peak <= file_claims.allowed(content), (content[:200], content[-400:])
        n += 1
    assert n > 1 or not file_claims.has_numbers(path.name)


def test_every_file_beside_an_output_is_a_kind():
    known = "".join(file_claims.KINDS)
    endings = *_sources.BESIDE, *_sources.WEIGHTS, _sources.RECEIPT
    assert [ending for ending in endings if ending not in known] == []


def test_every_format_of_texts_is_a_kind():
    pytest.importorskip("pyarrow")
    assert {f"texts of {format}" for format in TEXT_FORMATS} <= file_claims.KINDS.keys()


def test_every_mark_of_a_file_is_one_of_a_kind(tmp_path):
    """Files that describe themselves end with a mark, which is defined once in the source."""
    package = Path(sparsemaps.__file__).resolve().parent
    sources = [path.read_text("utf-8") for path in package.rglob("*.py")]
    marks = {found for text in sources for found in re.findall(r'b"(SM[A-Z0-9]{6})"', text)}
    assert len(marks) >= 3
    ends = set()
    for number, (write, _) in enumerate(file_claims.KINDS.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        ends.add(write(folder).read_bytes()[-8:].decode("latin-1"))
    assert marks <= ends
