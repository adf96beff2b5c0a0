"""Hartigans' dip against its definition as a linear program, hand-computed ones and known levels.

Covers coterie.select._dip_table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import coterie
from coterie.errors import ParameterError
from coterie.select import dip_test
from coterie.select._dip_table import LOG_P, ROOT_N_DIPS, SIZES
from coterie.select.dip import dip_p_value, measure_dips, simulate_dips


def dip_by_definition(values: Any) -> float:
    """The least D over modes at a value: a linear program in the heights of G and D.

    Left of the mode G is convex, right of it concave, it never falls, may jump at the mode, and is
    within D of the steps on both sides of each.
    """
    places, counts = np.unique(values, return_counts=True)
    top = np.cumsum(counts) / counts.sum()
    bottom = top - counts / counts.sum()
    return min(_least_depth(places, bottom, top, mode) for mode in range(places.size))


def _least_depth(places: Any, bottom: Any, top: Any, mode: int) -> float:
    m = places.size
    at = [*range(mode + 1), *range(mode, m)]  # the mode twice: just left of it, and on it
    n_heights = m + 1
    rules, bounds = [], []

    def at_most(terms: list[tuple[int, float]], bound: float) -> None:
        rule = np.zeros(n_heights + 1)
        for place, factor in terms:
            rule[place] += factor
        rules.append(rule)
        bounds.append(bound)

    for v, i in enumerate(at):
        left, right = bottom[i], top[i]
        if i == mode:
            left = right = bottom[i] if v == mode else top[i]
        at_most([(v, 1.0), (n_heights, -1.0)], left)
        at_most([(v, -1.0), (n_heights, -1.0)], -right)
    for v in range(n_heights - 1):
        at_most([(v, 1.0), (v + 1, -1.0)], 0.0)
    for v in range(1, n_heights - 1):
        if v in (mode, mode + 1):
            continue
        sign = 1.0 if v < mode else -1.0
        before, after = places[at[v]] - places[at[v - 1]], places[at[v + 1]] - places[at[v]]
        at_most([(v, sign / before), (v - 1, -sign / before),
                 (v + 1, -sign / after), (v, sign / after)], 0.0)  # fmt: skip
    cost = np.zeros(n_heights + 1)
    cost[-1] = 1.0
    found = linprog(cost, A_ub=np.array(rules), b_ub=bounds, bounds=(0, 1))
    return float(found.fun)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=16))
def test_whole_numbers_by_definition(values: list[int]) -> None:
    found = dip_test(values, method="table").statistic
    assert found == pytest.approx(dip_by_definition(values), abs=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_reals_by_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=20) + (seed % 3) * 2 * rng.integers(0, 2, 20)
    assert dip_test(values).statistic == pytest.approx(dip_by_definition(values), abs=1e-8)


def test_by_hand() -> None:
    assert dip_test([3.0, 3.0, 3.0]).statistic == 0.0
    assert dip_test([0.0, 1.0]).statistic == 0.25
    assert dip_test([1.0, 2, 3, 4]).statistic == pytest.approx(1 / 8, abs=1e-15)
    # Two atoms: the mode takes the larger, and half of the other is in the way.
    assert dip_test([0.0, 0, 0, 1, 1]).statistic == pytest.approx(2 / 10, abs=1e-15)


@given(st.integers(2, 300), st.integers(0, 99))
def test_scale_shift_and_mirror(n_values: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=n_values)
    found = dip_test(values, method="table").statistic
    assert 1 / (2 * n_values) - 1e-15 <= found <= 0.25
    for other in (values * 1024, -values, values + 1.0):
        assert dip_test(other, method="table").statistic == pytest.approx(found, rel=1e-9)


def test_another_program_finds_the_same() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=500), rng.normal(3, 1, 500)])
    # What the package diptest 0.12 says of these values.
    assert dip_test(values).statistic == pytest.approx(0.019200644028317386, abs=1e-15)


def test_the_modal_interval_holds_the_mode() -> None:
    rng = np.random.default_rng(1)
    found = dip_test(np.concatenate([rng.normal(size=3000), rng.normal(9, 1, 600)]))
    assert -1.5 < found.low <= found.high < 1.5
    assert found.p_value < 1e-6


@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_instruction_set(isa_kernels: Any, n_threads: int) -> None:
    samples = np.sort(np.random.default_rng(0).normal(size=(300, 77)))
    dips, ends = np.empty(300), np.empty((300, 2), dtype=np.int64)
    isa_kernels.measure_dips(samples, dips, ends, n_threads)
    expected, places = measure_dips(samples, 1)
    np.testing.assert_allclose(dips, expected, rtol=1e-13)
    np.testing.assert_array_equal(ends, places)


def test_the_level_holds() -> None:
    """Of uniform samples of sizes between those of the table a share p has a chance below p."""
    rng = np.random.RandomState(0)
    for n_values in (12, 73, 300):
        chances = [dip_p_value(d, n_values) for d in simulate_dips(n_values, 4000, rng, 1)]
        for level in (0.2, 0.05, 0.01):
            share = np.mean(np.array(chances) <= level)
            assert abs(share - level) < 4 * np.sqrt(level * (1 - level) / 4000) + 0.05 * level


def test_simulated_and_tabulated_chances_agree() -> None:
    values = np.random.default_rng(3).beta(0.6, 0.6, size=40)
    table = dip_test(values, method="table").p_value
    drawn = dip_test(values, method="simulate", random_state=0).p_value
    assert drawn == pytest.approx(table, rel=0.15, abs=0.005)


def test_the_table_is_in_order() -> None:
    assert (np.diff(SIZES) > 0).all()
    assert (np.diff(LOG_P) < 0).all()
    assert (np.diff(ROOT_N_DIPS, axis=1) >= 0).all()
    assert ROOT_N_DIPS.shape == (SIZES.size, LOG_P.size)


def test_larger_dips_are_less_likely() -> None:
    for n_values in (3, 4, 25, 777, 10**7):
        chances = [dip_p_value(d, n_values) for d in np.linspace(0, 0.25, 60)]
        assert (np.diff(chances) <= 0).all()
        assert chances[0] == 1.0


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="method='exact' was given; use one of"):
        dip_test([1.0, 2.0], method="exact")
    with pytest.raises(ValueError, match="one column"):
        dip_test([[1.0, 2.0]])
    with pytest.raises(ValueError, match="NaN"):
        dip_test([1.0, np.nan])


def test_threads_do_not_change_a_bit() -> None:
    values = np.random.default_rng(0).normal(size=5000)
    with coterie.options(n_threads=1):
        one = dip_test(values)
    assert dip_test(values, n_threads=3) == one


def test_many_values_are_sorted_as_by_numpy(isa_kernels: Any) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=40_000) * 10.0 ** rng.integers(-300, 300, 40_000)
    values[:500] = 0.0
    values[500:900] = -0.0
    found = values.copy()
    isa_kernels.sort_numbers(found, 2)
    np.testing.assert_array_equal(found, np.sort(values))
    isa_kernels.sort_numbers(np.empty(0), 1)


def test_many_values_have_the_same_dip_as_their_twin() -> None:
    values = np.random.default_rng(0).normal(size=70_000)
    dips, _ = measure_dips(np.sort(values)[np.newaxis], 1)
    assert dip_test(values).statistic == dips[0]
