"""
From texts to a filtered corpus
===============================

A few hundred texts with labels train a model; then `filter_files` writes the texts of one label
from files of any size, byte for byte. Here the label is the package that a documentation string is
from, and SciPy's are wanted.
"""

import csv
import gzip
import json
import pydoc
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.interpolate
import scipy.optimize
import scipy.signal
import scipy.stats
import sklearn.cluster
import sklearn.ensemble
import sklearn.linear_model
import sklearn.metrics

from sparsemaps import MinHash
from sparsemaps.files import Texts, filter_files, predict_files, train_files
from sparsemaps.linear import KernelClassifier

# %%
# The corpus: three files of records, and a smaller one whose labels somebody has looked at.

modules = {
    "numpy": (np, np.linalg, np.ma, np.random),
    "scipy": (scipy.stats, scipy.signal, scipy.optimize, scipy.interpolate),
    "sklearn": (sklearn.metrics, sklearn.linear_model, sklearn.ensemble, sklearn.cluster),
}
labels = {}
for package, parts in modules.items():
    for module in parts:
        for name in dir(module):
            text = pydoc.getdoc(getattr(module, name))
            if not name.startswith("_") and len(text) > 300:
                labels.setdefault(text[:2000], package)
records = [{"text": text, "package": label} for text, label in labels.items()]
np.random.default_rng(0).shuffle(records)
seen, corpus = records[:400], records[400:]

folder = Path(tempfile.mkdtemp())
(folder / "corpus").mkdir()
(folder / "seen.jsonl").write_text("".join(json.dumps(one) + "\n" for one in seen))
for part in range(3):
    with gzip.open(folder / f"corpus/{part}.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(one) + "\n" for one in corpus[part::3])
print(f"{len(seen)} texts with labels, {len(corpus)} in the corpus")

# %%
# Rows are the sets of 4 characters that stand in a text, and their codes take 256 bytes a text. The
# model is one file.

model = KernelClassifier(MinHash(n_hashes=256, random_state=0), vectorizer="char:4")
train_files(model, folder / "seen.jsonl", folder / "model", source=Texts(label_field="package"))
print(f"a model of {(folder / 'model').stat().st_size / 1e6:.1f} MB")

# %%
# An output for each input: a run that was ended goes on where it was, and several processes can
# share the work (``task=``). The records are written as they stood in the input.

model = KernelClassifier.load(folder / "model")
answer = filter_files(model, folder / "corpus", f"{folder}/chosen/", label="scipy")
print(answer)
chosen = set()
for path in (folder / "chosen").glob("*.gz"):
    chosen |= {json.loads(line)["text"] for line in gzip.decompress(path.read_bytes()).splitlines()}
right = sum(labels[text] == "scipy" for text in chosen)
wanted = sum(one["package"] == "scipy" for one in corpus)
print(f"precision {right / len(chosen):.1%}, recall {right / wanted:.1%}")

# %%
# `min_score` chooses between the two. `predict_files` writes the scores, from which its value is
# read off.

predict_files(model, folder / "corpus", f"{folder}/scores/")
scores, is_wanted = [], []
for part in range(3):
    with open(folder / f"scores/{part}.jsonl.tsv", newline="") as table:
        scores += [float(row["scipy"]) for row in csv.DictReader(table, delimiter="\t")]
    is_wanted += [one["package"] == "scipy" for one in corpus[part::3]]
order = np.argsort(scores)[::-1]
found = np.cumsum(np.array(is_wanted)[order])

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(100 * found / wanted, 100 * found / np.arange(1, len(order) + 1))
for min_score in (0.5, 0.0, -0.5):
    n = int((np.array(scores) >= min_score).sum())
    place = 100 * found[n - 1] / wanted, 100 * found[n - 1] / n
    ax.plot(*place, "o", color="C1")
    ax.annotate(
        f"min_score={min_score}", place, xytext=(-8, -14), textcoords="offset points", ha="right"
    )
ax.set(xlabel="recall of SciPy's texts, %", ylabel="precision, %")
ax.grid(alpha=0.3)
plt.show()
