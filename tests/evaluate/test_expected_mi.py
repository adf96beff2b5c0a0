"""The expected mutual information against exact fractions and against all permutations."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from evaluate_twins import (
    exact_expected_mi,
    expected_mi_by_logs,
    mutual_info_of,
    table_of,
)
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.evaluate import adjusted_mutual_info_score, expected_mutual_info


def sizes_of(sizes: Any) -> tuple[Any, Any]:
    found, counts = np.unique(sizes, return_counts=True)
    return found.astype(np.int64), counts.astype(np.int64)


def labels_of(sizes: Any) -> Any:
    return np.repeat(np.arange(len(sizes)), sizes)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.integers(1, 6), st.integers(0, 99))
def test_fractions(sizes: list[int], n_others: int, seed: int) -> None:
    n = sum(sizes)
    others = np.bincount(np.random.default_rng(seed).integers(0, n_others, n))
    others = others[others > 0].tolist()
    found = expected_mutual_info(labels_of(sizes), labels_of(others))
    expected = 0.0 if 1 in (len(sizes), len(others)) else exact_expected_mi(sizes, others)
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-15)


def test_it_is_the_mean_over_all_permutations() -> None:
    true, pred = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1]
    mean = np.mean([mutual_info_of(table_of(true, p)) for p in permutations(pred)])
    assert expected_mutual_info(true, pred) == pytest.approx(mean, rel=1e-13)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_instruction_set(isa_kernels: Any, n_threads: int) -> None:
    rng = np.random.default_rng(0)
    sizes, others = rng.integers(1, 400, (2, 12))
    others[-1] += max(0, sizes.sum() - others.sum())
    sizes[-1] += max(0, others.sum() - sizes.sum())
    found = isa_kernels.expected_mi(
        *sizes_of(sizes), *sizes_of(others), int(sizes.sum()), n_threads
    )
    assert found == pytest.approx(expected_mi_by_logs(sizes, others), rel=1e-10)


def test_threads_do_not_change_a_bit() -> None:
    true, pred = np.random.default_rng(1).integers(0, 300, (2, 20_000))
    found = set()
    for n_threads in (1, 2, 5):
        with coterie.options(n_threads=n_threads):
            found.add(adjusted_mutual_info_score(true, pred))
    assert len(found) == 1


def test_large_clusters() -> None:
    # Halves of a million rows: the mean is 1 / (2 n) to the first order.
    n = 1_000_000
    found = expected_mutual_info(contingency=[[n // 4, n // 4], [n // 4, n // 4]])
    assert found == pytest.approx(1 / (2 * n), rel=1e-5)


def test_parts_of_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="expected_mutual_info: chance is over numberings of rows"):
        expected_mutual_info(contingency=[[0.5, 0.1], [0.1, 0.3]])
    with pytest.raises(ValueError, match="holds parts of rows"):
        adjusted_mutual_info_score([0, 1, 1], [0, 1, 0], sample_weight=[0.5, 1, 1])
