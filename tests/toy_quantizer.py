"""A product quantizer of random codewords, encoded by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class ToyQuantizer:
    """Codewords are pieces of random rows; parts are as wide as each other, the first one wider."""

    def __init__(
        self, X: NDArray[Any], n_parts: int, bits: int, rotate: bool = False, seed: int = 0
    ) -> None:
        rng = np.random.default_rng(seed)
        self.n_features_in_ = X.shape[1]
        self.rotation_ = None
        if rotate:
            self.rotation_ = np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0].astype(np.float32)
        self.pieces = np.array_split(np.arange(X.shape[1]), n_parts)
        chosen = X[rng.integers(0, len(X), 2**bits)]
        self.codebooks_ = [
            self.placed(chosen)[:, piece].astype(np.float32) for piece in self.pieces
        ]

    def placed(self, X: NDArray[Any]) -> NDArray[np.float64]:
        wide = X.astype(np.float64)
        return wide if self.rotation_ is None else wide @ self.rotation_.astype(np.float64)

    def encode(self, X: NDArray[Any]) -> NDArray[np.uint8]:
        placed = self.placed(X)
        codes = [
            np.square(placed[:, None, piece] - book).sum(axis=2).argmin(axis=1)
            for piece, book in zip(self.pieces, self.codebooks_, strict=True)
        ]
        return np.column_stack(codes).astype(np.uint8)
