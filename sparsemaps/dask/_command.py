"""``sparsemaps map ... --dask``, and ``text`` and ``dedup`` likewise."""

import contextlib
import logging
import os
from collections.abc import Iterator, Mapping
from typing import Any

import distributed

from sparsemaps._tools import _threads
from sparsemaps.dask._deduplicate import deduplicate, refuse_pipes
from sparsemaps.dask._map_files import run_job
from sparsemaps.files._dedup import Deduplicated, DedupPlan
from sparsemaps.files._job import Job


@contextlib.contextmanager
def connect(scheduler: str, n_jobs: int) -> Iterator[Any]:
    """A client of the scheduler at an address or in a file; of a new cluster if that is empty."""
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


@contextlib.contextmanager
def _worded() -> Iterator[None]:
    """Errors that only Dask raises become a ValueError."""
    try:
        yield
    except (distributed.KilledWorker, ImportError) as error:  # fsspec asks for s3fs and others
        raise ValueError(str(error)) from error


def run(
    job: Job, inputs: Any, directory: str, scheduler: str, n_jobs: int, options: Mapping[str, Any]
) -> None:
    """Do a job on a cluster."""
    with _worded(), connect(scheduler, n_jobs) as client:
        run_job(job, inputs, directory, client=client, **options)


def run_dedup(
    plan: DedupPlan, scheduler: str, n_jobs: int, progress: bool | None, resume: bool
) -> Deduplicated:
    """Keep one record of each cluster of near-duplicates, with codes and pairs on a cluster."""
    refuse_pipes(plan)
    with _worded(), connect(scheduler, n_jobs) as client:
        return deduplicate(plan, progress, resume, client)
