"""The n-grams of a text that decide its score."""

from typing import Any

import numpy as np

from sparsemaps._tools import _sklearn
from sparsemaps._tools._typing import Array


def columns_of_samples(map: Any, rows: Any) -> Array:
    """The column that each sample of a row comes from; an error for maps that have none."""
    if not hasattr(map, "sample"):
        raise ValueError(
            "explain needs a map whose samples are columns, MinHash or ConsistentWeightedSampling, "
            f"got {type(map).__name__}"
        )
    samples = map.sample(rows)
    columns = samples[0] if isinstance(samples, tuple) else samples
    if getattr(map, "signed", False):
        columns = columns // 2  # of the generalised kernel, which has two for each
    return np.asarray(columns)[0]


def ngrams_of_columns(vectorizer: Any, text: Any) -> dict[int, str]:
    """The n-grams of a text by their columns. Of n-grams of one column, the first."""
    from sparsemaps.text import ByteNgrams, HashingVectorizer

    vectorizer = getattr(vectorizer, "vectorizer", vectorizer)  # whose n-grams are weighted
    if isinstance(vectorizer, ByteNgrams):
        return _of_bytes(vectorizer, text)
    if not isinstance(vectorizer, _sklearn.hashing_vectorizer()):
        raise ValueError(
            "explain needs a HashingVectorizer or ByteNgrams of sparsemaps.text, got "
            f"{type(vectorizer).__name__}"
        )
    ngrams = list(dict.fromkeys(vectorizer.build_analyzer()(text)))
    if not ngrams:
        return {}
    one_each = HashingVectorizer(
        analyzer=lambda ngram: [ngram],
        n_features=vectorizer.n_features,
        norm=None,
        alternate_sign=False,
    )
    columns = one_each.transform(ngrams).indices.tolist()
    found: dict[int, str] = {}
    for column, ngram in zip(columns, ngrams, strict=True):
        found.setdefault(column, ngram)
    return found


def _of_bytes(vectorizer: Any, text: Any) -> dict[int, str]:
    low, high = vectorizer.ngram_range
    data = text.encode() if isinstance(text, str) else bytes(text)
    data = data.lower() if vectorizer.lowercase else data
    found = {}
    for n in range(low, high + 1):
        before = sum(256**shorter for shorter in range(low, n))
        for start in range(len(data) - n + 1):
            ngram = data[start : start + n]
            found[int.from_bytes(ngram, "big") + before] = ngram.decode(errors="backslashreplace")
    return found
