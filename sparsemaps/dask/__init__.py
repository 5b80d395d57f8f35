"""Jobs of ``sparsemaps.files`` on a Dask cluster.

``_engine`` has `Workers`, an engine that runs the tasks of a job. Only this folder depends on Dask,
which ``pip install "sparsemaps[dask]"`` installs.
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
