"""The site: ``make site`` builds it into ``site/``, a folder that works where there is no network and no server."""

from __future__ import annotations

import sys
from pathlib import Path

import triton_lab

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "triton-lab"
author = "triton-lab contributors"
copyright = author
release = version = triton_lab.__version__
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "pictures", "languages", "gallery", "names", "finding_pages"]
exclude_patterns = ["_ext"]
suppress_warnings = ["ref.python"]  # two of our types are called Access: a launch's, and a loop nest's
default_role = "code"  # in docstrings, a name between backticks

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the chapters have been run, and are tested

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "triton-lab"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # it would be fetched, which a folder does not answer
html_theme_options = {"navigation_with_keys": True}
