"""The user guide's advice, measured on sets that made it and on others.

For each kind of data, some sets determine which model is advised, and others test the advice.
`sparsemaps.comparison` searches on the training rows, with linear models, boosted trees and exact
kernels besides the maps. The best model of each family on held-out training rows is scored on the
test rows.
"""

import time
from typing import Any, NamedTuple

from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split

from experiments import datasets, report
from experiments.runner import Cell, Experiment, Options, Results
from sparsemaps.comparison import Measured, compare_by
from sparsemaps.comparison._budget import Budget

MOST_ROWS = 10_000
SECONDS, LONGER = 45, {"usps": 120, "sector": 120, "mnist": 240}
"""CPU time of one comparison. Boosted trees of hundreds of columns and ten classes, and models of
105 classes, need more than others."""

LINEAR, TREES, EXACT = "linear", "boosted trees", "exact kernel"
MIN_MAX, LAPLACIAN, GAUSSIAN = "min-max", "Laplacian", "Gaussian"
PLAIN, BEST = (LINEAR, TREES, EXACT), "best map"
MAPS = MIN_MAX, LAPLACIAN, GAUSSIAN
NAMES = {
    LINEAR: "a linear model",
    TREES: "boosted trees",
    MIN_MAX: "`ConsistentWeightedSampling`",
    LAPLACIAN: "`RandomBinning`, gamma searched",
    GAUSSIAN: "`RandomFourier`, gamma searched",
}
FAMILIES = {
    "linear model": LINEAR, "boosted trees": TREES, "minmax": MIN_MAX, "minhash": MIN_MAX,
    "binning": LAPLACIAN, "fourier": GAUSSIAN,
}  # fmt: skip
"""Columns of the table, from the families of a comparison; exact kernels share one column."""


class Kind(NamedTuple):
    """A kind of data: the advice, the sets that led to it, and the sets that test it."""

    name: str
    first: str
    second: str | None
    made: tuple[str, ...]
    tested: tuple[str, ...]
    how: str = ""
    """The preparation of rows for the linear model."""


KINDS = [
    Kind("words", LINEAR, None, ("news20_bydate", "rcv1_binary20k"),
         ("reuters52", "sector", "sms_spam"), " on tf-idf"),
    Kind("yes-or-no answers", LINEAR, MIN_MAX, ("adult_a9a",), ("agaricus",)),
    Kind("pixels", MIN_MAX, LAPLACIAN, ("usps",), ("mnist", "optdigits")),
    Kind("categories as numbers", LINEAR, TREES, ("splice",),
         ("phishing", "fair", "chile"), " on one-hot columns"),
    Kind("frequencies, counts", MIN_MAX, TREES, ("spambase",), ()),
    Kind("measurements, classes", LAPLACIAN, TREES,
         ("satimage", "letter", "ijcnn1", "covtype29k:10"),
         ("covtype29k", "segment", "banana", "breast_cancer", "wine")),
    Kind("measurements, a number to predict", LAPLACIAN, TREES, ("cpu_act", "wine_white"),
         ("cpusmall", "wine_red", "computers", "diamonds", "diabetes")),
]  # fmt: skip

WORDS = KINDS[0].name
BUNDLED = {"breast_cancer": load_breast_cancer, "wine": load_wine, "diabetes": load_diabetes}
ORDERED = ("ijcnn1", "news20_bydate")
"""Sets whose test rows are later than the others."""
REGRESSION = ("cpu_act", "cpusmall", "wine_white", "wine_red", "computers", "diamonds", "diabetes")


def _load(directory: str, name: str) -> datasets.Split:
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
        return datasets.Split(X, y, X_test, y_test)
    base, _, columns = name.partition(":")
    split = datasets.load(directory, base, MOST_ROWS)
    if columns:  # only the first columns
        X, X_test = (A[:, : int(columns)] for A in (split.X, split.X_test))
        split = split._replace(X=X, X_test=X_test)
    return split


def advice(data: str, name: str, seconds: float) -> dict[str, Any]:
    """Return the test score of the best model of each family, in percent."""
    split = _load(data, name)
    comparison = compare_by(
        Budget(seconds, time.process_time), split.X, split.y, test=(split.X_test, split.y_test),
        regression=name in REGRESSION, ordered=name in ORDERED, random_state=0, n_jobs=1,
    )  # fmt: skip
    best: dict[str, Measured] = {}
    for model in comparison:  # best first
        family = EXACT if model.family.startswith("exact ") else FAMILIES.get(model.family)
        if family is not None:
            best.setdefault(family, model)
    return {
        "rows": len(split.y),
        "scores": {family: 100 * on_test(model, split) for family, model in best.items()},
        "models": {family: model.label for family, model in best.items()},
        "untried": list(comparison.untried),
    }


def on_test(model: Measured, split: datasets.Split) -> float:
    """Return the score on the test rows of a model trained on all training rows."""
    if model.test_score is not None and model.n_train is None:
        return model.test_score
    X, X_test = split.X, split.X_test
    if model.takes_dense and hasattr(X, "toarray"):
        X, X_test = X.toarray(), X_test.toarray()
    return float(model.estimator.fit(X, split.y).score(X_test, split.y_test))


# ---- the tables ----------------------------------------------------------------------------------


def _sets(o: Options) -> list[str]:
    if o.quick:
        return ["wine_red", "breast_cancer"]
    return [name for kind in KINDS for name in kind.made + kind.tested]


def _cell(o: Options, name: str) -> Cell:
    base = None if name in BUNDLED else name.partition(":")[0]
    seconds = 2 if o.quick else LONGER.get(name, SECONDS)
    return Cell("experiments.advice:advice", {"name": name, "seconds": seconds}, data=base)


def _cells(o: Options) -> list[Cell]:
    return [_cell(o, name) for name in _sets(o)]


def _write(o: Options, results: Results) -> None:
    found = {name: result for name in _sets(o) if (result := results(_cell(o, name)))}
    scores = {name: result["scores"] for name, result in found.items()}
    advised = [[k.name, _named(k.first, k), _named(k.second, k), _trees(k, scores)] for k in KINDS]
    report.write_table(
        o.results / "guide-advice", "What to try first",
        ["your data", "try first", "then", "boosted trees are"], advised,
    )  # fmt: skip
    rows = [
        _row(kind, name, scores[name])
        for kind in KINDS for name in kind.made + kind.tested if name in scores
    ]  # fmt: skip
    notes = (
        "Test accuracy in percent, or 100 R² if a number is predicted. Each figure is for the "
        f"best model of its kind that `sparsemaps.comparison` finds on at most {MOST_ROWS:,} "
        f"training rows in {SECONDS} s of CPU time (usps and sector 120 s, mnist 240 s); test "
        "rows are not used in the search. Linear models are tried on unit rows, scaled columns, "
        "one-hot columns and tf-idf, boosted trees on up to 2,000 columns, and exact kernels "
        "(min-max, acos-χ², Laplacian, Gaussian) on up to 5,000 rows, the Gaussian kernel also on "
        "more rows of up to 2,000 columns. The columns on the right are maps with up to 4,096 "
        "samples or components; *best map* is the one with the best score on held-out training "
        "rows. The model to try first is in bold, and the best figure of each line is "
        "underlined. The role tells whether a data set was used to derive the advice "
        '("made") or to test it. phishing, fair, chile, segment, banana, computers and diamonds'
        " come with packages (`experiments.unseen`); nothing was tuned on them."
    )
    header = ["your data", "set", "role", *PLAIN, BEST, *MAPS]
    report.write_table(o.results / "guide-advice-figures", "The figures behind the advice",
                       header, rows, notes)  # fmt: skip


def _named(family: str | None, kind: Kind) -> str:
    return "" if family is None else NAMES[family] + (kind.how if family == LINEAR else "")


def _trees(kind: Kind, scores: dict[str, dict[str, float]]) -> str:
    """Return how many points boosted trees are ahead of the model to try first."""
    sets = [scores[name] for name in kind.made + kind.tested if name in scores]
    gaps = [s[TREES] - s[kind.first] for s in sets if TREES in s and kind.first in s]
    if not gaps:
        return "for fewer columns"
    low, high = (f"{abs(gap):.1f}" for gap in (min(gaps), max(gaps)))
    if max(gaps) <= 0:
        return f"{high} to {low} points worse" if high != low else f"{low} points worse"
    if min(gaps) >= 0:
        return f"{low} to {high} points better" if high != low else f"{low} points better"
    return f"{low} points worse to {high} better"


def _row(kind: Kind, name: str, found: dict[str, float]) -> list[str]:
    maps = MAPS[:1] if kind.name == WORDS else MAPS
    scores = {key: found[key] for key in (*PLAIN, *maps) if key in found}
    chosen = next(key for key in found if key in maps)  # the best on held-out rows comes first
    best = f"{max(scores.values()):.1f}"
    cells = []
    for key in (*PLAIN, BEST, *MAPS):
        shown = f"{scores[key]:.1f}" if key in scores else ""
        if key == BEST:
            shown = f"{scores[chosen]:.1f}"
        if shown == best:
            shown = f"<u>{shown}</u>"
        cells.append(f"**{shown}**" if key == kind.first and shown else shown)
    role = "made" if name in kind.made else "tested"
    return [kind.name, name.replace(":10", ", 10 numeric columns"), role, *cells]


EXPERIMENTS = [Experiment("guide-advice", "the user guide's advice", _cells, _write)]
