"""
From raw pages to LIBLINEAR: what does a map add?
=================================================

This example turns HTML pages into LIBSVM files of byte counts, maps these files with `map_files` in
bounded memory, and trains and tests a model with the programs of LIBLINEAR.
"""

import json
import pydoc
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg
import scipy.signal
import scipy.stats
import sklearn.ensemble
import sklearn.linear_model
import sklearn.metrics
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, normalize
from sklearn.svm import LinearSVC

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.files import map_files
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file
from sparsemaps.text import ByteNgrams, iter_records

directory = Path(tempfile.mkdtemp())

# %%
# The pages are the documentation of functions in HTML, as `pydoc` serves it. Which package does a
# page come from? Each line of the file is a JSON object with a page and its label.

packages = [
    (np, np.linalg, np.fft, np.random),
    (scipy.stats, scipy.signal, scipy.linalg),
    (sklearn.metrics, sklearn.linear_model, sklearn.ensemble),
]
pages = []
for label, modules in enumerate(packages):
    for module in modules:
        for name in sorted(dir(module)):
            found = getattr(module, name)
            if callable(found) and not isinstance(found, type) and not name.startswith("_"):
                page = pydoc.html.docother(found, name) + pydoc.html.markup(pydoc.getdoc(found))
                pages.append(json.dumps({"page": page, "package": label}))
order = np.random.default_rng(0).permutation(len(pages))
half = len(pages) // 2
for part, rows in (("train", order[:half]), ("test", order[half:])):
    (directory / f"{part}.jsonl").write_text("\n".join(pages[row] for row in rows))

# %%
# Turn pages into rows. The same on the command line::
#
#     sparsemaps text train.jsonl --analyzer byte --ngram-range 1 1 --field page \
#         --label-field package -o train.svm

vectorizer = ByteNgrams(ngram_range=(1, 1))
for part in ("train", "test"):
    (batch,) = iter_records(directory / f"{part}.jsonl", field="page", label_field="package")
    texts, labels, _ = batch
    rows = vectorizer.transform(texts)
    dump_svmlight_file(rows, np.array(labels), directory / f"{part}.svm", zero_based=False)

# %%
# Map the file of rows to a file of min-max features, and run LIBLINEAR on it. If LIBLINEAR's
# programs are not installed, scikit-learn's LIBLINEAR is used. ``ones=True`` writes each feature as
# 1, which takes a third of the space; C is then divided by the number of samples. Without
# ``power``, frequent bytes, such as markup, would dominate. The square roots of the counts
# give rarer bytes more weight. The same on the command line::
#
#     sparsemaps map minmax --power 0.5 --n-hashes 256 --seed 0 --ones train.svm -o train.mapped
#     sparsemaps map minmax --power 0.5 --n-hashes 256 --seed 0 --ones test.svm -o test.mapped
#     train -c 0.0039 train.mapped model
#     predict test.mapped model predicted


def program(name):
    """LIBLINEAR's program, which Debian has under another name."""
    return shutil.which(f"liblinear-{name}") or shutil.which(name)


def accuracy(size):
    train, test, model, predicted = (
        directory / name for name in ("train.mapped", "test.mapped", "model", "predicted")
    )
    cws = ConsistentWeightedSampling(n_hashes=size, power=0.5, random_state=0)
    map_files(cws, directory / "train.svm", train, ones=True)
    map_files(cws, directory / "test.svm", test, ones=True)
    Z_test, y_test = load_svmlight_file(test, n_features=size * 2**8, zero_based=False)
    if program("train") and program("predict"):
        subprocess.run([program("train"), "-q", "-c", str(1 / size), train, model], check=True)
        subprocess.run(
            [program("predict"), test, model, predicted], check=True, stdout=subprocess.DEVNULL
        )
        return 100 * np.mean(np.loadtxt(predicted) == y_test)
    Z, y = load_svmlight_file(train, n_features=size * 2**8, zero_based=False)
    return 100 * LinearSVC(C=1 / size, random_state=0).fit(Z, y).score(Z_test, y_test)


sizes = [32, 64, 128, 256, 512, 1024]
mapped = [accuracy(size) for size in sizes]

# %%
# For comparison, train linear models on rows of unit length and on scaled columns, and boosted
# trees.

X, y = load_svmlight_file(directory / "train.svm", n_features=256, zero_based=False)
X_test, y_test = load_svmlight_file(directory / "test.svm", n_features=256, zero_based=False)
scaled = make_pipeline(MaxAbsScaler(), LinearSVC(random_state=0)).fit(X, y)
trees = HistGradientBoostingClassifier(random_state=0).fit(X.toarray(), y)
unit = LinearSVC(random_state=0).fit(normalize(X), y)
plain = {
    "linear, unit length": (unit.score(normalize(X_test), y_test), "--"),
    "linear, scaled columns": (scaled.score(X_test, y_test), "-."),
    "boosted trees": (trees.score(X_test.toarray(), y_test), ":"),
}
shutil.rmtree(directory)

figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
ax.semilogx(sizes, mapped, "o-", markersize=4, label="LIBLINEAR on min-max features")
for name, (score, style) in plain.items():
    ax.axhline(100 * score, color="black", linestyle=style, linewidth=1, label=name)
    print(f"{name}: {100 * score:.1f} %")
print(f"min-max features of {sizes[-1]} bytes: {mapped[-1]:.1f} %")
ax.set(xlabel="bytes per page", ylabel="test accuracy, %", title=f"{len(pages)} pages, 3 packages")
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# With 512 bytes per page or more, LIBLINEAR is more accurate on min-max features than on the
# counts. Boosted trees are even more accurate: with 256 columns, a page is narrow enough for them.
