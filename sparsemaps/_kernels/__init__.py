"""Compiled loops on plain arrays: what they compute is said in each, what they may be given is checked above."""
