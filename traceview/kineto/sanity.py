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
PADDING = 891
"""What .9 says more than 9 ns, and .99 more than 99."""
_ENOUGH = 1000
_COARSEST = 10
"""A clock whose steps leave no fraction below 100 ns has no more fractions than this."""
_SINCE = 1_710_720_000 * _SECOND
"""The 18th of March 2024."""
_FAR = 10
"""A record this many recordings away from the recording does not belong to it."""
_MONTH = 30 * _LONGEST
"""No recording takes so long."""


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


def unpadded(starts: Ints) -> NDArray[np.bool_]:
    """Which times may be up to `PADDING` ns too late, in a file whose fractions were not padded.

    Builds of PyTorch of March 2024 wrote 5 ns as .5 and 50 ns as .50 (format notes, 1.5). Then no
    fraction is below 100 ns, as one in ten is otherwise: of a thousand times that cannot be by
    chance, and of a clock that steps by less than 100 ns neither.
    """
    fractions = starts % 1000
    counts = np.bincount(fractions, minlength=1000)
    told = (
        starts.size >= _ENOUGH
        and int(starts.min()) >= _SINCE
        and not counts[1:100].any()
        and np.count_nonzero(counts) > _COARSEST
    )
    return np.asarray((fractions % 10 == 0) & (fractions > 0) & told)


def misplaced(starts: Ints, durations: Ints) -> NDArray[np.bool_]:
    """Which host events have an impossible time: far from all others, or over a day."""
    away = far(starts, starts[starts != 0]) if starts.any() else np.zeros(starts.size, dtype=bool)
    return away | (durations > _LONGEST)


def far(starts: Ints, reference: Ints) -> NDArray[np.bool_]:
    """Whether each start lies many recordings, and at least a second, away from `reference`.

    Times in `reference` that lie months apart are of no recording, but the middle one is.
    """
    first, last = int(reference.min()), int(reference.max())
    if last - first > _MONTH:
        middle = int(np.partition(reference, reference.size // 2)[reference.size // 2])
        near = reference[(reference >= middle - _LONGEST) & (reference <= middle + _LONGEST)]
        first, last = int(near.min()), int(near.max())
    reach = max(_FAR * (last - first), _SECOND)
    return (starts < first - reach) | (starts > last + reach)
