"""Raw texts to LIBSVM rows, for ``sparsemaps text``."""

from typing import Any

from sparsemaps._tools._typing import Destination, Inputs, StrPath
from sparsemaps.files._job import Job
from sparsemaps.files._job_options import Texts
from sparsemaps.files._map import MappedFile
from sparsemaps.files._outputs import MadeOutput, OutputPlan


class TextPlan(OutputPlan):
    """Rows that a vectorizer makes of texts, as they are."""

    @classmethod
    def of(
        cls,
        vectorizer: Any,
        inputs: Inputs,
        output: Destination,
        texts: Texts,
        n_jobs: int | None,
        bad_records: StrPath | None = None,
    ) -> "TextPlan":
        """Return the plan, after a check of all options and names."""
        return cls.of_job(Job.of_text(vectorizer, texts, n_jobs, bad_records), inputs, output)

    def answer(self, made: list[MadeOutput]) -> list[MappedFile]:
        return [
            MappedFile(one.input, one.output, one.numbers[0], one.skipped, sum(one.numbers[1:]))
            for one in made
        ]
