"""How large every stage of a study is: sizes by the rows, the columns and the budget alone.

No clock is asked, so a seed gives the same study on any machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

#: The budget, in seconds, that the sizes below are for.
_USUAL = 60.0
#: Rows that centres and mixtures are fitted to, and those all pairs of which may be looked at.
_MOST_STUDIED, _MOST_PAIRED = 20_000, 1000
#: Methods are compared on so many rows, less in many columns: a mixture takes d^2 numbers per row.
_COMPARED, _FEWEST_COMPARED, _MOST_COMPARED = 2.0e6, 300, 10_000
#: Columns beyond which rows are looked at along their principal components.
MOST_PLACES = 30
#: Numbers of clusters that criteria are followed along.
_MOST_CLUSTERS = 10
#: Above so many rows those that label others are fewer.
_MANY_ROWS, _FEWER_LABELLING = 100_000, 4000


@dataclass(frozen=True)
class Plan:
    """Sizes: `n_studied` rows are fitted to, `n_compared` of them by every method, `n_paired` of
    those pair by pair, again and again; `n_labelling` rows label the others where no model does.
    `n_references` tables without structure are drawn for a criterion, and `n_replays` for the
    winner, which is fitted to `n_resamples` parts of the rows.
    """

    n_studied: int
    n_compared: int
    n_paired: int
    n_labelling: int
    most_clusters: int
    n_references: int
    n_resamples: int
    n_replays: int
    time: float | None


def plan_for(n_rows: int, n_places: int, time: float | None) -> Plan:
    """The sizes for a table whose points have so many rows and places."""
    share = 1.0 if time is None else time / _USUAL
    n_places = min(n_places, MOST_PLACES)
    n_studied = min(n_rows, max(1000, round(_MOST_STUDIED * min(1.0, share))))
    wanted = round(_COMPARED * share / (n_places + 3) ** 2)
    n_compared = min(n_studied, max(_FEWEST_COMPARED, min(_MOST_COMPARED, wanted)))
    return Plan(
        n_studied=n_studied,
        n_compared=n_compared,
        n_paired=min(n_compared, _MOST_PAIRED),
        n_labelling=n_studied if n_rows <= _MANY_ROWS else min(n_studied, _FEWER_LABELLING),
        most_clusters=min(_MOST_CLUSTERS, max(2, n_rows // 5)),
        n_references=max(4, min(10, round(20 * share))),
        n_resamples=max(5, min(50, round(25 * share))),
        n_replays=39 if share >= 0.5 else 19,
        time=time,
    )


class Clock:
    """Tells whether the budget is spent, when what is optional is left out."""

    def __init__(self, time: float | None) -> None:
        self._end = None if time is None else monotonic() + time

    @property
    def has_run_out(self) -> bool:
        return self._end is not None and monotonic() > self._end
