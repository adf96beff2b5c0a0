"""`coterie tendency` and `coterie choose-k`: answers, or one line that says why not.

Covers coterie.cli.tendency, coterie.cli.choose_k, coterie.cli._asked_rows.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from coterie.cli import main
from coterie.cli.choose_k import numbers_asked
from coterie.select import choose_k, tendency

FAITHFUL = str(Path(__file__).parents[2] / "examples" / "data" / "faithful.csv")


@pytest.fixture(autouse=True)
def _tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = np.random.RandomState(1).normal(size=(150, 2))
    pd.DataFrame(rows, columns=["a", "b"]).to_csv("heap.csv", index=False)
    pd.DataFrame({"a": [1.0, None, 2.0] * 5, "t": ["x"] * 15}).to_csv("holes.csv", index=False)


def standardised() -> np.ndarray:
    rows = pd.read_csv(FAITHFUL).to_numpy()
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def asked(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("coterie: ")
    return err


def test_tendency_says_what_the_function_finds(capsys: pytest.CaptureFixture[str]) -> None:
    found = tendency(standardised(), random_state=3)
    out = asked(capsys, "tendency", FAITHFUL, "--seed", "3")
    assert out.startswith(found.verdict + "\n\n")
    assert "columns     eruptions, waiting\n" in out
    facts = json.loads(asked(capsys, "tendency", FAITHFUL, "--seed", "3", "--json"))
    assert facts["has_structure"] is True
    assert facts["p_value"] == pytest.approx(found.p_value)
    assert facts["verdict"] == found.verdict


def test_no_structure_is_an_exit_code_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert asked(capsys, "tendency", "heap.csv").startswith("No structure was found")
    assert asked(capsys, "tendency", "heap.csv", "--strict", "--quiet", code=1) == ""
    assert asked(capsys, "tendency", FAITHFUL, "--strict", "--quiet") == ""


def test_columns_and_scale_are_those_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    raw = pd.read_csv(FAITHFUL)
    out = asked(capsys, "tendency", FAITHFUL, "--no-scale", "--without", "waiting", "--json")
    found = tendency(raw[["eruptions"]].to_numpy(), random_state=0)
    assert json.loads(out)["columns"] == ["eruptions"]
    assert json.loads(out)["p_value"] == pytest.approx(found.p_value)


def test_choose_k_says_what_the_function_chooses(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["silhouette", "calinski_harabasz", "elbow"]
    given = ["choose-k", FAITHFUL, "-k", "2-5", "--criterion", ",".join(names)]
    found = choose_k(standardised(), k=[2, 3, 4, 5], criterion=names, random_state=0)
    out = asked(capsys, *given)
    assert out.startswith(found.summary + "\n\n")
    assert f"silhouette         {found.picks['silhouette']:>4}\n" in out
    assert out.splitlines()[-1].endswith("(weak)")
    facts = json.loads(asked(capsys, *given, "--json"))
    assert (facts["k"], facts["picks"]) == (found.k, found.picks)
    assert [row["k"] for row in facts["table"]] == [2, 3, 4, 5]


@pytest.mark.parametrize("method", ["gaussian", "agglomerative", "kmedoids"])
def test_every_method_can_be_asked(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    criterion = "bic" if method == "gaussian" else "silhouette"
    out = asked(
        capsys, "choose-k", FAITHFUL, "--method", method, "-k", "3", "--criterion", criterion,
        "--json",
    )  # fmt: skip
    facts = json.loads(out)  # NaN, which the silhouette of one cluster is, would be no JSON
    assert facts["k"] == 2


@pytest.mark.parametrize(
    ("text", "numbers"), [("4", [1, 2, 3, 4]), ("2-4", [2, 3, 4]), ("2,5", [2, 5])]
)
def test_numbers_of_clusters(text: str, numbers: list[int]) -> None:
    assert numbers_asked(text) == numbers


@pytest.mark.parametrize("text", ["", "x", "0", "5-2", "-3", "2,x", "0-4", "1.5"])
def test_what_is_no_number_of_clusters(text: str) -> None:
    with pytest.raises(ValueError, match="use numbers such as 10, 2-8 or 2,3,5"):
        numbers_asked(text)


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert "none.csv: there is no such file." in refused(capsys, "tendency", "none.csv")
    assert "'a' has no value in 5 rows" in refused(capsys, "tendency", "holes.csv")
    assert "use one of kmeans" in refused(capsys, "choose-k", "heap.csv", "--method", "dbscan")
    assert "k goes up to 400" in refused(capsys, "choose-k", "heap.csv", "-k", "400")
    assert "--criterion bic" in refused(capsys, "choose-k", "heap.csv", "--criterion", "bic")
    assert "--decimal 'x'" in refused(capsys, "tendency", "heap.csv", "--decimal", "x")
    assert "no column 'z'" in refused(capsys, "tendency", "heap.csv", "--columns", "z")


def test_a_short_table_is_compared_as_far_as_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    pd.DataFrame({"a": [0.0, 0.1, 9.0, 9.1], "b": [0.0, 1.0, 0.0, 1.0]}).to_csv(
        "short.csv", index=False
    )
    out = asked(capsys, "choose-k", "short.csv", "--criterion", "silhouette", "--json")
    assert [row["k"] for row in json.loads(out)["table"]] == [1, 2, 3, 4]
