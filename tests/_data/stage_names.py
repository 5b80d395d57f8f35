"""Names of results in a folder of stages, which have a part of the digest of their recipe."""

import re


def without_digest(name):
    return re.sub(r"-[0-9a-f]{16}(?=\.|$)", "", name)


def results_in(folder):
    """The paths of results of one run, by their names without a digest."""
    paths = [path for path in folder.iterdir() if without_digest(path.name) != path.name]
    named = {without_digest(path.name): path for path in paths}
    assert len(named) == len(paths)
    return named
