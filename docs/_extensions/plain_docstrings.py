"""Docstrings are prose: bars in them are norms, and a name may end in an underscore.

reStructuredText would read both as markup. Members that only scikit-learn documents are left out.
"""

import inspect
import re
from typing import Any

from sphinx.application import Sphinx

#: What is already marked as code, and what must be escaped.
_CODE = re.compile(r"(``.+?``|`[^`]+`)")
_MARKUP = re.compile(r"(?<!\\)(\||(?<=\w)_(?!\w))")


def _escape(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    in_example = False
    for number, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example:
            parts = _CODE.split(line)
            parts[::2] = [_MARKUP.sub(r"\\\1", part) for part in parts[::2]]
            lines[number] = "".join(parts)


def _skip(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    code = inspect.unwrap(value) if callable(value) else value
    home = getattr(code, "__module__", None) or ""
    return True if home.split(".")[0] in {"sklearn", "builtins"} else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Escape before numpydoc reads the docstring."""
    app.connect("autodoc-process-docstring", _escape, priority=100)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
