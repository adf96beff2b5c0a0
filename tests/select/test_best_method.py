"""Covers coterie.select.best_method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from select_rows import four_clusters
from sklearn.datasets import make_moons

import coterie
from coterie.evaluate import adjusted_rand_score
from coterie.select import _contest, best_method


def moons() -> tuple[np.ndarray, np.ndarray]:
    rows, truth = make_moons(300, noise=0.05, random_state=0)
    return rows, truth


def long_gaussians() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.normal((0, y), (4, 0.3), (150, 2)) for y in (0, 2)])
    return rows, np.repeat([0, 1], 150)


def test_moons_are_told_apart_with_and_without_their_number() -> None:
    rows, truth = moons()
    for k in (2, None):
        found = best_method(rows, k, 0)
        assert found.n_clusters == 2
        assert adjusted_rand_score(truth, found.labels) == 1


def test_long_gaussians_are_told_apart() -> None:
    rows, truth = long_gaussians()
    assert adjusted_rand_score(truth, best_method(rows, 2, 0).labels) > 0.95


def test_round_clusters_are_found_with_and_without_their_number() -> None:
    truth = np.repeat(np.arange(4), 40)
    for k in (4, None):
        found = best_method(four_clusters(), k, 0)
        assert adjusted_rand_score(truth, found.labels) == 1


def test_the_result_is_complete() -> None:
    found = best_method(four_clusters(), 3, 0)
    assert found.labels.shape == (160,)
    assert sorted(set(found.labels.tolist())) == [0, 1, 2]
    assert found.table[0]["name"] == found.name
    assert hasattr(found.model, "n_features_in_")
    keys = {"name", "parameters", "n_clusters", "border", "valley", "shape", "agreement", "score"}
    assert all(set(row) == keys and row["n_clusters"] == 3 for row in found.table)
    scores = [row["score"] for row in found.table]
    assert scores == sorted(scores, reverse=True)
    assert found.name in found.summary
    assert found.summary.endswith(".")


@pytest.mark.parametrize("k", [2, None])
def test_the_same_seed_gives_the_same_for_any_threads(k: int | None) -> None:
    rows = four_clusters()
    with coterie.options(n_threads=1):
        one = best_method(rows, k, 3)
    with coterie.options(n_threads=2):
        two = best_method(rows, k, 3)
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.table == two.table


def test_the_order_of_rows_changes_only_numbers() -> None:
    rows, _ = moons()
    order = np.random.default_rng(0).permutation(len(rows))
    there, here = best_method(rows, 2, 0), best_method(rows[order], 2, 0)
    assert adjusted_rand_score(there.labels[order], here.labels) == 1


@pytest.mark.parametrize(
    "turn",
    [
        np.asfortranarray,
        np.float32,
        np.float16,
        lambda rows: rows * 1e30,
        lambda rows: rows * 1e-30,
        lambda rows: rows + 1e6,
    ],
    ids=["fortran", "float32", "float16", "1e30", "1e-30", "offset"],
)
def test_layouts_and_scales_change_nothing(turn: Any) -> None:
    rows = four_clusters()
    truth = np.repeat(np.arange(4), 40)
    assert adjusted_rand_score(truth, best_method(turn(rows), 4, 0).labels) == 1


def test_a_frame_keeps_its_names_and_read_only_rows_are_left() -> None:
    rows = four_clusters()
    found = best_method(pd.DataFrame(rows, columns=["a", "b"]), 4, 0)
    assert list(found.model.feature_names_in_) == ["a", "b"]
    rows.setflags(write=False)
    best_method(rows, 4, 0)
    best_method((rows * 100).astype(int), 4, 0)


def test_one_cluster_and_as_many_as_rows() -> None:
    rows = four_clusters()[:6]
    assert not best_method(rows, 1, 0).labels.any()
    assert len(set(best_method(rows, 6, 0).labels.tolist())) == 6


def test_few_distinct_rows_are_told_apart() -> None:
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], [5, 4], axis=0)
    for k in (2, None):
        np.testing.assert_array_equal(best_method(rows, k, 0).labels, np.repeat([0, 1], [5, 4]))
    assert not best_method(np.ones((9, 2)), 1, 0).labels.any()


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(24, 60)) + np.repeat([0.0, 3.0], 12)[:, None]
    found = best_method(rows, None, 0)
    np.testing.assert_array_equal(found.labels, np.repeat([0, 1], 12))
    assert not any("full" in one.name for one in found.candidates)


def test_a_polars_frame_is_read() -> None:
    polars = pytest.importorskip("polars")
    rows = four_clusters()
    found = best_method(polars.DataFrame({"a": rows[:, 0], "b": rows[:, 1]}), 4, 0)
    assert adjusted_rand_score(np.repeat(np.arange(4), 40), found.labels) == 1


def test_of_many_rows_some_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_contest, "JUDGED_ROWS", 100)
    truth = np.repeat(np.arange(4), 40)
    for k in (4, None):
        found = best_method(four_clusters(), k, 0)
        assert found.n_judged == 100
        assert found.labels.shape == (160,)
        assert adjusted_rand_score(truth, found.labels) == 1


@pytest.mark.parametrize(
    ("rows", "k", "words"),
    [
        (np.ones((9, 2)), 2, "1 distinct row;"),
        (np.ones((9, 2)), None, "1 distinct row;"),
        ([[1.0, 2.0]], None, "minimum of 2"),
        ([[np.nan, 1.0], [1.0, 2.0]], 2, "NaN"),
        (np.eye(4), 5, "n_clusters=5"),
        ([["a"], ["b"]], 2, "text columns"),
        (np.eye(4), 0, "n_clusters=0"),
    ],
)
def test_mistakes_are_told(rows: Any, k: int | None, words: str) -> None:
    with pytest.raises(ValueError, match=f"best_method: .*{words}"):
        best_method(rows, k, 0)


def test_rows_of_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", four_clusters())
    found = best_method(str(tmp_path / "rows.npy"), 4, 0)
    assert adjusted_rand_score(np.repeat(np.arange(4), 40), found.labels) == 1
    with pytest.raises(FileNotFoundError, match=r"'none\.npy' names no file"):
        best_method("none.npy", 4, 0)
