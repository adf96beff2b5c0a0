"""Which numbers of clusters are compared."""

from __future__ import annotations

from typing import Any

from coterie._checks import whole


def numbers_of_clusters(who: str, k: Any, n_rows: int | None, up_to: int) -> tuple[int, ...]:
    """Distinct numbers of clusters in rising order: those given, or 1 to k, or 1 to `up_to`.

    `n_rows` is None where it is not known yet.
    """
    a_number = whole(1)
    if n_rows is not None and n_rows < 2:
        raise ValueError(
            f"{who}: X has {n_rows} row{'s' * (n_rows != 1)}, of which there is nothing to choose; "
            "pass two or more."
        )
    if k is None:
        asked: Any = range(1, up_to + 1 if n_rows is None else min(up_to, n_rows) + 1)
    else:
        asked = range(1, k + 1) if a_number.allows(k) else k
    given = list(asked) if hasattr(asked, "__iter__") and not isinstance(asked, str) else []
    if not given or not all(a_number.allows(value) for value in given):
        raise ValueError(f"{who}: k={k!r} was given; use whole numbers of at least 1, or a range.")
    ks = tuple(sorted({int(value) for value in given}))
    if n_rows is not None and ks[-1] > n_rows:
        raise ValueError(
            f"{who}: k goes up to {ks[-1]} and X has {n_rows} rows; lower k or pass more rows."
        )
    return ks
