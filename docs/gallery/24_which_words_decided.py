"""
Which words decided
===================

A sample of `MinHash` is the hash of one n-gram. So the score of a text is a sum over its n-grams,
and ``explain`` gives what each adds. The model is trained on texts that are made of words, of which
some are known to decide: it should name these.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsemaps import MinHash
from sparsemaps.linear import KernelClassifier

# %%
# Mail about meetings, and mail that wants money. Most words are in both.

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
print(f"{model.score(texts[400:], labels[400:]):.1%} of 200 other texts have their label")

# %%
# What the words of one text add to its score: four of them decide, two for each label. Bars to the
# right speak for the label that it gets.

text = "please see the agenda for lunch and the new account at the bank this week"
label = str(model.predict([text])[0])
shares = model.explain(text)
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
names, values = zip(*shares[::-1])
ax.barh(names, values, color=["C0" if value > 0 else "C3" for value in values])
ax.set(xlabel=f"adds to the score of {label!r}")
ax.axvline(0, color="0.3", linewidth=0.8)
ax.grid(alpha=0.3, axis="x")
plt.show()

# %%
# Over many texts: what each word adds to the scores of all, of the label that each gets. The twelve
# words that decide come before all others.

for word, share in model.explain(texts[400:], total=True)[:14]:
    known = next((label for label, own in of_label.items() if word in own), "-")
    print(f"{word:10}{share:6.1f}  {known}")
