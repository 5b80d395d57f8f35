"""Dask as an engine: its workers run the tasks of a stage."""

import contextlib
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import distributed

from sparsemaps._tools import _threads
from sparsemaps._tools._parameters import ParameterError

Task = TypeVar("Task")
Made = TypeVar("Made")


class Workers:
    """The workers of a Dask cluster, as the `engine` of a job.

    A job submits the tasks of one stage after another. If a worker is lost, its tasks run again,
    with the same results. The outputs equal those of a single machine, byte for byte.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster. Its workers must find the inputs and the output under the same
        paths as this process: absolute paths on a shared file system, or URLs.

    See Also
    --------
    sparsemaps.files.deduplicate_files : A job with an engine.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from distributed import Client
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.dask import Workers
    >>> from sparsemaps.files import map_files
    >>> minhash = MinHash(n_hashes=2, random_state=0)
    >>> here = Client(processes=False, dashboard_address=":0")
    >>> with tempfile.TemporaryDirectory() as folder, here as client:
    ...     file = Path(folder, "rows.svm")
    ...     _ = file.write_text("1 1:1 3:1\\n-1 2:1\\n")
    ...     mapped = map_files(minhash, file, f"{folder}/mapped/", engine=Workers(client))
    ...     mapped[0].n_rows
    2
    """

    def __init__(self, client: Any) -> None:
        if not all(hasattr(client, name) for name in ("map", "submit")):
            raise ParameterError("client", repr(client), "a distributed.Client")
        self.client = client

    def run(self, make: Callable[[Task], Made], tasks: Sequence[Task]) -> Iterator[Made]:
        """Yield ``make(task)`` for each task, in any order.

        Results are released once they arrive, so they are not recomputed if their worker is lost.
        """
        with warnings.catch_warnings():  # a large model is sent only once
            warnings.filterwarnings("ignore", "Sending large graph")
            shared = self.client.submit(_same, make, pure=False)  # recomputed if its worker is lost
        futures = self.client.map(_call, tasks, make=shared, pure=False)
        try:
            for future, made in distributed.as_completed(futures, with_results=True):
                future.release()
                yield made
        finally:
            for future in futures:
                future.release()
            shared.release()


def _same(value: object) -> Any:
    return value


def _call(task: Any, *, make: Any) -> Any:
    return make(task)


@contextlib.contextmanager
def connect(scheduler: str, n_jobs: int) -> Iterator[Workers]:
    """Yield the workers of the scheduler at an address or in a file, or of a new cluster if
    `scheduler` is empty. Errors that only Dask raises become ValueErrors."""
    with contextlib.ExitStack() as stack:
        if not scheduler:
            cluster = distributed.LocalCluster(
                n_workers=_threads.resolve_n_jobs(n_jobs),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # any free port
                silence_logs=logging.CRITICAL,  # the command reports errors once
            )
            how = {"address": stack.enter_context(cluster)}
        else:
            how = {"scheduler_file" if os.path.isfile(scheduler) else "address": scheduler}
        try:
            yield Workers(stack.enter_context(distributed.Client(**how)))
        except distributed.KilledWorker as error:
            raise ValueError(str(error)) from error
