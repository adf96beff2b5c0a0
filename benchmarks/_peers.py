"""The contenders by name, and how each is held to its threads and instruction set."""

from __future__ import annotations

from typing import Any

from ._harness import N_THREADS, Contender, Prepare
from ._machine import isa, narrower_builds

# The OpenBLAS inside faiss's wheel is old and takes newer AVX-512 processors for ones without;
# told better, it is three times as fast. Without AVX-512 it would run an illegal instruction.
FAISS_ENVIRONMENT = {"OPENBLAS_CORETYPE": "SkylakeX"} if isa() == "x86-64-v4" else {}


def coterie(prepare: Prepare) -> Contender:
    """Ours."""
    return Contender("coterie", "coterie", "coterie", prepare)


def coterie_builds(prepare: Prepare) -> list[Contender]:
    """Ours as it is, and by its narrower builds where the processor runs AVX-512."""
    narrower = [
        Contender(f"coterie-{build}", "coterie", "coterie", prepare, {"COTERIE_ISA": build})
        for build in narrower_builds()
    ]
    return [coterie(prepare), *narrower]


def sklearn(prepare: Prepare) -> Contender:
    """scikit-learn."""
    return Contender("sklearn", "sklearn", "scikit-learn", prepare)


def sklearnex(prepare: Prepare) -> Contender:
    """scikit-learn-intelex; import it by `import_sklearnex_cluster`."""
    return Contender("sklearnex", "sklearnex", "scikit-learn-intelex", prepare)


def faiss(prepare: Prepare, name: str = "faiss") -> Contender:
    """faiss-cpu, by one of its indexes or another; import it by `import_faiss`."""
    return Contender(name, "faiss", "faiss-cpu", prepare, FAISS_ENVIRONMENT)


def usearch(prepare: Prepare) -> Contender:
    """usearch; told its threads with every call."""
    return Contender("usearch", "usearch", "usearch", prepare)


def dbscan(prepare: Prepare) -> Contender:
    """The dbscan package; it is not exact from five columns on."""
    return Contender("dbscan", "dbscan", "dbscan", prepare, {"PARLAY_NUM_THREADS": str(N_THREADS)})


def quitefastmst(prepare: Prepare) -> Contender:
    """quitefastmst."""
    return Contender("quitefastmst", "quitefastmst", "quitefastmst", prepare)


def hdbscan(prepare: Prepare) -> Contender:
    """The hdbscan package."""
    return Contender("hdbscan", "hdbscan", "hdbscan", prepare)


def fast_hdbscan(prepare: Prepare) -> Contender:
    """fast_hdbscan, on numba's threads."""
    environment = {"NUMBA_NUM_THREADS": str(N_THREADS)}
    return Contender("fast_hdbscan", "fast_hdbscan", "fast_hdbscan", prepare, environment)


def diptest(prepare: Prepare) -> Contender:
    """diptest."""
    return Contender("diptest", "diptest", "diptest", prepare)


def scipy(prepare: Prepare) -> Contender:
    """SciPy."""
    return Contender("scipy", "scipy", "scipy", prepare)


def fastcluster(prepare: Prepare, name: str = "fastcluster") -> Contender:
    """fastcluster, from a matrix of distances or straight from rows."""
    return Contender(name, "fastcluster", "fastcluster", prepare)


def genieclust(prepare: Prepare) -> Contender:
    """genieclust."""
    return Contender("genieclust", "genieclust", "genieclust", prepare)


def kmedoids(prepare: Prepare, name: str = "kmedoids") -> Contender:
    """The kmedoids package, on one thread or several: then it shuffles."""
    return Contender(name, "kmedoids", "kmedoids", prepare)


def numpy(prepare: Prepare) -> Contender:
    """A loop in NumPy."""
    return Contender("numpy", "numpy", "numpy", prepare)


def import_sklearnex_cluster() -> Any:
    """Import scikit-learn-intelex's clusterers, held to N_THREADS."""
    import daal4py
    from sklearnex import cluster

    daal4py.daalinit(N_THREADS)
    return cluster


def import_faiss() -> Any:
    """Import faiss, held to N_THREADS."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    return faiss
