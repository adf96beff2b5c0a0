"""Mixtures for tables with columns of different kinds: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from coterie._checks import ARRAY, Rule, one_of, real
from coterie._stored import Array, Field, Many, Sizes, Text, Word
from coterie.data import Source
from coterie.mixture._categorical import CategoricalFamily
from coterie.mixture._categories import check_chances
from coterie.mixture._family import Mixture
from coterie.mixture._kinds import learn_kinds
from coterie.mixture._layout import Encoding, Layout
from coterie.mixture._learn_layout import learn_layout
from coterie.mixture._linear import LinearFamily
from coterie.mixture._normal import LEAST_VARIANCE, NormalFamily, Normals
from coterie.mixture._product import ProductFamily
from coterie.mixture._start import Rows
from coterie.mixture._tables import TableMixture
from coterie.mixture._task import Model, Task
from coterie.mixture._values import Reading

_MAPPING = Rule(lambda value: isinstance(value, Mapping), "a dict of columns")


class MixedMixture(TableMixture):
    """Mixture for tables whose columns are numbers, truth values and categories, fitted by EM.

    p(x) = sum_j w_j prod_c p_jc(x_c): given the component the columns are independent, numeric
    ones normal with a mean and a variance each, the others with a probability for every category
    (two of them: Bernoulli). A missing cell (NaN, None) is left out of the product, which is the
    exact likelihood of what was observed; a row without any cell gets the weights as its
    responsibilities.

    Time O(n k d) per iteration, one pass over the rows. Memory beyond X: 12 bytes for a cell with
    categories, 36 for a numeric one, nothing of n x k.

    Parameters
    ----------
    n_components : int, default=1
        k, the number of components.
    kinds : "auto", list or dict, default="auto"
        "numeric", "binary", "categorical" or "auto" for every column, or a dict of them for some,
        by name or place. What is "auto" or not given is told by the column's type: numbers and
        dates are numeric, truth values and numbers that are only 0 and 1 binary, anything else
        categorical. Dates are days since 1970-01-01 (in UTC where they have a time zone), durations
        are days.
    alpha : float, default=0.01
        What the prior adds to the mass of every category, as in `CategoricalMixture`.
    min_variance : float, default=1e-6
        The least variance of a numeric column in a component, as a share of the variance of the
        whole column, so that no component can shrink onto one value. What rounding may leave of a
        variance, a share of 1e-12, is the least in any case.
    tol, max_iter, n_init, random_state, warm_start, verbose, n_threads, callback
        As in `GaussianMixture`.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        Distances are those of the standardised numbers and the one-hot categories.
    weights_init : array or None
        Shares of the components to start from, with a sum of one.
    keep : {None, "parameters"}, default=None
        "parameters" stores the weights of every iteration in `history_`.

    Attributes
    ----------
    kinds_ : list of str
        The kind of every column.
    weights_ : array of shape (n_components,)
        Shares of the components, with a sum of one.
    means_, variances_ : array of shape (n_components, number of numeric columns)
    categories_ : list of arrays
        The categories of every column that is not numeric.
    probabilities_ : list of arrays of shape (n_components, n_categories)
        Probabilities of these categories.
    locations_, scales_ : array of shape (number of numeric columns,)
        Mean and deviation of the numeric columns over all rows.
    converged_, n_iter_, lower_bounds_, history_, events_
        As in `GaussianMixture`.
    lower_bound_ : float
        Mean log-likelihood per row plus the log-prior's share, at the last E-step.

    References
    ----------
    Everitt (1988), A finite mixture model for the clustering of mixed-mode data, Statistics &
    Probability Letters 6; Hunt & Jorgensen (2003), Mixture model clustering for mixed data with
    missing information, Computational Statistics & Data Analysis 41.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import MixedMixture
    >>> X = [[1.0, "a"], [1.2, "a"], [None, "a"], [5.0, "b"], [5.2, None], [5.1, "b"]]
    >>> model = MixedMixture(2, random_state=0).fit(np.array(X, dtype=object))
    >>> model.kinds_
    ['numeric', 'categorical']
    >>> model.means_.round(1)
    array([[5.1],
           [1.1]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **TableMixture._stores,
        "kinds_": Many(Word(("numeric", "categorical", "binary")), "columns"),
        "locations_": Array("f8", ("numeric",)),
        "scales_": Array("f8", ("numeric",), 5e-324),
        "means_": Array("f8", ("components", "numeric")),
        "variances_": Array("f8", ("components", "numeric"), 0),
        "categories_": Many(Text((None,)), "others"),
        "probabilities_": Many(Array("f8", ("components", None), 0, 1), "others"),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        **TableMixture._rules,
        "kinds": one_of("auto") | ARRAY | _MAPPING,
        "min_variance": real(0),
    }

    kinds_: list[str]
    means_: npt.NDArray[np.float64]
    variances_: npt.NDArray[np.float64]
    categories_: list[npt.NDArray[Any]]
    probabilities_: list[npt.NDArray[np.float64]]
    locations_: npt.NDArray[np.float64]
    scales_: npt.NDArray[np.float64]

    def __init__(
        self,
        n_components: int = 1,
        *,
        kinds: Any = "auto",
        alpha: float = 0.01,
        min_variance: float = 1e-6,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: Any = False,
        n_threads: int | None = None,
        callback: Any = None,
        keep: str | None = None,
    ) -> None:
        super().__init__(
            n_components, alpha, tol, max_iter, n_init, init_params, weights_init, random_state,
            warm_start, verbose, n_threads, callback, keep,
        )  # fmt: skip
        self.kinds = kinds
        self.min_variance = min_variance

    def _to_read(self, X: Any, sample_weight: Any = None, *, reset: bool) -> tuple[Source, Reading]:
        """Tables, read as encoded rows; learns the layout of the columns when `reset`."""
        who, tables = type(self).__name__, self._tables(X, sample_weight, reset=reset)
        names = self._column_names
        if reset:
            kinds = learn_kinds(who, self.kinds, names, tables)
            self._keep_layout(learn_layout(who, kinds, tables, names))
        return tables, Encoding(who, names, self._layout)

    def _keep_layout(self, layout: Layout) -> None:
        self.kinds_ = list(layout.kinds)
        self.locations_, self.scales_ = layout.locations, layout.scales
        self.categories_ = list(layout.categories)

    @property
    def _layout(self) -> Layout:
        return Layout(tuple(self.kinds_), self.locations_, self.scales_, tuple(self.categories_))

    def _family(self) -> ProductFamily:
        layout = self._layout
        parts: list[LinearFamily] = []
        if layout.numeric:
            width = 3 * len(layout.numeric)
            parts.append(NormalFamily(width, scales=layout.scales, floor=self._least_variance))
        if layout.others:
            width = sum(layout.sizes)
            parts.append(CategoricalFamily(width, alpha=self.alpha, sizes=layout.sizes))
        return ProductFamily(sum(part.n_cols for part in parts), parts=tuple(parts))

    @property
    def _least_variance(self) -> float:
        return max(float(self.min_variance), LEAST_VARIANCE)

    def _task(self, blocks: Source, missing: bool) -> Task:
        layout = self._layout

        def rows(blocks: Source) -> Rows:
            return Rows(blocks, layout.coordinates, layout.n_coordinates)

        return self._plain_task(
            blocks, self._family(), rows=rows, shown=lambda mixture: mixture.weights
        )

    def _publish_components(self, mixture: Mixture, model: Model, dtype: np.dtype[Any]) -> None:
        k, family = len(mixture.log_weights), model.family
        assert isinstance(family, ProductFamily)
        self.means_ = self.variances_ = np.zeros((k, 0))
        self.probabilities_ = []
        for part, own in zip(family.parts, mixture.components, strict=True):
            if isinstance(part, NormalFamily):
                self.means_ = own.means * self.scales_ + self.locations_
                self.variances_ = own.variances * np.square(self.scales_)
            else:
                stops = np.cumsum(self._layout.sizes)[:-1]
                self.probabilities_ = np.split(own, stops, axis=1)

    def _fitted(self, missing: bool = False) -> tuple[Model, Mixture]:
        components: list[Any] = []
        if self.means_.size:
            means = (self.means_ - self.locations_) / self.scales_
            components.append(Normals(means, self.variances_ / np.square(self.scales_)))
        if self.probabilities_:
            components.append(np.hstack(self.probabilities_))
        return self._plainly(self._family(), tuple(components))

    def _check_together_loaded(self, sizes: Sizes) -> None:
        layout = self._layout
        if (len(layout.numeric), len(layout.others)) != (sizes["numeric"], sizes["others"]):
            raise ValueError("kinds_, means_ and categories_ disagree about the columns")
        if self.variances_.size and not self.variances_.min() > 0:
            raise ValueError("variances_ has values that are not positive")
        check_chances(self.categories_, self.probabilities_)
        super()._check_together_loaded(sizes)

    def sample(self, n_samples: int = 1) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Random rows from the fitted mixture (an object array), and the component of each."""
        drawn, labels = super().sample(n_samples)
        return self._layout.cells(drawn), labels
