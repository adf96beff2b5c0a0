"""A plane in which clusters can be seen."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.evaluate import silhouette_score
from coterie.report._map import find_plane

RNG = np.random.RandomState(0)
LABELS = np.arange(150) % 3


def test_two_columns_are_the_map_themselves() -> None:
    rows = RNG.normal(size=(150, 2))
    plane = find_plane(rows, LABELS, ["a", "b"], 0)
    assert (plane.method, plane.names) == ("columns", ("a", "b"))
    np.testing.assert_array_equal(plane.at(rows), rows)


def test_principal_components_are_taken_where_they_show_the_clusters() -> None:
    rows = RNG.normal(size=(150, 5))
    rows[:, 0] += 20 * LABELS
    plane = find_plane(rows, LABELS, list("abcde"), 0)
    assert plane.method == "principal components"
    assert "%" in plane.names[0]


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_discriminants_are_taken_where_large_variance_hides_the_clusters(n_clusters: int) -> None:
    labels = LABELS % n_clusters
    rows = RNG.normal(size=(150, 5)) * [30, 30, 1, 1, 1]
    rows[:, 2] += 12 * (labels == 1)
    rows[:, 3] += 12 * (labels == 2)
    plane = find_plane(rows, labels, list("abcde"), 0)
    assert plane.method == "discriminant axes"
    assert "knows the labels" in plane.sentence
    assert silhouette_score(plane.at(rows)[:, :1], labels) > 0.2


def test_one_column_and_one_cluster_have_a_map() -> None:
    rows = RNG.normal(size=(20, 1))
    assert find_plane(rows, np.zeros(20, dtype=int), ["a"], 0).at(rows).shape == (20, 2)
    many = RNG.normal(size=(20, 4))
    assert find_plane(many, np.zeros(20, dtype=int), None, 0).method == "principal components"
