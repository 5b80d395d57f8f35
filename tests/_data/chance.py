"""The seed of all random numbers in tests.

The variable SPARSEMAPS_TEST_SEED chooses other numbers for all of them. A test that needs any adds
SEED to its own seed: ``np.random.default_rng(SEED + 1)``, ``MinHash(random_state=SEED)``.
"""

import os

VARIABLE = "SPARSEMAPS_TEST_SEED"
LARGEST = 4095


def read_number(text):
    """Return the number that the variable holds."""
    if not (text.isascii() and text.isdigit() and int(text) <= LARGEST):
        raise ValueError(f"{VARIABLE} must be a whole number from 0 to {LARGEST}, got {text!r}")
    return int(text)


NUMBER = read_number(os.environ.get(VARIABLE, "0"))

SEED = NUMBER << 20
"""Tests of different numbers have no seed in common, and all are below 2^32, as scikit-learn's
seeds have to be."""


def named(text):
    """Return the seed of a generator of `random.Random` that a name chooses."""
    return f"{text} {NUMBER}" if NUMBER else text
