"""The inputs of an attention, and one step on them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.profiler import record_function

from traceview.capture.backends import ANNOTATION, Attention
from traceview.capture.problem import Problem


@dataclass(frozen=True, slots=True)
class Inputs:
    """Random queries, keys and values, and the gradient that comes back from the output."""

    q: Tensor
    k: Tensor
    v: Tensor
    gradient: Tensor

    @classmethod
    def of(cls, problem: Problem, device: torch.device) -> Inputs:
        """The inputs of this problem and seed: the same numbers for every backend."""
        generator = torch.Generator("cpu").manual_seed(problem.seed)
        dtype = getattr(torch, problem.dtype)

        def draw(heads: int, length: int, scale: float = 1.0) -> Tensor:
            shape = (problem.batch, heads, length, problem.head_dim)
            drawn = torch.randn(shape, generator=generator) * scale
            return drawn.to(device=device, dtype=dtype)

        queries = draw(problem.heads, problem.length, problem.logits)
        keys = draw(problem.kv_heads, problem.kv_length)
        values = draw(problem.kv_heads, problem.kv_length)
        gradient = draw(problem.heads, problem.length)
        for tensor in (queries, keys, values):
            tensor.requires_grad_(problem.training)
        return cls(queries, keys, values, gradient)


NAMES = ("out", "grad_q", "grad_k", "grad_v")
"""What `run` returns, in order; the first alone where there is no backward pass."""


def run(attend: Attention, inputs: Inputs) -> tuple[Tensor, ...]:
    """One step: forward, and backward if the inputs ask for gradients."""
    q, k, v = inputs.q, inputs.k, inputs.v
    if not q.requires_grad:
        with torch.no_grad(), record_function(ANNOTATION):
            return (attend(q, k, v),)
    with record_function(ANNOTATION):
        out = attend(q, k, v)
    with record_function(f"{ANNOTATION} backward"):
        return (out, *torch.autograd.grad(out, (q, k, v), inputs.gradient))
