"""The `coterie` command of an installed coterie: its version, a fit, a prediction."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("coterie")


def run(*arguments: str) -> str:
    """Standard output of the command, which must succeed."""
    done = subprocess.run([COMMAND, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


assert run("--version").startswith("coterie "), run("--version")
rows = [f"{x + i / 100},{y - i / 50}" for x, y in ((0, 0), (9, 0), (0, 9)) for i in range(20)]
Path("points.csv").write_text("\n".join(["x,y", *rows]) + "\n")
run("fit", "points.csv", "-k", "3", "-o", "result")
assert {path.name for path in Path("result").iterdir()} >= {"labels.csv", "model.coterie"}
run("predict", "result/model.coterie", "points.csv", "-o", "again.csv")
labels = Path("again.csv").read_text().split()[1:]
assert len(labels) == 60, labels
assert len(set(labels)) == 3, labels
assert all(len(set(labels[i : i + 20])) == 1 for i in (0, 20, 40)), labels
