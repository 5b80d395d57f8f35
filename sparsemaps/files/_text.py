"""Raw texts to LIBSVM rows, for ``sparsemaps text``."""

from typing import Any

from sparsemaps._tools._typing import Destination, StrPath
from sparsemaps.files._job import Job
from sparsemaps.files._job_options import Texts
from sparsemaps.files._map import MappingPlan


class TextPlan(MappingPlan):
    """Rows that a vectorizer makes of texts, as they are."""

    @classmethod
    def of(
        cls,
        vectorizer: Any,
        paths: list[Any],
        output: Destination,
        texts: Texts,
        bad_records: StrPath | None = None,
    ) -> "TextPlan":
        """Return the plan, after a check of all options and names."""
        return cls.of_job(Job.of_text(vectorizer, texts, bad_records), paths, output)
