"""What must hold of every recording, whatever is in it."""

import copy
import random

import pandas as pd
from builders import TraceBuilder
from hypothesis import given
from hypothesis import strategies as st
from metrics.everything import METRICS, figures
from strategies import recordings

import traceview
from traceview import schema as s
from traceview.metrics.gaps import CAUSES, idle
from traceview.metrics.steps import steady_windows
from traceview.trace import Trace


def same(first: dict[str, pd.DataFrame], second: dict[str, pd.DataFrame]) -> None:
    for name, frame in first.items():
        pd.testing.assert_frame_equal(frame, second[name], obj=name, check_categorical=False)


def changed(t: TraceBuilder, events: list[dict[str, object]]) -> Trace:
    other = copy.copy(t)
    other.events = events
    return other.trace()


@given(recordings())
def test_busy_and_idle_make_the_window(t: TraceBuilder) -> None:
    trace = t.trace()
    devices = traceview.devices(trace)
    assert (devices[s.BUSY_NS] + devices[s.IDLE_NS] == devices[s.WINDOW_NS]).all()
    busy, idle_ns = int(devices[s.BUSY_NS].sum()), int(devices[s.IDLE_NS].sum())
    assert int(traceview.kernels(trace)[s.BUSY_NS].sum()) == busy
    gaps, parts, causes = (f(trace) for f in (traceview.gaps, traceview.gap_parts, traceview.idle))
    assert int(gaps[s.DURATION_NS].sum()) == int(causes[s.NS].sum()) == idle_ns
    assert parts.groupby(s.GAP)[s.NS].sum().tolist() == gaps[s.DURATION_NS].tolist()
    assert (parts[s.NS] > 0).all()
    assert set(parts[s.CAUSE]) <= set(CAUSES)
    held = traceview.streams(trace)
    assert int(held[s.EVENTS].sum()) == int(devices[s.EVENTS].sum()) == len(trace.work)


@given(recordings(steps=True))
def test_idle_within_the_steady_windows_is_what_is_not_busy(t: TraceBuilder) -> None:
    trace = t.trace()
    windows, used = steady_windows(trace)
    causes = idle(trace, windows)
    for device, low, high in windows.itertuples(index=False):
        work = trace.work[trace.work[s.DEVICE_ID] == device]
        busy = {
            moment
            for start, length in work[[s.START_NS, s.DURATION_NS]].itertuples(index=False)
            for moment in range(max(start, low), min(start + length, high))
        }
        mine = windows[windows[s.DEVICE_ID] == device]
        total = int((mine[s.END_NS] - mine[s.START_NS]).sum())
        if len(mine) == 1:
            assert int(causes.loc[causes[s.DEVICE_ID] == device, s.NS].sum()) == total - len(busy)
    assert used[s.EXCLUDED].isna().all()


@given(recordings())
def test_memory_at_the_peak_adds_up_to_the_peak(t: TraceBuilder) -> None:
    trace = t.trace()
    peaks = traceview.memory_peaks(trace).set_index([s.DEVICE_TYPE, s.MEMORY_DEVICE])
    held = traceview.memory_at_peak(trace).groupby([s.DEVICE_TYPE, s.MEMORY_DEVICE])[s.HELD].sum()
    assert held.to_dict() == peaks[s.PEAK_ALLOCATED].to_dict()


@given(recordings())
def test_what_blocks_is_split_in_two(t: TraceBuilder) -> None:
    calls = traceview.syncs(t.trace())
    assert (calls[s.DEVICE_BUSY_NS] + calls[s.DEVICE_IDLE_NS] == calls[s.BLOCKED_NS]).all()
    sites = traceview.sync_sites(t.trace())
    assert sites[s.BLOCKED_NS].sum() == calls[s.BLOCKED_NS].sum()
    assert sites[s.COUNT].sum() == len(calls)


@given(recordings())
def test_launches_are_whole(t: TraceBuilder) -> None:
    trace = t.trace()
    calls, apis = traceview.launches(trace), traceview.launch_apis(trace)
    assert calls[s.DEVICE_EVENTS].sum() == trace.work[s.LAUNCH].notna().sum()
    assert (calls[s.DEVICE_EVENTS] > 0).all()
    assert not (calls[s.LATENCY_NS] < 0).any()
    assert (calls[s.BACK_PRESSURE_NS] <= calls[s.DURATION_NS]).all()
    assert apis[s.COUNT].sum() == len(calls)
    assert apis[s.HOST_NS].sum() == calls[s.DURATION_NS].sum()


@given(recordings(), st.randoms(use_true_random=False))
def test_the_order_of_events_changes_nothing(t: TraceBuilder, order: random.Random) -> None:
    events = list(t.events)
    order.shuffle(events)
    same(figures(t.trace()), figures(changed(t, events)))


@given(recordings(), st.integers(1, 10**15))
def test_when_it_was_recorded_changes_nothing(t: TraceBuilder, later: int) -> None:
    events = [event | {"ts": event["ts"] + later} for event in t.events]
    for event, old in zip(events, t.events, strict=True):
        whole, rest = divmod(round(old["ts"] * 1000), 1000)
        event["ts"] = f"{whole + later}.{rest:03}"
    same(figures(t.trace()), figures(changed(t, events)))


@given(recordings(), st.data())
def test_splitting_work_leaves_busy_time(t: TraceBuilder, data: st.DataObject) -> None:
    events: list[dict[str, object]] = []
    for event in t.events:
        length = round(event.get("dur", 0) * 1000)
        if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset") and length > 1:
            first = data.draw(st.integers(1, length - 1))
            events += [
                event | {"dur": first / 1000},
                event
                | {"ts": round(event["ts"] * 1000 + first) / 1000, "dur": (length - first) / 1000},
            ]
        else:
            events.append(event)
    before, after = traceview.devices(t.trace()), traceview.devices(changed(t, events))
    pd.testing.assert_frame_equal(
        before.drop(columns=[s.EVENTS, s.UNLINKED_EVENTS]),
        after.drop(columns=[s.EVENTS, s.UNLINKED_EVENTS]),
    )


@given(recordings())
def test_no_metric_changes_its_trace(t: TraceBuilder) -> None:
    trace, untouched = t.trace(), t.trace()
    for metric in METRICS.values():
        metric(trace)
        for name in ("host", "device", "memory"):
            pd.testing.assert_frame_equal(getattr(trace, name), getattr(untouched, name))
