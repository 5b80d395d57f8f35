"""Pham & Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD 2013."""

from typing import Any

import numpy as np

from experiments import plain, report
from experiments.runner import Cell, Experiment, Options, Results

CELLS = "experiments.polynomial_cells"
KERNELS = [(2, 0.0), (2, 1.0), (3, 0.0), (3, 1.0), (4, 0.0), (4, 1.0)]
MAPS = ("TS", "RM")
LABELS = {"TS": "TensorSketch", "RM": "RandomMaclaurin", "H0/1": "RandomMaclaurin, H0/1"}

# name, title, D, sizes of Figures 3 and 4
SETS = [
    ("covtype29k", "Covertype", 500, (100, 200, 300, 400, 500)),
    ("adult_a9a", "Adult", 200, (100, 200, 300, 400, 500)),
    ("mnist", "Mnist", 1000, (600, 700, 800, 900, 1000)),
    ("gisette", "Gisette", 5000, (1000, 2000, 3000, 4000, 5000)),
]

MAX_ROWS = {"mnist": 10_000}
OTHER_TASKS = ("covtype29k",)  # 10,000 rows in seven classes; the paper has 100,000 rows
TABLE_SETS = [item for item in SETS if item[0] not in OTHER_TASKS]

# Table 1 of the paper: accuracy of the exact kernel, TS and RM in percent, and times in seconds.
PUBLISHED = {
    ("covtype29k", 2, 0.0): ("79.73", "78.87 ± 0.06", "72.58 ± 1.46"),
    ("covtype29k", 2, 1.0): ("79.73", "78.90 ± 0.12", "75.96 ± 0.45"),
    ("covtype29k", 4, 0.0): ("84.01", "79.39 ± 0.13", "58.55 ± 2.75"),
    ("covtype29k", 4, 1.0): ("84.20", "79.36 ± 0.19", "76.76 ± 0.42"),
    ("adult_a9a", 2, 0.0): ("84.33", "84.33 ± 0.12", "77.85 ± 1.32"),
    ("adult_a9a", 2, 1.0): ("84.34", "84.51 ± 0.07", "84.42 ± 0.10"),
    ("adult_a9a", 4, 0.0): ("79.34", "81.09 ± 0.63", "58.04 ± 2.37"),
    ("adult_a9a", 4, 1.0): ("79.31", "81.89 ± 0.24", "84.04 ± 0.46"),
    ("mnist", 2, 0.0): ("97.92", "95.81 ± 0.08", "86.00 ± 1.12"),
    ("mnist", 2, 1.0): ("97.93", "95.84 ± 0.10", "92.76 ± 0.08"),
    ("mnist", 4, 0.0): ("97.17", "92.49 ± 0.22", "41.45 ± 4.81"),
    ("mnist", 4, 1.0): ("97.31", "92.44 ± 0.04", "90.07 ± 0.65"),
    ("gisette", 2, 0.0): ("97.54", "96.46 ± 0.17", "90.40 ± 0.79"),
    ("gisette", 2, 1.0): ("97.54", "96.23 ± 0.14", "90.38 ± 0.56"),
    ("gisette", 4, 0.0): ("97.91", "95.11 ± 0.15", "78.89 ± 0.68"),
    ("gisette", 4, 1.0): ("97.91", "95.21 ± 0.33", "88.86 ± 0.57"),
}
PUBLISHED_H01 = {
    "adult_a9a": "84.79 ± 0.09",
    "covtype29k": "78.88 ± 0.12",
    "mnist": "89.19 ± 0.74",
}
PUBLISHED_SPEEDUP = {
    "adult_a9a": ("", "8", "1600"),
    "covtype29k": ("", "–", "50"),
    "mnist": ("2", "9", "2"),
    "gisette": ("9", "25", "8"),
}


def kernel_name(degree: int, coef0: float) -> str:
    return f"({'1 + ' if coef0 else ''}⟨x, y⟩)^{degree}"


# The cells of each table and figure.


def _error_cells(o: Options) -> list[Cell]:
    sizes = (500, 1500, 3000) if o.quick else range(500, 3001, 500)
    return [
        Cell(
            f"{CELLS}:relative_error",
            {"name": name, "degree": degree, "coef0": coef0, "size": size,
             "seeds": o.seeds, "n_rows": 300 if o.quick else 1000},
            data="adult_a9a",
        )
        for degree, coef0 in KERNELS for name in MAPS for size in sizes
    ]  # fmt: skip


def _time_cells(o: Options) -> list[Cell]:
    sizes = (500, 1000, 2000) if o.quick else (500, 1000, 2000, 3000, 4000)
    return [
        Cell(
            f"{CELLS}:mapping_time",
            {"name": name, "source": source, "size": size, "n_rows": 200 if o.quick else 1000},
            data=None if source == "synthetic" else source,
        )
        for source in ("adult_a9a", "mnist", "synthetic") for name in MAPS for size in sizes
    ]  # fmt: skip


def _accuracy_cell(
    o: Options, source: str, name: str, degree: int, coef0: float, size: int, seed: int
) -> Cell:
    parameters = {"source": source, "name": name, "degree": degree, "coef0": coef0,
                  "size": size, "seed": seed, "n_rows": _rows(o, source)}  # fmt: skip
    return Cell(f"{CELLS}:accuracy", parameters, data=source)


def _exact_cell(o: Options, source: str, degree: int, coef0: float) -> Cell:
    parameters = {"source": source, "degree": degree, "coef0": coef0,
                  "n_rows": _rows(o, source)}  # fmt: skip
    return Cell(f"{CELLS}:exact_svm", parameters, data=source)


def _rows(o: Options, source: str) -> int | None:
    """SVMs with exact kernels on all 60,000 rows of mnist would take hours."""
    limit = MAX_ROWS.get(source)
    asked = 1000 if o.quick else o.rows
    return min((n for n in (limit, asked) if n is not None), default=None)


WITHOUT_MAP = {"linear": "linear SVM, best columns", "trees": "boosted trees"}
"""Models without a map, whose accuracy is a line of Figure 3."""


def _curve_cells(o: Options) -> list[Cell]:
    cells = []
    for source, _, _, sizes in SETS:
        for coef0 in (0.0, 1.0):
            cells.append(_exact_cell(o, source, 2, coef0))
            for name in MAPS:
                for size in sizes[:: 2 if o.quick else 1]:
                    cells += [
                        _accuracy_cell(o, source, name, 2, coef0, size, seed)
                        for seed in range(o.seeds)
                    ]
    return cells


def _table_cells(o: Options) -> list[Cell]:
    cells = []
    for source, _, size, _ in TABLE_SETS:
        for degree, coef0 in ((2, 0.0), (2, 1.0), (4, 0.0), (4, 1.0)):
            cells.append(_exact_cell(o, source, degree, coef0))
            names = [*MAPS, "H0/1"] if coef0 and degree == 4 else list(MAPS)
            cells += [
                _accuracy_cell(o, source, name, degree, coef0, size, seed)
                for name in names for seed in range(o.seeds)
            ]  # fmt: skip
    return cells


def _variance_cells(o: Options) -> list[Cell]:
    return [
        Cell(
            f"{CELLS}:variance",
            {"degree": degree, "cosine": 0.999, "size": 256, "seeds": 200 if o.quick else 2000},
        )
        for degree in (1, 2, 3, 4, 5)
    ]


# What writes them.


def _mean(results: Results, cells: list[Cell], key: str) -> tuple[float, float | None] | None:
    """Return the mean over seeds, and the standard deviation if there is more than one."""
    found = [result[key] for cell in cells if (result := results(cell)) is not None]
    if not found:
        return None
    return float(np.mean(found)), float(np.std(found, ddof=1)) if len(found) > 1 else None


def _ours(source: str, text: str) -> str:
    """Return our figure, for a table next to the paper's."""
    return report.OTHER_TASK if source in OTHER_TASKS else text


def _show(mean: tuple[float, float | None] | None) -> str:
    if mean is None:
        return report.NOT_RUN
    return f"{mean[0]:.2f}" + ("" if mean[1] is None else f" ± {mean[1]:.2f}")


def _write_errors(o: Options, results: Results) -> None:
    figure, axes = report.panels(len(KERNELS), 3)
    rows = []
    for ax, (degree, coef0) in zip(axes, KERNELS, strict=True):
        ax.set(title=kernel_name(degree, coef0), xlabel="D", ylabel="mean relative error")
        for name in MAPS:
            points = [
                (c.parameters["size"], r["error"])
                for c in _error_cells(o)
                if (c.parameters["name"], c.parameters["degree"], c.parameters["coef0"])
                == (name, degree, coef0) and (r := results(c)) is not None
            ]  # fmt: skip
            rows += [(kernel_name(degree, coef0), LABELS[name], s, f"{e:.4f}") for s, e in points]
            if points:
                ax.loglog(*zip(*points, strict=True), "o-", markersize=3, label=LABELS[name])
                report.tick_each(ax, [size for size, _ in points])
        if not ax.lines:
            report.not_run(ax, kernel_name(degree, coef0))
    report.shared_legend(figure, axes)
    notes = (
        "Mean relative error of kernel values over pairs of rows of Adult (unit length). The "
        "paper's Random Maclaurin draws useless degrees too; ours draws the degrees of the kernel "
        "only, and so is as good as the sketch for homogeneous kernels."
    )
    base = o.results / "pham-figure-1"
    report.save(figure, base, "Pham & Pagh, Figure 1: error against D", notes)
    header = ("kernel", "map", "D", "mean relative error")
    report.write_csv(base, header, rows)


def _write_times(o: Options, results: Results) -> None:
    sources = {"adult_a9a": "Adult, d = 123", "mnist": "Mnist, d = 780", "synthetic": "d = D"}
    figure, axes = report.panels(3, 3)
    rows = []
    for ax, (source, title) in zip(axes, sources.items(), strict=True):
        ax.set(title=title, xlabel="D", ylabel="µs a row")
        for name in MAPS:
            points = [
                (c.parameters["size"], r["microseconds"])
                for c in _time_cells(o)
                if (c.parameters["name"], c.parameters["source"]) == (name, source)
                and (r := results(c)) is not None
            ]
            rows += [(source, LABELS[name], size, f"{time:.1f}") for size, time in points]
            if points:
                ax.loglog(*zip(*points, strict=True), "o-", markersize=3, label=LABELS[name])
                report.tick_each(ax, [size for size, _ in points])
        if not ax.lines:
            report.not_run(ax, title)
    report.shared_legend(figure, axes)
    notes = "CPU time of the map for (1 + ⟨x, y⟩)^4, one thread, the least of three runs."
    base = o.results / "pham-figure-2"
    report.save(figure, base, "Pham & Pagh, Figure 2: time of the map", notes)
    report.write_csv(base, ("data", "map", "D", "microseconds a row"), rows)


def _was_run(o: Options, results: Results, item: tuple[str, str, int, tuple[int, ...]]) -> bool:
    """Whether there is a point of a set in Figures 3 and 4."""
    source, _, _, sizes = item
    cells = (
        _accuracy_cell(o, source, name, 2, 1.0, size, seed)
        for name in MAPS for size in sizes for seed in range(o.seeds)
    )  # fmt: skip
    return any(results(cell) is not None for cell in cells)


def _write_curves(o: Options, results: Results, key: str, base: str, title: str) -> None:
    kernels = (0.0, 1.0) if key == "accuracy" else (1.0,)
    sets = [item for item in SETS if _was_run(o, results, item)] or SETS
    figure, axes = report.panels(len(kernels) * len(sets), len(sets))
    rows = []
    places = [(coef0, item) for coef0 in kernels for item in sets]
    for ax, (coef0, (source, label, _, sizes)) in zip(axes, places, strict=True):
        ax.set(title=f"{label}, {kernel_name(2, coef0)}", xlabel="D")
        ax.set_ylabel("accuracy, %" if key == "accuracy" else "map and training, CPU s")
        for name in MAPS:
            points = []
            for size in sizes:
                cells = [_accuracy_cell(o, source, name, 2, coef0, size, s) for s in range(o.seeds)]
                mean = _mean(results, cells, key if key == "accuracy" else "train")
                if mean is None:
                    continue
                value = mean[0]
                if key != "accuracy":
                    mapped = _mean(results, cells, "map")
                    value += mapped[0] if mapped else 0
                points.append((size, value))
                rows.append((label, kernel_name(2, coef0), LABELS[name], size, f"{value:.2f}"))
            if points:
                ax.plot(*zip(*points, strict=True), "o-", markersize=3, label=LABELS[name])
        without = plain.cells_for(o, "Pham & Pagh").get(source)
        found = results(without) if without and key == "accuracy" else None
        for (name, of), style in zip(WITHOUT_MAP.items(), ("--", ":"), strict=True):
            if found is not None:
                ax.axhline(found[name], color="C2", linestyle=style, linewidth=1, label=of)
                accuracy = report.number(found[name])
                rows.append((label, kernel_name(2, coef0), of, "", accuracy))
        exact = results(_exact_cell(o, source, 2, coef0))
        if exact is not None and key == "accuracy":
            ax.axhline(exact["accuracy"], color="black", linewidth=1, label="exact kernel, SVC")
            accuracy = report.number(exact["accuracy"])
            rows.append((label, kernel_name(2, coef0), "exact kernel", "", accuracy))
        if not ax.lines:
            report.not_run(ax, label)
    report.shared_legend(figure, axes)
    missing = [label for item in SETS if item not in sets for label in item[1:2]]
    notes = _scale_note(o) + (BESIDE if key == "accuracy" else "")
    notes += f" Not run: {', '.join(missing)}." if missing else ""
    report.save(figure, o.results / base, title, notes)
    report.write_csv(o.results / base, ("data", "kernel", "map", "D", key), rows)


def _scale_note(o: Options) -> str:
    limits = [f"{label}: {n:,}" for source, label, _, _ in SETS if (n := _rows(o, source))]
    rows = f"all training rows (at most, {', '.join(limits)})" if limits else "all training rows"
    return (
        f"Rows of unit length, {rows}, C = 1, {o.seeds} seed{'s' if o.seeds > 1 else ''} (the "
        "paper: all rows, 5 runs; its Covertype is a sample of 100,000 rows, ours one of 10,000 in "
        "seven classes, which is another task)."
    )


BESIDE = (
    " Beside the maps: an SVM with the exact kernel, and, from *Models without a map*, boosted "
    "trees and the best linear SVM on unit rows, scaled or one-hot columns."
)


def _write_table_1(o: Options, results: Results) -> None:
    rows = []
    for source, label, size, _ in SETS:
        for degree, coef0 in ((2, 0.0), (2, 1.0), (4, 0.0), (4, 1.0)):
            exact = results(_exact_cell(o, source, degree, coef0))
            row = [label, str(size), kernel_name(degree, coef0)]
            published = PUBLISHED.get((source, degree, coef0), ("", "", ""))
            row += [_ours(source, report.number(exact and exact["accuracy"])), published[0]]
            for name, figure in zip(MAPS, published[1:], strict=True):
                cells = [
                    _accuracy_cell(o, source, name, degree, coef0, size, s) for s in range(o.seeds)
                ]
                row += [_ours(source, _show(_mean(results, cells, "accuracy"))), figure]
            rows.append(row)
    header = ["data", "D", "kernel", "exact, %", "paper", "TensorSketch", "paper",
              "RandomMaclaurin", "paper"]  # fmt: skip
    report.write_table(
        o.results / "pham-table-1", "Pham & Pagh, Table 1: accuracy", header, rows, _scale_note(o)
    )


def _write_table_2(o: Options, results: Results) -> None:
    rows = []
    for source, label, size, _ in SETS:
        found: dict[str, float | None] = {}
        for name in MAPS:
            cells = [_accuracy_cell(o, source, name, 4, 1.0, size, s) for s in range(o.seeds)]
            mapped, trained = (_mean(results, cells, key) for key in ("map", "train"))
            found[name] = mapped[0] + trained[0] if mapped and trained else None
            found[f"{name} map"] = mapped[0] if mapped else None
        exact = results(_exact_cell(o, source, 4, 1.0))

        def ratio(over: float | None, under: float | None, source: str = source) -> str:
            text = report.NOT_RUN if not over or not under else f"{over / under:.1f}"
            return _ours(source, text)

        published = PUBLISHED_SPEEDUP[source]
        rows.append([
            label, size, ratio(found["RM map"], found["TS map"]), published[0],
            ratio(found["RM"], found["TS"]), published[1],
            ratio(exact and exact["train"], found["TS"]), published[2],
        ])  # fmt: skip
    header = ["data", "D", "map", "paper", "map and training", "paper", "exact SVM", "paper"]
    notes = (
        "How many times as fast TensorSketch is as RandomMaclaurin (map; map and training) and as "
        "the SVM with the exact kernel, for (1 + ⟨x, y⟩)^4. " + _scale_note(o) + " Our Random "
        "Maclaurin shares work among rows and draws no useless degree, so that it is nearer."
    )
    report.write_table(
        o.results / "pham-table-2", "Pham & Pagh, Table 2: speed", header, rows, notes
    )


def _write_table_3(o: Options, results: Results) -> None:
    rows = []
    for source, label, size, _ in SETS:
        row: list[Any] = [label, size]
        for name in ("TS", "H0/1"):
            cells = [_accuracy_cell(o, source, name, 4, 1.0, size, s) for s in range(o.seeds)]
            row.append(_ours(source, _show(_mean(results, cells, "accuracy"))))
            if name == "TS":
                row.append(PUBLISHED.get((source, 4, 1.0), ("", "", ""))[1])
        rows.append([*row, PUBLISHED_H01.get(source, "")])
    header = ["data", "D", "TensorSketch", "paper", "RandomMaclaurin, H0/1", "paper"]
    report.write_table(
        o.results / "pham-table-3", "Pham & Pagh, Table 3: H0/1 for (1 + ⟨x, y⟩)^4", header, rows,
        _scale_note(o),
    )  # fmt: skip


def _write_variance(o: Options, results: Results) -> None:
    figure, (ax,) = report.panels(1, 1, 4.5)
    rows = []
    cells = [(c, r) for c in _variance_cells(o) if (r := results(c)) is not None]
    degrees = [c.parameters["degree"] for c, _ in cells]
    a, overlap = (np.array([r[key] for _, r in cells]) for key in ("inner", "overlap"))
    a, p = a**2, np.array(degrees)
    lines = {
        "lemma 6 of the paper": a**p + 1,
        "fully random hashes": (a + 1 - overlap) ** p + (2 * a - overlap) ** p - 2 * a**p,
        "Avron, Nguyen & Woodruff 2014": 2 + 3.0**p,
    }
    for (name, values), style in zip(lines.items(), ("s--", "-", "^:"), strict=True):
        ax.semilogy(p, values, style, markersize=4, label=name)
    measured = [r["variance"] for _, r in cells]
    errors = [5 * r["error"] for _, r in cells]
    ax.errorbar(p, measured, errors, fmt="ko", markersize=4, capsize=2, label="measured")
    ax.set(xlabel="degree", ylabel="variance × D", xticks=degrees)
    ax.legend()
    for number, (_, result) in enumerate(cells):
        rows.append((degrees[number], f"{result['variance']:.2f}", f"{result['error']:.2f}",
                     *(f"{values[number]:.2f}" for values in lines.values())))  # fmt: skip
    notes = (
        "Variance of TensorSketch's estimate for two rows of unit length and inner product 0.999, "
        "D = 256, with five standard errors. Lemma 6 assumes that the signs of tuples are 4-wise "
        "independent, but products of signs are not: the measured variance is above the lemma's "
        "from degree 2 on. It equals the variance of fully random hashes, "
        "and is below the bound of Avron, Nguyen & "
        "Woodruff."
    )
    base = o.results / "pham-lemma-6"
    report.save(figure, base, "Pham & Pagh, Lemma 6: the measured variance", notes)
    header = ("degree", "measured", "standard error", *lines)
    report.write_csv(base, header, rows)


EXPERIMENTS = [
    Experiment("pham-lemma-6", "variance against the lemma", _variance_cells, _write_variance),
    Experiment("pham-figure-1", "error against D", _error_cells, _write_errors),
    Experiment("pham-figure-2", "time of the map", _time_cells, _write_times),
    Experiment("pham-table-1", "accuracy", _table_cells, _write_table_1),
    Experiment("pham-table-2", "speed", _table_cells, _write_table_2),
    Experiment("pham-table-3", "H0/1", _table_cells, _write_table_3),
    Experiment(
        "pham-figure-3", "accuracy against D",
        lambda o: [*_curve_cells(o), *plain.cells_for(o, "Pham & Pagh").values()],
        lambda o, r: _write_curves(
            o, r, "accuracy", "pham-figure-3", "Pham & Pagh, Figure 3: accuracy against D"
        ),
    ),
    Experiment(
        "pham-figure-4", "training time against D", _curve_cells,
        lambda o, r: _write_curves(
            o, r, "seconds", "pham-figure-4", "Pham & Pagh, Figure 4: time of map and training"
        ),
    ),
]  # fmt: skip
