"""Steps go by, and what should be recorded is, with its stamp."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from traceview import kineto
from traceview.capture import Options, record, step
from traceview.errors import CaptureError, UsageError
from traceview.metrics.steps import steps
from traceview.workload import Workload, declared

pytestmark = pytest.mark.filterwarnings("ignore:.*Profiler clears events")
FEW = Options(steps=3, warmup=1, plain=2)


def told(path: Path) -> Workload:
    stamp = declared(kineto.load(path).metadata.properties)
    assert stamp is not None
    return stamp


def work() -> torch.Tensor:
    return torch.ones(64, 64) @ torch.ones(64, 64)


def run_steps(path: Path, count: int, options: Options = FEW) -> None:
    with record(path, options=options, problem={"size": 64}, variant={"try": 'a "b"'}) as recording:
        for _ in range(count):
            work()
            recording.step()


@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_the_steps_asked_for_are_in_the_trace_and_no_other(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "new" / f"run{ending}"
    run_steps(path, 20)
    assert len(steps(kineto.load(path))) == 3
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_trace_says_what_it_is_of(tmp_path: Path) -> None:
    run_steps(tmp_path / "run.json", 7)
    stamp = told(tmp_path / "run.json")
    assert stamp.work.name == "run"
    assert stamp.work.problem == {"size": 64}
    assert stamp.work.variant == {"try": "a 'b'"}
    assert stamp.options["steps"] == 3
    assert stamp.environment["torch"] == torch.__version__
    assert stamp.outside.cold_start_ns is not None
    assert len(stamp.outside.wall_ns) == 1
    assert stamp.numerics.verdict == "unchecked"


def test_a_workload_that_ends_early_is_recorded_as_far_as_it_went(tmp_path: Path) -> None:
    run_steps(tmp_path / "run.json", 6)
    trace = kineto.load(tmp_path / "run.json")
    assert len(steps(trace)) >= 2
    assert declared(trace.metadata.properties) is not None


def test_too_few_steps_are_refused_with_the_number_needed(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="made 4 steps, and the first recorded one is step 5"):
        run_steps(tmp_path / "run.json", 4)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("when", [1, 4, 6])
def test_an_error_of_the_workload_comes_through_and_leaves_no_file(
    tmp_path: Path, when: int
) -> None:
    def failing() -> None:
        with record(tmp_path / "run.json", options=FEW) as recording:
            for _ in range(when):
                work()
                recording.step()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert list(tmp_path.iterdir()) == []
    run_steps(tmp_path / "next.json", 7)


def test_the_step_of_a_script_speaks_to_the_recording_that_is_open(tmp_path: Path) -> None:
    step()
    with record(tmp_path / "run.json", options=FEW) as recording:
        for _ in range(recording.needed):
            work()
            step()
        assert recording.done
    step()


@pytest.mark.parametrize("name", ["run.txt", "run", "run.json.zip"])
def test_a_recording_has_the_name_of_a_trace(tmp_path: Path, name: str) -> None:
    with pytest.raises(CaptureError, match=r"named \.json or \.json\.gz"):
        record(tmp_path / name)


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CaptureError, match="cannot be written"):
        run_steps(tmp_path / "file" / "run.json", 7)
    (tmp_path / "run.json").mkdir()
    with pytest.raises(CaptureError, match="cannot be written"):
        run_steps(tmp_path / "run.json", 7)
    run_steps(tmp_path / "next.json", 7)


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"warmup": 0}, {"plain": -1}])
def test_impossible_options_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="one step"):
        Options(**wrong)  # type: ignore[arg-type] # a subset of the fields


def test_stacks_are_recorded_on_demand(tmp_path: Path) -> None:
    run_steps(tmp_path / "run.json", 7, Options(steps=3, warmup=1, plain=2, stacks=True))
    host = kineto.load(tmp_path / "run.json").host
    assert "python_function" in set(host["category"])


def test_the_doors_are_there_and_torch_is_not_until_one_opens() -> None:
    code = (
        "import sys, traceview.capture as c, traceview.capture.jobs, traceview.cli.capture\n"
        "assert 'torch' not in sys.modules\n"
        "c.record\n"
        "assert 'torch' in sys.modules\n"
        "try: c.other\n"
        "except AttributeError: print('fine')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8"
    )
    assert ended.stdout == "fine\n"
