"""
Which threshold drops copies, and nothing else?
===============================================

`deduplicate_files` writes the records of a file without those that are nearly the same as another
one. As the copies are known here, what it drops can be counted.
"""

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from sparsemaps import MinHash
from sparsemaps.files import deduplicate_files

# %%
# 3,000 texts of 150 words, drawn by Zipf's law. Every third is a copy of an earlier one, of which
# up to a fifth of the words were replaced.

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
# Sets of runs of three words, at several thresholds. On the command line::
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

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(thresholds, others_kept, "o-", color="C0", markersize=4, label="texts that are no copies")
ax.plot(thresholds, copies_kept, "o-", color="C3", markersize=4, label="copies")
ax.set(xlabel="threshold of the Jaccard similarity", ylabel="kept, %", ylim=(0, 105))
ax.legend()
plt.show()

# %%
# No text that is no copy is dropped, at any of these thresholds: runs of three words tell texts
# apart. Nearly all copies are dropped at 0.3. A copy of which a share c of the words was replaced
# keeps about (1 - c)^3 of its runs, so that a high threshold leaves most copies in.
