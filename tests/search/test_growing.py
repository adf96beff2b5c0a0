"""An array that grows leaves what it handed out as it was."""

from __future__ import annotations

import numpy as np
import pytest

import coterie
from coterie.search import FlatIndex
from coterie.search._growing import Growing


def test_it_grows_and_views_stay() -> None:
    rows = Growing(np.empty((0, 2)), "Some")
    seen, want = [], np.empty((0, 2))
    for n in (1, 3, 0, 10, 2, 40):
        new = np.full((n, 2), float(n))
        rows.extend(new)
        want = np.concatenate([want, new])
        seen.append((rows.view, want))
    assert len(rows) == 56
    for view, copy in seen:
        np.testing.assert_array_equal(view, copy)


def test_it_forgets() -> None:
    rows = Growing(np.arange(5.0), "Some")
    rows.truncate(2)
    rows.extend(np.array([9.0]))
    assert rows.view.tolist() == [0, 1, 9]


def test_what_may_not_be_written_to_is_copied() -> None:
    fixed = np.arange(4.0)
    fixed.flags.writeable = False
    rows = Growing(fixed, "Some")
    rows.truncate(3)
    rows.extend(np.array([7.0]))
    assert rows.view.tolist() == [0, 1, 2, 7]
    assert fixed.tolist() == [0, 1, 2, 3]


def test_what_does_not_fit_is_refused_before() -> None:
    X = np.random.default_rng(0).normal(size=(1000, 100)).astype(np.float32)
    index = FlatIndex().add(X[:10])
    with (
        coterie.options(max_memory="200kB"),
        pytest.raises(MemoryError, match=r"FlatIndex: 1010 rows need .* codes alone \(PQIndex"),
    ):
        index.add(X)
    assert index.ids.tolist() == list(range(10))
    assert index.add(X).search(X, 1).ids.shape == (1000, 1)
