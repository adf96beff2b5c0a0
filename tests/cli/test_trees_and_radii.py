"""`coterie dendrogram` and `coterie eps`: the tree, the curve, and what is read from them.

Covers coterie.cli.dendrogram and coterie.cli.eps.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import coterie
from coterie.cli import main
from coterie.hierarchy import newick
from coterie.select import suggest_eps
from full_disks import no_file_above

FAITHFUL = str(Path(__file__).parents[2] / "examples" / "data" / "faithful.csv")
ANIMALS = "animal,legs,mass\ncat,4,4\ndog,4,20\nhen,2,2\nemu,2,40\n"


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("animals.csv").write_text(ANIMALS)


def standardised() -> np.ndarray:
    rows = pd.read_csv(FAITHFUL).to_numpy()
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    out, err = capsys.readouterr()
    assert (err if code == 0 else out) == ""
    return out if code == 0 else err


def test_the_tree_is_written_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["tree.png", "tree.nwk", "merges.csv", "merges.npy", "merges.parquet"]
    outputs = [part for file in files for part in ("-o", file)]
    facts = json.loads(
        said(
            capsys, "dendrogram", FAITHFUL, "--linkage", "single", "-k", "3", "--labels",
            "l.csv", "--json", *outputs,
        )
    )  # fmt: skip
    Z = coterie.linkage(standardised(), "single")
    written = np.load("merges.npy")
    np.testing.assert_allclose(written[:, 2], Z[:, 2])  # rows that tie may be joined in any order
    np.testing.assert_allclose(pd.read_csv("merges.csv").to_numpy(), written)
    assert pq.read_table("merges.parquet").column_names == ["left", "right", "height", "rows"]
    assert Path("tree.nwk").read_text() == newick(written) + "\n"
    assert Path("tree.png").read_bytes().startswith(b"\x89PNG")
    labels = np.loadtxt("l.csv", dtype=int, skiprows=1)
    assert facts["sizes"] == np.bincount(labels).tolist()
    assert (facts["n_clusters"], facts["written"]) == (3, [*files, "l.csv"])
    np.testing.assert_allclose(facts["last_merges"], Z[:-11:-1, 2])


def test_leaves_have_names_and_stdout_is_newick(capfd: pytest.CaptureFixture[str]) -> None:
    asked = ["dendrogram", "animals.csv", "--names", "animal", "--no-scale", "--height", "10"]
    assert main([*asked, "--linkage", "single", "-o", "-", "-o", "tree.svg"]) == 0
    out, err = capfd.readouterr()
    assert out.endswith(";\n")
    assert all(name in out for name in ("cat:", "dog:", "hen:", "emu:"))
    assert "clusters    3, of 2, 1, 1 rows\n" in err
    assert "emu" in Path("tree.svg").read_text() or "<svg" in Path("tree.svg").read_text()


def test_gower_joins_rows_with_words(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "dendrogram", "animals.csv", "--metric", "gower", "--linkage", "complete")
    assert "columns     animal, legs, mass\n" in out
    assert "(raw units)" in out


def test_mistakes_about_trees(capsys: pytest.CaptureFixture[str]) -> None:
    Path("one.csv").write_text("a\n1\n")
    for arguments, words in {
        ("animals.csv", "-k", "9"): "-k 9 was given, but the table has 4 rows",
        ("animals.csv", "-k", "2", "--height", "1"): "one says where",
        ("animals.csv", "--labels", "l.csv"): "say where to cut, by -k or --height",
        ("animals.csv", "-o", "tree.jpg"): "use a name that ends in .png",
        ("animals.csv", "-o", "a.nwk", "-o", "a.nwk"): "named twice",
        ("animals.csv", "-o", "animals.csv"): "this would overwrite the input",
        ("animals.csv", "--names", "x"): "no column 'x'",
        ("one.csv",): "the table has 1 row",
        ("animals.csv", "--linkage", "best"): "best",
    }.items():
        err = said(capsys, "dendrogram", *arguments, code=2)
        assert [line for line in err.splitlines() if "warning" not in line][0:] == [
            line for line in err.splitlines() if words in line
        ], (arguments, err)
    assert sorted(path.name for path in Path().iterdir()) == ["animals.csv", "one.csv"]


def test_trees_are_all_written_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tree.nwk").write_text("old")
    with no_file_above(5000):
        err = said(capsys, "dendrogram", FAITHFUL, "-o", "tree.nwk", "-o", "tree.png", code=2)
    assert "File too large" in err
    assert Path("tree.nwk").read_text() == "old"
    assert sorted(path.name for path in Path().iterdir()) == ["animals.csv", "tree.nwk"]


def test_eps_is_what_the_function_suggests(capsys: pytest.CaptureFixture[str]) -> None:
    found = suggest_eps(standardised(), 7)
    facts = json.loads(
        said(capsys, "eps", FAITHFUL, "--min-samples", "7", "--json", "-o", "curve.png")
    )
    assert facts["eps"] == pytest.approx(found.eps)
    assert (facts["knee"], facts["min_samples"]) == (found.knee, 7)
    assert facts["curve"]["100%"] == pytest.approx(found.curve[-1])
    assert facts["curve"]["50%"] == pytest.approx(found.curve[135])
    assert Path("curve.png").read_bytes().startswith(b"\x89PNG")
    out = said(capsys, "eps", FAITHFUL, "--min-samples", "7")
    assert out.startswith(f"eps         {found.eps:.6g} (standardized units)\nmin_samples 7\n")
    # It is the radius that fit takes.
    fit = ["fit", FAITHFUL, "--method", "dbscan", "--min-samples", "7", "--json", "-o", "out"]
    assert json.loads(said(capsys, *fit))["eps"] == pytest.approx(found.eps)


def test_the_curve_is_written_as_numbers(capfd: pytest.CaptureFixture[str]) -> None:
    curve = suggest_eps(standardised()).curve
    for end in ("npy", "csv", "parquet"):
        assert main(["eps", FAITHFUL, "-o", f"curve.{end}", "--quiet"]) == 0
    np.testing.assert_allclose(np.load("curve.npy"), curve)
    np.testing.assert_allclose(pd.read_csv("curve.csv")["distance"], curve)
    np.testing.assert_allclose(pq.read_table("curve.parquet")["distance"].to_numpy(), curve)
    capfd.readouterr()
    assert main(["eps", FAITHFUL, "-o", "-"]) == 0
    out, err = capfd.readouterr()
    assert len(out.splitlines()) == 273
    assert err.startswith("eps  ")


def test_mistakes_about_radii(capsys: pytest.CaptureFixture[str]) -> None:
    Path("same.csv").write_text("a,b\n" + "1,2\n" * 12)
    Path("one.csv").write_text("a\n1\n")
    assert "or give rows that differ" in said(capsys, "eps", "same.csv", code=2)
    assert "the table has 1 row" in said(capsys, "eps", "one.csv", code=2)
    assert "use a name that ends in" in said(capsys, "eps", FAITHFUL, "-o", "c.txt", code=2)
    assert "does not exist" in said(capsys, "eps", FAITHFUL, "-o", "no/c.png", code=2)
    assert "'--min-samples'" in said(capsys, "eps", FAITHFUL, "--min-samples", "1", code=2)
