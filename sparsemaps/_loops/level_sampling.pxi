# Samples of whole levels: n_hashes samples (i*, t*) of each row, column and level.
#
# Input: canonical CSR arrays, in which `indptr` delimits the rows to map; two 64-bit keys, for the
# samples and for their codes; the power to which values are raised, and the number of levels per
# unit of the result.
# Output: samples, or their codes; -1 for a row without levels.
# Cost: O(entries + low levels + n_hashes log n_hashes) per row; few of the high levels are
# examined.
# Reference: Dahlgaard, Knudsen & Thorup, "Fast similarity sketching", FOCS 2017; Haveliwala, Gionis
# & Indyk, "Scalable techniques for clustering the web", WebDB 2000.
from libc.stdint cimport int64_t, uint32_t, uint64_t

from sparsemaps._loops.arrays cimport csr_block
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level


cdef extern from "c/maps/level_sampling.h" nogil:
    enum:
        LEVELS_KEPT
        LEVELS_MORE
    ctypedef struct level_scratch:
        uint64_t *starts
        uint64_t *ids
        uint32_t *members
        uint32_t *counts
        uint64_t *heavy
        uint64_t *bins
        uint32_t *high
    ctypedef struct level_map:
        uint64_t key
        bint is_signed
        double power
        double resolution
        uint64_t k
    ctypedef struct level_sampling_loops:
        Py_ssize_t (*sample_row)(const csr_block *rows, Py_ssize_t row, const level_map *map,
                                 level_scratch *scratch, uint64_t *columns,
                                 int64_t *levels) noexcept nogil
    const level_sampling_loops *level_sampling_at(int)

cdef const level_sampling_loops *level_sampling = level_sampling_at(level)


cdef Py_ssize_t sample_levels(const csr_block *rows, uint64_t key, bint signed_, double power,
                              double resolution, const sample_output_t *output) except -2:
    """Sample each row; t* is the level. Codes are bits of a hash of the pair. Return the first row
    that has too many levels, or -1."""
    cdef const int64_t *indptr = rows.indptr
    cdef Py_ssize_t n_hashes = output.codes.n, row, found, longest = 1, bad = -1
    cdef level_map map
    map.key, map.is_signed, map.power = key, signed_, power
    map.resolution, map.k = resolution, n_hashes
    for row in range(rows.n_rows):
        longest = max(longest, indptr[row + 1] - indptr[row])
    cdef Py_ssize_t n = max(longest, <Py_ssize_t>LEVELS_KEPT) + LEVELS_MORE
    cdef Scratch memory = borrow_scratch()
    cdef level_scratch *scratch = <level_scratch *>memory.take(sizeof(level_scratch))
    scratch.starts = <uint64_t *>memory.take(n * sizeof(uint64_t))
    scratch.ids = <uint64_t *>memory.take(n * sizeof(uint64_t))
    scratch.members = <uint32_t *>memory.take(n * sizeof(uint32_t))
    scratch.counts = <uint32_t *>memory.take(longest * sizeof(uint32_t))
    scratch.heavy = <uint64_t *>memory.take(longest * sizeof(uint64_t))
    scratch.bins = <uint64_t *>memory.take(n_hashes * sizeof(uint64_t))
    scratch.high = <uint32_t *>memory.take(n_hashes * sizeof(uint32_t))
    cdef uint64_t *keys = <uint64_t *>memory.take(SAMPLE_KEYS * n_hashes * sizeof(uint64_t))
    cdef int64_t *codes = <int64_t *>memory.take(n_hashes * sizeof(int64_t))
    cdef int64_t *levels = <int64_t *>memory.take(n_hashes * sizeof(int64_t))
    cdef uint64_t *sampled = <uint64_t *>memory.take(n_hashes * sizeof(uint64_t))
    with nogil:
        if output.columns == NULL:
            code_loops.keys(output.key, 0, n_hashes, 0, keys)
        for row in range(rows.n_rows):
            found = level_sampling.sample_row(rows, row, &map, scratch, sampled, levels)
            if found < 0:
                bad = row
                break
            if found == 0:
                put_no_samples(output, row)
                continue
            if output.columns != NULL:
                put_whole_samples(output, row, 0, sampled, levels, n_hashes)
                continue
            code_loops.codes_of_pairs(keys, n_hashes, sampled, levels, output.bits, codes)
            output_loops.put(&output.codes, row, 0, codes, n_hashes)
    give_back_scratch(memory)
    return bad
