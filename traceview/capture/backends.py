"""How each backend is called, and how it says no."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention
from torch.profiler import record_function

from traceview.capture.problem import Backend, Mask, Problem

Attention = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Queries, keys and values in, outputs out; all [batch, heads, length, head_dim]."""

ANNOTATION = "attention"
_SDPA = {
    Backend.MATH: SDPBackend.MATH,
    Backend.FLASH: SDPBackend.FLASH_ATTENTION,
    Backend.EFFICIENT: SDPBackend.EFFICIENT_ATTENTION,
    Backend.CUDNN: SDPBackend.CUDNN_ATTENTION,
}
_PLACE = re.compile(r"\s*\(Triggered internally at .*$", re.DOTALL)
_HEADER = "not used because:"
_OTHERS = "has been runtime disabled"


class RefusedError(Exception):
    """A backend does not take this problem; `reasons` are its own words."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


@contextmanager
def refusals() -> Iterator[None]:
    """Turn torch's errors into RefusedError, with the reasons that torch gives as warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except (RuntimeError, ValueError, NotImplementedError) as error:
            said = [_PLACE.sub("", str(warning.message)) for warning in caught]
            raise RefusedError(_reasons(said) or (_first_line(error),)) from error


def _reasons(said: list[str]) -> tuple[str, ...]:
    """The reasons of the one backend that was allowed: torch also says that it tried no other."""
    found: list[str] = []
    listening = False
    for text in said:
        if _HEADER in text:
            listening = True
        elif listening and _OTHERS not in text:
            found.append(text.strip())
    return tuple(dict.fromkeys(found))


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


@contextmanager
def pinned(backend: Backend) -> Iterator[None]:
    """Let torch use this backend of scaled_dot_product_attention and no other, in this block."""
    kind = _SDPA.get(backend)
    with sdpa_kernel(kind) if kind is not None else nullcontext():
        yield


def attention(backend: Backend, problem: Problem, device: torch.device) -> Attention:
    """The backend, ready for inputs of this problem; to be called where it is `pinned`."""
    keep = keys_seen(problem, device)
    match backend:
        case Backend.NAIVE | Backend.INPLACE | Backend.UNMASKED:
            blocked = None if keep is None or backend is Backend.UNMASKED else ~keep
            return _written_out(problem, blocked, inplace=backend is Backend.INPLACE, named=True)
        case Backend.COMPILED:
            blocked = None if keep is None else ~keep
            plain = _written_out(problem, blocked, inplace=False, named=False)
            compiled: Attention = torch.compile(plain)
            return compiled
        case Backend.FLEX:
            return _flex(problem, device)
        case _:
            return _sdpa(problem, keep)


def keys_seen(problem: Problem, device: torch.device) -> Tensor | None:
    """Which keys (last) each query (last but one) sees, as booleans; None for all of them.

    This is the definition of every mask; backends may be told it in another way.
    """
    if problem.mask is Mask.NONE:
        return None
    queries = torch.arange(problem.length, device=device)[:, None]
    keys = torch.arange(problem.kv_length, device=device)[None, :]
    if problem.mask is Mask.PADDING:
        sequences = torch.arange(problem.batch, device=device)[:, None, None, None]
        return (sequences % 2 == 0) | (keys < _padded(problem))
    shift = problem.kv_length - problem.length if problem.mask is Mask.LOWER_RIGHT else 0
    causal = keys <= queries + shift
    if problem.mask is Mask.ROWS:
        return causal & (queries % 8 != 0)
    return causal


def _padded(problem: Problem) -> int:
    return max(1, problem.kv_length * 3 // 4)


def _written_out(
    problem: Problem, blocked: Tensor | None, *, inplace: bool, named: bool
) -> Attention:
    """Attention as a formula: scores, mask, softmax, values."""
    scale = problem.head_dim**-0.5
    repeats = problem.heads // problem.kv_heads
    part = record_function if named else _unnamed

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if repeats > 1:
            k, v = k.repeat_interleave(repeats, dim=1), v.repeat_interleave(repeats, dim=1)
        with part("scores"):
            scores = q @ k.transpose(-2, -1)
            scores = scores.mul_(scale) if inplace else scores * scale
        if blocked is not None:
            with part("mask"):
                fill = scores.masked_fill_ if inplace else scores.masked_fill
                scores = fill(blocked, float("-inf"))
        with part("softmax"):
            weights = scores.softmax(-1)
        with part("values"):
            return weights @ v

    return attend


def _unnamed(_name: str) -> nullcontext[None]:
    return nullcontext()


def _sdpa(problem: Problem, keep: Tensor | None) -> Attention:
    """scaled_dot_product_attention, told of the mask in the way that most backends take."""
    causal = problem.mask is Mask.CAUSAL
    bias: Tensor | None = None if causal else keep
    if problem.mask is Mask.LOWER_RIGHT:
        bias = causal_lower_right(problem.length, problem.kv_length)

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return functional.scaled_dot_product_attention(
            q, k, v, attn_mask=bias, is_causal=causal, enable_gqa=problem.grouped
        )

    return attend


def _flex(problem: Problem, device: torch.device) -> Attention:
    mask = _block_mask(problem, device)
    compiled = torch.compile(flex_attention)

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        result: Tensor = compiled(q, k, v, block_mask=mask, enable_gqa=problem.grouped)
        return result

    return attend


def _block_mask(problem: Problem, device: torch.device) -> BlockMask | None:
    if problem.mask is Mask.NONE:
        return None
    shift = problem.kv_length - problem.length if problem.mask is Mask.LOWER_RIGHT else 0
    padded = _padded(problem)

    def causal(_b: Tensor, _h: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return key <= query + shift

    def padding(b: Tensor, _h: Tensor, _query: Tensor, key: Tensor) -> Tensor:
        return (b % 2 == 0) | (key < padded)

    def rows(_b: Tensor, _h: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key <= query) & (query % 8 != 0)

    kinds = {Mask.PADDING: padding, Mask.ROWS: rows}
    return create_block_mask(
        kinds.get(problem.mask, causal),
        problem.batch if problem.mask is Mask.PADDING else None,
        None,
        problem.length,
        problem.kv_length,
        device=str(device),
    )
