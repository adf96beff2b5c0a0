"""The printed table of clusters is readable wherever it is shown."""

import os
import pty
import re
import subprocess
import sys

import numpy as np
import pytest

from coterie._files import load_bundle

COTERIE = [sys.executable, "-m", "coterie.cli"]


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def table(n_columns, name="column_{}"):
    rows = np.random.RandomState(0).normal(size=(60, n_columns)) * 1000
    names = ",".join(name.format(i) for i in range(n_columns))
    np.savetxt("t.csv", rows, delimiter=",", header=names, comments="", fmt="%.8g")


def on_a_terminal(*arguments, width=80):
    """What a terminal of this width shows."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(width)}
    with subprocess.Popen(
        [*COTERIE, *arguments], stdout=theirs, stderr=subprocess.PIPE, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        assert process.wait() == 0, process.stderr.read()
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode().replace("\r\n", "\n"))


@pytest.mark.parametrize(("n_columns", "k"), [(2, 3), (6, 3), (36, 3), (36, 25)])
def test_a_terminal_of_80_columns_shows_every_number_whole(n_columns, k):
    table(n_columns)
    assert (
        subprocess.run([*COTERIE, "fit", "t.csv", "-k", str(k)], capture_output=True).returncode
        == 0
    )

    shown = on_a_terminal("fit", "t.csv", "-k", str(k))
    bundle = load_bundle("coterie-out/model.coterie")
    centers = bundle.model.cluster_centers_ * bundle.scaling["scale"] + bundle.scaling["mean"]
    grid = shown[shown.index("cluster") : shown.index("SSE")]
    assert max(len(line) for line in grid.splitlines()) <= 80
    words = grid.split()
    for value in centers.ravel():
        assert f"{value:.6g}" in words
    for i in range(n_columns):
        assert f"column_{i}" in words


def test_a_pipe_gets_a_line_a_column_where_there_are_very_many():
    table(2000)
    run = subprocess.run([*COTERIE, "fit", "t.csv", "-k", "3"], capture_output=True, text=True)
    assert run.returncode == 0
    lines = run.stdout.splitlines()
    assert max(len(line) for line in lines if "written" not in line) < 300
    assert "2,000: column_0, column_1," in run.stdout
    (line,) = [line for line in lines if line.split()[:1] == ["column_1999"]]
    assert len(line.split()) == 4


def test_long_names_are_folded_and_numbers_are_not():
    table(8, name="a_name_that_is_much_too_long_to_stand_beside_numbers_{}")
    shown = on_a_terminal("fit", "t.csv", "-k", "3", width=60)
    grid = shown[shown.index("cluster") : shown.index("SSE")]
    assert max(len(line) for line in grid.splitlines()) <= 60


@pytest.mark.parametrize(
    ("method", "told"),
    [
        (["kmeans", "-k", "3"], r"\niterations  \d+\n"),
        (["gaussian", "-k", "2"], r"\niterations  \d+\n"),
        (["agglomerative", "-k", "3"], r"\nstages +rows [\d.]+ s, merges [\d.]+ s, cut [\d.]+ s\n"),
        (["hdbscan"], r"\nstages +mutual reachability tree [\d.]+ s, single linkage "),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_how_a_fit_went_is_told(method, told):
    table(2)
    run = subprocess.run(
        [*COTERIE, "fit", "t.csv", "--method", *method], capture_output=True, text=True
    )
    assert run.returncode == 0
    assert re.search(told, run.stdout)
