"""Ctrl-C at any moment: exit code 130 and one line, no traceback, nothing left behind."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"
FIT = ["fit", str(FAITHFUL), "-k", "2", "-o", "out"]
SCRIPT = "import sys; from _coterie_command import main; sys.exit(main())"  # as installed


@pytest.mark.parametrize(
    "module",
    [
        "typing",
        "threadpoolctl",
        "coterie._kernels",
        "coterie",
        "typer",
        "numpy",
        "scipy.sparse",
        "sklearn.base",
        "pyarrow.lib",
    ],
)
def test_during_imports(module, tmp_path):
    # Python tells of every module it has imported, so the moment does not depend on the machine.
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", "-c", SCRIPT, *FIT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        for line in process.stderr:
            if line.split("|")[-1].strip() == module:
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
        assert process.stdout.read() == ""
    assert process.returncode == 130
    assert [line for line in rest.splitlines() if "import time:" not in line] == [
        "coterie: interrupted"
    ]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("seconds", [0.01, 0.3, 1.0])
def test_after_a_while(seconds, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *FIT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=240)
    if "coterie: " not in err:  # done already, or Python itself had not yet begun to run code
        assert process.returncode in (0, 1, -signal.SIGINT)
        assert "_coterie_command" not in err
    else:
        assert (process.returncode, err) == (130, "coterie: interrupted\n")
        assert os.listdir(tmp_path) == []


def test_nothing_is_imported_before_ctrl_c_is_answered():
    source = Path(__file__).parents[2] / "src"
    program = (
        f"import os, sys; sys.path.insert(0, {os.fspath(source)!r}); before = set(sys.modules);"
        "import _coterie_command; print(sorted(set(sys.modules) - before))"
    )
    # Without `site`, whose hook for editable installs imports a good deal to find a module.
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "['_coterie_command']\n"


def test_the_installed_command_begins_there():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"coterie": "_coterie_command:main"}
    assert "src/_coterie_command" in project["tool"]["scikit-build"]["wheel"]["packages"]


def test_a_handler_of_the_caller_stays(tmp_path, monkeypatch):
    from coterie.cli import main

    monkeypatch.chdir(tmp_path)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert main(FIT) == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
