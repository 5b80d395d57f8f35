"""Records with labels: texts of words of which a few tell the label, and rows of numbers."""

import json

import numpy as np
import scipy.sparse as sp

from _data.chance import SEED
from sparsemaps import MinHash
from sparsemaps._tools import _seeding
from sparsemaps.libsvm import dump_svmlight_file
from sparsemaps.linear import KernelClassifier
from sparsemaps.text._analyzers import vectorizer_of

WORDS = {
    label: text.split()
    for label, text in {
        "pets": "the cat and a dog sat on mats while puppies bark at every bird",
        "money": "the bank and a market lent funds while prices rose on every trade",
        "sea\tsalt": "the ship and a wave rolled on shores while sailors sang of storms",
    }.items()
}


def records(n=90, seed=0):
    """Texts of words of which a few tell the label, with labels and ids."""
    rng = np.random.default_rng(SEED + seed)
    labels = rng.choice(list(WORDS), n)
    return [
        {"text": " ".join(rng.choice(WORDS[label], 9)), "label": str(label), "id": f"r{i}"}
        for i, label in enumerate(labels)
    ]


def folds_of(n, seed=0, weights=None):
    """The folds of n records of `train_files`, as row numbers; those of weight 0 are in none."""
    rows = np.arange(n) if weights is None else np.flatnonzero(weights)
    number = np.floor(5 * _seeding.uniforms(_seeding.keys(seed, "linear", 3)[2], len(rows)))
    return [(rows[number != fold], rows[number == fold]) for fold in range(5)]


def write_jsonl(path, some):
    path.write_text("".join(json.dumps(record) + "\n" for record in some))
    return path


def text_model(**parameters):
    vectorizer = vectorizer_of("word:1", binary=True)
    return KernelClassifier(
        MinHash(n_hashes=64, random_state=0), vectorizer=vectorizer, random_state=0, **parameters
    )


def rows(n=70, seed=0):
    rng = np.random.default_rng(SEED + seed)
    X = sp.csr_array(rng.gamma(0.5, size=(n, 9)).round(3))
    return X, np.asarray(X.argmax(axis=1)).ravel() % 3


def write_rows(path, X, y):
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return path
