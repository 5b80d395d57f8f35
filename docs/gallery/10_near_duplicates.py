"""
Are all near-duplicates found?
==============================

Each text is represented by the set of its runs of five characters, which `MinHash` turns into 256
bytes. `similar_pairs` finds the pairs whose codes often agree, without comparing all pairs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

from sparsemaps import MinHash
from sparsemaps.kernels import min_max_kernel
from sparsemaps.neighbors import similar_pairs

# %%
# Generate texts of random words. One in ten is a copy with some words changed.

rng = np.random.default_rng(0)
words = np.array(["".join(rng.choice(list("abcdefghij"), 5)) for _ in range(2000)])
texts = [rng.choice(words, 60) for _ in range(900)]
for original in range(100):
    copy = texts[9 * original].copy()
    changed = rng.random(60) < rng.uniform(0, 0.3)
    copy[changed] = rng.choice(words, changed.sum())
    texts.append(copy)
texts = [" ".join(text) for text in texts]

vectorizer = HashingVectorizer(
    analyzer="char", ngram_range=(5, 5), alternate_sign=False, norm=None, n_features=2**24
)
X = vectorizer.transform(texts)
X.data[:] = 1  # sets

# %%
# Compare the pairs with an estimated similarity of at least 0.5 with their exact similarity.

codes = MinHash(n_hashes=256, bits=8, random_state=0).fit(X).encode(X, packed=True)
first, second, estimate = similar_pairs(codes, 0.5)
exact = np.array([min_max_kernel(X[[i]], X[[j]])[0, 0] for i, j in zip(first, second)])
all_pairs = min_max_kernel(X)[np.triu_indices(len(texts), 1)]
print(f"{len(first)} pairs found; {np.sum(all_pairs >= 0.5)} have a similarity of 0.5 or more")

figure, (above, below) = plt.subplots(2, 1, figsize=(5.2, 6), layout="constrained")
above.plot(exact, estimate, ".", markersize=4)
above.plot([0.4, 1], [0.4, 1], color="black", linewidth=1)
above.axhline(0.5, color="gray", linestyle="--", linewidth=1)
above.set(xlabel="exact Jaccard similarity", ylabel="estimate by 256 codes", title="pairs found")
below.hist(all_pairs, bins=50, log=True)
below.set(xlabel="exact Jaccard similarity", ylabel="pairs", title="all pairs of texts")
plt.show()

# %%
# Yes: the similarity of unrelated texts is below 0.06, far from the threshold. The other estimates
# are within about 0.06 of the exact similarity, which is twice their standard error.
