"""Writes the lists of maps in the documents, from what the classes say of themselves.

    python docs/write_tables.py

A test asserts that the lists are current.
"""

from pathlib import Path

import sparsemaps

ROOT = Path(__file__).resolve().parent.parent


def lists():
    """For each list: the file, the text before it, the text behind it, and its lines."""
    rows = [(f"`{name}`", *getattr(sparsemaps, name)._summary) for name in sorted(sparsemaps._MAPS)]
    yield (
        "sparsemaps/__init__.py",
        "are a kernel's values on average.\n\n",
        "\n\nBeside the maps",
        [f"- {name}: {kernel}; {output}." for name, kernel, output in rows],
    )
    yield (
        "docs/api.md",
        "## Maps\n\n```{eval-rst}\n.. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n",
        "\n```",
        [f"   {name.strip('`')}" for name, *_ in rows],
    )


def written(path, before, behind, lines):
    """The text of a file with a list in its place."""
    head, mark, rest = (ROOT / path).read_text(encoding="utf-8").partition(before)
    _, end, tail = rest.partition(behind)
    assert mark, f"{path} has no {before!r}"
    assert end, f"{path} has no {behind!r}"
    return head + mark + "\n".join(lines) + end + tail


if __name__ == "__main__":
    for path, *rest in lists():
        (ROOT / path).write_text(written(path, *rest), encoding="utf-8")
