# Types of CSR arrays. There are exactly two index types, named by width: `long` differs by
# platform.
from libc.stdint cimport int32_t, int64_t

ctypedef fused value_t:
    float
    double

ctypedef fused index_t:
    int32_t
    int64_t
