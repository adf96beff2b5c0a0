"""`coterie study`: a folder of results whole or absent, or one line that says why not.

Covers coterie.cli.study, coterie.cli._study_files.
"""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.cli import main
from coterie.report.study import STAGES


@pytest.fixture(scope="module", autouse=True)
def _enough_time() -> Iterator[None]:
    """A small budget for small stages, but a machine that is busy leaves nothing out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coterie.report._plan.Clock.has_run_out", False)
        yield


@pytest.fixture(autouse=True)
def _tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.RandomState(0)
    truth = np.arange(80) % 2
    pd.DataFrame({
        "order_id": rng.permutation(9999)[:80],
        "länge": (rng.normal(size=80) + 12 * truth).round(3),
        "weight": (rng.normal(size=80) - 9 * truth).round(3),
    }).to_csv("two.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig")  # fmt: skip
    pd.DataFrame(rng.random_sample((80, 2)), columns=["a", "b"]).to_csv("noise.csv", index=False)


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["study", *arguments, "--time", "2"]) == code
    return capsys.readouterr().out


def test_columns_are_chosen_and_set_aside(capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(told(capsys, "two.csv", "--json", "--without", "weight"))
    assert [one["name"] for one in facts["columns"] if one["used"]] == ["länge"]
    assert facts["reproduce"]["command"].endswith("--time 2 --without weight")
    facts = json.loads(told(capsys, "two.csv", "--json", "--columns", "weight", "-o", "other"))
    assert facts["settings"]["without"] == ["order_id", "länge"]
    line = refused(capsys, "two.csv", "--without", "weigth")
    assert "did you mean 'weight'" in line


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["study", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("coterie: ")
    return line


def test_a_folder_has_labels_model_and_facts(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, "two.csv")
    assert "2 clusters" in out
    folder = Path("two-study")
    labels = pd.read_csv(folder / "labels.csv")
    assert list(labels) == ["order_id", "label", "confidence", "distance", "ambiguous"]
    assert labels["label"].value_counts().tolist() == [40, 40]
    facts = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    assert facts["title"] == "two.csv"
    assert "Commas are decimal marks." in facts["source"]["how"]
    table = pd.read_csv("two.csv", sep=";", decimal=",")
    assert list(table["order_id"]) == list(labels["order_id"])
    model = coterie.load(folder / "model.coterie")
    np.testing.assert_array_equal(model.predict(table), labels["label"])


def test_predict_labels_new_raw_files(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "two.csv", "--quiet")
    assert main(["predict", "two-study/model.coterie", "two.csv", "-o", "new.csv"]) == 0
    assert "columns     länge, weight" in capsys.readouterr().out
    wanted = pd.read_csv("two-study/labels.csv")["label"]
    np.testing.assert_array_equal(pd.read_csv("new.csv")["label"], wanted)
    assert main(["predict", "two-study/model.coterie", "noise.csv"]) == 2
    assert "no column 'länge'" in capsys.readouterr().err


def test_labels_may_be_parquet_and_the_folder_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "two.csv", "-o", "out", "--labels", "labels.parquet", "--quiet")
    labels = pd.read_parquet("out/labels.parquet")
    assert labels["ambiguous"].dtype == bool
    assert len(labels) == 80


def test_the_answer_of_a_query_is_studied(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    table = pd.read_csv("two.csv", sep=";", decimal=",")
    with contextlib.closing(sqlite3.connect("shop.db")) as base:
        table.to_sql("orders", base, index=False)
    query = "SELECT länge, weight FROM orders ORDER BY order_id"
    facts = json.loads(told(capsys, "shop.db", "--query", query, "--json"))
    assert facts["verdict"]["n_clusters"] == 2
    assert facts["reproduce"]["command"] == (
        f"coterie study shop.db --query '{query}' --seed 0 --time 2"
    )
    assert f"from_sql('shop.db', '{query}')" in facts["reproduce"]["python"]
    assert "the query failed" in refused(capsys, "shop.db", "--query", "SELECT")
    assert "one database" in refused(capsys, "shop.db", "two.csv", "--query", query)


def test_the_command_that_is_told_has_what_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("my data").mkdir()
    Path("my data/two.csv").write_bytes(Path("two.csv").read_bytes())
    facts = json.loads(told(capsys, "my data/two.csv", "--decimal", ",", "--json"))
    assert facts["reproduce"]["command"] == (
        "coterie study 'my data/two.csv' --decimal , --seed 0 --time 2"
    )
    assert facts["reproduce"]["python"] is None


class Terminal(io.StringIO):
    """What a stream shows where somebody is looking."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_the_stages_on_stderr(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for options, seen in ([], True), (["--json"], False), (["--quiet"], False):
        monkeypatch.setattr(sys, "stderr", Terminal())
        out = told(capsys, "two.csv", "-o", "".join(["out", *options]), *options)
        shown = sys.stderr.getvalue()
        assert "\x1b" not in out
        assert all(stage in shown for stage in STAGES) if seen else not shown


def test_json_is_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(told(capsys, "two.csv", "--json", "--seed", "3"))
    assert facts["verdict"]["n_clusters"] == 2
    assert facts["settings"] == {"random_state": 3, "time": 2.0, "without": []}


def test_no_structure_is_an_answer_and_a_code_where_that_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "No clusters were found" in told(capsys, "noise.csv")
    told(capsys, "noise.csv", "--strict", code=1)
    assert set(pd.read_csv("noise-study/labels.csv")["label"]) == {0}


def test_one_and_two_threads_write_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    for threads in ("1", "2"):
        told(capsys, "two.csv", "--threads", threads, "-o", threads)
    for name in ("labels.csv", "model.coterie", "study.json"):
        assert Path("1", name).read_bytes() == Path("2", name).read_bytes()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"\0\1\2" * 99, "not a text file"),
        (b"a,b\n,\n,\n", "bad.csv: no column can be used: 'a' has no value in any row"),
        (b"a,b\n1,2\n", "one row"),
    ],
)
def test_a_bad_file_is_one_line_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    Path("bad.csv").write_bytes(content)
    assert words in refused(capsys, "bad.csv")
    assert not Path("bad-study").exists()


def test_a_directory_and_a_missing_file_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder").mkdir()
    assert "folder" in refused(capsys, "folder")
    assert "nowhere.csv" in refused(capsys, "nowhere.csv")
    assert "--labels" in refused(capsys, "two.csv", "--labels", "labels.txt")


def test_the_data_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    Path("here").mkdir()
    Path("here/labels.csv").write_bytes(Path("two.csv").read_bytes())
    assert "overwrite" in refused(capsys, "here/labels.csv", "-o", "here")
