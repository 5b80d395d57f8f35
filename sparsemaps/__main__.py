"""The ``sparsemaps`` command, also as ``python -m sparsemaps``."""

import contextlib
import os
import sys


def main() -> int:
    """Run the command in a process of its own; returns its exit status."""
    try:
        from sparsemaps import cli  # takes a moment, in which Ctrl-C may be pressed

        status = cli.main()
    except KeyboardInterrupt:
        print("sparsemaps: interrupted", file=sys.stderr)
        status = 130
    if status:
        # Python would try again to write what is left, and complain, when it ends.
        with contextlib.suppress(AttributeError, OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


if __name__ == "__main__":
    sys.exit(main())
