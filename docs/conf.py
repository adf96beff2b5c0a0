"""How Sphinx builds the site from the pages of this folder; `make docs` runs it."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

from public_names import write_reference  # noqa: E402

write_reference(HERE / "api")

project = "coterie"
author = "The coterie developers"
project_copyright = "the coterie developers"
version = release = version_of("coterie")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "built_formulae",
    "linked_names",
    "plain_docstrings",
    "search_page",
]
exclude_patterns = ["_extensions", "figures/*.py", "search.md"]

# Pages are written as GitHub reads them.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

# Docstrings name things between single backticks; what the reference knows becomes a link.
default_role = "py:obj"
autosummary_generate = False
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
toc_object_entries = False

html_theme = "pydata_sphinx_theme"
html_title = "coterie"
html_favicon = html_logo = "_static/coterie.svg"
html_static_path = ["_static"]
html_css_files = ["coterie.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would be fetched, which a page opened from disk may not
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "coterie"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_nav_level": 2,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
copybutton_exclude = ".linenos, .gp, .go"
