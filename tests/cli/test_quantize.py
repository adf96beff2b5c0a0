"""`coterie quantize`: a picture in few colours, or one line that says why not."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coterie.cli import main
from coterie.quantize import image


@pytest.fixture(autouse=True)
def photo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0:40, 0:60]
    pixels = np.stack([4 * x, 6 * y, 255 - 4 * x], axis=2) + rng.integers(0, 10, (40, 60, 3))
    pixels = np.clip(pixels, 0, 255).astype(np.uint8)
    Image.fromarray(pixels).save("photo.png")
    return pixels


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert main(["quantize", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("coterie: ")
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    return err


def test_a_palette_png_and_what_it_is(
    photo: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quantize", "photo.png", "-k", "16", "-o", "out.png"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    expected = image(photo, 16, random_state=0)
    with Image.open("out.png") as written:
        assert written.mode == "P"
        np.testing.assert_array_equal(np.asarray(written.convert("RGB")), expected.pixels)
    assert "picture     photo.png: 60 x 40, RGB, 8 bits per channel\n" in out
    assert f"colours     16 of {expected.n_distinct:,}\n" in out
    assert "bits        4 per pixel; 9,984 with the palette, 57,600 before\n" in out
    assert f"PSNR        {expected.psnr:.2f} dB\n" in out
    assert f"file        {Path('out.png').stat().st_size:,} bytes" in out
    assert out.endswith("written     out.png\n")


def test_json_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quantize", "photo.png", "-k", "5", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["n_colors"] == len(facts["palette"]) == 5
    assert facts["bits_per_pixel"] == 3
    assert facts["bits_with_palette"] == 40 * 60 * 3 + 5 * 24
    assert facts["raw_bits"] == 40 * 60 * 24
    assert sum(facts["counts"]) == 2400
    assert facts["written"] == "photo-5.png"
    assert facts["bytes_out"] == Path("photo-5.png").stat().st_size


def test_a_picture_from_stdin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Image.new("RGB", (5, 5), "red").save("red.png")
    piped = io.TextIOWrapper(io.BytesIO(Path("red.png").read_bytes()))
    monkeypatch.setattr(sys, "stdin", piped)
    assert main(["quantize", "-", "-k", "1"]) == 0
    out = capsys.readouterr().out
    assert "picture     stdin: 5 x 5, RGB" in out
    assert out.endswith("written     stdin-1.png\n")


def test_quiet_lab_and_seeds(photo: np.ndarray, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["quantize", "photo.png", "-k", "7", "--lab", "--quiet", "--seed", "3", "-o", "a.png"]
    assert main(command) == 0
    assert capsys.readouterr() == ("", "")
    expected = image(photo, 7, space="lab", random_state=3)
    with Image.open("a.png") as written:
        np.testing.assert_array_equal(np.asarray(written.convert("RGB")), expected.pixels)


def test_fewer_colors_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    Image.new("RGB", (5, 5), "red").save("red.png")
    assert main(["quantize", "red.png", "-o", "out.png"]) == 0
    out = capsys.readouterr().out
    assert "note 1      k=16 was asked for, and the picture has 1 colour\n" in out
    assert "PSNR        exact\n" in out
    assert main(["quantize", "red.png", "-o", "out.png", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["psnr"] is None


def test_a_jpeg(capsys: pytest.CaptureFixture[str]) -> None:
    with Image.open("photo.png") as photo:
        photo.save("photo.jpg")
    assert main(["quantize", "photo.jpg", "-k", "4"]) == 0
    assert Path("photo-4.png").exists()


def test_mistakes_are_one_line_and_leave_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("text.png").write_text("hello")
    with Image.open("photo.png") as photo:
        photo.save("photo.jpg")
    Path("cut.jpg").write_bytes(Path("photo.jpg").read_bytes()[:500])
    Path("folder.png").mkdir()
    for arguments, words in {
        ("no.png",): "no.png: there is no such file.",
        (".",): ".: this is a directory; pass the file of one picture, of the kinds PNG, JPEG",
        ("folder.png",): "folder.png: this is a directory; pass",
        ("text.png",): "text.png: this is no picture",
        ("cut.jpg",): "cut.jpg: the picture is damaged",
        ("photo.png", "-o", "out.jpg"): "out.jpg: pictures are written as PNG",
        ("photo.png", "-o", "no/out.png"): "make it first or choose another",
        ("photo.png", "-o", "folder.png"): "folder.png: this is a directory",
        ("photo.png", "-o", "photo.png"): "photo.png: this would overwrite the input",
        ("photo.png", "-k", "0"): "'-k'",
        ("photo.png", "--threads", "99999999"): "--threads 99999999, and 65536 is the most",
        (): "PICTURE",
    }.items():
        assert words in refused(capsys, *arguments), arguments
