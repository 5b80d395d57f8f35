"""Packed codes of any width and content, against Python's integers."""

import numpy as np
from common import atheris, run, sparsemaps


def by_python(row, bits):
    word = int.from_bytes(row.tobytes(), "little")
    return [word >> bits * j & (1 << bits) - 1 for j in range(8 * len(row) // bits)]


def target(data):
    data = atheris.FuzzedDataProvider(data)
    bits, width = data.ConsumeIntInRange(1, 24), data.ConsumeIntInRange(3, 40)
    raw = np.frombuffer(data.ConsumeBytes(6 * width), np.uint8)
    A = raw[: len(raw) // width * width].reshape(-1, width)
    if not len(A):
        return
    expected = np.array([by_python(row, bits) for row in A])
    unpacked = np.asarray(sparsemaps.codes.unpack(A, bits))
    np.testing.assert_array_equal(unpacked[:, : expected.shape[1]], expected)
    hamming = np.unpackbits(A[:, None] ^ A[None], axis=2).sum(axis=2)
    np.testing.assert_array_equal(sparsemaps.codes.hamming(A, A), hamming)
    if bits in (1, 2, 4, 8, 16) and not width % 2:
        agree = (expected[:, None] == expected[None]).sum(axis=2)
        np.testing.assert_array_equal(sparsemaps.codes.collisions(A, A, bits), agree)


if __name__ == "__main__":
    run(target)
