"""Whether there is anything: levels, power, sources, degenerate rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from coterie.select import Tendency, dip_test, tendency
from coterie.select.tendency import _principal
from streams import Stream


def two_heaps(n_rows: int = 120, n_cols: int = 3) -> Any:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, n_cols)) + 6 * rng.integers(0, 2, (n_rows, 1))


def draw(kind: str, seed: int, n_rows: int, n_cols: int) -> Any:
    rng = np.random.default_rng([seed, n_rows, n_cols])
    if kind == "uniform":
        return rng.random((n_rows, n_cols))
    if kind == "lognormal":
        return rng.lognormal(size=(n_rows, n_cols))
    heap = rng.normal(size=(n_rows, n_cols))
    return heap @ rng.normal(size=(n_cols, n_cols)) if kind == "correlated" else heap


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "lognormal", "correlated"])
def test_false_alarms_are_rare(kind: str) -> None:
    """A thinned form of benchmarks/select/study_tendency.py: 5 or more of 20 would be rare."""
    found = [tendency(draw(kind, run, 60, 2), random_state=run) for run in range(20)]
    assert sum(one.has_structure for one in found) <= 4


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
def test_false_alarms_are_rare_where_columns_are_many(kind: str) -> None:
    """Were all components clustered, most would be alarms: rows are corners of a simplex."""
    found = [tendency(draw(kind, run, 60, 600), random_state=run) for run in range(12)]
    assert sum(one.has_structure for one in found) <= 3


def test_two_heaps_are_found_where_columns_are_many() -> None:
    assert tendency(two_heaps(60, 600), random_state=0).has_structure


@pytest.mark.parametrize("shape", [(30, 5), (20, 50)])
def test_principal_components_are_a_rotation(shape: tuple[int, int]) -> None:
    rows = np.random.default_rng(0).normal(size=shape) @ np.diag(np.linspace(1, 3, shape[1]))
    found = _principal(rows)
    variances = found.var(axis=0)
    assert (np.diff(variances) <= 0).all()
    ratio = pdist(found) / pdist(rows)
    np.testing.assert_allclose(ratio, ratio[0])
    products = found.T @ found
    np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-9)


def test_few_distinct_rows_are_told() -> None:
    rng = np.random.default_rng(0)
    found = tendency(rng.integers(0, 2, (200, 3)), random_state=0)
    assert found.has_structure
    assert found.verdict.endswith("; but only 8 of 200 rows differ, which alone looks like modes.")
    assert "differ" not in tendency(two_heaps(), random_state=0).verdict


def test_two_heaps_are_found() -> None:
    found = tendency(two_heaps(), random_state=0)
    assert found.has_structure
    assert found.p_value < 1e-3
    assert found.verdict.startswith("There is structure (p < 0.001): principal component 1 has")
    assert found.verdict.endswith(".")


def test_a_ring_is_found_by_its_gap() -> None:
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 400)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * 4
    X = np.vstack([ring, rng.normal(size=(200, 2)) * 0.4]) + rng.normal(size=(600, 2)) * 0.1
    assert tendency(X, random_state=0).has_structure


def test_the_chance_is_that_of_the_parts() -> None:
    found = tendency(draw("gaussian", 1, 80, 4), random_state=3)
    parts = (found.projection_p_value, found.distances.p_value, found.replay.p_value)
    assert found.p_value == min(1.0, 3 * min(parts))
    assert len(found.components) == 3
    least = min(test.p_value for test in found.components)
    assert found.component_p_value == min(1.0, 3 * least)
    assert list(found.columns) == [0, 1, 2, 3]
    least = min(test.p_value for test in found.columns.values())
    assert found.column_p_value == min(1.0, 4 * least)
    both = (found.component_p_value, found.column_p_value)
    assert found.projection_p_value == min(1.0, 2 * min(both))
    assert found.n_used == found.n_compared == 80
    assert found.distances.n_values == 80 * 79 // 2
    assert not found.has_structure
    assert found.verdict.startswith("No structure was found")


def test_one_column_is_a_dip_test() -> None:
    X = two_heaps(100, 1)
    found = tendency(X, random_state=0)
    expected = dip_test(X[:, 0], method="table")
    assert found.components[0].statistic == pytest.approx(expected.statistic, rel=1e-9)


def test_a_column_alone_may_tell() -> None:
    """Ten heaps in a row along a column: along the diagonals, which are the components, one."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(3000) % 10 + 0.1 * rng.normal(size=3000), rng.random(3000) * 9])
    found = tendency((X - X.mean(axis=0)) / X.std(axis=0), random_state=0)
    assert found.has_structure
    assert found.column == 0
    assert "a column by itself has more than one mode" in found.verdict
    assert found.columns[1].p_value > 0.05


def test_reasons_are_listed() -> None:
    found = tendency(two_heaps(300), random_state=0)
    reasons = found.verdict.split(": ")[1].removesuffix(".").split(", ")
    assert len(reasons) > 2
    assert [reason.startswith("and ") for reason in reasons[:-1]] == [False] * (len(reasons) - 1)
    assert reasons[-1].startswith("and ")


def test_groups_beside_a_long_axis_are_found() -> None:
    """The length of all is nearly all of the variance, and the groups lie side by side along it."""
    rng = np.random.default_rng(0)
    size, group = 20 * rng.normal(size=(300, 1)), rng.integers(0, 2, (300, 1))
    X = size + rng.normal(size=(300, 5)) + 2.5 * group * np.array([1, -1, 1, -1, 0])
    assert tendency(X, random_state=0).has_structure


@pytest.mark.parametrize("n_cols", [1, 2])
def test_rounding_is_no_structure(n_cols: int) -> None:
    rng = np.random.default_rng(0)
    ages = np.rint(rng.normal(40, 12, (5000, n_cols)))
    assert not tendency(ages, random_state=0).has_structure
    old = ages + 60 * rng.integers(0, 2, (5000, 1))
    assert tendency(old, random_state=0).has_structure


def test_the_seed_decides() -> None:
    X = draw("gaussian", 2, 70, 2)
    assert tendency(X, random_state=5) == tendency(X, random_state=5)


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_shift_and_scale_change_nothing(shift: float, scale: float) -> None:
    X = two_heaps(60, 2)
    found = tendency((X + shift) * scale, random_state=0)
    expected = tendency(X, random_state=0)
    assert found.components[0].statistic == pytest.approx(
        expected.components[0].statistic, rel=1e-6
    )
    assert found.has_structure


@pytest.mark.parametrize("given", [np.float32, sp.csr_matrix, np.asfortranarray, np.ndarray.tolist])
def test_kinds_of_rows(given: Any) -> None:
    X = two_heaps(60, 2)
    assert tendency(given(X), random_state=0).has_structure


def test_rows_from_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", two_heaps(60, 2))
    assert tendency(str(tmp_path / "rows.npy"), random_state=0).has_structure


def test_rows_from_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = dict(zip("ab", two_heaps(60, 2).T, strict=True))
    parquet.write_table(arrow.table(columns), tmp_path / "rows.parquet")
    assert tendency(str(tmp_path / "rows.parquet"), random_state=0).has_structure


def test_rows_from_dask() -> None:
    array = pytest.importorskip("dask.array")
    rows = array.from_array(two_heaps(60, 2), chunks=(20, 2))
    assert tendency(rows, random_state=0).has_structure


def test_rows_that_come_once_are_refused() -> None:
    with pytest.raises(ValueError, match="tendency: X is a generator, which gives its rows once"):
        tendency(row for row in two_heaps())


@pytest.mark.parametrize("kind", [np.int64, np.float16, object])
def test_other_numbers(kind: Any) -> None:
    assert tendency((10 * two_heaps(60, 2)).astype(kind), random_state=0).has_structure


def test_frames() -> None:
    for name in ("pandas", "polars"):
        frames = pytest.importorskip(name)
        frame = frames.DataFrame(dict(zip("ab", two_heaps(60, 2).T, strict=True)))
        assert tendency(frame, random_state=0).has_structure


def test_columns_without_spread_change_nothing() -> None:
    X = two_heaps(60, 2)
    wider = np.column_stack([X, np.full(60, 7.0)])
    found, expected = tendency(wider, random_state=0), tendency(X, random_state=0)
    assert len(found.components) == len(expected.components) == 2
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-6)


def test_many_rows_are_drawn_from() -> None:
    X = np.random.default_rng(0).normal(size=(30_000, 2))
    found = tendency(X, random_state=0)
    assert (found.n_used, found.n_compared) == (20_000, 1000)


def check_sound(found: Tendency) -> None:
    assert 0 <= found.p_value <= 1
    assert 0 <= found.hopkins.statistic <= 1


def test_equal_rows() -> None:
    found = tendency(np.ones((30, 2)), random_state=0)
    check_sound(found)
    assert not found.has_structure
    assert found.verdict == "All rows are equal, so there is nothing to cluster."


@pytest.mark.parametrize("n_rows", [2, 3, 9])
def test_few_rows(n_rows: int) -> None:
    found = tendency(two_heaps(n_rows), random_state=0)
    check_sound(found)
    assert found.p_value == 1.0
    assert found.verdict == f"{n_rows} rows are too few to tell structure from chance."


def test_duplicates_and_more_columns_than_rows() -> None:
    check_sound(tendency(np.repeat(np.eye(3), 20, axis=0), random_state=0))
    check_sound(tendency(np.random.default_rng(0).normal(size=(20, 50)), random_state=0))


def test_refusals() -> None:
    with pytest.raises(ValueError, match="NaN"):
        tendency([[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(ValueError, match="minimum of 2"):
        tendency([[1.0, 2.0]])
    for n_rows in (0, 1):
        with pytest.raises(ValueError, match=f"tendency: X has {n_rows} rows?, which tell nothing"):
            tendency(Stream(np.zeros((n_rows, 2))))
    with pytest.raises(ValueError, match="tendency: could not convert string to float: 'x'"):
        tendency([[1.0, "x"], [1.0, "y"]])


def test_hopkins_asks_in_the_box_of_the_columns_as_given() -> None:
    rows = np.random.default_rng(0).uniform(size=(1000, 2))
    found = [tendency(rows, random_state=seed).hopkins.statistic for seed in range(5)]
    # In the box of principal components, which stand askew in a square, it is above 0.75.
    assert 0.4 < np.mean(found) < 0.62
