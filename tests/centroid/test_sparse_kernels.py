"""The kernels on CSR rows: against naive twins, and against the dense kernels on the same rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from coterie._kernels import kernels

SCALE = 0.25
FLOATS = [np.float32, np.float64]
INDICES = [np.int32, np.int64]
#: One centre, fewer than a vector holds, just past a vector, past a group of vectors.
N_CENTERS = [1, 2, 9, 33, 100]


@dataclass(frozen=True)
class Sparse:
    """Rows as the kernels take them, with the attributes of a SciPy matrix, and written out."""

    data: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    indptr: npt.NDArray[Any]
    dense: npt.NDArray[Any]
    format: str = "csr"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.dense.shape


@dataclass(frozen=True)
class Frame:
    """Where distances are computed: nowhere else than the rows are."""

    scale: float
    shift: Any


def sparse(dense: npt.NDArray[Any], is_stored: npt.NDArray[np.bool_], index: type) -> Sparse:
    """The rows with the asked entries stored, in a shuffled order within each row."""
    rng = np.random.default_rng(7)
    columns = [rng.permutation(np.flatnonzero(row)) for row in is_stored]
    starts = np.cumsum([0, *map(len, columns)])
    values = np.concatenate([row[cols] for row, cols in zip(dense, columns, strict=True)])
    return Sparse(
        values, np.concatenate(columns).astype(index), starts.astype(index), dense * is_stored
    )


def random_rows(
    n_rows: int = 500,
    n_cols: int = 40,
    *,
    dtype: type = np.float64,
    index: type = np.int32,
    integers: bool = False,
    density: float = 0.2,
) -> Sparse:
    """Random rows with explicit zeros; every tenth is empty and the first is full."""
    rng = np.random.default_rng(n_rows + n_cols)
    dense = rng.standard_normal((n_rows, n_cols))
    if integers:
        dense = rng.integers(0, 3, size=dense.shape).astype(np.float64)
    dense[rng.random(dense.shape) < 0.1] = 0
    is_stored = rng.random(dense.shape) < density
    is_stored[5::10] = False
    is_stored[0] = True
    return sparse(dense.astype(dtype), is_stored, index)


def random_centers(n_centers: int, n_cols: int = 40, *, integers: bool = False) -> Any:
    """Random centres; with integers, the second half repeats the first."""
    rng = np.random.default_rng(n_centers)
    centers = 0.3 * rng.standard_normal((n_centers, n_cols))
    if integers:
        centers = rng.integers(0, 2, size=centers.shape).astype(np.float64)
        centers[(n_centers + 1) // 2 :] = centers[: n_centers // 2]
    return centers


def direct_sq_dists(rows: Sparse, centers: Any, scale: float = SCALE) -> Any:
    """Twin: squared distances times scale^2 in float64, columns summed in order."""
    sq_dists = np.zeros((len(rows.dense), len(centers)))
    for x, c in zip(rows.dense.T.astype(np.float64), centers.T, strict=True):
        sq_dists += np.square(x[:, np.newaxis] * scale - c * scale)
    return sq_dists


def frame(rows: Sparse, scale: float = SCALE) -> Frame:
    return Frame(scale, np.zeros(rows.shape[1], rows.dense.dtype))


def assigned(rows: Sparse, centers: Any, scale: float = SCALE, n_threads: int = 2) -> Any:
    labels = np.full(len(rows.dense), -1, dtype=np.int32)
    kernels.assign(rows, centers, frame(rows, scale), labels, n_threads)
    return labels


@dataclass
class Sums:
    """The state that `assign_and_sum` keeps from pass to pass."""

    labels: npt.NDArray[np.int32]
    sums: npt.NDArray[np.int64]
    weight_sums: npt.NDArray[np.int64]
    step_inverse: npt.NDArray[Any]
    weight_step_inverse: float
    origin: npt.NDArray[Any]
    shift: npt.NDArray[Any]
    scale: float = SCALE

    @classmethod
    def empty(cls, rows: Sparse, n_centers: int, *, limbs: int = 1) -> Sums:
        n_rows, n_cols = rows.dense.shape
        return cls(
            np.full(n_rows, -1, dtype=np.int32),
            np.zeros((limbs, n_centers, n_cols), dtype=np.int64),
            np.zeros((limbs, n_centers), dtype=np.int64),
            2.0 ** (30 - np.arange(n_cols) % 3),
            2.0**20,
            np.zeros(n_cols),
            np.zeros(n_cols, dtype=rows.dense.dtype),
        )

    def pass_csr(self, rows: Sparse, weights: Any, centers: Any, n_threads: int = 2) -> Any:
        return kernels.assign_and_sum(rows, weights, centers, self, self.labels, self, n_threads)

    def pass_dense(self, rows: Sparse, weights: Any, centers: Any) -> Any:
        return kernels.assign_and_sum(rows.dense, weights, centers, self, self.labels, self, 2)

    def assert_same(self, other: Sums) -> None:
        np.testing.assert_array_equal(self.labels, other.labels)
        np.testing.assert_array_equal(self.sums, other.sums)
        np.testing.assert_array_equal(self.weight_sums, other.weight_sums)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("n_centers", N_CENTERS)
@pytest.mark.parametrize("integers", [False, True])
def test_labels_are_those_of_the_direct_form(
    dtype: type, index: type, n_centers: int, integers: bool
) -> None:
    rows = random_rows(dtype=dtype, index=index, integers=integers)
    centers = random_centers(n_centers, integers=integers)
    np.testing.assert_array_equal(
        assigned(rows, centers), direct_sq_dists(rows, centers).argmin(axis=1)
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("apart", [1, 8])  # neighbours; the same lane of two vectors
def test_labels_hold_where_rounding_decides(dtype: type, apart: int) -> None:
    rows = random_rows(2000, dtype=dtype)
    centers = random_centers(8)
    centers = np.repeat(centers, 2, axis=0) if apart == 1 else np.tile(centers, (2, 1))
    one_ulp = np.random.default_rng(3).integers(-1, 2, size=centers.shape) * np.spacing(centers)
    centers += one_ulp
    expected = direct_sq_dists(rows, centers).argmin(axis=1)
    np.testing.assert_array_equal(assigned(rows, centers), expected)


def test_labels_hold_where_norms_overflow() -> None:
    rows = random_rows()
    centers = random_centers(12)
    centers[[1, 4, 7], :20] = 1e200
    centers[[4, 8], 20:] = -1e308
    with np.errstate(over="ignore"):
        expected = direct_sq_dists(rows, centers, 1.0).argmin(axis=1)
    np.testing.assert_array_equal(assigned(rows, centers, 1.0), expected)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("n_centers", [1, 9, 100])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limbs", [1, 4])
def test_sums_follow_the_labels_as_on_dense_rows(
    dtype: type, index: type, n_centers: int, weighted: bool, limbs: int
) -> None:
    rows = random_rows(dtype=dtype, index=index)
    weights = np.random.default_rng(0).random(len(rows.dense)) if weighted else None
    ours = Sums.empty(rows, n_centers, limbs=limbs)
    dense = Sums.empty(rows, n_centers, limbs=limbs)
    for centers in (random_centers(n_centers), random_centers(n_centers)[::-1].copy()):
        n_changed = ours.pass_csr(rows, weights, centers)
        assert n_changed == dense.pass_dense(rows, weights, centers)
        ours.assert_same(dense)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_the_rounded_values(weighted: bool) -> None:
    rows = random_rows()
    n_rows = len(rows.dense)
    weights = np.random.default_rng(0).random(n_rows) if weighted else None
    sums = Sums.empty(rows, 9)
    assert sums.pass_csr(rows, weights, random_centers(9)) == n_rows

    centers = random_centers(9)[::-1].copy()
    before = sums.labels.copy()
    assert sums.pass_csr(rows, weights, centers) == np.count_nonzero(sums.labels != before)
    assert sums.pass_csr(rows, weights, centers) == 0

    of_row = np.ones(n_rows) if weights is None else weights
    steps = np.rint(rows.dense * sums.step_inverse * of_row[:, np.newaxis]).astype(np.int64)
    weight_steps = np.rint(of_row * sums.weight_step_inverse).astype(np.int64)
    for j in range(9):
        np.testing.assert_array_equal(sums.sums[0, j], steps[sums.labels == j].sum(axis=0))
        assert sums.weight_sums[0, j] == weight_steps[sums.labels == j].sum()


@pytest.mark.parametrize("n_threads", [2, 3, 4])
def test_threads_change_no_bit(n_threads: int) -> None:
    rows = random_rows(9000, density=0.3)
    weights = np.random.default_rng(0).random(len(rows.dense))
    centers = random_centers(200)
    alone, together = Sums.empty(rows, 200), Sums.empty(rows, 200)
    assert alone.pass_csr(rows, weights, centers, 1) == 9000
    assert together.pass_csr(rows, weights, centers, n_threads) == 9000
    together.assert_same(alone)
    np.testing.assert_array_equal(assigned(rows, centers, n_threads=n_threads), alone.labels)

    def inertia(threads: int) -> Any:
        return kernels.sum_sq_dists(rows, weights, centers, SCALE, alone.labels, None, threads)

    assert inertia(n_threads) == inertia(1)
    np.testing.assert_array_equal(column_stats(rows, n_threads), column_stats(rows, 1))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("weighted", [False, True])
def test_sum_of_squares_has_the_bits_of_the_dense_one(
    dtype: type, index: type, weighted: bool
) -> None:
    rows = random_rows(dtype=dtype, index=index)
    n_rows = len(rows.dense)
    of_row = np.random.default_rng(0).random(n_rows) if weighted else np.ones(n_rows)
    weights = of_row if weighted else None
    centers = random_centers(9)
    labels = np.arange(n_rows, dtype=np.int32) % 9
    rest = (weights, centers, SCALE, labels)
    ours, dense = np.empty(n_rows), np.empty(n_rows)
    total = kernels.sum_sq_dists(rows, *rest, ours, 2)
    assert total == kernels.sum_sq_dists(rows.dense, *rest, dense, 2)
    assert total == kernels.sum_sq_dists(rows, *rest, None, 2)
    np.testing.assert_array_equal(ours, dense)
    expected = direct_sq_dists(rows, centers)[np.arange(n_rows), labels]
    np.testing.assert_allclose(ours, expected, rtol=1e-13)
    np.testing.assert_allclose(total, expected @ of_row, rtol=1e-13)


def test_sum_of_squares_is_cut_into_the_chunks_of_the_dense_one() -> None:
    n_rows, n_cols = 6000, 2048  # a wide row's chunk is shorter than all rows
    rng = np.random.default_rng(0)
    is_stored = np.zeros((n_rows, n_cols), dtype=bool)
    is_stored[np.arange(n_rows), rng.integers(0, n_cols, size=n_rows)] = True
    dense = np.zeros(is_stored.shape, dtype=np.float32)
    dense[is_stored] = rng.standard_normal(n_rows)
    rows = sparse(dense, is_stored, np.int32)
    rest = (None, random_centers(2, n_cols), SCALE, np.zeros(n_rows, dtype=np.int32), None, 2)
    assert kernels.sum_sq_dists(rows, *rest) == kernels.sum_sq_dists(dense, *rest)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("n_centers", N_CENTERS)
def test_all_distances_have_the_bits_of_the_dense_ones(
    dtype: type, index: type, n_centers: int
) -> None:
    rows = random_rows(dtype=dtype, index=index)
    centers = random_centers(n_centers)
    ours: npt.NDArray[Any] = np.empty((len(rows.dense), n_centers), dtype=dtype)
    dense = np.empty_like(ours)
    kernels.all_dists(rows, centers, SCALE, ours, 2)
    kernels.all_dists(rows.dense, centers, SCALE, dense, 2)
    np.testing.assert_array_equal(ours, dense)
    expected = np.sqrt(direct_sq_dists(rows, centers)) / SCALE
    np.testing.assert_allclose(ours, expected, rtol=float(2 * np.finfo(dtype).eps))


def column_stats(rows: Sparse, n_threads: int = 2) -> Any:
    out = np.empty((4, rows.dense.shape[1]))
    n_rows = kernels.column_stats(rows, out, n_threads)
    assert n_rows == len(rows.dense)
    return out


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("n_rows", [1, 30, 3000])
def test_column_stats_count_the_zeros(dtype: type, index: type, n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    dense: npt.NDArray[Any] = rng.standard_normal((n_rows, 6)).astype(dtype)
    is_stored = rng.random(dense.shape) < 0.3
    dense[:, 1] = abs(dense[:, 1])  # smallest is a zero that is not stored
    dense[:, 2] = -abs(dense[:, 2])  # largest is
    is_stored[:, 3] = False
    is_stored[:, 4] = True
    dense[:, 4] += 2  # full, away from zero
    dense[:, 5] = 0  # explicit zeros
    rows = sparse(dense, is_stored, index)

    smallest, largest, mean, sq_dev = column_stats(rows)
    wide = rows.dense.astype(np.float64)
    np.testing.assert_array_equal(smallest, wide.min(axis=0))
    np.testing.assert_array_equal(largest, wide.max(axis=0))
    np.testing.assert_allclose(mean, wide.mean(axis=0), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(sq_dev, wide.var(axis=0) * n_rows, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(sq_dev[[3, 5]], 0)


def test_column_stats_keep_a_spread_far_from_zero() -> None:
    dense = 1e8 + np.random.default_rng(0).standard_normal((2000, 2))
    rows = sparse(dense, np.ones_like(dense, dtype=bool), np.int32)
    np.testing.assert_allclose(column_stats(rows)[3], dense.var(axis=0) * 2000, rtol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_column_stats_show_what_is_not_finite(value: float) -> None:
    rows = random_rows()
    rows.data[len(rows.data) // 2] = value
    mean = column_stats(rows)[2]
    assert np.count_nonzero(~np.isfinite(mean)) == 1


def test_rows_may_be_a_stretch_of_a_larger_matrix() -> None:
    rows = random_rows()
    stretch = Sparse(rows.data, rows.indices, rows.indptr[100:301], rows.dense[100:300])
    centers = random_centers(9)
    np.testing.assert_array_equal(assigned(stretch, centers), assigned(rows, centers)[100:300])
    np.testing.assert_array_equal(column_stats(stretch)[1], stretch.dense.max(axis=0))


def test_rows_may_all_be_empty() -> None:
    rows = sparse(np.zeros((50, 3)), np.zeros((50, 3), dtype=bool), np.int32)
    centers = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(assigned(rows, centers), 1)  # of the two tied, the lower
    np.testing.assert_array_equal(column_stats(rows), 0)


def test_no_rows_change_nothing() -> None:
    rows = sparse(np.zeros((1, 3)), np.zeros((1, 3), dtype=bool), np.int64)
    none = Sparse(rows.data, rows.indices, rows.indptr[:1], rows.dense[:0])
    centers = np.ones((2, 3))
    sums = Sums.empty(none, 2)
    assert sums.pass_csr(none, None, centers) == 0
    assert not sums.sums.any()
    assert kernels.sum_sq_dists(none, None, centers, SCALE, sums.labels, None, 2) == 0


def test_shapes_are_checked() -> None:
    rows = random_rows()
    centers = random_centers(3)
    labels = np.zeros(len(rows.dense), dtype=np.int32)
    values, columns, starts = rows.data, rows.indices, rows.indptr

    def attempt(labels: Any = labels, centers: Any = centers, **changes: Any) -> None:
        kernels.assign(replace(rows, **changes), centers, frame(rows), labels, 1)

    attempt()
    with pytest.raises(ValueError, match="labels"):
        attempt(labels=labels[1:])
    with pytest.raises(ValueError, match="columns"):
        attempt(indices=columns[1:])
    with pytest.raises(ValueError, match="starts must rise"):
        attempt(data=values[1:], indices=columns[1:])
    with pytest.raises(ValueError, match="starts must have"):
        attempt(indptr=starts[:0])
    with pytest.raises(ValueError, match="starts must have"):
        attempt(indptr=starts[:-1])
    with pytest.raises(ValueError, match="centers"):
        attempt(centers=centers[:0])
    with pytest.raises(ValueError, match="weights"):
        kernels.sum_sq_dists(rows, np.ones(3), centers, SCALE, labels, None, 1)
    with pytest.raises(ValueError, match="dists"):
        kernels.all_dists(rows, centers, SCALE, np.empty((3, 3)), 1)
    with pytest.raises(ValueError, match="out"):
        kernels.column_stats(rows, np.empty((4, 39)), 1)
    for wrong in (
        {"indptr": starts.astype(np.int64)},
        {"indices": columns.astype(np.uint32)},
        {"data": values.astype(int)},
        {"format": "csc"},
    ):
        with pytest.raises(TypeError):
            attempt(**wrong)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index", INDICES)
def test_rows_may_be_a_matrix_of_scipy(kind: Any, dtype: type, index: type) -> None:
    rows = random_rows(dtype=dtype, index=index)
    matrix = kind((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    matrix.indices, matrix.indptr = rows.indices, rows.indptr  # which SciPy would shorten
    labels = np.empty(len(rows.dense), dtype=np.int32)
    kernels.assign(matrix, random_centers(9), frame(rows), labels, 2)
    np.testing.assert_array_equal(labels, assigned(rows, random_centers(9)))
    with pytest.raises(TypeError):
        kernels.column_stats(matrix.tocsc(), np.empty((4, rows.shape[1])), 2)
