# Improved consistent weighted sampling: n_hashes samples (i*, t*) of each row.
#
# Input: canonical CSR arrays, in which `indptr` delimits the rows to map; two 64-bit keys, for the
# samples and for their codes; the power to which values are raised, from -2000 to 2000 (it only
# scales logarithms).
# Output: samples, or their codes; -1 for a row without positive entries.
# Cost: O(entries * n_hashes). The random numbers of a column are drawn once for the rows of a group
# and a tile of samples: the more rows share their columns, the cheaper they are.
# Reference: Ioffe 2010; Li, "0-bit consistent weighted sampling", KDD 2015.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from sparsemaps._loops.arrays cimport column_at, csr_block
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level


cdef extern from "c/maps/weighted_sampling.h" nogil:
    enum:
        ICWS_TILE
    ctypedef struct icws_state:
        int32_t position[ICWS_TILE]
        int32_t t[ICWS_TILE]
    ctypedef struct weighted_sampling_loops:
        void (*reset)(icws_state *states, Py_ssize_t n) noexcept nogil
        void (*add)(uint64_t first_sample, const group_t *group, icws_state *states) noexcept nogil
    const weighted_sampling_loops *weighted_sampling_at(int)

cdef const weighted_sampling_loops *icws = weighted_sampling_at(level)


cdef enum:
    # Rows whose samples are written together, so that the hashes of one row are computed while the
    # columns of another are loaded.
    EMIT_ROWS = 8


cdef inline void emit_samples(const csr_block *rows, int64_t first_entry, bint signed_,
                              const uint64_t *mixed, const icws_state *states, Py_ssize_t n_rows,
                              const uint64_t *keys, Py_ssize_t first_row, Py_ssize_t first,
                              const sample_output_t *output) noexcept nogil:
    """Write a tile of samples for at most EMIT_ROWS rows. Positions are relative to `first_entry`.
    `mixed` has mix64 of each column, or is NULL. `keys` are the keys of the codes."""
    cdef uint64_t columns[EMIT_ROWS * ICWS_TILE]
    cdef int64_t t[EMIT_ROWS * ICWS_TILE]
    cdef int64_t codes[EMIT_ROWS * ICWS_TILE]
    cdef Py_ssize_t row, j, start
    cdef bint with_t = output.columns != NULL or output.t_bits > 0
    for row in range(n_rows):
        start = row * ICWS_TILE
        if states[row].position[0] == -1:  # no sample
            memset(columns + start, 0, ICWS_TILE * sizeof(uint64_t))
            memset(t + start, 0, ICWS_TILE * sizeof(int64_t))
            continue
        if mixed != NULL:
            for j in range(ICWS_TILE):
                columns[start + j] = mixed[<uint32_t>states[row].position[j]]
        else:
            for j in range(ICWS_TILE):
                columns[start + j] = column_at(
                    rows, first_entry + <uint32_t>states[row].position[j], signed_)
                if output.columns == NULL:
                    columns[start + j] = mix64(columns[start + j])
        if with_t:
            for j in range(ICWS_TILE):
                t[start + j] = states[row].t[j]
    if output.columns == NULL:
        code_loops.codes(keys, n_rows, ICWS_TILE, columns, t, output.bits, output.t_bits, codes)
    for row in range(n_rows):
        start = row * ICWS_TILE
        if states[row].position[0] == -1:
            if first == 0:
                put_no_samples(output, first_row + row)  # mark the whole row, once
        elif output.columns != NULL:
            put_whole_samples(output, first_row + row, first, columns + start, t + start, ICWS_TILE)
        else:
            output_loops.put(&output.codes, first_row + row, first, codes + start, ICWS_TILE)


cdef int sample_weighted(const csr_block *rows, uint64_t key, bint signed_, double power,
                         const sample_output_t *output) except -1:
    cdef const int64_t *indptr = rows.indptr
    cdef Py_ssize_t row, tile, n_tiles = (output.codes.n + ICWS_TILE - 1) // ICWS_TILE
    cdef uint64_t keys[SAMPLE_KEYS * ICWS_TILE]
    cdef int64_t first, n, i
    cdef uint64_t *memory = NULL
    cdef uint64_t *mixed
    cdef icws_state *states
    cdef groups_t groups
    cdef Scratch scratch = borrow_scratch()
    open_groups(&groups, scratch, rows, key, signed_, sizeof(icws_state), power)
    states = <icws_state *>groups.sums
    n = min(indptr[rows.n_rows] - indptr[0], <int64_t>GROUP_ENTRIES)
    if output.columns == NULL:
        memory = <uint64_t *>scratch.take(n * sizeof(uint64_t))
    with nogil:
        while next_group(&groups):
            first = indptr[groups.start]
            n = indptr[groups.stop] - first
            mixed = memory if n <= GROUP_ENTRIES else NULL
            if mixed != NULL:
                for i in range(n):
                    mixed[i] = mix64(column_at(rows, first + i, signed_))
            for tile in range(n_tiles):
                if output.columns == NULL:
                    code_loops.keys(output.key, ICWS_TILE * tile, ICWS_TILE, output.t_bits, keys)
                icws.reset(states, groups.n_rows)
                while next_part(&groups):
                    icws.add(ICWS_TILE * tile, &groups.group, states)
                row = 0
                while row < groups.n_rows:
                    emit_samples(rows, first, signed_, mixed, states + row,
                                 min(groups.n_rows - row, <Py_ssize_t>EMIT_ROWS), keys,
                                 groups.start + row, ICWS_TILE * tile, output)
                    row += EMIT_ROWS
    return give_back_scratch(scratch)
