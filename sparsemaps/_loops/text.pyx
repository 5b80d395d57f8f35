# Drivers for raw text, frequencies and LIBSVM's format, one file each. They form one extension
# module, because Cython and the C compiler take a second for any module, however short.

import numpy as np

cdef extern from "Python.h":
    bint PyUnicode_CheckExact(object text)
    void *PyUnicode_DATA(object text)
    int PyUnicode_KIND(object text)
    bint PyUnicode_IS_ASCII(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    object PyUnicode_FromKindAndData(int kind, const void *characters, Py_ssize_t n)
    bint PyBytes_CheckExact(object text)

include "arrow.pxi"
include "json_lines.pxi"
include "text_tables.pxi"
include "vectorizer.pxi"
include "text_bytes.pxi"
include "frequencies.pxi"
include "normalize.pxi"
include "libsvm.pxi"
