"""Whether clusters come back, and whether rows without structure show them.

Covers coterie.report._trust, coterie.report._structure, coterie.report._sensitivity,
coterie.report._shortlist.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from coterie import HDBSCAN, AgglomerativeClustering, KMeans
from coterie.data.raw_table import RawTable, raw_table
from coterie.report._prepared import prepare
from coterie.report._sensitivity import Change
from coterie.report._shortlist import Recipe, more_recipes, nearest_for_noise, recipe_of
from coterie.report._space import learn_space
from coterie.report._structure import ask_tendency, is_confirmed, needs_replay
from coterie.report._trust import comeback, replay_clusters
from coterie.select import tendency

NO_CELLS = RawTable((), ())


def heaps(gap: float, n_rows: int = 120) -> np.ndarray:
    rng = np.random.RandomState(0)
    return rng.normal(size=(n_rows, 2)) + gap * (np.arange(n_rows) % 2)[:, np.newaxis]


KMEANS = Recipe("k-means", KMeans(2, n_init=2, random_state=0))
WARD = Recipe("Ward", AgglomerativeClustering(2, linkage="ward"))


@pytest.mark.parametrize("recipe", [KMEANS, WARD], ids=lambda recipe: recipe.name)
def test_clusters_apart_come_back_and_are_not_in_rows_without_structure(recipe: Recipe) -> None:
    rows = heaps(10.0)
    labels = recipe.labels(rows, NO_CELLS)
    back = comeback(recipe, rows, NO_CELLS, labels, 5, 0)
    np.testing.assert_array_equal(back.jaccard, 1.0)
    assert back.verdict(0) == "stable"
    ready = prepare(rows)
    replayed = replay_clusters(
        recipe, ready, raw_table(rows), learn_space(ready.points), labels, 19, 0
    )
    assert replayed.p_value == 0.05
    assert "never reached" in replayed.sentence
    assert is_confirmed(replayed)


def test_slices_of_one_heap_are_no_better_than_those_of_others() -> None:
    rows = heaps(0.0)
    labels = KMEANS.labels(rows, NO_CELLS)
    ready = prepare(rows)
    replayed = replay_clusters(
        KMEANS, ready, raw_table(rows), learn_space(ready.points), labels, 19, 0
    )
    assert replayed.p_value > 0.05
    assert not is_confirmed(replayed)
    assert len(replayed.null) == 19


def test_shuffled_columns_are_the_null_of_categories() -> None:
    truth = np.arange(90) % 2
    table = pd.DataFrame({name: np.where(truth, "x", "y") for name in "abcd"})
    ready = prepare(table)
    space = learn_space(ready.points)
    recipe = Recipe("k-medoids (Gower)", KMEANS.estimator, on_cells=True)
    replayed = replay_clusters(recipe, ready, raw_table(table), space, truth, 19, 0)
    assert replayed.what == "every column shuffled"
    assert replayed.p_value == 0.05
    assert needs_replay(ready, ask_tendency(ready, ready.points, raw_table(table), 0))


def test_missing_cells_are_no_mode() -> None:
    """At the mean of a skewed column they would be a second one."""
    rng = np.random.RandomState(0)
    table = rng.lognormal(size=(1000, 2))
    table[rng.random_sample(table.shape) < 0.2] = np.nan
    ready = prepare(table)
    assert tendency(ready.points, random_state=0).has_structure
    assert not ask_tendency(ready, ready.points, raw_table(table), 0).has_structure


def test_resamples_end_with_the_clock() -> None:
    rows = heaps(10.0)
    labels = KMEANS.labels(rows, NO_CELLS)
    back = comeback(KMEANS, rows, NO_CELLS, labels, 50, 0, lambda: False)
    assert back.n_resamples == 2
    assert comeback(KMEANS, rows, NO_CELLS, labels, 1, 0) is None


def test_noise_gets_the_label_of_the_nearest_row() -> None:
    rows = np.array([[0.0], [1.0], [10.0], [11.0], [3.0]])
    np.testing.assert_array_equal(
        nearest_for_noise(rows, np.array([0, 0, 1, 1, -1])), [0, 0, 1, 1, 0]
    )
    assert nearest_for_noise(rows, np.full(5, -1)) is None


def test_a_recipe_that_fails_has_no_labels() -> None:
    assert Recipe("k-means", KMeans(9)).labels(np.zeros((3, 1)), NO_CELLS) is None


def test_sizes_of_clusters_shrink_with_the_rows() -> None:
    recipe = recipe_of("HDBSCAN (min_samples=5)", {"min_cluster_size": 30, "min_samples": 5})
    assert isinstance(recipe.estimator, HDBSCAN)
    assert recipe.for_share(0.5).estimator.min_cluster_size == 15
    assert KMEANS.for_share(0.5) is KMEANS
    assert (recipe.family, recipe.is_centred) == ("HDBSCAN", False)


def test_what_fits_a_table_depends_on_its_columns() -> None:
    rows = heaps(5.0)
    numbers = more_recipes(prepare(rows), rows, 2, 0)
    assert [recipe.name for recipe in numbers] == ["Student-t mixture"]
    table = pd.DataFrame({"a": rows[:, 0], "b": np.where(rows[:, 1] > 2, "x", "y")})
    ready = prepare(table)
    mixed = more_recipes(ready, ready.points, 2, 0)
    assert [recipe.name for recipe in mixed] == ["Mixed mixture", "k-medoids (Gower)"]
    cells = ready.cells(raw_table(table))
    for recipe in mixed:
        labels = recipe.labels(ready.points, cells)
        assert set(labels.tolist()) == {0, 1}


def test_changes_are_told_in_words() -> None:
    assert Change("So", 0.95, 3).sentence == "So: the answer stays."
    assert "the answer changes" in Change("So", 0.1, 1).sentence


def test_one_row_is_not_tested() -> None:
    ready = prepare(heaps(0.0))
    one = raw_table(heaps(0.0, 1))
    assert ask_tendency(ready, ready.points[:1], one, 0) is None


def test_tables_and_resamples_without_clusters_count() -> None:
    """HDBSCAN finds nothing in some of them: then nothing was reached, and nothing came back."""
    rows = heaps(9.0, 60)
    recipe = Recipe("HDBSCAN", HDBSCAN(min_cluster_size=25))
    labels = recipe.labels(rows, NO_CELLS)
    ready = prepare(rows)
    told = replay_clusters(recipe, ready, raw_table(rows), learn_space(ready.points), labels, 19, 0)
    assert len(told.null) + told.n_without == 19
    assert told.n_without > 0
    assert "on 19 tables" in told.sentence
    assert f"in {told.n_without} of them it found no clusters" in told.sentence
    hardly = Recipe("HDBSCAN", HDBSCAN(min_cluster_size=30))
    back = comeback(hardly, rows, NO_CELLS, labels, 5, 0)
    assert back.n_resamples == 5
