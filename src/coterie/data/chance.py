"""Random numbers by row: what a row draws depends on the seed and its number, not on its block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Numbers that one count of the generator makes.
_A_COUNT = 4


@dataclass(frozen=True)
class Chance:
    """A number in [0, 1) for every row, in every of many rounds.

    Philox (Salmon et al. 2011) counts where other generators remember, so any row's number can be
    had without those before it.
    """

    key: int
    round: int = 0

    @classmethod
    def of(cls, rng: np.random.RandomState) -> Chance:
        """With a key drawn from a generator."""
        words = rng.randint(0, 2**32, size=4, dtype=np.uint64)
        return cls(sum(int(word) << (32 * place) for place, word in enumerate(words)))

    def again(self) -> Chance:
        """The next round."""
        return Chance(self.key, self.round + 1)

    def draw(self, start: int, size: int) -> npt.NDArray[np.float64]:
        """The numbers of so many rows from `start` on."""
        count, skip = divmod(start, _A_COUNT)
        generator = np.random.Generator(
            np.random.Philox(key=self.key, counter=(self.round << 128) + count)
        )
        return generator.random(skip + size)[skip:]
