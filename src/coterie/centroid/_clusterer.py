"""What centroid estimators share: how they start, and everything after the fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from coterie._base import Clusterer
from coterie._history import Recorder
from coterie._in_memory import rows_in_memory
from coterie._stored import RECORDS, Array, Field, Real, Sizes, Whole
from coterie.centroid._checked_space import checked_space
from coterie.centroid._fitted import Fitted, dists_of_any, label_any, sse_of_any
from coterie.centroid._kmeans import seeded
from coterie.centroid._space import Columns, Space
from coterie.centroid._sphere import start_on_sphere, unit_rows
from coterie.data import Source

Floats = npt.NDArray[np.float64]

#: Seedings of which one run is usually enough.
_ONE_RUN = {"k-means++", "farthest-first", "k-means||"}


class CentroidClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """What k-means, mini-batch and bisecting k-means share."""

    cluster_centers_: npt.NDArray[Any]
    labels_: npt.NDArray[np.int32]
    inertia_: float
    _n_features_out: int

    _stores: ClassVar[Mapping[str, Field]] = {
        "cluster_centers_": Array("f", ("clusters", "columns")),
        "labels_": Array("i", ("rows",), 0, optional=True),
        "inertia_": Real(0, optional=True),
        "n_iter_": Whole(optional=True),
        "history_": RECORDS,
        "events_": RECORDS,
    }

    def _metric(self) -> str:
        return str(getattr(self, "metric", "euclidean"))

    def _blocks_to_cluster(self, X: Any, sample_weight: Any = None, *, reset: bool) -> Source:
        """Checked rows with their weights, put on the unit sphere where the metric is cosine."""
        blocks = self._source(X, sample_weight, reset=reset)
        return blocks.through(unit_rows) if self._metric() == "cosine" else blocks

    def _checked_space(
        self, blocks: Source, centers: Floats | None = None
    ) -> tuple[Columns, Space]:
        names = getattr(self, "feature_names_in_", None)
        return checked_space(type(self).__name__, blocks, centers, names)

    def _start(
        self,
        blocks: Source,
        space: Space,
        n_clusters: int,
        rng: np.random.RandomState,
        recorder: Recorder | None = None,
    ) -> Floats:
        """Starting centres as `init` says: the name of a seeding, a function, or centres."""
        init = self.init
        if isinstance(init, str):
            centers = seeded(init, self.n_local_trials)(blocks, space, n_clusters, rng, recorder)
        else:
            given = init
            if callable(init):
                rows = rows_in_memory(type(self).__name__, blocks, "init=, a function of X,")
                given = init(rows, n_clusters, random_state=rng)
            centers = _checked_centers(type(self).__name__, given, n_clusters, blocks)
        return start_on_sphere(centers) if self._metric() == "cosine" else centers

    def _n_starts(self, many: int) -> int:
        """How many starts `n_init` asks for; "auto" makes `many` of a seeding that needs them."""
        if not isinstance(self.init, str) and not callable(self.init):
            if self.n_init not in ("auto", 1):
                warnings.warn(
                    "Explicit initial center position passed: performing only one init in "
                    f"{type(self).__name__} instead of n_init={self.n_init}.",
                    RuntimeWarning,
                    stacklevel=3,
                )
            return 1
        if self.n_init == "auto":
            return 1 if isinstance(self.init, str) and self.init in _ONE_RUN else many
        return int(self.n_init)

    def _publish(self, centers: Floats, labels: npt.NDArray[np.int32], inertia: float) -> None:
        self.cluster_centers_ = centers
        self.labels_ = labels
        self.inertia_ = inertia
        self._n_features_out = int(centers.shape[0])

    def _known(self) -> Fitted:
        centers = np.ascontiguousarray(self.cluster_centers_, dtype=np.float64)
        return Fitted(type(self).__name__, centers, getattr(self, "feature_names_in_", None))

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """The nearest centre of every row; ties go to the lower index.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        labels : int32 array of shape (n_rows,)
        """
        check_is_fitted(self)
        blocks = self._blocks_to_cluster(X, reset=False)
        return blocks.map(label_any, self._known(), dtype=np.int32)

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Distance of every row to every centre (cosine: on the unit sphere).

        Memory: n_rows x n_clusters, which is the result.
        """
        check_is_fitted(self)
        blocks = self._blocks_to_cluster(X, reset=False)
        known = self._known()
        return blocks.map(dists_of_any, known, dtype=blocks.dtype, width=len(known.centers))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> npt.NDArray[Any]:
        """Fit, then `transform` the same rows."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> npt.NDArray[np.int32]:
        """Fit and return `labels_`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of squared errors of these rows under the fitted centres."""
        check_is_fitted(self)
        blocks = self._blocks_to_cluster(X, sample_weight, reset=False)
        return -blocks.total(sse_of_any, self._known())

    def _check_together_loaded(self, sizes: Sizes) -> None:
        if sizes["clusters"] < 1:
            raise ValueError("cluster_centers_ has no centre")
        if sizes.get("rows") and self.labels_.max() >= sizes["clusters"]:
            raise ValueError("labels_ names clusters that have no centre")
        self._n_features_out = sizes["clusters"]


def _checked_centers(who: str, centers: Any, n_clusters: int, blocks: Source) -> Floats:
    # Rounded to the type of X first, as scikit-learn does.
    with np.errstate(over="ignore", invalid="ignore"):  # in its test for finite values
        checked = check_array(centers, dtype=blocks.dtype, order="C", input_name="init")
    shape = (n_clusters, blocks.n_cols)
    for axis, name in enumerate(("clusters", "features of the data")):
        if checked.shape[axis] != shape[axis]:
            raise ValueError(
                f"{who}: The shape of the initial centers {checked.shape} does not match the "
                f"number of {name} {shape[axis]}; pass an array of shape {shape}."
            )
    return np.array(checked, dtype=np.float64)
