# Drivers of the maps, one file each. They form one extension module, because Cython and the C
# compiler take a second for any module, however short.
from sparsemaps._loops.code_output cimport code_output_at, code_output_loops
from sparsemaps._loops.levels cimport level

cdef const code_output_loops *output_loops = code_output_at(level)

# Used by several maps.
include "groups.pxi"
include "hashing.pxi"
include "pages.pxi"
include "samples.pxi"

# The maps.
include "count_sketch.pxi"
include "fastfood.pxi"
include "fourier.pxi"
include "level_sampling.pxi"
include "minhash.pxi"
include "projection.pxi"
include "random_binning.pxi"
include "random_maclaurin.pxi"
include "tensor_sketch.pxi"
include "weighted_sampling.pxi"
