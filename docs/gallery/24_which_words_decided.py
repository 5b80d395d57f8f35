"""
Which words decide a label?
===========================

Each sample of `MinHash` is the hash of one n-gram, so the score of a text is a sum over its
n-grams. ``explain`` returns the share of each n-gram. Here, the model is trained on generated texts
with known decisive words, which ``explain`` should find. Then the same is done with counts of the
words, and with columns of clicks.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.linear import KernelClassifier

# %%
# Some mails are about meetings, and some ask for money. Most words occur in both kinds.

both = [
    "the",
    "a",
    "and",
    "to",
    "we",
    "you",
    "on",
    "for",
    "at",
    "is",
    "this",
    "please",
    "see",
    "all",
    "new",
    "now",
    "time",
    "by",
    "week",
]
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
print(f"{model.score(texts[400:], labels[400:]):.1%} of 200 other texts are labelled correctly")

# %%
# The shares of the words of one text: four words decide, two for each label. Bars to the right
# count in favour of the predicted label.

text = "please see the agenda for lunch and the new account at the bank this week"
label = str(model.predict([text])[0])
shares = model.explain(text)
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
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

# %%
# Each row of this log of clicks has an advertisement, the page that showed it, a device and an
# hour. Visitors often buy after an advertisement for shoes, and rarely from the page of mails.

rng = np.random.default_rng(1)
choices = {
    "ad": ["shoes", "credit", "travel", "books"],
    "page": ["sport", "news", "mail", "games"],
    "device": ["phone", "computer"],
    "hour": [str(hour) for hour in range(24)],
}
clicks = [{name: str(rng.choice(some)) for name, some in choices.items()} for _ in range(4000)]
chance = [0.5 + 0.4 * (one["ad"] == "shoes") - 0.4 * (one["page"] == "mail") for one in clicks]
bought = np.where(rng.random(4000) < chance, "bought", "left")

columns = DictVectorizer()
X = columns.fit_transform(clicks)
names = columns.get_feature_names_out()
model = KernelClassifier(MinHash(n_hashes=512, random_state=0), random_state=0).fit(X, bought)

# %%
# Dividing the total of a column by the number of its rows gives the mean share of the column in the
# score of "bought", which is positive if the column makes buying more likely.

n_rows = np.asarray(X.sum(axis=0)).ravel()
means = [
    (total / n_rows[column], names[column])
    for column, total in model.explain(X, "bought", total=True)
]
means = sorted(means, key=lambda one: abs(one[0]))[-8:]
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh(
    [name for _, name in means],
    [mean for mean, _ in means],
    color=["C0" if mean > 0 else "C3" for mean, _ in means],
)
ax.set(xlabel="mean share of the score of 'bought'")
ax.axvline(0, color="0.3", linewidth=0.8)
ax.grid(alpha=0.3, axis="x")
plt.show()
