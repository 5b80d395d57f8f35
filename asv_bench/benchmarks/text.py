"""Raw texts to CSR, against scikit-learn's HashingVectorizer.

Texts are made from a seed. The environment variable ``SPARSEMAPS_TEXTS`` may name files of JSON
lines with a field "text", plain or .xz, parted by colons; then they are measured too.
"""

import json
import lzma
import os
from functools import lru_cache

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer as Peer

from sparsemaps.text import ByteNgrams, HashingVectorizer

from .common import fastest, ratio

# Letters by script, and how long words are.
SCRIPTS = {
    "ASCII": ("etaoinshrdlucmfwypvbgk" * 2 + "ETAOINSH", 5),
    "Latin": ("eaisnrtoluédcmpàvqèçêfbghôjxâ" + "ESL", 5),
    "Cyrillic": ("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф" + "ОЕА", 6),
    "Chinese": ("".join(map(chr, range(0x4E00, 0x5A00))), 12),
    "Devanagari": ("".join(map(chr, range(0x905, 0x94D))), 5),
}
FILES = [name for name in os.environ.get("SPARSEMAPS_TEXTS", "").split(":") if name]
ANALYZERS = {
    "words": {},
    "words 1-2": {"ngram_range": (1, 2)},
    "words 2": {"ngram_range": (2, 2)},
    "words 5": {"ngram_range": (5, 5)},
    "char 3": {"analyzer": "char", "ngram_range": (3, 3)},
    "char_wb 3-5": {"analyzer": "char_wb", "ngram_range": (3, 5)},
}


def made(script, n_texts=400):
    """Texts of about 150 words, drawn from 5,000 by Zipf's law."""
    rng = np.random.default_rng(0)
    letters, length = SCRIPTS[script]
    words = [
        "".join(rng.choice(list(letters), n)) for n in np.maximum(rng.poisson(length, 5_000), 1)
    ]
    weights = 1 / np.arange(1, 5_001)
    weights /= weights.sum()
    ends = rng.choice([" ", " ", " ", ", ", ". ", "\n"], 200)
    return [
        "".join(
            word + end
            for word, end in zip(rng.choice(words, n, p=weights), np.resize(ends, n), strict=True)
        )
        for n in rng.poisson(150, n_texts)
    ]


@lru_cache
def texts_of(source):
    if source in SCRIPTS:
        return made(source)
    opened = lzma.open if source.endswith(".xz") else open
    with opened(source, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def megabytes(texts):
    return sum(len(text.encode()) for text in texts) / 1e6


class Texts:
    params = ([*SCRIPTS, *FILES], list(ANALYZERS))
    param_names = ("texts", "analyzer")
    timeout = 600

    def setup(self, source, analyzer):
        self.texts = texts_of(source)
        self.ours = HashingVectorizer(**ANALYZERS[analyzer])
        self.two = HashingVectorizer(**ANALYZERS[analyzer], n_jobs=2)
        self.peer = Peer(**ANALYZERS[analyzer])

    def time_transform(self, source, analyzer):
        self.ours.transform(self.texts)

    def peakmem_transform(self, source, analyzer):
        self.ours.transform(self.texts)

    def track_megabytes_a_second(self, source, analyzer):
        (seconds,) = fastest(lambda: self.ours.transform(self.texts))
        return megabytes(self.texts) / seconds

    def track_ratio_to_scikit_learn(self, source, analyzer):
        some = self.texts[:: max(1, len(self.texts) // 2000)]  # enough for it
        return ratio(lambda: self.peer.transform(some), lambda: self.ours.transform(some))

    def track_ratio_of_two_threads(self, source, analyzer):
        return ratio(
            lambda: self.ours.transform(self.texts), lambda: self.two.transform(self.texts)
        )

    track_megabytes_a_second.unit = "MB/s"
    track_ratio_to_scikit_learn.unit = "times faster"
    track_ratio_of_two_threads.unit = "times faster"


class Bytes:
    params = ([*SCRIPTS, *FILES], [(1, 1), (3, 3), (1, 3), (5, 5)])
    param_names = ("texts", "ngram_range")

    def setup(self, source, ngram_range):
        self.texts = texts_of(source)
        self.map = ByteNgrams(ngram_range=ngram_range)

    def time_transform(self, source, ngram_range):
        self.map.transform(self.texts)

    def track_megabytes_a_second(self, source, ngram_range):
        (seconds,) = fastest(lambda: self.map.transform(self.texts))
        return megabytes(self.texts) / seconds

    track_megabytes_a_second.unit = "MB/s"
