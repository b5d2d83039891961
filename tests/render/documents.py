"""Small documents, written out, that the tests of all formats share."""

from traceview.document import Document, Field, Section, Table
from traceview.units import Unit

LONG_NAME = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)

KERNELS = Table(
    "kernels",
    (
        Field("kernel", stretch=True),
        Field("count", Unit.COUNT),
        Field("busy", Unit.NS),
        Field("share", Unit.SHARE),
        Field("delta", Unit.NS, signed=True),
    ),
    (
        (LONG_NAME, 12_000, 4_870_000, 0.75, -4_240_000),
        ("gemm", 3, 1_230_500, 0.2, 1_000_000),
        ("tiny", 1, 900, 0.05, 0),
        ("unseen", 1, 800, 0.0, None),
    ),
    shown=3,
)

QUANTITIES = Table(
    "quantities",
    (
        Field("a step"),
        Field("before", Unit.NS),
        Field("after", Unit.NS),
        Field("delta", Unit.NS, signed=True),
        Field("ratio", Unit.RATIO),
        Field("verdict"),
    ),
    (
        ("GPU busy", 4_870_000, 630_000, -4_240_000, 0.129, "faster"),
        ("launches", 21, 6, -15, 0.286, "fewer"),
        ("peak allocated", 2_319_450_112, 2_319_450_624, 512, 1.0000002, "more memory"),
        ("sync stall", None, None, None, None, "cannot tell"),
    ),
    row_units=(Unit.NS, Unit.COUNT, Unit.BYTES, Unit.NS),
)

REPORT = Document(
    name="report",
    title="before -> after",
    lead=(
        "FASTER ON THE GPU: busy time a step 4.87 ms -> 0.63 ms (x0.13).",
        "A sentence that is long enough to be broken into two lines at a width of eighty cells.",
    ),
    sections=(
        Section("a step", (), (QUANTITIES,)),
        Section("Kernels", ("Each instant is shared equally.",), (KERNELS,)),
    ),
    data={"schema": "traceview.report/1", "busy_ns": 4_870_000},
)


def of_tables(*tables: Table) -> Document:
    """A report of nothing but tables."""
    return Document("report", "title", (), (Section("section", (), tables),))
