"""Model files: any estimator of the package as safetensors arrays under one JSON header.

The header describes the model in JSON; wherever an array stands in it, a reference names the
tensor that holds the values. A file is data only: reading one builds a public class of the
package and sets its attributes, nothing a file says is imported or run. `docs/files.md` has the
schema.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from safetensors.numpy import load as parse_tensors
from sklearn.base import BaseEstimator

from coterie._checks import STAND_IN
from coterie._sparse import contradiction
from coterie._writing import writing
from coterie.data import is_dask
from coterie.errors import FileError
from coterie.table_model import Scaling, TableModel

__all__ = ["decode_model", "encode_model", "load", "load_bundle", "save_model"]

FORMAT = "coterie"
#: That of the files of coterie.search.
INDEX_FORMAT = "coterie-index"
SCHEMA = 1

#: What safetensors can hold and NumPy can compute with.
_DTYPES = frozenset(
    ["bool", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
#: How safetensors calls the kinds of NumPy's types.
_KINDS = {"b": "BOOL", "f": "F", "i": "I", "u": "U"}
#: Longest header that safetensors agrees to read.
_HEADER_BYTES = 100_000_000
#: Most entries of lists and objects in a header, so that parsing it takes no more than about a
#: gigabyte, and how deep they may be nested.
_HEADER_ITEMS = 10_000_000
_HEADER_DEPTH = 100
#: Most bytes of an array of text, whose every entry takes as much as the longest.
_TEXT_BYTES = 1 << 27

Tensors = dict[str, npt.NDArray[Any]]


def save_model(
    path: str | os.PathLike[str],
    model: Any,
    *,
    columns: list[str] | None = None,
    scaling: Mapping[str, npt.ArrayLike] | None = None,
) -> None:
    """Write a model, fitted or not, to a file that `load` reads back.

    Parameters and every attribute ending in ``_`` are stored. A callback and a random generator
    are stored as None, any other function given as a parameter as the text ``"<callable>"``: the
    loaded model predicts, but needs that parameter set again before another `fit`. The file
    appears whole or not at all.

    Parameters
    ----------
    path
        Where to write; an existing file is replaced, a device or pipe written through.
    model
        An estimator of this package.
    columns
        Names of the columns the model was fitted on, n_columns of them.
    scaling
        ``"mean"`` and ``"scale"`` of each column, shape (n_columns,) each.

    Raises
    ------
    FileError
        If `model` is not an estimator of this package or holds something a file cannot carry.
    OSError
        If the file cannot be written, with its path.
    """
    name = type(model).__name__
    tensors: Tensors = {}
    header = {
        "format": FORMAT,
        "schema": SCHEMA,
        "version": version("coterie"),
        **encode_model(model, tensors),
        "columns": None if columns is None else [str(column) for column in columns],
        "scaling": None
        if scaling is None
        else {
            key: _encode(np.asarray(scaling[key], dtype=np.float64), tensors, f"scaling {key}")
            for key in ("mean", "scale")
        },
    }
    text = json.dumps(header, allow_nan=False)
    outer, arrays = _laid_out(tensors, text)
    if _depth(header) > _HEADER_DEPTH:
        raise FileError(
            f"Cannot save this {name}: lists and dicts in it are nested more than "
            f"{_HEADER_DEPTH} deep; flatten them."
        )
    if len(outer) > _HEADER_BYTES or _count_items(text) > _HEADER_ITEMS:
        raise FileError(
            f"Cannot save this {name}: everything besides its arrays takes {len(outer):,} bytes "
            f"and a file has room for {_HEADER_BYTES:,}; delete model.history_ first."
        )
    with writing(path) as file:
        file.write(len(outer).to_bytes(8, "little"))
        file.write(outer)
        for array in arrays:
            file.write(array.reshape(-1).view(np.uint8).data)


def encode_model(model: Any, tensors: Tensors) -> dict[str, Any]:
    """A public estimator as JSON; its arrays are put into `tensors` and referred to by name."""
    name = type(model).__name__
    if _public_estimator(name) is not type(model):
        raise FileError(
            f"Cannot save a {type(model).__module__}.{name}: a model file holds only the public "
            f"estimators of coterie; save its arrays with numpy.savez instead."
        )
    params = model.get_params(deep=False)
    return {
        "class": name,
        "params": {
            key: _encode(_storable(key, value), tensors, f"{name}.{key}")
            for key, value in params.items()
        },
        "not_stored": sorted(k for k, v in params.items() if _storable(k, v) is not v),
        "fitted": {
            key: _encode(value, tensors, f"{name}.{key}")
            for key, value in vars(model).items()
            if _is_fitted_name(key)
        },
    }


def decode_model(header: dict[str, Any], tensors: Tensors) -> Any:
    """The estimator that `encode_model` wrote, checked; takes what it uses out of `tensors`."""
    model = _build_model(header, tensors)
    _let_model_check(model)
    return model


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file; runs nothing that the file brings.

    Parameters
    ----------
    path
        A file written by `model.save` or by ``coterie fit``.

    Returns
    -------
    The estimator that was saved; a `TableModel` around it where the file also has the names of
    the columns or their scaling, as those of ``coterie fit`` do, so that `predict` gives what
    ``coterie predict`` gives.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    FileError
        If it is not a model file, is damaged, or was written by a later, unknown schema.
    """
    found = load_bundle(path)
    return found.model if found.columns is None and found.scaling is None else found


def load_bundle(path: str | os.PathLike[str]) -> TableModel:
    """What `load` reads, always with what the file says of columns and scaling."""
    try:
        return _parse(_read_regular(Path(path)))
    except FileNotFoundError:
        raise
    except FileError as error:
        raise FileError(f"Cannot load {os.fspath(path)!r}: {error}") from None
    except Exception as error:
        # Whatever else a hostile file provokes (recursion, overflow, a failed constructor) is
        # the file's fault as well.
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileError(
            f"Cannot load {os.fspath(path)!r}: it is damaged or not a coterie model ({reason})."
        ) from error


def _laid_out(tensors: Tensors, text: str) -> tuple[bytes, list[npt.NDArray[Any]]]:
    """The safetensors header and the arrays in the order in which their bytes follow it.

    Written here because the library writes only to paths of its own making, from copies, and
    its errors carry no number. Widest numbers come first, so that all are aligned.
    """
    layout: dict[str, Any] = {"__metadata__": {FORMAT: text}}
    arrays = []
    end = 0
    for name, tensor in sorted(tensors.items(), key=lambda item: -item[1].dtype.itemsize):
        array = np.ascontiguousarray(tensor, dtype=tensor.dtype.newbyteorder("<"))
        kind = _KINDS[array.dtype.kind]
        bits = "" if kind == "BOOL" else 8 * array.dtype.itemsize
        layout[name] = {
            "dtype": f"{kind}{bits}",
            "shape": tensor.shape,
            "data_offsets": [end, end + array.nbytes],
        }
        arrays.append(array)
        end += array.nbytes
    outer = json.dumps(layout).encode()
    return outer + b" " * (-len(outer) % 8), arrays


def _public_estimator(name: str) -> type[BaseEstimator] | None:
    """The estimator class that the package exports under this name, if any."""
    import coterie

    home = coterie if name in coterie.__all__ else coterie.mixture
    home = home if name in home.__all__ else coterie.report  # the largest to import, so the last
    cls = getattr(home, name) if name in home.__all__ else None
    return cls if isinstance(cls, type) and issubclass(cls, BaseEstimator) else None


def _is_fitted_name(name: str) -> bool:
    """Whether `fit` may set an attribute of this name."""
    return name.isidentifier() and name.endswith("_") and not name.startswith("_")


def _storable(name: str, value: Any) -> Any:
    """The parameter itself, or what stands for it in a file."""
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    if getattr(value, "_is_code", False):  # a family of the user's own
        return None
    if callable(value):
        return None if name == "callback" else STAND_IN
    return value


# JSON has no arrays, NaN, or dicts that cannot be mistaken for a tag. So None, bool, int, finite
# float, str and list stand for themselves, and every JSON object is one tag with its content:
#   {"tensor": name}           an array, stored as the tensor of that name
#   {"csr": [shape, data, indices, indptr]}  a CSR matrix; the last three as arrays
#   {"strings": [kind, list]}  a 1-d array of text; kind is "object" or "str"
#   {"numpy": [dtype, value]}  a NumPy scalar
#   {"float": "nan"}           a float that JSON lacks: nan, inf, -inf
#   {"tuple": list}            a tuple
#   {"dict": {...}}            a dict with text keys
#   {"model": {...}}           a fitted estimator of the package inside another


def _encode(value: Any, tensors: Tensors, where: str) -> Any:
    """Plain data as JSON; arrays in it are put into `tensors` and referred to by name."""
    if is_dask(value):  # labels that were not computed yet
        value = value.compute()
    if isinstance(value, np.ndarray):
        return _encode_array(value, tensors, where)
    if isinstance(value, sp.csr_matrix | sp.csr_array):
        parts = (value.data, value.indices, value.indptr)
        return {
            "csr": [list(value.shape), *(_encode_array(part, tensors, where) for part in parts)]
        }
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.generic):
        if value.dtype.name not in _DTYPES:
            _refuse(f"a {value.dtype.name} scalar", where)
        return {"numpy": [value.dtype.name, _encode(value.item(), tensors, where)]}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, tuple):
        return {"tuple": [_encode(item, tensors, where) for item in value]}
    if isinstance(value, list):
        return [_encode(item, tensors, where) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _encode(item, tensors, where) for key, item in value.items()}}
    if isinstance(value, BaseEstimator):
        return {"model": {**encode_model(value, tensors), "version": version("coterie")}}
    _refuse(f"a {type(value).__name__}", where)


def _encode_array(array: npt.NDArray[Any], tensors: Tensors, where: str) -> Any:
    """A reference to the array's tensor, or its strings."""
    if array.dtype.name in _DTYPES and not isinstance(array, np.ma.MaskedArray):
        name = f"{len(tensors)}:{where}"
        tensors[name] = np.asarray(array, order="C")
        return {"tensor": name}
    if array.ndim == 1 and all(isinstance(item, str) for item in array):
        kind = "object" if array.dtype == object or array.nbytes > _TEXT_BYTES else "str"
        return {"strings": [kind, [str(item) for item in array]]}
    _refuse(f"a {array.ndim}-d array of {array.dtype.name}", where)


def _refuse(what: str, where: str) -> NoReturn:
    raise FileError(
        f"Cannot save {where}: a model file holds numbers, text, lists, dicts with text keys, CSR "
        f"matrices and real-valued arrays of at most 64 bits, but this is {what}; convert it or "
        "remove it."
    )


def _read_regular(path: Path) -> bytes:
    """The bytes of a regular file; anything else (a directory, a pipe) could block or not end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise FileError("it is not a regular file; give the path of a saved model.")
    return path.read_bytes()


def _parse(data: bytes) -> TableModel:
    """Build what the bytes of a model file describe."""
    tensors = parse_tensors(data)
    # safetensors has checked length and syntax of its own header by now.
    outer = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    metadata = outer.get("__metadata__", {})
    text = metadata.get(FORMAT)
    if text is None and INDEX_FORMAT in metadata:
        raise FileError(
            "it is an index of rows, not a model; open it with coterie.search.load, or ask it "
            "with 'coterie index search'."
        )
    if text is None:
        raise FileError("it is a safetensors file, but not one that coterie wrote.")
    if _count_items(text) > _HEADER_ITEMS:
        raise FileError(f"it is damaged: its header has more than {_HEADER_ITEMS:,} entries.")
    header = json.loads(text, parse_constant=_no_constant, parse_float=_finite_float)
    if _depth(header) > _HEADER_DEPTH:
        raise FileError(f"it is damaged: its header is nested more than {_HEADER_DEPTH} deep.")
    _check_header(header)
    model = _build_model(header, tensors)
    columns, scaling = header["columns"], header["scaling"]
    if scaling is not None:
        scaling = {key: _decode(scaling[key], tensors) for key in ("mean", "scale")}
    _check_table(model, columns, scaling)
    if tensors:
        raise FileError(f"it is damaged: nothing refers to its tensor {next(iter(tensors))!r}.")
    if header["fitted"]:
        _let_model_check(model)
    return TableModel(model, columns, scaling)


def _count_items(text: str) -> int:
    """At least as many entries as the lists and objects of a JSON text have together."""
    return sum(text.count(mark) for mark in ",[{")


def _depth(value: Any) -> int:
    """How deep lists and objects are nested."""
    deepest = 0
    waiting = [(value, 1)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, dict | list):
            deepest = max(deepest, depth)
            inner = value.values() if isinstance(value, dict) else value
            waiting += [(item, depth + 1) for item in inner if isinstance(item, dict | list)]
    return deepest


def _check_header(header: Any) -> None:
    """Refuse headers of another format or schema, or with parts missing or of the wrong type."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FileError("its header is not that of a coterie model.")
    schema = header.get("schema")
    if type(schema) is int and schema > SCHEMA:
        raise FileError(
            f"it was written by coterie {header.get('version')} in file schema {schema}, and this "
            f"version reads up to {SCHEMA}; upgrade coterie."
        )
    if type(schema) is not int or schema < 1:
        raise FileError(f"its schema is {schema!r}, which no version of coterie writes.")
    kinds: dict[str, type | tuple[type, ...]] = {
        "version": str,
        "class": str,
        "params": dict,
        "fitted": dict,
        "columns": (list, type(None)),
        "scaling": (dict, type(None)),
    }
    for key, kind in kinds.items():
        if key not in header or not isinstance(header[key], kind):
            raise FileError(f"it is damaged: {key!r} is missing from its header or malformed.")


def _build_model(header: dict[str, Any], tensors: Tensors) -> Any:
    """The estimator of the header, with parameters and fitted attributes set."""
    name = header["class"]
    cls = _public_estimator(name)
    if cls is None:
        raise FileError(
            f"it holds a {name!r} written by coterie {header['version']}, and this version has no "
            f"such estimator; upgrade coterie if the file is newer."
        )
    params = {key: _decode(value, tensors) for key, value in header["params"].items()}
    unknown = sorted(params.keys() - cls().get_params(deep=False).keys())
    if unknown:
        raise FileError(
            f"it sets {', '.join(unknown)}, which {name} does not have; it was written by coterie "
            f"{header['version']}, so upgrade coterie if that is newer."
        )
    model = cls(**params)
    for key, value in header["fitted"].items():
        if not _is_fitted_name(key) or hasattr(cls, key):
            raise FileError(f"it is damaged: {key!r} is not a fitted attribute of {name}.")
        setattr(model, key, _decode(value, tensors))
    return model


def _check_table(model: Any, columns: list[Any] | None, scaling: Scaling | None) -> None:
    """Column names and scaling must agree with each other and with the model."""
    counts = set()
    if columns is not None:
        if not all(isinstance(column, str) for column in columns):
            raise FileError("it is damaged: its column names are not text.")
        counts.add((len(columns),))
    if scaling is not None:
        for key, values in scaling.items():
            if not isinstance(values, np.ndarray) or values.dtype != np.float64:
                raise FileError(f"it is damaged: its scaling {key!r} is not an array of float64.")
            counts.add(values.shape)
        if (
            not np.isfinite([scaling["mean"], scaling["scale"]]).all()
            or (scaling["scale"] <= 0).any()
        ):
            raise FileError("it is damaged: its scaling is not finite or not positive.")
    n_features = getattr(model, "n_features_in_", None)
    if counts and n_features is not None:
        counts.add((n_features,))
    if len(counts) > 1:
        raise FileError("it is damaged: columns, scaling and model differ in length.")


def _let_model_check(model: Any) -> None:
    """Give the model a chance to refuse attributes it could not predict with."""
    check = getattr(model, "_check_loaded", None)
    if check is None:
        return
    try:
        check()
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileError(
            f"its {type(model).__name__} is inconsistent ({reason}); the file is damaged."
        ) from error


def _decode(value: Any, tensors: Tensors) -> Any:
    """The data that `_encode` wrote; tensors are taken out of `tensors` as they are used."""
    if isinstance(value, list):
        return [_decode(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    return _DECODERS[tag](content, tensors)


def _decode_csr(content: Any, tensors: Tensors) -> sp.csr_matrix:
    shape, *parts = content
    data, indices, indptr = (_decode(part, tensors) for part in parts)
    matrix = sp.csr_matrix((data, indices, indptr), shape=tuple(shape))
    matrix.check_format(full_check=True)  # raises where indices lead astray
    found = contradiction(matrix)  # also where it ends below zero, which SciPy takes for empty
    if found is not None:
        raise FileError(f"it is damaged: a sparse matrix contradicts itself ({found}).")
    return matrix


def _decode_strings(content: Any, tensors: Tensors) -> npt.NDArray[Any]:
    kind, strings = content
    if kind not in ("object", "str") or not all(isinstance(item, str) for item in strings):
        raise FileError("it is damaged: an array of text holds something else.")
    if kind == "str" and 4 * len(strings) * max(map(len, strings), default=0) > _TEXT_BYTES:
        raise FileError(f"it is damaged: an array of text takes more than {_TEXT_BYTES:,} bytes.")
    return np.array(strings, dtype=object if kind == "object" else str)


def _decode_scalar(content: Any, tensors: Tensors) -> Any:
    dtype, value = content
    if dtype not in _DTYPES:
        raise FileError(f"it is damaged: it has a number of the unknown type {dtype!r}.")
    return np.dtype(dtype).type(_decode(value, tensors))


_DECODERS: dict[str, Callable[[Any, Tensors], Any]] = {
    "tensor": lambda name, tensors: tensors.pop(name),
    "csr": _decode_csr,
    "strings": _decode_strings,
    "numpy": _decode_scalar,
    "float": lambda text, tensors: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text],
    "tuple": lambda items, tensors: tuple(_decode(item, tensors) for item in items),
    "dict": lambda items, tensors: {key: _decode(v, tensors) for key, v in items.items()},
    "model": lambda header, tensors: decode_model(header, tensors),
}


def _no_constant(text: str) -> NoReturn:
    raise FileError(f"it is damaged: its header contains {text}, which is not JSON.")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise FileError(f"it is damaged: the number {text} in its header is too large.")
    return value
