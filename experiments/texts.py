"""``python -m experiments.texts texts.jsonl``: languages of texts, and which texts are copies.

Lines of the file are JSON objects: `id`, `text`, `label` (the language), and `copy_of` where the
text is a copy of that of another `id`, with some words replaced.
"""

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np
import sklearn
from sklearn.svm import LinearSVC

import sparsemaps
from sparsemaps import MinHash
from sparsemaps.codes import PackedCodes
from sparsemaps.neighbors import clusters, similar_pairs
from sparsemaps.text import HashingVectorizer, iter_records
from sparsemaps.text._analyzers import vectorizer_of

TRAINING_TEXTS = 4000
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)


def file_of(directory, name):
    """Return the path of the JSON Lines of a name, plain or compressed."""
    return str(next(p for p in Path(directory).iterdir() if p.name.startswith(f"{name}.jsonl")))


def read(path):
    """Texts, labels, and the number of the text that each is a copy of, -1 for none."""
    texts, labels, ids, originals = [], [], [], []
    for batch in iter_records(path, label_field="label", id_field="id"):
        texts += batch.texts
        labels += batch.labels
        ids += batch.ids
        originals += [json.loads(record).get("copy_of") for record in batch.records]
    row_of = {id: row for row, id in enumerate(ids)}
    return texts, np.array(labels), np.array([row_of.get(id, -1) for id in originals])


def groups(copy_of):
    """Texts that are copies of one another, in several steps too."""
    rows = np.flatnonzero(copy_of >= 0)
    pairs = np.sort(np.column_stack([rows, copy_of[rows]]), axis=1)
    return clusters(pairs[:, 0], pairs[:, 1], len(copy_of))


def languages(texts, labels, group):
    """Accuracy of a linear SVM by n-grams of characters; copies of training texts are left out."""
    order = np.random.default_rng(0).permutation(len(texts))
    train = order[:TRAINING_TEXTS]
    test = order[~np.isin(group[order], group[train])]
    print(f"\n## Language: {len(train)} training texts, {len(test)} others\n")
    print("| n-grams of characters | accuracy, % | texts to rows, s | training, s |")
    print("|---|---|---|---|")
    for sizes in ((1, 1), (2, 2), (3, 3), (1, 3)):
        vectorizer = HashingVectorizer(analyzer="char", ngram_range=sizes, n_features=2**18)
        start = time.perf_counter()
        X = vectorizer.transform(texts)
        middle = time.perf_counter()
        model = LinearSVC(random_state=0).fit(X[train], labels[train])
        end = time.perf_counter()
        accuracy = 100 * model.score(X[test], labels[test])
        name = "{} to {}".format(*sizes) if sizes[0] < sizes[1] else sizes[0]
        print(
            f"| {name} | {accuracy:.2f} | {middle - start:.1f} | {end - middle:.1f} |", flush=True
        )


def jaccard(X, i, j):
    """The exact similarity of pairs of rows."""
    X.data[:] = 1
    both = np.concatenate(
        [
            np.asarray(X[i[start : start + 4096]].multiply(X[j[start : start + 4096]]).sum(axis=1))
            for start in range(0, len(i), 4096)
        ]
    ).reshape(-1)
    sizes = np.diff(X.indptr)
    return both / (sizes[i] + sizes[j] - both)


def copies(texts, copy_of, group):
    """Precision of the pairs found, and recall of the copies, by threshold: those of ``sparsemaps
    pairs minhash --texts word:N texts.jsonl --threshold T``."""
    rows = np.flatnonzero(copy_of >= 0)
    print(f"\n## Copies: {len(rows)} of {len(texts)} texts\n")
    print("| runs | threshold | pairs | Jaccard above it - .05, % | copies, % | recall, % | s |")
    print("|---|---|---|---|---|---|---|")
    for n in (1, 2, 3, 5):
        vectorizer = vectorizer_of(f"word:{n}")
        minhash = MinHash(n_hashes=256, random_state=0).fit_any_width()
        codes: PackedCodes = minhash.encode_texts(vectorizer, texts, packed=True)
        X = vectorizer.transform(texts)
        for threshold in THRESHOLDS:
            start = time.perf_counter()
            i, j, _ = similar_pairs(codes, threshold)
            seconds = time.perf_counter() - start
            found = clusters(i, j, len(texts))
            right = 100 * np.mean(group[i] == group[j])
            above = 100 * np.mean(jaccard(X, i, j) >= threshold - 0.05)
            recall = 100 * np.mean(found[rows] == found[copy_of[rows]])
            print(
                f"| {n} | {threshold} | {len(i)} | {above:.1f} | {right:.1f} | {recall:.1f} "
                f"| {seconds:.1f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.texts", description=__doc__)
    parser.add_argument("texts", help="file of JSON lines, .xz or .zst for example")
    path = parser.parse_args().texts
    texts, labels, copy_of = read(path)
    n_bytes = sum(len(text.encode()) for text in texts)
    print(f"{len(texts)} texts, {n_bytes / 1e6:.1f} MB; {platform.machine()}, one thread")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, ", end="")
    print(f"scikit-learn {sklearn.__version__}, sparsemaps {sparsemaps.__version__}")
    group = groups(copy_of)
    copies(texts, copy_of, group)
    languages(texts, labels, group)


if __name__ == "__main__":
    main()
