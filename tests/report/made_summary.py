"""One summary of a study that never ran, part by part, in the agreed shape."""

from __future__ import annotations

from typing import Any

import numpy as np

Summary = dict[str, Any]


def made(
    n: int, names: list[str], *, seed: int = 0, noise: bool = False, extra: int = 0
) -> Summary:
    """A summary of `n` rows in as many clusters as there are names."""
    rng = np.random.default_rng(seed)
    k = len(names)
    label = np.sort(rng.integers(0, k, n))
    angle = 2 * np.pi * label / k
    x, y = 4 * np.cos(angle) + rng.normal(0, 0.7, n), 4 * np.sin(angle) + rng.normal(0, 0.7, n)
    mass = np.round(4000 + 400 * np.cos(angle) + rng.normal(0, 150, n), 0)
    bill = np.round(44 + 4 * np.sin(angle) + rng.normal(0, 1.5, n), 1)
    island = (label + (rng.random(n) < 0.2)) % 3
    missing = rng.random(n) < 0.04
    confidence = np.round(np.clip(1 - rng.exponential(0.08, n), 0.34, 1), 4)
    if noise:
        label = np.where(rng.random(n) < 0.08, -1, label)
    columns = [
        {"name": "body mass (g)", "kind": "numeric", "levels": None,
         "values": [None if m else int(v) for v, m in zip(mass, missing, strict=True)]},
        {"name": "bill length (mm)", "kind": "numeric", "levels": None, "values": bill.tolist()},
        {"name": "island", "kind": "levels", "levels": ["Biscoe", "Dream", "Torgersen"],
         "values": [None if m else int(v) for v, m in zip(island, missing[::-1], strict=True)]},
    ]  # fmt: skip
    columns += [
        {"name": f"further {j}", "kind": "numeric", "levels": None,
         "values": np.round(rng.normal(size=n), 2).tolist()}
        for j in range(extra)
    ]  # fmt: skip
    sizes = [int((label == c).sum()) for c in range(k)]
    return {
        "schema": 1,
        "title": "penguins.csv",
        "source": {"name": "penguins.csv", "n_rows": n + 3, "n_columns": len(columns) + 2,
                   "n_studied": n, "sampled": False,
                   "how": "Comma-separated text in UTF-8; 3 rows without any value were left out."},
        "settings": {"random_state": 0, "time": 60, "without": []},
        "verdict": {
            "has_structure": True, "n_clusters": k,
            "headline": f"{k} clusters, well apart",
            "sentences": [
                "Rows without structure of the same shape hardly ever look this clustered "
                "(p = 0.01).",
                f"Gaussian mixtures find {k} clusters, and Ward's method finds nearly the same.",
            ],
            "confidence": "moderate",
            "why": ["Every cluster comes back when rows are resampled.",
                    "Four of five criteria choose the same number.",
                    "One in twelve rows lies between two clusters."],
            "doubts": ["One in twelve rows lies between two clusters."],
        },
        "columns": [
            {"name": "species id", "kind": "id", "used": False,
             "reason": "has another value in every row", "n_missing": 0, "n_distinct": n,
             "coded_as": "left out"},
            {"name": "study", "kind": "constant", "used": False,
             "reason": "has one value only", "n_missing": 0, "n_distinct": 1,
             "coded_as": "left out"},
            *({"name": c["name"], "kind": "numeric" if c["levels"] is None else "categorical",
               "used": True, "reason": None, "n_missing": c["values"].count(None),
               "n_distinct": len(set(c["values"])), "coded_as": "standardised"}
              for c in columns),
        ],
        "notes": ["Missing numbers are set to the median of their column.",
                  "Every column has the same total variance."],
        "quality": [
            {"what": "duplicate rows", "count": 2, "sentence": "2 rows are exact copies."},
            {"what": "missing cells", "count": int(missing.sum()),
             "sentence": "Two columns have missing cells, 4 % of each."},
        ],
        "tendency": {
            "p_value": 0.01, "has_structure": True, "verdict": "there is structure",
            "parts": [
                {"name": "dip of principal components", "value": 0.081, "p_value": 0.005,
                 "sentence": "The first component has more than one mode."},
                {"name": "replay of k-means", "value": 0.42, "p_value": 0.01,
                 "sentence": "k-means gains more here than on rows of one cloud."},
                {"name": "hopkins", "value": 0.83, "p_value": None, "sentence": "A weak hint."},
            ],
        },
        "methods": [
            {"name": "Gaussian mixture", "parameters": {"covariance_type": "full"},
             "n_clusters": k, "score": 0.71, "parts": {"silhouette": 0.62, "stability": 0.94},
             "agreement": 1.0, "chosen": True, "note": "the best score"},
            {"name": "Ward", "parameters": {}, "n_clusters": k, "score": 0.68,
             "parts": {"silhouette": 0.61, "stability": 0.9}, "agreement": 0.96, "chosen": False,
             "note": "the runner-up"},
            {"name": "HDBSCAN", "parameters": {"min_cluster_size": 12}, "n_clusters": 2,
             "score": None, "parts": {"silhouette": 0.55, "stability": None}, "agreement": 0.57,
             "chosen": False, "note": "a fifth of the rows are noise"},
        ],
        "choice_of_k": {
            "k": list(range(1, 9)),
            "criteria": [
                {"name": "bic", "label": "BIC", "pick": k, "better": "low", "weak": False,
                 "values": [round(2000 + 80 * abs(i - k), 1) for i in range(1, 9)]},
                {"name": "silhouette", "label": "silhouette", "pick": k, "better": "high",
                 "weak": False,
                 "values": [None, *(round(0.6 - 0.07 * abs(i - k), 3) for i in range(2, 9))]},
                {"name": "elbow", "label": "elbow", "pick": 4, "better": "first", "weak": True,
                 "values": [round(900 / i, 1) for i in range(1, 9)]},
            ],
            "recommended": k,
            "sentence": "Two of three criteria choose the same number.",
        },
        "clusters": [
            {"label": c, "name": names[c], "size": sizes[c], "share": round(sizes[c] / n, 4),
             "rule": f"body mass > {3800 + 100 * c} and island is Dream",
             "confidence": round(0.95 - 0.02 * c, 3),
             "stability": {"jaccard": round(0.93 - 0.03 * c, 3), "low": round(0.88 - 0.04 * c, 3),
                           "high": round(0.97 - 0.02 * c, 3), "verdict": "stable"},
             "silhouette": round(0.66 - 0.02 * c, 3), "rival": (c + 1) % k if k > 1 else None,
             "traits": [
                 {"column": "body mass (g)", "sentence": "body mass is high: 4400 against 3800",
                  "effect": 1.9, "direction": "high"},
                 {"column": "island", "sentence": "island is Dream in 80 % against 22 %",
                  "effect": 0.6, "direction": "is"},
                 {"column": "bill length (mm)", "sentence": "bill length is low: 41 against 46",
                  "effect": -0.8, "direction": "low"},
             ],
             "typical_rows": [int(r) for r in np.flatnonzero(label == c)[:3]],
             "ambiguous_rows": [int(r) for r in np.flatnonzero(label == c)[-2:]]}
            for c in range(k)
        ],
        "noise": None,
        "profiles": [_profile(column, label, k) for column in columns],
        "silhouette": {
            "mean": 0.62,
            "by_cluster": [
                {"label": c,
                 "values": np.sort(np.round(rng.beta(6, 3, min(sizes[c], 300)) - 0.08, 3))[::-1]
                 .tolist()}
                for c in range(k)
            ],
        },
        "null_replay": {
            "score": "silhouette", "observed": 0.62, "p_value": 0.01, "n_without": 0,
            "null": np.round(rng.normal(0.31, 0.04, 99), 4).tolist(),
            "sentence": "None of 99 draws without structure reaches the score of these rows.",
        },
        "map": {
            "method": "principal components",
            "sentence": "Two components hold 81 % of the variance.",
            "axes": ["first component (62 %)", "second component (19 %)"],
            "row": list(range(3, n + 3)), "x": np.round(x, 4).tolist(),
            "y": np.round(y, 4).tolist(), "label": label.tolist(),
            "confidence": confidence.tolist(), "ambiguous": (confidence < 0.75).tolist(),
            "columns": columns,
        },
        "dendrogram": _dendrogram(rng),
        "k_distances": {
            "k": 5, "values": np.round(np.sort(rng.gamma(2, 0.2, 300)), 4).tolist(), "eps": 0.9,
            "sentence": "The distances turn at 0.9.",
        },
        "bic": {
            "k": list(range(1, 7)),
            "curves": [
                {"name": name, "values": [round(3000 + 90 * abs(i - k) + d, 1) if i < 6 else None
                                          for i in range(1, 7)]}
                for name, d in (("full", 0), ("tied", 40), ("diag", 120), ("spherical", 300))
            ],
            "best": {"name": "full", "k": k},
            "sentence": "Full covariances with three components have the least BIC.",
        },
        "memberships": _memberships(rng, k),
        "sensitivity": [
            {"what": "columns not scaled", "agreement": 0.41, "n_clusters": 2,
             "sentence": "Without scaling body mass decides alone."},
            {"what": "outliers left out", "agreement": 0.98, "n_clusters": k,
             "sentence": "Without the 5 rows farthest out nothing changes."},
            {"what": "another seed", "agreement": 1.0, "n_clusters": k,
             "sentence": "Another seed gives the same clusters."},
        ],
        "reproduce": {"command": "coterie study penguins.csv --seed 0 --time 60",
                      "python": "coterie.study('penguins.csv', random_state=0, time=60)", "seed": 0,
                      "cut_short": False, "versions": {"coterie": "0.1.0", "numpy": "2.3.0"}},
    }  # fmt: skip


def _profile(column: Summary, label: np.ndarray, k: int) -> Summary:
    """Counts of a column, of all rows and of each cluster."""
    values = np.array([np.nan if v is None else v for v in column["values"]], dtype=float)
    there = ~np.isnan(values)
    if column["levels"] is None:
        edges = np.linspace(values[there].min(), values[there].max(), 17)
    else:
        edges = np.arange(len(column["levels"]) + 1) - 0.5

    def counts(rows: np.ndarray) -> list[int]:
        return np.histogram(values[rows & there], edges)[0].tolist()

    return {
        "column": column["name"],
        "kind": column["kind"],
        "edges": np.round(edges, 6).tolist() if column["levels"] is None else None,
        "least": float(edges[0]) if column["levels"] is None else None,
        "most": float(edges[-1]) if column["levels"] is None else None,
        "levels": column["levels"],
        "all": counts(np.ones(len(values), dtype=bool)),
        "by_cluster": [counts(label == c) for c in range(k)],
        "missing": [int((~there).sum()), *(int((~there & (label == c)).sum()) for c in range(k))],
    }


def _dendrogram(rng: np.random.Generator) -> Summary:
    """Brackets over eight leaves, balanced."""
    at, height, segments = [float(i) for i in range(8)], [0.0] * 8, []
    level = 1.0
    while len(at) > 1:
        middles, tops = [], []
        for i in range(0, len(at), 2):
            top = level + 0.2 * rng.random()
            segments.append(
                [[at[i], at[i], at[i + 1], at[i + 1]], [height[i], top, top, height[i + 1]]]
            )
            middles.append((at[i] + at[i + 1]) / 2)
            tops.append(top)
        at, height, level = middles, tops, level * 2.5
    return {
        "method": "ward",
        "segments": segments,
        "leaf_sizes": [40, 42, 39, 41, 44, 40, 43, 41],
        "cut": 4.0,
        "sentence": "Cut at 4.0, the tree has the clusters above.",
    }


def _memberships(rng: np.random.Generator, k: int) -> Summary:
    """Soft memberships of twenty rows a cluster."""
    values, labels = [], []
    for c in range(k):
        sure = np.sort(rng.uniform(0.5, 1, 20))[::-1]
        for s in sure:
            row = np.full(k, (1 - s) / max(k - 1, 1))
            row[c] = s
            values.append(np.round(row, 4).tolist())
            labels.append(c)
    return {
        "sentence": "Most rows belong to one cluster.",
        "row": list(range(len(values))),
        "label": labels,
        "values": values,
    }
