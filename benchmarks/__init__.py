"""Compare coterie with the best peers in one run: `python -m benchmarks --help`."""
