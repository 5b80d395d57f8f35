"""``python -m experiments.edits --data DIRECTORY -o RESULTS``: which edits of a text leave a near
copy, by n-grams and threshold, by all n-grams and by own ones.

DIRECTORY has texts.jsonl.xz, JSON Lines with a field `text`. Code is that of Python's own library.
"""

import argparse
import ast
import json
import lzma
import re
import string
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from experiments import own_ngrams, report
from sparsemaps.text._analyzers import vectorizer_of
from sparsemaps.text._own_ngrams import OwnNgrams

THRESHOLDS = (0.5, 0.8)
MAX_DF, MIN_OWN = 100, 20
OWN = ("3 words", "5 words", "5 tokens")
"""N-grams for which own n-grams are also tried."""


def columns() -> dict[str, Any]:
    """N-grams by name."""
    return {
        "1 word": vectorizer_of("word:1", binary=True),
        "3 words": vectorizer_of("word:3", binary=True),
        "5 words": vectorizer_of("word:5", binary=True),
        "5 words, plain": vectorizer_of("word:5", normalize="plain", binary=True),
        "5 characters": vectorizer_of("char:5", binary=True),
        "5 tokens": vectorizer_of("code:5", binary=True),
    }


def replaced(text: str, rng: Any, share: float) -> str:
    words = text.split(" ")
    return " ".join(f"v{rng.integers(10**6)}" if rng.random() < share else w for w in words)


def moved(text: str) -> str:
    """Return the text with the second quarter of the words moved after the third."""
    words = text.split(" ")
    a, b, c = (len(words) * quarter // 4 for quarter in (1, 2, 3))
    return " ".join(words[:a] + words[b:c] + words[a:b] + words[c:])


def of_texts(rng: Any) -> dict[str, Callable[[str], str]]:
    """Edits of a text, by name."""
    header, licence = (" ".join(own_ngrams.words(rng, n)) for n in (15, 200))
    signs = str.maketrans("", "", string.punctuation)
    blanks = str.maketrans(dict.fromkeys(string.punctuation, " "))
    return {
        "a header of 15 words added": lambda text: f"{header}\n{text}",
        "a licence of 200 words added": lambda text: f"{licence}\n{text}",
        "2 % of the words replaced": lambda text: replaced(text, rng, 0.02),
        "5 % of the words replaced": lambda text: replaced(text, rng, 0.05),
        "15 % of the words replaced": lambda text: replaced(text, rng, 0.15),
        "a quarter moved": moved,
        "the last tenth cut": lambda text: text[: len(text) * 9 // 10],
        "the last third cut": lambda text: text[: len(text) * 2 // 3],
        "capitals": str.upper,
        "punctuation replaced by blanks": lambda text: text.translate(blanks),
        "punctuation left out": lambda text: text.translate(signs),
        "other line breaks": lambda text: "\n".join(text.split()),
    }


def renamed(code: str) -> str:
    """Return code in which every assigned name is renamed."""
    nodes = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name))
    names = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda m: f"my_{m[0]}" if m[0] in names else m[0], code)


def of_code(rng: Any) -> dict[str, Callable[[str], str]]:
    """Edits of Python's code, by name."""
    licence = "".join(f"# {' '.join(own_ngrams.words(rng, 10))}\n" for _ in range(20))
    return {
        "code: a licence of 200 words added": lambda code: f"{licence}\n{code}",
        "code: indented by 2": lambda code: re.sub(
            r"(?m)^( +)", lambda m: m[1][: len(m[1]) // 2], code
        ),
        "code: blanks around signs": lambda code: re.sub(r"([(\[{,=+*/:)\]}])", r" \1 ", code),
        "code: comments left out": lambda code: re.sub(r"(?m)^\s*#.*\n", "", code),
        "code: formatted anew": lambda code: ast.unparse(ast.parse(code)),
        "code: variables renamed": renamed,
    }


def natural(data: Path, n: int) -> Iterator[str]:
    """Texts of 60 to 300 words."""
    with lzma.open(data / "texts.jsonl.xz", "rt", encoding="utf-8") as lines:
        texts = (json.loads(line)["text"] for line in lines)
        yield from islice((text for text in texts if 60 <= len(text.split()) <= 300), n)


def modules(n: int) -> Iterator[str]:
    """Yield the modules of Python's library that can be parsed."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    for path in islice(sorted(folder.glob("*.py")), n):
        yield path.read_text(encoding="utf-8")


def jaccard(X: Any, Y: Any) -> Any:
    """Return the similarity of each row of X and the same row of Y."""
    common = X.multiply(Y).sum(axis=1)
    return common / np.maximum((X + Y).sign().sum(axis=1), 1)


def found(similarity: Any) -> str:
    return " / ".join(f"{100 * np.mean(similarity >= threshold):.0f}" for threshold in THRESHOLDS)


def line(originals: list[str], copies: list[str], folder: Path) -> list[str]:
    """Return the shares of edits that are found, by each kind of n-grams."""
    cells = []
    for name, vectorizer in columns().items():
        cells.append(found(jaccard(vectorizer.transform(originals), vectorizer.transform(copies))))
        if name not in OWN:
            continue
        own_ngrams.counted(vectorizer, originals + copies, folder / "table", 2**21)
        own = OwnNgrams(vectorizer, str(folder / "table"), MAX_DF, MIN_OWN)
        cells.append(found(jaccard(own.transform(originals), own.transform(copies))))
    return cells


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.edits", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="directory of the texts")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where the table goes")
    parser.add_argument("--texts", type=int, default=1000, help="originals (1000)")
    parser.add_argument("--modules", type=int, default=150, help="modules of code (150)")
    options = parser.parse_args(arguments)
    texts, code = [*natural(options.data, options.texts)], [*modules(options.modules)]
    rng = np.random.default_rng(0)
    edits = [(texts, *edit) for edit in of_texts(rng).items()]
    edits += [(code, *edit) for edit in of_code(rng).items()]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for originals, name, edit in edits:
            rows.append([name, *line(originals, [*map(edit, originals)], Path(folder))])
            print(*rows[-1], sep=" | ", flush=True)
    names = []
    for name in columns():
        names += [name, f"own {name}"] if name in OWN else [name]
    report.write_table(
        options.results / "near-duplicates-edits", "Edits, and how many copies are found",
        ["edit", *names], rows,
        f"{len(texts):,} texts of 60 to 300 words, and {len(code):,} modules of Python's library. "
        f"The share of copies in percent whose exact similarity to the original is at least "
        f"{' / '.join(map(str, THRESHOLDS))}. Own: `--max-df {MAX_DF} --min-own {MIN_OWN}`, "
        "counted over originals and copies. "
        "`python -m experiments.edits --data DIRECTORY -o RESULTS`",
    )  # fmt: skip


if __name__ == "__main__":
    main()
