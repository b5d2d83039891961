"""Records in folders: one file each, so that what people add side by side goes together."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from traceview.errors import FileError, UsageError
from traceview.experiment import text
from traceview.experiment.record import Plan, Problem, Record

ENDING = ".md"
Body = Callable[[Record], str]
"""What makes the Markdown of a record."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a folder: its record, None where it cannot be read, and what is wrong with it."""

    path: Path
    record: Record | None
    problems: tuple[Problem, ...] = ()

    @property
    def faults(self) -> Iterator[str]:
        """What is wrong, each with its line."""
        return (f"{self.path}:{problem.line}: {problem.text}" for problem in self.problems)


def create(folder: Path, plan: Plan, body: Body) -> Path:
    """Write a new record, and never over another one.

    Raises UsageError where the folder has one of this id.
    """
    path = folder / f"{plan.id}{ENDING}"
    record = Record(plan)
    content = text.write(record, body(record))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError as error:
        raise UsageError(f"{path}: there is such an experiment already; take another id") from error
    except OSError as error:
        raise FileError(str(path), f"cannot be written: {error.strerror}") from error
    return path


def save(entry: Entry, record: Record, body: Body) -> None:
    """Write what was observed into the file of a plan; what a person added to it is kept."""
    old = _content(entry.path)
    partial = entry.path.with_name(f".{entry.path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text.write(record, body(record), old), encoding="utf-8")
        partial.replace(entry.path)
    except OSError as error:
        raise FileError(str(entry.path), f"cannot be written: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)


def entries(folders: Sequence[Path]) -> list[Entry]:
    """All records of some folders, by the time of their prediction, damaged ones last.

    Markdown without front matter is no record and is passed over.
    """
    found = [entry for folder in folders for entry in _entries(folder)]
    return sorted(
        found,
        key=lambda e: (e.record is None, e.record.plan.predicted_at if e.record else "", e.path),
    )


def find(folders: Sequence[Path], name: str) -> Entry:
    """The one record of this id, or of this file name without its ending.

    Raises UsageError where there is none, or several.
    """
    listed = entries(folders)
    own = [entry for entry in listed if entry.path.stem == name]
    found = own or [e for e in listed if e.record is not None and e.record.plan.id == name]
    if not found:
        near = get_close_matches(name, [entry.path.stem for entry in listed], 1)
        where = ", ".join(map(str, folders))
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"no experiment {name} in {where}{hint}")
    if len(found) > 1:
        paths = ", ".join(str(entry.path) for entry in found)
        raise UsageError(f"several experiments are called {name}: {paths}")
    return found[0]


def merge(sources: Sequence[Path], target: Path) -> list[Path]:
    """Copy all records of `sources` into `target` and return the new files; nothing is lost.

    A file that the target has with the same content is passed over; one with other content is
    copied under a name of its own.
    """
    target.mkdir(parents=True, exist_ok=True)
    made = []
    for source in sources:
        for path in _files(source):
            place = _free(target, path)
            if place is not None:
                shutil.copyfile(path, place)
                made.append(place)
    return made


def _free(target: Path, path: Path) -> Path | None:
    """Where in `target` a file has to go; None where it already is there."""
    content = path.read_bytes()
    place, number = target / path.name, 1
    while place.exists():
        if place.read_bytes() == content:
            return None
        number += 1
        place = target / f"{path.stem}-{number}{path.suffix}"
    return place


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder of experiments")
    return sorted(path for path in folder.glob(f"*{ENDING}") if path.is_file())


def _entries(folder: Path) -> Iterator[Entry]:
    for path in _files(folder):
        try:
            content = _content(path)
        except FileError as error:
            yield Entry(path, None, (Problem(1, error.problem),))
            continue
        if text.is_record(content):
            yield Entry(path, *text.read(content))


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(str(path), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FileError(str(path), f"is no UTF-8 from byte {error.start} on") from error
