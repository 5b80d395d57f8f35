"""Each map in plain NumPy, implemented from its definition, for comparison with the kernels.

Random numbers are functions of key, column and component, implemented independently of the kernels.
"""

from itertools import pairwise

import numpy as np
from scipy import special

U64 = np.uint64
F32 = np.float32


def mix64(x):
    x = np.asarray(x, U64)
    x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
    return x ^ (x >> U64(31))


def words(key, columns, counters):
    """Return random words, one row per column and one column per counter."""
    start = mix64(U64(key) ^ mix64(columns))
    steps = (np.asarray(counters, U64) + U64(1)) * U64(0x9E3779B97F4A7C15)
    return mix64(start[:, None] + steps[None, :])


# ---- count sketch --------------------------------------------------------------------------------


def hashes(key, columns, n_buckets):
    """Return the buckets and signs of columns."""
    mixed = mix64(columns)
    low = U64(0xFFFFFFFF)
    h = (key[0] + (mixed >> U64(32))) * (key[1] + (mixed & low)) + key[2]
    buckets = ((h >> U64(32)) * U64(n_buckets)) >> U64(32)
    signs = 1.0 - 2.0 * ((h >> U64(31)) & U64(1)).astype(float)
    return buckets.astype(np.int64), signs


def count_sketch(key, columns, values, n_components):
    """Return the sketch of one row."""
    buckets, signs = hashes(key, columns, n_components)
    out = np.zeros(n_components, values.dtype)
    np.add.at(out, buckets, (signs * values).astype(values.dtype))
    return out


# ---- tensor sketch -------------------------------------------------------------------------------


def rows_of(X):
    """Yield (columns, values) for each row of a CSR matrix."""
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield X.indices[start:stop], X.data[start:stop]


def with_constant(row, value):
    """Return a row with an additional entry, in a column that no matrix has."""
    columns, values = row
    constant = np.array([2**64 - 1], U64)
    return np.append(columns.astype(U64), constant), np.append(values, values.dtype.type(value))


def tensor_sketch(keys, columns, values, n_components):
    """Return the sketch of one row, factor by factor: a circular convolution of sums over all
    entries."""
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
    """Return r, c and beta of Ioffe's algorithm, float32 arrays of shape (columns, n_hashes)."""
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


def _pair_multiply(key, x):
    """Return the upper half of pair-multiply-shift for each word."""
    low = U64(0xFFFFFFFF)
    return ((key[0] + (x >> U64(32))) * (key[1] + (x & low)) + key[2]) >> U64(32)


def sample_codes(key, i, t, bits, t_bits):
    """Return the codes of samples (i*, t*), one column per sample."""
    step = U64(0x9E3779B97F4A7C15)
    counters = np.arange(1, 6 * i.shape[1] + 1, dtype=U64)
    keys = mix64(U64(key) + counters * step).reshape(-1, 6).T
    columns = mix64(i.astype(U64))
    of_column = _pair_multiply(keys[:3], columns) & U64(2**bits - 1)
    of_pair = _pair_multiply(keys[3:], columns + t.astype(U64) * step) & U64(2**t_bits - 1)
    return (of_column | of_pair << U64(bits)).astype(np.int64)


def pair_codes(key, i, t, bits):
    """Return the codes of samples, whose bits all come from a hash of (i*, t*)."""
    counters = np.arange(1, 6 * i.shape[1] + 1, dtype=U64)
    keys = mix64(U64(key) + counters * STEP).reshape(-1, 6).T
    pairs = mix64(i.astype(U64)) + t.astype(U64) * STEP
    return (_pair_multiply(keys[:3], pairs) & U64(2**bits - 1)).astype(np.int64)


def icws(columns, weights, r, c, beta):
    """Return (i*, t*) of one row, for the parameters of its columns."""
    log_weights = np.log(weights.astype(float)).astype(F32)[:, None]
    t = np.floor(log_weights * (F32(1) / r) + beta)
    log_a = (log_f32(c) + r * (beta - F32(1))) - r * t
    best = np.argmin(log_a, axis=0)
    samples = np.arange(r.shape[1])
    return np.asarray(columns)[best], t[best, samples].astype(np.int64)


def min_max(u, v):
    """Return the exact min-max kernel of two dense vectors."""
    return np.minimum(u, v).sum() / np.maximum(u, v).sum()


# ---- random Maclaurin features -------------------------------------------------------------------


def rademacher(key, columns, n_projections):
    """Return signs, one row per column of the matrix and one column per projection."""
    bits = words(key, columns, np.arange((n_projections + 63) // 64))
    expanded = (bits[:, :, None] >> np.arange(64, dtype=U64)) & U64(1)
    expanded = expanded.reshape(len(columns), bits.shape[1] * 64)
    return 1.0 - 2.0 * expanded[:, :n_projections].astype(float)


def random_maclaurin(key, columns, values, factors, firsts):
    """Return the features of one row: products of its projections."""
    signs = rademacher(key, columns, firsts[-1])
    sums = np.zeros(firsts[-1], values.dtype)
    for sign, value in zip(signs, values, strict=True):
        sums = sums + (sign * value).astype(values.dtype)
    out = np.array(factors, values.dtype)
    for j, (start, stop) in enumerate(pairwise(firsts)):
        for projection in sums[start:stop]:
            out[j] = out[j] * projection
    return out


# ---- projections ---------------------------------------------------------------------------------


def small_sin_cos(a):
    z = a * a
    s = F32(-1.9515295891e-4)
    for c in (8.3321608736e-3, -1.6666654611e-1):
        s = s * z + F32(c)
    c = F32(2.443315711809948e-5)
    for d in (-1.388731625493765e-3, 4.166664568298827e-2):
        c = c * z + F32(d)
    return a + a * (z * s), F32(1) - F32(0.5) * z + z * (z * c)


def sin_cos_of_word(angle):
    quarter = (angle + np.uint32(0x20000000)) >> np.uint32(30)
    rest = (angle << np.uint32(2)).view(np.int32).astype(F32) * F32(3.6572951981e-10)
    s, c = small_sin_cos(rest)
    swap = (quarter & np.uint32(1)).astype(bool)
    sine, cosine = np.where(swap, c, s), np.where(swap, s, c)
    sine = np.where(quarter & np.uint32(2), -sine, sine)
    return sine, np.where((quarter + np.uint32(1)) & np.uint32(2), -cosine, cosine)


def long_uniform(half):
    return ((half >> np.uint32(1)) | np.uint32(1)).astype(F32) * F32(2**-31)


def normal_pieces():
    """Return, for each e, the polynomial in r / 2^e - 3/2 that interpolates the quantile function
    at Chebyshev nodes. A rank that is rounded to 2^31 has quantile 0."""
    nodes = np.cos(np.pi * (2 * np.arange(6) + 1) / 12) / 2
    pieces = np.zeros((32, 6))
    for e in range(1, 31):
        quantiles = -special.ndtri((1.5 + nodes) * 2.0 ** (e - 31) / 2)
        pieces[e] = np.polynomial.Polynomial.fit(nodes, quantiles, 5, domain=[-1, 1]).coef
    return pieces.astype(F32)


def normal(half):
    rank = ((half & np.uint32(0x7FFFFFFF)) | np.uint32(2)).astype(F32)
    fraction, exponent = np.frexp(rank)
    pieces = normal_pieces()[exponent - 1]
    p = pieces[..., 5]
    for d in range(4, -1, -1):
        p = p * (F32(2) * fraction - F32(1.5)) + pieces[..., d]
    return np.where(half >> np.uint32(31), -p, p)


def quantile(half, quantiles):
    """Interpolate linearly between two of the quantiles at the middles of 2^16 parts."""
    below = (half >> np.uint32(16)) + (half >> np.uint32(15) & np.uint32(1))
    part = ((half + np.uint32(2**15)) & np.uint32(2**16 - 1)).astype(F32) * F32(2**-16)
    part = part + F32(2**-17)
    return quantiles[below] + part * (quantiles[below + 1] - quantiles[below])


def draws(key, columns, n_projections, distribution, quantiles=None):
    """Return the entries of the random vectors, one row per column of the matrix."""
    if distribution == "rademacher":
        return rademacher(key, columns, n_projections).astype(F32)
    n_tiles = (n_projections + 63) // 64
    w = words(key, columns, np.arange(32 * n_tiles)).reshape(len(columns), n_tiles, 32)
    high, low = (w >> U64(32)).astype(np.uint32), w.astype(np.uint32)
    if distribution == "normal":
        tiles = normal(np.stack([low, high], axis=3))
    else:
        halves = np.concatenate([high, low], axis=2)
        if distribution == "cauchy":
            sine, cosine = sin_cos_of_word(halves | np.uint32(1))
            tiles = sine / cosine
        elif distribution == "quantiles":
            tiles = quantile(halves, quantiles)
        else:
            tiles = -log_f32(long_uniform(halves))
            tiles = np.where(halves & np.uint32(1), -tiles, tiles)
    return tiles.reshape(len(columns), 64 * n_tiles)[:, :n_projections]


def project(key, columns, values, n_projections, distribution, quantiles=None):
    """Return the projections of one row, added in the order of columns and in the precision of the
    values."""
    sums = np.zeros(n_projections, values.dtype)
    for entries, value in zip(
        draws(key, columns, n_projections, distribution, quantiles), values, strict=True
    ):
        sums = sums + value * entries.astype(values.dtype)
    return sums


# ---- MinHash -------------------------------------------------------------------------------------


def minhash(key, columns, n_hashes):
    """Return the member of a set that each bin samples, by definition: values are compared as whole
    numbers, and ties are broken by column."""
    columns = np.sort(np.asarray(columns))
    position_bits = len(columns).bit_length()
    samples = [None] * n_hashes
    for t in range(2 * n_hashes):
        word = words(key, columns, [t - 1])[:, 0] if t else mix64(U64(key) ^ mix64(columns))
        product = (word >> U64(32)) * U64(n_hashes)
        value = ((product << U64(32)) | (word & U64(0xFFFFFFFF))) >> U64(1)
        bins = product >> U64(32)
        if t >= n_hashes:
            value, bins = word >> U64(1), np.full(len(columns), t - n_hashes)
        best = {}
        for column, number, size in zip(columns, bins.tolist(), value.tolist(), strict=True):
            candidate = (size >> position_bits, int(column))
            if samples[number] is None and candidate < best.get(number, (2**64, 0)):
                best[number] = candidate
        for number, (_, column) in best.items():
            samples[number] = column
        if None not in samples:
            return np.array(samples)
    raise AssertionError("round k + j fills bin j")


def minhash_codes(key, samples, bits):
    """Return a hash of each sample, with another function for each bin."""
    steps = np.arange(len(samples), dtype=U64) * U64(0x9E3779B97F4A7C15)
    return mix64((U64(key) + steps) ^ mix64(samples)) & U64(2**bits - 1)


# ---- samples of whole levels ---------------------------------------------------------------------

STEP = U64(0x9E3779B97F4A7C15)
LEVEL_STEP = U64(0xD1342543DE82EF95)
FIRST_LEVELS = 16
"""Lower levels are not in blocks."""
QUARTER = U64(2**60)
"""A quarter of the values of the first round."""


def level_starts(key, columns, levels):
    """Return the starting words of pairs (column, level)."""
    start = mix64(U64(key) ^ mix64(columns))
    levels = np.asarray(levels, U64)
    return np.where(levels == 0, start, mix64(start + levels * LEVEL_STEP))


def level_counts(key, columns, values, resolution=1.0):
    """Return whole levels of values. A fraction of a level is rounded at random, in the same way
    for all rows."""
    levels = np.asarray(values, float) * resolution
    whole = np.floor(levels)
    word = mix64(level_starts(key, columns, whole) - STEP)
    rounded_up = (word >> U64(33)).astype(float) + 0.5 < (levels - whole) * 2.0**31
    return whole.astype(np.int64) + rounded_up


def _exponentials(words):
    logs = -log_f32(
        ((~words >> U64(40)).astype(np.uint32) | np.uint32(1)).astype(F32) * F32(2**-24)
    )
    u = ((words >> U64(33)).astype(float) + 0.5) * 2.0**-31
    p = np.full_like(u, 1 / 6)
    for n in (5, 4, 3, 2):
        p = p * u + 1 / n
    return np.where(u < 2.0**-6, u + p * (u * u), logs.astype(float))


def _values_of_times(t):
    p = np.full_like(t, 1 / special.factorial(12))
    for n in range(11, 1, -1):
        p = 1 / special.factorial(n) - p * t
    return ((t - p * (t * t)) * 2.0**62).astype(U64)


def _block_values(key, column, bits):
    """Return the least value of each level of a block that has a point below -ln(3/4); other levels
    are omitted."""
    words = level_starts(key, np.array([column]), [2**32 + bits])
    times = np.zeros(0)
    n = 64 + 2**bits // 2
    while not len(times) or times[-1] < -np.log(0.75):
        n *= 2
        drawn = mix64(words + np.arange(n, dtype=U64) * STEP)
        drawn[:1] = words
        times = np.cumsum(_exponentials(drawn) * 2.0**-bits)
    below = times < 0.28768207245178096
    levels = 2**bits + ((drawn[below] & U64(2**32 - 1)) >> U64(32 - bits)).astype(np.int64)
    levels, first = np.unique(levels, return_index=True)
    return levels, _values_of_times(times[below][first])


def _round(number):
    word = mix64(np.array([number], U64) * STEP)
    return word << U64(32) | word >> U64(32), word | U64(1)


def level_samples(key, columns, counts, n_hashes):
    """Return (i*, t*) of a row with the given numbers of levels per column, by definition."""
    columns, counts = np.asarray(columns), np.asarray(counts)
    entries = np.repeat(np.arange(len(columns)), counts)
    firsts = np.repeat(np.cumsum(counts) - counts, counts)
    levels = np.arange(len(entries)) - firsts
    starts = level_starts(key, columns[entries], levels)
    chosen = np.full(n_hashes, -1)
    for number in range(1 + n_hashes // 64):
        flip, factor = _round(number) if number else (U64(0), U64(1))
        words = (starts ^ flip) * factor
        product = (words >> U64(32)) * U64(n_hashes)
        bins = (product >> U64(32)).astype(np.int64)
        values = (product << U64(32) | (words & U64(2**32 - 1))) >> U64(2)
        if number == 0:
            high = levels >= FIRST_LEVELS
            values[high] = QUARTER + U64(3) * (values[high] >> U64(2))
            for entry in np.flatnonzero(counts > FIRST_LEVELS):
                for bits in range(4, int(counts[entry] - 1).bit_length()):
                    found, of_found = _block_values(key, columns[entry], bits)
                    own = found < counts[entry]
                    values[firsts[entries == entry][0] + found[own]] = of_found[own]
        order = np.lexsort((values, bins))
        filled, first = np.unique(bins[order], return_index=True)
        is_new = chosen[filled] < 0
        chosen[filled[is_new]] = order[first[is_new]]
        if (chosen >= 0).all():
            break
    for j in np.flatnonzero(chosen < 0):
        flip, factor = _round(1 + n_hashes // 64 + j)
        chosen[j] = np.argmin((starts ^ flip) * factor)
    return columns[entries[chosen]], levels[chosen]
