"""Sphinx: ``sphinx-build -W docs docs/_build``."""

import sparsemaps

project = "sparsemaps"
author = "the sparsemaps developers"
version = release = sparsemaps.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
html_theme = "alabaster"
