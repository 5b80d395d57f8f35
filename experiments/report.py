"""Tables as Markdown and CSV, plots as SVG."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator

NOT_RUN = "not run"
OTHER_TASK = "not the paper's task"
"""Where our rows or classes are others than the paper's: our figures are not beside theirs."""

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sparsemaps",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "figure.facecolor": "white",
}


def number(value: float | None, digits: int = 2) -> str:
    """A figure of a table."""
    return NOT_RUN if value is None else f"{value:.{digits}f}"


def write_table(
    path: Path, title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], notes: str = ""
) -> None:
    """PATH.md and PATH.csv."""
    rows = [[str(cell) for cell in row] for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    lines = [f"## {title}", ""]
    if notes:
        lines += [notes, ""]
    lines += ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    path.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def panels(n: int, columns: int = 4, size: float = 2.6) -> tuple[Any, list[Any]]:
    """A figure of n plots."""
    columns = min(columns, n)
    rows = -(-n // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(size * columns + 0.4, size * 0.9 * rows + 0.5),
        squeeze=False, layout="constrained",
    )  # fmt: skip
    flat = list(axes.reshape(-1))
    for ax in flat[n:]:
        ax.set_axis_off()
    return figure, flat[:n]


def tick_each(ax: Any, sizes: Sequence[int]) -> None:
    """A tick at each size of a logarithmic axis, in place of powers of ten and parts of them."""
    ax.set_xticks(sizes, [str(size) for size in sizes], rotation=45)
    ax.xaxis.set_minor_locator(NullLocator())


def shared_legend(figure: Any, axes: Sequence[Any]) -> None:
    """One legend below all plots."""
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        figure.legend(
            found.values(), found.keys(), loc="outside lower center", ncols=min(4, len(found))
        )


def save(figure: Any, path: Path, title: str, notes: str = "") -> None:
    """PATH.svg, and PATH.md that shows it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    svg = io.StringIO()
    figure.savefig(svg, format="svg", metadata={"Date": None})
    # Indentation and digits beyond a hundredth of a point are a quarter of a file.
    text = re.sub(r"(\.\d\d)\d+", r"\1", svg.getvalue())
    lines = [line.strip() for line in text.splitlines()]
    path.with_suffix(".svg").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plt.close(figure)
    text = f"## {title}\n\n"
    if notes:
        text += f"{notes}\n\n"
    text += f"![{title}]({path.name}.svg)\n"
    path.with_suffix(".md").write_text(text, encoding="utf-8")


def not_run(ax: Any, name: str) -> None:
    """A plot that says that there is nothing to show."""
    ax.set(title=name, xticks=[], yticks=[])
    ax.grid(visible=False)
    ax.text(0.5, 0.5, NOT_RUN, ha="center", va="center", transform=ax.transAxes, color="gray")


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """PATH.csv: the figures of a plot."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
