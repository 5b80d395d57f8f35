"""Arrow's structures of strings, of any content, that lie: a ValueError, or the rows of the strings
that Arrow's specification reads in them."""

import random
import sys
from pathlib import Path

from common import run, sparsemaps

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from _data import hostile_arrow

VECTORIZERS = [
    sparsemaps.text.ByteNgrams(ngram_range=(1, 2)),
    sparsemaps.text.HashingVectorizer(analyzer="char", norm=None),
    sparsemaps.text.HashingVectorizer(token_pattern="[0-9a-z]+", norm=None),
]


def target(data):
    draw = random.Random(data)
    hostile_arrow.check(hostile_arrow.random_strings(draw), draw.choice(VECTORIZERS))


if __name__ == "__main__":
    run(target)
