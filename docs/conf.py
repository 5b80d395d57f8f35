"""Sphinx: ``sphinx-build -W docs docs/_build``."""

import sys
import warnings
from pathlib import Path

import sklearn.base  # noqa: F401  # estimators then have all methods that they inherit

import sparsemaps

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "sparsemaps"
author = "the sparsemaps developers"
copyright = "the sparsemaps developers"
version = release = sparsemaps.__version__

extensions = [
    "maps",  # in _extensions
    "mathml",  # in _extensions
    "names",  # in _extensions
    "options",  # in _extensions
    "speed",  # in _extensions
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "results/cells",
    "results/*-*.md",
    "results/idf.md",
    "results/summary.md",
    "generated/speed.md",
    "maps.md",
    "losses.md",
    "options.md",
    "gallery/README.rst",
]
templates_path = ["_templates"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
smartquotes = False  # quotes and dashes of options and code stay what they are
default_role = "py:obj"  # names in single backticks are links where they are documented
autosummary_generate = ["api.md", "maps.md"]
autosummary_generate_overwrite = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # the docstrings say types and shapes

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_title = "sparsemaps"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "header_links_before_dropdown": 7,
}
# Pages of a section have the list of its pages beside them; these are in no section.
html_sidebars = {page: [] for page in ("index", "faq", "search", "genindex")}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("sparsemaps",),
    "download_all_examples": False,
    "show_memory": False,
    "thumbnail_size": (480, 400),
    "capture_repr": (),
    "reset_modules": ("matplotlib", "letters.larger"),
    "write_computation_times": False,
    "remove_config_comments": True,
    "min_reported_time": 5,
}

warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive.*")
