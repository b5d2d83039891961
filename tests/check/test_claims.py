"""Claims held against recordings whose figures can be worked out in the head."""

import pytest
import sides
from builders import TraceBuilder

from traceview.check import METRICS, SELECTORS, Answer, Finding, find, parse
from traceview.diff import diff
from traceview.diff.recordings import measured_side
from traceview.errors import UsageError
from traceview.units import Unit


def of_one(text: str, *builders: TraceBuilder) -> Finding:
    return find(parse(text), measured_side("here", [builder.trace() for builder in builders]))


def of_two(text: str, before: TraceBuilder, after: TraceBuilder) -> Finding:
    return find(parse(text), diff(before.trace(), after.trace()))


@pytest.mark.parametrize(
    "claim",
    [
        "gpu_busy == 550 us",
        "steps == 3",
        "launches == 2",
        "device_events == 2",
        "syncs == 0",
        "memcpy_time == 50 us",
        "kernel_time == 500 us",
        "memset_time == 0",
        'kernel("Memcpy").count == 1',
        'kernel("gemm").busy == 500 us',
        'kernel("nothing").count == 0',
        'op("aten::mm").count == 1',
        'annotation("attention").busy_share in 90..91%',
        'idle("sync").time == 0',
        "host_step == 900 us",
    ],
)
def test_what_can_be_counted_in_the_head_holds(claim: str) -> None:
    found = of_one(claim, sides.side())
    assert (found.answer, found.known) == (Answer.HOLDS, "exact")


def test_a_claim_that_fails_shows_its_value_and_where_it_comes_from() -> None:
    found = of_one("gpu_busy < 100 us", sides.side())
    assert (found.answer, found.value) == (Answer.FAILS, "550.00 us")
    assert "gemm_bf16 500.00 us" in found.reading.origin


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("peak_allocated < 1 GiB", "record with profile_memory=True"),
        ("numerics == correct", "`traceview capture` records it"),
        ('annotation("atention").busy < 1 ms', "the nearest name is attention"),
    ],
)
def test_what_was_not_recorded_cannot_be_told(claim: str, reason: str) -> None:
    found = of_one(claim, sides.side())
    assert found.answer is Answer.CANNOT_TELL
    assert found.value is None
    assert reason in found.reason


def test_repeated_recordings_have_an_interval() -> None:
    runs = [sides.side(gemm=gemm) for gemm in (498, 500, 502)]
    assert of_one("gpu_busy < 560 us", *runs).answer is Answer.HOLDS
    assert of_one("gpu_busy < 540 us", *runs).answer is Answer.FAILS
    near = of_one("gpu_busy < 551 us", *runs)
    assert near.answer is Answer.CANNOT_TELL
    assert "95 % of 3 recordings" in near.reason


@pytest.mark.parametrize(
    ("claim", "answer"),
    [
        ('ratio("gpu_busy") < 0.8', Answer.HOLDS),
        ('ratio("gpu_busy") > 0.8', Answer.FAILS),
        ('ratio("gpu_busy") in 0.5..0.6', Answer.HOLDS),
        ("delta(gpu_busy) < -200 us", Answer.HOLDS),
        ('delta(kernel("Memcpy DtoD").count) == -1', Answer.HOLDS),
        ('ratio(kernel("gemm").busy) < 0.8', Answer.HOLDS),
        ("delta(kernel('Memcpy').busy) < 0", Answer.HOLDS),
        ("verdict(gpu_busy) == improved", Answer.HOLDS),
        ("verdict(gpu_busy) != improved", Answer.FAILS),
        ("verdict(host_step) == improved", Answer.CANNOT_TELL),
        ("before(gpu_busy) == 550 us", Answer.HOLDS),
        ("after(gpu_busy) == 300 us", Answer.HOLDS),
        ("ratio(host_step) < 1", Answer.CANNOT_TELL),
        ("ratio(peak_allocated) < 1", Answer.CANNOT_TELL),
    ],
)
def test_claims_about_two_sides(claim: str, answer: Answer) -> None:
    assert of_two(claim, sides.side(), sides.side(gemm=300, copies=0)).answer is answer


def test_sides_that_cannot_be_compared_leave_no_claim_about_their_difference() -> None:
    other = sides.side(deviceProperties=[{"id": 0, "name": "another"}])
    found = of_two("ratio(gpu_busy) < 2", sides.side(), other)
    assert found.answer is Answer.CANNOT_TELL
    assert "the devices differ" in found.reason
    assert of_two("after(gpu_busy) < 1 ms", sides.side(), other).answer is Answer.HOLDS


def test_what_a_recording_before_has_none_of_has_no_ratio() -> None:
    some, none, other = (sides.side(copies=copies).trace() for copies in (1, 0, 2))
    found = find(parse(f'ratio(kernel("{sides.COPY}").count) < 2'), diff([some, none], other))
    assert (found.answer, found.reading.value) == (Answer.CANNOT_TELL, None)
    assert found.reason == "there is none in a recording before"


def test_a_claim_says_which_side_it_means() -> None:
    with pytest.raises(UsageError, match=r"Write ratio\(gpu_busy\)"):
        of_two("gpu_busy < 1 ms", sides.side(), sides.side(gemm=300))
    with pytest.raises(UsageError, match="name them with --before and --after"):
        of_one("ratio(gpu_busy) < 1", sides.side())
    with pytest.raises(UsageError, match="a diff has verdicts on gpu_busy"):
        of_two("verdict(launches) == same", sides.side(), sides.side(gemm=300))


@pytest.mark.parametrize("builder", [TraceBuilder(), sides.side()])
def test_every_metric_answers_on_every_recording(builder: TraceBuilder) -> None:
    amounts = {Unit.NS: "1 ms", Unit.BYTES: "1 B", Unit.SHARE: "1%", Unit.COUNT: "1"}
    texts = [(name, metric.unit) for name, metric in METRICS.items()] + [
        (f'{selector.name}("{selector.names[0] if selector.names else "x"}").{name}', metric.unit)
        for selector in SELECTORS.values()
        for name, metric in selector.fields.items()
    ]
    both = diff(builder.trace(), builder.trace())
    for text, unit in texts:
        end = "== word" if unit is Unit.TEXT else f"< {amounts[unit]}"
        for function in ("before", "after"):
            found = find(parse(f"{function}({text}) {end}"), both)
            assert (found.answer is Answer.CANNOT_TELL) == (found.reading.value is None)
            assert found.reason or found.reading.value is not None
        if unit is not Unit.TEXT:
            assert find(parse(f"delta({text}) {end}"), both).answer in Answer
