"""Frames of a recording as files."""

from pathlib import Path

import pytest
from builders import TraceBuilder
from cli.commandline import traceview
from click.testing import CliRunner
from pandas.testing import assert_frame_equal
from snapshot.memory import alloc, document, segment, write

from traceview import store
from traceview.cli.group import cli
from traceview.frames import frame
from traceview.kineto import load


def run(*arguments: object) -> None:
    ended = CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, "", "")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    t = TraceBuilder()
    t.step(1, 0, 50)
    t.launch(2, "gemm", 10, 5)
    t.launch(20, "relu", 30, 5)
    return t.write(tmp_path / "trace.json")


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_a_frame_goes_to_a_file_whole(recording: Path, ending: str) -> None:
    file = recording.with_name(f"gaps.{ending}")
    run("export", recording, "gap_parts", "-o", file)
    made, schema = frame(load(recording), "gap_parts")
    assert_frame_equal(store.read(file), made, check_categorical=False)
    assert schema.name == "gap_parts"
    assert sorted(recording.parent.iterdir()) == sorted([recording, file])


@pytest.mark.parametrize("command", ["gaps", "steps", "kernels", "launches", "critical-path"])
def test_a_view_goes_to_a_file_as_its_frame(recording: Path, command: str) -> None:
    file = recording.with_name("view.parquet")
    run(command, recording, "-o", file)
    made, _ = frame(load(recording), command.replace("-", "_"))
    assert_frame_equal(store.read(file), made, check_categorical=False)


def test_memory_goes_to_a_file_as_its_timeline(tmp_path: Path) -> None:
    t = TraceBuilder()
    t.memory(1, 512, 512, address=1)
    taken = write(tmp_path / "s.pickle", document([], [alloc(1, 512, 1), alloc(2, 512, 2)]))
    for file, rows in ((t.write(tmp_path / "trace.json"), 1), (taken, 2)):
        run("memory", file, "-o", tmp_path / "timeline.arrow")
        assert len(store.read(tmp_path / "timeline.arrow")) == rows


def test_a_snapshot_has_frames_of_its_own(tmp_path: Path) -> None:
    content = document([segment(0x4000, (512, 512, []))], [alloc(0x4000, 512, 1)])
    file = tmp_path / "events.parquet"
    run("export", write(tmp_path / "s.pickle", content), "snapshot_events", "-o", file)
    assert len(store.read(file)) == 1


def test_mistakes_are_one_plain_sentence(recording: Path) -> None:
    for arguments, said in (
        (("export", recording, "gap", "-o", "x.parquet"), "the frames are host, device"),
        (("export", recording, "gaps", "-o", "x.xlsx"), "use one of .parquet, .arrow, .csv"),
        (("export", recording, "gaps", "-o", recording), "names no format"),
        (("gaps", recording, "--format", "parquet"), "is for files; name one with -o FILE"),
    ):
        ended = traceview(*arguments)
        assert (ended.returncode, ended.stderr.count("\n")) == (1, 1), ended.stderr
        assert said in ended.stderr
