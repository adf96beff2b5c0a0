"""How many colours does a picture need? Its PSNR and size in 2 to 256 colours.

    python examples/quantize_picture.py [PICTURE [OUT.png]]

Without arguments the picture is made here. With your own (PNG, JPEG ...; needs Pillow) you see
where more colours stop to matter, and OUT.png is it in the fewest that reach 35 dB.
"""

import sys

import numpy as np

from coterie.quantize import image

GOOD_ENOUGH = 35.0  # dB: little of the difference is seen


def rings(side: int = 256) -> np.ndarray:
    """Coloured rings with some noise."""
    y, x = np.mgrid[0:side, 0:side] / side - 0.5
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    waves = [np.sin(25 * radius + shift + angle) for shift in (0, 2, 4)]
    noise = np.random.default_rng(0).normal(0, 0.02, (side, side, 3))
    return np.clip(127.5 * (1 + np.stack(waves, axis=2) + noise), 0, 255).astype(np.uint8)


def main(picture: object, out: str | None) -> None:
    """Print a line for each number of colours; write the first that is good enough."""
    print(f"{'colours':>7}{'bits per pixel':>16}{'of the raw bits':>17}{'PSNR':>10}")
    for bits in range(1, 9):
        few = image(picture, 2**bits, random_state=0)
        share = few.bits() / few.raw_bits
        print(f"{few.n_colors:>7}{few.bits_per_pixel:>16}{share:>17.1%}{few.psnr:>7.1f} dB")
        if out is not None and few.psnr >= GOOD_ENOUGH:
            few.save(out)
            print(f"{out}: {few.n_colors} colours")
            return


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(arguments[0] if arguments else rings(), arguments[1] if len(arguments) > 1 else None)
