"""Where a report goes and in which format: the options that all reports share."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traceview.errors import FileError, UsageError
from traceview.render import ENDINGS, SPECIAL, format_of, render

if TYPE_CHECKING:
    from pandas import DataFrame

    from traceview.document import Document
    from traceview.schema import Schema

FRAMES = {"parquet": ".parquet", "arrow": ".arrow"}
"""The formats of a whole frame, in which every column keeps its dtype."""
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
            with _whole(self.path) as place:
                place.write_bytes(text.encode("utf-8", errors="backslashreplace"))

    def write_frame(self, frame: DataFrame, schema: Schema) -> None:
        """Write a frame to the file, with its dtypes."""
        from traceview import store  # noqa: PLC0415 -- help has no time for pandas

        self.send(lambda place: store.write(frame, schema, place, self.format))

    def send(self, write: Callable[[Path], object]) -> None:
        """Let `write` make the file, which is then there whole or not at all."""
        if self.path is not None:
            with _whole(self.path) as place:
                write(place)


def output_options(
    command: Callable[..., None], *, special: tuple[str, ...] = ()
) -> Callable[..., None]:
    """Give a command `--format`, `-o` and `--width`; it receives them as one `output`.

    `special` names the formats of SPECIAL and FRAMES that its report has.
    """
    endings = ENDINGS | {name: (SPECIAL | FRAMES)[name] for name in special}

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
        command(*arguments, output=chosen(format_name, path, width, endings), **others)

    return with_output


frame_options = partial(output_options, special=tuple(FRAMES))
"""The same for a command whose rows are a frame, which may go to a file as it is."""


def chosen(
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
    if format_name in FRAMES:
        raise UsageError(f"{format_name} is for files; name one with -o FILE")
    terminal = sys.stdout.isatty()
    return Output(
        format_name or "text",
        None,
        width or (_terminal_width() if terminal else DEFAULT_WIDTH),
        color=terminal and not os.environ.get("NO_COLOR"),
    )


def _terminal_width() -> int:
    return max(shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns, NARROWEST)


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Where to write a file that is to be there whole or not at all; a device or pipe is itself."""
    target = path.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        if path.exists() and not path.is_file():
            yield path
        else:
            yield unfinished
            unfinished.replace(target)
    except OSError as error:
        raise FileError(str(path), f"cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
