"""Linear models on codes, next to scikit-learn's and Vowpal Wabbit on one-hot features of the same
codes."""

import warnings

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from sparsemaps import MinHash, codes
from sparsemaps.linear import KernelClassifier, KernelClassifierCV
from sparsemaps.text import HashingVectorizer

from .common import ratio

N_ROWS = 4000
N_HASHES = 256


def rows_of(n_classes):
    """Codes of which a tenth depend on the row's class, and their one-hot features."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, N_ROWS)
    numbers = rng.integers(0, 256, (N_ROWS, N_HASHES))
    of_class = rng.integers(0, 256, (n_classes, N_HASHES))
    numbers = np.where(rng.random(numbers.shape) < 0.1, of_class[y], numbers).astype(np.uint8)
    config = MinHash(n_hashes=N_HASHES, random_state=0).fit_any_width().to_config()
    packed = codes.PackedCodes(numbers, 8, config, sampled=np.ones(N_ROWS, bool))
    return packed, codes.to_csr(packed), y


def vowpal_wabbit(features, y):
    """Three passes of Vowpal Wabbit with its hinge loss, over preparsed examples."""
    from vowpalwabbit import Workspace

    model = Workspace(f"--oaa {y.max() + 1} --loss_function hinge -b 18 --quiet --noconstant")
    lines = [
        f"{label + 1} | " + " ".join(map(str, features.indices[start:stop]))
        for label, start, stop in zip(y, features.indptr[:-1], features.indptr[1:], strict=True)
    ]
    examples = [model.parse(line) for line in lines]

    def train():
        for _ in range(3):
            for example in examples:
                model.learn(example)

    return train


class Training:
    params = ([2, 16],)
    param_names = ("n_classes",)

    def setup(self, n_classes):
        warnings.simplefilter("ignore")
        self.packed, self.features, self.y = rows_of(n_classes)

    def ours(self, n_jobs=1):
        map = MinHash(n_hashes=N_HASHES, random_state=0)
        model = KernelClassifier(map, tol=0.1, random_state=0, n_jobs=n_jobs)
        return model.fit(self.packed, self.y)

    def liblinears(self):
        return LinearSVC(tol=0.1, dual=True, random_state=0).fit(self.features, self.y)

    def time_training(self, n_classes):
        self.ours()

    def peakmem_training(self, n_classes):
        self.ours()

    def track_ratio_training(self, n_classes):
        return ratio(self.liblinears, self.ours)

    def track_ratio_sgd(self, n_classes):
        sgd = SGDClassifier(tol=1e-2, random_state=0)
        return ratio(lambda: sgd.fit(self.features, self.y), self.ours)

    def track_ratio_vowpal_wabbit(self, n_classes):
        return ratio(vowpal_wabbit(self.features, self.y), self.ours)

    def track_ratio_two_threads(self, n_classes):
        return ratio(self.ours, lambda: self.ours(2))

    track_ratio_training.unit = "times faster"
    track_ratio_sgd.unit = "times faster"
    track_ratio_vowpal_wabbit.unit = "times faster"
    track_ratio_two_threads.unit = "times faster"


class PathOfC:
    """Ten values of C, five folds."""

    params = ([2, 16],)
    param_names = ("n_classes",)

    def setup(self, n_classes):
        warnings.simplefilter("ignore")
        self.packed, self.rows, self.y = rows_of(n_classes)
        self.map = MinHash(n_hashes=N_HASHES, random_state=0)

    def ours(self, X):
        return KernelClassifierCV(self.map, tol=0.1, random_state=0).fit(X, self.y)

    def search(self, X):
        model = KernelClassifier(self.map, tol=0.1, random_state=0)
        return GridSearchCV(model, {"C": np.logspace(-3, 3, 10)}).fit(X, self.y)

    def time_path(self, n_classes):
        self.ours(self.packed)

    def track_ratio_path_of_codes(self, n_classes):
        return ratio(lambda: self.search(self.packed), lambda: self.ours(self.packed))

    def track_ratio_path_of_rows(self, n_classes):
        """The search recomputes the codes of the rows for each C and fold."""
        return ratio(lambda: self.search(self.rows), lambda: self.ours(self.rows))

    track_ratio_path_of_codes.unit = "times faster"
    track_ratio_path_of_rows.unit = "times faster"


class Labels:
    params = ([2, 16],)
    param_names = ("n_classes",)

    def setup(self, n_classes):
        warnings.simplefilter("ignore")
        self.packed, self.features, y = rows_of(n_classes)
        map = MinHash(n_hashes=N_HASHES, random_state=0)
        self.model = KernelClassifier(map, tol=0.1, random_state=0).fit(self.packed, y)
        self.theirs = LinearSVC(tol=0.1, dual=True, random_state=0).fit(self.features, y)

    def time_labels(self, n_classes):
        self.model.predict(self.packed)

    def track_ratio_labels(self, n_classes):
        return ratio(
            lambda: self.theirs.predict(self.features), lambda: self.model.predict(self.packed)
        )

    track_ratio_labels.unit = "times faster"


class OneText:
    """From a string to its label."""

    def setup(self):
        vectorizer = HashingVectorizer(analyzer="char", ngram_range=(3, 3), norm=None)
        self.texts = ["the quick brown fox jumps over the lazy dog " * 12, "lorem ipsum " * 45]
        self.model = KernelClassifier(
            MinHash(n_hashes=64, random_state=0), vectorizer=vectorizer, random_state=0
        ).fit(self.texts, [0, 1])

    def time_one_text(self):
        self.model.predict(self.texts[:1])
