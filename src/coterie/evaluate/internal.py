"""Scores of labels by the rows themselves: how tight clusters are and how far apart."""

from coterie.evaluate._davies_bouldin import davies_bouldin_score
from coterie.evaluate._dbcv import dbcv_score
from coterie.evaluate._dunn import dunn_score
from coterie.evaluate._sampled import SampledSilhouette, sampled_silhouette_score
from coterie.evaluate._scatter import (
    Scatter,
    calinski_harabasz_score,
    scatter_matrices,
    sum_of_squared_errors,
    variance_ratio,
)
from coterie.evaluate._silhouette import silhouette_samples, silhouette_score
from coterie.evaluate._simplified import (
    medoid_silhouette_score,
    simplified_silhouette_samples,
    simplified_silhouette_score,
)

__all__ = [
    "SampledSilhouette",
    "Scatter",
    "calinski_harabasz_score",
    "davies_bouldin_score",
    "dbcv_score",
    "dunn_score",
    "medoid_silhouette_score",
    "sampled_silhouette_score",
    "scatter_matrices",
    "silhouette_samples",
    "silhouette_score",
    "simplified_silhouette_samples",
    "simplified_silhouette_score",
    "sum_of_squared_errors",
    "variance_ratio",
]
