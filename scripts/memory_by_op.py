"""Which ops fill the GPU's memory at its peak, and which only pass through it?

    python scripts/memory_by_op.py trace.json.gz

`held` is what an op allocated that is alive at the peak: smaller activations or recomputation
help. `churn` is all that it allocated: an op with much churn and little held only reuses memory.
"""

import argparse
import sys

import pandas as pd

import traceview

CPU = 0
MIB = 2**20


def memory_by_op(trace: traceview.Trace) -> pd.DataFrame:
    """One row an op, most held first, in MiB."""
    at_peak = traceview.memory_at_peak(trace, by="op")
    held = at_peak[at_peak["device_type"] != CPU].groupby("group")["bytes"].sum()
    churn = traceview.ops(trace).set_index("op")["allocated_in_it_bytes"]
    table = pd.DataFrame({"held_mib": held / MIB, "churn_mib": churn / MIB}).fillna(0)
    table["share"] = table["held_mib"] / table["held_mib"].sum()
    table = table[(table["held_mib"] > 0) | (table["churn_mib"] > 0)]
    return table.sort_values(["held_mib", "churn_mib"], ascending=False).rename_axis("op")


def main() -> None:
    """Print the table for the trace that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    try:
        trace = traceview.load(parser.parse_args().trace)
    except traceview.TraceviewError as error:
        sys.exit(str(error))
    table = memory_by_op(trace)
    if table.empty:
        sys.exit("no memory events in this trace: record with profile_memory=True")
    print(table.head(12).to_string(float_format="%.2f"))
    peaks = traceview.memory_peaks(trace)
    for peak in peaks[peaks["device_type"] != CPU]["peak_allocated_bytes"]:
        print(f"\npeak {peak / MIB:,.1f} MiB")


if __name__ == "__main__":
    main()
