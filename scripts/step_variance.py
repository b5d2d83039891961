"""Which part of a step makes the steps differ: the GPU's work, its waiting, or the host?

    python scripts/step_variance.py trace.json.gz

Steps of one recording are no independent samples, so this is no error bar: it shows where to look
when a program is fast in one step and slow in the next.
"""

import argparse
import sys

import pandas as pd

import traceview

PARTS = ["device_period_ns", "busy_ns", "idle_ns", "host_ns"]


def steps_of(trace: traceview.Trace) -> pd.DataFrame:
    """The steps that count and have a device period, with their idle time."""
    steps = traceview.steps(trace)
    steps = steps[steps["excluded"].isna() & steps["device_period_ns"].notna()].set_index("step")
    steps["idle_ns"] = steps["device_period_ns"] - steps["busy_ns"]
    return steps[PARTS].astype("float64")


def variance(steps: pd.DataFrame) -> pd.DataFrame:
    """Spread of each part, and how far it goes along with the device period."""
    along = steps.cov()["device_period_ns"] / steps["device_period_ns"].var()
    return pd.DataFrame(
        {
            "mean_ms": steps.mean() / 1e6,
            "sd_ms": steps.std() / 1e6,
            "cv": steps.std() / steps.mean(),
            "with_period": along,
        }
    ).rename(index=lambda name: name.removesuffix("_ns"))


def main() -> None:
    """Print both tables for the trace that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    try:
        steps = steps_of(traceview.load(parser.parse_args().trace))
    except traceview.TraceviewError as error:
        sys.exit(str(error))
    if len(steps) < 2:  # noqa: PLR2004
        sys.exit("fewer than two steps of this trace count")
    print(variance(steps).to_string(float_format="%.3f"))
    by_length = steps.sort_values("device_period_ns")
    more = (by_length.iloc[-1] - by_length.iloc[0]) / 1e6
    fastest, slowest = by_length.index[0], by_length.index[-1]
    print(f"\n{slowest} takes {more['device_period_ns']:.3f} ms longer than {fastest}: ", end="")
    print(f"{more['busy_ns']:+.3f} ms busy, {more['idle_ns']:+.3f} ms idle.")


if __name__ == "__main__":
    main()
