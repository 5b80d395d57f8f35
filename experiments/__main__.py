"""``python -m experiments --data DIRECTORY -o RESULTS``: the papers' tables and figures."""

import argparse
import os
import shlex
import sys
from pathlib import Path

import matplotlib.pyplot as plt

from experiments import (
    advice,
    compared,
    datasets,
    equal_bytes,
    features,
    guide,
    nonlinear,
    pages,
    plain,
    polynomial,
    report,
    runner,
)

EXPERIMENTS = [
    *guide.EXPERIMENTS,
    *advice.EXPERIMENTS,
    *compared.EXPERIMENTS,
    *plain.EXPERIMENTS,
    *equal_bytes.EXPERIMENTS,
    *polynomial.EXPERIMENTS,
    *features.EXPERIMENTS,
    *nonlinear.EXPERIMENTS,
    *pages.EXPERIMENTS,
]

PAPERS = {
    "pham": "N. Pham, R. Pagh, Fast and scalable polynomial kernels via explicit feature maps, "
    "KDD 2013",
    "rahimi": "A. Rahimi, B. Recht, Random features for large-scale kernel machines, NIPS 2007",
    "fastfood": "Q. Le, T. Sarlós, A. Smola, Fastfood, ICML 2013",
    "guide": "The user guide's measurements",
    "li": "P. Li, A comparison study of nonlinear kernels, arXiv 1603.06541",
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    names = ", ".join(experiment.name for experiment in EXPERIMENTS)
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Measure the tables and figures of four papers beside the published ones. What "
        "was measured before is kept, so that a run that was ended goes on where it was.",
        epilog=f"Experiments: {names}.",
    )
    add = parser.add_argument
    add("--data", required=True, help="directory of LIBSVM files, NAME.train.svm.xz")
    add("-o", "--results", required=True, type=Path, help="where tables and plots go")
    add(
        "--only",
        action="append",
        metavar="NAME",
        default=[],
        help="experiments whose name contains NAME, such as figure-5 or li-; may be repeated",
    )
    add("--quick", action="store_true", help="small samples, in minutes")
    add("--seeds", type=int, default=3, help="repetitions (default: 3)")
    add("--rows", type=int, help="at most so many training rows of each data set")
    add("--jobs", type=int, default=os.cpu_count() or 1,
        help="processes (default: as many as there are processors)")  # fmt: skip
    add(
        "--minutes",
        type=float,
        help="begin nothing new after so many minutes; the rest is marked 'not run'",
    )
    options = parser.parse_args(arguments)
    if not Path(options.data).is_dir():
        parser.error(f"--data: {options.data} is not a directory")
    if options.seeds < 1 or options.jobs < 1:
        parser.error("--seeds and --jobs must be at least 1")
    if not chosen(options.only):
        parser.error(f"--only: no experiment is named {' or '.join(options.only)}")
    return options


def chosen(only: list[str]) -> list[runner.Experiment]:
    """Return the experiments whose names contain one of `only`."""
    return [e for e in EXPERIMENTS if not only or any(part in e.name for part in only)]


RUN = "## How it was run"

BESIDE = (
    "For the best simple models on these data sets (linear models on scaled and one-hot columns, "
    "boosted trees and exact kernels), see [Li's sets]"
    "(#li-linear-models-and-boosted-trees-beside-the-kernels) and "
    "[the figures behind the advice](#the-figures-behind-the-advice)."
)
"""The published figures to compare with."""


def write_index(
    options: runner.Options, results: runner.Results, command: str, *, is_part: bool
) -> None:
    """Write index.md of the results: each table and plot, the machine, and the sources of the data.

    After a partial run, retain what the page says about the previous run.
    """
    index = options.results / "index.md"
    before = index.read_text(encoding="utf-8") if index.exists() and is_part else ""
    lines = ["# The papers, reproduced", ""]
    summary = options.results / "summary.md"
    if summary.exists():  # a summary in words
        lines += [summary.read_text(encoding="utf-8").rstrip(), ""]
    for short, paper in PAPERS.items():
        lines += [f"## {paper}", "", BESIDE, ""]
        for experiment in EXPERIMENTS:
            for name in (f"{experiment.name}{part}" for part in ("", "-figures", "-seconds")):
                page = options.results / f"{name}.md"
                if name.startswith(short) and page.exists():
                    lines += [page.read_text(encoding="utf-8").replace("## ", "### ", 1)]
    lines += ["## Data sets", "", "| name | at hand | from | licence |", "|---|---|---|---|"]
    for name, source in datasets.SOURCES.items():
        at_hand = "yes" if datasets.has(options.data, name) else "no"
        lines.append(f"| {name} | {at_hand} | <{source.address}> | {source.licence} |")
    n_cells, hours = len(results.found), results.seconds / 3600
    versions = ", ".join(f"{name} {number}" for name, number in runner.versions().items())
    lines += ["", RUN, "", f"Command: `{command}`.", ""]
    lines += [
        f"{n_cells:,} measurements: {hours:.1f} hours one after the other, each by one thread.",
        "",
        f"Machine: {runner.machine()}.",
        "",
        f"Versions: {versions}.",
    ]
    if RUN in before:
        lines = [*lines[: lines.index(RUN)], *before[before.index(RUN) :].splitlines()]
    index.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    asked = parse(arguments)
    options = runner.Options(
        data=asked.data,
        results=asked.results,
        quick=asked.quick,
        seeds=1 if asked.quick else asked.seeds,
        rows=asked.rows,
        jobs=asked.jobs,
        minutes=asked.minutes,
    )
    experiments = chosen(asked.only)
    cells = [cell for experiment in experiments for cell in experiment.cells(options)]
    results = runner.run(cells, options)
    with plt.rc_context(report.STYLE):
        for experiment in experiments:
            experiment.write(options, results)
    names = {asked.data: "DIRECTORY", str(asked.results): "RESULTS"}
    given = [names.get(argument, argument) for argument in arguments or sys.argv[1:]]
    command = shlex.join(["python", "-m", "experiments", *given])
    write_index(options, results, command, is_part=bool(asked.only))


if __name__ == "__main__":
    main()
