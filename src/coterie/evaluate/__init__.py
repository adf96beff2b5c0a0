"""Scores of clusterings: against other labels (`external`) and by the rows (`internal`)."""

from coterie.evaluate import external, internal
from coterie.evaluate.external import *  # noqa: F403
from coterie.evaluate.internal import *  # noqa: F403

__all__ = [*external.__all__, *internal.__all__]
