"""Sphinx configuration: PyData theme, MyST pages, formulas as MathML so that nothing is fetched when a page is read."""

import sys
from pathlib import Path

import tallymark

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "Tallymark"
author = "The Tallymark team"
project_copyright = "2026, the Tallymark team"
version = release = tallymark.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "mathml", "glossary", "gallery"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
nitpicky = False

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False

html_theme = "pydata_sphinx_theme"
html_title = "Tallymark"
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"**": []}
html_show_sourcelink = False
