"""Names for the types of arguments and results."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

MatrixLike: TypeAlias = Any
"""A two-dimensional array, a sparse matrix or array of any format, or a data frame."""

Matrix: TypeAlias = Any
"""The output of a map: an ndarray, a CSR matrix or array, or what ``set_output`` asks for."""

Array: TypeAlias = npt.NDArray[Any]

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
"""What `random_state` may be."""

Keys: TypeAlias = npt.NDArray[np.uint64]
"""Words that key the random numbers of a map."""
