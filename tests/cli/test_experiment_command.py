"""`traceview experiment`: from a prediction to the map, as a user goes through it."""

import json
from pathlib import Path

import pytest
import sides
from cli.commandline import traceview
from click.testing import CliRunner

from traceview.cli.group import cli

NEW = (
    "experiment", "new", "mask", "--question", "What does the mask cost?",
    "--hypothesis", "A copy.", "--change", "mask_op: masked_fill -> masked_fill_",
    "--predict", 'ratio("gpu_busy") in 0.5..0.6',
)  # fmt: skip

RUN = (
    "run", "x", "--before", "naive", "--after", "inplace", "--question", "q", "--hypothesis", "h",
    "--predict", "ratio(host_step) < 1",
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
    shown = ("verdict: refuted", "PREDICTION WRITTEN AFTER", "x0.45", "## Trade-off", "before.json")
    assert [part for part in shown if part not in text] == []
    assert str(folder.parent) not in text


def test_the_map_goes_on_where_a_record_is_damaged(folder: Path) -> None:
    (folder / "torn.md").write_text("---\nschema: traceview.experiment/1\nid: [torn\n---\n")
    shown = traceview("experiment", "map", "--folder", folder)
    assert shown.returncode == 0
    assert "1 refuted, 1 damaged" in shown.stdout
    assert "torn.md:3:" in shown.stdout
    assert "written after" in " ".join(shown.stdout.split())
    lines = traceview("experiment", "map", "--folder", folder, "--format", "jsonl").stdout
    records = [json.loads(line) for line in lines.splitlines()]
    assert [record.get("id") for record in records] == ["mask", None]
    assert records[0]["observed"]["claims"][0]["value"] == pytest.approx(250 / 550)
    assert records[1]["problems"][0]["line"] == 3


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


def test_run_without_torch_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traceview.capture.find_spec", lambda _name: None)
    ended = CliRunner().invoke(cli, [*RUN, "--folder", str(tmp_path / "e")])
    assert (ended.exit_code, ended.stderr.count("\n")) == (1, 1)
    assert "PyTorch" in ended.stderr
    assert not (tmp_path / "e").exists()


@pytest.mark.slow
def test_run_goes_through_the_loop(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = tmp_path / "e"
    few = ("--steps", "3", "--plain", "1", "--repeat", "2", "-S", "32", "--device", "cpu")
    ended = traceview(*RUN, *few, "--folder", folder, timeout=500)
    assert ended.returncode == 0, ended.stderr
    assert "prediction" not in ended.stdout
    assert "naive_1 and 1 more -> attention_inplace_1 and 1 more" in ended.stdout
    text = (folder / "x.md").read_text()
    assert "prediction: written before" in text
    assert "{factor: backend, before: naive, after: inplace, declared: true" in text
    assert len(list((folder / "recordings" / "x").glob("*/*.json.gz"))) == 4
    again = traceview(*RUN, *few, "--folder", folder)
    assert (again.returncode, "such an experiment already" in again.stderr) == (1, True)
