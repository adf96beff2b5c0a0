"""The entries of a history, from a fitted model or as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

History = Sequence[Mapping[str, Any]]


def entries_of(given: History | Any, who: str) -> History:
    """The history of a fitted model, or what was given in its place; refused where it is none."""
    entries = given
    if hasattr(given, "get_params") or hasattr(given, "history_"):
        entries = getattr(given, "history_", None)
        if entries is None:
            raise ValueError(
                f"{who}: this {type(given).__name__} has no history_, as it is not fitted; call "
                "fit first."
            )
    if not len(entries):
        raise ValueError(f"{who}: the history is empty; pass history_ of a fitted model.")
    known = {"stage", "seconds"}, {"iteration", "objective_update"}
    for entry in entries:
        if not any(keys <= set(entry) for keys in known):
            raise ValueError(
                f"{who}: an entry of the history has {', '.join(map(str, entry))}, and 'iteration' "
                "and 'objective_update' are drawn, or 'stage' and 'seconds'; pass history_ of a "
                "fitted model."
            )
    return entries
