"""A study from a raw table to its summary: what it finds, says, repeats and refuses.

Covers coterie.report.study, coterie.report._findings, coterie.report._model,
coterie.report._given.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import coterie
from coterie.data import ArraySource
from coterie.errors import DataError
from coterie.evaluate import adjusted_rand_score
from coterie.report import Study, StudyProgress
from coterie.report._given import read_places, take_in

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"


@pytest.fixture(scope="module", autouse=True)
def _enough_time() -> Iterator[None]:
    """A small budget for small stages, but a machine that is busy leaves nothing out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coterie.report._plan.Clock.has_run_out", False)
        yield


def groups(n_rows: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    """Three groups in a table of mixed columns, with a key, a date and missing cells."""
    rng = np.random.RandomState(0)
    truth = np.arange(n_rows) % 3
    table = pd.DataFrame({
        "customer_id": rng.permutation(10_000)[:n_rows],
        "length": rng.normal([0.0, 9.0, 18.0], 1.0, (n_rows, 3))[np.arange(n_rows), truth],
        "width": rng.normal([5.0, -5.0, 5.0], 1.0, (n_rows, 3))[np.arange(n_rows), truth],
        "colour": np.array(["red", "green", "blue"])[truth],
        "day": pd.date_range("2024-01-01", periods=n_rows),
    })  # fmt: skip
    table.loc[::17, "length"] = np.nan
    return table, truth


@pytest.fixture(scope="module")
def found() -> Study:
    return coterie.study(groups()[0], random_state=0, time=5, name="toys")


@pytest.fixture(scope="module")
def noise() -> Study:
    rows = np.random.RandomState(3).random_sample((120, 3))
    return coterie.study(rows, random_state=0, time=5)


def test_groups_are_found(found: Study) -> None:
    assert found.has_structure
    assert found.n_clusters == 3
    assert adjusted_rand_score(groups()[1], found.labels) > 0.95
    assert found.verdict.startswith("There are 3 clusters in the 150 rows of toys.")
    assert found.confidence.shape == found.distance.shape == found.ambiguous.shape == (150,)


def test_a_column_that_is_set_aside_only_compares() -> None:
    table, truth = groups()
    table["secret"] = np.array(["x", "y", "z"])[truth]
    found = coterie.study(table, time=5, without=["secret"])
    assert "secret" not in found.model.columns_
    told = next(one for one in found.summary["columns"] if one["name"] == "secret")
    assert (told["used"], told["reason"]) == (False, "was set aside")
    assert found.summary["settings"]["without"] == ["secret"]
    assert "without=['secret']" in found.summary["reproduce"]["python"]
    assert "With 'secret', which was set aside and has 3 values, the clusters agree by 1.00" in (
        found.verdict
    )
    assert (found.model.predict(table.drop(columns="secret")) == found.labels).all()


def test_only_columns_that_are_there_are_set_aside() -> None:
    with pytest.raises(DataError, match=r"no column 'kin'; .* did you mean 'kind'"):
        coterie.study(pd.DataFrame({"kind": [1.0, 2.0], "b": [1.0, 3.0]}), without=["kin"])
    with pytest.raises(TypeError, match="give a list of names"):
        coterie.study(pd.DataFrame({"kind": [1.0, 2.0]}), without="kind")


def test_what_was_given_says_how_to_do_it_again(found: Study) -> None:
    assert found.summary["reproduce"]["command"] is None
    assert found.summary["reproduce"]["python"] == (
        "coterie.study(data, name='toys', random_state=0, time=5)"
    )


def test_passwords_of_addresses_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.report._given.from_sql", lambda place, query: FRAME)
    given = read_places(["postgresql://me:secret@host/shop"], query="SELECT 1")
    assert given.command == "postgresql://me@host/shop --query 'SELECT 1'"
    assert "secret" not in repr(given.python)


def test_the_largest_cluster_comes_first(found: Study) -> None:
    sizes = np.bincount(found.labels)
    assert (np.diff(sizes) <= 0).all()
    assert [one["size"] for one in found.summary["clusters"]] == sizes.tolist()


def test_the_model_labels_the_raw_table_as_the_study_did(found: Study, tmp_path: Path) -> None:
    table = groups()[0]
    np.testing.assert_array_equal(found.model.predict(table), found.labels)
    found.model.save(tmp_path / "model.coterie")
    read = coterie.load(tmp_path / "model.coterie")
    np.testing.assert_array_equal(read.predict(pl.from_pandas(table)), found.labels)
    turned = table[table.columns[::-1]].assign(more=1)
    np.testing.assert_array_equal(read.predict(turned), found.labels)


def test_the_key_is_known(found: Study) -> None:
    assert found.key is not None
    name, cells = found.key
    assert name == "customer_id"
    np.testing.assert_array_equal(cells, groups()[0]["customer_id"])


def test_the_same_seed_gives_the_same_study_on_any_number_of_threads(found: Study) -> None:
    again = coterie.study(groups()[0], random_state=0, time=5, name="toys", n_threads=1)
    assert json.dumps(again.summary) == json.dumps(found.summary)
    np.testing.assert_array_equal(again.labels, found.labels)


def test_where_there_is_nothing_it_says_so(noise: Study) -> None:
    assert not noise.has_structure
    assert noise.n_clusters == 1
    assert not noise.labels.any()
    assert noise.verdict.startswith("No clusters were found in the 120 rows of data.")
    summary = noise.summary
    for part in ("clusters", "methods", "profiles", "sensitivity"):
        assert summary[part] == []
    for part in ("choice_of_k", "silhouette", "dendrogram", "bic", "memberships"):
        assert summary[part] is None
    assert set(summary["map"]["label"]) == {0}
    assert (noise.model.predict(np.zeros((4, 3))) == 0).all()


def test_one_tight_cluster_is_no_structure() -> None:
    rows = 5 + 1e-3 * np.random.RandomState(0).normal(size=(200, 2))
    assert not coterie.study(rows, time=5).has_structure


def test_columns_of_chance_truths_are_no_structure() -> None:
    rng = np.random.RandomState(1)
    table = pd.DataFrame(rng.randint(0, 2, (120, 6)).astype(bool), columns=list("abcdef"))
    study = coterie.study(table, time=5)
    assert not study.has_structure
    assert study.summary["null_replay"]["p_value"] > 0.05


def test_a_path_is_read_and_gives_the_title() -> None:
    study = coterie.study(str(FAITHFUL), time=5)
    assert study.summary["title"] == "faithful.csv"
    assert study.n_clusters == 2
    assert study.summary["source"]["n_rows"] == 272


ROWS = np.concatenate([np.random.RandomState(m).normal(m, 1.0, (40, 2)) for m in (0, 12)])
FRAME = pd.DataFrame(ROWS, columns=["x0", "x1"])


@pytest.mark.parametrize(
    "given",
    [FRAME, pl.from_pandas(FRAME), pl.from_pandas(FRAME).to_arrow(), ROWS, ArraySource(ROWS)],
    ids=lambda given: type(given).__module__,
)
def test_tables_of_any_library_are_taken(given: Any) -> None:
    taken = take_in(given, None)
    assert taken.table.columns == ["x0", "x1"]
    np.testing.assert_array_equal(np.column_stack(taken.table.cells), ROWS)


def test_stages_are_told_in_order() -> None:
    told: list[StudyProgress] = []
    coterie.study(np.random.RandomState(0).normal(size=(60, 2)), time=2, callback=told.append)
    assert [one.stage for one in told][:3] == ["reading", "columns", "tendency"]
    assert all(one.done < one.n_stages for one in told)


def test_more_rows_than_are_studied_are_sampled_and_all_labelled() -> None:
    rng = np.random.RandomState(0)
    truth = rng.randint(0, 2, 3000)
    rows = rng.normal(size=(3000, 2)) + 15 * truth[:, np.newaxis]
    study = coterie.study(rows, time=1)
    assert study.summary["source"]["sampled"]
    assert "1,000 rows drawn from 3,000" in study.summary["source"]["how"]
    assert study.labels.shape == (3000,)
    assert adjusted_rand_score(truth, study.labels) == 1.0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.zeros((0, 3)), "shape"),
        (pd.DataFrame({"a": [None, None, None]}), "no value in any row"),
        (np.ones((20, 2)), "wherever it is known"),
        (np.ones((1, 2)), "one row"),
        (np.zeros((2, 2, 2)), "shape"),
    ],
)
def test_what_cannot_be_studied_is_refused_in_a_sentence(data: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        coterie.study(data)


@pytest.mark.parametrize("bad", [{"time": 0}, {"random_state": -1}, {"n_threads": 0}])
def test_settings_are_checked(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        coterie.study(np.zeros((5, 2)), **bad)


def test_a_spent_budget_leaves_out_what_is_optional_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("coterie.report._plan.Clock.has_run_out", True)
    study = coterie.study(FRAME, time=1)
    assert study.n_clusters == 2
    assert any(note.startswith("The budget was spent: 2 of") for note in study.summary["notes"])
    assert len(study.summary["sensitivity"]) <= 1


def test_the_answer_of_a_query_is_studied(tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    table, truth = groups()
    with contextlib.closing(sqlite3.connect(tmp_path / "shop.db")) as base:
        table.drop(columns="day").to_sql("orders", base, index=False)
    address = f"sqlite:///{tmp_path / 'shop.db'}"
    found = coterie.study(coterie.data.from_sql(address, "SELECT * FROM orders"), time=5)
    assert adjusted_rand_score(truth, found.labels) == 1
    assert {column["name"] for column in found.summary["columns"] if not column["used"]} == {
        "customer_id"
    }


def test_durations_and_infinite_cells_are_studied_and_labelled_without_a_word() -> None:
    rng = np.random.RandomState(0)
    group = np.arange(200) % 2
    table = pd.DataFrame({"far": rng.normal(size=200) + 9 * group})
    table["took"] = pd.to_timedelta(rng.randint(1, 50, 200), unit="h")
    table["size"] = np.where(np.arange(200) == 7, np.inf, rng.normal(size=200))
    found = coterie.study(table, time=5)
    assert found.has_structure
    assert found.model.predict(table).tolist() == found.labels.tolist()
