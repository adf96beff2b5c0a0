"""Random states are scikit-learn's. Covers coterie._random."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import check_random_state as sklearn_check_random_state

from coterie._random import check_random_state


@given(seed=st.integers(0, 2**32 - 1))
def test_a_seed_gives_the_numbers_it_gives_elsewhere(seed: int) -> None:
    ours, theirs = check_random_state(seed), np.random.RandomState(seed)
    for _ in range(2):  # past the first block of 624 words
        np.testing.assert_array_equal(ours.random_sample(400), theirs.random_sample(400))
    np.testing.assert_array_equal(ours.permutation(20), theirs.permutation(20))
    np.testing.assert_array_equal(ours.standard_normal(3), theirs.standard_normal(3))


def test_whatever_scikit_learn_takes() -> None:
    given = np.random.RandomState(3)
    assert check_random_state(given) is given
    assert check_random_state(None) is sklearn_check_random_state(None)
    assert check_random_state(np.uint8(7)).randint(1000) == np.random.RandomState(7).randint(1000)


def test_it_can_be_copied() -> None:
    rng = check_random_state(5)
    rng.random_sample(3)
    copy = pickle.loads(pickle.dumps(rng))
    np.testing.assert_array_equal(rng.random_sample(9), copy.random_sample(9))


@pytest.mark.parametrize("seed", [-1, 2**32, 0.5, "a"])
def test_what_is_no_seed_is_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match=r"Seed must be|cannot be used to seed"):
        check_random_state(seed)
