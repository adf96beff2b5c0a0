"""Studies of what a report says of labelled and of structureless tables."""
