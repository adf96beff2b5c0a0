"""What the compiled kernels offer, whichever instruction set they were built for.

Every function is the binding of the C++ kernel of its name (`cpp/bind/`), where shapes are checked.
Rows are float32 or float64 of any strides, `Rows` also a CSR matrix with int32 or int64 indices;
all other arrays are contiguous. Results are written to the arrays given for them. A record is any
object with its attributes.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._records import Bounds, Frame, Grid, Level, Means, Space, Steps, Tally, Tree

Floats: TypeAlias = NDArray[Any]  # float32 or float64, the same throughout a call
Rows: TypeAlias = Any  # Floats, or a CSR matrix of them
Doubles: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
# Name, p of Minkowski's, ranges and weights of the columns for Gower's.
Metric: TypeAlias = (
    tuple[str, float, Doubles | None, Doubles | None]
    | tuple[str, float, Doubles | None, Doubles | None, float]
)

isa: str
vector_bytes: int

class Index:
    """Rows held by a kd-tree, or as they lie; without queries the rows themselves ask."""

    def __init__(self, rows: Floats, metric: Metric, by_tree: bool, n_threads: int) -> None: ...
    def knn(
        self,
        queries: Floats | None,
        lengths: Doubles,
        row_ids: NDArray[np.int64],
        n_threads: int,
    ) -> None: ...
    def kth_lengths(
        self, queries: Floats | None, k: int, kth: Doubles, mean: Doubles, n_threads: int
    ) -> None: ...
    def count_within(
        self,
        queries: Floats | None,
        radius: float,
        weights: Doubles | None,
        counts: Doubles,
        n_threads: int,
    ) -> None: ...
    def list_within(
        self,
        queries: Floats | None,
        radius: float,
        starts: NDArray[np.int64],
        row_ids: NDArray[np.int64],
        lengths: Doubles,
        n_threads: int,
    ) -> None: ...
    def spanning_tree(
        self,
        cores: Doubles | None,
        heads: NDArray[np.int32],
        tails: NDArray[np.int32],
        lengths: Doubles,
        n_threads: int,
    ) -> None: ...
    def nearest_reachable(
        self,
        queries: Floats,
        row_cores: Doubles,
        query_cores: Doubles,
        alpha: float,
        row_ids: NDArray[np.int64],
        lengths: Doubles,
        n_threads: int,
    ) -> None: ...
    def copy_rows(self, rows: Floats) -> None: ...

def add_measured_seed(
    rows: Floats,
    weights: Doubles | None,
    scale: float,
    seeds: Doubles,
    candidate: int,
    hints: NDArray[np.uint8],
    closest: Doubles,
    nearest: NDArray[np.int32],
    totals: Doubles,
    n_threads: int,
) -> None: ...
def add_seeds(
    rows: Floats,
    weights: Doubles | None,
    scale: float,
    seeds: Doubles,
    n_old: int,
    closest: Doubles,
    nearest: NDArray[np.int32],
    totals: Doubles,
    n_threads: int,
) -> None: ...
def all_dists(
    rows: Rows,
    centers: Doubles,
    scale: float,
    dists: Floats,
    n_threads: int,
) -> None: ...

class Medoids:
    """Distances of candidates to rows, and a search for medoids that goes on from call to call."""

    def build(self, n_medoids: int, n_threads: int) -> list[int]: ...
    def start(self, medoids: list[int], first: int, stride: int, n_threads: int) -> float: ...
    def swap_eagerly(self, max_swaps: int, max_visits: int, n_threads: int) -> list[float]: ...
    def swap_best(self, n_threads: int) -> bool: ...
    def weigh(self, weights: Doubles) -> None: ...
    def nearest_rows(self, out: NDArray[np.int64], n_threads: int) -> None: ...
    def lengths(self, candidate: int, out: Doubles, n_threads: int) -> None: ...
    def cluster_medoids(
        self, labels: NDArray[np.int32], medoids: NDArray[np.int64], n_threads: int
    ) -> None: ...
    @property
    def medoids(self) -> list[int]: ...
    @property
    def total(self) -> float: ...
    @property
    def settled(self) -> bool: ...
    @property
    def n_visited(self) -> int: ...
    @property
    def n_fruitless(self) -> int: ...
    @property
    def lost_row(self) -> int: ...

def medoids_given(
    matrix: Floats, weights: Doubles | None, allowed: NDArray[np.bool_] | None
) -> Medoids: ...
def medoids_measured(
    candidates: Floats,
    rows: Floats,
    metric: Metric,
    weights: Doubles | None,
    allowed: NDArray[np.bool_] | None,
) -> Medoids: ...
def fill_lengths(
    candidates: Floats, rows: Floats, metric: Metric, out: Floats, n_threads: int
) -> None: ...
def first_unlike(square: Floats, n_threads: int) -> int: ...
def all_lengths(
    queries: Floats,
    rows: Floats,
    metric: Metric,
    lengths: Doubles,
    n_threads: int,
) -> None: ...
def assign(
    rows: Rows,
    centers: Doubles,
    space: Frame,
    labels: NDArray[np.int32],
    n_threads: int,
) -> None: ...
def assign_and_sum(
    rows: Rows,
    weights: Doubles | None,
    centers: Doubles,
    space: Space,
    labels: NDArray[np.int32],
    tally: Tally,
    n_threads: int,
) -> int: ...
def assign_bounded(
    rows: Floats,
    weights: Doubles | None,
    centers: Doubles,
    space: Space,
    labels: NDArray[np.int32],
    tally: Tally,
    bounds: Bounds,
    n_threads: int,
) -> tuple[int, int]: ...
def assign_level(
    rows: Floats,
    weights: Doubles | None,
    level: Level,
    centers: Doubles,
    space: Space,
    labels: NDArray[np.int32],
    tally: Tally,
    n_threads: int,
) -> int: ...
def find_leaves(
    rows: Floats,
    tree: Tree,
    scale: float,
    beam: int,
    labels: NDArray[np.int32],
    n_threads: int,
) -> None: ...
def search_leaves(
    queries: Doubles,
    tree: Tree,
    scale: float,
    rows: Floats,
    ids: NDArray[np.int64],
    starts: NDArray[np.int64],
    beam: int,
    sq_dists: Doubles,
    found: NDArray[np.int64],
    n_threads: int,
) -> int: ...
def seed_sets(
    rows: Floats,
    weights: Doubles,
    starts: NDArray[np.int64],
    scale: float,
    draws: Doubles,
    seeds: NDArray[np.int64],
    n_found: NDArray[np.int64],
    left: Doubles,
    n_threads: int,
) -> None: ...
def column_stats(
    rows: Rows,
    out: Doubles,
    n_threads: int,
) -> int: ...
def dbscan_graph(
    rows: Rows,
    weights: Doubles | None,
    eps: float,
    min_weight: float,
    border: str,
    labels: NDArray[np.int64],
    core: NDArray[np.uint8],
    n_threads: int,
) -> int: ...
def dbscan_grid(
    rows: Floats,
    weights: Doubles | None,
    eps: float,
    min_weight: float,
    border: str,
    labels: NDArray[np.int64],
    core: NDArray[np.uint8],
    n_threads: int,
) -> int | None: ...
def dbscan_precomputed(
    rows: Rows,
    weights: Doubles | None,
    eps: float,
    min_weight: float,
    border: str,
    labels: NDArray[np.int64],
    core: NDArray[np.uint8],
    n_threads: int,
) -> int: ...
def dbscan_tiles(
    rows: Floats,
    weights: Doubles | None,
    eps: float,
    min_weight: float,
    border: str,
    labels: NDArray[np.int64],
    core: NDArray[np.uint8],
    n_threads: int,
) -> int: ...
def means_from_sums(
    tally: Tally,
    space: Grid,
    centers: Doubles,
    n_rows: NDArray[np.int64],
    most: int,
    few: NDArray[np.bool_],
    means: Doubles,
) -> int: ...
def sum_sq_moves(centers: Doubles, moved: Doubles) -> float: ...
def sse_from_sums(
    tally: Tally, space: Grid, centers: Doubles, weight_unit: float, scatter: float
) -> float: ...
def count_labels(labels: NDArray[np.int32], counts: NDArray[np.int64]) -> None: ...
def draw_rows(
    weights: Doubles | None,
    closest: Doubles,
    totals: Doubles,
    n_cols: int,
    targets: Doubles,
    row_ids: NDArray[np.int64],
) -> None: ...
def few_means(
    rows: Rows,
    weights: Doubles | None,
    labels: NDArray[np.int32],
    few: NDArray[np.bool_],
    unit: float,
    means: Doubles,
    n_threads: int,
) -> None: ...
def fill_triangle(
    rows: Floats,
    metric: Metric,
    lengths: Floats,
    n_threads: int,
) -> None: ...
def gaussian_pass(
    rows: Floats,
    weights: Doubles | None,
    log_weights: Doubles,
    means: Doubles,
    factors: Doubles,
    log_norms: Doubles,
    background: float,
    row_log_prob: Doubles | None,
    resp: Doubles | None,
    labels: NDArray[np.int32] | None,
    counts: Doubles | None,
    first: Doubles | None,
    second: Doubles | None,
    n_threads: int,
) -> tuple[float, float]: ...
def factor_inverses(
    matrices: Doubles, least: Doubles, factors: Doubles, found: NDArray[np.bool_]
) -> None: ...
def all_exceed(matrices: Doubles, floor: Doubles) -> bool: ...
def scatter_about(
    counts: Doubles, first: Doubles, second: Doubles, moved: Doubles, scatter: Doubles
) -> None: ...
def linear_pass(
    rows: Rows,
    weights: Doubles | None,
    offsets: Doubles,
    slopes: Doubles,
    row_log_prob: Doubles | None,
    resp: Doubles | None,
    labels: NDArray[np.int32] | None,
    counts: Doubles | None,
    first: Doubles | None,
    n_threads: int,
) -> tuple[float, float]: ...
def pack_bits(rows: Floats, bits: NDArray[np.uint8], n_threads: int) -> int: ...
def linear_pass_bits(
    bits: NDArray[np.uint8],
    n_cols: int,
    weights: Doubles | None,
    offsets: Doubles,
    slopes: Doubles,
    row_log_prob: Doubles | None,
    resp: Doubles | None,
    labels: NDArray[np.int32] | None,
    counts: Doubles | None,
    first: Doubles | None,
    n_threads: int,
) -> tuple[float, float]: ...
def link_triangle(
    method: str,
    lengths: Floats,
    scale: float,
    table: Doubles,
    n_threads: int,
) -> None: ...
def link_vectors(
    method: str,
    rows: Floats,
    sizes: Doubles | None,
    shift: Doubles,
    scale: float,
    first: NDArray[np.int64] | None,
    table: Doubles,
    n_threads: int,
) -> None: ...
def label_by_core(
    core_rows: Floats,
    core_labels: NDArray[np.int64],
    eps: float,
    border: str,
    rows: Floats,
    labels: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def measure_gains(
    rows: Floats,
    weights: Doubles | None,
    scale: float,
    sketch: tuple[NDArray[np.uint8], Doubles, float, float] | None,
    seeds: Doubles,
    candidates: Doubles,
    closest: Doubles,
    nearest: NDArray[np.int32],
    hints: NDArray[np.uint8],
    gains: Doubles,
    n_threads: int,
) -> None: ...
def hand_labels_down(
    parts: NDArray[np.int64],
    labels: NDArray[np.int64],
) -> None: ...
def link_genie(
    heads: NDArray[np.int32],
    tails: NDArray[np.int32],
    lengths: Doubles,
    threshold: float,
    table: Doubles,
) -> None: ...
def merge_tree(
    heads: NDArray[np.int32],
    tails: NDArray[np.int32],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    sizes: NDArray[np.int32],
) -> None: ...
def minibatch_steps(
    rows: Rows,
    space: Frame,
    weights: Doubles | None,
    row_ids: NDArray[np.int64],
    means: Means,
    forget: float,
    low_ratio: float,
    check_rows: int,
    steps: Steps,
    n_threads: int,
) -> tuple[int, int]: ...
def n_seeding_chunks(
    n_rows: int,
    n_cols: int,
) -> int: ...
def n_far_blocks(n_rows: int) -> int: ...
def find_farthest(
    rows: Rows,
    weights: Doubles | None,
    scale: float,
    centers: Doubles,
    sq_dists: Doubles,
    n_seen: NDArray[np.int32],
    tops: Doubles,
    n_threads: int,
) -> tuple[int, float]: ...
def n_sketch_bytes(
    n_rows: int,
    n_cols: int,
) -> int: ...
def sketch_rows(
    rows: Floats,
    scale: float,
    low: Doubles,
    per_unit: float,
    bytes: NDArray[np.uint8],
    n_threads: int,
) -> float: ...
def sum_sq_dists(
    rows: Rows,
    weights: Doubles | None,
    centers: Doubles,
    scale: float,
    labels: NDArray[np.int32],
    sq_dists: Doubles | None,
    n_threads: int,
) -> float: ...
def thread_limit() -> int: ...
def point_away_from_first(
    heads: NDArray[np.int32],
    tails: NDArray[np.int32],
) -> None: ...
def find_levels(
    lengths: Doubles,
    heights: Doubles,
) -> None: ...
def condense(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    heights: Doubles,
    sizes: NDArray[np.int32],
    min_cluster_size: int,
    row_cluster: NDArray[np.int32],
    row_lambda: Doubles,
    parent: NDArray[np.int32],
    size: NDArray[np.int32],
    birth: Doubles,
    death: Doubles,
    peak: Doubles,
    stability: Doubles,
) -> int: ...
def select_clusters(
    parent: NDArray[np.int32],
    size: NDArray[np.int32],
    birth: Doubles,
    stability: Doubles,
    leaves: bool,
    max_size: int,
    epsilon: float,
    allow_single: bool,
    owner: NDArray[np.int32],
) -> None: ...
def nearest_nodes(
    starts: NDArray[np.int64],
    heads: NDArray[np.int32],
    lengths: Doubles | None,
    sources: NDArray[np.int32],
    distances: Doubles,
    labels: NDArray[np.int32],
) -> None: ...
def closeness_sums(
    starts: NDArray[np.int64],
    heads: NDArray[np.int32],
    lengths: Doubles | None,
    labels: NDArray[np.int32],
    n_clusters: int,
    sums: Doubles,
    n_reached: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def graph_medoids(
    starts: NDArray[np.int64],
    heads: NDArray[np.int32],
    lengths: Doubles | None,
    labels: NDArray[np.int32],
    weights: Doubles | None,
    both_ways: bool,
    medoids: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def sum_by_label(
    rows: Floats,
    weights: Doubles | None,
    labels: NDArray[np.int32],
    shift: Doubles,
    out: Doubles,
    n_threads: int,
) -> None: ...
def spread_by_label(
    rows: Floats,
    weights: Doubles | None,
    labels: NDArray[np.int32],
    centers: Doubles,
    out: Doubles,
    n_threads: int,
) -> None: ...
def scatter_by_label(
    rows: Floats,
    weights: Doubles | None,
    labels: NDArray[np.int32],
    centers: Doubles,
    out: Doubles,
    n_threads: int,
) -> None: ...
def silhouette_parts(
    rows: Floats,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    totals: Doubles,
    weights: Doubles | None,
    metric: Metric,
    within: Doubles,
    nearest: Doubles,
    n_threads: int,
) -> None: ...
def expected_mi(
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
    other_sizes: NDArray[np.int64],
    other_counts: NDArray[np.int64],
    n_rows: int,
    n_threads: int,
) -> float: ...
def sort_numbers(values: NDArray[np.float64], n_threads: int) -> None: ...
def measure_dips(
    samples: NDArray[np.float64],
    dips: NDArray[np.float64],
    ends: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def encode_parts(
    rows: Singles,
    codewords: Singles,
    starts: NDArray[np.int64],
    shift: Singles,
    codes: NDArray[np.uint8],
    n_threads: int,
) -> bool: ...
def decode_parts(
    codes: NDArray[np.uint8],
    codewords: Singles,
    starts: NDArray[np.int64],
    rows: Singles,
    n_threads: int,
) -> None: ...
def code_errors(
    rows: Singles,
    codes: NDArray[np.uint8],
    codewords: Singles,
    starts: NDArray[np.int64],
    errors: Doubles,
    n_threads: int,
) -> None: ...
def rotate_rows(rows: Singles, matrix: Singles, out: Singles, n_threads: int) -> None: ...
def cross_products(x: Singles, y: Singles, out: Doubles, n_threads: int) -> None: ...
def distance_tables(
    queries: Singles,
    codewords: Singles,
    starts: NDArray[np.int64],
    tables: Singles,
    n_threads: int,
) -> None: ...
def distances_by_tables(
    tables: Singles, codes: NDArray[np.uint8], distances: Singles, n_threads: int
) -> None: ...
def split_parts(
    rows: Singles,
    starts: NDArray[np.int64],
    shift: Singles,
    out: Singles,
    squares: Doubles,
    n_threads: int,
) -> None: ...
def seed_part_means(
    data: Singles,
    starts: NDArray[np.int64],
    row_ids: NDArray[np.int64],
    uniforms: Doubles,
    centers: Doubles,
    n_threads: int,
) -> None: ...
def assign_part_means(
    data: Singles,
    starts: NDArray[np.int64],
    centers: Doubles,
    codes: NDArray[np.uint8],
    sums: Doubles,
    counts: NDArray[np.int64],
    changed: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def count_colors(pixels: NDArray[np.uint8], counts: NDArray[np.uint32], n_threads: int) -> None: ...
def look_up_colors(
    pixels: NDArray[np.uint8], table: NDArray[Any], indices: NDArray[Any], n_threads: int
) -> None: ...
def paint(
    indices: NDArray[Any], palette: NDArray[np.uint8], out: NDArray[np.uint8], n_threads: int
) -> None: ...

# Search.

def search_flat(
    rows: Floats,
    row_ids: NDArray[np.int64],
    shift: Floats,
    scale: float,
    metric: str,
    queries: Floats,
    values: Doubles,
    ids: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def search_codes(
    blocks: NDArray[np.uint8],
    row_ids: NDArray[np.int64],
    n_parts: int,
    bits: int,
    tables: NDArray[np.float32],
    root: bool,
    values: Doubles,
    ids: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def search_codes_and_compare(
    blocks: NDArray[np.uint8],
    row_ids: NDArray[np.int64],
    n_parts: int,
    bits: int,
    tables: NDArray[np.float32],
    n_found: int,
    rows: Floats,
    metric: str,
    queries: Floats,
    values: Doubles,
    ids: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def search_lists(
    lists: object,
    asked: object,
    probes: NDArray[np.int64],
    metric: str,
    values: Doubles,
    ids: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def row_terms(
    lists: object,
    asked: object,
    numbers: NDArray[np.uint16],
    lows: Doubles,
    steps: Doubles,
    n_threads: int,
) -> None: ...
def search_lists_and_compare(
    lists: object,
    asked: object,
    probes: NDArray[np.int64],
    n_found: int,
    rows: Floats | None,
    metric: str,
    queries: Floats,
    values: Doubles,
    ids: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def search_lists_certified(
    lists: object,
    asked: object,
    proof: object,
    metric: str,
    queries: Floats,
    values: Doubles,
    ids: NDArray[np.int64],
    n_compared: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def search_certified(
    blocks: NDArray[np.uint8],
    row_ids: NDArray[np.int64],
    n_parts: int,
    bits: int,
    tables: NDArray[np.float32],
    rows: Floats,
    errors: NDArray[np.float32],
    worst_error: float,
    longest: float,
    stretch: float,
    metric: str,
    queries: Floats,
    query_norms: Doubles,
    values: Doubles,
    ids: NDArray[np.int64],
    n_compared: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def code_tables(
    words: NDArray[np.float32],
    starts: NDArray[np.int64],
    metric: str,
    queries: Doubles,
    tables: NDArray[np.float32],
    n_threads: int,
) -> None: ...
