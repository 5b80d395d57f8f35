"""Names for types of arguments and results."""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Counts: TypeAlias = npt.NDArray[np.int32]
Floats: TypeAlias = npt.NDArray[np.float64]
Objects: TypeAlias = npt.NDArray[np.object_]
Rows: TypeAlias = npt.NDArray[np.int64]


class SparseMatrix(Protocol):
    """A sparse matrix or array of any format. SciPy has no annotations."""

    def tocsr(self, copy: bool = ...) -> Any: ...


class CsrMatrix(Protocol):
    """A ``csr_array`` or ``csr_matrix``, as returned by maps and readers."""

    data: Array
    indices: Array
    indptr: Array

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def format(self) -> str: ...
    @property
    def nnz(self) -> int: ...
    @property
    def T(self) -> Any: ...
    def astype(self, dtype: npt.DTypeLike, casting: str = ..., copy: bool = ...) -> "CsrMatrix": ...
    def copy(self) -> "CsrMatrix": ...
    def diagonal(self, k: int = ...) -> Array: ...
    def max(self, axis: int | None = ...) -> Any: ...
    def mean(self, axis: int | None = ...) -> Any: ...
    def min(self, axis: int | None = ...) -> Any: ...
    def multiply(self, other: object) -> Any: ...
    def nonzero(self) -> tuple[Array, Array]: ...
    def power(self, n: float, dtype: npt.DTypeLike = ...) -> "CsrMatrix": ...
    def sum(self, axis: int | None = ...) -> Any: ...
    def toarray(self) -> Array: ...
    def tocoo(self, copy: bool = ...) -> Any: ...
    def tocsc(self, copy: bool = ...) -> Any: ...
    def tocsr(self, copy: bool = ...) -> "CsrMatrix": ...
    def transpose(self) -> Any: ...
    def __abs__(self) -> "CsrMatrix": ...
    def __add__(self, other: object) -> Any: ...
    def __getitem__(self, key: object) -> Any: ...
    def __matmul__(self, other: object) -> Any: ...
    def __mul__(self, other: object) -> Any: ...
    def __neg__(self) -> "CsrMatrix": ...
    def __rmatmul__(self, other: object) -> Any: ...
    def __rmul__(self, other: object) -> Any: ...
    def __sub__(self, other: object) -> Any: ...
    def __truediv__(self, other: object) -> Any: ...


class HasArray(Protocol):
    """An object that NumPy can convert to an array, such as a data frame."""

    def __array__(self) -> Any: ...


MatrixLike: TypeAlias = (
    Array | SparseMatrix | HasArray | Sequence[Sequence[float]] | Sequence[Array]
)
"""A two-dimensional array, a sparse matrix or array of any format, or a data frame."""

Matrix: TypeAlias = Any
"""Within the package, an ndarray or a CSR matrix or array."""

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Output = TypeVar("Output", default=Any, covariant=True)
else:
    from typing import TypeVar

    Output = TypeVar("Output", covariant=True)
"""The output of a map: an array, or a CSR matrix."""


class Vectorizer(Protocol):
    """A scikit-learn estimator that converts texts to rows."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
    def transform(self, texts: Iterable[str], /) -> Any: ...


class Reader(Protocol):
    """A file object opened in binary mode."""

    def read(self, size: int, /) -> bytes: ...


class Writer(Protocol):
    """A file object opened in binary mode."""

    def write(self, data: bytes, /) -> Any: ...


StrPath: TypeAlias = str | os.PathLike[str]
"""A path."""

File: TypeAlias = StrPath | int | Reader
"""An input: a path, a file object or a file descriptor."""

Inputs: TypeAlias = StrPath | Reader | Sequence[StrPath | Reader]
"""One or several inputs of a job."""

Destination: TypeAlias = StrPath | Writer
"""An output: a path or a file object."""

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
"""The types of `random_state`."""

Keys: TypeAlias = npt.NDArray[np.uint64]
"""Key words of a map's random numbers."""
