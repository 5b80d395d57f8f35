"""Jobs of ``sparsemaps.files`` on a Dask cluster.

``_engine`` has `Workers`, an engine: it runs the tasks of a job. Nothing in the folders below knows
Dask. It is needed here alone: ``pip install "sparsemaps[dask]"``.
"""

try:
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        f'sparsemaps.dask needs Dask ({error}): pip install "sparsemaps[dask]"'
    ) from error

from sparsemaps.dask._engine import Workers

__all__ = ["Workers"]


def __dir__() -> list[str]:
    return __all__
