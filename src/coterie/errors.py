"""The exceptions of coterie's own; all others are Python's or scikit-learn's."""

__all__ = ["AdviceWarning", "DataError", "FileError", "InvariantError", "ParameterError"]


class AdviceWarning(UserWarning):
    """A fit did what was asked, but the parameters hardly suit the rows; the message says why."""


class DataError(ValueError):
    """A table cannot be used as rows to cluster; the message says why and what to try."""


class FileError(ValueError):
    """A model cannot be stored in a file, or a file does not hold a usable model."""


class ParameterError(ValueError, TypeError):
    """A parameter is not what it may be; both kinds of error, as scikit-learn's own is."""


class InvariantError(RuntimeError):
    """Something that must always hold during a fit did not; the message names the step.

    Raised only under ``coterie.set_options(check_invariants=True)``; always a defect of coterie.
    """
