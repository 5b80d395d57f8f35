"""The tables and figures of four papers, measured with sparsemaps: ``python -m experiments``."""
