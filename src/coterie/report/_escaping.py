"""Data inside a page that can neither end its script nor begin another."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from typing import Any

#: Characters that mean something to a reader of HTML or of JavaScript, as JSON may write them.
_ESCAPES = str.maketrans(
    {char: f"\\u{ord(char):04x}" for char in ("<", ">", "&", "\u2028", "\u2029")}
)


def island(value: Any) -> str:
    """A value as JSON that is safe between the tags of a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def fingerprint(script: str) -> str:
    """What a content security policy calls this script, so that it alone may run."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode('ascii')}"
