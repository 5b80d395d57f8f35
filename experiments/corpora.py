"""``python -m experiments.corpora --data DIRECTORY --files NAME=PATTERN -o RESULTS``: settings of
`max_df` and `min_own` that lose copies, or remove distinct records, in real corpora.

DIRECTORY has texts.jsonl.xz and pages.jsonl.xz, JSON Lines with `text`, and `copy_of` where a text
is a copy. The files of a pattern are records, such as HTML pages or source code. Copies with 1, 3
and 10 words replaced are added to each. Mails that quote one another, pages of a frame and
large families are made of words of the texts. All records are one corpus, whose n-grams are
counted together.
"""

import argparse
import csv
import tempfile
from collections.abc import Iterator
from glob import glob
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments import report
from experiments.own_ngrams import N_HASHES, THRESHOLD, counted
from experiments.runner import machine
from experiments.texts import groups, read
from sparsemaps import MinHash
from sparsemaps.neighbors import removals
from sparsemaps.text._analyzers import vectorizer_of
from sparsemaps.text._own_ngrams import OwnNgrams

N_RECORDS, N_COPIES = 3000, 300
EDITS = (1, 3, 10)
"""Number of replaced words in a copy."""

LONGEST, LEAST_WORDS = 20_000, 60
"""Number of characters of a record that are used, and of words of a copied record."""

FAMILIES = ((10_000, 1), (3000, 3), (300, 3), (100, 10), (3, 10))
"""Numbers of copies of a text, and of replaced words in each."""

FRAMES = ((20, 5), (100, 20), (300, 30), (1000, 5), (1000, 200))
"""Numbers of words of a frame, and of own words of each of its pages."""

N_PAGES = 500
SHOWN = ("all", "30, 20", "100, 8", "100, 20", "100, 40", "300, 20", "1000, 20")
"""Settings that the page shows. The table of values has all settings."""

THREADS, MAILS, QUOTED = 100, 12, 50
"""Numbers of threads of mails, of mails per thread, and of own words per mail."""


class Corpus(NamedTuple):
    """Records, and the number of the family of each. Records of one family are copies."""

    name: str
    texts: list[str]
    families: Any


def edited(text: str, n: int, rng: Any) -> str:
    """Return the text with n words replaced by new ones."""
    words = text.split(" ")
    for place in rng.choice(len(words), min(n, len(words)), replace=False):
        words[place] = f"v{rng.integers(10**9)}"
    return " ".join(words)


def with_copies(name: str, texts: list[str], families: Any, rng: Any) -> Corpus:
    """Distinct texts, and copies of some of them."""
    long = [row for row, text in enumerate(texts) if len(text.split(" ")) >= LEAST_WORDS]
    rows = rng.choice(long, min(N_COPIES, len(long)), replace=False)
    copies = [edited(texts[row], n, rng) for row, n in zip(rows.tolist(), cycle(EDITS))]
    return Corpus(name, texts + copies, np.concatenate([families, families[rows]]))


def of_file(path: Path, n: int, rng: Any) -> tuple[list[str], Any]:
    """Return texts of JSON Lines and the number of the family of each, for some random families."""
    texts, _, copy_of = read(str(path))
    family = groups(copy_of)
    rows = np.argsort(rng.permutation(family.max() + 1)[family], kind="stable")[:n]
    return [texts[row][:LONGEST] for row in rows], family[rows]


def of_folder(pattern: str, n: int, rng: Any) -> list[str]:
    """Return the distinct files of a pattern, as texts."""
    found = {}
    for file in map(Path, sorted(glob(pattern, recursive=True))):
        if file.is_file() and not file.is_symlink() and file.stat().st_size > 300:
            found[file.read_text(errors="replace")[:LONGEST]] = None
    texts = list(found)
    return [texts[row] for row in rng.permutation(len(texts))[:n]]


def mails(words: list[str], rng: Any) -> list[str]:
    """Return mails that quote the whole previous mail, with the footer of the list."""
    footer = " ".join(drawn(words, 40, rng))
    found = []
    for _ in range(THREADS):
        before = ""
        for _ in range(MAILS):
            own = drawn(words, QUOTED, rng)
            lines = [" ".join(own[start : start + 12]) for start in range(0, QUOTED, 12)]
            quoted = [f"> {line}" for line in before.splitlines()]
            before = "\n".join([*quoted, *lines])
            found.append(f"{before}\n-- \n{footer}")
    return found


def drawn(words: list[str], n: int, rng: Any) -> list[str]:
    return [words[i] for i in rng.integers(0, len(words), n)]


def alone(texts: list[str]) -> Any:
    return np.arange(len(texts))


def corpora(data: Path, patterns: dict[str, str], n: int = N_RECORDS) -> Iterator[Corpus]:
    rng = np.random.default_rng(0)
    texts, families = of_file(data / "texts.jsonl.xz", n, rng)
    yield Corpus("manual pages", texts, families)
    words = [word for text in texts for word in text.split() if word.isascii() and word.isalnum()]
    pages, of_pages = of_file(data / "pages.jsonl.xz", n, rng)
    yield Corpus("web pages", pages, of_pages)
    for name, pattern in patterns.items():
        files = of_folder(pattern, n, rng)
        yield with_copies(name, files, alone(files), rng)
    quoting = mails(words, rng)
    yield with_copies("quoted mails", quoting, alone(quoting), rng)
    for n_frame, n_own in FRAMES:
        frame = drawn(words, n_frame, rng)
        half = n_frame // 2
        of_frame = [
            " ".join([*frame[:half], *drawn(words, n_own, rng), *frame[half:]])
            for _ in range(N_PAGES)
        ]
        yield Corpus(f"frame of {n_frame:,}, {n_own} own", of_frame, alone(of_frame))
    for size, n_edits in FAMILIES:
        original = " ".join(drawn(words, 200, rng))
        copies = [edited(original, n_edits, rng) for _ in range(min(size, 4 * n))]
        name = f"family of {size:,}, {n_edits} replaced"
        yield Corpus(name, copies, np.zeros(len(copies), int))


def judged(vectorizer: Any, every: list[Corpus]) -> list[tuple[int, int]]:
    """Return, for each corpus, the number of removed records whose witness is of the same family,
    and of other removed records."""
    minhash = MinHash(n_hashes=N_HASHES, random_state=0)
    minhash.fit_any_width()
    texts = [text for corpus in every for text in corpus.texts]
    codes = minhash.encode_texts(vectorizer, texts, packed=True)
    found = removals(codes, THRESHOLD)
    number = np.repeat(np.arange(len(every)), [len(corpus.texts) for corpus in every])
    family = np.concatenate([corpus.families for corpus in every])
    one, other = found.removed, found.witness
    right = (number[one] == number[other]) & (family[one] == family[other])
    counts = [np.bincount(number[one[which]], minlength=len(every)) for which in (right, ~right)]
    return list(zip(*(count.tolist() for count in counts), strict=True))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.corpora", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="directory of the texts")
    parser.add_argument("--files", action="append", default=[], metavar="NAME=PATTERN",
                        help="records, such as pages=html/**/*.html; may be repeated")  # fmt: skip
    parser.add_argument("-o", "--results", type=Path, required=True, help="where tables go")
    parser.add_argument("--analyzer", nargs="+", default=["word:5", "auto:5", "char:5"])
    parser.add_argument("--records", type=int, default=N_RECORDS, help="of a corpus (3000)")
    parser.add_argument("--max-df", type=int, nargs="+", default=[10, 30, 100, 300, 1000])
    parser.add_argument("--min-own", type=int, nargs="+", default=[1, 8, 20, 40])
    parser.add_argument("--buckets", type=int, default=2**26, help="of the table (2^26)")
    options = parser.parse_args(arguments)
    files = dict(one.split("=", 1) for one in options.files)
    every = list(corpora(options.data, files, options.records))
    names = [f"{corpus.name} ({len(corpus.texts):,})" for corpus in every]
    for analyzer in options.analyzer:
        vectorizer = vectorizer_of(analyzer, binary=True)
        found = {"all": judged(vectorizer, every)}
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table"
            counted(
                vectorizer, [t for corpus in every for t in corpus.texts], table, options.buckets
            )
            for max_df in options.max_df:
                for min_own in options.min_own:
                    own = OwnNgrams(vectorizer, str(table), max_df, min_own)
                    found[f"{max_df}, {min_own}"] = judged(own, every)
                    print(analyzer, max_df, min_own, found[f"{max_df}, {min_own}"], flush=True)
        path = options.results / f"own-ngrams-corpora-{analyzer.replace(':', '-')}"
        rows = [
            [name, *(f"{right:,} / {wrong:,}" for right, wrong in (of[i] for of in found.values()))]
            for i, name in enumerate(names)
        ]
        header = ["corpus (records)", *found]
        shown = [0, *(1 + i for i, name in enumerate(found) if name in SHOWN)]
        report.write_table(
            path,
            f"Copies found / other records removed, {analyzer}",
            [header[i] for i in shown],
            [[row[i] for i in shown] for row in rows],
            f"{N_HASHES} hashes, threshold {THRESHOLD}; all n-grams, or own ones by `max_df, "
            f"min_own`. A copy is found if its witness is a copy of the same text. {machine()}.",
        )  # fmt: skip
        with open(path.with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()
