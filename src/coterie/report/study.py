"""One call from a raw table to an answer: are there clusters, which, and can they be trusted?"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import CALLABLE, NONE, check_params, real, whole
from coterie._config import options
from coterie.errors import DataError
from coterie.report._findings import Clustered, Findings
from coterie.report._given import check_set_aside, take_in
from coterie.report._mirages import copies
from coterie.report._model import explain_clusters, make_model, one_cluster
from coterie.report._new_rows import StudyModel
from coterie.report._plan import Clock, plan_for
from coterie.report._prepared import prepare
from coterie.report._space import learn_space
from coterie.report._structure import ask_tendency, is_confirmed, needs_replay
from coterie.report.summary import summarise

__all__ = ["Study", "StudyProgress", "study"]

Labels = npt.NDArray[np.int64]

STAGES = (
    "reading", "columns", "tendency", "methods", "null replay", "model", "stability",
    "sensitivity", "explanation", "summary",
)  # fmt: skip

_RULES = {
    "random_state": whole(0),
    "time": NONE | real(1),
    "n_threads": NONE | whole(1),
    "callback": NONE | CALLABLE,
}


@dataclass(frozen=True)
class StudyProgress:
    """What a callback is given when a stage begins: its name, its number, and of how many."""

    stage: str
    done: int
    n_stages: int


class Study:
    """What a study found; `coterie.study` makes one.

    Attributes
    ----------
    labels : int64 array of shape (n_rows,)
        The cluster of every row, the largest cluster first; all 0 where there is no structure.
    n_clusters : int
    has_structure : bool
    verdict : str
        The answer in words.
    model : StudyModel
        Labels new rows of the same raw table; ``model.save(path)``.
    summary : dict
        All of it as plain data; docs/study_json.md has the schema.
    confidence, distance : float64 array of shape (n_rows,)
        How sure each label is (0 to 1), and how far the row is from the mean of its cluster.
    ambiguous : bool array of shape (n_rows,)
        Rows that could as well be in another cluster.
    """

    def __init__(self, findings: Findings, summary: dict[str, Any]) -> None:
        self.summary = summary
        self.model: StudyModel = findings.model
        self.labels: Labels = findings.placed.labels
        self.confidence = findings.placed.confidence
        self.distance = findings.placed.distance
        self.ambiguous = findings.placed.ambiguous
        self._table = findings.given.table

    @property
    def n_clusters(self) -> int:
        return self.model.n_clusters

    @property
    def has_structure(self) -> bool:
        return bool(self.summary["verdict"]["has_structure"])

    @property
    def verdict(self) -> str:
        told = self.summary["verdict"]
        return " ".join([told["headline"], *told["sentences"]])

    @property
    def key(self) -> tuple[str, Any] | None:
        """Name and cells of the column that names the rows; None without one."""
        names = [one["name"] for one in self.summary["columns"] if one["kind"] == "id"]
        return (names[0], self._table[names[0]]) if names else None

    def to_dict(self) -> dict[str, Any]:
        """The summary."""
        return self.summary

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The page, as text or written to a file."""
        from coterie.report.render_html import page

        text = str(page(self.summary))
        if path is None:
            return text
        from coterie._writing import writing

        with writing(path) as file:
            file.write(text.encode())
        return None

    def _repr_html_(self) -> str:
        """The verdict and the sizes, for notebooks."""
        from coterie.report.render_html import fragment

        return fragment(self.summary)

    def __repr__(self) -> str:
        return f"<Study of {self.summary['title']}: {self.summary['verdict']['headline']}>"

    def __str__(self) -> str:
        try:
            from coterie.report.render_text import text
        except ImportError:
            return self.verdict
        return str(text(self.summary))


def study(
    data: Any,
    *,
    random_state: int = 0,
    time: float | None = 60,
    name: str | None = None,
    without: Sequence[str] = (),
    n_threads: int | None = None,
    callback: Callable[[StudyProgress], Any] | None = None,
) -> Study:
    """Study a raw table: what its columns are, whether there are clusters, which, how sure.

    Columns are told apart (numbers, counts, categories; keys, dates and free text are left out,
    with a reason) and coded so that each counts the same. Tendency comes first: without structure
    nothing is clustered. Else k-means, Gaussian, Student-t and mixed mixtures, Ward, Genie,
    HDBSCAN and k-medoids are compared, as far as they fit the table; the winner is resampled,
    replayed on tables without structure, explained, and tried again under changes.

    The same seed and budget give the same result on any number of threads and any machine, unless
    the budget is spent: then resamples and changes that are left are left out, and a note says so.

    Time: a few seconds for hundreds of rows; large tables are fitted on a sample of 20000 rows, and
    a million rows take less than a minute. Memory: the table and its coded columns.

    Parameters
    ----------
    data : path, list of paths, data frame, Arrow table, array or Source
        Raw: text, dates, missing cells and any scale are welcome.
    random_state : int, default=0
    time : float or None, default=60
        A budget in seconds, which sets the sizes of the stages; None: sizes as for 60, and nothing
        is left out.
    name : str or None
        What to call the table.
    without : sequence of str
        Columns to set aside: clusters are found without them, and then compared with them.
    n_threads : int or None
    callback : callable or None
        Called with a `StudyProgress` when a stage begins.

    Returns
    -------
    Study
        `labels`, `n_clusters`, `has_structure`, `verdict`, `model`, `summary`, `to_html(path)`.
    """
    given = {key: value for key, value in locals().items() if key in _RULES}
    check_params("study", given, _RULES)
    with options(n_threads=n_threads) if n_threads is not None else options():
        findings = find(data, int(random_state), time, name, callback, without)
        return Study(findings, summarise(findings))


def find(
    data: Any,
    seed: int,
    time: float | None,
    name: str | None,
    callback: Callable[[StudyProgress], Any] | None,
    without: Sequence[str] = (),
) -> Findings:
    """The stages of a study, one after the other."""  # fmt: skip
    from coterie.report._chosen import choose
    from coterie.report._sensitivity import changes
    from coterie.report._trust import comeback, replay_clusters

    def begin(stage: str) -> None:
        if callback is not None:
            callback(StudyProgress(stage, STAGES.index(stage), len(STAGES)))

    clock = Clock(time)
    begin("reading")
    given = take_in(data, name)
    begin("columns")
    if len(given.table) == 1:
        raise DataError(f"{given.name}: one row has nothing to be compared with; add rows.")
    check_set_aside(given, without)
    ready = prepare(given.table, without, given.name)
    n_rows, n_places = ready.points.shape
    plan = plan_for(n_rows, n_places, time)
    rng = np.random.RandomState(seed)
    studied = np.sort(rng.permutation(n_rows)[: plan.n_studied])
    copied = copies(ready, ready.points[studied])
    single = studied[~copied]
    compared = np.sort(rng.permutation(single)[: plan.n_compared])
    space = learn_space(ready.points[studied])
    begin("tendency")
    cells = ready.cells(given.table)
    tested = ask_tendency(ready, ready.points[single], cells.take(single), seed)

    def told(model: StudyModel, **more: Any) -> Findings:
        begin("summary")
        placed = more.pop("placed", None) or model.place(given.table)
        return Findings(
            given=given, ready=ready, plan=plan, space=space, studied=studied, compared=compared,
            tested=tested, model=model, placed=placed, seed=seed, notes=more.pop("notes", ()),
            without=tuple(without), n_copied=int(copied.sum()),
            **{"doubted": None, "clustered": None, **more},
        )  # fmt: skip

    if tested is None or not tested.has_structure:
        return told(one_cluster(ready, space, studied))
    begin("methods")
    rows = np.ascontiguousarray(space.rows(ready.points[compared]))
    chosen = choose(ready, rows, cells.take(compared), plan, seed)
    begin("null replay")
    best = chosen.best
    paired = np.sort(rng.permutation(len(rows))[: plan.n_paired])
    replayed = replay_clusters(
        best.recipe, ready, cells.take(compared[paired]), space, best.labels[paired],
        plan.n_replays, seed,
    )  # fmt: skip
    if needs_replay(ready, tested) and not is_confirmed(replayed):
        return told(one_cluster(ready, space, studied), doubted=replayed)
    begin("model")
    model, placed = make_model(given.table, ready, space, studied, compared, best, plan)
    begin("stability")
    again = np.sort(rng.permutation(len(rows))[: 2 * plan.n_paired])
    back = comeback(
        best.recipe, np.ascontiguousarray(rows[again]), cells.take(compared[again]),
        placed.labels[compared[again]], plan.n_resamples, seed, lambda: not clock.has_run_out,
    )  # fmt: skip
    begin("sensitivity")
    others = list(changes(chosen, rows, cells.take(compared), seed, lambda: not clock.has_run_out))
    notes = _left_out(clock, back.n_resamples if back is not None else 0, plan.n_resamples)
    begin("explanation")
    explanation = explain_clusters(cells, ready, studied, placed.labels)
    clustered = Clustered(chosen, replayed, back, others, explanation)
    return told(
        model, placed=placed, clustered=clustered, notes=tuple(notes), cut_short=bool(notes)
    )


def _left_out(clock: Clock, n_resamples: int, planned: int) -> list[str]:
    """What the clock left no time for."""
    if not clock.has_run_out:
        return []
    return [
        f"The budget was spent: {n_resamples} of {planned} resamples were made, and changes that "
        "were left are not shown; raise the budget for more."
    ]
