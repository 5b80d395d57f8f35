"""Models that tests save and load, and changes of their files."""

import json
import struct

import numpy as np
import scipy.sparse as sp

from _data.chance import SEED
from sparsemaps import MinHash
from sparsemaps.linear import KernelClassifier, _model_file
from sparsemaps.text import HashingVectorizer

WORDS = HashingVectorizer(binary=True, norm=None, alternate_sign=False)
TEXTS = [
    *("the cat sat on the mat", "a dog ran in the park", "dogs bark at a cat", "the mat is red"),
    *("prices rose in the market", "the bank lent money", "a market of money", "banks and prices"),
]
LABELS = ["pets"] * 4 + ["money"] * 4


def text_model(**parameters):
    parameters = {"map": MinHash(n_hashes=64, random_state=0), "vectorizer": WORDS, **parameters}
    return KernelClassifier(**parameters, random_state=0).fit(TEXTS, LABELS)


def rows(n=80):
    rng = np.random.default_rng(SEED)
    X = rng.gamma(1.0, size=(n, 6))
    return sp.csr_array(X), X.argmax(axis=1), X[:, 0]


def labels_of(kind, y):
    if kind == "objects":
        return np.array([f"class é {label}" for label in y], object)
    if kind == "bool":
        return y > 2
    return np.char.add("c", y.astype("U4")) if kind == "U5" else y.astype(kind)


def changed(path, change):
    """The file with another description, and its checksum."""
    data = path.read_bytes()
    n_text, magic = struct.unpack("<Q8s", data[-16:])
    description, weights, idf = _model_file._read(str(path))
    change(description)
    description["crc32"] = _model_file.checksum_of(description, weights, idf)
    text = json.dumps(description).encode()
    path.with_suffix(".changed").write_bytes(
        data[: -16 - n_text] + text + struct.pack("<Q8s", len(text), magic)
    )
    return path.with_suffix(".changed")
