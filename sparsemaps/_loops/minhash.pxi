# MinHash: n_hashes members of each row's set of columns.
#
# Input: the columns of canonical CSR without zeros, in which `indptr` delimits the rows to map; two
# 64-bit keys, for the samples and for their codes.
# Output: the members, or codes of them; -1 for a row without members.
# Cost: O(entries + n_hashes log n_hashes) per row.
# Reference: Dahlgaard, Knudsen & Thorup, "Fast similarity sketching", FOCS 2017; Li & Konig, "b-bit
# minwise hashing", WWW 2010.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sparsemaps._loops.arrays cimport ANY_SIZE, INTEGERS, array_of, array_t
from sparsemaps._loops.code_output cimport code_output, code_output_t
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level


cdef extern from "c/maps/minhash.h" nogil:
    ctypedef struct minhash_scratch:
        uint64_t *bins
        uint32_t *filled
    ctypedef struct minhash_loops:
        void (*sample)(const void *columns, size_t itemsize, Py_ssize_t n, uint64_t key, uint64_t k,
                       minhash_scratch *scratch, int64_t *samples) noexcept nogil
        void (*codes)(const int64_t *samples, Py_ssize_t k, uint64_t key, int bits,
                      int64_t *codes) noexcept nogil
    const minhash_loops *minhash_at(int)

cdef const minhash_loops *minhash = minhash_at(level)


cdef int sample_members(indices, const int64_t[::1] indptr, uint64_t key, uint64_t code_key,
                        Py_ssize_t n_hashes, const code_output_t *output,
                        int64_t *members) except -1:
    """Write the samples of each row to `members`, or their codes to `output`."""
    cdef array_t columns = array_of(indices, INTEGERS, ANY_SIZE, 1, False)
    cdef Py_ssize_t row, n
    cdef Scratch memory = borrow_scratch()
    cdef minhash_scratch *scratch = <minhash_scratch *>memory.take(sizeof(minhash_scratch))
    cdef int64_t *samples = <int64_t *>memory.take(n_hashes * sizeof(int64_t))
    cdef int64_t *codes = <int64_t *>memory.take(n_hashes * sizeof(int64_t))
    scratch.bins = <uint64_t *>memory.take(n_hashes * sizeof(uint64_t))
    scratch.filled = <uint32_t *>memory.take((n_hashes + 1) * sizeof(uint32_t))
    with nogil:
        for row in range(indptr.shape[0] - 1):
            n = indptr[row + 1] - indptr[row]
            if n > 0:
                minhash.sample(columns.data + indptr[row] * columns.size, columns.size, n, key,
                               n_hashes, scratch, samples)
            else:
                memset(samples, 0xff, n_hashes * sizeof(int64_t))
            if output == NULL:
                memcpy(members + row * n_hashes, samples, n_hashes * sizeof(int64_t))
            elif n > 0:
                minhash.codes(samples, n_hashes, code_key, output.bits, codes)
                output_loops.put(output, row, 0, codes, n_hashes)
            else:
                output_loops.put_none(output, row)
    return give_back_scratch(memory)


def minhash_codes(indices, const int64_t[::1] indptr, uint64_t key, uint64_t code_key,
                  Py_ssize_t n_hashes, int bits, int layout, out):
    """Write each row's codes: `bits` bits of a hash of each sample."""
    cdef code_output_t output = code_output(layout, out, n_hashes, bits)
    sample_members(indices, indptr, key, code_key, n_hashes, &output, NULL)


def minhash_samples(indices, const int64_t[::1] indptr, uint64_t key, int64_t[:, ::1] members):
    """Write each row's samples, which are columns."""
    sample_members(indices, indptr, key, 0, members.shape[1], NULL,
                   &members[0, 0] if members.shape[0] > 0 else NULL)
