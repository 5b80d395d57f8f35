"""Token patterns of models: a file cannot make its readers compile an expression of any length."""

import json
import struct

import pytest

from sparsemaps import MinHash
from sparsemaps.linear import KernelClassifier, _model_file
from sparsemaps.text import HashingVectorizer

TEXTS, LABELS = ["to be or not", "to be", "that is", "the question"], ["a", "a", "b", "b"]


def fitted(pattern):
    words = HashingVectorizer(
        token_pattern=pattern, binary=True, norm=None, alternate_sign=False
    )  # fmt: skip
    map = MinHash(n_hashes=16, random_state=0)
    return KernelClassifier(map, vectorizer=words, random_state=0).fit(TEXTS, LABELS)


def with_pattern(path, pattern):
    content = path.read_bytes()
    (n_bytes,) = struct.unpack("<Q", content[-16:-8])
    description = json.loads(content[-16 - n_bytes : -16])
    description["vectorizer"]["parameters"]["token_pattern"] = pattern
    text = json.dumps(description).encode()
    end = struct.pack("<Q", len(text)) + content[-8:]
    path.write_bytes(content[: -16 - n_bytes] + text + end)


def test_patterns_up_to_a_length_are_saved(tmp_path):
    longest = r"\S+|" + "a" * (_model_file._LONGEST_PATTERN - 4)
    fitted(longest).save(tmp_path / "model")
    assert KernelClassifier.load(tmp_path / "model").vectorizer.token_pattern == longest
    message = "token pattern must have at most 4096 characters, got 4097"
    with pytest.raises(ValueError, match=message):
        fitted(longest + "a").save(tmp_path / "model")
    assert KernelClassifier.load(tmp_path / "model").predict(TEXTS).tolist() == LABELS


def test_longer_patterns_are_not_compiled(tmp_path, monkeypatch):
    fitted(r"\S+").save(tmp_path / "model")
    with_pattern(tmp_path / "model", "[\u0400-\u9fff\U00010400]" * 10**4)  # minutes
    monkeypatch.setattr(HashingVectorizer, "build_tokenizer", None)
    with pytest.raises(ValueError, match="at most 4096 characters, got 60000"):
        KernelClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("pattern", ["(", "(a)(b)", "[z-a]", "(?<=a+)b", "(" * 2000, 7, ["a"]])
def test_wrong_patterns_are_errors(pattern, tmp_path):
    fitted(r"\S+").save(tmp_path / "model")
    with_pattern(tmp_path / "model", pattern)
    with pytest.raises(ValueError, match="is damaged: "):
        KernelClassifier.load(tmp_path / "model")
