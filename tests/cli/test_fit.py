"""`coterie fit`: the whole job, and every way to ask for it wrongly.

Covers coterie.cli._app, coterie.cli._fit_files, coterie.cli._options and coterie.cli._scaling.
"""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from coterie import KMeans
from coterie._files import load_bundle
from coterie.cli import main

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"
OUTPUTS = ["clusters.png", "labels.csv", "model.coterie"]


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read_labels(path):
    return np.loadtxt(path, dtype=int, skiprows=1)


def refused(capsys, *arguments):
    """Run a command that must fail; its one line of complaint."""
    before = sorted(Path().rglob("*"))
    assert main([str(argument) for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("coterie: ")
    assert err.count("\n") == 1
    assert sorted(Path().rglob("*")) == before
    return err


def test_faithful_standardized(capsys):
    assert main(["fit", str(FAITHFUL), "-k", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "rows        272\n" in out
    assert "columns     eruptions, waiting\n" in out
    assert "skipped" not in out
    assert "79.57595949 (standardized units)" in out
    assert sorted(os.listdir("coterie-out")) == OUTPUTS
    assert os.listdir() == ["coterie-out"]
    for file in OUTPUTS:
        assert f"coterie-out/{file}" in out

    labels = read_labels("coterie-out/labels.csv")
    assert sorted(np.bincount(labels)) == [98, 174]
    bundle = load_bundle("coterie-out/model.coterie")
    assert bundle.columns == ["eruptions", "waiting"]
    assert_array_equal(bundle.model.labels_, labels)
    assert bundle.model.inertia_ == pytest.approx(79.57595949)
    centers = bundle.model.cluster_centers_
    assert_allclose(
        centers[np.argsort(centers[:, 0])],
        [[-1.26008539, -1.20156744], [0.70970327, 0.67674488]],
        atol=1e-7,
    )
    rows = np.loadtxt(FAITHFUL, delimiter=",", skiprows=1)
    assert_allclose(bundle.scaling["mean"], rows.mean(axis=0))
    assert_allclose(bundle.scaling["scale"], rows.std(axis=0))
    # the printed centres are in minutes
    for cluster in range(2):
        for value in rows[labels == cluster].mean(axis=0):
            assert f"{value:.6g}" in out


def test_faithful_raw(capsys):
    assert main(["fit", str(FAITHFUL), "-k", "2", "--no-scale", "-o", "deep"]) == 0
    out = capsys.readouterr().out
    assert "8901.768721 (raw units)" in out
    assert sorted(os.listdir("deep")) == OUTPUTS
    bundle = load_bundle("deep/model.coterie")
    assert bundle.scaling is None
    assert sorted(np.bincount(bundle.model.labels_)) == [100, 172]
    centers = bundle.model.cluster_centers_
    assert_allclose(
        centers[np.argsort(centers[:, 0])], [[2.09433, 54.75], [4.29793023, 80.28488372]]
    )


def test_the_picture_is_a_png_of_900_by_600():
    main(["fit", str(FAITHFUL), "-k", "3"])
    data = Path("coterie-out/clusters.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(data[16:20]), int.from_bytes(data[20:24])] == [900, 600]


def test_the_same_seed_gives_the_same_files():
    for output in ("a", "b"):
        main(["fit", str(FAITHFUL), "-k", "5", "--seed", "3", "-o", output])
    assert Path("a/labels.csv").read_bytes() == Path("b/labels.csv").read_bytes()


def test_options_reach_the_estimator():
    options = ["--seed", "7", "--init", "random", "--n-init", "3", "--threads", "1"]
    assert main(["fit", str(FAITHFUL), "-k", "4", "--columns", "waiting", *options]) == 0
    bundle = load_bundle("coterie-out/model.coterie")
    params = bundle.model.get_params()
    assert bundle.columns == ["waiting"]
    assert params["n_clusters"] == 4
    assert params["random_state"] == 7
    assert params["init"] == "random"
    assert params["n_init"] == 3
    assert params["n_threads"] == 1
    assert params["callback"] is None


def test_skipped_columns_are_named_and_many_columns_drawn(capsys):
    rng = np.random.RandomState(0)
    lines = ["who,a,b,c,constant"]
    lines += [",".join(["x", *(f"{v:.4f}" for v in rng.normal(size=3)), "5"]) for _ in range(30)]
    Path("t.csv").write_text("\n".join(lines))
    assert main(["fit", "t.csv", "-k", "3"]) == 0
    out, err = capsys.readouterr()
    assert "left out    who" in out
    assert err == (
        "coterie: warning: column 'who' holds text, such as 'x' in line 2; it is left out\n"
    )
    assert "columns     a, b, c, constant\n" in out
    assert load_bundle("coterie-out/model.coterie").scaling["scale"][3] == 1


def test_other_files_of_the_output_directory_stay():
    Path("out").mkdir()
    Path("out/notes.txt").write_text("mine")
    Path("out/labels.csv").write_text("old")
    assert main(["fit", str(FAITHFUL), "-k", "2", "-o", "out"]) == 0
    assert sorted(os.listdir("out")) == sorted([*OUTPUTS, "notes.txt"])
    assert Path("out/labels.csv").read_text().startswith("label\n")


def test_a_memory_map_reaches_the_estimator_as_it_is(monkeypatch):
    np.save("t.npy", np.random.RandomState(0).normal(size=(50, 3)).astype(np.float32))
    seen = []
    fit = KMeans.fit

    def watch(self, X, *args, **kwargs):
        seen.append(X)
        return fit(self, X, *args, **kwargs)

    monkeypatch.setattr(KMeans, "fit", watch)
    assert main(["fit", "t.npy", "-k", "2", "--no-scale"]) == 0
    assert isinstance(seen[0], np.memmap)
    assert main(["fit", "t.npy", "-k", "2"]) == 0
    assert seen[1].dtype == np.float32
    assert_allclose(seen[1].std(axis=0), 1, rtol=1e-5)


# ---- bad input


def test_usage_errors_are_one_line(capsys):
    assert "Missing argument" in refused(capsys, "fit")
    assert "needs the number of clusters" in refused(capsys, "fit", FAITHFUL)
    assert "-k" in refused(capsys, "fit", FAITHFUL, "-k", "many")
    assert "-k" in refused(capsys, "fit", FAITHFUL, "-k", "0")
    assert "--bogus" in refused(capsys, "fit", FAITHFUL, "--bogus")
    assert "no method 'magic'" in refused(capsys, "fit", FAITHFUL, "-k", 2, "--method", "magic")
    assert "init" in refused(capsys, "fit", FAITHFUL, "-k", 2, "--init", "magic")
    assert "no-such" in refused(capsys, "no-such-command")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("a,b\n", "no rows"),
        ("a,b\nx,y\n", "no column is numeric"),
        ("a,b\n1,2\n3,\n", "column 'b' has no value in row 2"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cell where"),
        ("a\n1\n2\n", "-k 3 was given, but the table has 2 rows; lower -k"),
    ],
)
def test_bad_tables_leave_no_output(capsys, content, said):
    Path("t.csv").write_text(content)
    assert said in refused(capsys, "fit", "t.csv", "-k", 3, "-o", "out")


def test_values_too_large_to_standardise(capsys):
    Path("t.csv").write_text("a\n1e300\n-1e300\n0\n")
    assert "--no-scale" in refused(capsys, "fit", "t.csv", "-k", 2)


def test_bad_paths_leave_no_output(capsys):
    assert "nothing.csv: there is no such file" in refused(capsys, "fit", "nothing.csv", "-k", 2)
    assert "directory" in refused(capsys, "fit", ".", "-k", 2)
    Path("file").write_text("a\n1\n2\n")
    assert "this is a file" in refused(capsys, "fit", FAITHFUL, "-k", 2, "-o", "file")
    assert "does not exist" in refused(capsys, "fit", FAITHFUL, "-k", 2, "-o", "no/way")
    assert "/proc/out: cannot write" in refused(capsys, "fit", FAITHFUL, "-k", 2, "-o", "/proc/out")
    assert "no column 'z'" in refused(capsys, "fit", FAITHFUL, "-k", 2, "--columns", "z")


def test_the_input_is_not_overwritten(capsys):
    Path("out").mkdir()
    Path("out/labels.csv").write_text("label\n1\n2\n")
    assert "overwrite" in refused(capsys, "fit", "out/labels.csv", "-k", 2, "-o", "out")


def test_a_failure_while_drawing_leaves_the_old_results(capsys, monkeypatch):
    assert main(["fit", str(FAITHFUL), "-k", "2", "-o", "out"]) == 0
    capsys.readouterr()
    before = {file: Path("out", file).read_bytes() for file in OUTPUTS}

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device", "clusters.png")

    monkeypatch.setattr("coterie.plots.save_scatter", fail)
    assert "No space left" in refused(capsys, "fit", FAITHFUL, "-k", 3, "-o", "out")
    assert {file: Path("out", file).read_bytes() for file in OUTPUTS} == before


def test_memory_running_out_is_one_line(capsys, monkeypatch):
    def fail(self, X):
        raise MemoryError

    monkeypatch.setattr(KMeans, "fit", fail)
    assert "not enough memory" in refused(capsys, "fit", FAITHFUL, "-k", 2)


def test_a_defect_is_a_line_and_a_traceback_where_that_is_asked_for(monkeypatch, capsys):
    def fail(self, X):
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(KMeans, "fit", fail)
    assert main(["fit", str(FAITHFUL), "-k", "2"]) == 70
    assert capsys.readouterr().err == (
        "coterie: this is a defect of coterie (ZeroDivisionError: by nought); report it, please, "
        "with what COTERIE_TRACEBACK=1 shows.\n"
    )
    monkeypatch.setenv("COTERIE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["fit", str(FAITHFUL), "-k", "2"])
    assert os.listdir() == []


def test_a_warning_is_one_line(capsys):
    Path("t.csv").write_text("a\n1\n1\n2\n2\n")
    assert main(["fit", "t.csv", "-k", "3"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("coterie: warning: ")
    assert err.count("\n") == 1


# ---- as a process

COTERIE = [sys.executable, "-m", "coterie.cli"]

# Slows every iteration down so that a signal finds the fit under way.
SLOW = """
import sys, time, numpy as np
from coterie import KMeans
from coterie.cli import main
fit = KMeans.fit
def slow(self, X):
    print("fitting", flush=True)
    for _ in range(1000):
        time.sleep(0.05)
KMeans.fit = slow
sys.exit(main(sys.argv[1:]))
"""


def test_version_and_help(capfd):
    assert main(["--version"]) == 0
    assert capfd.readouterr().out.startswith("coterie 0.")
    for arguments in ([], ["--help"], ["fit", "--help"], ["predict", "--help"]):
        assert main(arguments) == 0
        out, err = capfd.readouterr()
        assert "Usage: coterie" in out
        assert err == ""


def test_a_pipe_gets_plain_wide_text():
    names = [f"a_rather_long_name_{i}" for i in range(12)]
    rows = np.random.RandomState(0).normal(size=(20, 12))
    np.savetxt("wide.csv", rows, delimiter=",", header=",".join(names), comments="")
    run = subprocess.run([*COTERIE, "fit", "wide.csv", "-k", "2"], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert "\x1b" not in run.stdout
    (title,) = [line for line in run.stdout.splitlines() if "share" in line]
    assert title.split() == ["cluster", "rows", "share", *names]


def test_a_closed_pipe_is_no_traceback():
    command = " ".join([*COTERIE, "fit", str(FAITHFUL), "-k", "2", "|", "true"])
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert run.stderr == ""
    assert sorted(os.listdir("coterie-out")) == OUTPUTS


def test_ctrl_c_ends_with_130_and_leaves_nothing():
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "fit", str(FAITHFUL), "-k", "2", "-o", "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "fitting\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 130
    assert err == "coterie: interrupted\n"
    assert out == ""
    assert os.listdir() == []


def test_a_terminal_gets_a_progress_bar_on_stderr():
    ours, theirs = pty.openpty()
    try:
        run = subprocess.run(
            [*COTERIE, "fit", str(FAITHFUL), "-k", "2"],
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
            text=True,
        )
        shown = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert run.returncode == 0
    assert "run 10/10" in shown
    assert "objective 79.576" in shown
    assert "run 10/10" not in run.stdout


def test_without_typer_it_says_what_to_install():
    code = (
        "import sys; sys.modules['typer'] = None\n"
        "from coterie.cli import main; sys.exit(main(['fit']))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr == "coterie: the command line needs typer: pip install 'coterie[cli]'\n"


def test_the_commands_import_nothing_heavy_before_they_run():
    code = (
        "import sys, sklearn.base; before = set(sys.modules)\n"  # it may bring pandas itself
        "from coterie.cli._app import app\n"
        "heavy = {'matplotlib', 'pyarrow.csv', 'pandas', 'dask'}\n"
        "print(sorted(heavy & set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "[]\n"


def test_a_gaussian_mixture(capsys):
    assert main(["fit", str(FAITHFUL), "-k", "2", "--method", "gaussian"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "log-lik.    -38" in out
    assert "BIC" in out
    assert sorted(os.listdir("coterie-out")) == OUTPUTS
    labels = read_labels("coterie-out/labels.csv")
    assert sorted(np.bincount(labels)) == [97, 175]
    assert main(["predict", "coterie-out/model.coterie", str(FAITHFUL), "-o", "again.csv"]) == 0
    assert_array_equal(read_labels("again.csv"), labels)


def test_a_tree_of_merges(capsys):
    asked = ["fit", str(FAITHFUL), "-k", "2", "--method", "agglomerative"]
    assert main(asked) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "linkage     ward" in out
    assert sorted(os.listdir("coterie-out")) == sorted([*OUTPUTS, "dendrogram.png"])
    assert sorted(np.bincount(read_labels("coterie-out/labels.csv"))) == [97, 175]
    assert main(["predict", "coterie-out/model.coterie", str(FAITHFUL), "-o", "again.csv"]) == 0
    assert main([*asked, "--linkage", "single"]) == 0
    assert "cut below" in capsys.readouterr().out
    assert main([*asked, "--linkage", "genie", "--gini-threshold", "0.2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "linkage     genie" in out
    assert "cut below" not in out
    assert sorted(np.bincount(read_labels("coterie-out/labels.csv"))) == [97, 175]
    wrong = refused(capsys, *asked, "--linkage", "genie", "--gini-threshold", "2")
    assert "--gini-threshold 2" in wrong
    assert "--linkage wards was given; use one of" in refused(capsys, *asked, "--linkage", "wards")
    assert "agglomerative has no --init" in refused(capsys, *asked, "--init", "box")
    wrong = refused(capsys, "fit", FAITHFUL, "-k", 2, "--linkage", "single")
    assert "kmeans has no --linkage" in wrong
