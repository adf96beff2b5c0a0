"""Reads the imports of the package and keeps the dependency arrows pointing one way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import coterie

ROOT = Path(__file__).parents[1]
PACKAGE = Path(coterie.__file__).parent
if (ROOT / "src" / "coterie").is_dir():
    PACKAGE = ROOT / "src" / "coterie"

#: Families from the ground up; a later one may use an earlier one.
FAMILIES = [
    "distance", "neighbors", "centroid", "medoid", "quantize", "search", "hierarchy", "density",
    "mixture",
]  # fmt: skip
#: What anything may use, and what the ground itself may use.
GROUND = {"_kernels": set[str](), "errors": set[str](), "_config": {"_kernels"}}
GROUND["data"] = {"_kernels", "_config", "_distinct", "_writing", "errors"}
GROUND["_threads"] = {"_kernels"}
GROUND["_sparse"] = GROUND["_distinct"] = set[str]()
#: Helpers of the estimators; they know of no family.
SHARED = {
    "_base",
    "_checks",
    "_complaints",
    "_doors",
    "_files",
    "_fitted_html",
    "_in_memory",
    "_history",
    "_labels",
    "_progress",
    "_random",
    "_restarts",
    "_stored",
    "_writing",
    "table_model",
}
#: From the top: each may use what stands after it, and everything below.
SURFACE = ["cli", "report", "plots", "select"]

#: Libraries that only some places may know.
RESERVED = {
    "dask": {"data"},
    "distributed": {"data"},
    "pyarrow": {"data"},
    "fsspec": {"data"},
    "duckdb": {"data"},
    "adbc_driver_manager": {"data"},
    "adbc_driver_sqlite": {"data"},
    "adbc_driver_postgresql": {"data"},
    "matplotlib": {"plots", "report"},
    "plotly": {"plots", "report"},
    "jinja2": {"plots", "report"},
    "typer": {"cli"},
    "rich": {"cli"},
    "threadpoolctl": {"_threads"},
    "PIL": {"quantize"},
}


def imports_of(path: Path) -> Iterator[str]:
    """Dotted names a file imports, wherever in it; `from a import b` gives `a.b`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import by full name, not relative"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part_of(name: str) -> str:
    """`coterie.data.blocks.Block` -> `data`; `coterie.KMeans` -> `centroid`, its home."""
    public = {full.rpartition(".")[2]: full for full in imports_of(PACKAGE / "__init__.py")}
    second = name.split(".")[1]
    return public.get(second, name).split(".")[1]


def may_use(part: str) -> set[str]:
    """Parts of coterie that a part may import."""
    if part in GROUND:
        return GROUND[part] | {part}
    below = set(GROUND) | SHARED
    if part in SHARED:
        return below
    if part in FAMILIES:
        return below | {"evaluate"} | set(FAMILIES[: FAMILIES.index(part) + 1])
    if part == "evaluate":
        return below | {"evaluate", "distance", "neighbors"}
    everything_below = below | {"evaluate"} | set(FAMILIES)
    return everything_below | set(SURFACE[SURFACE.index(part) :])


FILES = sorted(PACKAGE.rglob("*.py"))
IN_A_PART = [path for path in FILES if path != PACKAGE / "__init__.py"]


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", IN_A_PART, ids=_name)
def test_arrows_point_one_way(path: Path) -> None:
    allowed = may_use(_part(path))
    ours = {name for name in imports_of(path) if name.split(".")[0] == "coterie"}
    if path == PACKAGE / "_files.py":
        ours.discard("coterie")  # a loaded model's class is looked up among the public names
    assert "coterie" not in ours, f"{_name(path)} imports the whole package"
    wrong = {name for name in ours if part_of(name) not in allowed}
    assert not wrong, f"{_name(path)} must not lean on {sorted(wrong)}"


def test_every_part_of_the_house_is_known() -> None:
    parts = {_part(path) for path in IN_A_PART}
    assert parts <= set(GROUND) | SHARED | set(FAMILIES) | {"evaluate"} | set(SURFACE)


def _estimator_files() -> set[str]:
    """Modules of the families that define a public estimator."""
    found = set()
    for path in IN_A_PART:
        if _part(path) not in FAMILIES or path.name.startswith("_"):
            continue
        classes = [
            node
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.ClassDef)
        ]
        if any(isinstance(item, ast.FunctionDef) and item.name == "fit"
               for node in classes for item in node.body):  # fmt: skip
            found.add("coterie." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    return found


@pytest.mark.parametrize(
    "path",
    [
        p
        for p in IN_A_PART
        if _part(p) in FAMILIES and p.name.startswith("_") and p.stem != "__init__"
    ],
    ids=_name,
)
def test_algorithms_know_no_estimator(path: Path) -> None:
    estimators = _estimator_files()
    assert estimators, "no estimator found at all"
    wrong = {name for name in imports_of(path) if name.rpartition(".")[0] in estimators}
    packages = {f"coterie.{family}" for family in FAMILIES}
    wrong |= {name for name in imports_of(path) if name.rpartition(".")[0] in packages
              and hasattr(getattr(coterie, name.rpartition(".")[2], None), "fit")}  # fmt: skip
    assert not wrong


#: Parts that lean on the private ones of a family: starts and micro-clusters by k-means, and what
#: is drawn or chosen by a family's own algorithm.
MAY_LOOK_INSIDE = {("hierarchy", "centroid"), ("mixture", "centroid"), ("medoid", "centroid"),
                   ("plots", "hierarchy"), ("select", "density"), ("select", "hierarchy"),
                   ("quantize", "centroid"), ("plots", "quantize"), ("search", "centroid"),
                   ("search", "quantize")}  # fmt: skip


@pytest.mark.parametrize("path", IN_A_PART, ids=_name)
def test_no_private_name_crosses_a_family(path: Path) -> None:
    part = _part(path)
    for name in imports_of(path):
        top, *parts = name.split(".")
        if top != "coterie" or not parts or parts[0] not in FAMILIES or parts[0] == part:
            continue
        if (part, parts[0]) not in MAY_LOOK_INSIDE:
            private = [piece for piece in parts[1:] if piece.startswith("_")]
            assert not private, f"{_name(path)} uses a private part of {parts[0]}: {name}"


#: What needs rows by number: covers of seeding, batches, local search, and what is kept beside rows
#: in memory. All else sees blocks.
NEED_ROWS = {
    "_in_memory.py",
    "centroid/_farthest.py",
    "centroid/_local_search.py",
    "centroid/_minibatch.py",
    "centroid/_seed_distances.py",
    "mixture/_bits.py",
    "mixture/_missing.py",
}


@pytest.mark.parametrize("path", IN_A_PART, ids=_name)
def test_rows_of_a_source_stay_in_data(path: Path) -> None:
    if _part(path) == "data" or _name(path) in NEED_ROWS:
        return
    asked = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "rows"
        and isinstance(node.value, (ast.Name, ast.Attribute))
        and (node.value.id if isinstance(node.value, ast.Name) else node.value.attr)
        in ("blocks", "_blocks", "source", "_source")
    ]  # fmt: skip
    assert not asked, f"{_name(path)}, line {asked[0].lineno} reads the rows of a source"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_libraries_stay_where_they_belong(path: Path) -> None:
    for name in imports_of(path):
        library = name.split(".")[0]
        places = RESERVED.get(library)
        assert places is None or _part(path) in places, f"{_name(path)} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_scikit_learn_does_none_of_our_work(path: Path) -> None:
    for name in imports_of(path):
        parts = name.split(".")
        if parts[0] != "sklearn":
            continue
        assert not {"cluster", "metrics", "mixture", "neighbors"} & set(parts[1:2]), name
        private = [part for part in parts if part.startswith("_") and not part.startswith("__")]
        assert not private, f"{_name(path)} uses a private part of scikit-learn: {name}"


HEADERS = sorted((ROOT / "cpp" / "include").rglob("*.hpp"))


#: Folders of headers from the ground up: each includes its own and those before it.
HEADER_FOLDERS = [
    "threads", "graph", "simd", "rows", "distance", "neighbors", "centroid", "medoid", "quantize",
    "search", "hierarchy", "density", "mixture", "evaluate",
]  # fmt: skip


@pytest.mark.skipif(not HEADERS, reason="the C++ sources are not here")
@pytest.mark.parametrize("path", HEADERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_headers_include_what_stands_below(path: Path) -> None:
    assert path.parent.name in HEADER_FOLDERS, "a header lives in the folder of its family"
    below = HEADER_FOLDERS[: HEADER_FOLDERS.index(path.parent.name) + 1]
    ours = re.findall(r'#\s*include\s*"coterie/([^"]+)"', path.read_text(encoding="utf-8"))
    wrong = [name for name in ours if name.split("/")[0] not in below]
    assert not wrong, f"{path.parent.name}/{path.name} must not include {wrong}"


@pytest.mark.skipif(not HEADERS, reason="the C++ sources are not here")
@pytest.mark.parametrize("path", HEADERS, ids=lambda path: path.name)
def test_kernels_know_nothing_of_python(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    included = re.findall(r'#\s*include\s*[<"]([^>"]+)[>"]', text)
    assert not [name for name in included if re.search(r"nanobind|Python\.h|numpy|bind/", name)]
    assert not re.search(r"\bPy[A-Z_]\w*\s*\(|\bnanobind\b|\bnb::", text)


def test_the_reader_of_imports_reads_all_forms(tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text(
        "import a.b as c\nfrom d.e import f, g\ndef h():\n    from i import j\n", encoding="utf-8"
    )
    assert set(imports_of(file)) == {"a.b", "d.e.f", "d.e.g", "i.j"}
