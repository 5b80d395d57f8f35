# Packed codes: small integers one behind the other in a string of bits, lowest bit first.
#
# Input: codes of `bits` bits each. Output: bytes as np.packbits(..., bitorder="little") makes them.
# Cost: O(codes).
from libc.stdint cimport int32_t, uint8_t, uint64_t


def pack(const int32_t[:, ::1] codes, int bits, uint8_t[:, ::1] out):
    """Pack each row; a row whose first code is negative has none and becomes zeros."""
    cdef Py_ssize_t row, j, byte
    cdef uint64_t waiting
    cdef int n_waiting
    with nogil:
        for row in range(codes.shape[0]):
            waiting = 0
            n_waiting = 0
            byte = 0
            if codes[row, 0] < 0:
                out[row, :] = 0
                continue
            for j in range(codes.shape[1]):
                waiting |= <uint64_t>codes[row, j] << n_waiting
                n_waiting += bits
                while n_waiting >= 8:
                    out[row, byte] = waiting & 0xff
                    waiting >>= 8
                    n_waiting -= 8
                    byte += 1
            if n_waiting > 0:
                out[row, byte] = waiting & 0xff
