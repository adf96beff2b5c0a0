"""When to search by kd-tree: where boxes prove most rows too far to look at."""

from __future__ import annotations

from coterie.distance import Metric

#: Beyond so many columns nearly every box is near enough to be opened.
MOST_COLUMNS = 24
#: Fewer rows than this are compared faster than a tree is built.
FEWEST_ROWS = 256


def choose_tree(who: str, metric: Metric, method: str, n_rows: int, n_cols: int) -> bool:
    """Whether to search by tree: as asked, or as the shape suggests."""
    if method not in ("auto", "kdtree", "brute"):
        raise ValueError(f"{who}: method={method!r} was given; use 'auto', 'kdtree' or 'brute'.")
    if method == "kdtree" and not metric.has_boxes:
        raise ValueError(
            f"{who}: method='kdtree' does not serve metric={metric.name!r}; use method='brute'."
        )
    pays = metric.has_boxes and n_cols <= MOST_COLUMNS and n_rows >= FEWEST_ROWS
    return method == "kdtree" or (method == "auto" and pays)
