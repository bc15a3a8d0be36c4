"""Sphinx configuration: PyData theme, MyST pages, formulas as MathML so that nothing is fetched when a page is read."""

import sys
from pathlib import Path

import tallymark

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
(HERE / "generated" / "live").mkdir(parents=True, exist_ok=True)

project = "Tallymark"
author = "The Tallymark team"
project_copyright = "2026, the Tallymark team"
version = release = tallymark.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "mathml",
    "glossary",
    "gallery",
    "notebooks",
    "reference",
    "links",
    "architecture",
    "live",
    "llms",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
nitpicky = False

autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_member_order = "bysource"
# The page is called as the object is; the object's own line need not repeat the module.
add_module_names = False
toc_object_entries = False
viewcode_line_numbers = True

templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "Tallymark"
html_static_path = ["_static"]
html_css_files = ["tallymark.css"]
html_extra_path = ["generated/live"]
html_theme_options = {
    "navbar_align": "left",
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"**": ["all-pages.html"]}
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
