# Where samples (i*, t*) of rows go: whole, or as codes (c/codes/sample_codes.h).


cdef extern from "c/random/random.h" nogil:
    uint64_t mix64(uint64_t x)

cdef extern from "c/codes/sample_codes.h" nogil:
    enum:
        SAMPLE_KEYS
    ctypedef struct sample_codes_loops:
        void (*keys)(uint64_t key, uint64_t first, Py_ssize_t n, int t_bits,
                     uint64_t *keys) noexcept nogil
        void (*codes)(const uint64_t *keys, Py_ssize_t n_rows, Py_ssize_t n,
                      const uint64_t *mixed, const int64_t *t, int bits, int t_bits,
                      int64_t *codes) noexcept nogil
    const sample_codes_loops *sample_codes_at(int)

cdef const sample_codes_loops *code_loops = sample_codes_at(level)


cdef struct sample_output_t:
    int64_t *columns      # whole: i*, `codes.n` of a row, and t*; NULL for codes
    int64_t *t
    uint64_t key          # of the codes
    int bits              # of the hash of i* in a code
    int t_bits            # of the hash of (i*, t*) in a code
    code_output_t codes


cdef inline sample_output_t samples_as_codes(int layout, out, Py_ssize_t n, uint64_t key, int bits,
                                             int t_bits) except *:
    """Codes of `bits` bits of a hash of i* with `t_bits` bits of a hash of (i*, t*) above them."""
    return sample_output_t(NULL, NULL, key, bits, t_bits,
                           code_output(layout, out, n, bits + t_bits))


cdef inline sample_output_t whole_samples(int64_t[:, ::1] columns, int64_t[:, ::1] t):
    """i* and t*, -1 where a row has no sample."""
    cdef sample_output_t output
    memset(&output, 0, sizeof(output))
    output.codes.n = columns.shape[1]
    if columns.shape[0] > 0:
        output.columns = &columns[0, 0]
        output.t = &t[0, 0]
    return output


cdef inline void put_whole_samples(const sample_output_t *output, Py_ssize_t row, Py_ssize_t first,
                                   const uint64_t *columns, const int64_t *t,
                                   Py_ssize_t n) noexcept nogil:
    """Write samples `first` and so on of a row, n of them unless there are fewer."""
    cdef Py_ssize_t start = row * output.codes.n + first, j
    for j in range(min(n, output.codes.n - first)):
        output.columns[start + j] = <int64_t>columns[j]
        output.t[start + j] = t[j]


cdef inline void put_no_samples(const sample_output_t *output, Py_ssize_t row) noexcept nogil:
    """Mark a row that has no sample."""
    cdef Py_ssize_t start = row * output.codes.n
    if output.columns != NULL:
        memset(output.columns + start, 0xff, output.codes.n * sizeof(int64_t))
        memset(output.t + start, 0xff, output.codes.n * sizeof(int64_t))
    else:
        output_loops.put_none(&output.codes, row)
