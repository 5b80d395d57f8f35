"""Ratios to peers, commit by commit, from asv_bench/results: a plot, a table and asv's own pages.

The plot and the table are written before the site is read, to docs/generated. asv's pages are
written after it, to the folder benchmarks of the site, where the commits are at hand.
"""

import itertools
import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
from sphinx.errors import ExtensionError
from sphinx.util import logging

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "asv_bench" / "results"
MACHINE = RESULTS / "xeon-2ghz-avx512"  # results of other machines may lie beside it

SERIES = [  # title; benchmark; its parameters
    ("ICWS / datasketch\nW1", "weighted_sampling.AgainstDatasketch.track_ratio_encode", "W1"),
    ("ICWS / datasketch\nW2", "weighted_sampling.AgainstDatasketch.track_ratio_encode", "W2"),
    ("MinHash / datasketch\n1,000 members", "minhash.Sets.track_ratio_datasketch", (1000, 512)),
    ("MinHash / rensa\n1,000 members", "minhash.Sets.track_ratio_rensa", (1000, 512)),
    ("TensorSketch / scikit-learn\nW1, float64",
     "tensor_sketch.AgainstScikitLearn.track_ratio_transform", "W1", 2),
    ("TensorSketch / scikit-learn\nW1, float32",
     "tensor_sketch.AgainstScikitLearnFloat32.track_ratio_transform", "W1", 2),
    ("RandomMaclaurin / scikit-learn\nW1",
     "random_maclaurin.AgainstScikitLearn.track_ratio_transform", "W1", 2),
    ("CountSketch / stored matrix\nW2", "count_sketch.AgainstMatrix.track_ratio_transform", "W2"),
    ("CountSketch / stored matrix\nW2, CSR",
     "count_sketch.SparseAgainstMatrix.track_ratio_transform", "W2"),
    ("RandomFourier / RBFSampler\nW1, float32",
     "random_fourier.AgainstRBFSampler.track_ratio_transform", "W1", "float32"),
    ("RandomFourier / RBFSampler\nW2, float32",
     "random_fourier.AgainstRBFSampler.track_ratio_transform", "W2", "float32"),
    ("signs / GaussianRandomProjection\nW1",
     "sign_projection.AgainstStoredMatrix.track_ratio_gaussian", "W1"),
    ("signs / GaussianRandomProjection\nW2",
     "sign_projection.AgainstStoredMatrix.track_ratio_gaussian", "W2"),
    ("Fastfood / dense product\n1024 to 16384", "fastfood.OneVector.track_ratio_call",
     (1024, 16384)),
    ("min-max Gram / NumPy\nW1", "kernels.AgainstDense.track_ratio_min_max", "W1"),
    ("χ² Gram / scikit-learn\nW1", "kernels.AgainstDense.track_ratio_chi2", "W1"),
    ("top 10 / faiss\n512 bits", "neighbors.TopK.track_ratio_faiss", 512),
    ("LIBSVM load / scikit-learn\n6 digits", "libsvm.Files.track_ratio_load", "6 digits"),
    ("LIBSVM load / xgboost\nW1", "libsvm.AgainstXgboost.track_ratio_load", "W1"),
    ("LIBSVM dump / scikit-learn\n6 digits", "libsvm.Files.track_ratio_dump", "6 digits"),
]  # fmt: skip


class Fall(NamedTuple):
    """A series that fell and stayed down: the first commit below, and why."""

    title: str
    commit: str
    reason: str


FALLS = [
    Fall(
        "ICWS / datasketch\nW1", "27fdf22",
        "The loop of the samples did not change. Rows were cut into more blocks from then on, so "
        "that threads share the work evenly, and each block makes the random numbers of its "
        "columns anew. Whether the blocks are the cause was not measured.",
    ),
]  # fmt: skip
"""Falls of more than a quarter that the later commits did not make up."""


class Commit(NamedTuple):
    """What asv found at a commit: its date in milliseconds; values by benchmark and parameters."""

    hash: str
    date: int
    values: dict


def read_commits():
    """The commits with results, from the first to the last, and the machine that they ran on."""
    commits = []
    benchmarks = json.loads((RESULTS / "benchmarks.json").read_text(encoding="utf-8"))
    for path in MACHINE.glob("*-*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        values = {}
        for name, (results, params, version, *_) in found["results"].items():
            if version != benchmarks[name]["version"]:
                continue  # measured in another way
            keys = itertools.product(*params) if params else [()]
            for key, value in zip(keys, results or [], strict=False):
                if value is not None and not math.isnan(value):
                    values[name, tuple(key)] = value
        if values:
            commits.append(Commit(found["commit_hash"], found["date"], values))
    commits.sort(key=lambda commit: commit.date)
    machine = json.loads((MACHINE / "machine.json").read_text(encoding="utf-8"))
    return commits, machine


def key_of(name, *parameters):
    return name, tuple(map(repr, parameters))


def draw(commits, path):
    """Small plots side by side: the ratio at each commit."""
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sparsemaps", "font.size": 9})
    rows = -(-len(SERIES) // 2)  # in more columns, a phone shows nothing that can be read
    figure, axes = plt.subplots(rows, 2, figsize=(5.2, 1.5 * rows), layout="constrained")
    figure.patch.set_facecolor("white")
    for ax, (title, *benchmark) in zip(axes.flat, SERIES, strict=False):
        key = key_of(*benchmark)
        at = [i for i, commit in enumerate(commits) if key in commit.values]
        ratios = [commits[i].values[key] for i in at]
        ax.plot(at, ratios, "o-", color="#08519c", markersize=3.5, linewidth=1.2)
        ax.axhline(1, color="gray", linewidth=0.8, linestyle=":")
        for number, fall in enumerate(FALLS, 1):
            for i in at:
                if (fall.title, fall.commit) == (title, commits[i].hash[:7]):
                    ax.annotate(f"({number})", (i, commits[i].values[key]), xytext=(0, -11),
                                textcoords="offset points", ha="center", fontsize=8)  # fmt: skip
        if at:
            ax.annotate(
                f"{ratios[-1]:.3g}×", (at[-1], ratios[-1]), xytext=(4, 0),
                textcoords="offset points", va="center", color="#08519c", annotation_clip=False,
            )  # fmt: skip
        ax.set_title(title, fontsize=8, loc="left")
        ax.set(xlim=(-0.5, len(commits) + 1.5), xticks=[])
        ax.set_ylim(0, 1.12 * max([*ratios, 1]))
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=7)
    for ax in axes.flat[len(SERIES) :]:
        ax.set_visible(False)
    figure.supxlabel("commit, from the first to the last", fontsize=9)
    figure.supylabel("times as fast as the peer", fontsize=9)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def table(commits):
    """The first and the last ratio of each series, in Markdown."""
    lines = ["| against its peer | first | last |", "|---|---|---|"]
    for title, *benchmark in SERIES:
        key = key_of(*benchmark)
        ratios = [commit.values[key] for commit in commits if key in commit.values]
        if ratios:
            title = title.replace("\n", ", ")
            lines.append(f"| {title} | {ratios[0]:.3g} | {ratios[-1]:.3g} |")
    return "\n".join(lines)


def write_page_parts(app):
    commits, machine = read_commits()
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    draw(commits, folder / "speed.svg")
    days = [time.strftime("%d %B %Y", time.gmtime(commits[i].date / 1000)) for i in (0, -1)]
    text = (
        f"{len(commits)} commits, from {commits[0].hash[:7]} ({days[0]}) to "
        f"{commits[-1].hash[:7]} ({days[1]}), on one machine: {machine['cpu']}, "
        f"{machine['num_cpu']} processors, {machine['ram']}, {machine['os']}.\n\n"
    )
    for number, fall in enumerate(FALLS, 1):
        name = fall.title.replace("\n", ", ")
        text += f"({number}) {name}, commit {fall.commit}: {fall.reason}\n\n"
    (folder / "speed.md").write_text(text + table(commits) + "\n", encoding="utf-8")


def publish(app, exception):
    """asv's own pages."""
    if exception is not None or app.builder.name != "html":
        return
    for name in ("main", *(commit.hash for commit in read_commits()[0])):
        command = ["git", "cat-file", "-e", name]
        try:
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            logging.getLogger(__name__).info("no pages of asv: git has no %s here", name)
            return
    pages = Path(app.outdir) / "benchmarks"
    command = [sys.executable, "-m", "asv", "publish", "--no-pull", "--html-dir", str(pages)]
    ran = subprocess.run(command, cwd=ROOT / "asv_bench", capture_output=True, text=True)
    if ran.returncode:
        raise ExtensionError(f"asv publish failed:\n{ran.stdout}\n{ran.stderr}")


def setup(app):
    app.connect("builder-inited", write_page_parts)
    app.connect("build-finished", publish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
