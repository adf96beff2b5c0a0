"""The pages of the API reference, written from `__all__`: a public name cannot be left out."""

import inspect
from importlib import import_module
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any

#: Public modules in the order in which the reference shows them, and what each is called there.
MODULES = {
    "coterie": "Options and files",
    "coterie.centroid": "Centres",
    "coterie.medoid": "Medoids, covers, leaders",
    "coterie.mixture": "Mixtures",
    "coterie.hierarchy": "Hierarchies",
    "coterie.density": "Density",
    "coterie.quantize": "Codebooks",
    "coterie.search": "Search",
    "coterie.neighbors": "Neighbours",
    "coterie.distance": "Distances",
    "coterie.evaluate": "Scores",
    "coterie.select": "Choices",
    "coterie.report": "The study",
    "coterie.plots": "Plots",
    "coterie.data": "Sources of rows",
    "coterie.table_model": "Models of tables",
    "coterie.errors": "Errors and warnings",
    "coterie.cli": "The command",
}


def public_names(module: ModuleType) -> list[str]:
    """The names of `__all__`; of a module without one, the classes that it defines."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__, key=str.lower)
    return sorted(
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    )


def homes() -> dict[str, list[str]]:
    """For each module, the full names it shows; each thing is shown once, by its shortest name.

    What `coterie` itself exports is shown with its family under the short name.
    """
    short = set(public_names(import_module("coterie")))
    shown: dict[str, list[str]] = {}
    for module in [name for name in MODULES if name != "coterie"]:
        shown[module] = [
            f"coterie.{name}" if name in short and _same(module, name) else f"{module}.{name}"
            for name in public_names(import_module(module))
        ]
    elsewhere = {name for names in shown.values() for name in names}
    rest = {f"coterie.{name}" for name in short} - elsewhere
    return {"coterie": sorted(rest, key=str.lower), **shown}


def _same(module: str, name: str) -> bool:
    return getattr(import_module(module), name) is getattr(import_module("coterie"), name)


def _object(full_name: str) -> Any:
    module, _, name = full_name.rpartition(".")
    return getattr(import_module(module), name)


def _directive(full_name: str) -> str:
    """What documents a thing: its kind decides."""
    value = _object(full_name)
    if isinstance(value, GenericAlias):
        return f".. py:type:: {full_name}\n   :canonical: {value}"
    if inspect.isclass(value):
        own = "" if issubclass(value, Exception) else "\n   :members:\n   :inherited-members:"
        return f".. autoclass:: {full_name}{own}"
    if inspect.isroutine(value):
        return f".. autofunction:: {full_name}"
    return f".. autodata:: {full_name}"


def _heading(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n"


def _list(entries: list[str]) -> str:
    return "\n".join(f"   {entry}" for entry in entries)


def pages() -> dict[str, str]:
    """Every page of the reference, by its file name."""
    shown = homes()
    written = {}
    for module, names in shown.items():
        about = inspect.getdoc(import_module(module)) or ""
        in_table = [f"~{name}" for name in names if not isinstance(_object(name), GenericAlias)]
        where = "" if module == "coterie" else f"``{module}``: "
        written[f"{module}.rst"] = (
            f"{_heading(MODULES[module])}\n.. module:: {module}\n\n{where}{about}\n\n"
            f".. currentmodule:: None\n\n.. autosummary::\n\n{_list(in_table)}\n\n"
            f".. toctree::\n   :hidden:\n\n{_list(names)}\n"
        )
        for name in names:
            written[f"{name}.rst"] = f"{_heading(name)}\n{_directive(name)}\n"
    contents = "\n".join(
        f":doc:`{MODULES[module]} <{module}>`\n   {' · '.join(f'`~{name}`' for name in names)}\n"
        for module, names in shown.items()
    )
    written["index.rst"] = (
        f"{_heading('Reference')}\nEvery public name, from its docstring.\n\n{contents}\n"
        f".. toctree::\n   :hidden:\n\n{_list(list(shown))}\n"
    )
    return written


def write_reference(folder: Path) -> None:
    """Write the pages that changed and delete those of names that are gone."""
    folder.mkdir(exist_ok=True)
    written = pages()
    for old in folder.glob("*.rst"):
        if old.name not in written:
            old.unlink()
    for name, text in written.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
