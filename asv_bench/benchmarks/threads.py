"""Two threads against one: each map's `transform` and `encode`, and exact Gram matrices.

benchmarks/libsvm.py has the benchmarks of files.
"""

import multiprocessing
import time

import numpy as np

from sparsemaps import kernels

from .common import fastest, ratio, workload
from .growth import MAPS

CODED = [name for name, new in MAPS.items() if new(8).has_codes]


class _Threads:
    param_names = ("workload", "map")
    timeout = 600

    def setup(self, workload_name, name):
        self.X = workload(workload_name, 20_000).astype(np.float32)
        self.maps = [MAPS[name](512).set_params(n_jobs=n).fit(self.X) for n in (1, 2)]

    def ratio(self, method):
        one, two = (getattr(a_map, method) for a_map in self.maps)
        return ratio(lambda: one(self.X), lambda: two(self.X))


class Transform(_Threads):
    params = (["W1", "W2"], list(MAPS))

    def track_ratio_transform(self, *_):
        return self.ratio("transform")

    track_ratio_transform.unit = "times faster"


class Processes(_Threads):
    """Two processes at once relative to one after the other: the most that two threads can reach if
    memory is the bottleneck, or if the machine's two processors are not two full ones."""

    params = Transform.params

    def setup(self, workload_name, name):
        if "fork" not in multiprocessing.get_all_start_methods():
            raise NotImplementedError("the other process is a fork of this one")
        super().setup(workload_name, name)

    def track_ratio_transform(self, *_):
        transform = self.maps[0].transform
        (alone,) = fastest(lambda: transform(self.X))
        n_runs = min(max(int(2 / alone), 2), 40)
        context = multiprocessing.get_context("fork")
        barrier, answer = context.Barrier(2), context.SimpleQueue()

        def beside_another():
            found = []
            for _ in range(n_runs):
                barrier.wait()
                start = time.perf_counter()
                transform(self.X)
                found.append(time.perf_counter() - start)
            return found

        other = context.Process(target=lambda: answer.put(beside_another()))
        other.start()
        pairs = zip(beside_another(), answer.get(), strict=True)
        other.join()
        return 2 * alone / min(max(pair) for pair in pairs)

    track_ratio_transform.unit = "times faster"


class Encode(_Threads):
    params = (["W1", "W2"], CODED)

    def track_ratio_encode(self, *_):
        return self.ratio("encode")

    track_ratio_encode.unit = "times faster"


class Gram:
    params = (["min_max_kernel", "acos_chi2_kernel", "acos_kernel", "laplacian_kernel"],)
    param_names = ("kernel",)

    def setup(self, name):
        self.X = workload("W1", 20_000)

    def track_ratio_gram(self, name):
        kernel = getattr(kernels, name)
        X, Y = self.X, self.X[:1000]
        return ratio(lambda: kernel(Y, X, n_jobs=1), lambda: kernel(Y, X, n_jobs=2))

    track_ratio_gram.unit = "times faster"
