"""The choice of a method and of a number of clusters: by borders, or by votes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from coterie import AgglomerativeClustering, KMeans
from coterie.data.raw_table import raw_table
from coterie.evaluate import adjusted_rand_score
from coterie.report._chosen import Chosen, _is_outvoted, _most, choose
from coterie.report._plan import plan_for
from coterie.report._prepared import prepare
from coterie.report._shortlist import Recipe


def chosen_for(table: pd.DataFrame) -> Chosen:
    ready = prepare(table)
    plan = plan_for(*ready.points.shape, 5)
    return choose(ready, ready.points, ready.cells(raw_table(table)), plan, 0)


@pytest.fixture(scope="module")
def apart() -> tuple[Chosen, np.ndarray]:
    rng = np.random.RandomState(0)
    truth = np.arange(160) % 4
    rows = rng.normal(size=(160, 2)) + 12 * np.column_stack([truth % 2, truth // 2])
    return chosen_for(pd.DataFrame(rows, columns=["a", "b"])), truth


def test_clusters_apart_are_all_found(apart: tuple[Chosen, np.ndarray]) -> None:
    chosen, truth = apart
    assert chosen.n_clusters == 4
    assert chosen.are_apart
    assert adjusted_rand_score(truth, chosen.best.labels) == 1.0
    assert chosen.best.agreement == 1.0


def test_candidates_come_best_first_with_their_parts(apart: tuple[Chosen, np.ndarray]) -> None:
    chosen, _ = apart
    scores = [one.score for one in chosen.candidates]
    assert scores == sorted(scores, reverse=True)
    assert set(chosen.best.parts) == {"border", "valley", "shape", "agreement"}
    assert chosen.runner_up is not None
    assert chosen.runner_up.recipe.family != chosen.best.recipe.family


def test_only_criteria_that_all_agree_outvote_a_border_between_centres() -> None:
    centres, tree = Recipe("k-means", KMeans(2)), Recipe("Genie", AgglomerativeClustering(2))
    agreed = {"silhouette": 3, "gap": 3, "bic": 3, "border": 2}
    assert _is_outvoted(centres, agreed)
    assert not _is_outvoted(tree, agreed)
    assert not _is_outvoted(centres, agreed | {"bic": 2})
    assert not _is_outvoted(centres, {"silhouette": 3, "gap": 3, "border": 2})
    assert not _is_outvoted(centres, agreed | {"border": 3})


def test_criteria_vote_where_columns_are_categories() -> None:
    rng = np.random.RandomState(0)
    truth = np.arange(120) % 2
    noisy = np.where(rng.random_sample((120, 4)) < 0.1, 1 - truth[:, np.newaxis], truth[:, None])
    table = pd.DataFrame(np.where(noisy, "x", "y"), columns=list("abcd"))
    chosen = chosen_for(table.assign(e=rng.normal(size=120) + 4 * truth))
    assert not chosen.are_apart
    assert chosen.by_cells is not None
    assert chosen.mixtures is None
    assert "criteria pick" in chosen.why
    assert chosen.is_sure == ("unsure" not in chosen.why)
    assert any(one.recipe.on_cells for one in chosen.candidates)


@pytest.mark.parametrize(
    ("votes", "k"),
    [
        ({"silhouette": 3, "gap": 3, "bic": 4}, 3),
        ({"silhouette": 4, "gap": 8, "prediction_strength": 2, "bic": 6}, 6),
        ({"silhouette": 2, "gap": 9, "bic": 3}, 3),
    ],
)
def test_most_votes_win_then_the_middle(votes: dict[str, int], k: int) -> None:
    assert _most(votes)[0] == k
