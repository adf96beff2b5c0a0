"""Files that a path, a pattern, a directory, a list or an address names, as one pyarrow dataset."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from fnmatch import fnmatch
from typing import Any

from coterie.data import _notation as notation
from coterie.data._arrow_batches import readable
from coterie.data._delimited import first_line, has_names, listing
from coterie.errors import DataError

#: What files are called, by how they are read.
_FORMATS = {
    "parquet": (".parquet", ".pq", ".parq"),
    "ipc": (".arrow", ".feather", ".ipc"),
    "csv": (".csv", ".tsv", ".tab", ".txt"),
    "npy": (".npy",),
}
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4", ".br")
#: How files begin that are called otherwise.
_MARKS = {b"PAR1": "parquet", b"ARROW1": "ipc", b"\x93NUMPY": "npy"}
#: Text files whose columns are looked at until every column is known.
_MOST_LOOKED_AT = 16


def words_for(where: Any) -> str:
    """What to call some files in a message."""
    if isinstance(where, (list, tuple)):
        one = os.fspath(where[0])
        return one if len(where) == 1 else f"{one} and {len(where) - 1} more"
    return os.fspath(where)


class Files:
    """Files of one format: where they are and in which order, each with at least a byte.

    `root` is the directory they were found in, whose names of the form ``column=value`` are columns
    too; None where files were named themselves.
    """

    def __init__(self, where: Any) -> None:
        self.name = words_for(where)
        self.root: str | None = None
        places = list(where) if isinstance(where, (list, tuple)) else [where]
        self.filesystem, paths = self._found([os.fspath(place) for place in places])
        infos = self.filesystem.get_file_info(paths)
        self.paths = [info.path for info in infos if info.size != 0]
        if not self.paths:
            raise DataError(f"{self.name}: there is nothing in it; give files with rows.")
        kinds = {self._format(path) for path in self.paths}
        if len(kinds) > 1:
            raise DataError(
                f"{self.name}: the files are of several formats ({', '.join(sorted(kinds))}); give "
                "files of one format, for example by a pattern such as '*.parquet'."
            )
        (self.format,) = kinds

    def _found(self, places: Sequence[str]) -> tuple[Any, list[str]]:
        """The file system, and the paths in order: as listed, by name where they are found."""
        from pyarrow.fs import FileType

        filesystem, paths = None, []
        for place in places:
            filesystem, path = _resolved(place)
            info = _info(filesystem, path)
            if info.type == FileType.File:
                paths.append(path)
                continue
            if info.type == FileType.Directory:
                self.root = path if len(places) == 1 else None
                found = _inside(filesystem, path)
            else:
                found = _matching(filesystem, path)
            if not found:
                what = "holds no file" if info.type == FileType.Directory else "names no file"
                raise FileNotFoundError(
                    f"{place!r} {what}; give a path, a pattern such as 'data/*.parquet', a "
                    "directory or a list of paths."
                )
            paths += found
        return filesystem, paths

    def _format(self, path: str) -> str:
        """How to read a file, by its name, or by how it begins."""
        name = path.lower()
        for end in _COMPRESSED:
            name = name.removesuffix(end)
        for kind, ends in _FORMATS.items():
            if name.endswith(ends):
                return kind
        with self.filesystem.open_input_stream(path, compression=None) as file:
            begin = file.read(8)
        return next((kind for mark, kind in _MARKS.items() if begin.startswith(mark)), "csv")

    def local_paths(self) -> list[str]:
        """The paths, which must be on this machine."""
        if self.filesystem.type_name != "local":
            raise DataError(
                f"{self.name}: .npy files are mapped into memory, so they must be on this machine; "
                "download them, or write Parquet files."
            )
        return self.paths

    def dataset(self, columns: Sequence[str] | None = None, without: Collection[str] = ()) -> Any:
        """The files as a dataset of all their columns.

        Of `columns`, None for all but those `without`, every file must have what any of them has.
        """
        import pyarrow.dataset as ds

        layout = _text_format(self) if self.format == "csv" else self.format
        partitions = {}
        if self.root is not None:
            partitions = {"partitioning": ds.partitioning(flavor="hive"),
                          "partition_base_dir": self.root}  # fmt: skip
        options = {"filesystem": self.filesystem, "format": layout, **partitions}
        with readable(self, 0, 1):
            found = ds.dataset(self.paths, **options)
        fragments = list(found.get_fragments())
        names = [_names_in(fragment) for fragment in fragments] if len(fragments) > 1 else []
        paths = [fragment.path for fragment in fragments[: len(names)]]
        _check_same_columns(paths, names, columns, without)
        schema = self._schema(found, {name for own in names for name in own})
        return ds.dataset(self.paths, schema=schema, **options)

    def _schema(self, found: Any, every: Collection[str]) -> Any:
        """The columns of all files; text may turn out to have fractions, or nulls at first.

        Of text files so many are looked at as it takes to know every column.
        """
        import pyarrow as pa

        fragments = list(found.get_fragments())
        schemas = []
        for fragment in fragments:
            with readable(fragment, 0, 1):
                schemas.append(fragment.physical_schema)
            if self.format == "csv":
                known = _unified(self.name, [*schemas, found.schema])
                untold = pa.null() in known.types and len(schemas) < _MOST_LOOKED_AT
                if not untold and set(every) <= set(known.names):
                    break
        schema = _unified(self.name, [*schemas, found.schema])
        if self.format == "csv":
            schema = pa.schema([_roomy(field) for field in schema])
        return schema


def _check_same_columns(
    paths: list[str],
    names: list[list[str]],
    columns: Sequence[str] | None,
    without: Collection[str],
) -> None:
    """Refuse a file that lacks a column of another, where nulls would stand in its place.

    Parameters
    ----------
    paths, names
        The files, and the columns of each.
    columns
        Those that count; None: all.
    without
        Those that do not count.
    """
    used = dict.fromkeys(name for own in names for name in own if name not in without)
    if columns is not None:
        used = dict.fromkeys(name for name in columns if name in used)
    for path, own in zip(paths, names, strict=True):
        lacking = [name for name in used if name not in own]
        if lacking:
            has = next(place for place, other in enumerate(names) if lacking[0] in other)
            raise DataError(
                f"{path}: it has no column{'s' if len(lacking) > 1 else ''} {listing(lacking)}, "
                f"which {paths[has]} has; give files of one table."
            )


def _names_in(fragment: Any) -> list[str]:
    """The columns of a file, and those that its directory names."""
    import pyarrow.dataset as ds

    with readable(fragment, 0, 1):
        own = list(fragment.physical_schema.names)
    return [*own, *ds.get_partition_keys(fragment.partition_expression)]


def _roomy(field: Any) -> Any:
    """A column of text files with room for what later cells may be."""
    import pyarrow as pa

    narrow = pa.types.is_integer(field.type) or pa.types.is_null(field.type)
    return field.with_type(pa.float64()) if narrow else field


def _unified(name: str, schemas: list[Any]) -> Any:
    """The columns of all, each wide enough for every file."""
    import pyarrow as pa

    try:
        return pa.unify_schemas(schemas, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(
            f"{name}: a column has different types in different files ({reason}); write the files "
            "alike, or choose fewer of them."
        ) from error


def text_layout(files: Files) -> tuple[str, list[str] | None]:
    """The delimiter of the first file; names of the columns where it has none itself."""
    path = files.paths[0]
    tabs = any(path.lower().removesuffix(end).endswith((".tsv", ".tab")) for end in ("", ".gz"))
    try:
        with files.filesystem.open_input_stream(path) as file:
            begin = file.read(1 << 16)
    except (OSError, EOFError) as error:
        raise DataError(f"{path}: it cannot be read ({error}); write it again.") from error
    cells, delimiter = first_line(path, begin, "\t" if tabs else None)
    return delimiter, None if has_names(cells) else [f"x{place}" for place in range(len(cells))]


def _text_format(files: Files) -> Any:
    """How the text of the first file is laid out: its delimiter, and whether it has names."""
    import pyarrow.csv as pa_csv
    import pyarrow.dataset as ds

    delimiter, names = text_layout(files)
    return ds.CsvFileFormat(
        parse_options=pa_csv.ParseOptions(delimiter=delimiter),
        read_options=pa_csv.ReadOptions(column_names=names),
        convert_options=pa_csv.ConvertOptions(null_values=notation.NULLS, strings_can_be_null=True),
    )


def _resolved(place: str) -> tuple[Any, str]:
    """The file system of an address, and the path there."""
    from pyarrow.fs import FileSystem, FSSpecHandler, LocalFileSystem, PyFileSystem

    if "://" not in place:
        return LocalFileSystem(), os.path.abspath(os.path.expanduser(place))
    try:
        filesystem, path = FileSystem.from_uri(place)
        return filesystem, str(path)
    except (ValueError, OSError, NotImplementedError) as refusal:
        try:
            from fsspec.core import url_to_fs

            there, path = url_to_fs(place)
        except (ImportError, ValueError) as error:
            raise DataError(
                f"{place!r} is an address that neither pyarrow ({refusal}) nor fsspec ({error}) "
                "knows; download the file, or install what fsspec needs for it."
            ) from error
        return PyFileSystem(FSSpecHandler(there)), str(path)


def _info(filesystem: Any, path: str) -> Any:
    try:
        return filesystem.get_file_info(path)
    except OSError as error:
        raise DataError(f"{path}: it cannot be looked at ({error}).") from error


def _inside(filesystem: Any, directory: str) -> list[str]:
    """Files under a directory by name, but for hidden ones and those that begin with _."""
    from pyarrow.fs import FileSelector, FileType

    infos = filesystem.get_file_info(FileSelector(directory, recursive=True))
    return sorted(
        info.path
        for info in infos
        if info.type == FileType.File
        and not any(
            part.startswith((".", "_")) for part in info.path[len(directory) :].split("/") if part
        )
    )


def _matching(filesystem: Any, pattern: str) -> list[str]:
    """Files whose paths fit a pattern, by name; ``**`` stands for any directories."""
    from glob import glob

    from pyarrow.fs import FileSelector, FileType

    if not any(mark in pattern for mark in "*?["):
        return []
    if filesystem.type_name == "local":
        return sorted(path for path in glob(pattern, recursive=True) if os.path.isfile(path))
    head = pattern[: min(pattern.find(mark) for mark in "*?[" if mark in pattern)]
    root = head.rpartition("/")[0]
    selector = FileSelector(root, recursive=True, allow_not_found=True)
    return sorted(
        info.path
        for info in filesystem.get_file_info(selector)
        if info.type == FileType.File and fnmatch(info.path, pattern)
    )
