"""Tables larger than memory, and larger than a machine."""
