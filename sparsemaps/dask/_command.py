"""``sparsemaps map ... --dask``, and ``text``, ``pairs`` and ``dedup`` likewise."""

import contextlib
import logging
import os
from collections.abc import Iterator, Mapping
from typing import Any

import distributed

from sparsemaps._tools import _threads
from sparsemaps.dask._engine import Workers
from sparsemaps.dask._map_files import run_job
from sparsemaps.files._job import Job


@contextlib.contextmanager
def connect(scheduler: str, n_jobs: int) -> Iterator[Any]:
    """A client of the scheduler at an address or in a file; of a new cluster if that is empty.
    Errors that only Dask raises become a ValueError."""
    try:
        if scheduler:
            by = "scheduler_file" if os.path.isfile(scheduler) else "address"
            with distributed.Client(**{by: scheduler}) as client:
                yield client
            return
        with (
            distributed.LocalCluster(
                n_workers=_threads.resolve_n_jobs(n_jobs),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # any port that is free
                silence_logs=logging.CRITICAL,  # the command reports errors, once
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
    except (distributed.KilledWorker, ImportError) as error:  # fsspec asks for s3fs and others
        raise ValueError(str(error)) from error


def run(
    job: Job, inputs: Any, directory: str, scheduler: str, n_jobs: int, options: Mapping[str, Any]
) -> None:
    """Do a job on a cluster, a part for each range of the inputs."""
    with connect(scheduler, n_jobs) as client:
        run_job(job, inputs, directory, client=client, **options)


def reachable(plan: Any) -> Any:
    """A plan of ``pairs`` or ``dedup`` whose inputs and results workers reach; a ValueError if they
    cannot."""
    if not plan.is_shared:
        raise ValueError("on a cluster, inputs and outputs are files")
    return plan.absolute()


@contextlib.contextmanager
def engine(scheduler: str, n_jobs: int) -> Iterator[Workers]:
    """Workers for the tasks of a job on a folder."""
    with connect(scheduler, n_jobs) as client:
        yield Workers(client)
