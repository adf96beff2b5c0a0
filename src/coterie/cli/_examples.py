"""The examples that the help of each command ends with."""

from __future__ import annotations

from collections.abc import Sequence

EXAMPLES: dict[str, tuple[str, ...]] = {
    "study": (
        "coterie study penguins.csv",
        "coterie study sales.xlsx -o out --time 300 --strict",
        "coterie study shop.sqlite --query 'SELECT * FROM orders' -o orders",
    ),
    "fit": (
        "coterie fit faithful.csv -k 2",
        "coterie fit penguins.csv --method mixed -k 3 --without id",
        "coterie fit points.parquet --method hdbscan --min-cluster-size 20 -o out",
        "cat faithful.csv | coterie fit - -k 2 -o - > labels.csv",
    ),
    "predict": (
        "coterie predict coterie-out/model.coterie new.csv -o new-labels.csv",
        "cat new.csv | coterie predict coterie-out/model.coterie - -o -",
    ),
    "choose-k": (
        "coterie choose-k faithful.csv -k 8",
        "coterie choose-k faithful.csv --method gaussian -k 1-6 --criterion bic --json",
    ),
    "tendency": (
        "coterie tendency faithful.csv",
        "coterie tendency faithful.csv --strict && coterie fit faithful.csv -k 2",
    ),
    "eps": (
        "coterie eps faithful.csv",
        "coterie eps faithful.csv --min-samples 10 -o curve.png",
    ),
    "dendrogram": (
        "coterie dendrogram faithful.csv -o tree.png",
        "coterie dendrogram animals.csv --names animal --linkage average -k 4 -o tree.nwk "
        "--labels labels.csv",
    ),
    "quantize": (
        "coterie quantize photo.jpg -k 16",
        "coterie quantize photo.jpg -k 8 --lab -o small.png",
    ),
    "index build": (
        "coterie index build vectors.npy -o vectors.index",
        "coterie index build vectors.parquet --kind ivf --lists 1000 -o vectors.index",
    ),
    "index search": ("coterie index search vectors.index queries.npy -k 10 -o ids.npy",),
    "index info": ("coterie index info vectors.index --json",),
    "convert": (
        "coterie convert sales.csv -o sales.parquet",
        "coterie convert 'parts/*.parquet' --columns a,b -o all.npy",
        "cat sales.parquet | coterie convert - --to csv -o -",
    ),
    "info": (
        "coterie info sales.csv",
        "coterie info coterie-out/model.coterie --json",
    ),
    "score": (
        "coterie score faithful.csv --labels coterie-out/labels.csv",
        "coterie score penguins.csv --labels labels.csv --truth species --json",
    ),
}


#: What the help of all commands together ends with.
OVERVIEW = (
    "coterie info penguins.csv",
    "coterie study penguins.csv",
    "coterie fit faithful.csv -k 2",
    "coterie predict coterie-out/model.coterie new.csv",
)

#: What each command answers, in the list of all.
ANSWERS = {
    "study": "Are there clusters, which, and can they be trusted?",
    "fit": "Which cluster is each row in?",
    "predict": "Which cluster is each new row in?",
    "choose-k": "How many clusters?",
    "tendency": "Is there anything to cluster?",
    "eps": "Which radius for DBSCAN?",
    "dendrogram": "What does the tree of merges look like?",
    "quantize": "A picture in few colours.",
    "index": "Which vectors are nearest?",
    "convert": "The same table in another format.",
    "info": "What is in this file?",
    "score": "How good are these labels?",
}


def epilog(command: str) -> str:
    """The end of a command's help."""
    return in_lines(EXAMPLES[command])


def in_lines(examples: Sequence[str]) -> str:
    """Examples, each in a line of its own, which the mark before them keeps."""
    return "\n".join(["\b", "Examples:", *(f"  {example}" for example in examples)])
