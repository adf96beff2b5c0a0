"""`coterie quantize` names the file it cannot use, in words of the command line.

Covers coterie.cli.quantize, coterie.quantize._pictures.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from coterie.cli import main
from coterie.errors import DataError
from coterie.quantize import image

Image = pytest.importorskip("PIL.Image")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([-5.0, 300.0], ": floats must lie from 0 to 1, and they lie from -5 to 300; divide by the "
         "largest value there can be, or save it with 8 or 16 bits per channel."),
        ([0.5, np.nan], ": the pixel in row 0, column 1 is not finite"),
        ([0, 99_000], ": grey values reach from 0 to 99000; scale them to 0 to 65535 first."),
    ],
)  # fmt: skip
def test_values_that_are_no_colours(
    values: list[float],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    kind = np.int32 if isinstance(values[0], int) else np.float32
    Image.fromarray(np.array([values], dtype=kind)).save("odd.tif")
    assert main(["quantize", "odd.tif", "-o", "out.png"]) == 2
    assert capsys.readouterr().err.startswith(f"coterie: odd.tif{words}")
    piped = io.TextIOWrapper(io.BytesIO(Path("odd.tif").read_bytes()))
    monkeypatch.setattr(sys, "stdin", piped)
    assert main(["quantize", "-", "-o", "out.png"]) == 2
    assert capsys.readouterr().err.startswith(f"coterie: stdin{words}")
    with pytest.raises(DataError, match=r"^odd\.tif: "):
        image("odd.tif", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["odd.tif"]


def test_a_missing_picture(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quantize", "none.png", "-o", "out.png"]) == 2
    assert capsys.readouterr().err == "coterie: none.png: there is no such file.\n"
