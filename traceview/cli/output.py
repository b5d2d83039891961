"""Where a report goes and in which format: the options that all reports share."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traceview.errors import FileError, UsageError
from traceview.render import ENDINGS, SPECIAL, format_of, render

if TYPE_CHECKING:
    from traceview.document import Document

DEFAULT_WIDTH = 80
NARROWEST = 60
"""Tables get no narrower than this: a terminal that is narrower wraps their lines itself."""


@dataclass(frozen=True, slots=True)
class Output:
    """Where a report goes: to `path`, or to stdout where there is none."""

    format: str
    path: Path | None
    width: int
    color: bool

    def spare(self, *recordings: str) -> None:
        """Refuse to write over a recording, which may have taken a day to make."""
        for recording in recordings:
            with suppress(OSError):  # what cannot be compared cannot be the same file
                if self.path is not None and self.path.samefile(recording):
                    raise UsageError(f"{self.path}: this is the recording; name another file")

    def write(self, document: Document) -> None:
        """Render the document and send it there."""
        text = render(document, self.format, width=self.width, color=self.color)
        if self.path is None:
            click.echo(text, nl=False)
        else:
            _write_whole(self.path, text)


def output_options(
    command: Callable[..., None], *, special: tuple[str, ...] = ()
) -> Callable[..., None]:
    """Give a command `--format`, `-o` and `--width`; it receives them as one `output`.

    `special` names the formats of SPECIAL that its report has.
    """
    endings = ENDINGS | {name: SPECIAL[name] for name in special}

    @click.option(
        "--format",
        "format_name",
        type=click.Choice(list(endings)),
        help="How to write the report; text unless -o says otherwise. csv holds raw integers of"
        " ns and bytes, json what other programs rely on.",
    )
    @click.option(
        "-o",
        "--output",
        "path",
        metavar="FILE",
        help="Write to FILE; its ending picks the format: " + " ".join(endings.values()),
    )
    @click.option(
        "--width",
        type=click.IntRange(min=NARROWEST),
        help=f"Columns of text; the terminal's, or {DEFAULT_WIDTH} where there is none.",
    )
    @wraps(command)
    def with_output(
        *arguments: Any, format_name: str | None, path: str | None, width: int | None, **others: Any
    ) -> None:
        command(*arguments, output=_chosen(format_name, path, width, endings), **others)

    return with_output


def _chosen(
    format_name: str | None, path: str | None, width: int | None, endings: Mapping[str, str]
) -> Output:
    """The output that the options ask for, refused now rather than after a long computation."""
    if path is not None:
        target = Path(path)
        if not target.parent.is_dir():
            raise UsageError(f"{path}: the directory {target.parent} does not exist")
        if target.is_dir():
            raise UsageError(f"{path}: this is a directory; name a file in it")
        return Output(
            format_name or format_of(path, endings), target, width or DEFAULT_WIDTH, color=False
        )
    terminal = sys.stdout.isatty()
    return Output(
        format_name or "text",
        None,
        width or (_terminal_width() if terminal else DEFAULT_WIDTH),
        color=terminal and not os.environ.get("NO_COLOR"),
    )


def _terminal_width() -> int:
    return max(shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns, NARROWEST)


def _write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all; a device or a pipe is written to as it is."""
    encoded = text.encode("utf-8", errors="backslashreplace")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(encoded)
        else:
            _replace(path.resolve(), encoded)
    except OSError as error:
        raise FileError(str(path), f"cannot be written: {error.strerror}") from error


def _replace(path: Path, content: bytes) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
