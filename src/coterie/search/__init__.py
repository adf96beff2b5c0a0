"""Nearest rows among many: indexes that are built once and asked often."""

from coterie.search.flat import FlatIndex

__all__ = ["FlatIndex"]
