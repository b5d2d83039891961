"""Which device records have an impossible time (format notes, 6).

Such a record would stretch the window of its device and with it every share of idle time. It stays
in the frame, flagged, and is in no figure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from traceview.intervals import Ints

_SECOND = 10**9
_LONGEST = 24 * 3600 * _SECOND
"""No piece of device work takes a day; profilers do write centuries."""
_FAR = 10
"""A record this many recordings away from the recording does not belong to it."""


def corrupt(
    starts: Ints, durations: Ints, known: NDArray[np.bool_], host: Ints
) -> dict[str, NDArray[np.bool_]]:
    """A mask a kind of fault over device records; times are the file's own.

    `known` tells which durations are stated; `host` are the starts of the host events.
    """
    negative = durations < 0
    impossible = durations > _LONGEST
    sound = known & ~negative & ~impossible
    reference = host[host != 0] if host.size else starts[sound & (starts != 0)]
    away = np.zeros(starts.size, dtype=bool)
    zero = away.copy()
    if reference.size:
        away = far(starts, reference)
        zero = (starts == 0) & (durations == 0) & (reference.min() > 0)
    return {
        "negative duration": negative,
        "impossible duration": impossible & ~negative,
        "no duration": ~known,
        "zero time": zero & sound,
        "time outside the recording": away & ~zero & sound,
    }


def misplaced(starts: Ints, durations: Ints) -> NDArray[np.bool_]:
    """Which host events have an impossible time: zero amid times since 1970, or over a day."""
    away = far(starts, starts[starts != 0]) if starts.any() else np.zeros(starts.size, dtype=bool)
    return away | (durations > _LONGEST)


def far(starts: Ints, reference: Ints) -> NDArray[np.bool_]:
    """Whether each start lies many recordings, and at least a second, away from `reference`."""
    first, last = int(reference.min()), int(reference.max())
    reach = max(_FAR * (last - first), _SECOND)
    return (starts < first - reach) | (starts > last + reach)
