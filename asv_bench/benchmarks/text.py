"""Raw texts to CSR, against scikit-learn's HashingVectorizer.

Texts are made from a seed. The environment variable ``SPARSEMAPS_TEXTS`` may name files of JSON
Lines with a field "text", plain or .xz, separated by colons, which are then also measured.
"""

import io
import json
import lzma
import os
from functools import lru_cache

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer as Peer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier
from sparsemaps.neighbors import similar_pairs
from sparsemaps.text import ByteNgrams, HashingVectorizer, IdfWeights, iter_records
from sparsemaps.text._analyzers import vectorizer_of

from .common import fastest, ratio

# Letters by script, and lengths of words.
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
    """Return texts of about 150 words, drawn from 5,000 words by Zipf's law."""
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
        some = self.texts[:: max(1, len(self.texts) // 2000)]  # a sufficient sample
        return ratio(lambda: self.peer.transform(some), lambda: self.ours.transform(some))

    def track_ratio_of_two_threads(self, source, analyzer):
        return ratio(
            lambda: self.ours.transform(self.texts), lambda: self.two.transform(self.texts)
        )

    track_megabytes_a_second.unit = "MB/s"
    track_ratio_to_scikit_learn.unit = "times faster"
    track_ratio_of_two_threads.unit = "times faster"


class Codes:
    """From texts in memory to codes of their sets: seconds, and the speedup over a matrix."""

    params = ([*SCRIPTS, *FILES], ["word:5", "char:5", "auto:5"])
    param_names = ("texts", "analyzer")
    timeout = 600

    def setup(self, source, analyzer):
        self.texts = made(source, 3000) if source in SCRIPTS else texts_of(source)
        self.vectorizer = vectorizer_of(analyzer, binary=True)
        self.minhash = MinHash(n_hashes=256, random_state=0).fit_any_width()

    def time_texts_to_codes(self, source, analyzer):
        self.minhash.encode_texts(self.vectorizer, self.texts, packed=True)

    def track_ratio_to_a_matrix(self, source, analyzer):
        return ratio(
            lambda: self.minhash.encode(self.vectorizer.transform(self.texts), packed=True),
            lambda: self.minhash.encode_texts(self.vectorizer, self.texts, packed=True),
        )

    track_ratio_to_a_matrix.unit = "times faster"


class Pairs:
    """From texts in memory to pairs of similar texts, by sets of three words and 256 hashes."""

    params = ([*SCRIPTS, *FILES],)
    param_names = ("texts",)
    timeout = 600

    def setup(self, source):
        self.texts = made(source, 3000) if source in SCRIPTS else texts_of(source)
        self.often = {"repeats": 2, "seconds": 1}

    def ours(self):
        vectorizer = HashingVectorizer(
            ngram_range=(3, 3),
            token_pattern=r"\S+",
            binary=True,
            norm=None,
            alternate_sign=False,
            n_features=2**31 - 2,
        )
        minhash = MinHash(n_hashes=256, random_state=0).fit_any_width()
        return similar_pairs(minhash.encode_texts(vectorizer, self.texts, packed=True), 0.8)

    def sets(self):
        """The input of both peers."""
        words = (text.lower().split() for text in self.texts)
        return [{" ".join(w[i : i + 3]) for i in range(len(w) - 2)} for w in words]

    def rensas(self):
        from rensa import RMinHash, RMinHashLSH

        digests = RMinHash.digest_matrix_from_token_sets(self.sets(), 256, 1)
        index = RMinHashLSH(threshold=0.8, num_perm=256, num_bands=32)
        return index.query_duplicate_flags_matrix_one_shot(digests)

    def datasketchs(self):
        from datasketch import MinHash as Hash
        from datasketch import MinHashLSH

        index = MinHashLSH(threshold=0.8, num_perm=256)
        sets = [[gram.encode() for gram in grams] for grams in self.sets()]
        hashes = Hash.bulk(sets, num_perm=256)
        for number, found in enumerate(hashes):
            index.insert(number, found)
        return [index.query(found) for found in hashes]

    def time_pairs(self, source):
        self.ours()

    def peakmem_pairs(self, source):
        self.ours()

    def track_ratio_rensa(self, source):
        return ratio(self.rensas, self.ours, **self.often)

    def track_ratio_datasketch(self, source):
        return ratio(self.datasketchs, self.ours, **self.often)

    track_ratio_rensa.unit = track_ratio_datasketch.unit = "times faster"


class Growth:
    """Time for twice the texts relative to the texts, and for a text of twice the length."""

    params = (list(ANALYZERS),)
    param_names = ("analyzer",)

    def setup(self, analyzer):
        self.ours = HashingVectorizer(**ANALYZERS[analyzer])
        self.texts = made("ASCII", 1000)
        self.text = " ".join(self.texts)

    def track_twice_the_texts(self, analyzer):
        return ratio(
            lambda: self.ours.transform(self.texts * 2), lambda: self.ours.transform(self.texts)
        )

    def track_twice_the_length(self, analyzer):
        twice = [self.text * 2]
        return ratio(lambda: self.ours.transform(twice), lambda: self.ours.transform([self.text]))

    track_twice_the_texts.unit = track_twice_the_length.unit = "times the time"


class Records:
    """Reading texts from JSON Lines and from lines of text."""

    params = ([*SCRIPTS, *FILES], ["jsonl", "txt"])
    param_names = ("texts", "format")

    def setup(self, source, format):
        lines = [
            json.dumps({"text": text}, ensure_ascii=False)
            if format == "jsonl"
            else " ".join(text.split())
            for text in texts_of(source)
        ]
        self.content = "".join(line + "\n" for line in lines).encode()

    def read(self, format):
        for _ in iter_records(io.BytesIO(self.content), format=format, batch_bytes=2**20):
            pass

    def time_records(self, source, format):
        self.read(format)

    def track_megabytes_a_second(self, source, format):
        (seconds,) = fastest(lambda: self.read(format))
        return len(self.content) / 1e6 / seconds

    track_megabytes_a_second.unit = "MB/s"


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


class WeightsOfWords:
    """IdfWeights against scikit-learn's TfidfTransformer, on counts of words."""

    def setup(self):
        words = HashingVectorizer(norm=None, alternate_sign=False)
        self.X = words.transform(made("ASCII", 2_000))
        self.weights = IdfWeights().fit(self.X)
        self.peer = TfidfTransformer(sublinear_tf=True, norm=None).fit(self.X)

    def time_count(self):
        self.weights.fit(self.X)

    def time_transform(self):
        self.weights.transform(self.X)

    def track_ratio_count(self):
        return ratio(lambda: self.peer.fit(self.X), lambda: self.weights.partial_fit(self.X))

    def track_ratio_transform(self):
        return ratio(lambda: self.peer.transform(self.X), lambda: self.weights.transform(self.X))

    track_ratio_count.unit = "times faster"
    track_ratio_transform.unit = "times faster"


class LabelOfOneText:
    """The label of one text of a given length by weighted n-grams: the additional time over counts,
    in percent."""

    params = (["word:1", "char:3", "auto:1"], [50, 1_000, 4_000, 16_000], [2, 16])
    param_names = ("analyzer", "characters", "levels")

    def setup(self, analyzer, n_characters, levels):
        texts = made("ASCII", 600)
        words = vectorizer_of(analyzer)
        self.plain, self.weighted = (
            KernelClassifier(
                ConsistentWeightedSampling(n_hashes=512, method="levels", random_state=0),
                vectorizer=vectorizer,
                max_iter=1,
                tol=1,
            ).fit(texts, np.arange(600) % 10)
            for vectorizer in (words, make_pipeline(words, IdfWeights(levels=levels)))
        )
        self.text = "".join(made("ASCII"))[:n_characters]

    def time_label(self, *_):
        self.weighted.predict([self.text])

    def track_percent_more(self, *_):
        return 100 * (
            ratio(
                lambda: self.weighted.predict([self.text]),
                lambda: self.plain.predict([self.text]),
                repeats=100,
            )
            - 1
        )

    track_percent_more.unit = "percent"
