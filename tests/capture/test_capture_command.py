"""`traceview capture`, as a user meets it on a machine without a GPU."""

import json
import os
from pathlib import Path

import pytest
from cli.commandline import traceview
from click.testing import CliRunner

from traceview import kineto
from traceview.capture.attention import record_attention
from traceview.capture.jobs import AttentionJob, Outcome, apart
from traceview.cli import capture_attention
from traceview.cli.group import cli
from traceview.errors import CaptureError
from traceview.metrics.steps import steps
from traceview.workload import Workload, declared

pytestmark = pytest.mark.filterwarnings("ignore:.*Profiler clears events")
TINY = ("-S", 16, "-D", 8, "-H", 2, "--steps", 2, "--plain", 2, "--warmup", 1, "--no-edges")
SCRIPT = """
import sys
import torch
from helper import WEIGHT
from traceview.capture import step

weight = torch.full((8, 8), WEIGHT, requires_grad=True)
optimizer = torch.optim.SGD([weight])
for _ in range(int(sys.argv[1])):
    (weight @ weight).sum().backward()
    optimizer.step()
    if "mark" in sys.argv:
        step()
print("reached the end")
"""


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Records in this process, which is quicker than one process each."""

    def at_once(_function: object, job: AttentionJob, _name: str) -> Outcome:
        return record_attention(job)

    monkeypatch.setattr(capture_attention, "apart", at_once)
    return tmp_path


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("WEIGHT = 0.5\n")
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def told(path: Path) -> Workload:
    stamp = declared(kineto.load(path).metadata.properties)
    assert stamp is not None
    return stamp


def shown(*arguments: object) -> str:
    ended = CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)
    assert ended.exit_code == 0, ended.stderr
    return ended.stdout


def test_what_runs_is_recorded_and_what_does_not_is_refused_with_reasons(here: Path) -> None:
    text = shown("capture", "attention", "--backend", "naive,flash,cudnn", *TINY, "-o", here)
    assert "2 recorded, 1 refused. B1 H2 S16 D8 float32 causal, forward." in text
    assert "No viable backend" in text
    entries = [json.loads(line) for line in (here / "captures.jsonl").read_text().splitlines()]
    assert [entry["file"] for entry in entries] == [
        "attention_naive.json.gz", "attention_flash.json.gz", None,
    ]  # fmt: skip
    assert len(entries[2]["refused"]) == 1


def test_a_recording_tells_its_work_its_backend_and_the_command_that_makes_it_again(
    here: Path,
) -> None:
    shown("capture", "attention", "--backend", "math", *TINY, "--backward", "-o", here)
    stamp = told(here / "attention_math.json.gz")
    assert stamp.work.variant == {"backend": "math"}
    assert stamp.work.ran == ("math",)
    assert stamp.work.text == "B1 H2 S16 D8 float32 causal, forward+backward"
    assert stamp.numerics.verdict == "correct"
    assert len(stamp.outside.wall_ns) == len(stamp.outside.profiled_wall_ns) == 5
    assert stamp.command == (
        "traceview capture attention --backend math --preset small --backward"
        " --length 16 --head-dim 8 --heads 2 --steps 2 --warmup 1 --plain 2 --no-edges"
    )


def test_a_backend_that_is_wrong_is_said_to_be_so_first(here: Path) -> None:
    text = shown("capture", "attention", "--backend", "unmasked", *TINY, "-o", here)
    lines = text.splitlines()
    assert lines[2].startswith("unmasked does not compute what was asked for: out is off by ")
    assert told(here / "attention_unmasked.json.gz").work.ran == ("unmasked",)


def test_repeats_are_taken_in_turn_into_a_folder_a_side(here: Path) -> None:
    shown("capture", "attention", "--backend", "math,flash", *TINY, "--repeat", 2, "-o", here)
    entries = [json.loads(line) for line in (here / "captures.jsonl").read_text().splitlines()]
    assert [entry["file"] for entry in entries] == [
        "attention_math/attention_math_1.json.gz", "attention_flash/attention_flash_1.json.gz",
        "attention_math/attention_math_2.json.gz", "attention_flash/attention_flash_2.json.gz",
    ]  # fmt: skip


def test_each_recording_has_a_process_of_its_own(tmp_path: Path) -> None:
    ended = traceview("capture", "attention", "--backend", "flash", *TINY, "-o", tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert told(tmp_path / "attention_flash.json.gz").work.ran == ("flash",)


def test_a_device_that_is_not_there_is_a_refusal(here: Path) -> None:
    text = shown("capture", "attention", "--backend", "math", *TINY, "--device", "gpu9", "-o", here)
    assert "0 recorded, 1 refused." in text
    assert "device" in text


def test_a_process_that_dies_is_one_sentence() -> None:
    with pytest.raises(CaptureError, match="attention flash: the process that recorded it died"):
        apart(os._exit, 3, "attention flash")


@pytest.mark.parametrize("wrong", [("--backend", "fast"), ("--mask", "odd"), ("--dtype", "int8")])
def test_unknown_names_are_refused_with_the_known_ones(wrong: tuple[str, str]) -> None:
    ended = CliRunner().invoke(cli, ["capture", "attention", *wrong])
    assert ended.exit_code == 2
    assert "one of" in ended.stderr


def test_without_torch_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traceview.capture.find_spec", lambda _name: None)
    for arguments in (["capture", "attention"], ["capture", "run", "x.py"]):
        ended = CliRunner().invoke(cli, arguments)
        assert ended.exit_code == 1
        assert ended.stderr == (
            "traceview: recording needs PyTorch, which is not installed: pip install 'torch>=2.5'\n"
        )


OPTIONS = ("--steps", 3, "--warmup", 1, "--plain", 2)


def test_a_script_that_marks_its_steps_is_recorded_and_ended(script: Path) -> None:
    output = script.parent / "out.json.gz"
    ended = traceview("capture", "run", script, *OPTIONS, "-o", output, "--", 50, "mark")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "reached the end" not in ended.stdout
    assert len(steps(kineto.load(output))) == 3
    stamp = told(output)
    assert stamp.work.name == "train.py"
    assert stamp.work.variant == {"arguments": "50 mark"}
    assert stamp.command == (
        "traceview capture run train.py --steps 3 --warmup 1 --plain 2 -- 50 mark"
    )


def test_steps_of_an_optimizer_need_no_change_of_the_script(script: Path) -> None:
    output = script.parent / "out.json.gz"
    text = shown("capture", "run", script, *OPTIONS, "--step", "optimizer", "--finish",
                 "-o", output, "--", 9)  # fmt: skip
    assert "reached the end" in text
    assert len(steps(kineto.load(output))) == 3


def test_a_whole_script_is_one_stretch_without_steps(script: Path) -> None:
    output = script.parent / "out.json.gz"
    shown("capture", "run", script, "--step", "whole", "-o", output, "--", 4)
    trace = kineto.load(output)
    assert "aten::matmul" in set(trace.host["name"])
    assert not any(str(name).startswith("ProfilerStep") for name in set(trace.host["name"]))
    assert told(output).work.name == "train.py"


def test_repeats_of_a_script_go_into_a_folder(script: Path) -> None:
    output = script.parent / "runs"
    shown("capture", "run", script, *OPTIONS, "--repeat", 2, "-o", output, "--", 50, "mark")
    assert sorted(file.name for file in output.iterdir()) == ["runs_1.json.gz", "runs_2.json.gz"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit(3)", "train.py: ended with 3"),
        ("", "the workload made 0 steps"),
    ],
)
def test_a_script_that_makes_no_recording_is_one_line(script: Path, code: str, said: str) -> None:
    script.write_text(code)
    ended = CliRunner().invoke(
        cli, ["capture", "run", str(script), "-o", str(script.parent / "o.json")]
    )
    assert ended.exit_code == 1
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_script_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    ended = CliRunner().invoke(cli, ["capture", "run", str(tmp_path / "no.py")])
    assert ended.exit_code == 1
    assert ended.stderr.endswith("there is no such script\n")
