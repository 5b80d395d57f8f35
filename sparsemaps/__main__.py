"""``python -m sparsemaps`` is the ``sparsemaps`` command."""

import sys

from sparsemaps.cli import main

if __name__ == "__main__":
    sys.exit(main())
