"""Public names in the pages lead to the reference: `KMeans`, `choose_k(X, ...)`, `coterie.load`.

Only code that can be nothing else becomes a link: a full name, a class, or a function's name that
has an underscore or is called. What stands for another package (the first column of the tables of
those who come from one) is left alone.
"""

import re
from typing import Any

from docutils import nodes
from public_names import homes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

#: A name with dots, and perhaps a call.
_NAMED = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?", re.DOTALL)


def _targets() -> dict[str, str]:
    """Full names by every way to write them that means one thing only.

    What draws goes by `plots.` and its name, which without it may be what is drawn: `free_energy`.
    """
    found: dict[str, set[str]] = {}
    for module, names in homes().items():
        for full in names:
            parts = full.split(".")
            for start in range(len(parts) - (module == "coterie.plots")):
                found.setdefault(".".join(parts[start:]), set()).add(full)
    return {written: one for written, (one, *others) in found.items() if not others}


def _is_name(written: str, call: str | None) -> bool:
    return "." in written or call is not None or written[0].isupper() or "_" in written


class LinkedNames(SphinxTransform):
    """Wraps the code of a page that is a public name in a reference to it."""

    default_priority = 700
    targets = _targets()

    def apply(self, **kwargs: Any) -> None:
        """Leave the reference itself alone, and what is a link already."""
        page = self.env.docname
        if page.startswith("api/"):
            return
        for code in list(self.document.findall(nodes.literal)):
            match = _NAMED.fullmatch(code.astext())
            full = self.targets.get(match[1]) if match else None
            if not (match and full and _is_name(match[1], match[2])) or _is_taken(code, page):
                continue
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=full, refdoc=page, refwarn=True
            )
            code.replace_self(link)
            link += code


def _is_taken(code: nodes.Node, page: str) -> bool:
    """Whether it is part of a link or a heading, or a name of another package."""
    around = code.parent
    while around is not None:
        if isinstance(around, nodes.reference | addnodes.pending_xref | nodes.title):
            return True
        if isinstance(around, nodes.entry) and page.startswith("coming_from_"):
            return around.parent.index(around) == 0
        around = around.parent
    return False


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.add_transform(LinkedNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
