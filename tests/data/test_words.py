"""Columns of text of Arrow tables: the answers of arrays of str and None, without making them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from coterie import CategoricalMixture
from coterie.data import columns as c
from coterie.data._words import Words, words_of
from coterie.mixture._categories import categories_in, encode

CELLS = ["b", None, "a", "", "b", "c", None, "a"]
COLUMNS = {
    "string": pa.chunked_array([CELLS]),
    "large": pa.chunked_array([pa.array(CELLS, pa.large_string())]),
    "chunks": pa.chunked_array([pa.array(CELLS[:3]), pa.array([], pa.string()), CELLS[3:]]),
    "array": pa.array(CELLS),
    "slice": pa.array(["z", *CELLS, "z"]).slice(1, 8),
    "dictionary": pa.array(["z", *CELLS]).dictionary_encode().slice(1),
    "dictionaries": pa.chunked_array(
        [pa.array(CELLS[:3]).dictionary_encode(), pa.array(CELLS[3:]).dictionary_encode()]
    ),
}


def twin(cells: Any = CELLS) -> Any:
    return np.array(cells, dtype=object)


@pytest.fixture(params=COLUMNS)
def column(request: pytest.FixtureRequest) -> Any:
    (column,) = c.columns_of(pa.table({"words": COLUMNS[request.param]}))
    assert isinstance(column, Words)
    return column


def test_cells_are_those_of_the_array(column: Any) -> None:
    assert column.tolist() == list(column) == np.asarray(column).tolist() == CELLS
    assert (len(column), column.size, column.shape) == (8, 8, (8,))
    assert [column[place] for place in range(8)] == CELLS
    for which in (slice(2, 5), [3, 0, 0], np.array([True] * 2 + [False] * 6)):
        assert column[which].tolist() == twin()[which].tolist()


def test_questions_have_the_answers_of_the_array(column: Any) -> None:
    np.testing.assert_array_equal(c.missing_cells(column), c.missing_cells(twin()))
    assert c.sorts_of(column) == c.sorts_of(twin()) == {"word"}
    for part in (slice(None), slice(2, 5), slice(1, 2), slice(5, None)):
        assert c.values_met(column[part]) == c.values_met(twin()[part])
        found = categories_in("who", "words", column[part])
        np.testing.assert_array_equal(found, categories_in("who", "words", twin()[part]))
    for values in (["c", "a"], ["c", "", "b", "a"], np.array(["a", "b"]), []):
        np.testing.assert_array_equal(c.codes(column, values), c.codes(twin(), values))
        assert c.codes(column, values).dtype == np.int32
    with pytest.raises(ValueError, match="holds the category 'b', which is none"):
        encode("who", "words", column, twin(["a", "c"]), "fit again")


def test_text_of_numbers_is_numbers_where_it_must_be() -> None:
    (column,) = c.columns_of(pa.table({"x": ["1.5", None, "2"]}))
    np.testing.assert_array_equal(c.numbers(column), [1.5, np.nan, 2.0])
    (words,) = c.columns_of(pa.table({"x": ["1.5", "two"]}))
    with pytest.raises(ValueError, match="holds 'two'; call it so"):
        c.finite_numbers("who", "x", words, c.DAY, "call it so")


def test_a_column_of_nulls_and_one_without_cells_are_arrays() -> None:
    assert words_of(pa.array([None, None], pa.string())) is None
    assert words_of(pa.chunked_array([], type=pa.string())) is None
    (column,) = c.columns_of(pa.table({"x": pa.array([None, None], pa.string())}))
    assert c.missing_cells(column).all()
    assert c.sorts_of(column) == set()


def test_no_cell_is_looked_at_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes over files work on words, of which there are few, not on cells."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a column was taken apart")

    rng = np.random.default_rng(0)
    table = pa.table({"x": pa.array(np.array(["a", "b", None])[rng.integers(3, size=300)])})
    monkeypatch.setattr(Words, "__array__", refuse)
    monkeypatch.setattr(c, "is_missing", refuse)
    found = CategoricalMixture(2, random_state=0).fit(ds.dataset(table))
    assert [own.tolist() for own in found.categories_] == [["a", "b"]]
