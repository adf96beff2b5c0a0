"""Every build of the kernels gives the same bits, and the stub describes all of them."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import coterie
import coterie._kernels
from builds import PRELUDE, answers, run
from coterie._kernels import available_isas, kernels

# Prints one hash for each fit: of labels, centres and inertia, to the last bit.
FITS = r"""
import hashlib, json, warnings
import numpy as np, scipy.sparse as sp
from coterie import KMeans
import coterie

def digest(model):
    seen = hashlib.sha256()
    for part in (model.labels_, model.cluster_centers_, np.float64(model.inertia_)):
        seen.update(np.ascontiguousarray(part).tobytes())
    return seen.hexdigest()

hashes = {"isa": coterie.show_config()["isa"]}
rng = np.random.default_rng(0)
for dtype in (np.float32, np.float64):
    for n, d, k in ((300, 1, 3), (1000, 3, 7), (1500, 7, 13), (700, 17, 25), (600, 33, 30)):
        centers = rng.normal(scale=3, size=(k, d))
        X = (centers[rng.integers(k, size=n)] + rng.normal(size=(n, d))).astype(dtype)
        weights = rng.integers(1, 5, size=n).astype(float)
        for algorithm in ("lloyd", "hamerly", "yinyang", "elkan", "auto"):
            model = KMeans(k, random_state=0, algorithm=algorithm, max_iter=30).fit(X)
            hashes[f"{dtype.__name__} {d} {algorithm}"] = digest(model)
        model = KMeans(k, random_state=0, max_iter=30).fit(np.asfortranarray(X), None, weights)
        hashes[f"{dtype.__name__} {d} weighted, Fortran order"] = digest(model)
        model = KMeans(k, random_state=0, metric="cosine", max_iter=30).fit(X + 1)
        hashes[f"{dtype.__name__} {d} cosine"] = digest(model)
        for init in ("random", "box", "farthest-first", "k-means||"):
            model = KMeans(k, init=init, n_init=1, random_state=0, max_iter=5).fit(X)
            hashes[f"{dtype.__name__} {d} {init}"] = digest(model)
        ties = np.round(X).astype(dtype)
        model = KMeans(k, init=ties[:k], n_init=1, max_iter=10).fit(ties)
        hashes[f"{dtype.__name__} {d} integers"] = digest(model)
        sparse = sp.csr_matrix(np.where(np.abs(X) > 2, X, 0).astype(dtype))
        for init in ("k-means++", "random"):
            model = KMeans(k, init=init, n_init=1, random_state=0, max_iter=30).fit(sparse)
            hashes[f"{dtype.__name__} {d} sparse {init}"] = digest(model)
print(json.dumps(hashes))
"""

# Likewise for the other methods that promise the same bits on every build; of mixtures, which agree
# up to rounding, the bounds.
OTHERS = (
    PRELUDE
    + r"""
import scipy.sparse as sp
from coterie import BernoulliMixture, CategoricalMixture, DBSCAN, HDBSCAN, linkage, neighbors
from coterie import ProductQuantizer

rotations = {d: np.eye(d, dtype=np.float32) * 0.8 + np.float32(0.01) for d in (2, 3, 7, 17)}
for dtype in (np.float32, np.float64):
    for n, d, k in ((300, 2, 3), (500, 3, 5), (400, 7, 4), (300, 17, 6)):
        case = f"{dtype.__name__} {d}"
        centers = rng.normal(scale=4, size=(k, d))
        X = (centers[rng.integers(k, size=n)] + rng.normal(size=(n, d))).astype(dtype)
        eps = float(np.sqrt(d))
        hashes[f"{case} DBSCAN"] = digest(DBSCAN(eps=eps).fit(X).labels_)
        model = HDBSCAN(min_cluster_size=8).fit(X)
        hashes[f"{case} HDBSCAN"] = digest(model.labels_, model.probabilities_)
        for method in ("single", "complete", "average", "ward", "genie"):
            hashes[f"{case} {method}"] = digest(linkage(X, method))
        distances, indices = neighbors.knn(X, 5)
        hashes[f"{case} neighbours"] = digest(distances, indices)
        bits = (X > 0).astype(dtype)
        for rows, name in ((bits, "dense"), (sp.csr_matrix(bits), "sparse")):
            model = BernoulliMixture(k, random_state=0, max_iter=30).fit(rows)
            hashes[f"{case} Bernoulli {name}"] = model.lower_bounds_
        codes = np.clip(np.round(X), -2, 2).astype(int)
        model = CategoricalMixture(k, random_state=0, max_iter=30).fit(codes)
        hashes[f"{case} categorical"] = model.lower_bounds_
        for bits in (4, 8):
            model = ProductQuantizer(2, bits=bits, random_state=0, n_iter=5).fit(X)
            codes = model.encode(X)
            tables, words = model.distance_tables(X[:9]), model.decode(codes)
            hashes[f"{case} product {bits}"] = digest(model.codewords_, codes, tables, words)
            model = ProductQuantizer(2, bits=bits, random_state=0).fit(np.round(X))
            hashes[f"{case} product {bits} integers"] = digest(model.codewords_)
        turned = ProductQuantizer(2, bits=4, rotate=True, random_state=0, n_iter=3).fit(X)
        hashes[f"{case} rotated"] = [turned.training_distortion_]
        turned.rotation_ = rotations[d]  # which LAPACK found up to rounding
        hashes[f"{case} turned rows"] = digest(turned._parts().turn(X, 1))
print(json.dumps(hashes))
"""
)


@pytest.fixture(scope="module")
def hashes() -> dict[str, dict[str, str]]:
    """For every build: its hashes."""
    return {isa: answers(FITS, isa) for isa in available_isas()}


@pytest.mark.skipif(len(available_isas()) < 2, reason="only one build runs on this machine")
def test_every_build_gives_the_same_bits(hashes: dict[str, dict[str, str]]) -> None:
    first, *others = hashes.values()
    for other in others:
        differing = [name for name in first if first[name] != other[name]]
        assert not differing


@pytest.mark.skipif(len(available_isas()) < 2, reason="only one build runs on this machine")
def test_density_hierarchy_neighbours_and_codes_give_the_same_bits_and_mixtures_agree() -> None:
    first, *others = (answers(OTHERS, isa) for isa in available_isas())
    for other in others:
        for name, value in first.items():
            same = value if isinstance(value, str) else pytest.approx(value, rel=1e-6)
            assert other[name] == same, name


def test_every_algorithm_gives_the_same_bits(hashes: dict[str, dict[str, str]]) -> None:
    for by_name in hashes.values():
        for name, value in by_name.items():
            if name.endswith(" lloyd"):
                case = name.removesuffix("lloyd")
                for algorithm in ("hamerly", "yinyang", "elkan", "auto"):
                    assert by_name[case + algorithm] == value, case + algorithm


def test_an_unknown_build_is_a_clear_error() -> None:
    done = run("import coterie", "nonsense")
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert re.match(r"ImportError: COTERIE_ISA=nonsense was asked for.*unset it", last)
    assert all(isa in last for isa in available_isas())


def test_builds_that_are_not_installed_are_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `make demo`, which builds for one instruction set."""
    here = available_isas()[0]
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: find_spec(name) if name.endswith(here) else None
    )
    monkeypatch.delenv("COTERIE_ISA", raising=False)
    assert coterie.show_config()["isas"] == [here]
    assert coterie._kernels._choose() == here
    monkeypatch.setenv("COTERIE_ISA", "missing")
    with pytest.raises(ImportError, match=f"this machine can run {here} of the installed kernels"):
        coterie._kernels._choose()


def test_without_a_wish_the_fastest_build_is_taken() -> None:
    done = run("import coterie; print(coterie.show_config()['isa'])", "")
    assert done.stdout.strip() == available_isas()[-1]


# The stub.


def _stub() -> ast.Module:
    path = Path(coterie._kernels.__file__).with_name("_native.pyi")
    return ast.parse(path.read_text(encoding="utf-8"))


def _parameters_in(signature: str) -> list[str]:
    """Names of the parameters in `def f(a: ndarray[dtype=.., shape=(*, *)], b: int) -> ..`."""
    inside = signature[signature.index("(") + 1 : signature.rindex(") ->")]
    while re.search(r"[\[(]", inside):  # drop what is bracketed, innermost first
        inside = re.sub(r"[\[(][^\[\]()]*[\])]", "", inside)
    return [part.split(":")[0].strip() for part in inside.split(",") if part.strip()]


def _overloads(function: Any) -> list[list[str]]:
    if isinstance(function, property):
        function = function.fget
    return [_parameters_in(overload[0]) for overload in function.__nb_signature__]


@pytest.mark.parametrize("isa", available_isas())
def test_the_stub_names_what_the_module_has(isa: str) -> None:
    module = importlib.import_module(f"coterie._kernels._kernels_{isa}")
    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    classes = {name: value for name, value in public.items() if isinstance(value, type)}
    functions = {name: value for name, value in public.items() if callable(value)}
    for owner in classes:
        methods = {
            name: value
            for name, value in vars(functions.pop(owner)).items()
            if not name.startswith("_")  # or a constructor, of what is not made by functions only
            or (name == "__init__" and hasattr(value, "__nb_signature__"))
        }
        functions |= {f"{owner}.{name}": method for name, method in methods.items()}
    in_stub = {
        node.name: [argument.arg for argument in node.args.args]
        for node in _stub().body
        if isinstance(node, ast.FunctionDef)
    }
    in_stub |= {
        f"{owner.name}.{node.name}": [argument.arg for argument in node.args.args]
        for owner in _stub().body
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, ast.FunctionDef)
    }
    assert set(functions) == set(in_stub)
    for name, function in functions.items():
        for parameters in _overloads(function):
            assert parameters == in_stub[name], name
    values = {
        node.target.id: ast.unparse(node.annotation)
        for node in _stub().body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not node.value
    }
    assert values == {
        name: type(value).__name__ for name, value in public.items() if not callable(value)
    }


def test_kernels_refuse_arrays_they_would_have_to_copy() -> None:
    frame = SimpleNamespace(scale=1.0, shift=[0.0])
    with pytest.raises(TypeError):
        kernels.assign([[1.0]], [[1.0]], frame, [0], 1)  # type: ignore[arg-type]
