"""What the commands write, where: devices, pipes and links stay, and what fails is said.

Covers coterie.cli._coordinates.
"""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from coterie.cli import main

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"
COTERIE = [sys.executable, "-m", "coterie.cli"]
FIT = ["fit", str(FAITHFUL), "-k", "2", "-o", "out"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model():
    assert main(FIT) == 0
    return "out/model.coterie"


@pytest.fixture
def full(tmp_path_factory):
    path = tmp_path_factory.mktemp("devices") / "full"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        pytest.skip("making devices is not permitted here")
    return path


def test_predict_fills_a_pipe(model):
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()))
    reader.start()
    assert main(["predict", model, str(FAITHFUL), "-o", "pipe"]) == 0
    reader.join(30)
    assert got == [Path("out/labels.csv").read_bytes()]
    assert stat.S_ISFIFO(os.lstat("pipe").st_mode)


def test_predict_onto_stdout_gives_the_labels_alone(model):
    command = [*COTERIE, "predict", model, str(FAITHFUL), "-o", "/proc/self/fd/1"]
    run = subprocess.run(command, capture_output=True)
    assert run.returncode == 0
    assert run.stdout == Path("out/labels.csv").read_bytes()
    assert b"98 rows (36.0%)" in run.stderr
    with open("both", "wb") as file:
        file.write(b"before\n")
        file.flush()
        assert subprocess.run(command, stdout=file, stderr=subprocess.PIPE).returncode == 0
    assert Path("both").read_bytes() == b"before\n" + Path("out/labels.csv").read_bytes()


def test_predict_follows_links_and_makes_no_directories(model, capsys):
    Path("link").symlink_to("real")
    assert main(["predict", model, str(FAITHFUL), "-o", "link"]) == 0
    assert Path("link").is_symlink()
    assert Path("real").read_bytes() == Path("out/labels.csv").read_bytes()
    capsys.readouterr()
    assert main(["predict", model, str(FAITHFUL), "-o", "no/labels.csv"]) == 2
    assert "no/labels.csv: the directory" in capsys.readouterr().err
    assert not Path("no").exists()


def test_fit_makes_its_directory_and_no_other(capsys):
    assert main(["fit", str(FAITHFUL), "-k", "2", "-o", "a/b"]) == 2
    assert "does not exist; make it first" in capsys.readouterr().err
    assert os.listdir() == []


def test_fit_keeps_links_pipes_and_modes_of_its_directory(tmp_path):
    assert main(FIT) == 0
    labels = Path("out/labels.csv").read_bytes()
    Path("elsewhere").mkdir()
    os.unlink("out/labels.csv")
    Path("out/labels.csv").symlink_to("../elsewhere/labels.csv")
    os.chmod("out/model.coterie", 0o600)
    os.unlink("out/clusters.png")
    os.mkfifo("out/clusters.png")
    got = []
    reader = threading.Thread(target=lambda: got.append(Path("out/clusters.png").read_bytes()))
    reader.start()
    assert main(FIT) == 0
    reader.join(30)
    assert got[0].startswith(b"\x89PNG")
    assert Path("out/labels.csv").is_symlink()
    assert Path("elsewhere/labels.csv").read_bytes() == labels
    assert stat.S_IMODE(os.stat("out/model.coterie").st_mode) == 0o600
    assert sorted(os.listdir("out")) == ["clusters.png", "labels.csv", "model.coterie"]


def test_fit_removes_what_a_killed_fit_left():
    Path("out/.coterie-0123456789ab.tmp").mkdir(parents=True)
    Path("out/.coterie-0123456789ab.tmp/labels.csv").write_text("label\n")
    assert main(FIT) == 0
    assert sorted(os.listdir("out")) == ["clusters.png", "labels.csv", "model.coterie"]


def test_a_full_device_is_named(model, full, capsys):
    capsys.readouterr()
    assert main(["predict", model, str(FAITHFUL), "-o", str(full)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"coterie: {full}: No space left on device")
    assert stat.S_ISCHR(full.lstat().st_mode)


LITTLE_ROOM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
from coterie.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_full_disk_is_named_and_leaves_nothing():
    command = [sys.executable, "-c", LITTLE_ROOM, *FIT]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.startswith("coterie: out/model.coterie: File too large")
    assert run.stderr.count("\n") == 1
    assert os.listdir() == []


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_a_summary_that_cannot_be_printed_is_said_with_exit_code_3(model, full, command):
    ask = FIT if command == "fit" else ["predict", model, str(FAITHFUL)]
    with open(full, "wb") as stdout:
        run = subprocess.run([*COTERIE, *ask], stdout=stdout, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 3
    assert run.stderr == (
        "coterie: all results are written, but the summary could not be printed "
        "(No space left on device)\n"
    )
    assert Path("out/labels.csv" if command == "fit" else "labels.csv").stat().st_size == 550


def test_an_answer_that_cannot_be_printed_is_bad_output(full):
    with open(full, "wb") as stdout:
        run = subprocess.run(
            [*COTERIE, "info", str(FAITHFUL)], stdout=stdout, stderr=subprocess.PIPE, text=True
        )
    assert run.returncode == 2
    assert run.stderr == "coterie: stdout: No space left on device; nothing could be printed.\n"


def test_help_that_cannot_be_printed_is_one_line(full):
    with open(full, "wb") as stdout:
        run = subprocess.run(
            [*COTERIE, "--version"], stdout=stdout, stderr=subprocess.PIPE, text=True
        )
    assert run.returncode == 2
    assert run.stderr == "coterie: No space left on device\n"


def test_fit_onto_stdout_gives_the_labels_alone(tmp_path, capsys):
    Path("t.csv").write_text("a\n1\n2\n")
    assert main(["fit", "t.csv", "-k", "2", "-o", "-"]) == 0
    out, err = capsys.readouterr()
    assert sorted(out.splitlines()[1:]) == ["0", "1"]
    assert out.startswith("label\n")
    assert "rows        2\n" in err
    assert "written" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_labels_that_do_not_fit_on_stdout_are_named(model, full):
    ask = [*COTERIE, "predict", model, str(FAITHFUL), "-o", "-"]
    with open(full, "wb") as stdout:
        run = subprocess.run(ask, stdout=stdout, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 2
    assert run.stderr == (
        "coterie: stdout: the labels could not be written (No space left on device); make room "
        "there, or name a file with -o.\n"
    )


@pytest.mark.parametrize(
    "command", ["convert t.csv -o there/x.csv", "eps t.csv -o there/x.npy", "fit t.csv -o there/x"]
)
def test_a_place_without_scratch_is_called_what_the_user_calls_it(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b\n" + "".join(f"{row},{row * row}\n" for row in range(12)))
    Path("there").mkdir()
    mkdir = Path.mkdir

    def refuse(path: Path, *options: Any, **more: Any) -> None:
        if path.parent.name == "there":  # as /sys does, whoever asks
            raise PermissionError(1, "Operation not permitted", str(path))
        mkdir(path, *options, **more)

    monkeypatch.setattr(Path, "mkdir", refuse)
    k = ["-k", "2"] if command.startswith("fit") else []
    assert main([*command.split(), *k]) == 2
    asked = command.split()[-1]
    assert capsys.readouterr().err == (
        f"coterie: {asked}: cannot write there (Operation not permitted); choose another place.\n"
    )


@pytest.mark.parametrize(
    "command",
    ["convert t.csv --to csv", "eps t.csv", "dendrogram t.csv", "predict model t.csv"],
)
def test_stdout_has_one_name(
    command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b\n" + "".join(f"{row},{row * row}\n" for row in range(12)))
    assert main(["fit", "t.csv", "-k", "2", "--quiet"]) == 0
    Path("coterie-out/model.coterie").rename("model")
    for place in ["-", "/dev/stdout"] if command.startswith(("predict", "convert")) else ["-"]:
        assert main([*command.split(), "-o", place]) == 0
        assert "written     stdout" in capfd.readouterr().err
