"""Formulae become MathML when the site is built, so that a page loads no script to show them."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def _mathml(node: nodes.Node, display: str) -> str:
    """A formula's MathML; a command that the converter does not know is a warning."""
    latex = node.astext()
    mathml = convert(latex, display=display)
    if "\\" in mathml:
        logger.warning("a formula could not be made MathML: %s", latex, location=node)
    return mathml


def _inline(translator: Any, node: nodes.Node) -> None:
    translator.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.Node) -> None:
    translator.body.append(f'<div class="math">{_mathml(node, "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register as one of Sphinx' renderers of formulae."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_inline, None), block_renderers=(_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
