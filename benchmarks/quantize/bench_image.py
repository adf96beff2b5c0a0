"""A photograph of 24 megapixels in 16 colours: k-means, and what Pillow has."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import N_THREADS, Call, Contender, Outcome, Prepare, Workload


def make(k: int, n_pixels: int) -> Arrays:
    """A picture as a camera makes it: smooth patches of some hues, and noise of the sensor."""
    from scipy.ndimage import zoom

    rng = np.random.default_rng(0)
    height = max(8, math.isqrt(n_pixels * 2 // 3))
    width = max(8, n_pixels // height)
    hues = np.array([[30, 40, 70], [200, 140, 90], [90, 130, 60], [220, 220, 230], [150, 40, 40]])
    shares = np.exp(3 * rng.standard_normal((24, 36, len(hues))))
    coarse = (shares / shares.sum(axis=2, keepdims=True)) @ hues
    scale = (height / 24, width / 36)
    channels = [zoom(coarse[:, :, i].astype(np.float32), scale, order=1) for i in range(3)]
    picture = np.stack(channels, axis=2)
    for channel in range(3):
        picture[:, :, channel] += rng.normal(0, 3, picture.shape[:2]).astype(np.float32)
    return {"picture": np.clip(picture, 0, 255).astype(np.uint8), "k": np.array(k)}


def coterie_image(arrays: Arrays) -> Call:
    """Ours, until all pixels are painted."""
    from coterie.quantize import image

    picture, k = arrays["picture"], int(arrays["k"])

    def call() -> Outcome:
        return Outcome(image(picture, k, random_state=0, n_threads=N_THREADS).pixels)

    return call


def sklearn_image(arrays: Arrays) -> Call:
    """As its documentation does it: k-means on 1000 pixels, then every pixel's nearest centre."""
    from sklearn.cluster import KMeans
    from sklearn.utils import shuffle

    picture, k = arrays["picture"], int(arrays["k"])

    def call() -> Outcome:
        rows = np.array(picture, dtype=np.float64).reshape(-1, 3) / 255
        some = shuffle(rows, random_state=0, n_samples=1000)
        model = KMeans(k, random_state=0).fit(some)
        palette = np.rint(model.cluster_centers_ * 255).astype(np.uint8)
        return Outcome(palette[model.predict(rows)].reshape(picture.shape))

    return call


def sklearn_lean(arrays: Arrays) -> Call:
    """The same at its best: 20,000 pixels drawn directly, float32."""
    from sklearn.cluster import KMeans

    picture, k = arrays["picture"], int(arrays["k"])

    def call() -> Outcome:
        rows = picture.reshape(-1, 3).astype(np.float32)
        some = rows[np.random.RandomState(0).randint(0, len(rows), 20_000)]
        model = KMeans(k, n_init=8, random_state=0).fit(some)
        palette = np.rint(model.cluster_centers_).astype(np.uint8)
        return Outcome(palette[model.predict(rows)].reshape(picture.shape))

    return call


def pillow_image(method: str) -> Prepare:
    """Pillow's own palettes, without dithering."""

    def prepare(arrays: Arrays) -> Call:
        from PIL import Image

        picture, k = Image.fromarray(arrays["picture"]), int(arrays["k"])

        def call() -> Outcome:
            way, none = getattr(Image.Quantize, method), Image.Dither.NONE
            found = picture.quantize(k, method=way, dither=none)
            return Outcome(np.asarray(found.convert("RGB")))

        return call

    return prepare


def judge(arrays: Arrays, painted: NDArray[np.uint8]) -> float:
    """Mean squared error of a channel."""
    picture = arrays["picture"]
    strips = range(0, len(picture), 64)
    gaps = (picture[i : i + 64].astype(float) - painted[i : i + 64] for i in strips)
    return sum(float(np.square(gap).sum()) for gap in gaps) / picture.size


WORKLOADS = [
    Workload(
        f"image-{k}",
        f"a picture of 24 megapixels in {k} colours",
        24_000_000,
        functools.partial(make, k),
        [
            peers.coterie(coterie_image),
            peers.sklearn(sklearn_image),
            Contender("sklearn, lean", "sklearn", "scikit-learn", sklearn_lean),
            Contender("median cut", "PIL", "pillow", pillow_image("MEDIANCUT")),
            Contender("octree", "PIL", "pillow", pillow_image("FASTOCTREE")),
        ],
        judge,
        judged_by="MSE",
    )
    for k in (16, 256)
]
