"""The minimum spanning tree of the rows."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SpanningTree:
    """todo"""


def spanning_tree(*a: Any) -> Any:
    """todo"""
