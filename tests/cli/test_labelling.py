"""Labels by a saved model of rows that come some at a time: those of all rows at once."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from coterie import KMeans
from coterie.cli._labelling import RowsRefusedError, labels_of
from coterie.table_model import TableModel
from streams import Stream


def test_labels_of_a_stream_are_those_of_an_array():
    rows = np.random.RandomState(0).normal(size=(300, 2)) + 5
    scaling = {"mean": rows.mean(axis=0), "scale": rows.std(axis=0)}
    model = KMeans(4, random_state=0).fit((rows - scaling["mean"]) / scaling["scale"])
    fitted = TableModel(model, ["a", "b"], scaling)
    parts = list(labels_of(fitted, Stream(rows)))
    assert len(parts) > 3
    assert parts[0].dtype == np.int64
    assert_array_equal(np.concatenate(parts), model.labels_)
    assert model.n_threads is None


def test_a_refusal_says_from_which_row_on_it_counts():
    rows = np.random.RandomState(0).normal(size=(300, 2))
    fitted = TableModel(KMeans(2, random_state=0).fit(rows))
    rows[7 + 64 + 1 + 7 + 3, 1] = np.nan
    with pytest.raises(RowsRefusedError, match=r"NaN .*row 3") as refused:
        list(labels_of(fitted, Stream(rows)))
    assert refused.value.start == 79
    again = pickle.loads(pickle.dumps(refused.value))
    assert (str(again), again.start) == (str(refused.value), 79)
