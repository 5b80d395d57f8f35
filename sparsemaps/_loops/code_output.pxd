# Output of codes, and its layouts (c/codes/code_output.h).
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

cdef enum:
    AS_PACKED        # uint8: codes packed into a bit string, lowest bit first
    AS_NUMBERS       # int32: the codes
    AS_COLUMNS       # int32 or int64: j * 2**bits + code for code j


cdef extern from "c/codes/code_output.h" nogil:
    ctypedef struct code_output_t:
        Py_ssize_t n
        int bits
        int64_t step
        Py_ssize_t width
        uint8_t *packed
        int32_t *narrow
        int64_t *wide
    ctypedef struct code_output_loops:
        void (*put)(const code_output_t *output, Py_ssize_t row, Py_ssize_t first,
                    const int64_t *codes, Py_ssize_t n) noexcept nogil
        void (*put_bits)(const code_output_t *output, Py_ssize_t row, Py_ssize_t first,
                         uint64_t codes, Py_ssize_t n) noexcept nogil
        void (*put_none)(const code_output_t *output, Py_ssize_t row) noexcept nogil
    const code_output_loops *code_output_at(int level)


cdef inline code_output_t code_output(int layout, out, Py_ssize_t n, int bits) except *:
    """Describe rows of `n` codes of `bits` bits in the array `out`."""
    cdef code_output_t output
    cdef uint8_t[:, ::1] packed
    cdef int32_t[:, ::1] narrow
    cdef int64_t[:, ::1] wide
    memset(&output, 0, sizeof(output))
    output.n, output.bits, output.width = n, bits, out.shape[1]
    if layout == AS_COLUMNS:
        output.step = <int64_t>1 << bits
    if out.size == 0:
        return output
    if layout == AS_PACKED:
        packed = out
        output.packed = &packed[0, 0]
    elif layout == AS_COLUMNS and out.itemsize == sizeof(int64_t):
        wide = out
        output.wide = &wide[0, 0]
    else:
        narrow = out
        output.narrow = &narrow[0, 0]
    return output
