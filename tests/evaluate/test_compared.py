"""Rows and the metric that compares them. Covers coterie.evaluate._compared."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from evaluate_twins import silhouettes_of

import coterie.evaluate as ev
from coterie.distance import pairwise

rng = np.random.default_rng(3)
LABELS = np.arange(60) % 3
X = rng.normal(size=(60, 3)) * [1, 10, 100] + LABELS[:, np.newaxis]
TABLE = pd.DataFrame(
    {
        "size": np.where(rng.random(60) < 0.2, np.nan, X[:, 0]),
        "weight": X[:, 1],
        "kind": rng.choice(["u", "v", "w"], 60),
    }
)
GOWER = pairwise(TABLE, metric="gower")


@pytest.mark.parametrize("table", [TABLE, pl.from_pandas(TABLE)], ids=["pandas", "polars"])
@pytest.mark.parametrize("score", [ev.silhouette_score, ev.dunn_score], ids=["silhouette", "dunn"])
def test_mixed_tables_are_those_of_their_distances(score: Any, table: Any) -> None:
    wanted = score(GOWER, LABELS, metric="precomputed")
    assert score(table, LABELS, metric="gower") == pytest.approx(wanted, abs=1e-12)


def test_scores_of_some_rows_of_a_mixed_table() -> None:
    wanted = ev.medoid_silhouette_score(GOWER, [0, 5, 9], metric="precomputed")
    found = ev.medoid_silhouette_score(TABLE, [0, 5, 9], metric="gower")
    assert found == pytest.approx(wanted, abs=1e-12)
    assert -1 <= ev.dbcv_score(TABLE, LABELS, metric="gower") <= 1
    with pytest.raises(ValueError, match="must be two or more numbers of rows"):
        ev.medoid_silhouette_score(TABLE, np.ones((2, 3)), metric="gower")


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis", "gower"])
def test_a_sample_is_measured_as_all_rows_are(metric: str) -> None:
    every = silhouettes_of(pairwise(X, metric=metric), LABELS)
    found = ev.sampled_silhouette_score(X, LABELS, metric=metric, sample_size=20, random_state=0)
    chosen = np.sort(np.random.RandomState(0).permutation(60)[:20])
    assert found.score == pytest.approx(every[chosen].mean(), abs=1e-12)


def test_centres_are_measured_as_all_rows_are() -> None:
    units = X / X.std(axis=0, ddof=1)
    for score in (
        ev.simplified_silhouette_score,
        lambda X, labels, **k: ev.medoid_silhouette_score(X, [0, 1, 2], **k),
        partial(ev.dunn_score, between="centroid", within="centroid"),
    ):
        wanted = score(units, LABELS)
        assert score(X, LABELS, metric="seuclidean") == pytest.approx(wanted, rel=1e-9)


def test_mixed_tables_have_no_means() -> None:
    for score in (
        ev.simplified_silhouette_score,
        ev.simplified_silhouette_samples,
        partial(ev.dunn_score, within="centroid"),
    ):
        with pytest.raises(ValueError, match=r"have no means|tables have none"):
            score(TABLE, LABELS, metric="gower")


def test_medoids_are_rows_like_others() -> None:
    with pytest.raises(ValueError, match="medoids has 5 columns and X has 3"):
        ev.medoid_silhouette_score(X, np.ones((2, 5)))
    with pytest.raises(ValueError, match="Negative values"):
        ev.medoid_silhouette_score(-np.ones((9, 9)), [0, 1], metric="precomputed")
