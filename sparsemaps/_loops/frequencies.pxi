# Tables of document frequencies: how many records have a column, by a hash of the column
# (c/text/frequencies.h).
#
# Input: the columns of canonical CSR, in which `indptr` delimits the records; a table of shape
# (n_rows, 2^n_bits) and the 64-bit key of its hashes.
# Output: the distinct buckets of each record; counts to which these are added; or values weighted
# by the frequencies of their columns.
# Cost: O(entries * n_rows).
# Reference: Cormode & Muthukrishnan, "An improved data stream summary: the count-min sketch", 2005;
# Spaerck Jones, "A statistical interpretation of term specificity", 1972.
from libc.stdint cimport UINT32_MAX, int64_t, uint32_t, uint64_t

from sparsemaps._loops.arrays cimport ANY_SIZE, FLOATS, INTEGERS, WORDS, array_of, array_t
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level


cdef extern from "c/text/frequencies.h" nogil:
    enum:
        IDF_SIZES
    ctypedef struct frequency_table:
        const void *counts
        size_t count_size
        Py_ssize_t n_rows
        int n_bits
        uint64_t key
    ctypedef struct idf_weighting:
        double n_records
        double power
        double levels
        int sublinear
        const double *weights
        int64_t n_weights
        const double *sizes
    ctypedef struct frequencies_loops:
        Py_ssize_t (*buckets)(const frequency_table *table, Py_ssize_t row, const void *columns,
                              size_t itemsize, Py_ssize_t n, uint64_t *slots,
                              uint64_t *buckets) noexcept nogil
        void (*add)(void *counts, size_t count_size, int n_bits, const uint64_t *buckets,
                    Py_ssize_t n) noexcept nogil
        void (*merge)(void *counts, const void *others, size_t count_size,
                      Py_ssize_t n) noexcept nogil
        void (*look_up)(const frequency_table *table, const void *columns, size_t itemsize,
                        Py_ssize_t n, uint32_t *frequencies) noexcept nogil
        Py_ssize_t (*take_rare)(const uint32_t *frequencies, uint32_t most, Py_ssize_t least,
                                Py_ssize_t n, const void *columns, size_t column_size,
                                const void *values, size_t value_size, void *out_columns,
                                void *out_values) noexcept nogil
        void (*tabulate)(const idf_weighting *idf, Py_ssize_t n, double *weights,
                         double *sizes) noexcept nogil
        void (*weigh)(const idf_weighting *idf, const frequency_table *table, const void *columns,
                      size_t itemsize, const void *values, size_t value_size, Py_ssize_t n,
                      void *out) noexcept nogil
    Py_ssize_t slots_for(Py_ssize_t n)
    const frequencies_loops *frequencies_at(int)

cdef const frequencies_loops *frequency_loops = frequencies_at(level)


cdef inline frequency_table table_of(counts, uint64_t key) except *:
    """Return a table of counts, from an array of uint8, uint16 or uint32 whose width is a power of
    two."""
    cdef size_t size = counts.dtype.itemsize
    cdef array_t array = array_of(counts, WORDS, size, 2, False)
    cdef frequency_table table
    table.counts, table.count_size, table.n_rows = array.data, size, array.shape[0]
    table.n_bits, table.key = <int>(array.shape[1].bit_length() - 1), key
    if size > 4 or array.shape[1] < 2 or array.shape[1] != <Py_ssize_t>1 << table.n_bits:
        raise ValueError(f"expected 2**n counts of 1, 2 or 4 bytes, got {array.shape[1]} of {size}")
    return table


def record_buckets(counts, uint64_t key, indices, indptr):
    """Return the buckets of all records in each row of a table, as arrays of uint64."""
    cdef frequency_table table = table_of(counts, key)
    cdef array_t columns = array_of(indices, INTEGERS, ANY_SIZE, 1, False)
    cdef array_t ends = array_of(indptr, INTEGERS, sizeof(int64_t), 1, False)
    cdef const int64_t *places = <const int64_t *>ends.data
    cdef Py_ssize_t n_records = ends.shape[0] - 1, record, row, n, total, longest = 0
    cdef Scratch scratch = borrow_scratch()
    cdef uint64_t *slots
    cdef uint64_t[::1] out
    if n_records < 0 or not 0 <= places[0] <= places[n_records] <= columns.shape[0]:
        raise ValueError(f"indptr must delimit rows of {columns.shape[0]} entries")
    for record in range(n_records):
        longest = max(longest, places[record + 1] - places[record])
    slots = <uint64_t *>scratch.take(slots_for(longest) * sizeof(uint64_t))
    found = []
    for row in range(table.n_rows):
        array = np.empty(places[n_records] - places[0] + 1, np.uint64)
        out = array
        total = 0
        with nogil:
            for record in range(n_records):
                n = places[record + 1] - places[record]
                total += frequency_loops.buckets(
                    &table, row, columns.data + places[record] * columns.size, columns.size, n,
                    slots, &out[total])
        found.append(array[:total])
    give_back_scratch(scratch)
    return found


def add_buckets(counts, const uint64_t[::1] buckets):
    """Increment the counts of buckets in one row of a table."""
    cdef size_t size = counts.dtype.itemsize
    cdef array_t array = array_of(counts, WORDS, size, 1, True)
    cdef int n_bits = <int>(array.shape[0].bit_length() - 1)
    if size > 4 or array.shape[0] < 2 or array.shape[0] != <Py_ssize_t>1 << n_bits:
        raise ValueError(f"expected 2**n counts of 1, 2 or 4 bytes, got {array.shape[0]} of {size}")
    with nogil:
        if buckets.shape[0] > 0:
            frequency_loops.add(array.data, size, n_bits, &buckets[0], buckets.shape[0])


def merge_counts(counts, others):
    """Add `others` to `counts` in place. Both must have the same type and shape."""
    cdef size_t size = counts.dtype.itemsize
    cdef array_t array = array_of(counts, WORDS, size, 2, True)
    cdef array_t other = array_of(others, WORDS, size, 2, False)
    if size > 4 or (other.shape[0], other.shape[1]) != (array.shape[0], array.shape[1]):
        raise ValueError("tables must have one shape, with counts of 1, 2 or 4 bytes")
    with nogil:
        frequency_loops.merge(array.data, other.data, size, array.shape[0] * array.shape[1])


def look_up_frequencies(counts, uint64_t key, indices, uint32_t[::1] out):
    """Write the least count of each column."""
    cdef frequency_table table = table_of(counts, key)
    cdef array_t columns = array_of(indices, INTEGERS, ANY_SIZE, 1, False)
    if columns.shape[0] != out.shape[0]:
        raise ValueError(f"expected {columns.shape[0]} places, got {out.shape[0]}")
    with nogil:
        if out.shape[0] > 0:
            frequency_loops.look_up(&table, columns.data, columns.size, out.shape[0], &out[0])


def take_rare(const uint32_t[::1] frequencies, uint32_t most, Py_ssize_t least, columns, values,
              const int64_t[::1] ends, out_columns, out_values, int64_t[::1] out_ends):
    """Copy the entries of each record whose frequencies are at most `most`, or all of its entries
    if fewer than `least` would remain, and write the new ends of records. Return the number of
    entries. Outputs may be the input arrays. For sets, values are None."""
    cdef array_t given[2]
    cdef array_t out[2]
    cdef bint sets = values is None
    cdef Py_ssize_t record, n = frequencies.shape[0], first = 0, total = 0
    given[0] = array_of(columns, INTEGERS, ANY_SIZE, 1, False)
    out[0] = array_of(out_columns, INTEGERS, given[0].size, 1, True)
    given[1].data = out[1].data = NULL
    given[1].size = out[1].size = 0
    given[1].shape[0] = out[1].shape[0] = n
    if not sets:
        given[1] = array_of(values, FLOATS, ANY_SIZE, 1, False)
        out[1] = array_of(out_values, FLOATS, given[1].size, 1, True)
    if not n == given[0].shape[0] == given[1].shape[0] == out[0].shape[0] == out[1].shape[0]:
        raise ValueError(f"expected columns and values of {n} entries")
    if out_ends.shape[0] != ends.shape[0]:
        raise ValueError(f"expected {ends.shape[0]} ends, got {out_ends.shape[0]}")
    for record in range(ends.shape[0]):
        if not first <= ends[record] <= n:
            raise ValueError(f"ends must be ascending, and at most {n}")
        if ends[record] > first:
            total += frequency_loops.take_rare(
                &frequencies[first], most, least, ends[record] - first,
                given[0].data + first * given[0].size, given[0].size,
                given[1].data + first * given[1].size, given[1].size,
                out[0].data + total * out[0].size, out[1].data + total * out[1].size)
        first = ends[record]
        out_ends[record] = total
    return total


cdef class IdfWeighting:
    """Weights of columns by their frequencies in a table with one row, which must not change.

    The weights of the `n_known` lowest frequencies are precomputed.
    """
    cdef object counts
    cdef double[::1] memory
    cdef frequency_table table
    cdef idf_weighting idf

    def __cinit__(self, counts, uint64_t key, double n_records, double power, double levels,
                  bint sublinear, int64_t n_known):
        if not 0 <= n_known <= <int64_t>UINT32_MAX:
            raise ValueError(f"expected a number of weights below 2**32, got {n_known}")
        self.counts, self.table = counts, table_of(counts, key)
        self.memory = np.empty(n_known + IDF_SIZES)
        self.idf.n_records, self.idf.power = n_records, power
        self.idf.levels, self.idf.sublinear = levels, sublinear
        self.idf.n_weights = n_known
        self.idf.sizes, self.idf.weights = &self.memory[0], &self.memory[0] + IDF_SIZES
        with nogil:
            frequency_loops.tabulate(&self.idf, n_known, &self.memory[0] + IDF_SIZES,
                                     &self.memory[0])

    def weigh(self, indices, values, out):
        """Write the weighted values. `out` may be `values`."""
        cdef array_t columns = array_of(indices, INTEGERS, ANY_SIZE, 1, False)
        cdef array_t weighted = array_of(out, FLOATS, ANY_SIZE, 1, True)
        cdef array_t given = weighted
        cdef Py_ssize_t n = columns.shape[0]
        if values is not out:
            given = array_of(values, FLOATS, weighted.size, 1, False)
        if given.shape[0] != n or weighted.shape[0] != n:
            raise ValueError(f"expected {n} values, got {given.shape[0]} and {weighted.shape[0]}")
        with nogil:
            frequency_loops.weigh(&self.idf, &self.table, columns.data, columns.size, given.data,
                                  given.size, n, weighted.data)
