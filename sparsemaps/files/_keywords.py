"""The keywords of jobs, for type checkers. ``docs/write_keywords.py`` writes this file from the
options (``_job_options``)."""

import os
from collections.abc import Sequence
from typing import Any, TypedDict

from sparsemaps.files._tasks import Engine


class MappedRowsKeywords(TypedDict, total=False):
    """Keywords of `MappedRows`."""

    format: str
    ones: bool
    header: bool | str
    comments: bool
    weight_field: str | None


class AsideKeywords(TypedDict, total=False):
    """Keywords of `Aside`."""

    bad_records: str | os.PathLike[str]


class ReadingKeywords(TypedDict, total=False):
    """Keywords of `Reading`."""

    n_jobs: int | None
    progress: bool | None


class RunKeywords(ReadingKeywords, total=False):
    """Keywords of `Run`."""

    resume: bool
    task: tuple[str, int, int] | None
    engine: Engine | None


class SearchKeywords(TypedDict, total=False):
    """Keywords of `Search`."""

    threshold: float
    recall: float
    exact: bool


class PairSearchKeywords(SearchKeywords, total=False):
    """Keywords of `PairSearch`."""

    containment: bool
    max_bytes: int


class RemovalKeywords(TypedDict, total=False):
    """Keywords of `Removal`."""

    keep: str
    against: Any


class TablesKeywords(AsideKeywords, total=False):
    """Keywords of `Tables`."""

    removed: str | os.PathLike[str] | None
    report: str | os.PathLike[str] | None
    clusters: str | os.PathLike[str] | None
    dry_run: bool


class TrainingKeywords(TypedDict, total=False):
    """Keywords of `Training`."""

    C: float | Sequence[float] | None
    validation: Any
    weight_field: str | None
    calibrate: bool
    snippets: Sequence[int] | None


class LineOptionsKeywords(TypedDict, total=False):
    """Keywords of `LineOptions`."""

    proba: bool
    top: int | None
    min_score: float | None
    min_proba: float | None
    unknown: str
    explain: int


class LabelChoiceKeywords(TypedDict, total=False):
    """Keywords of `LabelChoice`."""

    min_score: float | None
    min_proba: float | None
    fraction: float | None


class MapFilesKeywords(MappedRowsKeywords, AsideKeywords, RunKeywords, total=False):
    """Keywords of `map_files`."""


class SimilarPairsOfFilesKeywords(PairSearchKeywords, AsideKeywords, RunKeywords, total=False):
    """Keywords of `similar_pairs_of_files`."""


class DeduplicateFilesKeywords(
    SearchKeywords, RemovalKeywords, TablesKeywords, RunKeywords, total=False
):
    """Keywords of `deduplicate_files`."""


class TrainFilesKeywords(TrainingKeywords, AsideKeywords, ReadingKeywords, total=False):
    """Keywords of `train_files`."""


class PredictFilesKeywords(LineOptionsKeywords, AsideKeywords, RunKeywords, total=False):
    """Keywords of `predict_files`."""


class FilterFilesKeywords(LabelChoiceKeywords, AsideKeywords, RunKeywords, total=False):
    """Keywords of `filter_files`."""
