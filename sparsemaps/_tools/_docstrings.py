"""Text shared by several docstrings."""

import textwrap


def filled(docstring: str, parts: dict[str, str]) -> str:
    """Replace each mark, a line such as ``[n_jobs]``, by its text."""
    lines = []
    for line in docstring.split("\n"):
        part = parts.get(line.strip().removeprefix("[").removesuffix("]"))
        indent = line[: len(line) - len(line.lstrip())]
        lines.append(line if part is None else textwrap.indent(part, indent))
    return "\n".join(lines)
