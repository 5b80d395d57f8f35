"""
Texts: a linear model, a map, or both?
======================================

The words of a docstring indicate which package it comes from. A linear model on tf-idf is the
baseline. `MinHash` turns the set of words of a text into a few bytes, and a `FeatureUnion` combines
both.
"""

import pydoc

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg
import scipy.signal
import scipy.sparse
import scipy.stats
import sklearn.cluster
import sklearn.ensemble
import sklearn.linear_model
import sklearn.metrics
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.svm import LinearSVC

from sparsemaps import CountSketch, MinHash

# %%
# Train on half of the docstrings. Words that occur only once are ignored.

modules = [
    (np, np.linalg, np.random, np.ma),
    (scipy.stats, scipy.signal, scipy.linalg, scipy.sparse),
    (sklearn.metrics, sklearn.linear_model, sklearn.ensemble, sklearn.cluster),
]
texts = {}
for label, parts in enumerate(modules):
    for module in parts:
        for name in dir(module):
            text = pydoc.getdoc(getattr(module, name))
            if not name.startswith("_") and len(text) > 300:
                texts.setdefault(text[:2000], label)
train, test, y, y_test = train_test_split(
    list(texts), list(texts.values()), test_size=0.5, random_state=0
)
counts = CountVectorizer(min_df=2).fit(train)
X, X_test = counts.transform(train), counts.transform(test)
print(f"{len(texts)} texts, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} in a text")

# %%
# A row takes 12 bytes for each word with tf-idf, 4 bytes for each number of a count sketch, and 1
# byte for each sample of `MinHash`.

tfidf = TfidfTransformer(sublinear_tf=True)


def accuracy(*steps):
    return 100 * make_pipeline(*steps, LinearSVC(random_state=0)).fit(X, y).score(X_test, y_test)


def minhash(size):
    return MinHash(n_hashes=size, random_state=0)


def both(size):
    return FeatureUnion([("tf-idf", tfidf), ("MinHash", minhash(size))])


row_bytes = 12 * X.nnz / X.shape[0]
sizes = [32, 64, 128, 256, 512]
sketches = [accuracy(tfidf, CountSketch(n_components=size // 4, random_state=0)) for size in sizes]
sets = [accuracy(minhash(size)) for size in sizes]
together = [accuracy(both(size)) for size in sizes]
linear = accuracy(tfidf)

# %%

figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
ax.semilogx(sizes, sketches, "o-", color="C7", markersize=4, label="count sketch of tf-idf")
ax.semilogx(sizes, sets, "o-", color="C0", markersize=4, label="MinHash of words")
ax.semilogx([row_bytes], [linear], "*", color="black", markersize=10, label="tf-idf")
ax.semilogx(
    [row_bytes + size for size in sizes], together, "o-", color="C1", markersize=4,
    label="tf-idf and MinHash",
)  # fmt: skip
ax.set(xlabel="bytes per text", ylabel="test accuracy, %", title=f"{len(texts)} texts, 3 packages")
ticks = [*sizes, 1024]
ax.set_xticks(ticks, [str(size) for size in ticks])
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# If size does not matter, use tf-idf: nothing here is more accurate, and adding `MinHash` does not
# help. If size matters, use `MinHash`: its accuracy with 32 bytes is higher than that of a count
# sketch with 512 bytes.
