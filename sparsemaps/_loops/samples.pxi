# Output of samples (i*, t*) of rows: whole, or as codes (c/codes/sample_codes.h).
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from sparsemaps._loops.arrays cimport csr_block, csr_of
from sparsemaps._loops.code_output cimport code_output, code_output_t
from sparsemaps._loops.levels cimport level


cdef extern from "c/codes/sample_codes.h" nogil:
    enum:
        SAMPLE_KEYS
    ctypedef struct sample_codes_loops:
        void (*keys)(uint64_t key, uint64_t first, Py_ssize_t n, int t_bits,
                     uint64_t *keys) noexcept nogil
        void (*codes)(const uint64_t *keys, Py_ssize_t n_rows, Py_ssize_t n,
                      const uint64_t *mixed, const int64_t *t, int bits, int t_bits,
                      int64_t *codes) noexcept nogil
        void (*codes_of_pairs)(const uint64_t *keys, Py_ssize_t n, const uint64_t *columns,
                               const int64_t *t, int bits, int64_t *codes) noexcept nogil
    const sample_codes_loops *sample_codes_at(int)

cdef const sample_codes_loops *code_loops = sample_codes_at(level)


cdef struct sample_output_t:
    int64_t *columns      # whole samples: i*, `codes.n` per row, and t*; NULL for codes
    int64_t *t
    uint64_t key          # of the codes
    int bits              # bits of the hash of i* in a code
    int t_bits            # bits of the hash of (i*, t*) in a code
    code_output_t codes


cdef inline void put_whole_samples(const sample_output_t *output, Py_ssize_t row, Py_ssize_t first,
                                   const uint64_t *columns, const int64_t *t,
                                   Py_ssize_t n) noexcept nogil:
    """Write n samples of a row, starting at number `first`; samples beyond the row's last are
    ignored."""
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


cdef Py_ssize_t sample_rows(bint of_levels, values, indices, indptr, uint64_t key, bint signed_,
                            double power, double resolution,
                            const sample_output_t *output) except -2:
    """Return the first row that has too many levels, or -1."""
    cdef csr_block rows = csr_of(values, indices, indptr)
    if of_levels:
        return sample_levels(&rows, key, signed_, power, resolution, output)
    sample_weighted(&rows, key, signed_, power, output)
    return -1


def sample_codes(bint of_levels, values, indices, indptr, uint64_t key, uint64_t code_key,
                 bint signed_, double power, double resolution, Py_ssize_t n_hashes, int bits,
                 int t_bits, int layout, out):
    """Write each row's codes: `bits` bits of a hash of i*, and above them `t_bits` bits of a hash
    of (i*, t*). For samples of levels: `bits` bits of a hash of (i*, t*). Return the first row that
    has too many levels, or -1."""
    cdef sample_output_t output = sample_output_t(
        NULL, NULL, code_key, bits, t_bits, code_output(layout, out, n_hashes, bits + t_bits))
    return sample_rows(of_levels, values, indices, indptr, key, signed_, power, resolution, &output)


def whole_samples(bint of_levels, values, indices, indptr, uint64_t key, bint signed_, double power,
                  double resolution, int64_t[:, ::1] columns, int64_t[:, ::1] t):
    """Write each row's samples i* and t*, -1 for a row without samples. Return the first row that
    has too many levels, or -1."""
    cdef sample_output_t output
    memset(&output, 0, sizeof(output))
    output.codes.n = columns.shape[1]
    if columns.shape[0] == 0:
        return -1
    output.columns = &columns[0, 0]
    output.t = &t[0, 0]
    return sample_rows(of_levels, values, indices, indptr, key, signed_, power, resolution, &output)
