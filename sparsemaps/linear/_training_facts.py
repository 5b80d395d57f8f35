"""Facts about the training in a model's file: when, on how many records, and how well."""

import math
import numbers
import os
import re
import time
from typing import Any, NamedTuple

from sparsemaps._tools import _checks


class TrainingFacts(NamedTuple):
    """When and on what data a model was trained. The file stores its parameters separately."""

    date: str
    """In UTC: "2026-11-26T21:00:00Z"."""
    n_records: int
    weight: float | None
    """Sum of the weights of records; None if they have none."""
    options: dict[str, Any]
    """Options given to `train_files` that are not parameters of the model."""
    validation: tuple[int, float] | None
    """Number of validation records, and the accuracy or R2."""
    scores: tuple[tuple[float, float, float | None], ...]
    """If C was chosen among several values: each value with its score and the standard error."""

    @classmethod
    def of(cls, described: object) -> "TrainingFacts | None":
        """Return the facts in a description, which may have been modified by anyone, or None if
        there are none. Raise a ValueError, or an error of a wrong type, if they are invalid."""
        if described is None:
            return None
        facts = cls(**described)  # type: ignore[arg-type]
        options, validation = facts.options, facts.validation
        _require(isinstance(facts.date, str) and bool(_DATE.fullmatch(facts.date)))
        _require(isinstance(options, dict) and len(options) <= _MOST_OPTIONS)
        n_records = _checks.check_int("n_records", facts.n_records, 0, _checks.LARGEST_INT)
        if validation is not None:
            n_tried, score = validation
            n_tried = _checks.check_int("n_records", n_tried, 0, _checks.LARGEST_INT)
            validation = n_tried, _number(score)
        weight = None if facts.weight is None else _number(facts.weight)
        _require(isinstance(facts.scores, list))
        scores = tuple(
            (_number(C), _number(score), None if error is None else _number(error))
            for C, score, error in facts.scores
        )
        return cls(facts.date, n_records, weight, options, validation, scores)


_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)

_MOST_OPTIONS = 100


def _require(is_sound: bool) -> None:
    if not is_sound:
        raise ValueError("its training facts are invalid")


def _number(value: object) -> float:
    _require(isinstance(value, numbers.Real) and not isinstance(value, bool))
    _require(math.isfinite(value))  # type: ignore[arg-type]
    return float(value)  # type: ignore[arg-type]


def date_of_training() -> str:
    """Return the present time, or the time in the variable SOURCE_DATE_EPOCH, so that builds are
    reproducible."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "").strip()
    if given and not (re.fullmatch(r"\d{1,11}", given, re.ASCII)):
        raise ValueError(f"SOURCE_DATE_EPOCH must be seconds since 1970, got {given!r}")
    moment = time.gmtime(int(given) if given else None)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", moment)
