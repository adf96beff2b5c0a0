"""Every method of the command line, on the tables it is for."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import coterie
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
        ["fit", str(FAITHFUL), "--method", "kcenter", "-k", "4"],
        ["fit", str(FAITHFUL), "--method", "kcenter", "-k", "3", "--metric", "gower"],
        ["fit", str(FAITHFUL), "--method", "leader", "--threshold", "0.8"],
        ["fit", str(FAITHFUL), "--method", "leader", "--metric", "seuclidean", "--no-scale"],
        ["fit", str(FAITHFUL), "--method", "dbscan", "--eps", "0.3", "--min-samples", "6"],
        ["fit", str(FAITHFUL), "--method", "dbscan", "--eps", "auto"],
        ["fit", str(FAITHFUL), "--method", "hdbscan", "--min-cluster-size", "20"],
        ["fit", str(FAITHFUL), "--method", "student-t", "-k", "2", "--covariance", "diag"],
        ["fit", str(FAITHFUL), "--method", "bayesian", "-k", "3", "--max-iter", "500"],
        ["fit", str(FAITHFUL), "--method", "gaussian", "-k", "2", "--noise"],
        ["fit", str(FAITHFUL), "--method", "student-t", "-k", "2", "--degrees-of-freedom", "3"],
        ["fit", str(FAITHFUL), "--method", "bayesian", "-k", "3", "--concentration", "0.01"],
        ["fit", str(FAITHFUL), "--method", "kmedoids", "-k", "3", "--search", "pam"],
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


def test_a_radius_comes_with_its_bound_where_the_metric_has_one(capsys):
    asked = ["fit", str(FAITHFUL), "--method", "kcenter", "-k", "3", "--no-scale"]
    assert main(asked) == 0
    model = coterie.load("coterie-out/model.coterie").model
    said = f"radius      {model.radius_:.10g}, that of the best 3 is at least"
    assert f"{said} {model.radius_ / 2:.10g} (raw units)\n" in capsys.readouterr().out
    assert main([*asked, "--metric", "braycurtis"]) == 0
    out = capsys.readouterr().out
    assert "radius" in out
    assert "at least" not in out
    assert main([*asked, "--seed", "1"]) == 0
    other = coterie.load("coterie-out/model.coterie").model
    assert other.center_indices_[0] != model.center_indices_[0]


def test_rows_far_from_all_leaders_are_noise_to_predict(capsys):
    Path("t.csv").write_text("a,b\n0,0\n0,1\n9,9\n")
    asked = ["fit", "t.csv", "--method", "leader", "--threshold", "1", "--no-scale"]
    assert main(asked) == 0
    out = capsys.readouterr().out
    assert "threshold   1 (raw units)\n" in out
    assert "noise" not in out
    assert Path("coterie-out/labels.csv").read_text() == "label\n0\n0\n1\n"
    Path("new.csv").write_text("b,a\n1.5,0\n8,9\n0,-1\n")
    assert main(["predict", "coterie-out/model.coterie", "new.csv"]) == 0
    assert Path("labels.csv").read_text() == "label\n-1\n1\n0\n"
    assert "noise       1 row " in capsys.readouterr().out


@pytest.mark.parametrize("method", ["kmedoids", "kcenter"])
def test_given_distances_show_how_far_a_centre_is_from_all(method, capsys):
    places = np.array([0.0, 1, 3, 20, 21, 25])
    lengths = np.abs(places[:, np.newaxis] - places)
    np.savetxt("d.csv", lengths, delimiter=",", header="a,b,c,d,e,f", comments="")
    asked = ["fit", "d.csv", "--method", method, "-k", "2", "--metric", "precomputed"]
    assert main([*asked, "--no-scale"]) == 0, capsys.readouterr().err
    labels = np.loadtxt("coterie-out/labels.csv", dtype=int, skiprows=1)
    assert len({*labels[:3]}) == len({*labels[3:]}) == 1
    model = coterie.load("coterie-out/model.coterie").model
    out = capsys.readouterr().out
    for center in getattr(model, "medoid_indices_", getattr(model, "center_indices_", None)):
        shown = r"\s+".join(f"{length:g}" for length in lengths[center])
        assert re.search(shown, out)
    assert main(["predict", "coterie-out/model.coterie", "d.csv", "-o", "again.csv"]) == 0
    assert Path("again.csv").read_bytes() == Path("coterie-out/labels.csv").read_bytes()
    np.save("d.npy", lengths)
    asked[1] = "d.npy"
    assert main([*asked, "--no-scale", "--max-memory", "1KB"]) == 0  # larger than is held
    assert Path("again.csv").read_bytes() == Path("coterie-out/labels.csv").read_bytes()
    capsys.readouterr()
    assert main([*asked]) == 2
    assert capsys.readouterr().err.count("\n") == 1  # standardised, so no distances


def test_centres_that_are_rows_take_numbers_alone(capsys):
    for asked in (["--method", "kcenter", "-k", "2"], ["--method", "leader"]):
        assert main(["fit", "mixed.csv", *asked, "--without", "mass"]) == 0
        assert "column 'island' holds text" in capsys.readouterr().err
        assert main(["fit", "mixed.csv", *asked]) == 2
        *_, said = capsys.readouterr().err.splitlines()
        assert "'mass'" in said
        assert "row 3" in said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--method", "leader", "-k", "2"], "leader finds the number of clusters by itself"),
        (["--method", "leader", "--threshold", "-1"], "use a number of at least 0"),
        (["--method", "leader", "--metric", "gower"], "leader: --metric gower was given; use one"),
        (["--method", "kcenter"], "kcenter needs the number of clusters"),
        (["--method", "kcenter", "-k", "2", "--init", "box"], "kcenter has no --init"),
        (
            ["--method", "kcenter", "-k", "2", "--threshold", "1"],
            "--threshold is of leader, bernoulli",
        ),
        (["--method", "kcenter", "-k", "2", "--metric", "precomputed"], "should be square"),
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


def test_what_a_method_is_told_reaches_its_estimator():
    told = {
        "gaussian": (["--noise"], {"noise": True}),
        "student-t": (["--degrees-of-freedom", "3", "--noise"], {"degrees_of_freedom": 3.0}),
        "bayesian": (["--concentration", "0.01"], {"weight_concentration_prior": 0.01}),
        "kmedoids": (["--search", "pam"], {"method": "pam"}),
        "agglomerative": (["--compress", "40"], {"compress": 40}),
    }
    for method, (asked, found) in told.items():
        assert main(["fit", str(FAITHFUL), "--method", method, "-k", "2", "--quiet", *asked]) == 0
        params = coterie.load("coterie-out/model.coterie").model.get_params()
        assert {name: params[name] for name in found} == found


@pytest.mark.parametrize(
    ("asked", "helps"),
    [
        (["fit", "-k", "2"], "use a method that takes missing cells (gaussian, mixed, hdbscan)."),
        (["fit", "-k", "2", "--method", "kmedoids"], "use --metric gower, or a method that takes"),
        (["eps"], "leave the column out, or use --metric gower."),
        (["dendrogram"], "leave the column out, or use --metric gower."),
        (["choose-k"], "leave the column out, or use --method gaussian."),
        (["tendency"], "fill or remove these rows, or leave the column out."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_missing_cell_comes_with_what_helps_this_command(asked, helps, capsys):
    Path("t.csv").write_text("a,b\n1,2\n3,\n5,6\n")
    assert main([asked[0], "t.csv", *asked[1:]]) == 2
    assert helps in capsys.readouterr().err


def test_a_model_comes_through_stdin_too():
    coterie = [sys.executable, "-m", "coterie.cli"]
    assert main(["fit", str(FAITHFUL), "-k", "2", "--quiet"]) == 0
    model = Path("coterie-out/model.coterie").read_bytes()
    asked = [*coterie, "predict", "-", str(FAITHFUL), "-o", "-", "--quiet"]
    run = subprocess.run(asked, input=model, capture_output=True)
    assert run.stdout == Path("coterie-out/labels.csv").read_bytes()


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
