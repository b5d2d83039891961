"""Microseconds of many entries at once -> exact nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from traceview.kineto.packing import NotPlainError, packed
from traceview.kineto.values import INT64, Raw, nanoseconds, text

Times = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""Nanoseconds, and which of them are known."""
_PROVABLE: Final = 2.0**42
_DECIMALS: Final = 3
_MOST_DIGITS: Final = 15
"""So many digits before the point and three behind it always fit an int64."""


class InexactError(ValueError):
    """A float does not tell which nanosecond its text meant."""


def of_floats(microseconds: Sequence[float]) -> Times:
    """Times from the floats nearest to them, NaN for none; InexactError if one does not tell.

    Let the text say d, and x be the float nearest to it. When x is also the float nearest to
    n / 1000, d is within one spacing of n / 1000. Below 2^42 a spacing is at most 2^-11, so that
    1000 d is within 0.49 of n: n is the nearest integer, however many decimals d has.
    """
    found = packed(microseconds, len(microseconds), np.float64)
    known = found == found  # noqa: PLR0124 - NaN differs from itself
    times = np.rint(found * 1000)
    proven = (times / 1000 == found) & (np.abs(found) < _PROVABLE)
    if not np.array_equal(proven, known):
        raise InexactError
    return np.where(known, times, 0).astype(np.int64), known


def of_texts(raws: Sequence[Raw]) -> Times:
    """Times from their texts as they stand in the file, empty for none."""
    plain = _of_plain_numbers(raws)
    if plain is not None:
        return plain
    times = [_time(bytes(raw)) for raw in raws]
    known = np.array([time is not None for time in times], dtype=np.bool_)
    return np.array([time or 0 for time in times], dtype=np.int64), known


def _of_plain_numbers(raws: Sequence[Raw]) -> Times | None:
    """Numbers of at most three decimals, which is what PyTorch writes; None if others are there."""
    joined = b" ".join((*raws, b""))
    characters = np.frombuffer(joined, dtype=np.uint8)
    marks = np.flatnonzero(characters - np.uint8(ord("0")) > np.uint8(9))
    kinds = characters[marks]
    closing = np.flatnonzero(kinds == ord(" "))
    if closing.size != len(raws) or np.count_nonzero(kinds == ord(".")) != kinds.size - len(raws):
        return None
    ends = marks[closing]
    lengths = np.diff(ends, prepend=-1) - 1
    points = np.diff(closing, prepend=-1) - 1
    decimals = np.where(points > 0, ends - marks[closing - 1] - 1, 0)
    digits = lengths - decimals - points
    known = lengths > 0
    if np.any((points > 1) | (decimals > _DECIMALS) | (decimals < points) | (digits < known)):
        return None
    if digits.max(initial=0) > _MOST_DIGITS:
        return None
    times = np.zeros(len(raws), dtype=np.int64)
    if np.any(known):
        numbers = np.fromstring(joined.replace(b".", b""), dtype=np.int64, sep=" ")
        times[known] = numbers * 10 ** (_DECIMALS - decimals[known])
    return times, known


def _time(raw: bytes) -> int | None:
    content = text(raw)
    if content is None:
        return None
    result = nanoseconds(content)
    if result is None or result not in INT64:
        raise NotPlainError(content)
    return result
