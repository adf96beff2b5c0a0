"""Sphinx' own search page is `search.html`, so the page `search.md` is shown as `nearest.html`.

`nearest.md` includes it; links to `search.md` lead there.
"""

from typing import Any

from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class LinksToSearch(SphinxPostTransform):
    """Turns links before MyST looks for their pages."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        """Name the page that includes the one that was meant."""
        for link in self.document.findall(pending_xref):
            if link.get("refdomain") == "doc" and link["reftarget"] == "search":
                link["reftarget"] = "nearest"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.add_post_transform(LinksToSearch)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
