"""Limits of the system, for a while."""

import contextlib

import pytest


@contextlib.contextmanager
def largest_file(n_bytes):
    """No file may become larger: as on a full disk, a write fails."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
