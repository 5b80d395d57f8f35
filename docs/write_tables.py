"""Writes the lists of maps in the documents, from what the classes say of themselves.

    python docs/write_tables.py

A test asserts that the lists are current.
"""

from pathlib import Path

from sparsemaps.cli._options import CLASSES

ROOT = Path(__file__).resolve().parent.parent


def lists():
    """For each list: the file, the text before it, the text behind it, and its lines."""
    classes = dict(sorted(CLASSES.items()))
    rows = [(name, cls.about.kernel, cls.about.output) for name, cls in classes.items()]
    yield (
        "sparsemaps/__init__.py",
        "are a kernel's values on average.\n\n",
        "\n\nBeside the maps",
        [f"- `{name}`: {kernel}; {output}." for name, kernel, output in rows],
    )
    yield (
        "docs/api.md",
        "## Maps\n\n```{eval-rst}\n.. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n",
        "\n```",
        [f"   {name}" for name in classes],
    )
    yield (
        "docs/api.md",
        "is an error of `fit`.\n\n",
        "\n\n",
        [
            "| Map | Parameter | Type | Default | Range |",
            "|---|---|---|---|---|",
            *(
                f"| `{name}` | `{parameter}` | {allowed.type} | `{cls.defaults[parameter]!r}` | "
                f"{allowed.range} |".replace("  |", " |")
                for name, cls in classes.items()
                for parameter, allowed in cls.allowed.items()
            ),
        ],
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
