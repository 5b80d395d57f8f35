"""The command, run within the process of the tests."""

import io
import sys

from sparsemaps import cli


class Done:
    """What a program leaves: its status and what it said."""

    def __init__(self, arguments, stdin):
        streams = [io.TextIOWrapper(io.BytesIO(text)) for text in (stdin, b"", b"")]
        kept = sys.stdin, sys.stdout, sys.stderr
        sys.stdin, sys.stdout, sys.stderr = streams
        try:
            self.returncode = cli.main(arguments)
        except SystemExit as left:  # argparse's way
            self.returncode = left.code or 0
        finally:
            sys.stdin, sys.stdout, sys.stderr = kept
        for stream in streams[1:]:
            stream.flush()
        self.stdout, self.stderr = (stream.buffer.getvalue() for stream in streams[1:])


def command(*arguments, stdin=b""):
    """Run the command within this process, as starting Python anew takes a second."""
    return Done([str(argument) for argument in arguments], stdin)
