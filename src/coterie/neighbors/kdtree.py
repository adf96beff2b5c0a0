"""When a kd-tree pays: boxes prove most rows too far to look at."""

from __future__ import annotations

from coterie.distance import Metric

#: Beyond so many columns nearly every box is near enough to be opened.
MOST_COLUMNS = 24
#: Fewer rows than this are compared faster than a tree is built.
FEWEST_ROWS = 256


def tree_serves(metric: Metric) -> bool:
    """Whether a kd-tree can be used at all."""
    return metric.has_boxes


def tree_pays(metric: Metric, n_rows: int, n_cols: int) -> bool:
    """Whether a kd-tree is expected to be faster than comparing with all rows."""
    return tree_serves(metric) and n_cols <= MOST_COLUMNS and n_rows >= FEWEST_ROWS
