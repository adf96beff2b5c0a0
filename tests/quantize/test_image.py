"""Pictures in few colours: the record, quality, exactness, mistakes."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from coterie.errors import DataError
from coterie.quantize import QuantizedImage, VectorQuantizer, image
from coterie.quantize import _colors as colors_module

ABOVE = Path(__file__).resolve().parents[3:5]
DATA = next((up / "shared" / "data" for up in ABOVE if (up / "shared" / "data").is_dir()), None)


def landscape(height: int = 48, width: int = 64, seed: int = 0) -> Any:
    """Smooth gradients, shapes and noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    sky = np.stack([200 - 2 * y, 120 + x, 90 + y + x], axis=2).astype(float)
    sky[(x - width / 2) ** 2 + (y - height / 3) ** 2 < height] = (250, 220, 120)
    sky[y > 0.7 * height] = (30, 80, 40)
    return np.clip(sky + rng.normal(0, 4, sky.shape), 0, 255).astype(np.uint8)


def what(found: QuantizedImage) -> list[str]:
    return [event["what"] for event in found.events]


@pytest.mark.parametrize("space", ["rgb", "lab"])
@pytest.mark.parametrize("k", [1, 2, 5, 16, 300])
def test_the_record_agrees_with_itself(k: int, space: str) -> None:
    picture = landscape()
    found = image(picture, k, space=space, random_state=0)
    assert found.n_colors == len(found.palette) <= k
    assert found.pixels.shape == found.shape == picture.shape
    assert found.pixels.dtype == picture.dtype
    np.testing.assert_array_equal(found.pixels, found.palette[found.indices])
    assert found.indices.dtype == (np.uint8 if k <= 256 else np.uint16)
    mse = np.square(picture.astype(float) - found.pixels).mean()
    assert found.mse == pytest.approx(mse, rel=1e-12)
    assert found.psnr == pytest.approx(10 * math.log10(255**2 / mse))
    np.testing.assert_array_equal(found.counts, np.bincount(found.indices.ravel()))
    assert found.bits_per_pixel == math.ceil(math.log2(found.n_colors))
    assert found.raw_bits == 48 * 64 * 24
    assert found.bits(palette=False) == 48 * 64 * found.bits_per_pixel
    assert found.bits() == found.bits(palette=False) + 24 * found.n_colors
    assert found.n_distinct == len(np.unique(picture.reshape(-1, 3), axis=0))
    assert found.pixels is found.pixels


@pytest.mark.parametrize(
    ("k", "bits_per_pixel", "total"), [(5, 3, 786552), (10, 4, 1048816), (15, 4, 1048936)]
)
def test_the_textbooks_arithmetic(k: int, bits_per_pixel: int, total: int) -> None:
    found = image(landscape(512, 512), k, random_state=0)
    assert found.raw_bits == 6_291_456
    assert found.bits_per_pixel == bits_per_pixel
    assert found.bits(palette=False) == 262144 * bits_per_pixel
    assert found.bits() == total


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("channels", [(), (1,), (3,), (4,)])
@pytest.mark.parametrize("space", ["rgb", "lab"])
def test_every_kind_of_picture(dtype: Any, channels: tuple[int, ...], space: str) -> None:
    rng = np.random.default_rng(0)
    peak = {"u1": 255, "u2": 65535}.get(np.dtype(dtype).str[1:], 1)
    few = rng.random((4, *channels)) * 0.8 + 0.2
    picture = few[rng.integers(0, 4, (20, 30))] + rng.normal(0, 0.01, (20, 30, *channels))
    picture = (np.clip(picture, 0, 1) * peak).astype(dtype)
    found = image(picture, 4, space=space, random_state=0)
    assert found.pixels.shape == picture.shape
    assert found.pixels.dtype == dtype
    assert found.n_colors == 4
    assert found.psnr > 30
    assert found.peak == peak


def test_the_same_bits_on_any_number_of_threads_and_by_either_way_of_counting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    picture = landscape(200, 300)
    monkeypatch.setattr(colors_module, "_TABLE_PIXELS", 1)
    one = image(picture, 9, random_state=3, n_threads=1)
    for n_threads in (2, 3, 7):
        other = image(picture, 9, random_state=3, n_threads=n_threads)
        np.testing.assert_array_equal(one.indices, other.indices)
        np.testing.assert_array_equal(one.palette, other.palette)
        assert one.mse == other.mse


def test_all_pixels_take_part() -> None:
    # A hundred thousand pixels, of which a few dozen have the second colour.
    picture = np.zeros((400, 300, 3), dtype=np.uint8)
    picture[7, :30] = 255
    picture[:, 0] = 1
    found = image(picture, 2, random_state=0)
    assert found.palette.tolist() == [[0, 0, 0], [255, 255, 255]]
    assert found.counts.tolist() == [400 * 300 - 29, 29] or found.counts[1] in (29, 30)


def test_it_is_vector_quantization_of_pixels() -> None:
    picture = landscape()
    mine = image(picture, 6, n_init=10, random_state=0)
    rows = picture.reshape(-1, 3).astype(float)
    theirs = VectorQuantizer(6, n_init=10, random_state=0).fit(rows)
    # Rounding the palette to whole numbers moves each channel by half at most.
    assert mine.mse <= theirs.distortion_ / 3 * 1.02 + 0.25


def test_lab_is_nearer_in_lab_and_rgb_in_rgb() -> None:
    from coterie.quantize._color_space import Lab

    picture = landscape()
    rgb, lab = (image(picture, 6, space=space, random_state=0) for space in ("rgb", "lab"))
    assert rgb.psnr > lab.psnr

    def lab_error(found: QuantizedImage) -> float:
        rows = [Lab(255, False).rows_of(p.reshape(-1, 3)) for p in (picture, found.pixels)]
        return float(np.square(rows[0] - rows[1]).sum())

    assert lab_error(lab) < lab_error(rgb)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_distinct=st.integers(1, 12),
    k=st.integers(1, 12),
    channels=st.sampled_from([(), (1,), (3,), (4,)]),
    dtype=st.sampled_from([np.uint8, np.uint16, np.float32]),
)
def test_few_colors_are_exact_and_more_starts_from_them(
    seed: int, n_distinct: int, k: int, channels: tuple[int, ...], dtype: Any
) -> None:
    rng = np.random.default_rng(seed)
    peak = {"u1": 255, "u2": 65535}.get(np.dtype(dtype).str[1:], 1)
    colors = (rng.random((n_distinct, *channels)) * peak).astype(dtype)
    picture = colors[rng.integers(0, n_distinct, (6, 9))]
    found = image(picture, k, n_init=2, random_state=seed)
    values = picture.reshape(54, -1)
    if channels == (4,):
        values = np.where(values[:, 3:] == 0, 0, values)
    n_found = len(np.unique(values, axis=0))
    if k >= n_found and (dtype != np.float32 or k >= 54):
        assert found.n_colors == n_found
        assert found.mse == 0
        assert found.psnr == math.inf
        np.testing.assert_array_equal(found.pixels.reshape(54, -1), values)
    assert found.n_colors <= min(k, 54)
    assert ("fewer colours" in what(found)) == (found.n_colors < k)


def test_more_colors_than_there_are_is_told() -> None:
    picture = np.zeros((3, 3), dtype=np.uint8)
    picture[0] = 9
    found = image(picture, 16)
    assert found.n_colors == found.n_distinct == 2
    assert found.bits_per_pixel == 1
    assert found.events[0]["detail"] == "k=16 was asked for, and the picture has 2 colours"


def test_it_says_what_it_is() -> None:
    picture = landscape()
    few = image(picture, 4, random_state=0)
    assert repr(few) == f"<QuantizedImage: 64 x 48 pixels in 4 colours, PSNR {few.psnr:.2f} dB>"
    assert repr(image(picture[:1, :1], 4)).endswith(" in 1 colour, exact>")


def test_one_pixel() -> None:
    for picture in (np.full((1, 1, 3), 7, np.uint8), np.full((1, 1), 0.5)):
        found = image(picture, 4)
        assert found.n_colors == 1
        assert found.bits_per_pixel == 0
        np.testing.assert_array_equal(found.pixels, picture)


def test_hidden_colors_count_for_nothing() -> None:
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (30, 40, 4)).astype(np.uint8)
    picture[:, :, 3] = 0
    picture[:10] = (200, 10, 10, 255)
    picture[10:15] = (10, 200, 10, 128)
    before = picture.copy()
    found = image(picture, 8, random_state=0)
    np.testing.assert_array_equal(picture, before)
    assert found.palette.tolist() == [[0, 0, 0, 0], [200, 10, 10, 255], [10, 200, 10, 128]]
    assert found.n_distinct == 3
    assert found.mse == 0
    other = picture.copy()
    other[15:, :, :3] = 99
    np.testing.assert_array_equal(image(other, 2, random_state=0).indices,
                                  image(picture, 2, random_state=0).indices)  # fmt: skip


def test_saved_and_read_again(tmp_path: Path) -> None:
    picture = np.dstack([landscape(), np.full((48, 64), 255, np.uint8)])
    picture[:4, :, 3] = 100
    found = image(picture, 9, random_state=0)
    found.save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as again:
        assert again.mode == "P"
        np.testing.assert_array_equal(np.asarray(again.convert("RGBA")), found.pixels)
    reread = image(tmp_path / "a.png", 9)
    np.testing.assert_array_equal(reread.pixels, found.pixels)
    assert reread.mse == 0


def test_pillow_files_and_arrays_agree(tmp_path: Path) -> None:
    picture = landscape()
    Image.fromarray(picture).save(tmp_path / "a.png")
    given = [picture, Image.fromarray(picture), tmp_path / "a.png", str(tmp_path / "a.png")]
    first, *others = (image(img, 5, random_state=0) for img in given)
    for other in others:
        np.testing.assert_array_equal(other.pixels, first.pixels)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"k": 0}, "image: k=0 was given; use a whole number of at least 1"),
        ({"k": 2.5}, "image: k=2.5"),
        ({"space": "hsv"}, "image: space='hsv' was given; use one of 'rgb', 'lab'"),
        ({"n_init": 0}, "image: n_init=0"),
        ({"n_threads": 0}, "image: n_threads=0"),
    ],
)
def test_wrong_parameters(params: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        image(landscape(), **params)


def test_arrays_need_no_pillow() -> None:
    code = (
        "import sys; sys.modules['PIL'] = None; import numpy as np\n"
        "from coterie.quantize import image\n"
        "found = image(np.arange(64, dtype=np.uint8).reshape(8, 8), 4)\n"
        "for job in (lambda: image('a.png'), lambda: found.save('a.png')):\n"
        "    try: job()\n"
        "    except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("needs Pillow: pip install 'coterie[image]'") == 2


def test_pictures_that_are_no_pictures() -> None:
    with pytest.raises(DataError, match="the picture is empty"):
        image(np.zeros((0, 5, 3), np.uint8))


@pytest.mark.skipif(DATA is None, reason="the pictures are not here")
@pytest.mark.parametrize("name", ["astronaut", "coffee"])
@pytest.mark.parametrize("k", [5, 10, 15, 64])
def test_quality_of_the_reference(name: str, k: int) -> None:
    assert DATA is not None
    known = json.loads((DATA / "peer_reference.json").read_text())["images"][name]
    path = DATA / "images" / f"{name}.png"
    found = [image(path, k, random_state=seed) for seed in range(4 if k < 64 else 2)]
    assert found[0].n_distinct == known["unique_colours"]
    assert found[0].raw_bits == known["raw_bits"]
    # The reference has centres that are not rounded; whole numbers add 1/12 to the squared error.
    reached = 10 * math.log10(255**2 / (known[f"kmeans_{k}"]["mse_per_channel"] + 1 / 12))
    assert max(one.psnr for one in found) > reached - (0.005 if k < 64 else 0.03)
    assert min(one.psnr for one in found) > reached - 0.1


@pytest.mark.skipif(DATA is None, reason="the pictures are not here")
@pytest.mark.parametrize("name", ["astronaut", "coffee"])
def test_the_best_known_error_of_the_reference(name: str) -> None:
    assert DATA is not None
    known = json.loads((DATA / "peer_reference.json").read_text())["images"][name]
    with Image.open(DATA / "images" / f"{name}.png") as given:
        pixels = np.asarray(given.convert("RGB")).reshape(-1, 3)
    colors = colors_module.count_colors(pixels, 1)
    model = VectorQuantizer(5, n_init=4, tol=1e-7, random_state=0)
    model.fit(colors.values.astype(np.float32), sample_weight=colors.counts)
    assert model.distortion_ * len(pixels) < known["kmeans_5"]["best_sse"] * 1.0001
