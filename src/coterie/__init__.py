"""Clustering, the whole of it, under one interface."""
