"""The reports of the sample traces as Markdown, word for word; `test_reports` holds their text."""

from collections.abc import Callable
from importlib import import_module

import pytest
from places import ROOT

from traceview import kineto
from traceview.diff import diff
from traceview.document import Document
from traceview.render import render
from traceview.report import diff as diff_report

SAMPLES = ROOT / "sample_traces"
BEFORE, AFTER = "attention_naive", "attention_flash"
REPORTS = ("summary", "gaps", "kernels", "memory", "steps", "launches", "syncs", "critical_path")


def document(name: str, sample: str) -> Document:
    """A report of a sample."""
    trace = kineto.load(SAMPLES / f"{sample}.json.gz")
    made: Document = import_module(f"traceview.report.{name}").document(trace)
    return made


@pytest.mark.parametrize("name", REPORTS)
def test_reports_of_a_sample(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{BEFORE}.{name}.md", render(document(name, BEFORE), "markdown"))


def test_the_diff_of_the_samples(golden: Callable[[str, str], None]) -> None:
    before, after = (kineto.load(SAMPLES / f"{name}.json.gz") for name in (BEFORE, AFTER))
    golden("diff.md", render(diff_report.document(diff(before, after)), "markdown"))
