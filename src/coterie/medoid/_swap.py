"""Swaps of a medoid for a row that is none: FasterPAM and PAM."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.medoid._nearest import check_total
from coterie.medoid._pairs import Pairs

Ids = npt.NDArray[np.int64]

#: Swaps made in one go where nobody looks on.
_SWAPS_AT_ONCE = 32
#: Visit one row after the other.
BY_ROW = (0, 1)


@dataclass(frozen=True)
class MedoidRun:
    """Medoids that were found, and how.

    `total` is the total deviation of the distances as the search reads them. `settled` means that
    the method ended by itself, `swap_optimal` that no single swap lowers the total deviation.
    """

    medoids: Ids
    total: float
    n_iter: int
    settled: bool
    swap_optimal: bool


def fasterpam(
    pairs: Pairs,
    search: kernels.Medoids,
    start: Ids,
    *,
    max_iter: int,
    recorder: Recorder,
    order: tuple[int, int] = BY_ROW,
) -> MedoidRun:
    """Swap as soon as a swap helps, until none does.

    Schubert & Rousseeuw (2021). Candidates are visited in the order of rows, round and round; what
    the best swap of one changes is found for all medoids in one pass over its distances. One round
    costs O(n^2) beside O(n k) at most for each swap; memory O(n).

    Parameters
    ----------
    pairs, search
        The distances, and a search over them.
    start
        Two medoids or more; not modified.
    max_iter
        Rounds at most.
    recorder
        Is told the total deviation after every swap.
    order
        The row that is visited first, and how much further on the next one is, round and round.
    """
    limit = max_iter * pairs.n_rows

    def totals() -> Iterator[float]:
        while not search.settled and search.n_visited < limit:
            left = limit - search.n_visited
            yield from search.swap_eagerly(swaps_at_once(recorder), left, pairs.n_threads)
            if search.lost_row >= 0:
                raise pairs.lost(search.lost_row)

    return _recorded(pairs, search, start, order, totals, recorder)


def pam(
    pairs: Pairs, search: kernels.Medoids, start: Ids, *, max_iter: int, recorder: Recorder
) -> MedoidRun:
    """Make the best of all swaps, until none helps.

    Kaufman & Rousseeuw (1990), with what FastPAM1 (Schubert & Rousseeuw 2021) shares between the
    medoids: O(n^2) for each swap. See `fasterpam` for the parameters; `max_iter` counts swaps.
    """

    def totals() -> Iterator[float]:
        for _ in range(max_iter):
            swapped = search.swap_best(pairs.n_threads)
            if search.lost_row >= 0:
                raise pairs.lost(search.lost_row)
            if not swapped:
                return
            yield search.total

    return _recorded(pairs, search, start, BY_ROW, totals, recorder)


def _recorded(
    pairs: Pairs,
    search: kernels.Medoids,
    start: Ids,
    order: tuple[int, int],
    totals: Callable[[], Iterator[float]],
    recorder: Recorder,
) -> MedoidRun:
    """Run through the swaps and note what each leaves."""
    total = search.start(start.tolist(), *order, pairs.n_threads)
    if search.lost_row >= 0:
        raise pairs.lost(search.lost_row)
    check_total(pairs.who, total)
    if not note(recorder, 0, total, start):
        for n_swaps, after in enumerate(totals(), 1):
            if note(recorder, n_swaps, after, np.array(search.medoids)):
                break
    n_rounds = -(-search.n_visited // pairs.n_rows)
    settled = search.settled
    return MedoidRun(np.array(search.medoids), search.total, n_rounds, settled, settled)


def draw_order(n_rows: int, rng: np.random.RandomState) -> tuple[int, int]:
    """A row to begin with and a stride that leads to all rows, for `fasterpam`."""
    stride = 1 + int(rng.randint(n_rows))
    while math.gcd(stride, n_rows) > 1:
        stride = 1 + stride % n_rows
    return int(rng.randint(n_rows)), stride


def swaps_at_once(recorder: Recorder) -> int:
    """How many swaps a search may make before it comes back."""
    return _SWAPS_AT_ONCE if recorder.callback is None else 1


def note(recorder: Recorder, step: int, total: float, medoids: Ids) -> bool:
    """Tell the recorder of one step; True when it is to be the last."""
    return recorder.iteration(medoids.astype(np.float64), iteration=step, objective_update=total)
