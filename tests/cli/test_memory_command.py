"""`traceview memory` reads recordings and snapshots, and tells them apart by their content."""

import json
import pickle
from pathlib import Path

from builders import TraceBuilder
from cli.commandline import traceview
from click.testing import CliRunner
from snapshot.memory import FRAMES, MODEL, alloc, document, segment, write
from snapshot.test_unpickle import Calls

from traceview.cli.group import cli

MIB = 1 << 20


def run(*arguments: object) -> str:
    ended = CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)
    assert (ended.exit_code, ended.stderr) == (0, "")
    return ended.stdout


def test_a_snapshot_is_told_by_its_content_and_not_by_its_name(tmp_path: Path) -> None:
    content = document([segment(0x4000, (MIB, MIB, FRAMES))], [alloc(0x4000, MIB, 1)])
    file = write(tmp_path / "snapshot.json", content)
    text = run("memory", file)
    assert f"GPU 0: peak allocated 1.00 MiB; 1.00 MiB of it {MODEL}." in text
    data = json.loads(run("memory", file, "--format", "json"))
    assert data["schema"] == "traceview.snapshot/1"
    assert data["peaks"][0]["peak_allocated_bytes"] == MIB


def test_an_overflow_leads_the_report(tmp_path: Path) -> None:
    content = document([segment(0x4000, (MIB, MIB, FRAMES))], [alloc(0x9000, 512, 1)])
    text = run("memory", write(tmp_path / "snapshot.pickle", content))
    assert "whether an earlier peak was higher cannot be told" in text.replace("\n  ", " ")


def test_a_pickle_that_calls_something_is_refused_in_one_line(tmp_path: Path) -> None:
    target = tmp_path / "was_called"
    file = tmp_path / "evil.pickle"
    file.write_bytes(pickle.dumps(Calls(target)))
    refused = traceview("memory", file)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"traceview: {file}: this pickle names ")
    assert refused.stderr.count("\n") == 1
    assert not target.exists()


def test_every_part_of_the_memory_of_a_recording_is_shown(tmp_path: Path) -> None:
    t = TraceBuilder()
    t.step(1, 0, 50)
    t.annotation("forward", 0, 40)
    t.python("nn.Module: Net_0", 0, 40)
    t.op("aten::mm", 10, 10)
    t.memory(12, 20 * MIB, 120 * MIB, address=1, reserved=200 * MIB)
    t.add(ph="i", cat="cpu_instant_event", name="[OutOfMemory]", s="t", pid=t.process, tid=1, ts=15,
          args={"Device Type": 1, "Device Id": 0, "Bytes": 1 << 40})  # fmt: skip
    text = run("memory", t.write(tmp_path / "trace.json"))
    for expected in ("Out of memory", "1.00", "aten::mm in forward", "Net_0", "10 to 100 MiB",
                     "allocated before recording", "ProfilerStep#1",
                     "80.00 MiB are reserved and not allocated at the peak."):  # fmt: skip
        assert expected in text
