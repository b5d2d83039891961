"""The reports of the sample traces, word for word: a change in one is meant, or it is a fault."""

from collections.abc import Callable
from importlib import import_module

import pytest
from conftest import ROOT

from traceview import kineto
from traceview.diff import diff
from traceview.document import Document
from traceview.render import render
from traceview.report import diff as diff_report

SAMPLES = ROOT / "sample_traces"
BEFORE, AFTER = "attention_naive", "attention_flash"
REPORTS = ("summary", "gaps", "kernels", "memory", "steps", "launches", "syncs", "critical_path")
FORMATS = {"text": "txt", "markdown": "md"}


def document(name: str, sample: str) -> Document:
    """A report of a sample."""
    trace = kineto.load(SAMPLES / f"{sample}.json.gz")
    made: Document = import_module(f"traceview.report.{name}").document(trace)
    return made


@pytest.mark.parametrize("name", REPORTS)
def test_reports_of_a_sample(name: str, golden: Callable[[str, str], None]) -> None:
    made = document(name, BEFORE)
    for format_name, ending in FORMATS.items():
        golden(f"{BEFORE}_{name}.{ending}", render(made, format_name))


def test_the_diff_of_the_samples(golden: Callable[[str, str], None]) -> None:
    before, after = (kineto.load(SAMPLES / f"{name}.json.gz") for name in (BEFORE, AFTER))
    made = diff_report.document(diff(before, after))
    for format_name, ending in FORMATS.items():
        golden(f"diff.{ending}", render(made, format_name))
