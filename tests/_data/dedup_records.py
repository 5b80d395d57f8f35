"""Records with near-duplicates, and their clusters by comparing all in plain Python."""

import json

import numpy as np

from _data.chance import SEED


def make_texts(n=300, seed=0, n_words=40):
    """Texts of which many are changed copies of others, and some have less than three words."""
    rng = np.random.default_rng(SEED + seed)
    texts = []
    for row in range(n):
        if row % 15 == 7:
            texts.append(["", "Wé", "Wé two", "Wé  two", "two"][rng.integers(5)])
        elif row < 3 or rng.random() < 0.4:
            length = rng.integers(n_words // 2, 2 * n_words)
            texts.append(" ".join(f"w{word}" for word in rng.integers(3000, size=length)))
        else:
            words = texts[rng.integers(max(0, row - 40), row)].split()
            for place in range(len(words)):
                if rng.random() < rng.choice([0.0, 0.02, 0.1]):
                    words[place] = f"v{rng.integers(3000)}"
            texts.append(" ".join(words))
    return texts


def shingles(text, n=3):
    """The runs of n words of a text."""
    words = text.lower().split()
    return {tuple(words[start : start + n]) for start in range(len(words) - n + 1)}


def jaccard(one, other):
    return len(one & other) / len(one | other)


def are_near(sets, contents, threshold):
    """Whether two records are near, by their sets, or by what they hold if these are empty."""

    def decide(i, j):
        one, two = sets[i], sets[j]
        if one or two:
            return bool(one and two) and jaccard(one, two) >= threshold - 1e-12
        return contents[i] == contents[j]

    return decide


def witnesses_of(sets, contents, threshold, order=None):
    """Of each record, the first kept one that it is near; itself if it is kept."""
    witness, kept, is_near = {}, [], are_near(sets, contents, threshold)
    for row in range(len(sets)) if order is None else order:
        witness[row] = next((other for other in kept if is_near(*sorted((other, row)))), row)
        if witness[row] == row:
            kept.append(row)
    return [witness[row] for row in range(len(sets))]


def numbered(groups):
    """Numbers of groups, from 1 in the order of their first members."""
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups), 1)}
    return [numbers[group] for group in groups]


def first_rows(numbers):
    """The first row of each cluster."""
    seen = {}
    for row, number in enumerate(numbers):
        seen.setdefault(number, row)
    return sorted(seen.values())


def lines_of(texts, format):
    """Texts as lines of a file, with ends."""
    if format == "txt":
        return [f"{text}\n".encode() for text in texts]
    return [
        json.dumps({"id": f"id {row}", "text": text, "more": [row]}).encode() + b"\n"
        for row, text in enumerate(texts)
    ]


def write_lines(path, texts, format="jsonl"):
    """A file of texts, and its lines."""
    lines = lines_of(texts, format)
    path.write_bytes(b"".join(lines))
    return lines


def read_table(path):
    """The two columns of a table of clusters."""
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    return [row for row, _ in rows], [int(number) for _, number in rows]
