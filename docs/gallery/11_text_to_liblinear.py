"""
From raw text to LIBLINEAR
==========================

Documentation strings become LIBSVM files of byte counts, ``map_files`` maps the files in
bounded memory, and LIBLINEAR learns from them: here the one within scikit-learn, on your machine
its program ``train``.
"""

import inspect
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
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.files import map_files
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file

# %%
# Which package is a documentation string from? A row has the counts of its bytes.

packages = [
    (np, np.linalg, np.fft, np.random),
    (scipy.stats, scipy.signal, scipy.linalg),
    (sklearn.metrics, sklearn.linear_model, sklearn.ensemble),
]
texts, labels = [], []
for label, modules in enumerate(packages):
    for module in modules:
        for name in sorted(dir(module)):
            text = inspect.getdoc(getattr(module, name)) or ""
            if len(text) >= 200 and not name.startswith("_"):
                texts.append(text[:1500].encode())
                labels.append(label)
X = np.array([np.bincount(np.frombuffer(text, np.uint8), minlength=256) for text in texts])
y = np.array(labels)
test = np.random.default_rng(0).random(len(y)) < 0.5

# %%
# Files, mapped to files. ``ones=True`` writes each feature as 1, in a third of the size.

sizes = [32, 64, 128, 256, 512]
found = []
with tempfile.TemporaryDirectory() as name:
    directory = Path(name)
    for part, rows in (("train", ~test), ("test", test)):
        path = directory / f"texts.{part}.svm"
        dump_svmlight_file(X[rows].astype(float), y[rows], path, zero_based=False)
    for size in sizes:
        cws = ConsistentWeightedSampling(n_hashes=size, random_state=0).fit_any_width()
        parts = []
        for part in ("train", "test"):
            output = directory / f"mapped.{part}.svm"
            map_files(cws, directory / f"texts.{part}.svm", output, ones=True)
            parts += load_svmlight_file(output, n_features=size * 2**8, zero_based=False)
        Z, labels_train, Z_test, labels_test = parts
        # C is divided by the number of samples, as each feature is 1.
        model = LinearSVC(C=1 / size, random_state=0).fit(Z, labels_train)
        found.append(100 * model.score(Z_test, labels_test))
linear = LinearSVC(random_state=0).fit(normalize(X[~test].astype(float)), y[~test])
plain = 100 * linear.score(normalize(X[test].astype(float)), y[test])

# %%

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.semilogx(sizes, found, "o-", markersize=4, label="min-max features")
ax.axhline(plain, color="black", linestyle="--", linewidth=1, label="linear, on the counts")
ax.set(xlabel="bytes a row", ylabel="test accuracy, %", title=f"{len(y)} texts, 3 packages")
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.minorticks_off()
ax.legend()
plt.show()
