# The drivers of the maps, one file each. Together they are one extension module, as Cython and the
# C compiler take a second for any module, however short.
from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sparsemaps._loops.arrays cimport (ANY_SIZE, FLOATS, INTEGERS, array_of, array_t, column_at,
                                       csr_block, csr_of, csr_output, csr_output_t, dense_output,
                                       end_row, indices_from, next_columns, next_values, put_value,
                                       spread_row, value_at, values_from)
from sparsemaps._loops.code_output cimport (code_output, code_output_at, code_output_loops,
                                            code_output_t)
from sparsemaps._loops.emit cimport emit_at, emit_loops
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level
from sparsemaps._loops.sort cimport bit_length, pair_t, sort_pairs
from sparsemaps._loops.types cimport value_t

cdef const code_output_loops *output_loops = code_output_at(level)

# What several maps use.
include "groups.pxi"
include "hashing.pxi"
include "pages.pxi"
include "samples.pxi"

# The maps.
include "count_sketch.pxi"
include "dart_minhash.pxi"
include "fastfood.pxi"
include "fourier.pxi"
include "minhash.pxi"
include "projection.pxi"
include "random_binning.pxi"
include "random_maclaurin.pxi"
include "tensor_sketch.pxi"
include "weighted_sampling.pxi"
