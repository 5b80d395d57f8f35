# Array arguments of drivers: address, item size and shape. Objects that are not arrays, and arrays
# with the wrong kind of items or number of dimensions, that are not C-contiguous, or that are
# read-only outputs, raise ValueError. A NumPy array keeps its memory alive as long as the driver
# holds a reference to it.
from cpython.buffer cimport (PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release,
                             PyObject_GetBuffer)
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

cdef extern from "c/rows/csr_block.h" nogil:
    ctypedef struct csr_block:
        const void *values
        const void *indices
        const int64_t *indptr
        Py_ssize_t n_rows
        size_t value_size
        size_t index_size
    const void *values_from(const csr_block *rows, int64_t entry)
    const void *indices_from(const csr_block *rows, int64_t entry)
    double value_at(const csr_block *rows, int64_t entry)
    int64_t index_at(const csr_block *rows, int64_t entry)
    uint64_t column_at(const csr_block *rows, int64_t entry, bint is_signed)
    void spread_row(const csr_block *rows, Py_ssize_t row, uint64_t width, void *out)

cdef enum kind_t:
    NO_KIND
    FLOATS
    INTEGERS
    WORDS  # unsigned

# Accept either size that these kinds have in CSR: 4 or 8 bytes.
cdef enum:
    ANY_SIZE = 0

cdef struct array_t:
    char *data
    size_t size           # of an item, in bytes
    Py_ssize_t shape[3]


cdef inline kind_t kind_of(const char *format) noexcept:
    """Return the kind of numbers for a buffer format."""
    if format[0] in (c"=", c"@", c"^"):  # native byte order
        format += 1
    if format[0] == 0 or format[1] != 0:
        return NO_KIND
    if format[0] in (c"f", c"d"):
        return FLOATS
    if format[0] in (c"b", c"h", c"i", c"l", c"q"):
        return INTEGERS
    return WORDS if format[0] in (c"B", c"H", c"I", c"L", c"Q") else NO_KIND


cdef inline array_t array_of(array, kind_t kind, size_t size, int n_dim, bint is_output) except *:
    """Return an array with items of `size` bytes."""
    cdef Py_buffer view
    cdef array_t found
    cdef bint fits
    cdef int i
    PyObject_GetBuffer(array, &view,
                       PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (PyBUF_WRITABLE if is_output else 0))
    fits = view.ndim == n_dim and kind_of(view.format) == kind and (
        <size_t>view.itemsize == size if size != ANY_SIZE else view.itemsize in (4, 8))
    if fits:
        found.data, found.size = <char *>view.buf, view.itemsize
        for i in range(n_dim):
            found.shape[i] = view.shape[i]
    PyBuffer_Release(&view)
    if not fits:
        name = "floats" if kind == FLOATS else "integers"
        raise ValueError(f"expected {n_dim} dimensions of {name} of {size or '4 or 8'} bytes, "
                         f"got {array.ndim} of {array.dtype}")
    return found


cdef inline int64_t integer_at(const array_t *array, Py_ssize_t i) noexcept nogil:
    """Return an item of an array of 4-byte or 8-byte integers."""
    if array.size == sizeof(int64_t):
        return (<const int64_t *>array.data)[i]
    return (<const int32_t *>array.data)[i]


cdef inline void put_value(void *to, double value, size_t size) noexcept nogil:
    """Store a value in 4 or 8 bytes."""
    cdef float narrow = <float>value
    memcpy(to, <void *>&narrow if size == sizeof(float) else <void *>&value, size)


cdef inline csr_block csr_of(values, indices, indptr, kind_t kind=FLOATS) except *:
    """Return a view of the rows that `indptr` delimits."""
    cdef csr_block rows
    cdef array_t array = array_of(values, kind, ANY_SIZE, 1, False)
    cdef Py_ssize_t n_stored = array.shape[0]
    rows.values, rows.value_size = array.data, array.size
    array = array_of(indices, INTEGERS, ANY_SIZE, 1, False)
    n_stored = min(n_stored, array.shape[0])
    rows.indices, rows.index_size = array.data, array.size
    array = array_of(indptr, INTEGERS, sizeof(int64_t), 1, False)
    rows.indptr, rows.n_rows = <const int64_t *>array.data, array.shape[0] - 1
    if rows.n_rows < 0 or not 0 <= rows.indptr[0] <= rows.indptr[rows.n_rows] <= n_stored:
        raise ValueError(f"indptr must delimit rows of {n_stored} entries")
    return rows


cdef inline array_t dense_output(out, const csr_block *rows) except *:
    """Return an output array with one row per row of `rows` and the same value type."""
    cdef array_t array = array_of(out, FLOATS, rows.value_size, 2, True)
    if array.shape[0] != rows.n_rows:
        raise ValueError(f"expected {rows.n_rows} rows of output, got {array.shape[0]}")
    return array


# CSR rows that are written consecutively.
cdef struct csr_output_t:
    array_t values
    array_t columns
    array_t lengths   # of rows; same type as `columns`
    Py_ssize_t n      # entries written so far


cdef inline csr_output_t csr_output(values, columns, lengths, const csr_block *rows) except *:
    cdef csr_output_t out
    out.values = array_of(values, FLOATS, rows.value_size, 1, True)
    out.columns = array_of(columns, INTEGERS, ANY_SIZE, 1, True)
    out.lengths = array_of(lengths, INTEGERS, out.columns.size, 1, True)
    if out.lengths.shape[0] != rows.n_rows:
        raise ValueError(f"expected {rows.n_rows} lengths, got {out.lengths.shape[0]}")
    out.n = 0
    return out


cdef inline void *next_values(const csr_output_t *out) noexcept nogil:
    return out.values.data + out.n * out.values.size


cdef inline void *next_columns(const csr_output_t *out) noexcept nogil:
    return out.columns.data + out.n * out.columns.size


cdef inline void end_row(csr_output_t *out, Py_ssize_t row, Py_ssize_t first) noexcept nogil:
    """Finish `row`, whose entries start at entry `first`."""
    if out.lengths.size == sizeof(int64_t):
        (<int64_t *>out.lengths.data)[row] = out.n - first
    else:
        (<int32_t *>out.lengths.data)[row] = <int32_t>(out.n - first)
