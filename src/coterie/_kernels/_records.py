"""The records that kernels read: objects with these attributes, whoever made them."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Frame(Protocol):
    """Where distances are computed; CSR rows are not shifted."""

    @property
    def scale(self) -> float: ...
    @property
    def shift(self) -> NDArray[Any]: ...


class Grid(Protocol):
    """Where sums are kept."""

    @property
    def step_inverse(self) -> NDArray[np.float64]: ...
    @property
    def origin(self) -> NDArray[np.float64]: ...
    @property
    def weight_step_inverse(self) -> float: ...


class Space(Frame, Grid, Protocol):
    """Both."""


class Tally(Protocol):
    """The sums of the clusters."""

    @property
    def sums(self) -> NDArray[np.int64]: ...
    @property
    def weight_sums(self) -> NDArray[np.int64]: ...


class Bounds(Protocol):
    """What a pruned pass remembers."""

    @property
    def upper(self) -> NDArray[np.uint16]: ...
    @property
    def lower(self) -> NDArray[np.uint16]: ...
    @property
    def radius(self) -> NDArray[np.float32]: ...
    @property
    def order(self) -> NDArray[np.int32] | None: ...
    @property
    def drifts(self) -> NDArray[np.float64] | None: ...
    @property
    def fresh_radius(self) -> bool: ...


class Means(Protocol):
    """Centres as running means."""

    @property
    def centers(self) -> NDArray[np.float64]: ...
    @property
    def counts(self) -> NDArray[np.float64]: ...
    @property
    def rows_since_check(self) -> int: ...


class Steps(Protocol):
    """What mini-batch steps tell."""

    @property
    def inertias(self) -> NDArray[np.float64]: ...
    @property
    def sq_moves(self) -> NDArray[np.float64]: ...


class Level(Protocol):
    """The rows of each node of a tree's level, and its centres among those of the level."""

    @property
    def row_ids(self) -> NDArray[np.int64]: ...
    @property
    def row_starts(self) -> NDArray[np.int64]: ...
    @property
    def center_starts(self) -> NDArray[np.int64]: ...
    @property
    def active(self) -> NDArray[np.bool_]: ...


class Tree(Protocol):
    """Nodes level by level, and the numbers of the leaves among them."""

    @property
    def centers(self) -> NDArray[np.float64]: ...
    @property
    def starts(self) -> NDArray[np.int32]: ...
    @property
    def leaf_numbers(self) -> NDArray[np.int32]: ...
