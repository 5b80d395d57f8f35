"""The lists of maps and of their parameters, from what the classes say of themselves.

They are written to docs/maps.md before the pages are found: api.md includes it, and autosummary
looks there for the objects that have a page.
"""

from pathlib import Path

from sparsemaps.cli._options import CLASSES

LISTS = Path(__file__).parents[1] / "maps.md"


def text():
    """Both lists."""
    classes = dict(sorted(CLASSES.items()))
    return "\n".join(
        [
            "```{eval-rst}",
            ".. currentmodule:: sparsemaps",
            "",
            ".. autosummary::",
            "   :toctree: generated",
            "   :nosignatures:",
            "",
            *(f"   {name}" for name in classes),
            "```",
            "",
            "Every map also has `random_state` and `n_jobs`. A value that is not allowed is an",
            "error of `fit`.",
            "",
            "| Map | Parameter | Type | Default | Range |",
            "|---|---|---|---|---|",
            *(
                f"| `{name}` | `{parameter}` | {allowed.type} | `{cls.defaults[parameter]!r}` | "
                f"{allowed.range} |".replace("  |", " |")
                for name, cls in classes.items()
                for parameter, allowed in cls.allowed.items()
            ),
            "",
        ]
    )


def setup(app):
    LISTS.write_text(text(), encoding="utf-8")
    return {"parallel_read_safe": True}
