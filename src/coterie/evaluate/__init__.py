"""Scores of clusterings: against other labels (`external`) and by the rows (`internal`)."""

from coterie.evaluate import external
from coterie.evaluate.external import *  # noqa: F403

__all__ = external.__all__
