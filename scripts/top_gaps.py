"""Which annotated regions does the GPU wait in, and for what?

    python scripts/top_gaps.py trace.json.gz

A gap counts for the annotation that the host was in when the work that ended it was held up. One
line an annotation: its idle time, its largest cause and the op and the line of Python behind the
longest of its gaps.
"""

import argparse
import sys

import pandas as pd

import traceview

OUTSIDE = "(no annotation)"


def top_gaps(trace: traceview.Trace) -> pd.DataFrame:
    """One row an annotation, most idle time first."""
    gaps = traceview.gaps(trace).set_index("gap")
    parts = traceview.gap_parts(trace)
    parts["annotation"] = parts["gap"].map(gaps["annotation"]).fillna(OUTSIDE)

    idle = parts.pivot_table(
        index="annotation", columns="cause", values="ns", aggfunc="sum", fill_value=0
    )
    longest = gaps.assign(annotation=gaps["annotation"].fillna(OUTSIDE))
    longest = longest.sort_values("duration_ns").groupby("annotation").last()
    table = pd.DataFrame(
        {
            "idle_ms": idle.sum(axis=1) / 1e6,
            "share": idle.sum(axis=1) / idle.to_numpy().sum(),
            "mostly": idle.idxmax(axis=1),
            "longest_ms": longest["duration_ns"] / 1e6,
            "in_op": longest["op"],
            "at": longest["python_frame"],
        }
    )
    return table.sort_values("idle_ms", ascending=False)


def main() -> None:
    """Print the table for the trace that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    try:
        table = top_gaps(traceview.load(parser.parse_args().trace))
    except traceview.TraceviewError as error:
        sys.exit(str(error))
    if table.empty:
        sys.exit("the GPU is never idle in this trace, or did not work at all")
    print(table.head(10).dropna(axis=1, how="all").to_string(float_format="%.3f"))


if __name__ == "__main__":
    main()
