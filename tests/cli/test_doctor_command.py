"""`traceview doctor` says what a file is, what was mended and where, and what it supplies."""

import json
from pathlib import Path

from builders import H200, TraceBuilder
from click.testing import CliRunner

from traceview.cli.group import cli


def run(*arguments: object) -> str:
    ended = CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)
    assert (ended.exit_code, ended.stderr) == (0, "")
    return ended.stdout


def recording() -> TraceBuilder:
    t = TraceBuilder(
        deviceProperties=[H200], record_shapes=1, cuda_runtime_version=13000,
        distributedInfo={"rank": 3}, baseTimeNanoseconds=1735632360000000000,
    )  # fmt: skip
    t.op("aten::mm", 1, 10)
    t.launch(2, "gemm", 10, 5)
    t.work("unlinked", 20, 5)
    return t


def test_it_names_versions_options_device_rank_and_decoder(tmp_path: Path) -> None:
    text = run("doctor", recording().write(tmp_path / "trace.json.gz"))
    for expected in ("4 events, all of them read.", "PyTorch profiler (Kineto)", "NVIDIA H200",
                     "CUDA 13.0", "record_shapes", "rank 3", "2024-12-31 08:06:00 UTC", "read by",
                     "1 of 2 pieces of device work have their launch in the file, 50.0 %",
                     "profile_memory=True"):  # fmt: skip
        assert expected in text


def test_a_repair_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    content = json.dumps(recording().document())
    file.write_text(content.replace("aten::mm", "aten\\w"))
    text = run("doctor", file)
    assert "repaired" in text
    entry = content.index('{"ph"')
    assert f"was read as a backslash, at byte {entry}" in text


def test_the_json_has_the_views(tmp_path: Path) -> None:
    data = json.loads(run("doctor", recording().write(tmp_path / "t.json"), "--format", "json"))
    assert data["schema"] == "traceview.doctor/1"
    views = {row["view"]: row["available"] for row in data["views"]}
    assert (views["kernels"], views["memory"], views["diff"]) == ("yes", "no", "partly")
