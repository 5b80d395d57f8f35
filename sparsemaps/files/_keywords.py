"""The keywords of jobs, for type checkers. ``docs/write_keywords.py`` writes this file from the
options (``_job_options``)."""

import os
from typing import Any, TypedDict

from sparsemaps.files._tasks import Engine


class MapFilesKeywords(TypedDict, total=False):
    """Those of `map_files`."""

    format: str
    ones: bool
    header: bool | str
    comments: bool
    bad_records: str | os.PathLike[str]
    n_jobs: int | None
    progress: bool | None
    resume: bool
    task: tuple[str, int, int] | None
    engine: Engine | None


class SimilarPairsOfFilesKeywords(TypedDict, total=False):
    """Those of `similar_pairs_of_files`."""

    threshold: float
    recall: float
    exact: bool
    containment: bool
    max_bytes: int
    bad_records: str | os.PathLike[str]
    n_jobs: int | None
    progress: bool | None
    resume: bool
    task: tuple[str, int, int] | None
    engine: Engine | None


class DeduplicateFilesKeywords(TypedDict, total=False):
    """Those of `deduplicate_files`."""

    threshold: float
    recall: float
    exact: bool
    keep: str
    against: Any
    bad_records: str | os.PathLike[str]
    removed: str | os.PathLike[str] | None
    report: str | os.PathLike[str] | None
    clusters: str | os.PathLike[str] | None
    dry_run: bool
    n_jobs: int | None
    progress: bool | None
    resume: bool
    task: tuple[str, int, int] | None
    engine: Engine | None


class TrainFilesKeywords(TypedDict, total=False):
    """Those of `train_files`."""

    bad_records: str | os.PathLike[str]
    n_jobs: int | None
    progress: bool | None


class PredictFilesKeywords(TypedDict, total=False):
    """Those of `predict_files`."""

    proba: bool
    top: int | None
    min_score: float | None
    min_proba: float | None
    unknown: str
    explain: int
    bad_records: str | os.PathLike[str]
    n_jobs: int | None
    progress: bool | None
    resume: bool
    task: tuple[str, int, int] | None
    engine: Engine | None


class FilterFilesKeywords(TypedDict, total=False):
    """Those of `filter_files`."""

    min_score: float | None
    min_proba: float | None
    fraction: float | None
    bad_records: str | os.PathLike[str]
    n_jobs: int | None
    progress: bool | None
    resume: bool
    task: tuple[str, int, int] | None
    engine: Engine | None
