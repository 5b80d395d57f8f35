"""The table of the options of jobs, from the fields that declare them. api.md includes it."""

from pathlib import Path

from sparsemaps._tools._option_fields import table
from sparsemaps.files._job_options import JOBS, VALUES

TABLE = Path(__file__).parents[1] / "options.md"


def setup(app):
    TABLE.write_text(table(VALUES, JOBS) + "\n", encoding="utf-8")
    return {"parallel_read_safe": True}
