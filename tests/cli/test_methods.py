"""Every method of the command line, on the tables it is for."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coterie.cli import main

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"
MIXED = """mass,island,tagged,zip
3700,Dream,true,01
3650,Dream,false,01
NA,Dream,true,01
3710,?,true,01
5000,Biscoe,false,02
5100,Biscoe,true,02
4950,Torgersen,false,02
"5,050",Biscoe,false,02
"""


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mixed.csv").write_text(MIXED)
    rng = np.random.RandomState(0)
    counts = rng.poisson(np.repeat([[1, 9, 3], [8, 2, 3]], 40, axis=0))
    np.savetxt("counts.csv", counts, delimiter=",", fmt="%d", header="a,b,c", comments="")
    np.savetxt("bits.csv", counts > 4, delimiter=",", fmt="%d", header="a,b,c", comments="")


@pytest.mark.parametrize(
    "asked",
    [
        ["fit", str(FAITHFUL), "--method", "kmedoids", "-k", "3", "--metric", "manhattan"],
        ["fit", str(FAITHFUL), "--method", "dbscan", "--eps", "0.3", "--min-samples", "6"],
        ["fit", str(FAITHFUL), "--method", "dbscan", "--eps", "auto"],
        ["fit", str(FAITHFUL), "--method", "hdbscan", "--min-cluster-size", "20"],
        ["fit", str(FAITHFUL), "--method", "student-t", "-k", "2", "--covariance", "diag"],
        ["fit", str(FAITHFUL), "--method", "bayesian", "-k", "3", "--max-iter", "500"],
        ["fit", "counts.csv", "--method", "poisson", "-k", "2"],
        ["fit", "bits.csv", "--method", "bernoulli", "-k", "2"],
        ["fit", "mixed.csv", "--method", "mixed", "-k", "2", "--categorical", "zip"],
        ["fit", "mixed.csv", "--method", "categorical", "-k", "2", "--without", "mass"],
        ["fit", "mixed.csv", "--method", "gaussian", "-k", "2", "--columns", "mass,zip"],
    ],
    ids=lambda asked: " ".join(asked[2:5:2]),
)
def test_a_fit_labels_its_rows_and_predict_agrees(asked, capsys):
    assert main(asked) == 0, capsys.readouterr().err
    labels = np.loadtxt("coterie-out/labels.csv", dtype=int, skiprows=1)
    out = capsys.readouterr().out
    assert ("noise" in out) == bool((labels == -1).any())
    assert main(["predict", "coterie-out/model.coterie", asked[1], "-o", "again.csv"]) == 0
    again = np.loadtxt("again.csv", dtype=int, skiprows=1)
    assert np.mean(again == labels) > 0.97  # border rows of DBSCAN may go to another cluster


def test_words_and_gaps_are_told_apart_by_a_mixed_mixture(capsys):
    assert main(["fit", "mixed.csv", "--method", "mixed", "-k", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Dream (" in out
    labels = np.loadtxt("coterie-out/labels.csv", dtype=int, skiprows=1)
    assert len({*labels[:4]}) == len({*labels[4:]}) == 1
    assert labels[0] != labels[4]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--method", "dbscan", "-k", "2"], "dbscan finds the number of clusters by itself"),
        (["--method", "kmeans", "-k", "2", "--eps", "1"], "kmeans has no --eps"),
        (["--method", "dbscan", "--eps", "big"], "--eps 'big' was given; use a number, or auto"),
        (["--method", "hdbscan", "--min-cluster-size", "2.5"], "use a whole number, or auto"),
        (["--method", "poisson", "-k", "2", "--scale"], "poisson takes the values as they are"),
        (["-k", "2", "--decimal", "x"], "--decimal 'x' was given"),
        (["--method", "mixed"], "mixed needs the number of clusters"),
    ],
)
def test_an_option_of_another_method_is_refused(asked, said, capsys):
    assert main(["fit", str(FAITHFUL), *asked]) == 2
    assert said in capsys.readouterr().err


def test_a_dash_is_stdin_and_stdout():
    coterie = [sys.executable, "-m", "coterie.cli"]
    rows = FAITHFUL.read_bytes()
    fit = subprocess.run([*coterie, "fit", "-", "-k", "2"], input=rows, capture_output=True)
    assert (fit.returncode, fit.stderr) == (0, b"")
    asked = [*coterie, "predict", "coterie-out/model.coterie", "-", "-o", "-"]
    run = subprocess.run(asked, input=rows, capture_output=True)
    assert run.returncode == 0
    assert run.stdout == Path("coterie-out/labels.csv").read_bytes()
    assert not Path("-").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a,b\n1,2\n", "-k 2 was given, but the table has 1 row; lower -k"),
        (b"a,a\n1,2\n3,4\n", "several columns are named 'a'"),
        (b"caf\xe9,b\n1,2\n3,4\n", "not UTF-8"),
        (b"a,b\n1,2\n3,x\n5,6\n", "line 3, column 'b': 'x' is not a number"),
        (b"a,b\n1,2\n3,?\n5,6\n", "row 2 (line 3: '?')"),
    ],
)
def test_bad_tables_are_one_sentence(content, said, capsys):
    Path("t.csv").write_bytes(content)
    assert main(["fit", "t.csv", "-k", "2"]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1e30,2\n3,4\n5e30,6\n",
        b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4\r\n9,9\r\n",
        b'"a, b","c ""d"""\n"1",2\n3,"4"\n9,9\n',
        "😀,\u6f22 $x$ $\n1,2\n3,4\n9,9\n".encode(),
    ],
    ids=["huge", "BOM and CRLF", "quoted", "emoji"],
)
def test_odd_tables_are_fitted_without_a_word(content, capsys):
    Path("t.csv").write_bytes(content)
    assert main(["fit", "t.csv", "-k", "2"]) == 0
    assert capsys.readouterr().err == ""
