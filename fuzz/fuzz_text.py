"""Texts of any characters or bytes: the bits of scikit-learn's HashingVectorizer, or its error;
byte n-grams against Python's slices."""

import random
import warnings
from collections import Counter

import numpy as np
from common import atheris, run, sparsemaps
from sklearn.feature_extraction.text import HashingVectorizer as Theirs

warnings.simplefilter("ignore", UserWarning)

PATTERNS = [r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\S+", r"\w+", r"\w+|[^\w\s]", "[a-z]+"]
PIECES = [
    "the",
    " ",
    "  ",
    "\n",
    "é",
    "İ",
    "Σ",
    "ς",
    "語",
    "\U0001f600",
    "\u3000",
    "\x85",
    "\ud800",
]


def one_text(data):
    kind = data.ConsumeIntInRange(0, 6)
    if kind == 0:
        return data.ConsumeBytes(60)
    if kind == 1:
        return data.ConsumeUnicode(80)  # surrogates among them
    if kind == 2:
        return data.ConsumeUnicodeNoSurrogates(200)
    if kind == 3:
        return "".join(data.PickValueInList(PIECES) for _ in range(data.ConsumeIntInRange(0, 90)))
    if kind == 4:
        return data.ConsumeBytes(200).decode("latin-1")
    draw = random.Random(data.ConsumeInt(4))  # longer texts from short inputs
    plane = draw.choice([0x80, 0x100, 0x3000, 0xD800, 0x110000])
    letters = [chr(draw.randrange(plane)) for _ in range(draw.randrange(1, 20))]
    letters += draw.choices(PIECES[:-1], k=draw.randrange(9))
    return "".join(draw.choices(letters, k=draw.choice([9, 40, 300, 1500])))


def result(vectorizer, texts):
    try:
        return vectorizer.transform(texts)
    except (UnicodeError, ValueError) as error:
        return error


def check_hashing(data, texts):
    low = data.ConsumeIntInRange(1, 6)
    parameters = {
        "analyzer": data.PickValueInList(["word", "char", "char_wb"]),
        "ngram_range": (low, low + data.ConsumeIntInRange(0, 5)),
        "token_pattern": data.PickValueInList(PATTERNS),
        "lowercase": data.ConsumeBool(),
        "strip_accents": data.PickValueInList([None, None, "unicode", "ascii"]),
        "stop_words": data.PickValueInList([None, "english", ["the", "é"]]),
        "n_features": data.PickValueInList([2**20, 1, 1000, 2**31 - 2]),
        "norm": data.PickValueInList([None, "l1", "l2"]),
        "binary": data.ConsumeBool(),
        "alternate_sign": data.ConsumeBool(),
        "dtype": data.PickValueInList([np.float64, np.float32, np.int32]),
    }
    found = result(sparsemaps.text.HashingVectorizer(**parameters), texts)
    expected = result(Theirs(**parameters), texts)
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, Exception):
        assert str(found).startswith(str(expected))
        return
    for name in ("indptr", "indices", "data"):
        array, other = getattr(found, name), getattr(expected, name)
        assert array.dtype == other.dtype
        np.testing.assert_array_equal(array, other)


def check_bytes(data, texts):
    low = data.ConsumeIntInRange(1, 7)
    high = data.ConsumeIntInRange(low, 7)
    X = result(sparsemaps.text.ByteNgrams(ngram_range=(low, high)), texts)
    if isinstance(X, UnicodeError):
        return
    for row, text in enumerate(texts):
        coded = text.encode() if isinstance(text, str) else text
        counts, first = Counter(), 0
        for size in range(low, high + 1):
            for start in range(len(coded) - size + 1):
                counts[first + int.from_bytes(coded[start : start + size], "big")] += 1
            first += 256**size
        part = slice(X.indptr[row], X.indptr[row + 1])
        assert dict(zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)) == counts


def target(data):
    data = atheris.FuzzedDataProvider(data)
    texts = [one_text(data) for _ in range(data.ConsumeIntInRange(1, 3))]
    if data.ConsumeIntInRange(0, 5):
        check_hashing(data, texts)
    else:
        check_bytes(data, texts)


if __name__ == "__main__":
    run(target)
