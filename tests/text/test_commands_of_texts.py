"""The commands that the pages about texts show, as they stand there."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from sparsemaps import cli, from_config
from sparsemaps._io import _zstd
from sparsemaps.codes import PackedCodes
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file
from sparsemaps.text import ByteNgrams
from sparsemaps.text._analyzers import vectorizer_of

DOCS = Path(__file__).parents[2] / "docs"
zstd = pytest.importorskip(_zstd.MODULE)


@pytest.mark.skipif(not DOCS.exists(), reason="no documentation here")
def test_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [f"a page about cats, and dogs {i // 2}" for i in range(20)]
    records = [
        {"text": text, "label": ["even", "odd"][i % 2], "quality": i}
        for i, text in enumerate(texts)
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records).encode()
    Path("pages.jsonl").write_bytes(lines)
    Path("texts.jsonl.zst").write_bytes(zstd.compress(lines))
    rows = ByteNgrams().transform(texts)
    dump_svmlight_file(rows, np.zeros(len(texts)), "texts.svm", zero_based=False)
    Path("parts").mkdir()
    Path("parts/1.jsonl").write_bytes(lines)
    Path("parts/2.jsonl").write_bytes(lines)
    Path("news.jsonl").write_bytes(lines.replace(b'"label"', b'"topic"'))
    Path("new.jsonl").write_bytes(lines + b'{"text": "a text about nothing before"}\n')
    commands = [
        command
        for page in ("texts", "near_duplicates", "near_duplicates_explained", "neighbours")
        for text in [(DOCS / f"{page}.md").read_text("utf-8")]
        for command in re.findall(r"^    sparsemaps (.*)", text, re.M)
    ]
    assert len(commands) >= 4
    for command in commands:
        assert cli.main(shlex.split(command)) == 0, command

    X, y = load_svmlight_file("pages.svm", n_features=rows.shape[1], zero_based=False)
    assert (rows != X).nnz == 0
    assert y.tolist() == [0, 1] * 10
    codes = PackedCodes.load("codes.npy")
    again = from_config(codes.config).encode_texts(vectorizer_of("word:3"), texts)
    np.testing.assert_array_equal(codes.array, again)
    kept = zstd.decompress(Path("kept.jsonl.zst").read_bytes())
    assert kept == b"".join(lines.splitlines(keepends=True)[::2])
    assert Path("kept/1.jsonl").read_bytes() == kept
    assert Path("kept/2.jsonl").read_bytes() == b""
    assert Path("new.kept.jsonl").read_bytes() == b'{"text": "a text about nothing before"}\n'
    pairs = np.loadtxt("pairs.tsv")
    assert {(2 * i + 1, 2 * i + 2) for i in range(10)} <= {(i, j) for i, j, *_ in pairs}


def test_svmlight_files_by_zstandard(tmp_path):
    """Whatever reads and writes .xz takes .zst too."""
    X = ByteNgrams(ngram_range=(1, 1)).transform(["some text", "and more"])
    path = tmp_path / "rows.svm.zst"
    dump_svmlight_file(X, [1, 2], path)
    assert path.read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    found, labels = load_svmlight_file(path, n_features=256, zero_based=True)
    assert (found != X).nnz == 0
    assert labels.tolist() == [1, 2]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"rows\.svm\.zst: cannot be decompressed: .*ended before"):
        load_svmlight_file(path)
