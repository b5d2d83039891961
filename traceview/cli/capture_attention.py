"""`traceview capture attention`: each way to compute attention."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from traceview.capture import require_torch
from traceview.capture.jobs import apart, attention_jobs, attention_outcome
from traceview.capture.problem import ALL, Backend
from traceview.cli.attention_problem import Asked, problem_options
from traceview.cli.recordings import (
    changed,
    command_line,
    conclude,
    log,
    recording_options,
    watched,
)

if TYPE_CHECKING:
    from traceview.capture.options import Options

_EVERYTHING = "all"

HELP = """How do the ways to compute attention compare on this machine?

Each backend is recorded in a process of its own. What it refuses is a result, with its reasons.
Before it is recorded, its output and gradients are compared with float64, on the work itself and
on edge cases, and its first call and its steady state are timed without the profiler.

\b
Examples:
  traceview capture attention --backend all --preset training -o once
  traceview diff once/attention_naive.json.gz once/attention_flash.json.gz
  traceview capture attention --backend naive,flash --repeat 5 -o runs
  traceview diff runs/attention_naive runs/attention_flash

\b
Backends:
  naive      written out: scores, mask, softmax, values
  inplace    the same, with mask and scale written into the scores
  math, flash, efficient, cudnn
             torch's scaled_dot_product_attention, held to one backend
  flex       torch's flex_attention, compiled
  compiled   naive through torch.compile
  unmasked   naive without its mask: wrong on purpose, and not part of all

\b
Masks:
  causal              query i sees the keys up to i, as torch's is_causal
  causal_lower_right  the last query sees all keys, as in decoding
  padding             every other sequence ends after 3/4 of its keys
  masked_rows         causal, and every eighth query sees no key at all

\b
Presets:
  published  B8 H16 S1024 D64 bfloat16 causal, forward
  training   B4 H16 S2048 D64 bfloat16 causal, forward and backward
  small      B1 H4 S256 D32 float32 causal, forward: for a CPU
"""


def _backends(_context: click.Context, _option: click.Parameter, value: str) -> tuple[Backend, ...]:
    """Read names with commas between them."""
    names = [name.strip() for name in value.split(",")]
    try:
        listed = [ALL if name == _EVERYTHING else (Backend(name),) for name in names]
    except ValueError:
        known = ", ".join((*Backend, _EVERYTHING))
        raise click.BadParameter(f"{value!r}: a backend is one of {known}") from None
    return tuple(dict.fromkeys(chain.from_iterable(listed)))


@click.command("attention", help=HELP)
@click.option(
    "--backend",
    "backends",
    default=_EVERYTHING,
    show_default=True,
    callback=_backends,
    metavar="NAMES",
    help="Backends to record, with commas between them.",
)
@problem_options
@click.option(
    "--device",
    default="",
    metavar="NAME",
    help="torch's name of a device; the GPU if there is one.",
)
@click.option("--edges/--no-edges", default=True, help="Check edge cases too (default).")
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Recordings of each backend, taken in turn.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("traces"),
    show_default=True,
    help="Folder of the recordings.",
)
@recording_options
def command(
    *,
    backends: tuple[Backend, ...],
    asked: Asked,
    options: Options,
    device: str,
    edges: bool,
    repeat: int,
    output: Path,
) -> None:
    """Record, each backend in a process of its own."""
    require_torch()
    arguments = (
        *asked.arguments,
        *(("--device", device) if device else ()),
        *changed(options),
        *(() if edges else ("--no-edges",)),
    )
    jobs = list(
        attention_jobs(
            backends,
            asked.problem,
            options,
            output,
            repeat=repeat,
            device=device,
            edges=edges,
            command=lambda backend: command_line("attention", "--backend", backend, *arguments),
        )
    )
    output.mkdir(parents=True, exist_ok=True)
    outcomes = [apart(attention_outcome, job, job.name) for job in watched(jobs)]
    log(jobs, outcomes, output)
    conclude(outcomes)
