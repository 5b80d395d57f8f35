"""Reading and writing LIBSVM files against scikit-learn."""

from io import BytesIO

import numpy as np
from sklearn import datasets

from sparsemaps import libsvm

from .common import ratio, workload


class Files:
    """W1 with 6 or 17 digits a value, or binary."""

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
