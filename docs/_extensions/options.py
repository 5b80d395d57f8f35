"""The table of the options of jobs, which api.md includes, and the page of the command.

Both are made of the fields and parsers that declare the options.
"""

import os
from pathlib import Path

from sparsemaps._tools._option_fields import table
from sparsemaps.cli import make_parser
from sparsemaps.files._job_options import JOBS, VALUES

DOCS = Path(__file__).parents[1]
TABLE, COMMAND = DOCS / "options.md", DOCS / "command.md"

INTRODUCTION = """# The command

`sparsemaps COMMAND --help` explains the options that most people need, and `--help-all` explains
all of them, as this page does. `man sparsemaps` has all of it on one page. For commands that take a
map or a kernel, this page shows the options of `minmax`. `sparsemaps map MAP --help-all` shows
those of another map.
"""


def commands_of(parser):
    """The parsers of subcommands by their names."""
    return next((a.choices for a in parser._actions if isinstance(a.choices, dict)), {})


def page():
    """Return the page of the command: the full help of each subcommand."""
    parts = [INTRODUCTION]
    for name, parser in commands_of(make_parser()).items():
        maps = commands_of(parser)
        shown = maps["minmax"] if maps else parser
        names = f"\n\nMaps: {', '.join(f'`{one}`' for one in maps)}." if maps else ""
        if name == "kernel":
            names = names.replace("Maps", "Kernels")
        text = shown.format_help_of_all().rstrip()
        parts.append(f"## {name}{names}\n\n```{{code-block}} text\n{text}\n```\n")
    return "\n".join(parts)


def setup(app):
    os.environ["COLUMNS"] = "90"  # the width of help
    TABLE.write_text(table(VALUES, JOBS) + "\n", encoding="utf-8")
    COMMAND.write_text(page(), encoding="utf-8")
    return {"parallel_read_safe": True}
