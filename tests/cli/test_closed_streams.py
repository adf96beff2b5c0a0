"""Standard streams that whoever started the command has closed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"
COTERIE = [sys.executable, "-m", "coterie.cli"]


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def closed(what: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command without one of its streams: ``<&-``, ``>&-`` or ``2>&-``."""
    script = f'exec "$@" {what}'
    return subprocess.run(
        ["/bin/sh", "-c", script, "sh", *COTERIE, *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["info", str(FAITHFUL)], 2, "stdout: Bad file descriptor; nothing could be printed"),
        (["--version"], 2, "Bad file descriptor"),
        (["fit", str(FAITHFUL), "-k", "2"], 3, "all results are written, but the summary"),
        (["fit", str(FAITHFUL), "-k", "2", "-o", "-"], 2, "the labels could not be written"),
        (["eps", str(FAITHFUL), "-o", "-"], 2, "/dev/stdout: "),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_closed_stdout_is_said_in_a_line(arguments, code, said):
    run = closed(">&-", *arguments)
    assert said in run.stderr
    assert (run.returncode, run.stderr.count("\n")) == (code, 1)
    assert Path("coterie-out/labels.csv").exists() == (code == 3)


def test_a_closed_stdin_is_said_in_a_line():
    run = closed("<&-", "info", "-")
    assert (run.returncode, run.stderr) == (2, "coterie: Bad file descriptor\n")


def test_without_stderr_nothing_else_is_printed_and_the_exit_code_tells():
    run = closed("2>&-", "info", "nosuch.csv")
    assert (run.returncode, run.stdout) == (2, "")
