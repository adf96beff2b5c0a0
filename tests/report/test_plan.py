"""Sizes of a study by rows, columns and budget; where rows are compared.

Covers coterie.report._plan, coterie.report._space.
"""

from __future__ import annotations

import numpy as np
import pytest

from coterie.report._plan import Clock, plan_for
from coterie.report._space import learn_space


def test_a_larger_budget_never_makes_a_stage_smaller() -> None:
    plans = [plan_for(10**6, 10, time) for time in (1, 10, 60, 600)]
    for name in ("n_studied", "n_compared", "n_paired", "n_resamples", "n_replays"):
        sizes = [getattr(plan, name) for plan in plans]
        assert sizes == sorted(sizes)
    assert plans[2].n_studied == 20_000
    assert plan_for(10**6, 10, None).n_studied == 20_000


def test_small_tables_are_studied_whole() -> None:
    plan = plan_for(150, 4, 60)
    assert (plan.n_studied, plan.n_compared, plan.n_labelling) == (150, 150, 150)
    assert plan.most_clusters == 10
    assert plan_for(12, 4, 60).most_clusters == 2


def test_many_columns_leave_fewer_rows() -> None:
    assert plan_for(10**5, 30, 60).n_compared < plan_for(10**5, 2, 60).n_compared


def test_a_clock_runs_out_or_has_no_end() -> None:
    assert not Clock(None).has_run_out
    assert Clock(-1.0).has_run_out
    assert not Clock(1000.0).has_run_out


def test_few_places_stay_and_many_become_components() -> None:
    rng = np.random.RandomState(0)
    few = rng.normal(size=(50, 3))
    space = learn_space(few)
    assert space.note is None
    assert space.rows(few) is few
    many = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 40))
    space = learn_space(many)
    assert space.rows(many).shape == (200, 2)
    assert space.share == pytest.approx(1)
    assert "2 principal components of 40" in space.note
    lengths = [np.linalg.norm(one[0] - one[1]) for one in (many, space.rows(many))]
    assert lengths[0] == pytest.approx(lengths[1])


def test_more_places_than_rows_are_fine() -> None:
    rows = np.random.RandomState(0).normal(size=(20, 300))
    assert learn_space(rows).rows(rows).shape == (20, 4)
