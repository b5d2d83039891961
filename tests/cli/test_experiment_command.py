"""`traceview experiment`: from a prediction to the map, as a user goes through it."""

import json
from pathlib import Path

import pytest
import sides
from cli.commandline import traceview

NEW = (
    "experiment", "new", "mask", "--question", "What does the mask cost?",
    "--hypothesis", "A copy.", "--change", "mask_op: masked_fill -> masked_fill_",
    "--predict", 'ratio("gpu_busy") in 0.5..0.6',
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one experiment that is recorded."""
    folder = tmp_path / "experiments"
    before = sides.write(tmp_path, "before")
    after = sides.write(tmp_path, "after", gemm=250, copies=0)
    assert traceview(*NEW, "--folder", folder).returncode == 0
    names = ("--before", before, "--after", after, "--folder", folder)
    refused = traceview("experiment", "record", "mask", *names)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "older than the prediction" in refused.stderr
    assert traceview("experiment", "record", "mask", *names, "--late").returncode == 0
    twice = traceview("experiment", "record", "mask", *names, "--late")
    assert (twice.returncode, "recorded already" in twice.stderr) == (1, True)
    return folder


def test_the_file_tells_the_whole_story(folder: Path) -> None:
    text = (folder / "mask.md").read_text()
    shown = ("verdict: refuted", "PREDICTION WRITTEN AFTER", "x0.455", "## Trade-off", "before.json")
    assert [part for part in shown if part not in text] == []
    assert str(folder.parent) not in text


def test_the_map_goes_on_where_a_record_is_damaged(folder: Path) -> None:
    (folder / "torn.md").write_text("---\nschema: traceview.experiment/1\nid: [torn\n---\n")
    shown = traceview("experiment", "map", "--folder", folder)
    assert shown.returncode == 0
    assert "1 refuted, 1 damaged" in shown.stdout
    assert "torn.md:" in shown.stdout
    assert "refuted (prediction" in shown.stdout
    lines = traceview("experiment", "map", "--folder", folder, "--format", "jsonl").stdout
    records = [json.loads(line) for line in lines.splitlines()]
    assert [record.get("id") for record in records] == ["mask", None]
    assert records[0]["observed"]["claims"][0]["value"] == pytest.approx(250 / 550)
    assert records[1]["problems"][0]["line"] in (3, 4)


def test_filters_leave_what_they_name(folder: Path) -> None:
    kept = {"--gpu": "h200", "--question": "MASK", "--verdict": "refuted", "--work": "not declared"}
    left = {"--gpu": "A100", "--question": "cache", "--verdict": "confirmed", "--work": "B8"}
    for wanted, count in ((kept, 1), (left, 0)):
        for option, value in wanted.items():
            shown = traceview(
                "experiment", "list", "--folder", folder, option, value, "--format", "json"
            )
            assert len(json.loads(shown.stdout)["records"]) == count, (option, value)


def test_show_and_merge(folder: Path, tmp_path: Path) -> None:
    shown = traceview("experiment", "show", "mask", "--folder", folder, "--format", "markdown")
    assert "# mask: refuted" in shown.stdout
    other = tmp_path / "other"
    made = traceview("experiment", "merge", folder, "--folder", other)
    assert made.stdout.strip() == str(other / "mask.md")
    unknown = traceview("experiment", "show", "mash", "--folder", folder)
    assert (unknown.returncode, "did you mean mask?" in unknown.stderr) == (1, True)


def test_run_without_torch_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("click")
    try:
        import torch  # noqa: F401, PLC0415 -- only to know whether it is there
    except ImportError:
        ended = traceview(
            "run", "x", "--before", "naive", "--after", "flash", "--question", "q",
            "--hypothesis", "h", "--predict", "ratio(gpu_busy) < 1", "--folder", tmp_path / "e",
        )  # fmt: skip
        assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
        assert "PyTorch" in ended.stderr
        assert not (tmp_path / "e").exists()
