"""Memory snapshots of torch: what `torch.cuda.memory._dump_snapshot` pickled.

unpickle   the file -> plain values; a pickle that names anything is refused
read       plain values -> Snapshot, three frames
history    how full the memory was over time, and who held it at the peak

snapshot = load("snapshot.pickle")
snapshot_peaks(snapshot)
"""

from traceview.snapshot.history import (
    snapshot_alive,
    snapshot_at_peak,
    snapshot_notes,
    snapshot_peaks,
    snapshot_timeline,
)
from traceview.snapshot.read import Snapshot, load
from traceview.snapshot.unpickle import is_pickle

__all__ = [
    "Snapshot",
    "is_pickle",
    "load",
    "snapshot_alive",
    "snapshot_at_peak",
    "snapshot_notes",
    "snapshot_peaks",
    "snapshot_timeline",
]
