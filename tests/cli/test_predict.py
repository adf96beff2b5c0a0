"""`coterie predict`: a saved model labels new rows, scaled as it was fitted."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from coterie import KMeans
from coterie._files import load_bundle, save_model
from coterie.cli import main

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    output = tmp_path_factory.mktemp("fitted")
    assert main(["fit", str(FAITHFUL), "-k", "2", "-o", str(output)]) == 0
    return output


@pytest.fixture(autouse=True)
def model(tmp_path, monkeypatch, fitted):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(fitted, "fitted")
    return "fitted/model.coterie"


def rows():
    return np.loadtxt(FAITHFUL, delimiter=",", skiprows=1)


def refused(capsys, *arguments):
    before = sorted(Path().rglob("*"))
    assert main(["predict", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("coterie: ")
    assert err.count("\n") == 1
    assert sorted(Path().rglob("*")) == before
    return err


def test_the_rows_fitted_get_their_labels_back(model, capsys):
    Path("new").mkdir()
    assert main(["predict", model, str(FAITHFUL), "-o", "new/labels.csv"]) == 0
    assert Path("new/labels.csv").read_bytes() == Path("fitted/labels.csv").read_bytes()
    out, err = capsys.readouterr()
    assert err == ""
    assert "rows        272\n" in out
    assert "98 rows (36.0%)" in out
    assert "written     new/labels.csv\n" in out


def test_columns_are_found_by_name(model):
    lines = ["note,waiting,gap,eruptions", *(f"x,{w},,{e}" for e, w in rows())]
    Path("t.csv").write_text("\n".join(lines))
    assert main(["predict", model, "t.csv"]) == 0
    assert Path("labels.csv").read_bytes() == Path("fitted/labels.csv").read_bytes()


def test_without_names_columns_go_by_order(model):
    np.save("t.npy", rows())
    np.savetxt("t.csv", rows(), delimiter=",")
    for data in ("t.npy", "t.csv"):
        assert main(["predict", model, data, "-o", f"{data}.labels"]) == 0
        assert Path(f"{data}.labels").read_bytes() == Path("fitted/labels.csv").read_bytes()


def test_a_model_saved_from_python(tmp_path):
    model = KMeans(n_clusters=2, n_init=1, random_state=0).fit(rows())
    model.save("m")
    assert main(["predict", "m", str(FAITHFUL)]) == 0
    assert_array_equal(np.loadtxt("labels.csv", dtype=int, skiprows=1), model.labels_)


def test_bad_input_is_one_line_and_leaves_nothing(model, capsys):
    assert "nothing: there is no such file." in refused(capsys, "nothing", FAITHFUL)
    assert "nothing.csv: there is no such file." in refused(capsys, model, "nothing.csv")
    assert "not a coterie model" in refused(capsys, FAITHFUL, FAITHFUL)
    assert "Missing argument" in refused(capsys, model)
    Path("t.csv").write_text("eruptions,other\n1,2\n")
    assert "no column 'waiting'; it has eruptions, other" in refused(capsys, model, "t.csv")
    Path("t.csv").write_text("1,2,3\n4,5,6\n")
    assert "no column 'eruptions'; it has x0, x1, x2" in refused(capsys, model, "t.csv")
    Path("t.csv").write_text("eruptions,waiting\n1,\n2,3\n")
    assert "column 'waiting' has no value" in refused(capsys, model, "t.csv")
    assert "directory" in refused(capsys, model, FAITHFUL, "-o", "fitted")


def test_inputs_are_not_overwritten(model, capsys):
    Path("t.csv").write_bytes(FAITHFUL.read_bytes())
    assert "overwrite" in refused(capsys, model, "t.csv", "-o", "t.csv")
    assert "overwrite" in refused(capsys, model, "t.csv", "-o", model)


def test_wrong_number_of_columns_without_names(model, capsys):
    save_model("m", load_bundle(model).model)
    Path("t.csv").write_text("a,b,c\n1,2,3\n")
    assert "2" in refused(capsys, "m", "t.csv")


def test_a_truncated_model(model, capsys):
    Path("m").write_bytes(Path(model).read_bytes()[:-5])
    assert "Cannot load 'm'" in refused(capsys, "m", FAITHFUL)
    assert "labels.csv" not in os.listdir()
