"""Connectivity-based clustering: every merge of clusters, from single rows to all of them."""

from coterie.hierarchy.agglomerative import AgglomerativeClustering
from coterie.hierarchy.feature_agglomeration import FeatureAgglomeration
from coterie.hierarchy.linkage import METHODS, linkage
from coterie.hierarchy.newick import newick
from coterie.hierarchy.trees import linkage_tree, ward_tree

__all__ = [
    "METHODS",
    "AgglomerativeClustering",
    "FeatureAgglomeration",
    "linkage",
    "linkage_tree",
    "newick",
    "ward_tree",
]
