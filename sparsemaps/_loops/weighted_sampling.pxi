# Improved consistent weighted sampling: n_hashes samples (i*, t*) of each row.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; two 64-bit keys,
# of the samples and of their codes; the power that values are raised to, of which only the
# logarithm is taken, from -2000 to 2000.
# Output: samples, or their codes; -1 where a row has no positive entry.
# Cost: O(entries * n_hashes). The random numbers of a column are made once for the rows of a group
# and a tile of samples, so the more rows share their columns the cheaper they are.
# Reference: Ioffe 2010; Li, "0-bit consistent weighted sampling", KDD 2015.


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


cdef inline void emit_samples(const csr_block *rows, int64_t first_entry, bint signed_,
                              const uint64_t *mixed, const icws_state *state, const uint64_t *keys,
                              Py_ssize_t row, Py_ssize_t first,
                              const sample_output_t *output) noexcept nogil:
    """Write a tile of a row's samples. Positions count from `first_entry`; `mixed` has mix64 of
    each column, or is NULL; `keys` are those of the codes."""
    cdef uint64_t columns[ICWS_TILE]
    cdef int64_t t[ICWS_TILE]
    cdef int64_t codes[ICWS_TILE]
    cdef Py_ssize_t j
    if state.position[0] < 0:
        if first == 0:
            put_no_samples(output, row)  # all of it
        return
    for j in range(ICWS_TILE):
        t[j] = state.t[j]
        if mixed != NULL:
            columns[j] = mixed[<uint32_t>state.position[j]]
        else:
            columns[j] = column_at(rows, first_entry + <uint32_t>state.position[j], signed_)
            if output.columns == NULL:
                columns[j] = mix64(columns[j])
    if output.columns != NULL:
        put_whole_samples(output, row, first, columns, t, ICWS_TILE)
    else:
        code_loops.codes(keys, ICWS_TILE, columns, t, output.bits, output.t_bits, codes)
        output_loops.put(&output.codes, row, first, codes, ICWS_TILE)


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
                for row in range(groups.n_rows):
                    emit_samples(rows, first, signed_, mixed, states + row, keys,
                                 groups.start + row, ICWS_TILE * tile, output)
    return give_back_scratch(scratch)
