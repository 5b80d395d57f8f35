# Where codes of rows go: to numbers, `stride` further from one code to the next, or packed, one
# behind the other in a string of bits, lowest bit first.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset


cdef struct code_output_t:
    uint8_t *out
    Py_ssize_t row_bytes  # from one row to the next
    int itemsize          # of a number; 1 for packed codes
    Py_ssize_t n          # codes of a row
    int bits              # of a code
    int64_t stride


cdef inline void put_codes(const code_output_t *output, Py_ssize_t row, Py_ssize_t first,
                           const int64_t *codes, Py_ssize_t n) noexcept nogil:
    """Write codes `first` and so on of a row, n of them unless there are fewer; packed ones begin
    with a byte."""
    cdef uint8_t *out = output.out + row * output.row_bytes
    cdef uint64_t waiting = 0
    cdef int n_waiting = 0
    cdef Py_ssize_t j
    n = min(n, output.n - first)
    if output.itemsize == 8:
        for j in range(n):
            (<int64_t *>out)[first + j] = output.stride * (first + j) + codes[j]
    elif output.itemsize == 4:
        for j in range(n):
            (<int32_t *>out)[first + j] = <int32_t>(output.stride * (first + j) + codes[j])
    elif output.bits == 8:
        for j in range(n):
            out[first + j] = <uint8_t>codes[j]
    else:
        out += first * output.bits // 8
        for j in range(n):
            waiting |= <uint64_t>codes[j] << n_waiting
            n_waiting += output.bits
            while n_waiting >= 8:
                out[0] = waiting & 0xff
                out += 1
                waiting >>= 8
                n_waiting -= 8
        if n_waiting > 0:
            out[0] = waiting & 0xff


cdef inline void put_bits(const code_output_t *output, Py_ssize_t row, Py_ssize_t first,
                          uint64_t codes, Py_ssize_t n) noexcept nogil:
    """The same for n codes of one bit, at most 64, which are the bits of `codes`."""
    cdef uint8_t *out = output.out + row * output.row_bytes
    cdef Py_ssize_t j
    if output.itemsize == 8:
        for j in range(n):
            (<int64_t *>out)[first + j] = output.stride * (first + j) + <int64_t>(codes >> j & 1)
    elif output.itemsize == 4:
        for j in range(n):
            (<int32_t *>out)[first + j] = <int32_t>(output.stride * (first + j)
                                                    + <int64_t>(codes >> j & 1))
    else:
        for j in range((n + 7) // 8):
            out[first // 8 + j] = codes >> 8 * j & 0xff


cdef inline void put_no_codes(const code_output_t *output, Py_ssize_t row) noexcept nogil:
    """Mark a row that has no sample: its numbers are -1, its packed codes 0."""
    memset(output.out + row * output.row_bytes, 0 if output.itemsize == 1 else 0xff,
           output.row_bytes)
