"""Options, the environment and what `show_config` tells.

Covers coterie._threads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import pytest

import coterie
from coterie import KMeans
from coterie._config import block_bytes, resolve_n_threads
from coterie._kernels import available_isas
from coterie._threads import one_blas_thread, register_with_threadpoolctl

X = np.random.default_rng(0).normal(size=(500, 3))


def in_fresh_process(code: str, **environment: str) -> Any:
    """What `code` prints as JSON in a new interpreter."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


SHOW = "import coterie, json; print(json.dumps(coterie.show_config()))"


def test_show_config_tells_what_runs() -> None:
    shown = coterie.show_config()
    assert set(shown) == {
        "version", "isa", "isas", "vector_bits", "n_threads", "n_cpus", "machine",
    }  # fmt: skip
    assert shown["isas"] == available_isas()
    assert shown["isa"] in shown["isas"]
    assert shown["vector_bits"] in (128, 256, 512)
    assert 1 <= shown["n_cpus"] <= (os.cpu_count() or 1)


def test_the_option_sets_the_threads_and_the_block_restores_them() -> None:
    before = coterie.get_options()
    with coterie.options(n_threads=3, check_invariants=True):
        assert resolve_n_threads(None) == 3
        assert coterie.show_config()["n_threads"] == 3
        assert resolve_n_threads(2) == 2, "an estimator's own n_threads comes first"
    assert coterie.get_options() == before
    with pytest.raises(RuntimeError), coterie.options(n_threads=3):
        raise RuntimeError
    assert coterie.get_options() == before


def test_set_options_stays() -> None:
    before = coterie.get_options()
    try:
        coterie.set_options(n_threads=np.int64(2))
        assert coterie.get_options()["n_threads"] == 2
    finally:
        coterie.set_options(**before)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", True, [1]])
def test_a_bad_number_of_threads_is_refused(bad: Any) -> None:
    before = coterie.get_options()
    with pytest.raises(ValueError, match=r"n_threads.*at least 1"):
        coterie.set_options(n_threads=bad)
    with pytest.raises(ValueError, match="n_threads"):
        KMeans(2, n_threads=bad).fit(X)
    assert coterie.get_options() == before


def test_unknown_and_misspelt_options_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no option 'threads'.*n_threads"):
        coterie.set_options(threads=2)
    with pytest.raises(ValueError, match=r"check_invariants='yes'.*True or False"):
        coterie.set_options(check_invariants="yes")


def test_the_environment_sets_the_threads() -> None:
    assert in_fresh_process(SHOW, COTERIE_NUM_THREADS="3")["n_threads"] == 3


@pytest.mark.parametrize("text", ["0", "many", "-1", "1.5", "²"])
def test_a_bad_environment_is_named(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COTERIE_NUM_THREADS", text)
    with pytest.raises(ValueError, match=r"COTERIE_NUM_THREADS=.*at least 1"):
        KMeans(2).fit(X)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no CPU affinity here")
def test_affinity_is_respected() -> None:
    cpu = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{cpu}}}); {SHOW}"
    shown = in_fresh_process(code, COTERIE_NUM_THREADS="")
    assert shown["n_threads"] == shown["n_cpus"] == 1


def test_the_loky_limit_is_respected() -> None:
    shown = in_fresh_process(SHOW, LOKY_MAX_CPU_COUNT="1", COTERIE_NUM_THREADS="")
    assert shown["n_threads"] == 1


class TestThreadpoolctl:
    """`threadpool_limits` caps the pool, and leaves no limit behind."""

    threadpoolctl = pytest.importorskip("threadpoolctl")

    def infos(self) -> list[dict[str, Any]]:
        return [
            info for info in self.threadpoolctl.threadpool_info() if info["user_api"] == "coterie"
        ]

    @pytest.fixture(autouse=True)
    def _registered(self) -> None:
        if not self.infos():
            register_with_threadpoolctl()

    def test_it_is_seen_once(self) -> None:
        (info,) = self.infos()
        assert info["internal_api"] == "coterie"
        assert info["num_threads"] >= 1

    def test_a_limit_holds_inside_the_block_only(self) -> None:
        with self.threadpoolctl.threadpool_limits(limits=1):
            assert resolve_n_threads(4) == 1
            assert resolve_n_threads(None) == 1
            assert self.infos()[0]["num_threads"] == 1
        assert resolve_n_threads(64) == 64, "the limit must be gone"

    def test_limits_nest(self) -> None:
        many = (os.cpu_count() or 1) + 7
        with self.threadpoolctl.threadpool_limits(limits={"coterie": 1}):
            with self.threadpoolctl.threadpool_limits(limits={"coterie": many}):
                assert resolve_n_threads(64) == 64, "more than every CPU is no limit"
            assert resolve_n_threads(64) == 1
        assert resolve_n_threads(64) == 64

    def test_limits_of_others_do_not_touch_it(self) -> None:
        with self.threadpoolctl.threadpool_limits(limits=1, user_api="blas"):
            assert resolve_n_threads(4) == 4

    def test_blas_has_one_thread_while_it_is_asked_to(self) -> None:
        def most() -> int:
            info = self.threadpoolctl.threadpool_info()
            return max(pool["num_threads"] for pool in info if pool["user_api"] == "blas")

        before = most()
        with one_blas_thread():
            assert most() == 1
        assert most() == before

    def test_a_fit_under_a_limit_gives_the_same_model(self) -> None:
        free = KMeans(4, random_state=0).fit(X)
        with self.threadpoolctl.threadpool_limits(limits=1):
            limited = KMeans(4, random_state=0).fit(X)
        assert np.array_equal(free.cluster_centers_, limited.cluster_centers_)


@pytest.mark.parametrize("cls", [coterie.DBSCAN, coterie.HDBSCAN])
@pytest.mark.parametrize("name", ["n_threads", "n_jobs"])
def test_more_threads_than_there_can_be_are_refused_by_name(cls: Any, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{cls.__name__}: {name}=1000+, and \d+ is the most"):
        cls(**{name: 10**30}).fit(X)


@pytest.mark.parametrize("cls", [coterie.DBSCAN, coterie.HDBSCAN])
def test_negative_jobs_count_from_the_end(cls: Any) -> None:
    cpus = joblib.cpu_count()
    for n_jobs, n_threads in ((-1, cpus), (-2, max(1, cpus - 1)), (-(10**6), 1)):
        assert resolve_n_threads(None, n_jobs=n_jobs) == n_threads
        cls(n_jobs=n_jobs).fit(X)
    with pytest.raises(ValueError, match="n_jobs=0"):
        cls(n_jobs=0).fit(X)


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [(1000, 1000), ("512MB", 512_000_000), ("2GiB", 2 << 30), (" 1.5 gb ", 1_500_000_000),
     ("64k", 64_000), (None, None)],
)  # fmt: skip
def test_memory_is_given_in_bytes_or_with_a_unit(given: Any, n_bytes: int | None) -> None:
    coterie.set_options(max_memory=given)
    assert coterie.get_options()["max_memory"] == n_bytes


@pytest.mark.parametrize("given", ["much", "", "-1", 0, -5, True, "1e5 potatoes", "1.2.3GB", [1]])
def test_memory_that_is_no_number_of_bytes_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"max_memory=.*'512MB'"):
        coterie.set_options(max_memory=given)


def test_blocks_follow_the_memory() -> None:
    assert block_bytes(1 << 24) == 1 << 24
    coterie.set_options(max_memory="64MB")
    assert block_bytes(1 << 24) == 1_000_000
    assert block_bytes(100) == 100


def test_cpus_are_counted_anew_when_the_affinity_changes() -> None:
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU, or a system without affinity masks")
    code = (
        "import os; from coterie._config import usable_cpus; before = usable_cpus();"
        "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); print(before, usable_cpus())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == [str(joblib.cpu_count()), "1"]
