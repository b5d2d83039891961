"""Does work start late because the GPU is behind, or because a launch takes its time?

    python scripts/latency_by_queue_depth.py trace.json.gz

The latency of launches, by how much work was waiting when they were made. With an empty queue it
is the cost of a launch alone; what grows with the depth is waiting for the GPU, and no cheaper
launch takes it away.
"""

import argparse
import sys

import pandas as pd

import traceview

DEPTHS = [0, 1, 2, 5, 20, 100, 1000, 1_000_000]
NAMES = ["0", "1", "2 to 4", "5 to 19", "20 to 99", "100 to 999", "1000 and more"]


def latency_by_depth(trace: traceview.Trace) -> pd.DataFrame:
    """One row a range of depths that occurs."""
    launches = traceview.launches(trace)
    launches = launches[launches["latency_ns"].notna()]
    depth = pd.cut(launches["queue_depth"], DEPTHS, right=False, labels=NAMES)
    latency = launches["latency_ns"].astype("int64").groupby(depth, observed=True)
    return pd.DataFrame(
        {
            "launches": latency.size(),
            "median_us": latency.median() / 1e3,
            "p90_us": latency.quantile(0.9) / 1e3,
            "call_us": launches.groupby(depth, observed=True)["duration_ns"].median() / 1e3,
        }
    ).rename_axis("waiting")


def main() -> None:
    """Print the table for the trace that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    try:
        table = latency_by_depth(traceview.load(parser.parse_args().trace))
    except traceview.TraceviewError as error:
        sys.exit(str(error))
    if table.empty:
        sys.exit("no launch of this trace has its work in it")
    print(table.to_string(float_format="%.1f"))
    share = table["launches"].get("0", 0) / table["launches"].sum()
    behind = "the host: the GPU waits for launches" if share > 1 / 2 else "the GPU: work queues up"
    print(f"\n{share:.0%} of the launches met an empty queue. What lags behind is {behind}.")


if __name__ == "__main__":
    main()
