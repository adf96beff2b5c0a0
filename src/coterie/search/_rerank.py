"""Re-ranking: how many of the nearest by code are compared exactly, with rows that are kept."""

from __future__ import annotations

from typing import Any

from coterie._checks import FLAG, NONE, check_params, whole
from coterie.errors import ParameterError


def check_rerank(who: str, rerank: Any, keep_rows: bool = True) -> None:
    """Refuse what is no number of rows, and one where rows are not kept."""
    if not (NONE | whole(1)).allows(rerank):
        raise ParameterError(
            f"{who}: rerank={rerank!r} was given; use None or a whole number of at least 1."
        )
    if rerank is not None and not keep_rows:
        raise ValueError(
            f"{who}: rerank={rerank} needs the rows and only codes are kept; make the index with "
            "keep_rows=True."
        )


def keeps_rows(who: str, keep_rows: Any, rerank: Any) -> bool:
    """Whether rows are kept: as asked, or because some are compared exactly."""
    check_params(who, {"keep_rows": keep_rows}, {"keep_rows": FLAG})
    check_rerank(who, rerank)
    return bool(keep_rows) or rerank is not None


def told_of_rows(keep_rows: bool, rerank: int | None) -> list[str]:
    """Whether rows are kept and compared, in words."""
    if rerank is not None:
        return [f"rerank {rerank}"]
    return ["keeps rows"] if keep_rows else []


def n_to_find(rerank: int, k: int, n_rows: int) -> int:
    """How many rows to find by code: `rerank`, but k at least and no more than there are."""
    return min(max(int(rerank), k), n_rows)
