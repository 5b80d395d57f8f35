"""
Which words decide a label?
===========================

Each sample of `MinHash` is the hash of one n-gram, so the score of a text is a sum over its
n-grams. ``explain`` returns the share of each n-gram. Here, the model is trained on generated texts
with known decisive words, which ``explain`` should find. Then the same is done with counts of the
words. For columns of clicks, see :ref:`sphx_glr_auto_gallery_26_clicks.py`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier

# %%
# Some mails are about meetings, and some ask for money. Most words occur in both kinds.

both = [
    "the", "a", "and", "to", "we", "you", "on", "for", "at", "is", "this", "please", "see", "all",
    "new", "now", "time", "by", "week",
]  # fmt: skip
of_label = {
    "meeting": ["agenda", "room", "minutes", "lunch", "slides", "calendar"],
    "money": ["prize", "transfer", "bank", "winner", "urgent", "account"],
}
rng = np.random.default_rng(0)
labels = rng.choice(list(of_label), 600)
texts = [
    " ".join(rng.permutation([*rng.choice(both, 14), *rng.choice(of_label[label], 2)]))
    for label in labels
]
print(labels[0], "-", texts[0])

# %%

model = KernelClassifier(MinHash(n_hashes=512, random_state=0), vectorizer="word:1", random_state=0)
model.fit(texts[:400], labels[:400])
linear = make_pipeline(TfidfVectorizer(), LinearSVC()).fit(texts[:400], labels[:400])
for name, one in ("MinHash", model), ("linear on tf-idf", linear):
    print(f"{name}: {one.score(texts[400:], labels[400:]):.1%} of 200 other texts are correct")

# %%
# The shares of the words of one text: four words decide, two for each label. Bars to the right
# count in favour of the predicted label.

text = "please see the agenda for lunch and the new account at the bank this week"
label = str(model.predict([text])[0])
shares = model.explain(text)
figure, ax = plt.subplots(figsize=(5.2, 4.4), layout="constrained")
names, values = zip(*shares[::-1])
ax.barh(names, values, color=["C0" if value > 0 else "C3" for value in values])
ax.set(xlabel=f"share of the score of {label!r}")
ax.axvline(0, color="0.3", linewidth=0.8)
ax.grid(alpha=0.3, axis="x")
plt.show()

# %%
# The sums of the shares over many texts, each for the predicted label. The twelve decisive words
# come first.

for word, share in model.explain(texts[400:], total=True)[:14]:
    known = next((label for label, own in of_label.items() if word in own), "-")
    print(f"{word:10}{share:6.1f}  {known}")

# %%
# ``explain`` also takes rows, such as counts of words. It returns the number of each column, and
# the vectorizer that has made the columns knows their names.

counter = CountVectorizer()
X = counter.fit_transform(texts)
words = counter.get_feature_names_out()
samples = ConsistentWeightedSampling(n_hashes=512, random_state=0)
counts = KernelClassifier(samples, random_state=0).fit(X[:400], labels[:400])
(shares,) = counts.explain(X[400])
print(f"{counts.predict(X[400])[0]} - {texts[400]}")
for column, share in shares[:3]:
    print(f"{words[column]:10}{share:6.3f}")
