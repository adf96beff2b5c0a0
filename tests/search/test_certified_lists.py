"""Certified answers of lists are those of brute force among all rows.

Covers coterie.search._certified, coterie.search._kept_rows, coterie.search._list_space and
coterie.search._list_state.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from coterie.errors import FileError
from coterie.search import FlatIndex, IVFPQIndex
from coterie.search._index import METRICS
from coterie.search._kept_rows import restored_rows
from coterie.search._lists import in_lists, list_maxima

RNG = np.random.default_rng(0)
CENTERS = RNG.normal(size=(20, 8)) * 4
ROWS = CENTERS[RNG.integers(20, size=900)] + RNG.normal(size=(900, 8))
QUERIES = ROWS[:30] + 0.2 * RNG.normal(size=(30, 8))


def index_of(rows: NDArray[Any], n_lists: int = 12, bits: int = 4, **told: Any) -> IVFPQIndex:
    index = IVFPQIndex(n_lists, 4, bits, keep_rows=True, random_state=0, **told)
    return index.fit(rows).add(rows)


def assert_exact(index: IVFPQIndex, queries: NDArray[Any], k: int) -> NDArray[np.int64]:
    """The bits of `FlatIndex` with the same rows; how many were compared."""
    assert index._rows is not None
    flat = FlatIndex(metric=index.metric, dtype=index.dtype).add(index._rows.rows, index.ids)
    exact, proved = flat.search(queries, k), index.search_certified(queries, k)
    assert_array_equal(proved.ids, exact.ids)
    assert_array_equal(proved.dists, exact.dists)
    assert (proved.n_compared <= index.n_rows).all()
    assert (proved.n_compared >= min(k, index.n_rows)).all()
    return proved.n_compared


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("metric", METRICS)
def test_answers_are_those_of_brute_force(metric: str, bits: int, dtype: str) -> None:
    for rotate in (False, True):
        index = index_of(ROWS, bits=bits, metric=metric, rotate=rotate, dtype=dtype)
        for k in (1, 7, 1000):
            assert_exact(index, QUERIES, k)


VALUES = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 3.0])


@pytest.mark.filterwarnings("ignore:.*far from zero")  # of data with an offset
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_ties_zeros_and_odd_scales_change_nothing(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(4, 40))
    rows = np.array(data.draw(st.lists(VALUES, min_size=4 * n_rows, max_size=4 * n_rows)))
    rows = rows.reshape(n_rows, 4)
    rows = np.concatenate([rows, rows[: n_rows // 2], np.zeros((2, 4))])
    queries = np.concatenate([rows[:3], np.zeros((1, 4)), rows[:2] + 0.5])
    scale = data.draw(st.sampled_from([1e-30, 1e-3, 1.0, 1e9]))
    shift = data.draw(st.sampled_from([0.0, 0.0, 1e4, 1e8]))
    train = np.concatenate([rows, RNG.normal(size=(16, 4))])  # codewords need so many rows
    index = IVFPQIndex(
        data.draw(st.integers(1, 4)), data.draw(st.sampled_from([1, 2, 4])), 4, keep_rows=True,
        metric=data.draw(st.sampled_from(METRICS)), rotate=data.draw(st.booleans()),
        dtype=data.draw(st.sampled_from(["float32", "float64"])), random_state=0,
        n_threads=data.draw(st.sampled_from([1, 2])),
    ).fit((train + shift) * max(scale, 1e-12))  # fmt: skip
    rows, queries = (rows + shift) * scale, (queries + shift) * scale
    index.add(rows)
    k = data.draw(st.integers(1, len(rows) + 2))
    assert_exact(index, queries, k)
    index.remove(index.ids[:: data.draw(st.integers(2, 5))])
    assert_exact(index, queries, k)


def test_most_rows_are_passed_over() -> None:
    far = RNG.normal(size=(50, 8)) * 100
    rows = far[RNG.integers(50, size=4000)] + RNG.normal(size=(4000, 8))
    n_compared = assert_exact(index_of(rows, 50), rows[:40] + 0.1, 5)
    assert n_compared.mean() < 100  # a list has 80 rows


@pytest.mark.parametrize("metric", METRICS)
def test_threads_and_the_past_of_the_index_change_nothing(metric: str) -> None:
    index = IVFPQIndex(12, 4, 4, keep_rows=True, metric=metric, random_state=0).fit(ROWS)
    once = pickle.loads(pickle.dumps(index)).add(ROWS[100:], np.arange(100, 900))
    index.add(ROWS[:500]).remove(np.arange(100)).add(ROWS[500:], np.arange(500, 900))
    expected = once.search_certified(QUERIES, 5)
    for n_threads in (1, 2):
        index.n_threads = n_threads
        for mine, theirs in zip(index.search_certified(QUERIES, 5), expected, strict=True):
            assert_array_equal(mine, theirs)


def test_a_file_brings_the_proof_along(tmp_path: Path) -> None:
    index = index_of(ROWS, metric="cosine")
    index.save(tmp_path / "index")
    again = IVFPQIndex.load(tmp_path / "index")
    expected = index.search_certified(QUERIES, 6)
    for mine, theirs in zip(again.search_certified(QUERIES, 6), expected, strict=True):
        assert_array_equal(mine, theirs)
    again.add(QUERIES).remove([3, 4])
    assert_exact(again, QUERIES, 6)


@pytest.mark.parametrize("name", ["errors", "reaches"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_damaged_errors_are_refused(tmp_path: Path, name: str, value: float) -> None:
    index = index_of(ROWS[:100], 3)
    assert index._rows is not None
    getattr(index._rows.gaps, name)[7] = value
    index.save(tmp_path / "index")
    with pytest.raises(FileError, match=f"its {name} are not all numbers from zero on"):
        IVFPQIndex.load(tmp_path / "index")


def test_a_file_without_errors_is_refused() -> None:
    with pytest.raises(FileError, match="has no errors of them"):
        restored_rows("IVFPQIndex", {"rows": ROWS}, np.float64, 8)


def test_gaps_are_what_they_say() -> None:
    index = index_of(ROWS.astype(np.float32), bits=8)
    assert index._rows is not None
    assert index._learned is not None
    labels = np.empty(900, dtype=np.int64)
    labels[index._lists.rows] = np.repeat(np.arange(12), index.list_sizes)
    off = index._rows.rows.astype(np.float64) - index._learned.centers[labels]
    lengths = np.linalg.norm(off, axis=1)
    reaches, errors = index._rows.gaps.reaches, index._rows.gaps.errors
    assert (reaches >= lengths).all()
    assert np.allclose(reaches, lengths, rtol=1e-6)
    code = index.quantizer.decode(index.quantizer.encode(off.astype(np.float32)))
    lost = np.linalg.norm(off - code, axis=1)
    assert (errors >= lost).all()
    assert np.allclose(errors, lost, rtol=1e-6)
    assert_array_equal(
        list_maxima(index._lists, reaches), [reaches[labels == i].max() for i in range(12)]
    )
    empty = in_lists(np.array([2, 2]), np.zeros((2, 1), np.uint8), 4)
    assert list_maxima(empty, np.array([1, 3], np.float32)).tolist() == [0, 0, 3, 0]


def test_rows_must_be_kept() -> None:
    index = IVFPQIndex(5, 2, 4, random_state=0).fit(ROWS).add(ROWS)
    with pytest.raises(ValueError, match="search_certified needs the rows and only codes are kept"):
        index.search_certified(QUERIES, 2)
