"""Reference implementations for tests: slow, plain code, and statistical error bounds."""
