"""Reading, mapping and writing LIBSVM files: against scikit-learn, and two threads against one."""

import os
import tempfile
from io import BytesIO

import numpy as np
from sklearn import datasets

from sparsemaps import ConsistentWeightedSampling, cli, libsvm

from .common import ratio, workload


class Files:
    """W1 with 6 or 17 digits per value, or binary."""

    params = (["6 digits", "17 digits", "binary"],)
    param_names = ("values",)

    def setup(self, values):
        X = workload("W1", 1_000).copy()
        if values == "6 digits":
            X.data = np.round(X.data, 6)
        elif values == "binary":
            X.data[:] = 1
        self.X, self.y = X, np.arange(X.shape[0]) % 2
        file = BytesIO()
        libsvm.dump_svmlight_file(self.X, self.y, file)
        self.text = file.getvalue()

    def load(self, module):
        module.load_svmlight_file(BytesIO(self.text))

    def dump(self, module):
        module.dump_svmlight_file(self.X, self.y, BytesIO())

    def time_load(self, values):
        self.load(libsvm)

    def time_dump(self, values):
        self.dump(libsvm)

    def track_ratio_load(self, values):
        return ratio(lambda: self.load(datasets), lambda: self.load(libsvm))

    def track_ratio_dump(self, values):
        return ratio(lambda: self.dump(datasets), lambda: self.dump(libsvm))

    track_ratio_load.unit = track_ratio_dump.unit = "times faster"


class AgainstXgboost:
    """One thread, from a file on disk."""

    params = (["W1", "W2", "W5"],)
    param_names = ("workload",)

    def setup(self, name):
        X = workload(name, 10_000)
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "file.svm")
        libsvm.dump_svmlight_file(X, np.zeros(X.shape[0]), self.path)

    def teardown(self, name):
        self.folder.cleanup()

    def track_ratio_load(self, name):
        # Imported here because it takes seconds, in each process of asv.
        import xgboost

        peer = f"{self.path}?format=libsvm"
        return ratio(
            lambda: xgboost.DMatrix(peer, nthread=1),
            lambda: libsvm.load_svmlight_file(self.path),
        )

    track_ratio_load.unit = "times faster"


class OnDisk:
    """A file of the given size."""

    def setup(self):
        X = workload("W1", 10_000)
        self.X, self.y = X, np.arange(X.shape[0]) % 2
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "file.svm")
        libsvm.dump_svmlight_file(self.X, self.y, self.path)

    def teardown(self):
        self.folder.cleanup()


class Threads(OnDisk):
    """Time of one thread relative to two."""

    def load(self, n_jobs):
        libsvm.load_svmlight_file(self.path, n_jobs=n_jobs)

    def dump(self, n_jobs):
        libsvm.dump_svmlight_file(self.X, self.y, self.path, n_jobs=n_jobs)

    def map(self, n_jobs):
        cli.main(
            ["map", "minmax", "--zero-based", f"--n-jobs={n_jobs}", self.path, "-o", os.devnull]
        )

    def track_ratio_load(self):
        return ratio(lambda: self.load(1), lambda: self.load(2))

    def track_ratio_dump(self):
        return ratio(lambda: self.dump(1), lambda: self.dump(2))

    def track_ratio_map(self):
        return ratio(lambda: self.map(1), lambda: self.map(2))

    track_ratio_load.unit = track_ratio_dump.unit = track_ratio_map.unit = "times faster"


class Map(OnDisk):
    """From file to file: the command against scikit-learn's reader and writer around the map."""

    def ours(self):
        cli.main(["map", "minmax", "--zero-based", self.path, "-o", self.path + ".mapped"])

    def theirs(self):
        X, y = datasets.load_svmlight_file(self.path, zero_based=True)
        Z = ConsistentWeightedSampling(random_state=0).fit_transform(X)
        datasets.dump_svmlight_file(Z, y, self.path + ".mapped", zero_based=False)

    def time_map(self):
        self.ours()

    def peakmem_map(self):
        self.ours()

    def track_ratio_map(self):
        return ratio(self.theirs, self.ours, repeats=1, seconds=0)

    track_ratio_map.unit = "times faster"
