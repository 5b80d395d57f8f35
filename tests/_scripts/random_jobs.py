"""Random jobs of files beside plain Python: records without near-duplicates, and models of records.

``python -m _scripts.random_jobs 1000`` runs so many of each kind, and prints which differ. A job is
named by a number, so that ``python -m _scripts.random_jobs 1 417`` runs job 417 again.
"""

import sys
import tempfile
import traceback
from pathlib import Path

from _scripts.random_dedup import check_dedup
from _scripts.random_learning import check_learning

KINDS = {"dedup": check_dedup, "learning": check_learning}


def difference(kind, number):
    """The traceback of a job that is not as plain Python has it; None if it is."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            KINDS[kind](number, Path(folder))
        except Exception:
            return traceback.format_exc()
    return None


def main(n, first=0, kinds=tuple(KINDS)):
    for kind in kinds:
        n_different = 0
        for number in range(first, first + n):
            found = difference(kind, number)
            if found is not None:
                n_different += 1
                print(f"{kind} {number}: {found}", flush=True)
        print(f"{kind}: {n_different} of {n} differ", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *([sys.argv[3:]] if sys.argv[3:] else []))
