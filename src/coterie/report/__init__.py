"""From a raw table to an answer: what its columns are, and what is in them."""

from coterie.report._new_rows import StudyModel
from coterie.report.study import Study, StudyProgress, study

__all__ = ["Study", "StudyModel", "StudyProgress", "study"]
