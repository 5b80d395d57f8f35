"""Rahimi & Recht, NIPS 2007, and Le, Sarlos & Smola (Fastfood), ICML 2013."""

from typing import Any

import numpy as np

from experiments import report
from experiments.runner import Cell, Experiment, Options, Results

CELLS = "experiments.regression"

# Data of Rahimi & Recht's Table 1: ours, D, P, and the published errors: Fourier, binning, exact.
RAHIMI = [
    ("cpu_act", "CPU", 300, 350, ("3.6 %", "5.3 %", "11 %")),
    ("census", "Census", 500, 30, ("5 %", "7.5 %", "9 %")),
    ("adult_a9a", "Adult", 500, 30, ("14.9 %", "15.3 %", "15.1 %")),
    ("covtype29k", "Forest Cover", 5000, 50, ("11.6 %", "2.2 %", "2.2 %")),
    ("kddcup99", "KDDCUP99", 50, 10, ("7.3 %", "7.3 %", "8.3 %")),
]
FASTFOOD_SETS = [
    ("insurance_coil", "Insurance"),
    ("wine_white", "Wine quality, white"),
    ("parkinsons", "Parkinson"),
    ("cpu_act", "CPU"),
    ("ct_slices", "CT slices"),
    ("kegg", "KEGG network"),
    ("year", "Year prediction"),
    ("covtype29k", "Forest"),
]
OTHER_TASKS = ("covtype29k",)  # a sample of 10,000 rows; the papers have 522,000
KINDS = ["exact Gaussian", "Nystroem", "Fourier", "Fastfood", "Fastfood, fft", "exact Matern",
         "Fastfood, Matern", "exact Laplacian", "binning"]  # fmt: skip
SPEEDS = {
    (1024, 16384): ("24", "256"),
    (4096, 32768): ("90", "1024"),
    (8192, 65536): ("200", "2048"),
}


def _gammas(o: Options) -> list[int]:
    return [-4, -2, 0] if o.quick else list(range(-8, 3, 2))


def _rows(o: Options) -> int | None:
    return 1000 if o.quick else o.rows


def _ridge(o: Options, name: str, kind: str, size: int, n_rows: int | None) -> Cell:
    parameters = {"name": name, "kind": kind, "size": size, "seed": 0, "n_rows": n_rows,
                  "log_gammas": _gammas(o)}  # fmt: skip
    return Cell(f"{CELLS}:ridge", parameters, data=name)


def _rahimi(o: Options, name: str, d: int, p: int) -> dict[str, Cell]:
    if name in OTHER_TASKS:
        return {}
    return {
        "Fourier": _ridge(o, name, "Fourier", d, _rows(o)),
        "binning": _ridge(o, name, "binning", p, _rows(o)),
        "both": _ridge(o, name, "Fourier and binning", d, _rows(o)),
        "exact Gaussian": _ridge(o, name, "exact Gaussian", 0, _rows(o)),
        "exact Laplacian": _ridge(o, name, "exact Laplacian", 0, _rows(o)),
    }


def _rahimi_cells(o: Options) -> list[Cell]:
    return [cell for name, _, d, p, _ in RAHIMI for cell in _rahimi(o, name, d, p).values()]


def _write_rahimi(o: Options, results: Results) -> None:
    rows = []
    for name, label, d, p, published in RAHIMI:
        found = {kind: results(cell) for kind, cell in _rahimi(o, name, d, p).items()}

        missing = report.OTHER_TASK if name in OTHER_TASKS else report.NOT_RUN

        def show(kind: str, found: Any = found, missing: str = missing) -> str:
            result = found.get(kind)
            if result is None:
                return missing
            return f"{100 * result['of_norm']:.1f} %, {result['seconds']:.1f} s"

        size = next((str(r["rows"]) for r in found.values() if r), missing)
        rows.append([
            label, size, str(d), show("Fourier"), published[0], str(p), show("binning"),
            published[1], show("both"), show("exact Gaussian"), show("exact Laplacian"),
            published[2],
        ])  # fmt: skip
    header = ["data", "training rows", "D", "Fourier", "paper", "P", "binning", "paper",
              "both together", "exact Gaussian", "exact Laplacian",
              "exact SVM (paper)"]  # fmt: skip
    notes = (
        "Ridge regression: the share of wrong test rows, or the root mean squared error divided "
        "by the norm of the truth; "
        "CPU time of mapping and one fit. The paper does not say how "
        "it scales errors. Its Forest Cover has 522,000 rows, of classes that it does not name; "
        "the sample at hand has 10,000, in seven classes (see Figure 3). Both together are D "
        "Fourier features and D / 10 grids in a FeatureUnion. Exact kernels take at most 4,000 "
        "training rows. Linear models and boosted trees: see *Models without a map*."
    )
    report.write_table(
        o.results / "rahimi-table-1",
        "Rahimi & Recht, Table 1: ridge regression",
        header,
        rows,
        notes,
    )


def _forest(o: Options, p: int, n_rows: int) -> Cell:
    return _ridge(o, "covtype29k", "binning", p, n_rows)


def _forest_grid(o: Options) -> tuple[list[int], list[int]]:
    sizes = [250, 500, 1000] if o.quick else [625, 1250, 2500, 5000, 10000]
    return sizes, [5, 20] if o.quick else [5, 10, 20, 40, 80]


def _forest_cells(o: Options) -> list[Cell]:
    sizes, grids = _forest_grid(o)
    return [
        *(_forest(o, grids[-1], n) for n in sizes),
        *(_forest(o, p, sizes[-1]) for p in grids),
    ]


def _write_forest(o: Options, results: Results) -> None:
    sizes, grids = _forest_grid(o)
    figure, axes = report.panels(3, 3)
    plots = [
        ("training rows", f"P = {grids[-1]}", "error",
         [(n, _forest(o, grids[-1], n)) for n in sizes]),
        ("P", f"{sizes[-1]} training rows", "error",
         [(p, _forest(o, p, sizes[-1])) for p in grids]),
        ("P", f"{sizes[-1]} training rows", "seconds",
         [(p, _forest(o, p, sizes[-1])) for p in grids]),
    ]  # fmt: skip
    rows = []
    for ax, (x, title, key, cells) in zip(axes, plots, strict=True):
        points = [(value, r[key]) for value, cell in cells if (r := results(cell)) is not None]
        rows += [(x, title, key, value, f"{found:.4f}") for value, found in points]
        if not points:
            report.not_run(ax, title)
            continue
        values = [(n, 100 * e if key == "error" else e) for n, e in points]
        ax.semilogx(*zip(*values, strict=True), "o-", markersize=3)
        label = "test error, %" if key == "error" else "map and fit, s"
        ax.set(title=title, xlabel=x, ylabel=label)
        ax.set_xticks([n for n, _ in values], [str(n) for n, _ in values], rotation=45)
        ax.minorticks_off()
    notes = (
        "Random binning on a sample of Forest Cover (seven classes; the paper does not name its "
        "own, and has up to 522,000 rows): the error falls with the training rows and with the "
        "grids P."
    )
    base = o.results / "rahimi-figure-3"
    report.save(figure, base, "Rahimi & Recht, Figure 3: Forest Cover", notes)
    report.write_csv(base, ("against", "at", "what", "value", "found"), rows)


def _kernel_cells(o: Options) -> list[Cell]:
    sizes = [2**k for k in range(4, 10 if o.quick else 13, 2 if o.quick else 1)]
    return [
        Cell(f"{CELLS}:kernel_rmse", {"kind": kind, "size": size, "seeds": o.seeds,
                                      "n_rows": 300 if o.quick else 1000})
        for kind in ("Fourier", "Fastfood", "Fastfood, fft") for size in sizes
    ]  # fmt: skip


def _write_kernel(o: Options, results: Results) -> None:
    figure, (ax,) = report.panels(1, 1, 4)
    rows = []
    for kind in ("Fourier", "Fastfood", "Fastfood, fft"):
        points = [
            (cell.parameters["size"], r["rmse"]) for cell in _kernel_cells(o)
            if cell.parameters["kind"] == kind and (r := results(cell)) is not None
        ]  # fmt: skip
        rows += [(kind, size, f"{rmse:.5f}") for size, rmse in points]
        if points:
            ax.loglog(*zip(*points, strict=True), "o-", markersize=3, label=kind)
    ax.set(xlabel="features n", ylabel="root mean square error of the kernel")
    if ax.lines:
        ax.legend()
    else:
        report.not_run(ax, "")
    notes = (
        "Gaussian kernel (gamma = 1/2) of uniform points of [0, 1]^10. Fastfood needs up to twice "
        "as many features for the same error (see its variance below)."
    )
    base = o.results / "fastfood-figure-1"
    report.save(figure, base, "Fastfood: error of the kernel against n", notes)
    report.write_csv(base, ("map", "n", "rmse"), rows)


def _variance_cells(o: Options) -> list[Cell]:
    return [
        Cell(f"{CELLS}:pair_variance",
             {"kind": kind, "distance": distance, "seeds": 200 if o.quick else 2000})
        for kind in ("Fourier", "Fastfood") for distance in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
    ]  # fmt: skip


def _write_variance(o: Options, results: Results) -> None:
    figure, (ax,) = report.panels(1, 1, 4)
    rows = []
    for kind, mark in (("Fourier", "o"), ("Fastfood", "s")):
        points = [
            (c.parameters["distance"], r["variance"], 5 * r["error"]) for c in _variance_cells(o)
            if c.parameters["kind"] == kind and (r := results(c)) is not None
        ]  # fmt: skip
        rows += [(kind, v, f"{x:.4f}", f"{e / 5:.4f}") for v, x, e in points]
        if points:
            v, x, e = zip(*points, strict=True)
            ax.errorbar(v, x, e, fmt=mark, markersize=4, capsize=2, label=f"{kind}, measured")
    v = np.linspace(0.05, 3, 200)
    one = (1 - np.exp(-(v**2))) ** 2
    ax.plot(v, one, color="black", linewidth=1, label="independent pairs, (1 − e^(−v²))²")
    bound = one + 12 * v**4 * (np.exp(-(v**2)) + v**2 / 3)
    leading = one + np.exp(-(v**2)) * v**4
    ax.plot(v, leading, color="C1", linewidth=1, label="blocks, leading order")
    ax.plot(v, bound, "--", color="gray", linewidth=1, label="Fastfood's bound")
    ax.set(xlabel="distance v", ylabel="variance × features", ylim=(0, 1.5))
    ax.legend()
    notes = (
        "Variance of a Gaussian kernel value at distance v (128 columns, one block of 128 pairs), "
        "times the number of features, with five standard errors. Projections of one block of "
        "Fastfood are correlated, which adds exp(−v²) v⁴ to leading order: at most twice the "
        "variance of Fourier features near v = 0, and nothing at large distances. The published "
        "bound is many times larger from v = 1/2 on."
    )
    base = o.results / "fastfood-variance"
    report.save(figure, base, "Fastfood: variance beside Fourier features", notes)
    report.write_csv(base, ("map", "distance", "variance times features", "standard error"), rows)


def _speed_cells(o: Options) -> list[Cell]:
    sizes = list(SPEEDS)[:1] if o.quick else list(SPEEDS)
    return [Cell(f"{CELLS}:speed", {"d": d, "n": n}) for d, n in sizes]


def _write_speed(o: Options, results: Results) -> None:
    rows = []
    found = {(c.parameters["d"], c.parameters["n"]): results(c) for c in _speed_cells(o)}
    for (d, n), (faster, smaller) in SPEEDS.items():
        r = found.get((d, n))
        ours = [report.NOT_RUN] * 4
        if r is not None:
            ours = [f"{1e3 * r['dense']:.2f}", f"{1e3 * r['call']:.2f}",
                    f"{r['dense'] / r['call']:.0f}", f"{r['memory']:.0f}"]  # fmt: skip
        rows.append([str(d), str(n), ours[0], ours[1], ours[2], faster, ours[3], smaller])
    header = ["d", "n", "dense product, ms", "Fastfood, ms", "times as fast", "paper",
              "times less memory", "paper"]  # fmt: skip
    notes = (
        "One vector of d numbers, n projections, float32. NumPy's product with a dense matrix on "
        "all processors, beside a whole call of transform on one, which also validates the input "
        "and computes 2 n cosines and sines; the paper times predictions, from the raw "
        "features of a vector to its label."
    )
    report.write_table(
        o.results / "fastfood-table-1", "Fastfood, Table 1: speed and memory", header, rows, notes
    )


def _regression_cells(o: Options) -> list[Cell]:
    size, grids = (200, 100) if o.quick else (500, 350)
    return [
        _ridge(o, name, kind, grids if kind == "binning" else size, _rows(o))
        for name, _ in FASTFOOD_SETS if name not in OTHER_TASKS for kind in KINDS
    ]  # fmt: skip


def _write_regression(o: Options, results: Results) -> None:
    rows = []
    found = {(c.parameters["name"], c.parameters["kind"]): results(c) for c in _regression_cells(o)}
    for name, label in FASTFOOD_SETS:
        row = [label]
        for kind in KINDS:
            result = found.get((name, kind))
            missing = report.OTHER_TASK if name in OTHER_TASKS else report.NOT_RUN
            row.append(missing if result is None else f"{result['error']:.3f}")
        rows.append(row)
    notes = (
        "Test error (root mean square) of ridge regression; 500 features, 350 grids; gamma and the "
        "ridge are the best on a fifth of the training rows, columns have variance 1. Nystroem is "
        "scikit-learn's, with a Gaussian kernel; Matern is of degree 4, the kernel that Fastfood "
        "approximates. Exact kernels take at most 4,000 training rows. The paper's Table 2 has "
        "other splits and scales, so that its figures cannot be compared with these; "
        "Forest is not "
        "the paper's task (10,000 rows here, 522,000 there). Linear models and boosted trees: see "
        "*Models without a map*."
    )
    header = ["data", *KINDS]
    report.write_table(
        o.results / "fastfood-table-2", "Fastfood, Table 2: regression", header, rows, notes
    )


def _curve_sizes(o: Options) -> list[int]:
    return [50, 200] if o.quick else [64, 128, 256, 512, 1024]


def _curve_cells(o: Options) -> list[Cell]:
    return [
        _ridge(o, "cpu_act", kind, size, _rows(o))
        for kind in ("Fourier", "Fastfood", "Fastfood, fft", "Fastfood, Matern")
        for size in _curve_sizes(o)
    ]


def _write_curve(o: Options, results: Results) -> None:
    figure, (ax,) = report.panels(1, 1, 4)
    rows = []
    for kind in ("Fourier", "Fastfood", "Fastfood, fft", "Fastfood, Matern"):
        points = [
            (c.parameters["size"], r["error"]) for c in _curve_cells(o)
            if c.parameters["kind"] == kind and (r := results(c)) is not None
        ]  # fmt: skip
        rows += [(kind, size, f"{error:.4f}") for size, error in points]
        if points:
            ax.loglog(*zip(*points, strict=True), "o-", markersize=3, label=kind)
    ax.set(xlabel="features", ylabel="test error (root mean square)", title="CPU")
    if ax.lines:
        ax.legend()
    else:
        report.not_run(ax, "CPU")
    base = o.results / "fastfood-figure-2"
    report.save(figure, base, "Fastfood, Figure 2: regression against the number of features",
                "CPU (cpu_act), ridge regression as in Table 2.")  # fmt: skip
    report.write_csv(base, ("map", "features", "error"), rows)


EXPERIMENTS = [
    Experiment("fastfood-figure-1", "error of the kernel", _kernel_cells, _write_kernel),
    Experiment("fastfood-variance", "variance beside Fourier", _variance_cells, _write_variance),
    Experiment("fastfood-table-1", "speed and memory", _speed_cells, _write_speed),
    Experiment("fastfood-figure-2", "regression against n", _curve_cells, _write_curve),
    Experiment("fastfood-table-2", "regression", _regression_cells, _write_regression),
    Experiment("rahimi-table-1", "ridge regression", _rahimi_cells, _write_rahimi),
    Experiment("rahimi-figure-3", "Forest Cover", _forest_cells, _write_forest),
]
