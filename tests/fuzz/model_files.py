"""Damaged model files of every estimator: loading refuses them, or what was loaded works.

`run` mutates files and uses what they load to, in processes that may crash, hang or run out of
memory. A case is known by its seed and number, so a failure can be looked at again:
``python tests/fuzz/model_files.py 0 1000`` or, for one case, ``... 0 --case 17``.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import signal
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
import scipy.sparse as sp

import coterie
from coterie.errors import FileError

#: For one file: processor seconds, and bytes beyond what importing takes.
_SECONDS = 20
_BYTES = 4 << 30

Random = np.random.Generator


def rows(n: int = 24, d: int = 3) -> Any:
    """Three groups of rows."""
    X = np.random.default_rng(0).standard_normal((n, d))
    return X + np.repeat([[-5.0], [0], [5]], n // 3, axis=0)


def zoo() -> dict[str, tuple[Any, Any]]:
    """Fitted models of every estimator, in their kinds, each with rows to predict."""
    c, X = coterie, rows()
    lengths = np.linalg.norm(X[:, None] - X, axis=2)
    edges = sp.csr_matrix(np.where(lengths < 3, lengths, 0))
    words = np.array([["a", "x"], ["b", "y"], ["b", "x"]] * 8, dtype=object)
    mixed = np.array([[*x[:2], w[0]] for x, w in zip(X, words, strict=True)], dtype=object)
    seeded: dict[str, Any] = {"random_state": 0}
    made: dict[str, tuple[Any, Any]] = {
        "kmeans": (c.KMeans(3, n_init=1, **seeded), X),
        "kmeans float32": (c.KMeans(3, n_init=1, **seeded), X.astype(np.float32)),
        "minibatch": (c.MiniBatchKMeans(3, **seeded), X),
        "bisecting": (c.BisectingKMeans(3, **seeded), X),
        "tree": (c.HierarchicalKMeans(3, 2, store_rows=True, **seeded), X),
        "kmedoids": (c.KMedoids(3), X),
        "kcenter": (c.KCenter(3, start=0), X),
        "kcenter precomputed": (c.KCenter(3, metric="precomputed", start=0), lengths),
        "leader": (c.LeaderClustering(2.0), X),
        "codebook": (c.VectorQuantizer(3, **seeded), X),
        "kmedoids mahalanobis": (c.KMedoids(3, metric="mahalanobis"), X),
        "kmedoids precomputed": (c.KMedoids(3, metric="precomputed"), lengths),
        "kmedoids gower": (c.KMedoids(3, metric="gower"), mixed),
        "product": (c.ProductQuantizer(2, bits=4, n_iter=3, **seeded), X),
        "product rotated": (c.ProductQuantizer(2, rotate=True, n_iter=2, **seeded), X),
        "noise": (c.GaussianMixture(2, noise=True, **seeded), X),
        "student": (c.StudentTMixture(2, **seeded), X),
        "bernoulli": (c.BernoulliMixture(2, **seeded), (X > 0).astype(float)),
        "poisson": (c.PoissonMixture(2, **seeded), np.round(np.abs(X))),
        "categorical": (c.CategoricalMixture(2, **seeded), words),
        "mixed": (c.MixedMixture(2, **seeded), mixed),
        "dbscan": (c.DBSCAN(eps=2.5, min_samples=3), X),
        "dbscan manhattan": (c.DBSCAN(eps=4.0, min_samples=3, metric="manhattan"), X),
        "dbscan noise": (c.DBSCAN(eps=2.5, min_samples=3, border="noise"), X),
        "dbscan precomputed": (c.DBSCAN(eps=2.5, min_samples=3, metric="precomputed"), lengths),
        "dbscan graph": (c.DBSCAN(eps=2.5, min_samples=3, metric="graph"), edges),
        "dbscan gower": (c.DBSCAN(eps=0.3, min_samples=3, metric="gower"), X),
        "hdbscan": (c.HDBSCAN(min_cluster_size=4, store_centers="both"), X),
        "hdbscan chebyshev": (c.HDBSCAN(min_cluster_size=4, metric="chebyshev"), X),
        "hdbscan precomputed": (c.HDBSCAN(min_cluster_size=4, metric="precomputed"), lengths),
    }
    for kind in ("full", "tied", "diag", "spherical"):
        made[f"gaussian {kind}"] = (c.GaussianMixture(2, covariance_type=kind, **seeded), X)
        prior = "dirichlet_process" if kind in ("full", "diag") else "dirichlet_distribution"
        bayesian = c.BayesianGaussianMixture(
            2, covariance_type=kind, weight_concentration_prior_type=prior, **seeded
        )
        made[f"bayesian {kind}"] = (bayesian, X)
    for linkage in ("ward", "single", "complete", "average", "weighted", "median", "genie"):
        made[f"tree {linkage}"] = (c.AgglomerativeClustering(3, linkage=linkage), X)
    made["columns"] = (c.FeatureAgglomeration(2, linkage="average"), X)
    given = c.AgglomerativeClustering(3, linkage="average", metric="precomputed")
    made["tree precomputed"] = (given, lengths)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: (model.fit(X), X) for name, (model, X) in made.items()}


def use(model: Any, X: Any) -> None:
    """Everything a user may do with a loaded model; only ValueError and MemoryError may come."""
    calls: list[tuple[str, tuple[Any, ...]]] = [
        (name, (X,))
        for name in (
            "predict", "predict_proba", "predict_membership", "score", "score_samples",
            "transform", "bic", "icl", "free_energy", "cophenetic_correlation", "distortion",
            "distance_tables",
        )
    ]  # fmt: skip
    calls += [("sample", (5,)), ("cut", (2,)), ("cophenetic_distances", ())]
    calls += [("__repr__", ()), ("get_params", ())]
    for name, arguments in calls:
        method = getattr(model, name, None)
        if method is None or (name in ("bic", "icl") and "Bayesian" in type(model).__name__):
            continue
        try:
            method(*arguments)
        except (ValueError, MemoryError, OverflowError) as error:
            if not str(error):
                raise


# ---- mutations: each takes header and tensors and changes them

Tensors = dict[str, Any]
Mutation = Callable[[Any, Tensors, Random], None]

_ODD = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, 1e-300, 3.0, -0.0)
_ODD_WHOLE = (0, -1, 1, 2**31 - 1, -(2**31), 24, 23, 10**6)
_ODD_JSON: tuple[Any, ...] = (
    None, True, -1, 0, 3, 10**30, 1.5, "x", [], {"dict": {}}, {"tuple": []}, {"float": "nan"},
    {"float": "-inf"}, {"numpy": ["float32", 2.0]}, {"strings": ["str", ["a", "b"]]}, "<callable>",
    {"numpy": ["int8", 3]}, {"tuple": [1, 2]}, [1, 2, 3], {"dict": {"rows": None}}, "precomputed",
)  # fmt: skip


def _any_tensor(tensors: Tensors, rng: Random) -> str:
    return str(rng.choice(sorted(tensors)))


def drop(header: Any, tensors: Tensors, rng: Random) -> None:
    """Leave an attribute out, with its arrays."""
    part = header[str(rng.choice(["fitted", "fitted", "params"]))]
    if not isinstance(part, dict) or not part:  # another mutation came before
        return
    gone = part.pop(str(rng.choice(sorted(part))))
    for name in list(tensors):
        if json.dumps(name) in json.dumps(gone):
            del tensors[name]


def swap(header: Any, tensors: Tensors, rng: Random) -> None:
    """Exchange two arrays."""
    one, other = _any_tensor(tensors, rng), _any_tensor(tensors, rng)
    tensors[one], tensors[other] = tensors[other], tensors[one]


def retype(header: Any, tensors: Tensors, rng: Random) -> None:
    """Another type of numbers."""
    name = _any_tensor(tensors, rng)
    types = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"]
    with np.errstate(all="ignore"):
        tensors[name] = np.nan_to_num(tensors[name]).astype(str(rng.choice(types)))


def spoil(header: Any, tensors: Tensors, rng: Random) -> None:
    """Odd values in some places, or in all."""
    name = _any_tensor(tensors, rng)
    values = tensors[name].copy().reshape(-1)
    if not values.size:
        return
    where = rng.integers(0, values.size, rng.integers(1, 4)) if rng.random() < 0.7 else slice(None)
    with np.errstate(all="ignore"):
        if values.dtype.kind == "f":
            values[where] = rng.choice(_ODD)
        else:
            values[where] = np.array(rng.choice(_ODD_WHOLE)).astype(values.dtype)
    tensors[name] = values.reshape(tensors[name].shape)


def reshape(header: Any, tensors: Tensors, rng: Random) -> None:
    """Shorter, longer, empty or turned arrays."""
    name = _any_tensor(tensors, rng)
    values = tensors[name]
    how = int(rng.integers(6))
    if values.ndim == 0 or how == 0:
        tensors[name] = np.zeros((0, 0), dtype=values.dtype)
    elif how == 1:
        tensors[name] = values[: max(0, len(values) - int(rng.integers(1, 4)))]
    elif how == 2:
        tensors[name] = np.concatenate([values, values[: int(rng.integers(1, 4))]])
    elif how == 3:
        tensors[name] = np.ascontiguousarray(values.T)
    elif how == 4:
        tensors[name] = values.reshape(-1)
    else:
        tensors[name] = values[..., :0]


def shuffle(header: Any, tensors: Tensors, rng: Random) -> None:
    """The values of an array in another order."""
    name = _any_tensor(tensors, rng)
    tensors[name] = rng.permuted(tensors[name].reshape(-1)).reshape(tensors[name].shape)


def rewrite(header: Any, tensors: Tensors, rng: Random) -> None:
    """Something else in a place of the header, at any depth."""
    place, key = header, str(rng.choice(["fitted", "fitted", "params", "params", "scaling"]))
    while isinstance(place[key], dict | list) and place[key] and rng.random() < 0.75:
        place = place[key]
        key = sorted(place)[rng.integers(len(place))] if isinstance(place, dict) else int(
            rng.integers(len(place))
        )  # fmt: skip
    place[key] = _ODD_JSON[rng.integers(len(_ODD_JSON))]


def rename(header: Any, tensors: Tensors, rng: Random) -> None:
    """The class or an attribute under another name."""
    if rng.random() < 0.4:
        header["class"] = str(rng.choice([n for n in coterie.__all__ if n[0].isupper()]))
        return
    part = header["fitted"]
    if not isinstance(part, dict) or not part:
        return
    one, other = (str(rng.choice(sorted(part))) for _ in range(2))
    part[one], part[other] = part[other], part[one]


MUTATIONS: tuple[Mutation, ...] = (
    drop, swap, retype, spoil, spoil, spoil, reshape, shuffle, rewrite, rewrite, rename,
)  # fmt: skip


def mutated(data: bytes, rng: Random) -> bytes:
    """A damaged copy of a file: well-formed mostly, else with bytes changed, cut or added."""
    if rng.random() < 0.12:
        changed = bytearray(data)
        for _ in range(rng.integers(1, 5)):
            changed[rng.integers(len(changed))] = rng.integers(256)
        end = len(changed) if rng.random() < 0.7 else rng.integers(len(changed))
        return bytes(changed[:end]) + (b"" if rng.random() < 0.9 else rng.bytes(16))
    outer = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    header = json.loads(outer["__metadata__"]["coterie"])
    tensors = safetensors.numpy.load(data)
    for _ in range(rng.integers(1, 3)):
        if tensors:
            MUTATIONS[rng.integers(len(MUTATIONS))](header, tensors, rng)
    text = json.dumps(header)
    return bytes(
        safetensors.numpy.save(
            {name: np.ascontiguousarray(value) for name, value in tensors.items()},
            metadata={"coterie": text},
        )
    )


# ---- running


def make_case(files: dict[str, bytes], seed: int, case: int) -> tuple[str, bytes]:
    """Which model, and its damaged file."""
    rng = np.random.default_rng([seed, case])
    name = sorted(files)[rng.integers(len(files))]
    return name, mutated(files[name], rng)


def try_case(content: bytes, X: Any, place: Path) -> None:
    """Load and use; raises what neither should."""
    path = place / "m"
    path.write_bytes(content)
    try:
        model = coterie.load(path)
    except FileError:
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        use(model, X)


def _limit() -> None:
    """A hang or a flood of memory ends this process, not the machine."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _BYTES, size + _BYTES))


def _work(seed: int, first: int, end: int, pipe: Any) -> None:
    """Cases one after another; tells the parent before each, so that it knows what crashed."""
    _limit()
    models = zoo()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        files = {}
        for name, (model, _) in models.items():
            model.save(place / "m")
            files[name] = (place / "m").read_bytes()
        for case in range(first, end):
            name, content = make_case(files, seed, case)
            pipe.send(("begin", case, name))
            signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
            try:
                try_case(content, models[name][1], place)
            except BaseException as error:  # whatever it is, it is what is looked for
                pipe.send(("failed", case, f"{name}: {type(error).__name__}: {error}"))
        pipe.send(("end", end, ""))


def run(seed: int, n_cases: int) -> list[str]:
    """Try so many damaged files; what went wrong, a line each."""
    failures: list[str] = []
    context = multiprocessing.get_context("spawn")
    next_case = 0
    while next_case < n_cases:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(seed, next_case, n_cases, theirs))
        process.start()
        theirs.close()
        now, name, ended, began = next_case, "start", False, time.monotonic()
        while True:
            try:
                # A process that neither computes nor answers is stuck, too.
                if not ours.poll(10 * _SECONDS):
                    process.kill()
                kind, now, name = ours.recv()
            except EOFError:
                break
            if kind == "failed":
                failures.append(f"seed {seed}, case {now}: {name}")
            ended = kind == "end"
        process.join()
        if ended:
            break
        failures.append(
            f"seed {seed}, case {now}: {name}: the process ended with {process.exitcode} after "
            f"{time.monotonic() - began:.0f} s"
        )
        if name == "start":
            break
        next_case = now + 1
    return failures


if __name__ == "__main__":
    if "--case" in sys.argv:
        chosen = int(sys.argv[-1])
        fitted = zoo()
        with tempfile.TemporaryDirectory() as folder:
            contents = {}
            for key, (estimator, _) in fitted.items():
                estimator.save(Path(folder) / "m")
                contents[key] = (Path(folder) / "m").read_bytes()
            which, damaged = make_case(contents, int(sys.argv[1]), chosen)
            try_case(damaged, fitted[which][1], Path(folder))
    else:
        found = run(int(sys.argv[1]), int(sys.argv[2]))
        sys.stdout.write("\n".join([*found, f"{len(found)} failures"]) + "\n")
        sys.exit(bool(found))
