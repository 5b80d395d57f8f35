"""The command as a process of its own does not wait for scikit-learn, and writes the same bytes."""

import json
import subprocess
import sys

import pytest

from sparsemaps import cli
from sparsemaps._tools import _light_bases

MAPPED = [
    ["map", name, "rows.svm", "-o", f"{name}.svm", *options]
    for name, *options in (
        ("count-sketch", "--n-components", "4"),
        ("fourier", "--form", "offset"),
        ("minmax-fourier", "--n-hashes", "8"),
        ("signs", "--n-hashes", "8"),
    )
]

LIGHT = [
    *MAPPED,
    ["map", "minhash", "rows.svm", "-o", "codes.npy", "--format", "npy"],
    ["pairs", "codes.npy", "-o", "pairs.tsv", "--threshold", "0.5"],
    ["pairs", "--texts", "char:2", "texts.jsonl", "-o", "text-pairs.tsv", "--threshold", "0.2"],
    ["dedup", "texts.jsonl", "-o", "kept.jsonl", "--texts", "word:1", "--removed", "removed.tsv"],
    ["text", "texts.jsonl", "-o", "texts.svm"],
    ["info", "rows.svm"],
]

RARE = [
    ["predict", "model", "texts.jsonl", "-o", "labels.tsv", "--explain", "2"],
    ["text", "texts.jsonl", "-o", "bigrams.svm", "--ngram-range", "1", "2"],
    ["text", "texts.jsonl", "-o", "pattern.svm", "--token-pattern", "[a-c]+"],
    ["dedup", "strange.jsonl", "-o", "strange.svm", "--normalize", "nfc", "--texts", "word:1"],
]
"""Commands that import scikit-learn's functions for texts, some of them to check parameters."""

PROCESS = """
import json, sys
from sparsemaps import cli
light, rare = json.load(sys.stdin)
assert [cli.main(words, is_process=True) for words in light] == [0] * len(light)
assert not {"sklearn", "scipy.special", "scipy.stats", "pandas"} & set(sys.modules)
assert [cli.main(words, is_process=True) for words in rare] == [0] * len(rare)
"""


def records(*texts):
    return "".join(json.dumps({"text": text, "label": text[:1]}) + "\n" for text in texts)


def test_no_command_waits_for_scikit_learn(tmp_path, monkeypatch):
    """Each command writes what it writes in a process that has scikit-learn."""
    folders = tmp_path / "here", tmp_path / "process"
    for folder in folders:
        folder.mkdir()
        (folder / "rows.svm").write_text("1 1:1 3:2\n2 2:.5 3:1\n1 1:1 3:2\n")
        (folder / "texts.jsonl").write_text(records("a b c", "a b c", "b c d e", "x y z"))
        (folder / "strange.jsonl").write_text(records("\u0130 \u03a3a", "\u0130 \u03a3a", "b"))
    monkeypatch.chdir(folders[0])
    assert cli.main(["train", "--texts", "word:1", "--label-field", "label", "texts.jsonl",
                     "-o", str(folders[1] / "model")]) == 0  # fmt: skip
    (folders[0] / "model").write_bytes((folders[1] / "model").read_bytes())
    for words in [*LIGHT, *RARE]:
        assert cli.main(words) == 0
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROCESS], cwd=folders[1], input=json.dumps([LIGHT, RARE]),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    written = [words[words.index("-o") + 1] for words in [*LIGHT, *RARE] if "-o" in words]
    for name in [*written, "removed.tsv"]:
        assert (folders[1] / name).read_bytes() == (folders[0] / name).read_bytes(), name


class Part(_light_bases.BaseEstimator):
    """An estimator with two parameters and something that ``fit`` made."""

    def __init__(self, *, size=1, parts=()):
        self.size, self.parts = size, parts

    @_light_bases.available_if(lambda self: self.size > 1)
    def encode(self):
        return self.size


def test_clone():
    inner = Part(size=2)
    part = Part(size=3, parts=[("inner", inner)])
    part.made_ = inner.made_ = 1
    copy = _light_bases.clone(part)
    ((name, copied),) = copy.parts
    assert (name, copied.get_params()) == ("inner", inner.get_params())
    assert copied is not inner
    assert not hasattr(copy, "made_")
    assert not hasattr(copied, "made_")
    assert copy.set_params(size=7).get_params()["size"] == 7


def test_a_method_that_only_some_objects_have():
    assert Part(size=2).encode() == 2
    assert not hasattr(Part(), "encode")
    with pytest.raises(AttributeError, match="Part has no attribute 'encode'"):
        _ = Part().encode
