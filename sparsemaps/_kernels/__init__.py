"""Compiled loops on plain arrays.

What each computes is said at its head; what it may be given is checked above.
"""
