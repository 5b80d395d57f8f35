"""
From texts to a filtered corpus
===============================

A model is trained on a few hundred labelled texts. Then `filter_files` writes the texts of one
label, from files of any size, without changing them. In this example, the label is the package that
a docstring comes from, and the texts of SciPy are wanted.
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
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from sparsemaps import MinHash
from sparsemaps.files import Texts, filter_files, predict_files, train_files
from sparsemaps.linear import KernelClassifier

# %%
# The corpus consists of three files. A smaller file has texts that somebody has labelled.

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
# Each text is represented by the set of its runs of 4 characters, and its codes take 256 bytes. The
# model is a single file.

model = KernelClassifier(MinHash(n_hashes=256, random_state=0), vectorizer="char:4")
train_files(model, folder / "seen.jsonl", folder / "model", source=Texts(label_field="package"))
print(f"a model of {(folder / 'model').stat().st_size / 1e6:.1f} MB")

# %%
# Each input gets its own output. An interrupted run continues from its results, and several
# processes can share the work (``task=``). Records are written unchanged.

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
# `min_score` trades precision for recall. `predict_files` writes the scores from which to choose
# its value. For comparison, the dashed line is a linear SVM on tf-idf of words, trained on the same
# texts.

predict_files(model, folder / "corpus", f"{folder}/scores/")
scores, is_wanted = [], []
for part in range(3):
    with open(folder / f"scores/{part}.jsonl.tsv", newline="") as table:
        scores += [float(row["scipy"]) for row in csv.DictReader(table, delimiter="\t")]
    is_wanted += [one["package"] == "scipy" for one in corpus[part::3]]
tf_idf = make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC())
tf_idf.fit([one["text"] for one in seen], [one["package"] == "scipy" for one in seen])
texts = [one["text"] for part in range(3) for one in corpus[part::3]]


def found(scores):
    """The number of wanted texts among those with the highest scores."""
    return np.cumsum(np.array(is_wanted)[np.argsort(scores)[::-1]])


figure, ax = plt.subplots(figsize=(5.2, 4), layout="constrained")
numbers = np.arange(1, len(texts) + 1)
curves = {"MinHash, 256 bytes per text": scores, "tf-idf of words": tf_idf.decision_function(texts)}
for (name, values), style in zip(curves.items(), ("C0-", "k--")):
    n_found = found(values)
    ax.plot(100 * n_found / wanted, 100 * n_found / numbers, style, label=name)
for min_score in (0.5, 0.0, -0.5):
    n = int((np.array(scores) >= min_score).sum())
    n_found = found(scores)[n - 1]
    place = 100 * n_found / wanted, 100 * n_found / n
    ax.plot(*place, "o", color="C1")
    ax.annotate(
        f"min_score={min_score}", place, xytext=(-8, -14), textcoords="offset points", ha="right"
    )
ax.set(xlabel="recall of SciPy's texts, %", ylabel="precision, %", xlim=(40, 101), ylim=(75, 101))
ax.legend(loc="lower left")
ax.grid(alpha=0.3)
plt.show()

# %%
# On these texts, tf-idf is slightly more precise at the same recall. The codes take less space: 256
# bytes per text.
