"""What all commands share: options, help, completion, exit codes, results whole or absent.

Covers coterie.cli._examples, coterie.cli._fits, coterie.cli._found, coterie.cli._label_files,
coterie.cli._limits, coterie.cli._method_options and coterie.cli._telling.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main

from coterie._config import get_options
from coterie.cli import main
from coterie.cli._app import app
from coterie.cli._examples import ANSWERS, EXAMPLES, OVERVIEW
from coterie.cli._label_files import Tally
from coterie.cli._limits import limited
from coterie.cli._methods import METHODS, way_of
from coterie.cli._options import LINKAGES as OFFERED
from coterie.cli._options import METHOD_NAMES
from coterie.cli._telling import plain
from coterie.hierarchy import METHODS as LINKAGES
from full_disks import no_file_above

FAITHFUL = str(Path(__file__).parents[2] / "examples" / "data" / "faithful.csv")
COMMANDS = [
    "study", "fit", "predict", "choose-k", "tendency", "eps", "dendrogram", "quantize", "index",
    "convert", "info", "score",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def commands() -> dict[str, Any]:
    """Every command by its name; those of index by two words."""
    found: dict[str, Any] = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        inside = getattr(command, "commands", None)
        if inside is None:
            found[name] = command
        else:
            found |= {f"{name} {word}": one for word, one in inside.items()}
    return found


def test_the_commands_are_these(capsys: pytest.CaptureFixture[str]) -> None:
    assert {name.split()[0] for name in commands()} == {*COMMANDS} == {*ANSWERS}
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, answer in ANSWERS.items():
        assert f"  {name:<10}  {answer}\n" in out
    assert out.endswith("Examples:\n" + "".join(f"    {line}\n" for line in OVERVIEW))
    for example in OVERVIEW:
        _, name, *words = shlex.split(example)
        assert commands()[name].make_context(name, words).params


def test_help_of_a_narrow_terminal_names_every_option_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name, command in commands().items():
        assert main([*name.split(), "--help"]) == 0
        out = capsys.readouterr().out
        for param in command.params:
            assert all(option in out for option in param.opts if option.startswith("-"))
        assert "bool" not in out  # of a flag, which takes no value
        for example in EXAMPLES[name]:
            assert f"    {example}\n" in out


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_every_command_has_the_same_options_and_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = commands()[name]
    options = {option for param in command.params for option in param.opts}
    assert {"--json", "--quiet", "--threads", "--max-memory"} <= options
    has_strict = "--strict" in options
    assert has_strict == (name in ("study", "tendency", "choose-k"))
    assert main([*name.split(), "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert EXAMPLES[name][0] in out
    for example in EXAMPLES[name]:
        asked = next(part for part in re.split(r"\||&&", example) if f"coterie {name}" in part)
        words = shlex.split(asked.split(" > ")[0])[1 + len(name.split()) :]
        context = command.make_context(name, words)  # an unknown option would be an error
        assert context.params


def test_help_without_a_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert all(f" {name} " in out for name in COMMANDS)


def test_the_names_that_are_offered_are_those_there_are() -> None:
    assert tuple(METHODS) == METHOD_NAMES
    assert set(OFFERED) == set(LINKAGES)


def completed(words: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> list[str]:
    """What bash is offered for the last of the words."""
    parts = words.split(" ")
    monkeypatch.setenv("_COTERIE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(parts) - 1))
    assert main([]) == 0
    found: list[str] = capsys.readouterr().out.split()
    return found


def test_shells_complete_commands_options_and_methods(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert completed("coterie de", monkeypatch, capsys) == ["dendrogram"]
    assert completed("coterie fit --method b", monkeypatch, capsys) == [
        "bisecting", "bayesian", "bernoulli",
    ]  # fmt: skip
    assert completed("coterie fit --linkage ge", monkeypatch, capsys) == ["genie"]
    assert "--min-cluster-size" in completed("coterie fit --min", monkeypatch, capsys)
    assert completed("coterie convert --to fe", monkeypatch, capsys) == ["feather"]


@pytest.mark.parametrize(
    ("shell", "begins"),
    [
        ("bash", "_coterie_completion()"),
        ("zsh", "#compdef coterie"),
        ("fish", "complete --command"),
    ],
)
def test_the_script_for_a_shell(
    shell: str, begins: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_COTERIE_COMPLETE", f"source_{shell}")
    assert main([]) == 0
    assert capsys.readouterr().out.strip().startswith(begins)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("leader",)])
def test_an_option_that_does_not_fit_names_those_that_do(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stranger = "--eps" if method != "dbscan" else "--threshold"
    assert main(["fit", FAITHFUL, "--method", method, stranger, "1"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert f"{method} has no {stranger}" in err
    for name in METHODS[method].options:
        assert ("-k" if name == "clusters" else f"--{name.replace('_', '-')}") in err


@pytest.mark.parametrize(
    "asked",
    [
        ["minibatch", "-k", "2", "--batch-size", "64"],
        ["bisecting", "-k", "3", "--strategy", "largest_cluster"],
        ["spherical", "-k", "2"],
        ["hierarchical", "--branching", "2", "--depth", "2"],
        ["agglomerative", "--height", "10"],
        ["agglomerative", "-k", "2", "--linkage", "genie", "--gini-threshold", "0.5"],
        ["hdbscan", "--selection", "leaf", "--min-cluster-size", "10"],
    ],
    ids=lambda asked: asked[0],
)
def test_more_methods_fit_and_predict(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", FAITHFUL, "--method", *asked, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    labels = np.loadtxt("coterie-out/labels.csv", dtype=int, skiprows=1)
    assert facts["method"] == asked[0]
    assert [one["rows"] for one in facts["clusters"]] == np.bincount(labels[labels >= 0]).tolist()
    assert facts["noise"] == (labels == -1).sum()
    assert main(["predict", "coterie-out/model.coterie", FAITHFUL, "-o", "again.npy"]) == 0
    assert np.mean(np.load("again.npy") == labels) > 0.9


@pytest.mark.parametrize("method", ["minibatch", "bisecting", "spherical", "hierarchical"])
def test_they_stream(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.repeat([[1.0, 50], [60, 1]], 500, axis=0) + np.random.RandomState(0).rand(1000, 2)
    np.save("rows.npy", rows)
    own = ["--branching", "2", "--depth", "1"] if method == "hierarchical" else ["-k", "2"]
    asked = ["fit", "rows.npy", "--method", method, *own, "--max-memory", "20KB", "--quiet"]
    assert main(asked) == 0, capsys.readouterr().err
    labels = np.loadtxt("coterie-out/labels.csv", dtype=int, skiprows=1)
    assert len({*labels[:500]}) == len({*labels[500:]}) == 1
    assert labels[0] != labels[-1]


MIXED = """mass,island,zip
3700,Dream,01
3650,Dream,01
,Dream,01
3710,,01
5000,Biscoe,02
5100,Biscoe,02
4950,Biscoe,02
5050,Biscoe,02
"""


@pytest.mark.parametrize(
    "asked",
    [
        ["kmedoids", "-k", "2"],
        ["kcenter", "-k", "2"],
        ["agglomerative", "-k", "2", "--linkage", "average"],
        ["dbscan", "--eps", "0.5", "--min-samples", "2"],
        ["hdbscan", "--min-cluster-size", "3"],
    ],
    ids=lambda asked: asked[0],
)
def test_gowers_metric_takes_words_and_gaps(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mixed.csv").write_text(MIXED)
    more = ["--metric", "gower", "--categorical", "zip"]
    assert main(["fit", "mixed.csv", "--method", *asked, *more]) == 0
    out, err = capsys.readouterr()
    assert [line for line in err.splitlines() if "every row is core" not in line] == []
    assert "columns     mass, island, zip\n" in out
    assert "Biscoe" in out
    assert "02" in out
    labels = np.loadtxt("coterie-out/labels.csv", dtype=int, skiprows=1)
    assert len({*labels[:4]}) == len({*labels[4:]}) == 1
    assert labels[0] != labels[4]
    assert main(["predict", "coterie-out/model.coterie", "mixed.csv", "-o", "again.csv"]) == 0
    assert Path("again.csv").read_bytes() == Path("coterie-out/labels.csv").read_bytes()
    assert main(["fit", "mixed.csv", "--method", *asked, *more, "--scale"]) == 2
    assert "under --metric gower takes the values as they are" in capsys.readouterr().err


def test_rows_with_gaps_are_apart_where_a_method_leaves_them_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = np.random.RandomState(0).normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
    lines = [f"{a},{b}" for a, b in rows]
    lines[3] = ",1"
    Path("gaps.csv").write_text("\n".join(["a,b", *lines]) + "\n")
    assert main(["fit", "gaps.csv", "--method", "hdbscan"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"incomplete +1 +1\.7%", out)
    assert Path("coterie-out/labels.csv").read_text().split()[4] == "-3"
    assert main(["predict", "coterie-out/model.coterie", "gaps.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["incomplete"] == 1
    for method in ("kmedoids", "kcenter"):
        asked = ["fit", "gaps.csv", "--method", method, "-k", "2", "--metric", "nan_euclidean"]
        assert main([*asked, "--quiet"]) == 0
        assert main(["predict", "coterie-out/model.coterie", "gaps.csv", "--quiet"]) == 0
    assert main(["fit", "gaps.csv", "-k", "2"]) == 2
    assert "column 'a' has no value in row 4" in capsys.readouterr().err


def test_ways_differ_by_metric() -> None:
    assert way_of("kmedoids").streams
    assert not way_of("kmedoids", "gower").streams
    assert way_of("leader", "gower") is METHODS["leader"]
    assert way_of("kmeans", "gower") is METHODS["kmeans"]


def test_where_to_cut_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["fit", FAITHFUL, "--method", "agglomerative"]
    assert main([*asked, "-k", "2", "--height", "3"]) == 2
    assert "one of them says where to cut" in capsys.readouterr().err
    assert main(asked) == 2
    assert "needs the number of clusters" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "-k", "2"], ["fit", "--method", "mixed", "-k", "2"], ["tendency"], ["choose-k"],
        ["eps"], ["dendrogram"], ["convert", "-o", "other.csv"], ["index", "build", "-o", "index"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_columns_that_are_chosen_and_left_out(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is left, whatever the table is read from."""
    assert main(["convert", FAITHFUL, "-o", "faithful.parquet", "--quiet"]) == 0
    np.save("faithful.npy", np.loadtxt(FAITHFUL, delimiter=",", skiprows=1))
    for path, name in (
        (FAITHFUL, "waiting"), ("faithful.parquet", "waiting"), ("faithful.npy", "x0"),
    ):  # fmt: skip
        assert main([*command, path, "--columns", name, "--without", name]) == 2
        said = f"coterie: {path}: every column is left out; keep at least one.\n"
        assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("end", ["parquet", "npy", "csv.gz"])
def test_options_of_text_are_refused_elsewhere(
    end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("labels.csv").write_text("label\n" + "0\n1\n" * 136)
    if end == "csv.gz":
        Path("t.csv.gz").write_bytes(gzip.compress(Path(FAITHFUL).read_bytes()))
    else:
        assert main(["convert", FAITHFUL, "-o", f"t.{end}", "--quiet"]) == 0
    for command in (
        ["info"], ["convert", "-o", "other.csv"], ["fit", "-k", "2"], ["tendency"], ["choose-k"],
        ["eps"], ["dendrogram"], ["score", "--labels", "labels.csv"],
        ["index", "build", "-o", "index"],
    ):  # fmt: skip
        for option in (["--decimal", ","], ["--no-header"]):
            assert main([*command, f"t.{end}", *option]) == 2
            said = capsys.readouterr().err
            assert f"--{option[0].split('-')[-1]} was given, and it is for" in said, command
    if end != "csv.gz":
        assert main(["convert", f"t.{end}", "--text", "waiting", "-o", "other.csv"]) == 2
        assert (
            "--text waiting was given, which is for text files; this one has"
            in capsys.readouterr().err
        )
    assert not Path("other.csv").exists()


def test_strict_is_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.random.RandomState(1).normal(size=(150, 2))
    np.savetxt("heap.csv", rows, delimiter=",", header="a,b", comments="")
    asked = ["-k", "4", "--criterion", "gap,silhouette", "--quiet"]
    assert main(["choose-k", "heap.csv", *asked]) == 0
    assert main(["choose-k", "heap.csv", *asked, "--strict"]) == 1
    assert main(["choose-k", FAITHFUL, *asked, "--strict"]) == 0
    assert capsys.readouterr() == ("", "")


def test_limits_hold_while_a_command_runs(capsys: pytest.CaptureFixture[str]) -> None:
    before = get_options()
    with limited(1, "1MB") as most_bytes:
        assert (get_options()["n_threads"], get_options()["max_memory"]) == (1, 10**6)
        assert most_bytes == 250_000
    assert get_options() == before
    for command in (["tendency"], ["eps"], ["info"], ["dendrogram"], ["score", "--labels", "x"]):
        assert main([*command, FAITHFUL, "--max-memory", "much"]) == 2
        assert "--max-memory 'much' was given" in capsys.readouterr().err


def test_what_json_has_words_for() -> None:
    assert plain({"a": np.float32(1.5), 2: [np.nan, np.inf, np.int64(3)], "c": None}) == {
        "a": 1.5, "2": [None, None, 3], "c": None,
    }  # fmt: skip
    assert plain((np.arange(2), Path("x"), True)) == [[0, 1], "x", True]


def test_a_tally_tells_noise_from_gaps() -> None:
    tally = Tally()
    list(tally.passing(np.array([2, -1, -3, 0, 0, -1])))
    assert (tally.n_rows, tally.n_noise, tally.n_lacking) == (6, 2, 1)
    assert tally.sizes() == [2, 0, 1]
    assert tally.entries(4)[-2:] == [("noise", 2), ("incomplete", 1)]


def test_quiet_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", FAITHFUL, "-k", "2", "--quiet"]) == 0
    for command in (
        ["predict", "coterie-out/model.coterie", FAITHFUL],
        ["eps", FAITHFUL], ["dendrogram", FAITHFUL], ["info", FAITHFUL],
        ["score", FAITHFUL], ["convert", FAITHFUL, "-o", "f.npy"],
    ):  # fmt: skip
        assert main([*command, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["fit", FAITHFUL, "-k", "2", "-o"], "out"),
        (["eps", FAITHFUL, "-o"], "curve.png"),
        (["dendrogram", FAITHFUL, "-o"], "tree.png"),
        (["index", "build", FAITHFUL, "-o"], "idx"),
    ],
    ids=lambda part: part[0] if isinstance(part, list) else "",
)
def test_a_full_disk_leaves_nothing(
    command: list[str], output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with no_file_above(1000):
        assert main([*command, output]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"coterie: {output}")
    assert "File too large" in err
    assert err.count("\n") == 1
    assert os.listdir() == []


#: As the installed command begins, with a writer that tells when it has begun and then waits.
SLOW = """
import sys, time
import pyarrow.parquet as pq
def slow(*arguments):
    print("writing", flush=True)
    time.sleep(30)
pq.ParquetWriter.write_table = slow
from _coterie_command import main
sys.exit(main())
"""


def test_ctrl_c_while_writing_leaves_nothing() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "convert", FAITHFUL, "-o", "there.parquet"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=240)
    assert (process.returncode, err) == (130, "coterie: interrupted\n")
    assert os.listdir() == []


def test_a_closed_pipe_has_a_code_of_its_own() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [sys.executable, "-m", "coterie.cli", "info", FAITHFUL], stdout=writer,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(writer)
    assert (run.returncode, run.stderr) == (141, "")
