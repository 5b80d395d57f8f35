"""MinHash of sets against datasketch and rensa, which hash lists of tokens, and against
FastSketchLSH, which takes CSR like ours."""

import numpy as np
import scipy.sparse as sp

from sparsemaps import MinHash

from .common import ratio

# (members of a set, n_hashes): the sets are disjoint.
SETS = [(100, 512), (1_000, 512), (3_700, 512), (1_000, 128)]


def sets(n_members, n_rows):
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, 2**31 - 1, (n_rows, n_members)), axis=1)
    X = sp.csr_array(
        (np.ones(columns.size), columns.ravel(), np.arange(n_rows + 1) * n_members),
        shape=(n_rows, 2**31 - 1),
    )
    X.sum_duplicates()
    return X


class Sets:
    params = (SETS,)
    param_names = ("members, n_hashes",)

    def setup(self, size):
        n_members, self.n_hashes = size
        self.X = sets(n_members, max(100, 400_000 // n_members))
        self.map = MinHash(n_hashes=self.n_hashes, random_state=0).fit(self.X)
        ends = zip(self.X.indptr[:-1], self.X.indptr[1:], strict=True)
        # As their users have them: bytes for datasketch, which hashes them, and strings for rensa.
        self.columns = [self.X.indices[start:stop].tolist() for start, stop in ends]
        self.bytes = [[column.to_bytes(4, "little") for column in row] for row in self.columns]
        self.strings = [[str(column) for column in row] for row in self.columns]

    def ours(self):
        self.map.encode(self.X)

    def datasketchs(self):
        from datasketch import MinHash as Peer

        for row in self.bytes:
            Peer(num_perm=self.n_hashes, seed=1).update_batch(row)

    def rensas(self):
        from rensa import RMinHash

        for row in self.strings:
            peer = RMinHash(num_perm=self.n_hashes, seed=1)
            peer.update(row)
            peer.digest()

    def time_encode(self, size):
        self.ours()

    def peakmem_encode(self, size):
        self.ours()

    def track_ratio_datasketch(self, size):
        return ratio(self.datasketchs, self.ours)

    def track_ratio_rensa(self, size):
        return ratio(self.rensas, self.ours)

    track_ratio_datasketch.unit = track_ratio_rensa.unit = "times faster"


class SetsInCsr:
    """From small sets to large ones, one thread."""

    params = ([(20, 128), (3_700, 128), (20_000, 128), (20_000, 512), (200_000, 512)],)
    param_names = ("members, n_hashes",)

    def setup(self, size):
        from FastSketchLSH import FastSimilaritySketch

        n_members, n_hashes = size
        self.X = sets(n_members, max(4, 400_000 // n_members))
        self.map = MinHash(n_hashes=n_hashes, random_state=0).fit(self.X)
        self.peer = FastSimilaritySketch(n_hashes, 1)
        self.columns, self.ends = self.X.indices.astype("u4"), self.X.indptr.astype("u8")

    def ours(self):
        self.map.encode(self.X)

    def fastsketchlshs(self):
        self.peer.batch_csr(self.columns, self.ends, False, 1)

    def time_encode(self, size):
        self.ours()

    def track_ratio_fastsketchlsh(self, size):
        return ratio(self.fastsketchlshs, self.ours)

    track_ratio_fastsketchlsh.unit = "times faster"
