"""Errors that end a command with one plain sentence.

    TraceviewError
    |-- FileError           the file could not be read at all
    |   |-- NotATraceError  it was read, and holds something else
    |   `-- EmptyTraceError it is a trace without a single event
    |-- ColumnError         a frame lacks columns, or has ones of another type
    |-- CaptureError        a recording could not be made
    `-- UsageError          a value that was asked for does not exist

Anything else that escapes is a bug and stays a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable


class TraceviewError(Exception):
    """What was found, what was expected, what to do: one sentence."""


class FileError(TraceviewError):
    """A file could not be read."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class NotATraceError(FileError):
    """A file was read, but it is no Chrome or Kineto trace."""


class EmptyTraceError(FileError):
    """A file holds nothing."""


class ColumnError(TraceviewError):
    """A frame does not have the columns that its schema promises."""

    def __init__(
        self,
        schema: str,
        *,
        missing: Iterable[str] = (),
        extra: Iterable[str] = (),
        mistyped: Iterable[str] = (),
        found: Iterable[str] = (),
    ) -> None:
        problems = (
            ("the frame lacks", sorted(missing)),
            ("it has of its own", sorted(extra)),
            ("of another type", sorted(mistyped)),
            ("its columns are", list(found)),
        )
        said = (f"{words} {', '.join(names)}" for words, names in problems if names)
        super().__init__(f"{schema}: {'; '.join(said)}")


class CaptureError(TraceviewError):
    """A recording could not be made."""


class UsageError(TraceviewError):
    """A value that was asked for does not exist."""
