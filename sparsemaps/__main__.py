"""The ``sparsemaps`` command, also as ``python -m sparsemaps``."""

import contextlib
import os
import sys


def main() -> int:
    """Run the command as the whole process, and return its exit status."""
    try:
        from sparsemaps import cli  # here, as Ctrl-C may be pressed during the imports

        status = cli.main()
    except KeyboardInterrupt:
        print("sparsemaps: interrupted", file=sys.stderr)
        status = 130
    if status:
        # Python would try to flush standard output again when it ends, and print a traceback.
        with contextlib.suppress(AttributeError, OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


if __name__ == "__main__":
    sys.exit(main())
