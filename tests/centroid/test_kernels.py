"""The dense kernels in every build: against naive twins, for all shapes, layouts and types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import twins

FLOATS = [np.float32, np.float64]
#: Every width up to forty, and around whole vectors.
N_COLS = [*range(1, 41), 47, 48, 63, 64, 65, 129]
#: Every number up to forty: all sizes of panels, and one to several panels.
N_CENTERS = range(1, 41)
#: Around the rows of a tile, in every build and type.
N_ROWS = [1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65]
SCALE = 0.25


def every_other(X: npt.NDArray[Any], axis: int) -> npt.NDArray[Any]:
    """A view of the same values, with poison between them."""
    wide = np.full([s * 2 if a == axis else s for a, s in enumerate(X.shape)], np.nan, X.dtype)
    view = wide[::2] if axis == 0 else wide[:, ::2]
    view[...] = X
    return view


def read_only(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    copied = X.copy()
    copied.flags.writeable = False
    return copied


LAYOUTS: dict[str, Callable[[npt.NDArray[Any]], npt.NDArray[Any]]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "every other row": lambda X: every_other(X, 0),
    "every other column": lambda X: every_other(X, 1),
    "every other row of F": lambda X: every_other(X.T, 1).T,
    "rows backwards": lambda X: X[::-1].copy()[::-1],
    "columns backwards": lambda X: X[:, ::-1].copy()[:, ::-1],
    "F backwards": lambda X: np.asfortranarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "one row again and again": lambda X: np.broadcast_to(X[0], X.shape),
}


def some(n_rows: int, n_cols: int, n_centers: int, dtype: type, *, integers: bool = False) -> Any:
    """Random rows, centres and the shift of a frame."""
    rng = np.random.default_rng(n_rows * 10000 + n_cols * 100 + n_centers)
    rows = rng.standard_normal((n_rows, n_cols)) + 3
    centers = rng.standard_normal((n_centers, n_cols)) + 3
    if integers:
        rows, centers = np.round(rows), np.round(centers)
    return rows.astype(dtype), centers, np.full(n_cols, 3 * SCALE, dtype)


def assigned(kernels: Any, rows: Any, centers: Any, shift: Any, n_threads: int = 2) -> Any:
    labels = np.full(len(rows), -1, dtype=np.int32)
    kernels.assign(rows, centers, Frame(SCALE, shift), labels, n_threads)
    return labels


@dataclass
class Frame:
    """Where distances are computed."""

    scale: float
    shift: Any


@dataclass
class Space(Frame):
    """And the grid of the sums."""

    step_inverse: Any
    origin: Any
    weight_step_inverse: float


@dataclass
class Tally:
    """The state that assign_and_sum and assign_bounded keep from pass to pass."""

    labels: npt.NDArray[np.int32]
    sums: npt.NDArray[np.int64]
    weight_sums: npt.NDArray[np.int64]
    step_inverse: npt.NDArray[np.float64]
    origin: npt.NDArray[np.float64]
    weight_step_inverse: float = 2.0**20

    @classmethod
    def empty(cls, n_rows: int, n_centers: int, n_cols: int, limbs: int = 1) -> Tally:
        step_inverse = 2.0 ** (30 - np.arange(n_cols) % 3)
        return cls(
            np.full(n_rows, -1, dtype=np.int32),
            np.zeros((limbs, n_centers, n_cols), dtype=np.int64),
            np.zeros((limbs, n_centers), dtype=np.int64),
            step_inverse,
            3.0 * step_inverse,
        )

    def space(self, shift: Any) -> Space:
        return Space(SCALE, shift, self.step_inverse, self.origin, self.weight_step_inverse)

    def plain(
        self, kernels: Any, rows: Any, weights: Any, centers: Any, shift: Any, n_threads: int = 2
    ) -> int:
        return int(
            kernels.assign_and_sum(
                rows, weights, centers, self.space(shift), self.labels, self, n_threads
            )
        )

    def assert_same(self, other: Tally) -> None:
        np.testing.assert_array_equal(self.labels, other.labels)
        np.testing.assert_array_equal(self.sums, other.sums)
        np.testing.assert_array_equal(self.weight_sums, other.weight_sums)


def summed(tally: Tally, rows: Any, weights: Any) -> tuple[Any, Any]:
    """Twin: every value rounded to the grid, then added up as whole numbers."""
    weights = np.ones(len(rows)) if weights is None else weights
    sums, weight_sums = np.zeros_like(tally.sums[0]), np.zeros_like(tally.weight_sums[0])
    for x, w, label in zip(rows.astype(np.float64), weights, tally.labels, strict=True):
        sums[label] += np.rint((x * tally.step_inverse - tally.origin) * w).astype(np.int64)
        weight_sums[label] += int(np.rint(w * tally.weight_step_inverse))
    return sums, weight_sums


@dataclass
class Bounded(Tally):
    """The same with the bounds of each row, in `n_groups` groups of centres."""

    n_groups: int = 1
    before: Any = None

    def __post_init__(self) -> None:
        n_rows, n_centers = len(self.labels), self.weight_sums.shape[1]
        self.upper = np.full(n_rows, 9, dtype=np.uint16)
        self.lower = np.full((self.n_groups, n_rows), 65535, dtype=np.uint16)
        self.n_passes = 0
        self.radius = np.zeros(n_centers, dtype=np.float32)
        self.order = np.random.default_rng(1).permutation(n_centers).astype(np.int32)

    @classmethod
    def of(cls, tally: Tally, n_groups: int) -> Bounded:
        fresh = (tally.labels.copy(), tally.sums.copy(), tally.weight_sums.copy())
        return cls(*fresh, tally.step_inverse, tally.origin, n_groups=n_groups)

    def bounded(
        self, kernels: Any, rows: Any, weights: Any, centers: Any, shift: Any, n_threads: int = 2
    ) -> tuple[int, int]:
        self.drifts = None
        if self.before is not None:
            self.drifts = SCALE * np.linalg.norm(centers - self.before, axis=1)
        self.fresh_radius = self.n_passes % 3 == 0
        counts = kernels.assign_bounded(
            rows, weights, centers, self.space(shift), self.labels, self, self, n_threads
        )
        self.before = centers.copy()
        self.n_passes += 1
        return counts

    def assert_bounds_hold(self, rows: Any, centers: Any) -> None:
        """No row is farther from its own centre, or nearer to another, than its bounds say."""
        dists = np.sqrt(twins.sq_dists(rows, centers)) * SCALE
        own = dists[np.arange(len(rows)), self.labels]
        assert ((own <= unpacked(self.upper)) | (self.upper == 65535)).all()
        # Radii may lag by what the factor on them pays for.
        assert (own <= self.radius[self.labels] * (1 + 1e-5)).all()
        dists[np.arange(len(rows)), self.labels] = np.inf
        lower = self.lower.min(axis=0)
        assert (np.where(lower > 0, unpacked(lower), 0) <= dists.min(axis=1)).all()


def unpacked(codes: Any) -> Any:
    """Twin: the numbers that 16-bit bounds stand for."""
    exponent, mantissa = codes >> 10, codes & 1023
    return 2.0 ** (exponent - 50.0) * (1 + mantissa / 1024)


@pytest.mark.parametrize("dtype", FLOATS)
def test_labels_for_every_shape(isa_kernels: Any, dtype: type) -> None:
    for n_cols in N_COLS:
        for n_centers in N_CENTERS:
            n_rows = N_ROWS[(n_cols + n_centers) % len(N_ROWS)]
            rows, centers, shift = some(n_rows, n_cols, n_centers, dtype)
            found = assigned(isa_kernels, rows, centers, shift)
            expected = twins.nearest(rows, centers)
            assert np.array_equal(found, expected), (n_rows, n_cols, n_centers)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_labels_for_every_layout(isa_kernels: Any, dtype: type, layout: str) -> None:
    for n_cols in (1, 2, 5, 16, 33):
        rows, centers, shift = some(70, n_cols, 7, dtype)
        laid_out = LAYOUTS[layout](rows)
        np.testing.assert_array_equal(
            assigned(isa_kernels, laid_out, centers, shift), twins.nearest(laid_out, centers)
        )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n_cols", [1, 2, 3, 8, 17])
def test_exact_ties_go_to_the_lower_index(isa_kernels: Any, dtype: type, n_cols: int) -> None:
    rows, centers, shift = some(600, n_cols, 30, dtype, integers=True)
    np.testing.assert_array_equal(
        assigned(isa_kernels, rows, centers, shift), twins.nearest(rows, centers)
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n_groups", [1, 8])
def test_many_rows_and_centres_are_looked_at_coarsely_first(
    isa_kernels: Any, dtype: type, n_groups: int
) -> None:
    rows, centers, shift = some(5000, 9, 40, dtype)
    rows[::50] = (centers[5] + centers[3]) / 2  # close calls
    rows[7] *= 1000  # too long to be rounded to 16 bits with the others
    tally = Tally.empty(5000, 40, 9)
    bounded = Bounded.of(tally, n_groups)
    for _ in range(3):
        tally.plain(isa_kernels, rows, None, centers, shift)
        bounded.bounded(isa_kernels, rows, None, centers, shift)
        bounded.assert_same(tally)
        bounded.assert_bounds_hold(rows, centers)
        np.testing.assert_array_equal(tally.labels, twins.nearest(rows, centers))
        centers = centers + np.random.default_rng(0).normal(0, 0.05, size=centers.shape)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("apart", [1, 15])  # in one panel; in different panels
def test_labels_where_the_last_bit_decides(isa_kernels: Any, dtype: type, apart: int) -> None:
    rows, centers, shift = some(2000, 6, 15, dtype)
    centers = np.repeat(centers, 2, axis=0) if apart == 1 else np.tile(centers, (2, 1))
    centers += np.random.default_rng(3).integers(-1, 2, size=centers.shape) * np.spacing(centers)
    np.testing.assert_array_equal(
        assigned(isa_kernels, rows, centers, shift), twins.nearest(rows, centers)
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("far", [1e18, 1e30])
def test_labels_with_a_far_centre(isa_kernels: Any, dtype: type, far: float) -> None:
    rows, centers, shift = some(300, 5, 9, dtype)
    centers[4] = far
    np.testing.assert_array_equal(
        assigned(isa_kernels, rows, centers, shift), twins.nearest(rows, centers)
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_labels_where_the_frame_makes_products_subnormal(isa_kernels: Any, dtype: type) -> None:
    rows, centers, _ = some(3000, 5, 6, dtype)
    scale, shift = 2.0**-73, np.zeros(5, dtype)
    labels = np.empty(len(rows), dtype=np.int32)
    isa_kernels.assign(rows, centers, Frame(scale, shift), labels, 2)
    np.testing.assert_array_equal(labels, twins.nearest(rows, centers))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_are_those_of_the_rounded_values(
    isa_kernels: Any, dtype: type, weighted: bool, layout: str
) -> None:
    for n_rows, n_cols, n_centers in ((1, 1, 1), (33, 5, 4), (300, 17, 13), (300, 2, 40)):
        rows, centers, shift = some(n_rows, n_cols, n_centers, dtype)
        rows = LAYOUTS[layout](rows)
        weights = np.random.default_rng(0).random(n_rows) if weighted else None
        tally = Tally.empty(n_rows, n_centers, n_cols)
        assert tally.plain(isa_kernels, rows, weights, centers, shift) == n_rows
        for moved in (centers[::-1].copy(), centers + 0.3):
            before = tally.labels.copy()
            n_changed = tally.plain(isa_kernels, rows, weights, moved, shift)
            assert n_changed == np.count_nonzero(before != tally.labels)
            np.testing.assert_array_equal(tally.labels, twins.nearest(rows, moved))
            sums, weight_sums = summed(tally, rows, weights)
            np.testing.assert_array_equal(tally.sums[0], sums)
            np.testing.assert_array_equal(tally.weight_sums[0], weight_sums)


@pytest.mark.parametrize("weighted", [False, True])
def test_limbs_continue_the_sum_below_the_grid(isa_kernels: Any, weighted: bool) -> None:
    rows, centers, shift = some(100, 3, 4, np.float64)
    rows[::10] *= 2.0**-60
    weights = np.random.default_rng(0).random(100) if weighted else None
    tally = Tally.empty(100, 4, 3, limbs=4)
    tally.plain(isa_kernels, rows, weights, centers, shift)
    fine = sum(tally.sums[limb] * 2.0 ** (-32 * limb) for limb in range(4))
    weights = np.ones(100) if weights is None else weights
    for j in range(4):
        own = (rows * tally.step_inverse - tally.origin)[tally.labels == j]
        expected = (own * weights[tally.labels == j, np.newaxis]).sum(axis=0)
        np.testing.assert_allclose(fine[j], expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_groups", [1, 3, 8])
@pytest.mark.parametrize("layout", ["C", "F", "every other row", "columns backwards"])
def test_bounded_passes_equal_plain_ones(
    isa_kernels: Any, dtype: type, weighted: bool, n_groups: int, layout: str
) -> None:
    for n_rows, n_cols, n_centers in ((5, 1, 1), (40, 2, 2), (500, 3, 12), (500, 17, 40)):
        rows, centers, shift = some(n_rows, n_cols, n_centers, dtype)
        rows = LAYOUTS[layout](rows)
        rng = np.random.default_rng(5)
        weights = rng.random(n_rows) if weighted else None
        plain = Tally.empty(n_rows, n_centers, n_cols)
        bounded = Bounded.of(plain, n_groups)
        for step in range(8):
            n_changed = plain.plain(isa_kernels, rows, weights, centers, shift)
            counts = bounded.bounded(isa_kernels, rows, weights, centers, shift)
            bounded.assert_same(plain)
            assert counts[0] == n_changed
            assert counts[1] == n_rows if step == 0 else counts[1] <= n_rows
            bounded.assert_bounds_hold(rows, centers)
            centers = centers + 0.5 ** (2 * step) * rng.standard_normal(centers.shape)


def test_bounds_spare_rows_when_centres_hardly_move(isa_kernels: Any) -> None:
    rows, centers, shift = some(2000, 4, 10, np.float32)
    bounded = Bounded.of(Tally.empty(2000, 10, 4), 1)
    bounded.bounded(isa_kernels, rows, None, centers, shift)
    n_changed, n_scanned = bounded.bounded(isa_kernels, rows, None, centers, shift)
    assert n_changed == 0
    assert n_scanned < 100


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n_cols", [1, 2, 5])
@pytest.mark.parametrize("order", ["C", "F"])
def test_bounded_passes_load_rows_out_of_order(
    isa_kernels: Any, dtype: type, n_cols: int, order: Any
) -> None:
    """Rows that bounds do not prove stand in a tile in the order of their clusters."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n_rows = int(rng.integers(9, 60))
        rows = np.array(rng.standard_normal((n_rows, n_cols)), dtype=dtype, order=order)
        plain = Tally.empty(n_rows, 4, n_cols)
        bounded = Bounded.of(plain, 1)
        shift = np.zeros(n_cols, dtype)
        for _ in range(4):
            centers = rng.standard_normal((4, n_cols))
            plain.plain(isa_kernels, rows, None, centers, shift)
            bounded.bounded(isa_kernels, rows, None, centers, shift)
            bounded.assert_same(plain)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sum_of_squared_distances(isa_kernels: Any, dtype: type, layout: str) -> None:
    for n_cols in (1, 7, 8, 9, 40):
        rows, centers, _ = some(333, n_cols, 5, dtype)
        rows = LAYOUTS[layout](rows)
        rng = np.random.default_rng(0)
        labels = rng.integers(0, 5, 333).astype(np.int32)
        each = twins.sq_dists(rows, centers, SCALE)[np.arange(333), labels]
        for weights in (None, rng.random(333)):
            expected = twins.sse(rows, centers, labels, weights) * SCALE**2
            shares = np.empty(333)
            total = isa_kernels.sum_sq_dists(rows, weights, centers, SCALE, labels, shares, 2)
            assert total == pytest.approx(expected, rel=1e-13)
            np.testing.assert_allclose(shares, each, rtol=1e-13)
            assert total == isa_kernels.sum_sq_dists(rows, weights, centers, SCALE, labels, None, 2)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_distances(isa_kernels: Any, dtype: type, layout: str) -> None:
    for n_cols, n_centers in ((1, 1), (5, 3), (16, 9), (33, 40)):
        rows, centers, _ = some(50, n_cols, n_centers, dtype)
        rows = LAYOUTS[layout](rows)
        dists = np.empty((50, n_centers), dtype)
        isa_kernels.all_dists(rows, centers, SCALE, dists, 2)
        expected = np.sqrt(twins.sq_dists(rows, centers)).astype(dtype)
        np.testing.assert_allclose(dists, expected, rtol=np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_rows", [1, 2, 255, 256, 257, 20000])
def test_column_stats(isa_kernels: Any, dtype: type, layout: str, n_rows: int) -> None:
    n_cols = 1 + n_rows % 11
    rows = LAYOUTS[layout](some(n_rows, n_cols, 1, dtype)[0] * 1e-3 + 100)
    out = np.empty((4, n_cols))
    assert isa_kernels.column_stats(rows, out, 2) == n_rows
    low, high, center, sq_dev = twins.column_stats(rows)
    np.testing.assert_array_equal(out[0], low)
    np.testing.assert_array_equal(out[1], high)
    np.testing.assert_allclose(out[2], center, rtol=1e-15)
    np.testing.assert_allclose(out[3], sq_dev, rtol=1e-8, atol=1e-20)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_shows_in_the_mean_of_its_column(
    isa_kernels: Any, dtype: type, bad: float
) -> None:
    for n_cols in (1, 4, 9):
        for row in (0, 299, 499):
            rows = some(500, n_cols, 1, dtype)[0]
            rows[row, n_cols - 1] = bad
            out = np.empty((4, n_cols))
            isa_kernels.column_stats(rows, out, 2)
            assert not np.isfinite(out[2, -1])
            assert np.isfinite(out[2, :-1]).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_any_number_of_threads_gives_the_same_bits(isa_kernels: Any, dtype: type) -> None:
    rows, centers, shift = some(20000, 5, 12, dtype)
    weights = np.random.default_rng(0).random(20000)

    def everything(n_threads: int) -> tuple[Any, ...]:
        stats = np.empty((4, 5))
        isa_kernels.column_stats(rows, stats, n_threads)
        tally = Tally.empty(20000, 12, 5)
        tally.plain(isa_kernels, rows, weights, centers, shift, n_threads)
        tally.plain(isa_kernels, rows, weights, centers + 0.1, shift, n_threads)
        bounded = Bounded.of(Tally.empty(20000, 12, 5), 8)
        bounded.bounded(isa_kernels, rows, weights, centers, shift, n_threads)
        bounded.bounded(isa_kernels, rows, weights, centers + 0.1, shift, n_threads)
        total = isa_kernels.sum_sq_dists(
            rows, weights, centers, SCALE, tally.labels, None, n_threads
        )
        return stats, tally.labels, tally.sums, bounded.labels, bounded.sums, total

    one = everything(1)
    for n_threads in (2, 3, 4, 4):
        for ours, expected in zip(everything(n_threads), one, strict=True):
            np.testing.assert_array_equal(ours, expected)


def test_shapes_that_do_not_fit_are_refused(isa_kernels: Any) -> None:
    rows, centers, shift = some(10, 3, 2, np.float64)
    labels = np.empty(10, dtype=np.int32)
    with pytest.raises(ValueError, match="labels must have one entry per row"):
        isa_kernels.assign(rows, centers, Frame(1.0, shift), labels[:9], 1)
    with pytest.raises(ValueError, match="centers must have the columns of the rows"):
        isa_kernels.assign(rows, centers[:, :2].copy(), Frame(1.0, shift), labels, 1)
    with pytest.raises(ValueError, match="shift must have one entry per column"):
        isa_kernels.assign(rows, centers, Frame(1.0, shift[:2]), labels, 1)
    with pytest.raises(ValueError, match="out must have four rows"):
        isa_kernels.column_stats(rows, np.empty((3, 3)), 1)
    with pytest.raises(ValueError, match="a column for each centre"):
        isa_kernels.all_dists(rows, centers, 1.0, np.empty((10, 3)), 1)
    with pytest.raises(TypeError):
        isa_kernels.assign(rows.astype(np.float32), centers, Frame(1.0, shift), labels, 1)
    with pytest.raises(TypeError):
        isa_kernels.assign(rows.astype(int), centers, Frame(1.0, shift), labels, 1)


def test_records_are_refused_as_whole_arguments_are(isa_kernels: Any) -> None:
    rows, centers, shift = some(10, 3, 2, np.float64)

    def attempt(**changes: Any) -> tuple[int, int]:
        tally = Bounded.of(Tally.empty(10, 2, 3), 1)
        vars(tally).update(changes)
        return tally.bounded(isa_kernels, rows, None, centers, shift)

    assert attempt() == (10, 10)
    for wrong in (
        {"sums": np.zeros((1, 2, 3))},  # would be copied, and what is written be lost
        {"sums": np.zeros((1, 2, 6), dtype=np.int64)[:, :, ::2]},
        {"upper": np.zeros(10, dtype=np.int16)},
        {"radius": np.zeros(2)},
        {"lower": None},
        {"step_inverse": np.ones(3, dtype=np.float32)},
        {"weight_step_inverse": "one"},
    ):
        with pytest.raises(TypeError):
            attempt(**wrong)
    for name, array in (
        ("sums", np.zeros((1, 2, 4), dtype=np.int64)),
        ("weight sums", np.zeros((2, 2), dtype=np.int64)),
        ("upper", np.zeros(9, dtype=np.uint16)),
        ("lower", np.zeros((1, 9), dtype=np.uint16)),
        ("radius", np.zeros(3, dtype=np.float32)),
        ("origin", np.zeros(2)),
    ):
        with pytest.raises(ValueError, match=f"{name} must have"):
            attempt(**{name.replace(" ", "_"): array})
    with pytest.raises(ValueError, match="order must name every centre"):
        attempt(order=np.array([0, 2], dtype=np.int32))
    with pytest.raises(TypeError):
        isa_kernels.assign(rows, centers, shift, np.empty(10, dtype=np.int32), 1)  # no record
