"""Each map in plain NumPy, as its definition reads: what the kernels are compared with.

`rng`-like arguments do not exist here either: random numbers are functions of key, column and
component, written out a second time.
"""

from itertools import pairwise

import numpy as np

U64 = np.uint64
F32 = np.float32


def mix64(x):
    x = np.asarray(x, U64)
    x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
    return x ^ (x >> U64(31))


def words(key, columns, counters):
    """Random words, one row for each column and one column for each counter."""
    start = mix64(U64(key) ^ mix64(columns))
    steps = (np.asarray(counters, U64) + U64(1)) * U64(0x9E3779B97F4A7C15)
    return mix64(start[:, None] + steps[None, :])


# ---- count sketch --------------------------------------------------------------------------------


def hashes(key, columns, n_buckets):
    """Buckets and signs of columns."""
    mixed = mix64(columns)
    low = U64(0xFFFFFFFF)
    h = (key[0] + (mixed >> U64(32))) * (key[1] + (mixed & low)) + key[2]
    buckets = ((h >> U64(32)) * U64(n_buckets)) >> U64(32)
    signs = 1.0 - 2.0 * ((h >> U64(31)) & U64(1)).astype(float)
    return buckets.astype(np.int64), signs


def count_sketch(key, columns, values, n_components):
    """Sketch of one row."""
    buckets, signs = hashes(key, columns, n_components)
    out = np.zeros(n_components, values.dtype)
    np.add.at(out, buckets, (signs * values).astype(values.dtype))
    return out


# ---- tensor sketch -------------------------------------------------------------------------------


def rows_of(X):
    """(columns, values) of each row of a CSR matrix."""
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield X.indices[start:stop], X.data[start:stop]


def with_constant(row, value):
    """A row with one more coordinate, of the column that no matrix has."""
    columns, values = row
    constant = np.array([2**64 - 1], U64)
    return np.append(columns.astype(U64), constant), np.append(values, values.dtype.type(value))


def tensor_sketch(keys, columns, values, n_components):
    """Sketch of one row, factor by factor: a circular convolution of sums over all entries."""
    out = np.zeros(n_components, values.dtype)
    out[0] = 1
    for key in keys:
        buckets, signs = hashes(key, columns, n_components)
        out = sum(
            (np.roll(out, bucket) * values.dtype.type(sign * value)
             for bucket, sign, value in zip(buckets, signs, values, strict=True)),
            start=np.zeros_like(out),
        )  # fmt: skip
    return out


# ---- consistent weighted sampling ----------------------------------------------------------------


def log_f32(x):
    bits = np.asarray(x, F32).view(np.uint32) - np.uint32(0x3F3504F3)
    e = (bits.view(np.int32) >> 23).astype(F32)
    m = ((bits & np.uint32(0x007FFFFF)) + np.uint32(0x3F3504F3)).view(F32) - F32(1)
    square = m * m
    p = np.full_like(m, F32(0.08700437098741531))
    for c in (
        -0.14267487823963165,
        0.14914767444133759,
        -0.1657758504152298,
        0.19963063299655914,
        -0.2500133812427521,
        0.3333390951156616,
    ):
        p = p * m + F32(c)
    p = square * (m * p) - F32(0.5) * square
    return e * F32(0.693359375) + (m + (p + e * F32(-2.12194440e-4)))


def icws_parameters(key, columns, n_hashes):
    """r, c, beta of Ioffe's algorithm, each (columns, n_hashes) float32."""
    w = words(key, columns, np.arange(2 * n_hashes))
    high, low = (w >> U64(32)).astype(np.uint32), w.astype(np.uint32)

    def uniform(half):
        return ((half >> np.uint32(8)) | np.uint32(1)).astype(F32) * F32(2**-24)

    first, second = slice(0, None, 2), slice(1, None, 2)
    r = -log_f32(uniform(high[:, first]) * uniform(low[:, first]))
    c = -log_f32(uniform(high[:, second]) * uniform(low[:, second]))
    byte = np.uint32(0xFF)
    spare = (
        (high[:, first] & byte) << np.uint32(16)
        | (high[:, second] & byte) << np.uint32(8)
        | (low[:, first] & byte)
    )
    beta = spare.astype(F32) * F32(2**-24)
    return np.maximum(r, F32(2**-20)), c, beta


def icws(columns, weights, r, c, beta):
    """(i*, t*) of one row, for the parameters of its columns."""
    log_weights = np.log(weights.astype(float)).astype(F32)[:, None]
    t = np.floor(log_weights * (F32(1) / r) + beta)
    log_a = (log_f32(c) + r * (beta - F32(1))) - r * t
    best = np.argmin(log_a, axis=0)
    samples = np.arange(r.shape[1])
    return np.asarray(columns)[best], t[best, samples].astype(np.int64)


def min_max(u, v):
    """Exact min-max kernel of two dense vectors."""
    return np.minimum(u, v).sum() / np.maximum(u, v).sum()


# ---- random Maclaurin features -------------------------------------------------------------------


def rademacher(key, columns, n_projections):
    """Signs, one row for each column of the matrix and one column for each projection."""
    bits = words(key, columns, np.arange((n_projections + 63) // 64))
    expanded = (bits[:, :, None] >> np.arange(64, dtype=U64)) & U64(1)
    expanded = expanded.reshape(len(columns), bits.shape[1] * 64)
    return 1.0 - 2.0 * expanded[:, :n_projections].astype(float)


def random_maclaurin(key, columns, values, factors, firsts):
    """Features of one row: products of its projections."""
    signs = rademacher(key, columns, firsts[-1])
    sums = np.zeros(firsts[-1], values.dtype)
    for sign, value in zip(signs, values, strict=True):
        sums = sums + (sign * value).astype(values.dtype)
    out = np.array(factors, values.dtype)
    for j, (start, stop) in enumerate(pairwise(firsts)):
        for projection in sums[start:stop]:
            out[j] = out[j] * projection
    return out
