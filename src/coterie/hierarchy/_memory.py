"""The bytes a linkage needs, computed before anything is begun."""

from __future__ import annotations

from coterie._checks import check_memory

#: Of each cluster beside its distances or centre: what it is, its nearest, its merge.
_BYTES_A_CLUSTER = 150


def check_triangle(who: str, method: str, n_rows: int, item_bytes: int, *, copied: bool) -> None:
    """Refuse a triangle of distances that does not fit."""
    if not copied:
        return
    n_pairs = n_rows * (n_rows - 1) // 2
    check_memory(
        who,
        item_bytes * n_pairs + _BYTES_A_CLUSTER * n_rows,
        f"the {n_pairs} distances that method={method!r} has to keep",
        "use method='ward', 'centroid', 'median' or 'single' with metric='euclidean', which need "
        "none, fewer rows, float32 rows (half of it), or compress=",
    )


def check_vectors(who: str, method: str, n_rows: int, n_cols: int) -> None:
    """Refuse centres that do not fit."""
    check_memory(
        who,
        n_rows * (20 * n_cols + _BYTES_A_CLUSTER),
        f"{n_rows} centres of {n_cols} columns for method={method!r}",
        "use fewer rows or compress=",
    )
