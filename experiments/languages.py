"""``python -m experiments.languages --data DIRECTORY -o RESULTS``: near-duplicates in several
languages, by n-grams of words and of characters, of texts as they are and of their normal forms.

DIRECTORY has texts.jsonl.xz and pages.jsonl.xz: JSON Lines with `id`, `text`, `label` (the
language), and `copy_of` in copies. ``--thai-words FILE`` has a word and its frequency a line, such
as ttc_freq.txt of PyThaiNLP; Thai texts are made of them.
"""

import argparse
import datetime
import json
import lzma
import random
import re
import shlex
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments import report, runner
from sparsemaps import MinHash
from sparsemaps.neighbors import clusters, removals
from sparsemaps.text import normalize
from sparsemaps.text._analyzers import vectorizer_of

ANALYZERS = ("word:5", "char:5", "auto:5")
FORMS = (None, "nfc", "plain")
THRESHOLD = 0.8
MOST_ORIGINALS = 1500
SHARE_REPLACED = 0.01
LEAST_ALIKE = 0.8
"""A removal is false if the similarity of the two texts is too low: 1 minus their edit distance
divided by the length of the longer one, in the form "plain", over at most MOST_COMPARED
characters."""
MOST_COMPARED = 4000

CHINESE = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
UNIT = re.compile(rf"\s+|{CHINESE.pattern}|[^\s{CHINESE.pattern[1:]}+")
"""A word, or a Chinese or Japanese character, or blanks."""

LATIN = ("de", "fr", "es", "ru")

Edit = Callable[[str, random.Random], str]


def read(path: Path) -> tuple[list[str], list[str], np.ndarray]:
    """Texts, languages, and for each text the number of the text that it is a copy of, or -1."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    row_of = {record["id"]: row for row, record in enumerate(records)}
    copy_of = np.array([row_of.get(record.get("copy_of"), -1) for record in records])
    return [r["text"] for r in records], [r["label"] for r in records], copy_of


# ---- copies that are made ------------------------------------------------------------------------


def decomposed(text: str, random_state: random.Random) -> str:
    return unicodedata.normalize("NFD", text)


def punctuated(text: str, random_state: random.Random) -> str:
    """Return texts with a comma after every tenth word or character, and quotes around the
    whole."""
    marks = ("、", "「{}」") if CHINESE.search(text) else (",", "“{}”")
    added = (
        unit + marks[0] if unit.strip() and random_state.random() < 0.1 else unit
        for unit in UNIT.findall(text)
    )
    return marks[1].format("".join(added))


def replaced(text: str, random_state: random.Random) -> str:
    """Return texts with a share of the words, or of the Chinese characters, replaced by others of
    the text."""
    units = UNIT.findall(text)
    places = [i for i, unit in enumerate(units) if unit.strip()]
    words = [units[i] for i in places]
    for i in places:
        if random_state.random() < SHARE_REPLACED:
            units[i] = random_state.choice(words)
    return "".join(units)


def thai_texts(path: Path, n: int) -> Iterator[tuple[str, str]]:
    """Yield texts of 100 to 400 words, without blanks except between sentences, and their
    copies."""
    random_state = random.Random(0)
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    words, frequencies = [line[0] for line in lines], [int(line[1]) for line in lines]
    for _ in range(n):
        text = random_state.choices(words, frequencies, k=random_state.randrange(100, 400))
        copy = [
            random_state.choice(text) if random_state.random() < SHARE_REPLACED else word
            for word in text
        ]
        yield tuple(
            "".join(word + (" " if i % 12 == 11 else "") for i, word in enumerate(some))
            for some in (text, copy)
        )


# ---- measures ------------------------------------------------------------------------------------


def removed_by(texts: list[str], analyzer: str, form: str | None) -> tuple[Any, Any, float]:
    """Return the removed texts, their witnesses, and the CPU seconds from texts to codes."""
    vectorizer = vectorizer_of(analyzer, normalize=form, binary=True)
    minhash = MinHash(n_hashes=256, random_state=0).fit_any_width()
    minhash.encode_texts(vectorizer, texts[:100])  # fill tables
    start = time.process_time()
    codes = minhash.encode_texts(vectorizer, texts, packed=True)
    seconds = time.process_time() - start
    removed, witness, _ = removals(codes, THRESHOLD)
    return removed, witness, seconds


def share_found(originals: list[str], copies: list[str], analyzer: str, form: str | None) -> float:
    """Return the share of copies that are removed as duplicates of their original."""
    n = len(originals)
    removed, witness, _ = removed_by([*originals, *copies], analyzer, form)
    near = dict(zip(removed.tolist(), witness.tolist(), strict=True))
    kept_of = [near.get(i, i) for i in range(n)]
    return sum(near.get(n + i) in (i, kept_of[i]) for i in range(n)) / n


def edit_distance(a: str, b: str) -> int:
    """Myers 1999, with all rows of a column in one integer."""
    if not a:
        return len(b)
    last, mask, score = 1 << (len(a) - 1), (1 << len(a)) - 1, len(a)
    places: dict[str, int] = {}
    for i, character in enumerate(a):
        places[character] = places.get(character, 0) | 1 << i
    up, down = mask, 0
    for character in b:
        equal = places.get(character, 0)
        vertical = equal | down
        equal |= ((equal & up) + up) ^ up
        plus, minus = down | ~(equal | up) & mask, up & equal
        score += bool(plus & last) - bool(minus & last)
        plus = (plus << 1 | 1) & mask
        up = (minus << 1 & mask) | ~(vertical | plus) & mask
        down = plus & vertical
    return score


class Judge:
    """Return whether removals are false. Each pair is compared once."""

    def __init__(self, texts: list[str], copy_of: np.ndarray) -> None:
        rows = np.flatnonzero(copy_of >= 0)
        pairs = np.sort(np.column_stack([rows, copy_of[rows]]), axis=1)
        self._texts, self._found = texts, {}
        self._family = clusters(pairs[:, 0], pairs[:, 1], len(texts))

    def false_among(self, removed: np.ndarray, witness: np.ndarray) -> np.ndarray:
        pairs = zip(removed.tolist(), witness.tolist(), strict=True)
        return np.array([row for row, other in pairs if self.is_false(row, other)], int)

    def is_false(self, row: int, witness: int) -> bool:
        if self._family[row] == self._family[witness]:
            return False
        if (row, witness) not in self._found:
            a, b = (normalize(self._texts[i])[:MOST_COMPARED] for i in (row, witness))
            alike = 1 - edit_distance(a, b) / max(len(a), len(b), 1)
            self._found[row, witness] = alike < LEAST_ALIKE
        return self._found[row, witness]


COLUMNS = (
    "n-grams", "form", "marked copies, Chinese and Japanese", "replaced: Chinese, Japanese",
    "replaced: Thai", "replaced: German to Russian", "NFD: German to Russian", "NFD: Japanese",
    "commas: German to Russian", "commas: Chinese, Japanese", "removed", "false: with blanks",
    "false: Chinese, Japanese", "removed pages", "false pages", "texts to codes, CPU s",
)  # fmt: skip


def measure(data: Path, thai: Any) -> Iterator[Any]:
    texts, labels, copy_of = read(data / "texts.jsonl.xz")
    pages, _, copies_of_pages = read(data / "pages.jsonl.xz")
    is_chinese = np.array([bool(CHINESE.search(text)) for text in texts])
    marked = np.flatnonzero(is_chinese & (copy_of >= 0))
    taken = [i for i, text in enumerate(texts) if copy_of[i] < 0 and 100 <= len(text) <= 5000]
    random.Random(0).shuffle(taken)
    asian, latin, japanese = (
        [texts[i] for i in taken if labels[i] in chosen][:MOST_ORIGINALS]
        for chosen in (("zh", "ja"), LATIN, ("ja",))
    )
    latin = [unicodedata.normalize("NFC", text) for text in latin]
    latin_nfd = [text for text in latin if unicodedata.normalize("NFD", text) != text]
    cases: list[tuple[list[str], Edit]] = [
        (asian, replaced), (latin, replaced), (latin_nfd, decomposed), (japanese, decomposed),
        (latin, punctuated), (asian, punctuated),
    ]  # fmt: skip
    judge, judge_of_pages = Judge(texts, copy_of), Judge(pages, copies_of_pages)
    for analyzer in ANALYZERS:
        for form in FORMS:
            removed, witness, seconds = removed_by(texts, analyzer, form)
            false = judge.false_among(removed, witness)
            removed_pages, witness_pages, _ = removed_by(pages, analyzer, form)
            false_pages = judge_of_pages.false_among(removed_pages, witness_pages)
            found = []
            for originals, edit in cases:
                copies = [edit(text, random.Random(i)) for i, text in enumerate(originals)]
                found.append(share_found(originals, copies, analyzer, form))
            found.insert(1, share_found(*map(list, thai), analyzer, form) if thai else np.nan)
            row = [analyzer, form or "as it is", np.isin(marked, removed).mean(), *found]
            row += [len(removed), (~is_chinese[false]).sum(), is_chinese[false].sum()]
            row += [len(removed_pages), len(false_pages), seconds]
            print(*row, flush=True)
            yield row


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.languages", description=__doc__)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--thai-words", type=Path)
    parser.add_argument("-o", "--results", required=True, type=Path)
    asked = parser.parse_args()
    thai = list(zip(*thai_texts(asked.thai_words, MOST_ORIGINALS), strict=True)) if (
        asked.thai_words) else None  # fmt: skip
    rows = []
    for row in measure(asked.data, thai):
        shares = [report.NOT_RUN if np.isnan(x) else f"{100 * x:.1f}" for x in row[2:10]]
        rows.append([*row[:2], *shares, *(f"{n:,}" for n in row[10:15]), f"{row[15]:.2f}"])
    command = shlex.join(["python", "-m", "experiments.languages", "--data", "DIRECTORY",
                          *(["--thai-words", asked.thai_words.name] if thai else []),
                          "-o", "RESULTS"])  # fmt: skip
    notes = (
        f"Threshold {THRESHOLD}, 256 samples. Columns 3 to 10: percentage of copies that are "
        "removed. Marked copies: those of texts.jsonl whose text has Chinese or Japanese "
        "characters; 0 to 30 % of their parts between blanks were replaced. "
        f"The other copies are made here, of at most {MOST_ORIGINALS:,} texts of 100 to "
        f"5,000 characters each: {100 * SHARE_REPLACED:g} % of words (of Chinese or Japanese "
        "texts: of characters) replaced by others of the text; the same text in NFD; commas behind "
        "a tenth of the words or characters, and quotes around the text. Thai texts are made of "
        "words by their frequency. German to Russian: German, French, Spanish and Russian. "
        f"Removed: of all texts of the file. False: removed texts that are less than {LEAST_ALIKE} "
        "alike with the text that is kept (1 less edit distance over length, of the form plain) "
        "and no marked copies of it; with blanks: texts without a Chinese or Japanese character. "
        f"Python {sys.version.split()[0]}; {runner.machine()}; "
        f"{datetime.datetime.now(datetime.UTC).date()}; `{command}`."
    )
    report.write_table(
        asked.results / "near-duplicates-languages",
        "Near-duplicates by language",
        COLUMNS,
        rows,
        notes,
    )


if __name__ == "__main__":
    main()
