"""From a raw table to an answer: what its columns are, and what is in them."""
