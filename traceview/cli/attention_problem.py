"""The options that say which attention is meant: a preset, and what is other than in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import click

from traceview.capture.problem import PRESETS, Mask, Problem

_NAMES = ("batch", "heads", "length", "head_dim", "kv_heads", "kv_length", "dtype", "mask",
          "training", "seed")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """The problem, and the arguments that ask for it again."""

    problem: Problem
    arguments: tuple[str, ...]


def problem_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a problem; it receives them as one `asked`."""
    options = (
        click.option("--preset", type=click.Choice(list(PRESETS)), default="small",
                     show_default=True, help="The problem that the options below change."),
        click.option("-B", "--batch", type=int, help="Sequences."),
        click.option("-H", "--heads", type=int, help="Heads."),
        click.option("-S", "--length", type=int, help="Queries of a sequence; also its keys."),
        click.option("-D", "--head-dim", type=int, help="Size of a head."),
        click.option("--kv-heads", type=int, help="Heads of keys and values, if fewer."),
        click.option("--kv-length", type=int, help="Keys of a sequence, if others than queries."),
        click.option("--dtype", type=click.Choice(["bfloat16", "float16", "float32"]),
                     help="Precision of the inputs."),
        click.option("--mask", type=click.Choice([mask.value for mask in Mask]),
                     help="Which keys a query sees."),
        click.option("--backward/--forward", "training", default=None,
                     help="Record the backward pass too, or the forward pass alone."),
        click.option("--seed", type=int, help="Seed of the random inputs."),
    )  # fmt: skip

    @wraps(function)
    def with_problem(*, preset: str, **given: Any) -> None:
        changes = {name: given.pop(name) for name in list(given) if name in _NAMES}
        asked = Asked(_problem(preset, changes), tuple(_arguments(preset, changes)))
        function(asked=asked, **given)

    decorated: Callable[..., None] = with_problem
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def _problem(preset: str, changes: Mapping[str, Any]) -> Problem:
    """The preset with what was asked for otherwise; keys follow queries unless told."""
    wanted = {name: value for name, value in changes.items() if value is not None}
    if "mask" in wanted:
        wanted["mask"] = Mask(wanted["mask"])
    wanted.setdefault("kv_length", wanted.get("length", PRESETS[preset].kv_length))
    wanted.setdefault("kv_heads", wanted.get("heads", PRESETS[preset].kv_heads))
    return replace(PRESETS[preset], **wanted)


def _arguments(preset: str, changes: Mapping[str, Any]) -> Iterator[str]:
    yield from ("--preset", preset)
    training = changes["training"]
    if training is not None:
        yield "--backward" if training else "--forward"
    for name, value in changes.items():
        if value is not None and name != "training":
            yield from (f"--{name.replace('_', '-')}", str(value))
