"""``coterie quantize``: a picture in few colours."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli._limits import limited
from coterie.cli._options import Json, MaxMemory, Quiet, Seed, Threads
from coterie.cli._outputs import as_output, is_stdout, named, refuse_overwriting, write_files
from coterie.cli._stdin import STDIN, as_files, check_there

if TYPE_CHECKING:
    from coterie.quantize import QuantizedImage

#: Advice that only Python can follow, and what to do here instead.
_INSTEAD = {
    "pass an array scaled to 0 to 65535 as uint16": "scale them to 0 to 65535 first",
    "or pass uint8 or uint16": "or save it with 8 or 16 bits per channel",
    "if you trust it, set PIL.Image.MAX_IMAGE_PIXELS = None first, or make it": "make it",
}


def quantize(
    picture: Annotated[
        Path,
        typer.Argument(
            metavar="PICTURE",
            help="PNG, JPEG, GIF, BMP, TIFF, WebP or PPM file; - for stdin.",
        ),
    ],
    k: Annotated[int, typer.Option("-k", "--colors", help="Colours, at most.", min=1)] = 16,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="PNG file, PICTURE-K.png beside PICTURE by default; - for stdout.",
        ),
    ] = None,
    lab: Annotated[
        bool, typer.Option("--lab", help="Compare colours in CIE Lab, nearer to what eyes see.")
    ] = False,
    seed: Seed = 0,
    n_init: Annotated[int, typer.Option(help="Starts; the best is kept.", min=1)] = 8,
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Write a picture in few colours, those that k-means finds, as PNG with a palette."""
    from coterie._writing import check_writable
    from coterie.cli._telling import tell
    from coterie.errors import DataError
    from coterie.quantize import image
    from coterie.quantize.image import check_png

    if output is None:
        here = Path() if str(picture) == STDIN else picture.parent
        output = here / f"{'stdin' if str(picture) == STDIN else picture.stem}-{k}.png"
    if str(output) != STDIN:
        check_png(output)
    output = as_output(output)
    check_writable(output)
    refuse_overwriting([picture], [output])
    check_there([str(picture)])

    with limited(threads, max_memory), as_files([str(picture)], text=True) as (place,):
        bytes_in = Path(place).stat().st_size
        try:
            found = image(
                Path(place), k, space="lab" if lab else "rgb", n_init=n_init, random_state=seed,
                n_threads=threads,
            )  # fmt: skip
        except DataError as error:
            told = str(error).removeprefix("image: ")
            for python, instead in _INSTEAD.items():
                told = told.replace(python, instead)
            raise DataError(told) from error
        facts = _facts(picture, output, found)
        facts["bytes_in"] = bytes_in

        def save(path: Path) -> None:
            made = path.with_name("picture.png")  # as stdout has no such name
            found.save(made)
            facts["bytes_out"] = made.stat().st_size
            made.rename(path)

        write_files({output: save})
    tell(facts, partial(_lines, facts), as_json=as_json, quiet=quiet, aside=is_stdout(output))


def _facts(picture: Path, output: Path, found: QuantizedImage) -> dict[str, Any]:
    """What was done, in numbers; PSNR is None where nothing was lost."""
    height, width = found.indices.shape
    return {
        "picture": "stdin" if str(picture) == STDIN else str(picture),
        "width": width,
        "height": height,
        "channels": int(found.palette.shape[1]),
        "bits_per_channel": 8 * found.palette.itemsize,
        "n_distinct": found.n_distinct,
        "n_colors": found.n_colors,
        "palette": found.palette.tolist(),
        "counts": found.counts.tolist(),
        "bits_per_pixel": found.bits_per_pixel,
        "raw_bits": found.raw_bits,
        "bits_without_palette": found.bits(palette=False),
        "bits_with_palette": found.bits(),
        "psnr": None if found.mse == 0 else found.psnr,
        "bytes_in": 0,
        "bytes_out": 0,
        "notes": [event["detail"] for event in found.events],
        "written": named(output),
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    """The facts for people."""
    kind = {1: "grey", 3: "RGB", 4: "RGBA"}[facts["channels"]]
    had = "" if facts["n_distinct"] is None else f" of {facts['n_distinct']:,}"
    exact = "exact" if facts["psnr"] is None else f"{facts['psnr']:.2f} dB"
    return [
        f"picture     {facts['picture']}: {facts['width']:,} x {facts['height']:,}, {kind}, "
        f"{facts['bits_per_channel']} bits per channel",
        f"colours     {facts['n_colors']:,}{had}",
        f"bits        {facts['bits_per_pixel']} per pixel; {facts['bits_with_palette']:,} with the "
        f"palette, {facts['raw_bits']:,} before",
        f"PSNR        {exact}",
        f"file        {facts['bytes_out']:,} bytes, {facts['bytes_in']:,} before",
        *(f"note {number}      {note}" for number, note in enumerate(facts["notes"], 1)),
        f"written     {facts['written']}",
    ]
