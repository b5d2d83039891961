"""How far recordings of one program differ by themselves."""

from __future__ import annotations

from traceview.diff.noise import NoiseProfile
from traceview.document import Document, Field, Section, Table
from traceview.stats import profiled
from traceview.units import Unit


def document(profile: NoiseProfile) -> Document:
    """The report; its JSON is what `load_profile` reads."""
    rows = tuple(
        (name, sd, profiled(0.0, sd, profile.recordings - 1, (1, 1)).half_width)
        for name, sd in profile.sds.items()
    )
    fields = (
        Field("a step"),
        Field("run-to-run sd", Unit.SHARE),
        Field("seen from one pair", Unit.SHARE),
    )
    lead = (
        *profile.doubts,
        f"{profile.recordings} recordings{'' if profile.doubts else ' of one program'}.",
        "A single pair of recordings shows a change that is larger than its last column.",
    )
    section = Section("Spread of the logarithm", (), (Table("noise", fields, rows),))
    return Document("noise", "Noise profile", lead, (section,), profile.to_json())
