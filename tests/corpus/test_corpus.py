"""The corpus itself: the same bits on one and on two threads, and a change of a bit is told."""

from __future__ import annotations

import numpy as np
import pytest
from corpus_cases import differences, digest, record

import coterie


@pytest.mark.parametrize(
    "only", ["400 x 2 float32", "precomputed", "Mixture weighted", "gower", "geodesic"]
)
def test_one_and_two_threads_leave_the_same_bits(only: str) -> None:
    alone = record(1, only)
    assert len(alone) >= 2
    assert differences(alone, record(2, only)) == []


def test_one_bit_more_is_told() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = coterie.KMeans(3, random_state=0).fit(X)
    before = {"a fit": {"centers": digest(model.cluster_centers_)}}
    model.cluster_centers_[0, 0] = np.nextafter(model.cluster_centers_[0, 0], np.inf)
    after = {"a fit": {"centers": digest(model.cluster_centers_)}}
    assert differences(before, after) == ["a fit: centers"]
    assert differences(before, {}) == ["a fit: only before"]


def test_time_is_no_difference_and_kinds_of_numbers_are() -> None:
    assert digest({"seconds": 1.0, "shift": 2.0}) == digest({"seconds": 9.0, "shift": 2.0})
    assert digest(np.zeros(2)) != digest(np.zeros(2, dtype=np.float32))
    assert digest([1, [2]]) != digest([1, 2])
