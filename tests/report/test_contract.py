"""The JSON of reports: as its schema says, for recordings of all kinds."""

import json
from collections.abc import Callable, Iterator
from importlib import import_module, resources
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import click
import pytest
from builders import TraceBuilder
from cli.commandline import traceview
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from places import ROOT

from traceview import report, snapshot
from traceview.check import find, parse
from traceview.cli import columns
from traceview.cli.group import cli
from traceview.contract import contracts
from traceview.diff import diff
from traceview.diff.recordings import measured_side
from traceview.document import Document
from traceview.experiment import create, entries
from traceview.experiment.record import plan
from traceview.render import render
from traceview.report import check as check_report
from traceview.report import diff as diff_report
from traceview.report import experiment as experiment_report
from traceview.report import snapshot as snapshot_report
from traceview.schema import schemas
from traceview.trace import Trace

Load = Callable[[Path], Trace]
OF_A_TRACE = [name for name, schema in contracts().items() if "trace" in schema["properties"]]
RECORDINGS = (
    "h200/overlap.pt.trace.json.gz",
    "h200/train_stack.pt.trace.json.gz",
    "h200/cudagraph.pt.trace.json.gz",
    "public/hta_rank0_of_2.json.gz",
    "public/tl_mi210_gpu_only.json.gz",
)


def kept(name: str) -> Any:
    """The schema that the package brings."""
    file = resources.files("traceview").joinpath("contracts", f"{name}.json")
    return json.loads(file.read_text("utf-8"))


def holds(name: str, document: Document) -> None:
    """Raises where the JSON of a report is not as its schema says."""
    validator = Draft202012Validator(kept(name))
    validator.validate(json.loads(render(document, "json")))


def of(name: str, trace: Trace) -> Document:
    """A report on one recording."""
    made: Document = import_module(f"traceview.report.{name}").document(trace)
    return made


def test_the_package_brings_what_the_columns_make() -> None:
    made = contracts()
    folder = resources.files("traceview").joinpath("contracts")
    assert sorted(file.name for file in folder.iterdir()) == [f"{name}.json" for name in made]
    for name, schema in made.items():
        Draft202012Validator.check_schema(schema)
        assert kept(name) == schema, "python scripts/write_contracts.py"


@pytest.mark.parametrize("name", OF_A_TRACE)
def test_a_report_of_nothing(name: str) -> None:
    holds(name, of(name, TraceBuilder().trace()))


@pytest.mark.parametrize("name", OF_A_TRACE)
@pytest.mark.parametrize("recording", RECORDINGS)
def test_reports_of_recordings(recording: str, name: str, shared: Path, load: Load) -> None:
    holds(name, of(name, load(shared / recording)))


def test_a_diff(shared: Path, load: Load) -> None:
    before, after, other = (
        load(shared / "h200" / f"{name}.pt.trace.json.gz")
        for name in ("attn_naive", "attn_flash", "overlap")
    )
    for sides in ((before, after), (before, before), (before, other)):
        holds("diff", diff_report.document(diff(*sides)))
    empty = TraceBuilder().trace()
    holds("diff", diff_report.document(diff(empty, empty)))


def test_a_snapshot(shared: Path) -> None:
    holds(
        "snapshot",
        snapshot_report.document(snapshot.load(str(shared / "h200" / "snapshot.pickle"))),
    )


def test_claims(shared: Path, load: Load) -> None:
    side = measured_side("here", [load(shared / RECORDINGS[0])])
    texts = ("gpu_busy < 1 s", "peak_allocated < 1 GiB", 'kernel("none").count == 0',
             "numerics == correct", "gpu_idle_ratio > 90%")  # fmt: skip
    holds("check", check_report.document([find(parse(text), side) for text in texts]))
    holds("metrics", check_report.listing())


def test_experiments(tmp_path: Path) -> None:
    shipped = ROOT / "sample_traces" / "experiments"
    planned = plan("open", question="q", hypothesis="h", predict=["ratio(gpu_busy) < 1"],
                   falsified_if=[], change="none")  # fmt: skip
    create(tmp_path, planned, lambda _record: "")
    (tmp_path / "damaged.md").write_text("---\nschema: other\n---\n")
    listed = entries([shipped, tmp_path])
    assert len([entry for entry in listed if entry.record is None]) == 1
    for entry in listed:
        holds("experiment", experiment_report.document(entry))
    holds("experiments", experiment_report.listing(listed))
    holds("experiments", experiment_report.overview(listed))


def test_the_columns() -> None:
    holds("columns", columns.document(schemas().values()))


def commands(group: click.Group, *above: str) -> Iterator[tuple[str, ...]]:
    """Every command that has `--format json`, by its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, *above, name)
        elif command is not None and any(
            isinstance(option.type, click.Choice) and "json" in option.type.choices
            for option in command.params
        ):
            yield (*above, name)


SHIPPED = ("--folder", str(ROOT / "sample_traces" / "experiments"))
REPEATS = str(ROOT / "sample_traces" / "repeats" / "attention_flash")
SAMPLE = str(ROOT / "sample_traces" / "attention_flash.json.gz")
ASKED = {
    ("diff",): (SAMPLE, SAMPLE),
    ("noise",): (REPEATS,),
    ("check",): (SAMPLE, "--that", "gpu_busy < 1 s"),
    ("columns",): (),
    ("experiment", "list"): SHIPPED,
    ("experiment", "map"): SHIPPED,
    ("experiment", "show"): ("attention-flash", *SHIPPED),
}
"""What each command is asked; one recording where nothing is said."""


@pytest.mark.parametrize("words", [c for c in commands(cli) if c != ("run",)], ids=" ".join)
def test_what_a_command_prints(words: tuple[str, ...]) -> None:
    asked = ASKED.get(words, (SAMPLE,))
    printed = CliRunner().invoke(cli, [*words, *asked, "--format", "json"])
    assert printed.exit_code == 0, printed.output
    data = json.loads(printed.stdout)
    own = {schema["title"]: schema for schema in contracts().values()}[data["schema"]]
    Draft202012Validator(own).validate(data)


def test_every_report_has_a_schema() -> None:
    modules = [import_module(f"traceview.report.{name}") for _, name, _ in
               iter_modules(report.__path__)]  # fmt: skip
    named = {module.SCHEMA for module in modules if hasattr(module, "SCHEMA")}
    of_terminals = {"traceview.recordings/1"}  # which `capture` prints as text alone
    assert named - of_terminals <= {schema["title"] for schema in contracts().values()}


def test_what_is_wrong_is_found() -> None:
    document = of("gaps", TraceBuilder().trace())
    data = {**document.data, "gaps": [{"gap": "one"}]}
    assert not Draft202012Validator(kept("gaps")).is_valid(data)


def test_the_command() -> None:
    assert traceview("schema").stdout.split() == list(contracts())
    assert json.loads(traceview("schema", "critical-path").stdout) == kept("critical_path")
    ended = traceview("schema", "nothing")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no report is called 'nothing'; the reports are annotations" in ended.stderr
