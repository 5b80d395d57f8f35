"""``python -m experiments.compared DIRECTORY SET...``: the tables of `compare` on data sets.

The search sees the training rows. The models that it measures are scored on the test rows, too. The
seconds are processor time of one thread, so that other work on the machine does not count.
"""

import argparse
import time
from importlib.metadata import version

from experiments import datasets
from experiments.runner import machine
from sparsemaps.comparison import Comparison, compare_by
from sparsemaps.comparison._budget import Budget

REGRESSION = ("cpu_act", "cpusmall", "wine_white", "wine_red")


def compared(directory: str, name: str, seconds: float) -> Comparison:
    """Return the comparison of a set."""
    split = datasets.load(directory, name)
    return compare_by(
        Budget(seconds, time.process_time), split.X, split.y, test=(split.X_test, split.y_test),
        regression=name in REGRESSION, random_state=0, n_jobs=1,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.compared", description=__doc__)
    parser.add_argument("directory", help="where the files are")
    parser.add_argument("sets", nargs="+", metavar="SET")
    parser.add_argument("--seconds", type=float, default=30.0, help="of a set (default: 30)")
    options = parser.parse_args()
    names = "numpy", "scipy", "scikit-learn", "sparsemaps"
    print(machine(), *(f"{name} {version(name)}" for name in names), sep=", ")
    for name in options.sets:
        print(f"\n{name}\n{compared(options.directory, name, options.seconds)}", flush=True)


if __name__ == "__main__":
    main()
