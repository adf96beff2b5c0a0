"""Summaries of studies that never ran, in the agreed shape, for tests of what shows them."""

from __future__ import annotations

from typing import Any

import numpy as np
from made_summary import Summary, made

#: What a hostile table may have for names and cells.
HOSTILE = "<script>window.ran=1</script>"
HOSTILE_ATTRIBUTE = "\" onmouseover='window.ran=1' x=\"<img src=x onerror=window.ran=1>"
HOSTILE_END = "</script><script>window.ran=1</script>\u2028\u2029<!--"
HOSTILE_LINK = '<a href="javascript:window.ran=1">b</a>&lt;svg onload=window.ran=1&gt;'


def three(n: int = 330, *, seed: int = 0, extra: int = 0) -> Summary:
    """Three clusters of a mixed table with missing cells."""
    return made(n, ["heavy", "long-billed", "small"], seed=seed, extra=extra)


def twelve(n: int = 1200) -> Summary:
    """Twelve clusters, more than there are colours."""
    return made(n, [f"group {i}" for i in range(1, 13)])


def with_noise(n: int = 400) -> Summary:
    """Three clusters, and rows in none of them."""
    summary = made(n, ["heavy", "long-billed", "small"], noise=True)
    n_noise = summary["map"]["label"].count(-1)
    summary["noise"] = {"size": n_noise, "share": round(n_noise / n, 4)}
    return summary


def large(n: int = 100_000, n_columns: int = 10) -> Summary:
    """As many points as a page shows, `n_columns` values each that have no short decimals."""
    summary = made(n, ["a", "b", "c"])
    rng = np.random.default_rng(1)
    summary["map"]["columns"] = [
        {
            "name": f"measure {j}",
            "kind": "numeric",
            "levels": None,
            "values": rng.normal(size=n).tolist(),
        }
        for j in range(n_columns)
    ]
    return summary


def nothing(n: int = 300) -> Summary:
    """A table without structure."""
    summary = made(n, ["all"])
    for key in ("clusters", "profiles", "sensitivity", "methods"):
        summary[key] = []
    for key in ("silhouette", "choice_of_k", "dendrogram", "k_distances", "bic", "memberships",
                "null_replay"):  # fmt: skip
        summary[key] = None
    summary["map"]["label"] = [0] * n
    summary["verdict"] = {
        "has_structure": False,
        "n_clusters": 1,
        "headline": "No clusters: the rows look like one cloud",
        "sentences": [
            "Rows drawn from one cloud of the same shape look as clustered as these "
            "in 62 of 100 draws.",
        ],
        "confidence": "high",
        "why": ["No principal component has two modes.", "Both tests agree."],
        "doubts": [],
    }
    summary["tendency"].update(p_value=0.62, has_structure=False, verdict="no structure found")
    return summary


def hostile(n: int = 120) -> Summary:
    """Three clusters of a table whose every name and text is an attack."""
    summary = made(n, [HOSTILE, HOSTILE_ATTRIBUTE, HOSTILE_END])
    return _spoilt(summary)


def _spoilt(part: Any, key: str = "") -> Any:
    """The same with every free text replaced; words that the shape fixes stay."""
    fixed = {"kind", "confidence", "direction", "better"}
    attacks = (HOSTILE, HOSTILE_ATTRIBUTE, HOSTILE_END, HOSTILE_LINK)
    if isinstance(part, dict):
        return {
            (attacks[len(k) % 4] + k if key in ("versions", "parameters", "parts") else k): _spoilt(
                v, k
            )
            for k, v in part.items()
        }
    if isinstance(part, list):
        return [_spoilt(v) for v in part]
    if isinstance(part, str) and key not in fixed:
        return attacks[len(part) % 4] + part
    return part


def lonely_point(summary: dict[str, Any]) -> tuple[float, float]:
    """A point of the map that no other lies near."""
    x, y = summary["map"]["x"], summary["map"]["y"]
    return max(
        zip(x, y, strict=True),
        key=lambda p: sorted((p[0] - a) ** 2 + (p[1] - b) ** 2 for a, b in zip(x, y, strict=True))[
            1
        ],
    )
