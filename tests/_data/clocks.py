"""Clocks of tests: what they say does not depend on the machine."""


class Ticking:
    """A clock that moves by a hundredth of a second at each look."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 0.01
        return self.now
