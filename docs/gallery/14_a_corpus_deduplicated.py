"""
Which threshold removes copies, and nothing else?
=================================================

`deduplicate_files` removes near-duplicate records from a file. Because the copies in this file are
known, we can count what it removes.
"""

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from sparsemaps import MinHash
from sparsemaps.files import deduplicate_files

# %%
# Generate 3,000 texts of 150 words that follow Zipf's law. One text in three is a copy of an
# earlier one, with up to a fifth of its words replaced.

rng = np.random.default_rng(0)
words = np.array(["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(2000)])
often = 1 / np.arange(1, len(words) + 1)
often /= often.sum()
texts = []
for row in range(3000):
    is_copy = row % 3 == 2
    text = texts[rng.integers(row)].copy() if is_copy else rng.choice(words, 150, p=often)
    changed = rng.random(150) < (rng.uniform(0, 0.2) if is_copy else 0)
    text[changed] = rng.choice(words, changed.sum(), p=often)
    texts.append(text)
directory = tempfile.TemporaryDirectory()
corpus, kept = Path(directory.name) / "texts.jsonl", Path(directory.name) / "kept.jsonl"
with open(corpus, "w") as file:
    for row, text in enumerate(texts):
        file.write(json.dumps({"row": row, "text": " ".join(text)}) + "\n")

# %%
# Compare sets of runs of three words, with several thresholds. The same on the command line::
#
#     sparsemaps dedup minhash --texts word:3 texts.jsonl -o kept.jsonl --threshold 0.5

thresholds = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
copies_kept, others_kept = [], []
for threshold in thresholds:
    minhash = MinHash(n_hashes=256, random_state=0)
    deduplicate_files(minhash, corpus, kept, threshold=threshold, source="word:3")
    rows = np.array([json.loads(line)["row"] for line in kept.read_text().splitlines()])
    copies_kept.append(100 * np.sum(rows % 3 == 2) / 1000)
    others_kept.append(100 * np.sum(rows % 3 != 2) / 2000)
directory.cleanup()

# %%

figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
ax.plot(thresholds, others_kept, "o-", color="C0", markersize=4, label="original texts")
ax.plot(thresholds, copies_kept, "o-", color="C3", markersize=4, label="copies")
ax.set(xlabel="threshold, Jaccard similarity", ylabel="kept, %", ylim=(0, 105))
ax.legend()
plt.show()

# %%
# None of these thresholds removes an original text, because runs of three words distinguish
# unrelated texts. A threshold of 0.3 removes nearly all copies. If a share c of the words is
# replaced, a copy keeps about (1 - c)^3 of its runs, so a high threshold leaves most copies in the
# file.
