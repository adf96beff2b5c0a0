"""The texts of files as bytes of UTF-8: unpacked, and those of several files as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coterie.data._datasets import Files
from coterie.errors import DataError

#: Marks of text that is two bytes a letter.
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MARK = b"\xef\xbb\xbf"
#: How compressed files begin, and how Arrow calls what compressed them.
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
#: How files of tables and arrays begin.
_NO_TEXT = (b"PAR1", b"ARROW1", b"\x93NUMPY")


def unpacked(path: Path) -> bytes | None:
    """The text in a compressed file; None of what is not compressed, and of what is no text."""
    import pyarrow as pa

    with path.open("rb") as file:
        begin = file.read(8)
    kind = next((kind for mark, kind in _PACKED.items() if begin.startswith(mark)), None)
    if kind is None:
        return None
    try:
        with pa.input_stream(str(path), compression=kind) as stream:
            data = bytes(stream.read())
    except OSError as error:
        raise DataError(f"{path}: the {kind} file is damaged; compress the table again.") from error
    return None if data.startswith(_NO_TEXT) else data


def as_utf8(data: bytes) -> tuple[bytes, list[str]]:
    """The text in UTF-8, and a sentence where it was something else."""
    if data.startswith(_UTF16):
        try:
            return data.decode("utf-16").encode(), ["The text is UTF-16."]
        except UnicodeDecodeError:
            return data, []  # no text at all: the parser says so
    try:
        data.decode()
    except UnicodeDecodeError:
        if b"\0" not in data[: 1 << 16]:
            text = data.decode("cp1252", errors="replace")
            return text.encode(), ["The text is not UTF-8 and was read as Windows-1252."]
    return data, []


@dataclass(frozen=True)
class Joined:
    """The text of several files as that of one: with tabs or not, and how it was read."""

    name: str
    text: bytes
    tabs: bool
    notes: list[str]


def joined(places: Sequence[str], header: bool | None = None) -> Joined | None:
    """Several files that begin with the same names of columns, or that are said to have none.

    None of anything else: files without names or with others, elsewhere, or that are no text.
    """
    from coterie.data._delimited import first_line, has_names, listing

    files = Files(places[0] if len(places) == 1 else list(places))
    within = [path[len(files.root or "") :] for path in files.paths]
    local = files.filesystem.type_name == "local"
    if files.format != "csv" or not local or (files.root and any("=" in path for path in within)):
        return None
    heads: set[bytes] = set()
    texts: list[bytes] = []
    told: dict[str, list[str]] = {}  # the files of each sentence
    for path in map(Path, files.paths):
        packed = unpacked(path)
        text, notes = as_utf8(path.read_bytes() if packed is None else packed)
        for note in notes:
            told.setdefault(note, []).append(path.name)
        text = text.removeprefix(_MARK)
        if header is not False:
            head, _, text = text.lstrip().partition(b"\n")
            heads.add(head.strip())
        texts.append(text.strip(b"\r\n"))
    if len(heads) > 1:
        return None
    tabs = all(path.lower().removesuffix(".gz").endswith((".tsv", ".tab")) for path in files.paths)
    whole = b"\n".join([*heads, *filter(None, texts)]) + b"\n"
    if header is None:
        try:
            first, _ = first_line(files.name, whole, "\t" if tabs else None)
        except DataError:
            return None
        if not has_names(first):
            return None
    notes = [
        note.replace("The text", f"The text of {listing(names)}", 1) for note, names in told.items()
    ]
    return Joined(files.name, whole, tabs, notes)
