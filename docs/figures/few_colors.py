"""A picture in 5, 10 and 15 colours, made by code: a sunset over hills.

python docs/figures/few_colors.py writes few_colors.png beside itself.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib import pyplot

from coterie.plots._style import INK
from coterie.quantize import image

Floats = npt.NDArray[np.float64]


def _mixed(below: Floats, above: Floats, share: Floats) -> Floats:
    return below + share[..., None] * (above - below)


def sunset(height: int = 512, width: int = 512) -> npt.NDArray[np.uint8]:
    """Sky, sun, haze and four rows of hills over water, in 24 bits per pixel."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[0:height, 0:width] / np.array([height, width])[:, None, None]
    high, low = np.array([38.0, 44, 96]), np.array([252.0, 150, 74])
    picture = _mixed(low, high, np.clip(1 - y / 0.62, 0, 1) ** 0.8)
    away = np.hypot(x - 0.62, y - 0.46)
    picture = _mixed(picture, np.array([255.0, 214, 130]), 0.85 * np.exp(-((away / 0.2) ** 1.4)))
    picture = _mixed(picture, np.array([255.0, 246, 214]), np.clip((0.062 - away) * 220, 0, 1))
    for band, (at, size) in enumerate(((0.16, 0.010), (0.24, 0.016), (0.33, 0.012))):
        cloud = np.exp(-(((y - at - 0.015 * np.sin(7 * x + 2 * band)) / size) ** 2))
        cloud *= 0.5 + 0.5 * np.sin(9 * x + 1.7 * band)
        picture = _mixed(picture, np.array([226.0, 112, 110]), 0.55 * cloud)
    near, far = np.array([24.0, 20, 38]), np.array([142.0, 84, 104])
    for ridge in range(4):
        waves = sum(np.sin(2 * np.pi * (x * 2**i * 0.9 + rng.random())) / 2**i for i in range(6))
        top = 0.56 + 0.055 * ridge + 0.024 * (1 + 0.3 * ridge) * waves
        hill = _mixed(far, near, np.full_like(x, ridge / 3))
        hill = _mixed(
            hill, np.array([232.0, 138, 92]), 0.35 * np.exp(-(y - top) / 0.05) * (3 - ridge) / 3
        )
        picture = np.where((y > top)[..., None], hill, picture)
    mirrored = picture[::-1][(np.arange(height) * 0.6).astype(int)]
    ripple = 0.5 + 0.5 * np.sin(260 * np.clip(y - 0.8, 0, 1) ** 0.9 + 3 * np.sin(40 * x))
    water = _mixed(mirrored * 0.55, np.array([250.0, 176, 112]),
                   0.5 * ripple * np.exp(-(((x - 0.62) / 0.1) ** 2)))  # fmt: skip
    picture = np.where((y > 0.84)[..., None], water, picture)
    return np.clip(picture + rng.normal(0, 2.5, picture.shape), 0, 255).astype(np.uint8)


def draw(folder: Path, n_colors: tuple[int, ...] = (5, 10, 15)) -> None:
    """The picture, and what is left of it in few colours, each with its palette."""
    picture = sunset()
    panels = len(n_colors) + 1
    figure, axes = pyplot.subplots(
        2, panels, figsize=(11, 3.4), dpi=90, layout="constrained", height_ratios=(12, 1)
    )
    axes[0, 0].imshow(picture)
    axes[0, 0].set_title("24 bits per pixel", color=INK)
    for place, k in enumerate(n_colors, 1):
        found = image(picture, k, random_state=0)
        axes[0, place].imshow(found.pixels)
        title = f"K = {k}: {found.bits_per_pixel} bits, {found.psnr:.1f} dB"
        axes[0, place].set_title(title, color=INK)
        by_light = found.palette[np.argsort(found.palette.sum(axis=1))]
        axes[1, place].imshow(by_light[None], aspect="auto")
    for ax in axes.ravel():
        ax.set_axis_off()
    figure.savefig(folder / "few_colors.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
