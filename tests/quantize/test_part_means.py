"""Many small k-means at once, against a loop over rows, codewords and parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import quantize_twins as twins
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.quantize._part_means import (
    PartRows,
    column_means,
    part_means,
    seed_part_means,
)
from coterie.quantize._parts import part_starts


def some_rows(n: int, d: int, seed: int = 0, *, whole: bool = False) -> Any:
    X = np.random.default_rng(seed).normal(scale=3, size=(n, d))
    return (np.round(X) if whole else X).astype(np.float32)


def split(X: Any, n_parts: int, n_threads: int = 2, shift: Any = None) -> PartRows:
    shift = np.zeros(X.shape[1], dtype=np.float32) if shift is None else shift
    return PartRows.split(X, part_starts(X.shape[1], n_parts), shift, n_threads)


def step(rows: PartRows, centers: Any) -> tuple[Any, Any, Any, Any]:
    n_parts = rows.starts.size - 1
    codes = np.zeros((n_parts, rows.n_rows), dtype=np.uint8)
    sums, changed = np.empty_like(centers), np.empty(n_parts, dtype=np.int64)
    counts = np.empty((n_parts, len(centers)), dtype=np.int64)
    kernels.assign_part_means(
        rows.data, rows.starts, centers, codes, sums, counts, changed, rows.n_threads
    )
    return codes, sums, counts, changed


@pytest.mark.parametrize(("d", "n_parts"), [(1, 1), (7, 3), (8, 1), (16, 4), (33, 2), (10, 10)])
def test_parts_stand_one_after_the_other(d: int, n_parts: int) -> None:
    X = some_rows(50, d)
    shift = column_means(X)
    rows = split(X, n_parts, shift=shift)
    assert rows.n_rows == 50
    for m, part in enumerate(twins.cut(X - shift, rows.starts)):
        np.testing.assert_array_equal(rows.part(m), part)
    assert rows.sq_sum == pytest.approx(np.square(X - shift, dtype=np.float64).sum())


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 300), st.integers(1, 40), st.sampled_from([16, 256]), st.booleans(), st.data()
)
def test_a_step_is_that_of_the_naive_twin(
    n: int, d: int, n_codes: int, whole: bool, data: st.DataObject
) -> None:
    n_parts = data.draw(st.integers(1, d))
    X, centers = some_rows(n, d, whole=whole), some_rows(n_codes, d, 1, whole=whole).astype(float)
    rows = split(X, n_parts)
    codes, sums, counts, changed = step(rows, centers)
    own_codes, own_sums, own_counts = twins.lloyd_step(X, centers, rows.starts)
    np.testing.assert_array_equal(codes.T, own_codes)
    np.testing.assert_array_equal(counts, own_counts)
    np.testing.assert_allclose(sums, own_sums, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(changed, np.count_nonzero(own_codes, axis=0))


def test_exact_ties_go_to_the_lower_codeword() -> None:
    X = np.zeros((40, 8), dtype=np.float32)
    centers = np.zeros((16, 8))
    centers[::2] = 1.0  # the even ones are farther
    codes, _, counts, _ = step(split(X, 2), centers)
    assert (codes == 1).all()
    assert counts[:, 1].tolist() == [40, 40]


@pytest.mark.parametrize("n_codes", [16, 256])
@pytest.mark.parametrize("n_parts", [1, 3, 8])
def test_the_error_never_rises(n_codes: int, n_parts: int) -> None:
    X, rng, recorder = some_rows(3000, 16), np.random.RandomState(0), Recorder()
    rows = split(X, n_parts, shift=column_means(X))
    run = part_means(rows, seed_part_means(rows, n_codes, rng), 10, rng, recorder)
    falls = [e[key] for e in recorder.history for key in ("objective_assign", "objective_update")]
    assert (np.diff(falls) <= 1e-9 * falls[0]).all()
    own = sum(
        np.square(part - words[code]).sum()
        for part, words, code in zip(
            twins.cut(X - rows.shift, rows.starts),
            twins.cut(run.centers, rows.starts),
            run.codes,
            strict=True,
        )
    )
    assert run.sse == pytest.approx(own, rel=1e-5)
    assert recorder.history[0]["n_changed"] == n_parts * 3000


def test_it_settles_where_nothing_changes() -> None:
    X, rng, recorder = some_rows(60, 4), np.random.RandomState(0), Recorder()
    rows = split(X, 2)
    run = part_means(rows, seed_part_means(rows, 16, rng), 300, rng, recorder)
    assert run.settled
    assert recorder.history[-1]["n_changed"] == 0
    np.testing.assert_array_equal(run.codes.T, twins.encode(X, run.centers, rows.starts))


def test_seeds_are_rows_and_differ_while_rows_do() -> None:
    X = some_rows(400, 6)
    rows = split(X, 3)
    centers = seed_part_means(rows, 256, np.random.RandomState(0))
    for part, words in zip(twins.cut(X, rows.starts), twins.cut(centers, rows.starts), strict=True):
        known = {tuple(row) for row in part}
        seeds = {tuple(word) for word in words.astype(np.float32)}
        assert seeds <= known
        assert len(seeds) == 256


def test_seeds_cover_groups_that_are_far_apart() -> None:
    X = np.repeat(100 * np.arange(16), 50)[:, None] + np.random.default_rng(0).random((800, 1))
    rows = split(np.hstack([X, X]).astype(np.float32), 2)
    centers = seed_part_means(rows, 16, np.random.RandomState(0))
    assert (np.sort(centers // 100, axis=0) == np.arange(16)[:, None]).all()


def test_centres_without_rows_find_some() -> None:
    X, rng = some_rows(2000, 8), np.random.RandomState(0)
    rows = split(X, 2)
    far = np.full((256, 8), 1e4)
    far[:3] = X[:3]
    run = part_means(rows, far, 15, rng, Recorder())
    assert np.count_nonzero(run.counts) == run.counts.size


def test_no_more_centres_are_used_than_there_are_distinct_rows() -> None:
    X = np.repeat(some_rows(5, 8), 30, axis=0)
    rng, recorder = np.random.RandomState(0), Recorder()
    rows = split(X, 4)
    run = part_means(rows, seed_part_means(rows, 16, rng), 10, rng, recorder)
    assert run.settled
    assert run.sse == pytest.approx(0, abs=1e-6)
    assert (np.count_nonzero(run.counts, axis=1) == 5).all()


def test_the_callback_stops_the_descent() -> None:
    rng = np.random.RandomState(0)
    rows = split(some_rows(500, 8), 2)
    recorder = Recorder(20, lambda progress: progress.iteration == 3)
    part_means(rows, seed_part_means(rows, 16, rng), 20, rng, recorder)
    assert len(recorder.history) == 3
    assert recorder.events[0]["what"] == "stopped"


def test_threads_change_nothing() -> None:
    X = some_rows(20_000, 9)

    def run(n_threads: int) -> Any:
        rng = np.random.RandomState(0)
        rows = split(X, 4, n_threads, column_means(X))
        return part_means(rows, seed_part_means(rows, 256, rng), 3, rng, Recorder())

    one = run(1)
    for n_threads in (2, 3):
        other = run(n_threads)
        np.testing.assert_array_equal(one.centers, other.centers)
        np.testing.assert_array_equal(one.codes, other.codes)
        assert one.sse == other.sse
