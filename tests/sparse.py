"""Recordings that lack something, each normal in its way."""

from builders import TraceBuilder


def empty() -> TraceBuilder:
    return TraceBuilder()


def cpu_only() -> TraceBuilder:
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.op("aten::mm", 10, 50)
    t.memory(20, 64, 64, address=1, device=(0, -1))
    return t


def no_steps() -> TraceBuilder:
    t = full()
    t.events = [event for event in t.events if "ProfilerStep" not in event["name"]]
    return t


def no_memory_events() -> TraceBuilder:
    t = full()
    t.events = [event for event in t.events if event["name"] != "[memory]"]
    return t


def no_launches() -> TraceBuilder:
    t = full()
    t.events = [event for event in t.events if event["cat"] != "cuda_runtime"]
    return t


def device_only() -> TraceBuilder:
    t = full()
    t.events = [event for event in t.events if event["cat"] == "kernel"]
    return t


def one_instant() -> TraceBuilder:
    """A single kernel of no length: whole microseconds."""
    t = TraceBuilder()
    t.launch(0, "short", 5, 0)
    return t


def only_annotations_of_a_device() -> TraceBuilder:
    t = TraceBuilder()
    t.work("forward", 0, 10, category="gpu_user_annotation")
    return t


def only_corrupt_records() -> TraceBuilder:
    t = TraceBuilder()
    t.op("aten::mm", 0, 10)
    t.work("broken", 5, -3, correlation=1)
    return t


def full() -> TraceBuilder:
    t = TraceBuilder()
    for number in range(3):
        at = 200 * number
        t.step(number, at, 190)
        t.op("aten::mm", at + 5, 30)
        t.launch(at + 10, "gemm", at + 20, 60)
        t.memory(at + 12, 512, 1024 + 512 * number, address=number + 1, reserved=4096)
        t.synchronize(at + 100, 20)
    return t


SPARSE = (empty, cpu_only, no_steps, no_memory_events, no_launches, device_only, one_instant,
          only_annotations_of_a_device, only_corrupt_records, full)  # fmt: skip
PAIRS = [(one, other) for one in SPARSE for other in SPARSE if one is other or full in (one, other)]
