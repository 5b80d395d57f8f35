"""No file takes memory by a number in it that is not compared with the file's size."""

import itertools

import pytest
from _scripts import file_claims

from sparsemaps._tools import _sources

TOLD_ELSEWHERE = {
    _sources.QIDS: "as labels",
    _sources.CLASSES: "lines",
    _sources.COMMENTS: "lines",
}


@pytest.mark.parametrize("kind", file_claims.KINDS)
def test_memory_is_bounded_by_the_size_of_the_file(tmp_path, kind):
    write, read = file_claims.KINDS[kind]
    path = write(tmp_path)
    read(path)  # so that modules are loaded
    whole = path.read_bytes()
    n = 0
    step = 5 if kind.startswith("records") else 1  # a whole job each
    for content in itertools.chain(
        [whole], itertools.islice(file_claims.claims(whole), 0, None, step)
    ):
        path.write_bytes(content)
        peak, _ = file_claims.peak_of(read, path)
        assert peak <= file_claims.allowed(content), (content[:200], content[-400:])
        n += 1
    assert n > 1 or path.suffix in (".txt", ".tsv")


def test_every_file_beside_an_output_is_a_kind():
    known = "".join(file_claims.KINDS)
    for ending in (*_sources.BESIDE, _sources.RECORD):
        assert ending in known or ending in TOLD_ELSEWHERE
