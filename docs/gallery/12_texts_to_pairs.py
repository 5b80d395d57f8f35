"""
Long runs of words, or short ones?
==================================

Some texts of a file are copies of others with some words replaced. `MinHash` represents the set of
runs of words of each text by 256 bytes, and `similar_pairs` finds similar pairs. Because the copies
are known, we can count how many of them runs of each length find.
"""

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from sparsemaps import MinHash
from sparsemaps.codes import PackedCodes
from sparsemaps.neighbors import clusters, similar_pairs
from sparsemaps.text import iter_records

# %%
# Generate texts of 200 words that follow Zipf's law. One text in four is a copy of another, with up
# to 30 % of its words replaced.

rng = np.random.default_rng(0)
words = np.array(["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(400)])
often = 1 / np.arange(1, 401)
often /= often.sum()
texts, copy_of, share = [], [], []
for row in range(2500):
    is_copy = row % 4 == 3
    original = int(rng.integers(row)) if is_copy else -1
    text = texts[original].copy() if is_copy else rng.choice(words, 200, p=often)
    changed = rng.random(200) < (rng.uniform(0, 0.3) if is_copy else 0)
    text[changed] = rng.choice(words, changed.sum(), p=often)
    texts.append(text)
    copy_of.append(original)
    share.append(changed.mean())
path = Path(tempfile.mkdtemp()) / "texts.jsonl"
path.write_text("".join(json.dumps({"text": " ".join(text)}) + "\n" for text in texts))

# %%
# Compute the codes of the texts in the file. To find pairs on the command line::
#
#     sparsemaps pairs minhash --texts word:3 texts.jsonl -o pairs.tsv --threshold 0.5


def pairs_of(size, threshold):
    """Pairs of lines of the file whose sets of runs of so many words are similar."""
    minhash = MinHash(n_hashes=256, random_state=0).fit_any_width()
    codes = PackedCodes.concatenate(
        [
            minhash.encode_texts(f"word:{size}", batch.texts, packed=True)
            for batch in iter_records(path, batch_bytes=2**20)
        ]
    )
    return similar_pairs(codes, threshold)


# %%
# Two texts count as copies of each other if both descend from the same text, perhaps in several
# steps.

n = len(texts)
linked = np.array([[row, original] for row, original in enumerate(copy_of) if original >= 0])
group = clusters(linked[:, 1], linked[:, 0], n)
thresholds = np.linspace(0.3, 0.9, 7)
figure, (above, below) = plt.subplots(2, 1, figsize=(5.2, 7), layout="constrained")
for size in (1, 2, 3, 5):
    i, j, similarity = pairs_of(size, thresholds[0])
    is_right = group[i] == group[j]
    precision, recall = [], []
    for threshold in thresholds:
        kept = similarity >= threshold
        same = clusters(i[kept], j[kept], n)
        precision.append(is_right[kept].mean() if kept.any() else 1.0)
        recall.append(np.mean(same[linked[:, 0]] == same[linked[:, 1]]))
    above.plot(thresholds, precision, "o-", markersize=3, label=f"runs of {size}")
    below.plot(thresholds, recall, "o-", markersize=3, label=f"runs of {size}")
    kept = similarity >= 0.5
    found = f"{kept.sum()} pairs of similarity 0.5 or more"
    print(f"runs of {size}: {found}, {is_right[kept].mean():.1%} right")
above.set(xlabel="threshold", ylabel="share of pairs that are copies", title="precision")
below.set(xlabel="threshold", ylabel="copies in the cluster of their original", title="recall")
above.legend()
path.unlink()
path.parent.rmdir()
plt.show()

# %%
# Short runs work best, but not single words. With runs of two words, all pairs found are copies, as
# with longer runs, and the most copies are found. A few changes break most long runs: if a share c
# of the words is replaced, a copy keeps (1 - c)^5 of its runs of five. Single words also occur in
# unrelated texts, so most of their pairs below 0.5 are wrong.
