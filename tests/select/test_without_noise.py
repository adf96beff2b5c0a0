"""Covers coterie.select._without_noise."""

from __future__ import annotations

import numpy as np

from coterie.select._without_noise import nearest_for_noise

ROWS = np.array([[0.0], [1.0], [2.4], [9.0], [10.0]])


def test_noise_gets_the_label_of_the_nearest_row_that_has_one() -> None:
    labels = np.array([3, -1, -1, -1, 0])
    found = nearest_for_noise(ROWS, labels)
    assert found is not None
    assert found.tolist() == [3, 3, 3, 0, 0]
    assert labels.tolist() == [3, -1, -1, -1, 0]


def test_labels_without_noise_stay_and_noise_alone_has_no_answer() -> None:
    labels = np.array([0, 0, 1, 1, 1])
    assert nearest_for_noise(ROWS, labels) is labels
    assert nearest_for_noise(ROWS, np.full(5, -1)) is None
