"""``coterie quantize``: a picture in few colours."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli._interrupts import raise_when_interrupted
from coterie.cli._outputs import is_stdout, refuse_overwriting, summary

if TYPE_CHECKING:
    from coterie.quantize import QuantizedImage


def quantize(
    picture: Annotated[
        Path, typer.Argument(metavar="PICTURE", help="PNG, JPEG, GIF, BMP, TIFF, WebP or PPM file.")
    ],
    k: Annotated[int, typer.Option("-k", "--colors", help="Colours, at most.", min=1)] = 16,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="PNG file; PICTURE-K.png beside PICTURE by default."),
    ] = None,
    lab: Annotated[
        bool, typer.Option("--lab", help="Compare colours in CIE Lab, nearer to what eyes see.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)] = 0,
    n_init: Annotated[int, typer.Option(help="Starts; the best is kept.", min=1)] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print the facts as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
    threads: Annotated[
        int | None, typer.Option(help="Threads to use; all by default.", min=1)
    ] = None,
) -> None:
    """Write a picture in few colours, those that k-means finds, as PNG with a palette."""
    from coterie._writing import check_writable
    from coterie.errors import DataError
    from coterie.quantize import image
    from coterie.quantize.image import check_png

    if output is None:
        output = picture.parent / f"{picture.stem}-{k}.png"
    check_png(output)
    check_writable(output)
    refuse_overwriting([picture], [output])

    raise_when_interrupted()
    try:
        found = image(
            picture, k, space="lab" if lab else "rgb", n_init=n_init, random_state=seed,
            n_threads=threads,
        )  # fmt: skip
    except DataError as error:
        # Where Python would be told to pass an array.
        raise DataError(str(error).removeprefix("image: ")) from error
    found.save(output)

    facts = _facts(picture, output, found)
    with summary():
        show = partial(print, file=sys.stderr if is_stdout(output) else sys.stdout)
        if quiet:
            return
        if as_json:
            show(json.dumps(facts))
            return
        for line in _lines(facts):
            show(line)


def _facts(picture: Path, output: Path, found: QuantizedImage) -> dict[str, Any]:
    """What was done, in numbers; PSNR is None where nothing was lost."""
    height, width = found.indices.shape
    return {
        "picture": str(picture),
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
        "bytes_in": picture.stat().st_size,
        "bytes_out": output.stat().st_size,
        "notes": [event["detail"] for event in found.events],
        "written": str(output),
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    """The facts for people."""
    kind = {1: "grey", 3: "RGB", 4: "RGBA"}[facts["channels"]]
    had = "" if facts["n_distinct"] is None else f" of {facts['n_distinct']:,}"
    exact = "exact" if facts["psnr"] is None else f"{facts['psnr']:.2f} dB"
    return [
        f"picture     {facts['picture']}: {facts['width']:,} x {facts['height']:,}, {kind}, "
        f"{facts['bits_per_channel']} bits a channel",
        f"colours     {facts['n_colors']:,}{had}",
        f"bits        {facts['bits_per_pixel']} a pixel; {facts['bits_with_palette']:,} with the "
        f"palette, {facts['raw_bits']:,} before",
        f"PSNR        {exact}",
        f"file        {facts['bytes_out']:,} bytes, {facts['bytes_in']:,} before",
        *(f"note {number}      {note}" for number, note in enumerate(facts["notes"], 1)),
        f"written     {facts['written']}",
    ]
