"""The rotation of optimized product quantization."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

from coterie._history import Recorder
from coterie.quantize._opq import procrustes, rotated_part_means
from coterie.quantize._part_means import PartRows, column_means, part_means, start_part_means
from coterie.quantize._parts import part_starts


def correlated(n: int = 3000, d: int = 16, seed: int = 0) -> Any:
    """Rows whose variances differ and whose columns depend on each other."""
    rng = np.random.default_rng(seed)
    axes = scipy.stats.ortho_group.rvs(d, random_state=seed)
    X = rng.normal(size=(n, d)) * np.geomspace(10, 0.1, d) @ axes + 5
    return X.astype(np.float32)


def plain_error(X: Any, n_parts: int, n_iter: int = 10) -> float:
    rng = np.random.RandomState(0)
    rows = PartRows.split(X, part_starts(X.shape[1], n_parts), column_means(X), 2)
    return part_means(rows, start_part_means(rows, 16, rng), n_iter, rng, Recorder()).sse


def rotated(X: Any, n_parts: int, n_threads: int = 2, recorder: Recorder | None = None) -> Any:
    starts = part_starts(X.shape[1], n_parts)
    recorder = Recorder() if recorder is None else recorder
    return rotated_part_means(
        "error", X, starts, 16, 10, np.random.RandomState(0), recorder, n_threads
    )


@pytest.mark.parametrize("n_parts", [2, 3, 8])
def test_rotated_codebooks_lose_less(n_parts: int) -> None:
    X = correlated()
    found = rotated(X, n_parts)
    assert found.run.sse < 0.95 * plain_error(X, n_parts)
    square = found.rotation.T.astype(float) @ found.rotation
    np.testing.assert_allclose(square, np.eye(16), atol=1e-5)


def test_the_error_falls_from_step_to_step() -> None:
    recorder = Recorder()
    rotated(correlated(), 4, recorder=recorder)
    errors = [entry["objective_update"] for entry in recorder.history]
    assert len(errors) == 1 + 10 + 10
    assert (np.diff(errors) < 1e-5 * errors[0]).all()


def test_procrustes_finds_the_rotation_that_was_made() -> None:
    X = np.random.default_rng(1).normal(size=(500, 7)).astype(np.float32)
    made = scipy.stats.ortho_group.rvs(7, random_state=2)
    found = procrustes(X, (X @ made).astype(np.float32), 2)
    np.testing.assert_allclose(found, made, atol=1e-5)


@pytest.mark.parametrize("rank", [0, 1])
def test_rows_in_few_directions(rank: int) -> None:
    X = np.outer(np.arange(100.0), np.ones(6) * rank).astype(np.float32) + 3
    found = rotated(X, 3)
    assert np.isfinite(found.codewords).all()
    square = found.rotation.T.astype(float) @ found.rotation
    np.testing.assert_allclose(square, np.eye(6), atol=1e-5)


def test_threads_change_nothing() -> None:
    one, two = (rotated(correlated(9000), 4, n_threads) for n_threads in (1, 3))
    np.testing.assert_array_equal(one.rotation, two.rotation)
    np.testing.assert_array_equal(one.codewords, two.codewords)


def test_the_callback_stops_it() -> None:
    recorder = Recorder(20, lambda progress: progress.iteration == 4)
    found = rotated(correlated(500), 2, recorder=recorder)
    assert len(recorder.history) == 4
    assert np.isfinite(found.codewords).all()
