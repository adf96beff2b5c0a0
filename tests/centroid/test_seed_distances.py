"""Distances to seeds: draws in proportion, potentials that fall by the gains, scratch on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare
from sklearn.datasets import make_blobs

from coterie.centroid._passes import choose_space
from coterie.centroid._seed_distances import DenseSeedDistances, seed_distances
from coterie.data import as_source


def data_sets() -> dict[str, npt.NDArray[Any]]:
    rng = np.random.RandomState(0)
    return {
        "blobs": make_blobs(3000, centers=12, n_features=5, random_state=1)[0],
        "line": rng.normal(size=(10_000, 1)),
        "offset": make_blobs(2000, centers=5, n_features=3, random_state=2)[0] + 1e4,
        "copies": np.ones((20, 3)),
    }


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_second_row_is_drawn_in_proportion_to_squared_distance(kind: Any) -> None:
    X = np.array([[0.0, 0], [1, 0], [0, 2], [3, 0], [3, 4], [0, 0]])
    weights = np.array([1.0, 2, 0, 1, 0.5, 3])
    rng = np.random.RandomState(0)
    blocks = as_source(kind(X), weights)
    dists = seed_distances(blocks, choose_space(blocks)[1])
    dists.add(np.array([0]))
    drawn = dists.draw(rng.uniform(size=20_000))
    share = weights * np.square(X).sum(axis=1)
    counts = np.bincount(drawn, minlength=6)
    assert counts[share == 0].sum() == 0
    expected = 20_000 * share / share.sum()
    assert chisquare(counts[share > 0], expected[share > 0]).pvalue > 0.01


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_potential_never_rises_and_falls_by_the_gain(kind: Any) -> None:
    X = data_sets()["blobs"]
    blocks = as_source(kind(X), np.random.RandomState(0).uniform(size=len(X)))
    dists = seed_distances(blocks, choose_space(blocks)[1])
    dists.add(np.array([0]))
    rng = np.random.RandomState(1)
    for _ in range(30):
        before = dists.potential
        drawn = dists.draw(rng.uniform(size=4))
        gains = dists.gains(drawn)
        best = int(np.argmax(gains))
        assert (gains > 0).all()
        dists.add_measured(drawn, best)
        assert dists.potential < before
        assert dists.potential == pytest.approx(before - gains[best], rel=1e-9)


def test_memory_mapped_rows_keep_their_scratch_in_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.random.RandomState(0).normal(size=(100, 3)))
    blocks = as_source(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    dists = seed_distances(blocks, choose_space(blocks)[1])
    assert isinstance(dists.closest, np.memmap)
    assert isinstance(dists.nearest, np.memmap)
    assert isinstance(dists, DenseSeedDistances)
    dists.expect(1000)
    assert dists._sketch is not None
    assert isinstance(dists._sketch[0], np.memmap)


@pytest.mark.parametrize("name", data_sets())
def test_expecting_candidates_changes_no_gain(name: str) -> None:
    blocks = as_source(data_sets()[name])
    several = [DenseSeedDistances(blocks, choose_space(blocks)[1]) for _ in range(3)]
    several[1].expect(63)  # too few to prepare anything
    several[2].expect(64)
    assert [dists._sketch is None for dists in several] == [True, True, False]
    row_ids = np.arange(9)
    gains = []
    for dists in several:
        dists.add(np.array([0]))
        gains.append(dists.gains(row_ids).tolist())
    assert gains[0] == gains[1] == gains[2]
