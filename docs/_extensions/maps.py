"""The lists of maps, of their parameters and of losses, from what these say of themselves.

They are written to docs/maps.md and docs/losses.md before the pages are found: api.md and
train_and_serve.md include them, and autosummary looks there for the objects that have a page.
"""

from pathlib import Path

from sparsemaps.cli._options import CLASSES
from sparsemaps.linear._losses import LOSSES

DOCS = Path(__file__).parents[1]


def text_of_maps():
    """The maps, and their parameters."""
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
            "Every map also has `random_state` and `n_jobs`. `fit` raises ValueError for invalid",
            "values.",
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


def text_of_losses():
    """The losses of linear models."""
    lines = [
        f"| `{name}` | {'regression' if loss.is_regression else 'classes'} | `{loss.formula}` |"
        for name, loss in LOSSES.items()
    ]
    return "\n".join(["| Loss | Of | Formula |", "|---|---|---|", *lines, ""])


def setup(app):
    (DOCS / "maps.md").write_text(text_of_maps(), encoding="utf-8")
    (DOCS / "losses.md").write_text(text_of_losses(), encoding="utf-8")
    return {"parallel_read_safe": True}
