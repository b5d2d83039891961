"""A pickle as plain values: nothing in it is ever called.

A pickle is a program. What it can do beyond building dicts, lists, tuples, sets, numbers and
strings begins with naming a global (a class or a function), by one of the opcodes GLOBAL,
STACK_GLOBAL, INST and EXT*; all of them end in `find_class`, which here always refuses. A memory
snapshot names none (format notes, 7.2).
"""

from __future__ import annotations

import copyreg
import pickle
from pathlib import Path
from typing import Any, NoReturn

from traceview.errors import FileError

_PROTOCOL = 0x80
_PROTOCOLS = range(2, 6)


class _Named(Exception):  # noqa: N818 -- a reason to stop, not an error of its own
    """The pickle names something."""


class _PlainUnpickler(pickle.Unpickler):
    """Builds plain values; naming a global ends it before anything is imported or called."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise _Named(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise _Named(f"the persistent object {pid!r}")


def is_pickle(path: str) -> bool:
    """Whether the file at `path` begins as a pickle of the protocols 2 to 5 does.

    Of a pipe it is not told, since what is read from that is gone.
    """
    if not Path(path).is_file():
        return False
    try:
        with Path(path).open("rb") as file:
            start = file.read(2)
    except OSError:
        return False
    return len(start) == len(b"\x80\x04") and start[0] == _PROTOCOL and start[1] in _PROTOCOLS


def plain(path: str) -> Any:
    """The value pickled in the file at `path`. Raises FileError when it is not of plain parts."""
    copyreg.clear_extension_cache()  # what is cached there would not be asked of find_class
    try:
        with Path(path).open("rb") as file:
            return _PlainUnpickler(file).load()
    except _Named as named:
        raise FileError(
            path,
            f"this pickle names {named}, which could run code; a memory snapshot holds plain values"
            " only, so it was not read",
        ) from None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from None
    except _DAMAGE as error:
        raise FileError(
            path, f"this pickle is damaged: {str(error) or type(error).__name__}"
        ) from None


_DAMAGE = (
    pickle.UnpicklingError, EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError,
    OverflowError, MemoryError,
)  # fmt: skip
"""What pickle raises for a program that makes no sense (`pickle.UnpicklingError` documents so)."""
