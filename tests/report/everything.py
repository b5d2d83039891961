"""Every report on one recording by its name, and the formats of all."""

from collections.abc import Callable
from inspect import getmembers, isfunction, signature

from traceview import show
from traceview.render import ENDINGS
from traceview.trace import Trace

REPORTS: dict[str, Callable[..., str]] = {
    name: function
    for name, function in getmembers(show, isfunction)
    if function.__module__ == show.__name__
    and next(iter(signature(function).parameters)) == "trace"
}
FORMATS = tuple(ENDINGS)


def text(name: str, trace: Trace, format_name: str = "text", width: int = 80) -> str:
    return REPORTS[name](trace, format_name, width=width)
