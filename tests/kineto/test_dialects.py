"""Recordings by other tools and of other ages come out as host events and device work."""

import json
from pathlib import Path
from typing import Any

import pytest
from reading import plain

from traceview import schema as s
from traceview.kineto import dialect, load
from traceview.kineto.columns import Events
from traceview.kineto.read import read
from traceview.trace import Trace

Entries = list[dict[str, Any]]


def loaded(tmp_path: Path, entries: Entries, **properties: Any) -> Trace:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({**properties, "traceEvents": entries}))
    return load(file)


def translated(tmp_path: Path, entries: Entries) -> Events:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(entries))
    return dialect.translated(read(file))


def event(name: str, start: float, length: float | None = None, **more: Any) -> dict[str, Any]:
    time = {"ts": start} | ({} if length is None else {"dur": length})
    return {"ph": "X", "pid": 1, "tid": 1, "name": name, **time, **more}


@pytest.mark.parametrize(
    ("earlier", "present"),
    [
        ("Operator", "cpu_op"),
        ("Kernel", "kernel"),
        ("Memcpy", "gpu_memcpy"),
        ("Memset", "gpu_memset"),
        ("Runtime", "cuda_runtime"),
        ("gpu_user_Annotation", "gpu_user_annotation"),
        ("Python", "python_function"),
        ("async_cpu_to_gpu", "ac2g"),
        ("forward_backward", "fwdbwd"),
        ("xpu_runtime", "xpu_runtime"),
    ],
)
def test_categories_by_age(earlier: str, present: str) -> None:
    assert dialect.canonical(earlier) == present


def test_steps_were_operators_once(tmp_path: Path) -> None:
    events = translated(
        tmp_path,
        [
            event("ProfilerStep#3", 0, 9, cat="Operator"),
            event("Optimizer.step#SGD.step", 1, 2, cat="Operator"),
            event("aten::mm", 1, 2, cat="Operator"),
        ],
    )
    assert plain(events.category) == ["user_annotation", "user_annotation", "cpu_op"]


def test_rocm_copies_and_xpu_counters_are_no_kernels(tmp_path: Path) -> None:
    names = ["gemm", "MEMORY_COPY_HOST_TO_DEVICE", "__amd_rocclr_fillBufferAligned", "metrics: g"]
    events = translated(tmp_path, [event(name, 0, 1, cat="kernel") for name in names])
    assert plain(events.category) == ["kernel", "gpu_memcpy", "gpu_memset", "kernel_metrics"]


def spans(trace: Trace) -> set[tuple[str, int, int]]:
    host = trace.host
    starts, lengths = host[s.START_NS] // 1000, host[s.DURATION_NS] // 1000
    return set(zip(host[s.NAME], starts, lengths, strict=True))


def notes(trace: Trace) -> dict[str, int | None]:
    return {note.code: note.count for note in trace.metadata.notes}


def begin(name: str | None, time: int) -> dict[str, Any]:
    return {"ph": "B", "pid": 1, "tid": 1, "ts": time} | ({"name": name} if name else {})


def end(name: str | None, time: int) -> dict[str, Any]:
    return begin(name, time) | {"ph": "E"}


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([begin("a", 0), begin("b", 1), end("b", 2), end("a", 4)], {("a", 0, 4), ("b", 1, 1)}),
        ([begin("a", 0), begin("b", 1), end(None, 2), end(None, 4)], {("a", 0, 4), ("b", 1, 1)}),
        # perfetto #1159: ranges that interleave keep their own lengths
        ([begin("a", 0), begin("b", 1), end("a", 2), end("b", 3)], {("a", 0, 2), ("b", 1, 2)}),
        # out of order in the file
        ([end("a", 9), begin("a", 0)], {("a", 0, 9)}),
        # the end of an empty range written before its begin
        ([begin("a", 0), end("c", 2), begin("c", 2), end("a", 3)], {("a", 0, 3), ("c", 2, 0)}),
        # interleaved in three, and on two threads at once
        (
            [begin("a", 0), begin("b", 1), begin("c", 2), end("b", 3), end("a", 4), end("c", 6)],
            {("a", 0, 4), ("b", 1, 2), ("c", 2, 4)},
        ),
        (
            [begin("a", 0), begin("b", 1) | {"tid": 2}, end(None, 3), end(None, 4) | {"tid": 2}],
            {("a", 0, 3), ("b", 1, 3)},
        ),
        # the same name within itself
        ([begin("a", 0), begin("a", 1), end("a", 2), end("a", 3)], {("a", 0, 3), ("a", 1, 1)}),
    ],
)
def test_begin_and_end_become_one_event(
    tmp_path: Path, entries: Entries, expected: set[tuple[str, int, int]]
) -> None:
    trace = loaded(tmp_path, entries)
    assert spans(trace) == expected
    assert list(notes(trace)) == ["dialect"]


def test_what_has_no_partner_is_counted(tmp_path: Path) -> None:
    trace = loaded(tmp_path, [begin("a", 0), end("b", 2), begin("c", 3), end("c", 5)])
    assert spans(trace) == {("a", 0, 5), ("c", 3, 2)}
    assert notes(trace) | {"dialect": None} == {
        "unclosed_begin": 1,
        "unopened_end": 1,
        "dialect": None,
    }


def test_asynchronous_events_have_threads_of_their_own(tmp_path: Path) -> None:
    common = {"cat": "net", "pid": 1, "tid": 1, "name": "request"}
    trace = loaded(
        tmp_path,
        [
            {**common, "ph": "b", "id": "0x1", "ts": 0},
            {**common, "ph": "b", "id": "0x2", "ts": 1},
            {**common, "ph": "e", "id": "0x1", "ts": 5},
            {**common, "ph": "e", "id": "0x2", "ts": 9},
        ],
    )
    assert spans(trace) == {("request", 0, 5), ("request", 1, 8)}
    assert set(trace.host[s.THREAD]) == {"async 0x1", "async 0x2"}


def asynchronous(phase: str, name: str | None, time: int, identity: object = 1) -> dict[str, Any]:
    key = "id2" if isinstance(identity, dict) else "id"
    return begin(name, time) | {"ph": phase, "cat": "net", key: identity}


@pytest.mark.parametrize(
    ("entries", "expected", "codes"),
    [
        pytest.param(
            [("b", "a", 0), ("b", "b", 1), ("n", "x", 2), ("e", "b", 3), ("e", "a", 9)],
            {("a", 0, 9), ("b", 1, 2)}, {}, id="nested",
        ),
        pytest.param(
            [("b", "a", 0), ("b", "a", 1), ("e", "a", 3), ("e", "a", 9)],
            {("a", 0, 9), ("a", 1, 2)}, {}, id="nested in one of its own name",
        ),
        pytest.param(
            [("b", "a", 0), ("b", "b", 1), ("e", None, 3), ("e", None, 9)],
            {("a", 0, 9), ("b", 1, 2)}, {}, id="ends without a name",
        ),
        pytest.param(
            [("b", "a", 0, {"local": "0x1"}), ("e", "a", 9, {"local": "0x1"})],
            {("a", 0, 9)}, {}, id="a local id",
        ),
        pytest.param(
            [("S", "a", 0), ("F", "a", 9)], {("a", 0, 9)}, {}, id="the older phases",
        ),
        pytest.param(
            [("b", "a", 0), ("b", "b", 1), ("e", "b", 5)],
            {("a", 0, 5), ("b", 1, 4)}, {"unclosed_begin": 1}, id="never ended",
        ),
        pytest.param(
            [("e", "a", 3), ("b", "b", 5), ("e", "b", 6)],
            {("b", 0, 1)}, {"unopened_end": 1}, id="never begun",
        ),
    ],
)  # fmt: skip
def test_asynchronous_events_pair_by_their_id(
    tmp_path: Path,
    entries: list[Any],
    expected: set[tuple[str, int, int]],
    codes: dict[str, int],
) -> None:
    trace = loaded(tmp_path, [asynchronous(*entry) for entry in entries])
    assert spans(trace) == expected
    assert notes(trace) == {**codes, "dialect": None}


@pytest.mark.parametrize(
    ("entries", "expected", "codes"),
    [
        pytest.param(
            [begin("a", 0), end("a", 5) | {"ts": None}], {("a", 0, 0)},
            {"unclosed_begin": 1, "missing_time": 1}, id="an end without a time",
        ),
        pytest.param(
            [begin("a", 0) | {"ts": None}, end("a", 5)], set(),
            {"unopened_end": 1, "missing_time": 1}, id="a begin without a time",
        ),
        pytest.param(
            [event("a", 0) | {"tdur": 3, "tts": 5}], {("a", 0, 0)},
            {"missing_duration": 1}, id="a duration of the thread's clock only",
        ),
        pytest.param(
            [{"ph": "X", "name": "a", "tts": 5, "dur": 3}, event("b", 1, 2)], {("b", 0, 2)},
            {"missing_time": 1}, id="a time of the thread's clock only",
        ),
        pytest.param(
            [event("a", 0, -2)], {("a", 0, 0)}, {"negative_duration": 1}, id="a negative duration",
        ),
        pytest.param(
            [event("a", 0, 2), event("b", 1, 7_441_632_000_000_000)], {("a", 0, 2)},
            {"corrupt_host_events": 1}, id="236 years (HTA #325)",
        ),
        pytest.param(
            [event("a", 3, 2), {"ph": "Z", "name": "z", "ts": 1}, {"name": "y", "ts": 1, "dur": 1}],
            {("a", 0, 2)}, {"missing_phase": 2}, id="no phase, or none that is known",
        ),
        pytest.param(
            [event("a", 3, 2), {}], {("a", 0, 2)}, {}, id="an empty entry, as XProf ends with",
        ),
        pytest.param(
            [event("a", 3, 2), {"ph": "i", "s": "g", "name": "Record Window End", "pid": "",
                                "tid": "", "ts": 9_000_000_000_000_000}],
            {("a", 0, 2)}, {}, id="a window that ends in 2255",
        ),
        pytest.param(
            [event("a", -3, 2), event("b", 0, 1)], {("a", 0, 2), ("b", 3, 1)}, {},
            id="a negative time, as of Bazel",
        ),
        pytest.param(
            [event("a", 3, 2, args={"finished": False}), event("b", 3, 1, args={"finished": True}),
             {"ph": "i", "name": "[memory]", "ts": 3, "args": {"finished": False, "Bytes": 8}}],
            {("a", 0, 2), ("b", 0, 1)}, {"unfinished": 1}, id="never finished",
        ),
    ],
)  # fmt: skip
def test_what_is_odd_about_times_is_counted(
    tmp_path: Path, entries: Entries, expected: set[tuple[str, int, int]], codes: dict[str, int]
) -> None:
    trace = loaded(tmp_path, entries)
    assert spans(trace) == expected
    assert notes(trace) == {**codes, "dialect": None}
    assert trace.metadata.dropped == sum(
        codes.get(code, 0) for code in ("missing_time", "missing_phase")
    )


@pytest.mark.parametrize(
    ("name", "complete"),
    [
        ("simple", 4), ("simple-object", 3), ("simple-partial", 4), ("matching-x", 5),
        ("simple-partial-trailing-comma", 4), ("simple-partial-whitespace", 4),
        ("bex-interaction", 12), ("multiprocess", 8), ("invalid-x-nesting", 2),
        ("must-retain-original-order", 7), ("zero-duration-events", 4), ("out-of-order", 3),
        ("too-many-end-events", 2), ("only-begin-events", 3), ("unbalanced-name", 2),
        ("simple-hermes", 2), ("x-events-matching-start", 9), ("no-arg-data", 0),
    ],
)  # fmt: skip
def test_chrome_traces(shared: Path, name: str, complete: int) -> None:
    trace = load(shared / "public" / "chrome" / f"{name}.json")
    assert len(trace.host) == complete
    assert any("Chrome trace" in note.text for note in trace.metadata.notes)


def named(process: int, name: str, **threads: str) -> Entries:
    """The metadata events of a process and its threads, t7="name of thread 7"."""
    found = [{"ph": "M", "pid": process, "name": "process_name", "args": {"name": name}}]
    for thread, text in threads.items():
        found.append({"ph": "M", "pid": process, "tid": int(thread[1:]), "name": "thread_name",
                      "args": {"name": text}})  # fmt: skip
    return found


def test_jax(tmp_path: Path) -> None:
    host = {"pid": 701, "tid": 1}
    trace = loaded(
        tmp_path,
        [
            *named(1, "/device:GPU:3", t1="Steps", t2="XLA Ops", t14="Stream #14(Compute)",
                   t20="Stream #20(MemcpyD2H)"),
            *named(701, "/host:CPU", t1="python"),
            event("1", 0, 90, tid=1),
            event("fusion.1", 20.0005, 30, tid=2),
            event("fusion.1", 20.0015, 30, tid=14, args={"correlation_id": "7"}),
            event("MemcpyD2H", 60, 5, tid=20, args={"correlation_id": "8"}),
            event("cuLaunchKernel", 10, 2, **host, args={"correlation_id": "7"}),
            event("$train.py:3 step", 0, 70, **host),
            event("TfrtCpuExecutable::Execute", 5, 9, **host),
            {},
        ],
        displayTimeUnit="ns",
    )  # fmt: skip
    work = trace.work
    assert list(work[s.NAME]) == ["fusion.1", "MemcpyD2H"]
    assert list(work[s.CATEGORY]) == ["kernel", "gpu_memcpy"]
    assert list(work[s.DEVICE_ID]) == [3, 3]
    assert list(work[s.STREAM]) == [14, 20]
    launch = trace.host.iloc[int(work[s.LAUNCH][0])]
    assert launch[s.NAME] == "cuLaunchKernel"
    assert work[s.START_NS][0] == 20_002
    categories = dict(zip(trace.host[s.NAME], trace.host[s.CATEGORY], strict=True))
    assert categories["$train.py:3 step"] == "python_function"
    assert categories["TfrtCpuExecutable::Execute"] == "cpu_op"


def test_ascend(tmp_path: Path) -> None:
    hardware, cann, python = 967144, 960744, 960736
    flow = {"cat": "HostToDevice", "name": "HostToDevice", "id": "4294967296"}
    entries = [
        *named(hardware, "Ascend Hardware", t2="Stream 2"),
        {"ph": "M", "pid": hardware, "name": "process_labels", "args": {"labels": "NPU 5"}},
        *named(cann, "CANN", t1="Thread 1"),
        *named(python, "Python", t1="Thread 1"),
        *named(4, "Overlap Analysis", t0="Computing"),
        event("aten::matmul", 0, 0, pid=python, cat="cpu_op", ts="1700000000123456.780", dur=9.0),
        event("node@launch", 0, 0, pid=cann, ts="1700000000123457.000", dur=2.5),
        event("MatMulV2", 0, 0, pid=hardware, tid=2, ts="1700000000123460.001", dur=4.1,
              args={"Task Type": "AI_CORE", "Stream Id": 2}),
        event("EVENT_RECORD", 0, 0, pid=hardware, tid=2, ts="1700000000123465.000", dur=0.1),
        event("Computing", 0, 0, pid=4, tid=0, ts="1700000000123460.001", dur=4.1),
        {**flow, "ph": "s", "pid": cann, "tid": 1, "ts": "1700000000123457.000"},
        {**flow, "ph": "f", "bp": "e", "pid": hardware, "tid": 2, "ts": "1700000000123460.001"},
    ]  # fmt: skip
    file = tmp_path / "trace_view.json"
    file.write_text(json.dumps(entries))
    trace = load(file)
    work = trace.work
    assert list(work[s.NAME]) == ["MatMulV2"]
    assert (work[s.DEVICE_ID][0], work[s.STREAM][0]) == (5, 2)
    assert (work[s.START_NS][0], work[s.DURATION_NS][0]) == (3_221, 4_100)
    assert trace.host[s.NAME][int(work[s.LAUNCH][0])] == "node@launch"
    assert trace.metadata.origin_ns == 1_700_000_000_123_456_780
