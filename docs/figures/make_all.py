"""Draw every figure of the documentation again: python docs/figures/make_all.py [folder]."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

HERE = Path(__file__).parent


def make_all(folder: Path) -> None:
    """Run every script of this directory that draws."""
    for path in sorted(HERE.glob("*.py")):
        if path != Path(__file__):
            draw = getattr(importlib.import_module(path.stem), "draw", None)
            if draw is not None:
                draw(folder)


if __name__ == "__main__":
    make_all(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
