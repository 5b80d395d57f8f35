"""Packed codes: all pairs of 512 bits against NumPy, files of codes against files of one-hot
features."""

from io import BytesIO

import numpy as np

from sparsemaps import codes, libsvm

from .common import ratio

N_ROWS = 1000
N_BYTES = 64


class Pairs:
    """With bits = 0, the Hamming distance."""

    params = ([0, 1, 2, 4, 8, 16],)
    param_names = ("bits",)

    def setup(self, bits):
        self.A = np.random.default_rng(0).integers(0, 256, (N_ROWS, N_BYTES), dtype=np.uint8)

    def ours(self, bits):
        return codes.collisions(self.A, self.A, bits) if bits else codes.hamming(self.A, self.A)

    def numpys(self, bits):
        if bits in (8, 16):
            wide = self.A.view(f"u{bits // 8}")
            return np.stack([(row == wide).sum(axis=1) for row in wide])
        words = self.A.view(np.uint64)
        return np.stack([np.bitwise_count(row ^ words).sum(axis=1) for row in words])

    def time_pairs(self, bits):
        self.ours(bits)

    def track_ratio_pairs(self, bits):
        """Codes of 2 and 4 bits against NumPy's Hamming distance, since NumPy has no direct way."""
        return ratio(lambda: self.numpys(bits), lambda: self.ours(bits))

    track_ratio_pairs.unit = "times faster"


class Files:
    """512 codes of 8 bits per row."""

    def setup(self):
        self.A = np.random.default_rng(0).integers(0, 256, (2_000, 512), dtype=np.uint8)
        self.y = np.ones(len(self.A))

    def ours(self):
        codes.dump_svmlight_file(self.A, self.y, BytesIO(), 8)

    def one_hot(self):
        libsvm.dump_svmlight_file(codes.to_csr(self.A, 8), self.y, BytesIO())

    def time_dump(self):
        self.ours()

    def track_ratio_dump(self):
        return ratio(self.one_hot, self.ours)

    track_ratio_dump.unit = "times faster"
