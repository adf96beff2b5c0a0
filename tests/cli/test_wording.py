"""What estimators complain of, said with the command line's columns, options and methods."""

import re
from pathlib import Path

import pytest

from coterie._files import save_model
from coterie.cli import main
from coterie.cli._methods import METHODS
from coterie.cli._wording import Wording, method_of
from coterie.mixture import BernoulliMixture, CategoricalMixture, MixedMixture, PoissonMixture

#: A parameter with its value, a fitted attribute, a class, the name of an argument.
PYTHON = re.compile(r"\w=|\b\w+_\b|\b[A-Z]\w+(Mixture|Means|SCAN|Clustering)\b|\bX\b|\bNaN\b")


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def said(capsys, *arguments):
    assert main([*map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert not PYTHON.search(err)
    return err


@pytest.mark.parametrize(
    ("method", "cells", "expected"),
    [
        ("bernoulli", "1,0 1,-1 0,0", "row 2, column 'beta' is -1; set --threshold to count"),
        ("bernoulli", "1,0 2,0 0,.5", "row 2, column 'alpha' is 2"),
        ("poisson", "1,2 3,-1 2,0", "row 2, column 'beta' is -1; count events in whole numbers"),
        ("poisson", "1,2 3,-1 2,0", "or use --method gaussian"),
        ("poisson", "1,2 3,1.5 2,0", "is 1.5; count events in whole numbers, set --fractions"),
        ("categorical", "1,2 3,1.5 2,0", "categorical: column 'beta' should hold categories"),
        ("mixed", "1,1e200 3,2e200 5,-1e200", "column 'beta' has values so large"),
        ("gaussian", "1,2 3,4", "gaussian: -k 3 was given, but the table has 2 rows; lower -k"),
        ("bayesian", "1,2", "bayesian: -k 3 was given, but the table has 1 row;"),
    ],
)
def test_bad_tables(capsys, method, cells, expected):
    Path("t.csv").write_text("\n".join(["alpha,beta", *cells.split(" ")]))
    k = 3 if "-k 3" in expected else 2
    assert expected in said(capsys, "fit", "t.csv", "--method", method, "-k", k)


@pytest.mark.parametrize(
    ("method", "options", "expected"),
    [
        ("kmeans", ["-k", 2, "--init", "best"], "--init best was given; use one of"),
        ("gaussian", ["-k", 1, "--covariance", "round"], "--covariance round was given"),
        ("hdbscan", ["--min-samples", 9], "--min-samples 9 must be at most the number of rows"),
        ("dbscan", ["--min-samples", 9], "8 neighbours and the table has 4 rows; lower --min-"),
        ("dbscan", ["--metric", "near"], "--metric near was given; use one of"),
        ("agglomerative", ["-k", 2, "--metric", "cosine"], "or another --linkage"),
        ("agglomerative", [], "such as -k 3, or --height, where to cut."),
        ("agglomerative", ["-k", 2, "--gini-threshold", 0.2], "the linkage is ward; leave it out"),
        ("kmeans", ["-k", 2, "--init", "best"], "'farthest-first', 'k-means||'.\n"),
        ("dbscan", ["--eps", -1], "use a number above 0 or 'auto'."),
        ("bayesian", ["-k", 2, "--concentration", 0], "use a number above 0."),
        ("kmeans", ["-k", 0], "'0' "),
        ("kmeans", ["-k", "two"], "'two' "),
    ],
)
def test_bad_options(capsys, method, options, expected):
    Path("t.csv").write_text("a,b\n1,2\n3,4\n5,5\n0,9\n")
    assert expected in said(capsys, "fit", "t.csv", "--method", method, *options)


def test_bad_rows_for_a_model(capsys):
    columns = ["alpha", "beta"]
    save_model("b", BernoulliMixture().fit([[0, 1], [1, 0]]), columns=columns)
    save_model("p", PoissonMixture().fit([[0, 1], [1, 0]]), columns=columns)
    save_model("c", CategoricalMixture().fit([["x", "u"], ["x", "v"]]), columns=columns)
    save_model("m", MixedMixture().fit([[0.5, 1.5], [1.5, 2.5]]), columns=columns)
    Path("t.csv").write_text("beta,alpha\n0,1\n-1,1\n")
    for model in "bp":
        assert "row 2, column 'beta' is -1" in said(capsys, "predict", model, "t.csv")
    Path("t.csv").write_text("alpha,beta\nx,u\nx,w\n")
    wrong = said(capsys, "predict", "c", "t.csv")
    assert "column 'beta' holds the category 'w'" in wrong
    assert "fit again with rows that have it, or mark such cells as missing (empty)" in wrong
    Path("t.csv").write_text("alpha,beta\n1,1e200\n")
    assert "row 1, column 'beta' is 1e+200" in said(capsys, "predict", "m", "t.csv")
    Path("t.csv").write_text("alpha,beta\n1,red\n2,blue\n")
    assert "column 'beta' holds 'red'" in said(capsys, "predict", "m", "t.csv")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("choose-k t.csv -k 9", "-k goes up to 9 and the table has 4 rows; lower -k or"),
        ("choose-k t.csv -k 2 --criterion bic", "--criterion bic with --method kmeans: it is for"),
        ("choose-k t.csv -k 2 --criterion odd", "choose-k: --criterion odd was asked for"),
        ("tendency one.csv", "the table has 1 row, and at least 2 are needed; give more rows."),
        (
            "eps t.csv --min-samples 9",
            "8 neighbours and the table has 4 rows; lower --min-",
        ),
        ("score one.csv --labels labels.csv", "the table has 1 row, and there are 4 labels"),
        ("index build t.csv --kind odd -o i", "'--kind': 'odd' is not one of 'flat', 'pq', 'ivf'"),
        (
            "index build t.csv --kind pq -o i",
            "--parts 8 but the table has 2 columns; lower --",
        ),
        ("index build holes.csv -o i", "column 'b' has no value in row 2 (line 3);"),
        ("index search i t.csv -o ids.npy", "but a model; 'coterie info' says what it is."),
        ("predict i other.csv", "the model was fitted on the columns a, b: give a table that has"),
    ],
)
def test_other_commands(capsys, arguments, expected):
    Path("t.csv").write_text("a,b\n1,2\n3,4\n5,5\n0,9\n")
    Path("one.csv").write_text("a,b\n1,2\n")
    Path("other.csv").write_text("u,v\n1,2\n")
    Path("words.csv").write_text("u,v\nred,2\nblue,1\n")
    Path("holes.csv").write_text("a,b\n1,2\n3,\n")
    Path("labels.csv").write_text("label\n0\n0\n1\n1\n")
    save_model("i", BernoulliMixture().fit([[0, 1], [1, 0]]), columns=["a", "b"])
    assert expected in said(capsys, *arguments.split())


def test_the_options_that_the_sentences_advise(capsys):
    Path("t.csv").write_text("a,b\n0.2,3\n0,4\n7,0.1\n9,0\n")
    for method, option in (("bernoulli", ["--threshold", "1"]), ("poisson", ["--fractions"])):
        assert main(["fit", "t.csv", "--method", method, "-k", "2", *option, "-o", "out"]) == 0
        labels = Path("out/labels.csv").read_text().split()[1:]
        assert labels[0] == labels[1] != labels[2] == labels[3]
        assert main(["predict", "out/model.coterie", "t.csv", "-o", "again.csv"]) == 0
        assert Path("again.csv").read_text().split()[1:] == labels
    capsys.readouterr()
    assert "kmeans has no --fractions, and --fractions was given; kmeans takes -k, --init" in said(
        capsys, "fit", "t.csv", "-k", 2, "--fractions"
    )


def test_what_is_turned_and_what_is_not():
    turned = Wording("kmeans", ["a", "X"])
    assert turned("KMeans: n_clusters=2, n_clusters = 3; lower n_clusters.") == (
        "kmeans: -k 2, -k 3; lower -k."
    )
    assert turned("max_iter=100.") == "--max-iter 100."
    assert turned("the method's 'n_clusters' and \"X\" stay") == (
        "the method's 'n_clusters' and \"X\" stay"
    )
    assert turned("row 0, column 1 (column 7)") == "row 1, column 'X' (column 7)"
    assert turned("use GaussianMixture") == "use --method gaussian"
    assert Wording(None, [])("n_clusters=2") == "n_clusters=2"
    assert Wording(None, [], {"n_lists": "--lists"})("lower n_lists") == "lower --lists"


def test_every_method_is_known_by_its_estimator():
    import coterie

    for name, way in METHODS.items():
        assert method_of(getattr(coterie, way.estimator)(**way.fixed)) == name
    assert method_of(coterie.VectorQuantizer()) is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # A model's columns cannot be chosen anew.
        ("predict i red.csv", "line 2; the model was fitted on numbers there: give a table that"),
        ("predict i red.csv red.csv", "; the model was fitted on numbers there: give a table"),
        # What a command offers for text: nothing that only fit has.
        ("eps red.csv --columns b", "; no other column is numeric either.\n"),
        ("eps words.csv", "the decimal mark, or use --metric gower.\n"),
        ("dendrogram words.csv words.csv", "choose other files, or use --metric gower.\n"),
        ("tendency words.csv", "check the separator and the decimal mark.\n"),
        ("choose-k words.csv", "check the separator and the decimal mark.\n"),
        ("fit words.csv -k 2", "or use a method that takes text (mixed, categorical).\n"),
        ("fit words.csv --method dbscan", "or use --metric gower, or a method that takes text"),
        # Nobody can give a function, or call a column numeric.
        ("eps t.csv --metric foo", "coterie: --metric foo was given; use one of euclidean,"),
        ("eps t.csv --metric foo", "nan_euclidean, gower.\n"),
        (
            "fit half.csv -k 2 --method categorical",
            "as categories, leave the column out (--without), or use --method mixed.\n",
        ),
        # One of a thing.
        ("fit one.csv --method dbscan", "the table has 1 row; lower --min-samples"),
        ("fit short.csv -k 2", "line 3 has 1 cell where the first line has 2;"),
        # A header without a line end is what it is with one.
        ("fit header.csv -k 2", "header.csv: there is a header but no rows; add rows of data.\n"),
        ("fit line.csv -k 2", "line.csv: there is a header but no rows; add rows of data.\n"),
        ("fit header.csv line.csv -k 2", "there is a header but no rows; add rows of data.\n"),
        ("fit t.csv none.csv -k 2", "coterie: none.csv: there is no such file.\n"),
        ("eps none.parquet", "coterie: none.parquet: there is no such file.\n"),
        ("info none", "coterie: none: there is no such file.\n"),
        ("convert none -o x.csv", "coterie: none: there is no such file.\n"),
        ("predict none t.csv", "coterie: none: there is no such file.\n"),
    ],
)
def test_advice_can_be_followed(capsys, arguments, expected):
    Path("t.csv").write_text("a,b\n1,2\n3,4\n5,5\n0,9\n")
    Path("red.csv").write_text("a,b\nred,blue\nblue,red\n")
    Path("words.csv").write_text("u\nred\nblue\n")
    Path("half.csv").write_text("a,b\n1.5,2\n2.5,3\n")
    Path("one.csv").write_text("a,b\n1,2\n")
    Path("short.csv").write_text("a,b\n1,2\n3\n")
    Path("header.csv").write_text("a,b\n")
    Path("line.csv").write_text("a,b")
    save_model("i", BernoulliMixture().fit([[0, 1], [1, 0]]), columns=["a", "b"])
    assert expected in said(capsys, *arguments.split())


def test_rows_that_are_equal(capsys):
    Path("same.csv").write_text("a,b\n" + "1,2\n" * 12)
    Path("apart.csv").write_text("a,b\n" + "1,2\n" * 6 + "5,5\n" * 6)
    for command in ("fit same.csv --method agglomerative", "dendrogram same.csv"):
        assert main([*command.split(), "-k", "2", "--quiet"]) == 0
        assert capsys.readouterr().err == (
            "coterie: warning: agglomerative: -k 2 parted rows that are equal: 1 of the clusters "
            "differ; lower -k.\n"
        )
        apart = command.replace("same", "apart").split()
        assert main([*apart, "-k", "2", "--quiet"]) == 0
        assert capsys.readouterr().err == ""
    assert main(["fit", "apart.csv", "-k", "3", "--method", "agglomerative", "--quiet"]) == 0
    assert "2 of the clusters differ" in capsys.readouterr().err
    assert "; drop the copies, or give rows that differ.\n" in said(capsys, "eps", "same.csv")


def test_a_lone_row_needs_no_line_end(capsys):
    Path("row.csv").write_text("1,2")
    assert main(["fit", "row.csv", "-k", "1"]) == 0
    assert capsys.readouterr().out.startswith("rows        1\ncolumns     x0, x1\n")
    assert main(["predict", "coterie-out/model.coterie", "row.csv"]) == 0
    assert "cluster 0   1 row (100.0%)\n" in capsys.readouterr().out
