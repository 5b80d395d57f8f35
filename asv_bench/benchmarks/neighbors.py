"""Search in packed codes against faiss (nearest rows) and datasketch and rensa (pairs)."""

import time

import numpy as np
import scipy.sparse as sp

from sparsemaps import MinHash, codes, neighbors
from sparsemaps.text import HashingVectorizer

from . import text
from .common import ratio

N_QUERIES = 200


class TopK:
    params = ([64, 128, 512, 1024],)
    param_names = ("bits of a row",)

    def setup(self, n_bits):
        rng = np.random.default_rng(0)
        self.A = rng.integers(0, 256, (100_000, n_bits // 8), dtype=np.uint8)
        self.Q = rng.integers(0, 256, (N_QUERIES, n_bits // 8), dtype=np.uint8)

    def ours(self):
        neighbors.top_k(self.Q, self.A, 10, bits=1)

    def time_top_k(self, n_bits):
        self.ours()

    def peakmem_top_k(self, n_bits):
        self.ours()

    def track_ratio_faiss(self, n_bits):
        import faiss

        faiss.omp_set_num_threads(1)
        index = faiss.IndexBinaryFlat(n_bits)
        index.add(self.A)
        return ratio(lambda: index.search(self.Q, 10), self.ours)

    def track_ratio_simsimd_hamming(self, n_bits):
        import simsimd

        A = self.A[:20_000]
        return ratio(
            lambda: simsimd.cdist(self.Q, A, "hamming", dtype="bin8"),
            lambda: codes.hamming(self.Q, A),
        )

    track_ratio_faiss.unit = track_ratio_simsimd_hamming.unit = "times faster"


class Collisions:
    """Codes of 8 bits take about the time of the same number of single bits."""

    def track_ratio_hamming(self):
        A = np.random.default_rng(0).integers(0, 256, (2_000, 256), dtype=np.uint8)
        return ratio(lambda: codes.collisions(A, A, 8), lambda: codes.hamming(A, A))

    track_ratio_hamming.unit = "of the time of hamming"


def families(n_rows, n_members=100, width=2**31 - 1):
    """Sets half of which are modified copies of others."""
    rng = np.random.default_rng(0)
    rows = [np.unique(rng.integers(0, width, n_members)) for _ in range(n_rows // 2)]
    while len(rows) < n_rows:
        members = rows[rng.integers(n_rows // 2)].copy()
        changed = rng.random(len(members)) < rng.choice([0.01, 0.05, 0.1, 0.3])
        members[changed] = rng.integers(0, width, changed.sum())
        rows.append(np.unique(members))
    indptr = np.cumsum([0] + [len(row) for row in rows])
    return sp.csr_array((np.ones(indptr[-1]), np.concatenate(rows), indptr), (n_rows, width))


class Pairs:
    """From CSR to verified pairs, at a threshold of 0.8 and a recall of 0.95."""

    params = ([5_000, 200_000],)
    param_names = ("sets",)
    timeout = 1800

    def setup(self, n_rows):
        self.X = families(n_rows)
        self.often = {} if n_rows < 100_000 else {"repeats": 1, "seconds": 0}
        self.map = MinHash(n_hashes=256, random_state=0).fit(self.X)
        ends = zip(self.X.indptr[:-1], self.X.indptr[1:], strict=True)
        self.rows = [self.X.indices[start:stop].tolist() for start, stop in ends]

    def ours(self):
        return neighbors.similar_pairs(self.map.encode(self.X, packed=True), 0.8)

    def datasketchs(self):
        from datasketch import MinHash as Peer
        from datasketch import MinHashLSH

        index = MinHashLSH(threshold=0.8, num_perm=256, weights=(0.1, 0.9))
        hashes = []
        for number, row in enumerate(self.rows):
            peer = Peer(num_perm=256, seed=1)
            peer.update_batch([column.to_bytes(4, "little") for column in row])
            index.insert(number, peer)
            hashes.append(peer)
        return self.verified(index, hashes)

    def rensas(self):
        from rensa import RMinHash, RMinHashLSH

        index = RMinHashLSH(threshold=0.8, num_perm=256, num_bands=32)
        hashes = []
        for number, row in enumerate(self.rows):
            peer = RMinHash(num_perm=256, seed=1)
            peer.update([str(column) for column in row])
            index.insert(number, peer)
            hashes.append(peer)
        return self.verified(index, hashes)

    def verified(self, index, hashes):
        return {
            (i, j)
            for i, peer in enumerate(hashes)
            for j in index.query(peer)
            if i < j and peer.jaccard(hashes[j]) >= 0.8
        }

    def time_pairs(self, n_rows):
        self.ours()

    def peakmem_pairs(self, n_rows):
        self.ours()

    def track_ratio_datasketch(self, n_rows):
        return ratio(self.datasketchs, self.ours, **self.often)

    def track_ratio_rensa(self, n_rows):
        return ratio(self.rensas, self.ours, **self.often)

    def track_recall(self, n_rows):
        found = len(self.ours()[0])
        return found / len(
            neighbors.similar_pairs(self.map.encode(self.X, packed=True), 0.8, recall=1)[0]
        )

    track_ratio_datasketch.unit = track_ratio_rensa.unit = "times faster"
    track_recall.unit = "of all pairs"


def chain(n_rows, n_codes=64, step=6):
    """Codes in which each row is similar to its two neighbours, and to few others."""
    rng = np.random.default_rng(0)
    codes = np.empty((n_rows, n_codes), np.uint8)
    row = rng.integers(0, 256, n_codes, np.uint8)
    for number in range(n_rows):
        row[(np.arange(step) + step * number) % n_codes] = rng.integers(0, 256, step)
        codes[number] = row
    return codes


def family(n_rows, n_codes=64):
    """Codes of near copies of one row, most of them similar to one another."""
    rng = np.random.default_rng(0)
    codes = np.tile(rng.integers(0, 256, n_codes, np.uint8), (n_rows, 1))
    is_new = rng.random(codes.shape) < 0.05
    codes[is_new] = rng.integers(0, 256, int(is_new.sum()))
    return codes


class Removals:
    """Removal of rows that are similar to many others: each to the next two, or all to all."""

    params = (["chain", "family"], [1_000, 100_000])
    param_names = ("rows", "number")
    timeout = 600

    def setup(self, name, n_rows):
        array = {"chain": chain, "family": family}[name](n_rows)
        self.codes = codes.PackedCodes(array, 8, {})

    def kept(self):
        return neighbors.removals(self.codes, 0.8).removed

    def time_kept(self, name, n_rows):
        self.kept()

    def peakmem_kept(self, name, n_rows):
        self.kept()

    def track_removed_by_kept(self, name, n_rows):
        return len(self.kept()) / n_rows

    track_removed_by_kept.unit = "of the rows"


def texts_with_copies(n_texts=5_000):
    """Texts half of which are others with some words changed."""
    rng = np.random.default_rng(0)
    texts = text.texts_of(text.FILES[0]) if text.FILES else text.made("ASCII", n_texts // 2)
    words = [one.split() for one in texts[: n_texts // 2]]
    for one in words[: n_texts - len(words)]:
        changed = rng.random(len(one)) < rng.choice([0, 0.02, 0.1])
        words.append([w + "x" if c else w for w, c in zip(one, changed, strict=True)])
    return [" ".join(words[row]) for row in rng.permutation(len(words))]


class InsertNew:
    """The loop "insert if new" over raw texts, by word 3-grams, at a similarity of 0.8."""

    params = ([1, 1_000],)
    param_names = ("texts a call",)
    timeout = 1800

    def setup(self, step):
        self.step = step
        self.texts = texts_with_copies()

    def ours(self):
        vectorizer = HashingVectorizer(
            token_pattern=r"\S+",
            ngram_range=(3, 3),
            binary=True,
            norm=None,
            alternate_sign=False,
            n_features=2**31 - 2,
        )
        index = neighbors.KernelNeighbors(MinHash(random_state=0), radius=0.2)
        return sum(
            index.insert_new(
                vectorizer.transform(self.texts[start : start + self.step]), threshold=0.8
            ).sum()
            for start in range(0, len(self.texts), self.step)
        )

    def datasketchs(self):
        from datasketch import MinHash as Peer
        from datasketch import MinHashLSH

        index = MinHashLSH(threshold=0.8, num_perm=256, weights=(0.1, 0.9))
        for number, ngrams in enumerate(map(ngrams_of, self.texts)):
            peer = Peer(num_perm=256, seed=1)
            peer.update_batch([ngram.encode() for ngram in ngrams])
            if not index.query(peer):
                index.insert(number, peer)

    def rensas(self):
        from rensa import RMinHash, RMinHashLSH

        index = RMinHashLSH(threshold=0.8, num_perm=256, num_bands=32)
        for number, ngrams in enumerate(map(ngrams_of, self.texts)):
            peer = RMinHash(num_perm=256, seed=1)
            peer.update(ngrams)
            if not index.query(peer):
                index.insert(number, peer)

    def time_insert_new(self, step):
        self.ours()

    def peakmem_insert_new(self, step):
        self.ours()

    def track_ratio_datasketch(self, step):
        return ratio(self.datasketchs, self.ours)

    def track_ratio_rensa(self, step):
        return ratio(self.rensas, self.ours)

    track_ratio_datasketch.unit = track_ratio_rensa.unit = "times faster"


def ngrams_of(one):
    words = one.lower().split()
    return [" ".join(words[start : start + 3]) for start in range(len(words) - 2)]


class KeptIndex:
    """Rows that are queried and inserted one by one and in blocks, for several numbers of rows."""

    params = ([10_000, 1_000_000], [1, 1_000])
    param_names = ("rows", "rows a call")
    timeout = 1800

    def setup(self, n_rows, step):
        rng = np.random.default_rng(0)
        columns = rng.integers(0, 2**31 - 1, (n_rows + 200 * step, 100))
        columns.sort(axis=1)
        indptr = np.arange(len(columns) + 1) * 100
        shape = len(columns), 2**31 - 1
        X = sp.csr_array((np.ones(columns.size), columns.ravel(), indptr), shape)
        self.index = neighbors.KernelNeighbors(MinHash(n_hashes=64, random_state=0), radius=0.2)
        self.index.fit(X[:n_rows]).insert_new(X[:1], threshold=0.8)  # makes the tables
        self.blocks = [X[start : start + step] for start in range(n_rows, len(columns), step)]

    def track_microseconds_a_row(self, n_rows, step):
        began = time.perf_counter()
        for block in self.blocks:
            self.index.insert_new(block, threshold=0.8)
        return (time.perf_counter() - began) / len(self.blocks) / step * 1e6

    track_microseconds_a_row.unit = "microseconds"
