"""Which free ends which allocation: the events of an allocator, paired by address."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NONE = -1


def partners(
    address: NDArray[np.uint64], made: NDArray[np.bool_], freed: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """For each allocation the event that frees it and for each free what it frees; -1 for none.

    Arrays with an entry an event, in order of time. An address is used again and again: of its
    events an allocation and the next one pair if that is a free.
    """
    partner = np.full(address.size, NONE)
    rows = np.flatnonzero(made | freed)
    order = rows[np.argsort(address[rows], kind="stable")]
    first, second = order[:-1], order[1:]
    pairs = (address[first] == address[second]) & made[first] & freed[second]
    partner[first[pairs]] = second[pairs]
    partner[second[pairs]] = first[pairs]
    return partner
