"""How often the `measured` basis calls a change where there is none, and finds one that is there.

    python scripts/simulate_verdicts.py [--repetitions 2000]

Recordings of a program are drawn as log-normal figures with the run-to-run spread that was measured
on an H200 (see `traceview.diff.judge`); six quantities form the family that Holm's procedure keeps
together. Printed for 3 to 10 recordings a side: the share of comparisons of a program with itself
in which any quantity is called improved or regressed, with the usual margins and with none, and the
share in which a change of 5 % of the GPU's busy time and of the host's step is found.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence

import numpy as np

from traceview.diff.judge import BUSY_SD, HOST_SD, LAUNCH_SD, MARGINS, PERIOD_SD
from traceview.stats import Verdict, holm, judge, welch

SPREADS: Mapping[str, float] = {
    "gpu_busy": BUSY_SD,
    "device_period": PERIOD_SD,
    "gpu_idle": PERIOD_SD,
    "host_step": HOST_SD,
    "launch_overhead": LAUNCH_SD,
    "sync_stall": PERIOD_SD,
}
CHANGE = 0.05


def called(
    rng: np.random.Generator, runs: int, change: float, margins: Mapping[str, float]
) -> set[str]:
    """The quantities of one simulated comparison that are called improved or regressed."""
    estimates = {}
    for name, sd in SPREADS.items():
        before = rng.normal(0.0, sd, runs).tolist()
        after = rng.normal(math.log1p(change), sd, runs).tolist()
        estimates[name] = welch(before, after)
    limits = {name: math.log1p(margins[name]) for name in estimates}
    kept = holm([estimate.beyond(limits[name]) for name, estimate in estimates.items()])
    return {
        name
        for (name, estimate), holds in zip(estimates.items(), kept, strict=True)
        if holds and judge(estimate, limits[name]).verdict in (Verdict.IMPROVED, Verdict.REGRESSED)
    }


def share(outcomes: Sequence[bool]) -> str:
    """A share with its standard error, per cent."""
    p = float(np.mean(outcomes))
    error = math.sqrt(p * (1 - p) / len(outcomes))
    return f"{100 * p:6.2f} +- {100 * error:.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    none = dict.fromkeys(SPREADS, 0.0)
    print("runs  false, margins 0 %  false, usual margins  busy +5 % found  host +5 % found")
    for runs in range(3, 11):
        repeat = range(options.repetitions)
        strict = [bool(called(rng, runs, 0.0, none)) for _ in repeat]
        usual = [bool(called(rng, runs, 0.0, MARGINS)) for _ in repeat]
        found = [called(rng, runs, CHANGE, MARGINS) for _ in repeat]
        columns = (strict, usual, ["gpu_busy" in names for names in found],
                   ["host_step" in names for names in found])  # fmt: skip
        print(f"{runs:4}  " + "  ".join(f"{share(column):>17}" for column in columns))


if __name__ == "__main__":
    main()
