"""Files of linear models with any changes: a ValueError, or a model that labels texts."""

import os
import tempfile

from common import atheris, run, sparsemaps

from sparsemaps.linear import KernelClassifier, _model_file
from sparsemaps.text import HashingVectorizer

TEXTS = ["to be or not", "to be", "that is", "the question"]
FOLDER = tempfile.mkdtemp()
PATH = os.path.join(FOLDER, "model")

_model_file.checksum_of = lambda *parts: "00000000"  # else nearly all changes are one error

words = HashingVectorizer(binary=True, norm=None, alternate_sign=False)
map = sparsemaps.MinHash(n_hashes=16, bits=4, random_state=0)
model = KernelClassifier(map, vectorizer=words, random_state=0).fit(TEXTS, ["a", "a", "b", "b"])
model.save(PATH)
with open(PATH, "rb") as file:
    WHOLE = file.read()


def target(data):
    data = atheris.FuzzedDataProvider(data)
    changed = bytearray(WHOLE)
    for _ in range(data.ConsumeIntInRange(1, 4)):
        place = len(changed) - data.ConsumeIntInRange(0, len(changed))
        removed = data.ConsumeIntInRange(0, 16)
        changed[place : place + removed] = data.ConsumeBytes(data.ConsumeIntInRange(0, 16))
    with open(PATH, "wb") as file:
        file.write(changed)
    try:
        made = KernelClassifier.load(PATH)
    except ValueError:
        return
    assert made.decision_function(TEXTS).shape == (4,)


if __name__ == "__main__":
    run(target)
