"""Naive twins of product quantization: loops over parts in float64."""

from __future__ import annotations

from typing import Any

import numpy as np


def sq_dists(rows: Any, words: Any) -> Any:
    """Squared distances of all rows to all words."""
    return np.square(rows[:, None].astype(np.float64) - words[None].astype(np.float64)).sum(axis=2)


def cut(rows: Any, starts: Any) -> list[Any]:
    """The columns of each part."""
    return [rows[:, a:b] for a, b in zip(starts[:-1], starts[1:], strict=True)]


def encode(rows: Any, codewords: Any, starts: Any) -> Any:
    """The nearest codeword of every part, the lower of two that are as near."""
    pairs = zip(cut(rows, starts), cut(codewords, starts), strict=True)
    return np.stack([sq_dists(part, words).argmin(axis=1) for part, words in pairs], axis=1)


def decode(codes: Any, codewords: Any, starts: Any) -> Any:
    """The codewords of codes, side by side."""
    words = cut(codewords, starts)
    return np.concatenate([words[m][codes[:, m]] for m in range(len(words))], axis=1)


def tables(queries: Any, codewords: Any, starts: Any) -> Any:
    """Squared distances to all codewords of each part."""
    pairs = zip(cut(queries, starts), cut(codewords, starts), strict=True)
    return np.stack([sq_dists(part, words) for part, words in pairs], axis=1)


def lloyd_step(rows: Any, centers: Any, starts: Any) -> tuple[Any, Any, Any]:
    """Codes, sums and counts of one step in every part."""
    codes = encode(rows, centers, starts)
    sums = np.zeros_like(centers)
    counts = np.zeros((len(starts) - 1, len(centers)), dtype=int)
    for m, (a, b) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        for row, code in zip(rows, codes[:, m], strict=True):
            sums[code, a:b] += row[a:b]
            counts[m, code] += 1
    return codes, sums, counts
