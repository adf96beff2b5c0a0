"""The seeding kernels against naive twins: every bit, on every instruction set this machine has."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from coterie._kernels import available_isas

SCALE = 0.25
FLOATS = [np.float32, np.float64]
#: Less than a vector, a vector, and with columns left over after some.
N_COLS = [1, 2, 7, 8, 16, 33]
CHUNK = 4096


@pytest.fixture(params=available_isas())
def kernels(request: pytest.FixtureRequest) -> Any:
    return importlib.import_module(f"coterie._kernels._kernels_{request.param}")


def clustered(n_rows: int, n_cols: int, dtype: type, *, offset: float = 0.0) -> npt.NDArray[Any]:
    """Rows around a dozen centres, so that there is something to skip."""
    rng = np.random.default_rng(n_rows + n_cols)
    centers = 8 * rng.normal(size=(12, n_cols))
    rows = centers[rng.integers(12, size=n_rows)] + rng.normal(size=(n_rows, n_cols))
    return (rows + offset).astype(dtype)


def sq_dists_to(
    kernels: Any, rows: npt.NDArray[Any], seed: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Every row's squared distance by the direct form, which has tests of its own."""
    sq_dists = np.empty(len(rows))
    center = seed.astype(np.float64)[np.newaxis]
    labels = np.zeros(len(rows), dtype=np.int32)
    kernels.sum_sq_dists(rows, None, center, SCALE, labels, sq_dists, 1)
    return sq_dists


def totals_of(
    closest: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None
) -> npt.NDArray[np.float64]:
    """Sums over chunks, each in eight interleaved sums that are then added in order."""
    shares = closest if weights is None else weights * closest
    totals = []
    for start in range(0, len(shares), CHUNK):
        part = shares[start : start + CHUNK]
        padded = np.concatenate([part, np.zeros(-len(part) % 8)]).reshape(-1, 8)
        totals.append(np.cumsum(np.cumsum(padded, axis=0)[-1])[-1])
    return np.array(totals)


@dataclass
class NaiveCover:
    """Every distance computed, nothing skipped."""

    kernels: Any
    rows: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None

    def __post_init__(self) -> None:
        self.closest = np.full(len(self.rows), np.inf)
        self.nearest = np.zeros(len(self.rows), dtype=np.int32)
        self.n_seeds = 0

    def add(self, seed: npt.NDArray[Any]) -> None:
        sq_dists = sq_dists_to(self.kernels, self.rows, seed)
        nearer = sq_dists < self.closest
        self.closest[nearer] = sq_dists[nearer]
        self.nearest[nearer] = self.n_seeds
        self.n_seeds += 1

    def gain(self, seed: npt.NDArray[Any]) -> float:
        gains = self.closest - np.minimum(self.closest, sq_dists_to(self.kernels, self.rows, seed))
        if self.weights is not None:
            gains = self.weights * gains
        starts = range(0, len(gains), CHUNK)
        return float(np.cumsum([np.cumsum(gains[s : s + CHUNK])[-1] for s in starts])[-1])


class NativeCover:
    """The kernels' state, as the caller owns it."""

    def __init__(
        self,
        kernels: Any,
        rows: npt.NDArray[Any],
        weights: npt.NDArray[np.float64] | None = None,
        n_threads: int = 2,
    ) -> None:
        self.kernels, self.rows, self.weights, self.n_threads = kernels, rows, weights, n_threads
        self.closest = np.full(len(rows), np.inf)
        self.nearest = np.zeros(len(rows), dtype=np.int32)
        self.hints = np.zeros(len(rows), dtype=np.uint8)
        self.totals = np.zeros(kernels.n_seeding_chunks(*rows.shape))
        self.seeds = np.empty((0, rows.shape[1]))
        self.sketch: tuple[Any, ...] | None = None

    def make_sketch(self) -> NativeCover:
        low = self.rows.min(axis=0) * np.float64(SCALE)
        widest = np.max(self.rows.max(axis=0) * np.float64(SCALE) - low)
        per_unit = 127 / widest if widest > 1e-30 else 0.0
        levels = np.zeros(self.kernels.n_sketch_bytes(*self.rows.shape), dtype=np.uint8)
        args = (self.rows, SCALE, low, per_unit, levels, self.n_threads)
        self.sketch = levels, low, per_unit, self.kernels.sketch_rows(*args)
        return self

    def _data(self) -> tuple[Any, ...]:
        return self.rows, self.weights, SCALE, self.seeds

    def _cover(self) -> tuple[Any, ...]:
        return self.closest, self.nearest, self.totals, self.n_threads

    def add(self, ids: list[int]) -> None:
        n_old = len(self.seeds)
        self.seeds = np.concatenate([self.seeds, self.rows[ids].astype(np.float64)])
        self.kernels.add_seeds(*self._data(), n_old, *self._cover())

    def gains(self, ids: list[int]) -> npt.NDArray[np.float64]:
        gains = np.empty(len(ids))
        candidates = np.ascontiguousarray(self.rows[ids], dtype=np.float64)
        self.kernels.measure_gains(
            self.rows, self.weights, SCALE, self.sketch, self.seeds, candidates,
            self.closest, self.nearest, self.hints, gains, self.n_threads,
        )  # fmt: skip
        return gains

    def add_measured(self, ids: list[int], best: int) -> None:
        self.seeds = np.concatenate([self.seeds, self.rows[[ids[best]]].astype(np.float64)])
        self.kernels.add_measured_seed(*self._data(), best, self.hints, *self._cover())

    def draw(self, targets: list[float]) -> list[int]:
        row_ids = np.empty(len(targets), dtype=np.int64)
        self.kernels.draw_rows(
            self.weights, self.closest, self.totals, self.rows.shape[1], np.array(targets), row_ids
        )
        return row_ids.tolist()


def assert_same(native: NativeCover, naive: NaiveCover) -> None:
    np.testing.assert_array_equal(native.closest, naive.closest)
    np.testing.assert_array_equal(native.nearest, naive.nearest)
    np.testing.assert_array_equal(native.totals, totals_of(naive.closest, naive.weights))


def weights_for(rows: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.random.default_rng(1).integers(0, 4, size=len(rows)) * 0.3


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n_cols", N_COLS)
@pytest.mark.parametrize("weighted", [False, True])
def test_adding_seeds_equals_computing_every_distance(
    kernels: Any, dtype: type, n_cols: int, weighted: bool
) -> None:
    rows = clustered(5003, n_cols, dtype)
    weights = weights_for(rows) if weighted else None
    native, naive = NativeCover(kernels, rows, weights), NaiveCover(kernels, rows, weights)
    for row in np.random.default_rng(0).integers(5003, size=25).tolist():
        native.add([row])
        naive.add(rows[row])
        assert_same(native, naive)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n_cols", N_COLS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sketched", [False, True])
def test_gains_equal_the_naive_sums_and_lead_to_the_same_cover(
    kernels: Any, dtype: type, n_cols: int, weighted: bool, sketched: bool
) -> None:
    rows = clustered(5003, n_cols, dtype)
    weights = weights_for(rows) if weighted else None
    native, naive = NativeCover(kernels, rows, weights), NaiveCover(kernels, rows, weights)
    if sketched:
        native.make_sketch()
    rng = np.random.default_rng(0)
    native.add([17])
    naive.add(rows[17])
    for n_candidates in [1, 2, 7, 8, 9, 20, 5, 5, 5, 5]:
        ids = rng.integers(5003, size=n_candidates).tolist()
        gains = native.gains(ids)
        assert gains.tolist() == [naive.gain(rows[i]) for i in ids]
        best = int(np.argmax(gains))
        native.add_measured(ids, best)
        naive.add(rows[ids[best]])
        assert_same(native, naive)


def special_rows() -> dict[str, npt.NDArray[Any]]:
    rng = np.random.default_rng(3)
    spread = clustered(3000, 5, np.float64)
    return {
        "offset of 1e4": clustered(3000, 5, np.float32, offset=1e4),
        "offset of 1e12": clustered(3000, 5, np.float64, offset=1e12),
        "grid full of ties": rng.integers(0, 4, size=(3000, 3)).astype(np.float32),
        "few distinct rows": spread[rng.integers(4, size=3000)],
        "one distinct row": np.repeat(spread[:1], 3000, axis=0),
        "tiny": (spread * 1e-22).astype(np.float32),
        "below the square root of the smallest": spread * 1e-160,
        "large": (spread * 1e15).astype(np.float32),
        "tiny beside large": np.where(rng.random((3000, 5)) < 0.01, spread, spread * 1e-18),
        "Fortran order": np.asfortranarray(clustered(3000, 19, np.float32)),
        "every third row and column": clustered(9000, 57, np.float64)[::3, ::3],
        "one row": spread[:1],
        "fewer rows than lanes": spread[:3],
    }


@pytest.mark.parametrize("name", special_rows())
@pytest.mark.parametrize("sketched", [False, True])
def test_special_rows_equal_the_naive_twin(kernels: Any, name: str, sketched: bool) -> None:
    rows = special_rows()[name]
    native, naive = NativeCover(kernels, rows), NaiveCover(kernels, rows, None)
    if sketched:
        native.make_sketch()
    rng = np.random.default_rng(0)
    native.add([0])
    naive.add(rows[0])
    for _ in range(12):
        ids = rng.integers(len(rows), size=4).tolist()
        gains = native.gains(ids)
        assert gains.tolist() == [naive.gain(rows[i]) for i in ids]
        native.add_measured(ids, 2)
        naive.add(rows[ids[2]])
        native.add(ids[3:])
        naive.add(rows[ids[3]])
        assert_same(native, naive)


@pytest.mark.parametrize("dtype", FLOATS)
def test_closest_is_the_least_squared_distance(kernels: Any, dtype: type) -> None:
    rows = clustered(3000, 11, dtype, offset=100.0)
    cover = NativeCover(kernels, rows)
    ids = [3, 14, 159, 2653]
    cover.add(ids)
    wide = rows.astype(np.float64)
    sq_dists = np.stack([np.square(wide - wide[i]).sum(axis=1) for i in ids]) * SCALE**2
    np.testing.assert_allclose(cover.closest, sq_dists.min(axis=0), rtol=1e-13)
    np.testing.assert_array_equal(cover.nearest, sq_dists.argmin(axis=0))


@pytest.mark.parametrize("dtype", FLOATS)
def test_adding_many_at_once_equals_one_by_one(kernels: Any, dtype: type) -> None:
    rows = clustered(9001, 6, dtype)
    at_once, one_by_one = NativeCover(kernels, rows), NativeCover(kernels, rows)
    ids = np.random.default_rng(0).integers(9001, size=60).tolist()
    at_once.add(ids[:20])
    at_once.add(ids[20:])
    at_once.add([])
    for row in ids:
        one_by_one.add([row])
    np.testing.assert_array_equal(at_once.closest, one_by_one.closest)
    np.testing.assert_array_equal(at_once.nearest, one_by_one.nearest)
    np.testing.assert_array_equal(at_once.totals, one_by_one.totals)


def test_threads_give_the_same_bits(kernels: Any) -> None:
    rows = clustered(20_011, 9, np.float32)
    ids = np.random.default_rng(0).integers(20_011, size=(15, 5)).tolist()
    results = []
    for n_threads in [1, 2, 3, 4]:
        cover = NativeCover(kernels, rows, weights_for(rows), n_threads).make_sketch()
        cover.add(ids[0])
        gains = []
        for row_ids in ids[1:]:
            gains.append(cover.gains(row_ids))
            cover.add_measured(row_ids, 3)
        results.append([np.array(gains), cover.closest, cover.nearest, cover.totals])
    for result in results[1:]:
        for got, expected in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(got, expected)


def test_all_isas_give_the_same_bits() -> None:
    rows = clustered(6000, 11, np.float32)
    weights = weights_for(rows)
    results = []
    for isa in available_isas():
        module = importlib.import_module(f"coterie._kernels._kernels_{isa}")
        cover = NativeCover(module, rows, weights).make_sketch()
        cover.add([5, 500])
        gains = cover.gains([7, 8, 9])
        cover.add_measured([7, 8, 9], 1)
        results.append((gains.tolist(), cover.totals.tolist()))
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("weighted", [False, True])
def test_draws_find_the_row_where_the_running_sum_reaches_the_target(
    kernels: Any, weighted: bool
) -> None:
    # Integers times SCALE^2 are summed without rounding, so the twin is exact.
    rows = np.random.default_rng(0).integers(0, 9, size=(10_000, 3)).astype(np.float64)
    weights = np.random.default_rng(1).integers(0, 3, size=10_000) * 1.0 if weighted else None
    cover = NativeCover(kernels, rows, weights)
    cover.add([4])
    sums = np.cumsum(cover.closest if weights is None else weights * cover.closest)
    targets = np.concatenate(
        [np.random.default_rng(2).uniform(0, sums[-1], 200), sums[[5, 4095, 4096, -1]]]
    )
    assert cover.draw(targets.tolist()) == np.searchsorted(sums, targets).tolist()


def test_a_row_that_adds_nothing_is_never_drawn(kernels: Any) -> None:
    rows = np.zeros((9000, 2))
    rows[[5000, 5001]] = [[1, 2], [3, 4]]
    weights = np.ones(9000)
    weights[5001] = 0
    cover = NativeCover(kernels, rows, weights)
    cover.add([0])
    total = cover.totals.sum()
    assert cover.draw([0.0, total / 2, total, np.nextafter(total, np.inf), 2 * total]) == [5000] * 5


def test_shapes_are_checked(kernels: Any) -> None:
    rows = clustered(100, 3, np.float64)
    cover = NativeCover(kernels, rows)
    cover.seeds = np.zeros((1, 2))
    with pytest.raises(ValueError, match="columns of the rows"):
        kernels.add_seeds(*cover._data(), 0, *cover._cover())
    cover.seeds = np.zeros((1, 3))
    with pytest.raises(ValueError, match="n_old"):
        kernels.add_seeds(*cover._data(), 2, *cover._cover())
    with pytest.raises(ValueError, match="size of a sketch"):
        kernels.sketch_rows(rows, SCALE, np.zeros(3), 1.0, np.zeros(100, dtype=np.uint8), 1)
    with pytest.raises(ValueError, match="low"):
        kernels.sketch_rows(rows, SCALE, np.zeros(2), 1.0, np.zeros(1, dtype=np.uint8), 1)
    cover.make_sketch()
    cover.sketch = (np.zeros(1, dtype=np.uint8), np.zeros(3), 1.0, 0.0)
    with pytest.raises(ValueError, match="size of a sketch"):
        cover.gains([1, 2])
    cover.closest = np.zeros(99)
    with pytest.raises(ValueError, match="closest"):
        kernels.add_seeds(*cover._data(), 0, *cover._cover())
