"""`coterie score`: what coterie.evaluate finds, for labels of files and of columns.

Covers coterie.cli._one_column.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from coterie import evaluate
from coterie.cli import main

FAITHFUL = str(Path(__file__).parents[2] / "examples" / "data" / "faithful.csv")


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.read_csv(FAITHFUL)
    frame["long"] = np.where(frame["eruptions"] > 3, "long", "short")
    frame["found"] = (frame["waiting"] > 67).astype(int)
    frame.to_csv("table.csv", index=False)
    frame[["found"]].to_csv("labels.csv", index=False)


def scored(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, dict[str, float]]:
    assert main(["score", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    facts: dict[str, dict[str, float]] = json.loads(out)
    return facts


def test_scores_are_those_of_the_functions(capsys: pytest.CaptureFixture[str]) -> None:
    facts = scored(capsys, "table.csv", "--labels", "found", "--truth", "long")
    frame = pd.read_csv("table.csv")
    rows = frame[["eruptions", "waiting"]].to_numpy()
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    inside, outside = facts["internal"], facts["external"]
    assert inside["units"] == "standardized units"
    assert inside["silhouette"] == pytest.approx(evaluate.silhouette_score(rows, frame["found"]))
    assert inside["davies_bouldin"] == pytest.approx(
        evaluate.davies_bouldin_score(rows, frame["found"])
    )
    assert inside["dbcv"] == pytest.approx(evaluate.dbcv_score(rows, frame["found"]))
    truth, found = frame["long"].to_numpy(), frame["found"].to_numpy()
    assert outside["adjusted_rand"] == pytest.approx(evaluate.adjusted_rand_score(truth, found))
    assert outside["homogeneity"] == pytest.approx(evaluate.homogeneity_score(truth, found))
    assert facts["clusters"] == {str(k): int((found == k).sum()) for k in (0, 1)}


def test_a_file_of_labels_is_taken_before_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    Path("renamed.csv").write_text(Path("labels.csv").read_text())
    by_file = scored(capsys, FAITHFUL, "--labels", "renamed.csv")
    by_column = scored(capsys, "table.csv", "--labels", "found", "--without", "long")
    assert scored(capsys, FAITHFUL)["internal"] == by_file["internal"]  # of labels.csv
    assert by_file["internal"] == by_column["internal"]
    assert by_file["external"] == {}


def test_labels_alone_can_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("other.npy", pd.read_csv("labels.csv")["found"].to_numpy())
    facts = scored(capsys, "--labels", "labels.csv", "--truth", "other.npy")
    assert facts["external"]["adjusted_rand"] == 1
    assert facts["internal"] == {}


def test_noise_and_one_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("a,l\n1,0\n2,0\n9,1\n10,1\n50,-1\n")
    dropped = scored(capsys, "t.csv", "--labels", "l", "--no-scale")["internal"]
    kept = scored(capsys, "t.csv", "--labels", "l", "--no-scale", "--noise", "cluster")["internal"]
    assert dropped["sum_of_squared_errors"] == 1
    assert dropped["silhouette"] == pytest.approx(
        evaluate.silhouette_score([[1.0], [2], [9], [10]], [0, 0, 1, 1])
    )
    assert kept["silhouette"] != dropped["silhouette"]
    Path("one.csv").write_text("a,l\n1,0\n2,0\n9,0\n")
    assert main(["score", "one.csv", "--labels", "l"]) == 0
    out = capsys.readouterr().out
    assert "  silhouette                not defined\n" in out
    assert "note        silhouette: " in out


def test_gower_scores_tables_with_words(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("a,w,l\n1,x,0\n,x,0\n9,y,1\n10,y,1\n")
    facts = scored(capsys, "t.csv", "--labels", "l", "--metric", "gower", "--no-scale")
    assert facts["internal"]["silhouette"] > 0.8
    assert set(facts["internal"]) == {"silhouette", "dunn", "dbcv", "units"}


def test_gower_of_many_rows_is_sampled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("coterie.cli.score._MOST_COMPARED", 100)
    asked = ("table.csv", "--labels", "found", "--metric", "gower")
    facts = scored(capsys, *asked)
    assert set(facts["internal"]) == {"silhouette", "units"}
    assert facts["internal"]["silhouette"] > 0.5


def test_very_many_labels_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    lines = "\n".join(map(str, range(300)))
    for name in ("a.csv", "b.csv"):
        Path(name).write_text(f"label\n{lines}\n")
    assert main(["score", "--labels", "a.csv", "--truth", "b.csv"]) == 0
    out = capsys.readouterr().out
    assert "300:" in out
    assert "more" in out
    assert out.count("\n") < 40


def test_rows_with_missing_cells_are_left_out_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("table.csv")
    frame.loc[[3, 40], "waiting"] = None
    frame.to_csv("holes.csv", index=False)
    asked = ("--labels", "found", "--truth", "long", "--no-scale")
    facts = scored(capsys, "holes.csv", *asked)
    frame.dropna().to_csv("whole.csv", index=False)
    assert facts["internal"] == scored(capsys, "whole.csv", *asked)["internal"]
    assert facts["external"] == scored(capsys, "table.csv", *asked)["external"]
    (note,) = facts["notes"]
    assert str(note).startswith("2 of 272 rows have missing cells and are left out")


def test_a_dash_is_stdin_for_labels_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    by_file = scored(capsys, FAITHFUL, "--labels", "labels.csv")
    stdin = io.TextIOWrapper(io.BytesIO(Path("labels.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert scored(capsys, FAITHFUL, "--labels", "-")["internal"] == by_file["internal"]
    assert main(["score", "-", "--labels", "-"]) == 2
    assert "given twice" in capsys.readouterr().err


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("short.csv").write_text("label\n0\n1\n")
    Path("holes.csv").write_text("x,label\n1,0\n2,\n3,0\n")
    Path("blank.csv").write_text("label\n0\n\n1\n")
    for arguments, words in {
        (): "there is nothing to score by",
        ("table.csv", "--labels", "fond"): "there is no such file, and in table.csv: no column "
        "'fond'; it has eruptions, waiting, long, found; did you mean 'found'?",
        ("--labels", "none.csv", "--truth", "labels.csv"): "there is no such file",
        (FAITHFUL, "--labels", "short.csv"): "272 rows, and there are 2 labels",
        ("--labels", "short.csv", "--truth", "labels.csv"): "--labels has 2 and --truth 272",
        ("--labels", "holes.csv", "--truth", "short.csv"): "has no value in row 2",
        ("--labels", "table.csv", "--truth", "short.csv"): "no column 'label'",
        ("table.csv", "--labels", "found", "--noise", "no"): "--noise 'no' was given",
        ("table.csv", "--labels", "found", "--metric", "foo"): "--metric 'foo' was given; use",
        (FAITHFUL, "--labels", "labels.csv", "--metric", "precomputed"): "the table has 272 rows",
        ("--labels", "blank.csv", "--truth", "short.csv"): "line 3 is blank; give every row",
    }.items():
        assert main(["score", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        assert words in err, (arguments, err)
