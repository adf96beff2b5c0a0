"""Everything a study found, stage by stage: what the summary is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie.report._chosen import Chosen
from coterie.report._given import Given
from coterie.report._new_rows import Placed, StudyModel
from coterie.report._plan import Plan
from coterie.report._prepared import Prepared
from coterie.report._sensitivity import Change
from coterie.report._space import Space
from coterie.report._trust import Comeback, NullReplay
from coterie.select.explain import Explanation
from coterie.select.tendency import Tendency

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Clustered:
    """What there is to say of clusters, where there are some.

    `trusted` are the rows, by number, that `comeback` and `replay` went by.
    """

    chosen: Chosen
    replay: NullReplay
    comeback: Comeback | None
    changes: list[Change]
    explanation: Explanation


@dataclass(frozen=True)
class Findings:
    """A study before it is told: the table, the tests, and `clustered` where there is structure.

    `studied` and `compared` are row numbers of the table; `notes` say what was done or left out.
    `doubted` is the replay that spoke against clusters, where one did; `without` names the columns
    that were set aside, and `n_copied` counts studied rows that the test and the
    comparison of methods left out as copies; `cut_short` tells whether the budget was spent.
    """

    given: Given
    ready: Prepared
    plan: Plan
    space: Space
    studied: Rows
    compared: Rows
    tested: Tendency | None
    doubted: NullReplay | None
    clustered: Clustered | None
    model: StudyModel
    placed: Placed
    notes: tuple[str, ...]
    seed: int
    without: tuple[str, ...] = ()
    n_copied: int = 0
    cut_short: bool = False

    @property
    def n_rows(self) -> int:
        return len(self.given.table)

    @property
    def n_clusters(self) -> int:
        return self.model.n_clusters
