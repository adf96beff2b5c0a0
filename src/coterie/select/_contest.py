"""Partitions of several methods into the same number of clusters, judged and put in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.select._candidates import Method, usable
from coterie.select._judging import Judge, Parts, agreements

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: Rows that partitions are judged on; of more, so many are drawn.
JUDGED_ROWS = 20_000
#: What a border, a share, is never below in its logarithm.
_THIN = 0.001


@dataclass(frozen=True)
class MethodCandidate:
    """A partition that was compared: who made it, how, and how it was judged.

    `score` is -log(border + 0.001) + valley / 2 + shape / 4 + agreement.
    """

    name: str
    parameters: dict[str, Any]
    n_clusters: int
    border: float
    valley: float
    shape: float
    agreement: float
    score: float


@dataclass(frozen=True)
class Round:
    """The candidates of one number of clusters, best first, and the winner's method and labels."""

    candidates: list[MethodCandidate]
    method: Method
    labels: Labels

    @property
    def winner(self) -> MethodCandidate:
        """The candidate of the largest score."""
        return self.candidates[0]


class Contest:
    """Candidates compared on rows, one number of clusters at a time."""

    def __init__(self, rows: Floats, drawn: npt.NDArray[np.int64], n_threads: int) -> None:
        self._drawn = drawn
        self._judge = Judge(np.ascontiguousarray(rows[drawn]), n_threads)

    def play(self, methods: list[Method], k: int) -> Round:
        """Fit, judge and order what methods make of the rows; of equals, the first."""
        fitted = [(method, usable(method.labels(k), k)) for method in methods]
        kept = [(method, labels) for method, labels in fitted if labels is not None]
        judged = [labels[self._drawn] for _, labels in kept]
        parts = [self._judge.judge(labels, k) for labels in judged]
        agreed = agreements(judged)
        scores = [score(*both) for both in zip(parts, agreed, strict=True)]
        order = np.argsort(-np.round(scores, 9), kind="stable")
        candidates = [
            MethodCandidate(
                kept[i][0].name, kept[i][0].told(k), k, **vars(parts[i]),
                agreement=float(agreed[i]), score=scores[i],
            )
            for i in order
        ]  # fmt: skip
        return Round(candidates, *kept[int(order[0])])


def score(parts: Parts, agreement: float) -> float:
    """All parts together, each on a scale of its own: logarithms, nats per row, and an index."""
    return float(-np.log(parts.border + _THIN) + parts.valley / 2 + parts.shape / 4 + agreement)


def draw(n_rows: int, rng: np.random.RandomState) -> npt.NDArray[np.int64]:
    """Places of the rows to judge on: all, or as many as are enough, drawn without replacement."""
    if n_rows <= JUDGED_ROWS:
        return np.arange(n_rows)
    return np.sort(rng.permutation(n_rows)[:JUDGED_ROWS])
