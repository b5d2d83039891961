"""Whether a backend computes what it is asked for.

Its outputs and gradients are compared with the same formula in float64. How far off they may be is
measured, not fixed: the formula is also computed in the precision of the work, step by step, and
the error of that is the yardstick.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import torch
from torch import Tensor

from traceview.capture.backends import RefusedError, attention, keys_seen, pinned, refusals
from traceview.capture.inputs import NAMES, Inputs, run
from traceview.capture.problem import COMPILING, Backend, Problem, edge_cases
from traceview.workload import Case, Error, Numerics

WORK = "the work itself"
RULE = (
    "the largest error against float64 may be 2 times (of a gradient 4 times) that of the same "
    "formula computed step by step in the precision of the work, plus a rounding of the largest "
    "value (of all tensors where one is 0 throughout), and what a float32 rounding of the logits "
    "makes of it, as kernels that compute the softmax twice cannot do without; "
    "a query that sees no key has output 0"
)
_OUT_FACTOR, _GRADIENT_FACTOR = 2, 4


def numerics(
    backend: Backend, problem: Problem, device: torch.device, *, edges: bool = True
) -> Numerics:
    """The verdict on the work itself, and one on each edge case if `edges`."""
    cases = [_case(WORK, backend, problem, device)]
    if edges:
        cases += [_case(name, backend, edge, device) for name, edge in edge_cases(problem).items()]
    work = cases[0]
    verdict = "unchecked" if work.verdict == "refused" else work.verdict
    return Numerics(verdict, _sentence(backend, cases), RULE, tuple(cases))


def _sentence(backend: Backend, cases: list[Case]) -> str:
    """What a reader has to know first."""
    work, edges = cases[0], cases[1:]
    if work.verdict == "wrong":
        return f"{backend} does not compute what was asked for: {work.text}"
    if work.verdict == "refused":
        return f"whether {backend} computes what was asked for is not known: {work.text}"
    wrong = [case.case for case in edges if case.verdict == "wrong"]
    if wrong:
        return f"{backend} is right on the work, and wrong on: {', '.join(wrong)}"
    return f"{backend} computes what was asked for"


def _case(name: str, backend: Backend, problem: Problem, device: torch.device) -> Case:
    inputs = Inputs.of(problem, device)
    if backend in COMPILING:
        torch.compiler.reset()  # after some shapes torch would no longer compile, and not say so
    try:
        with refusals(), pinned(backend):
            results = run(attention(backend, problem, device), inputs)
            results = tuple(result.detach() for result in results)
    except RefusedError as refused:
        return Case(name, "refused", "; ".join(refused.reasons))
    try:
        exact = _reference(problem, inputs, torch.float64)
        rough = _reference(problem, inputs, inputs.q.dtype)
    except torch.OutOfMemoryError:
        return Case(name, "refused", "the reference needs more memory than there is")
    errors = tuple(_errors(results, exact, rough, _largest_logit(inputs)))
    wrong = [error for error in errors if not _allowed(error)]
    if not wrong:
        return Case(name, "correct", "", errors)
    return Case(name, "wrong", "; ".join(map(_complaint, wrong)), errors)


def _errors(
    results: tuple[Tensor, ...],
    exact: tuple[Tensor, ...],
    rough: tuple[Tensor, ...],
    logit: float,
) -> Iterator[Error]:
    overall = max(_largest(target) or 0.0 for target in exact)
    for name, result, target, yardstick in zip(NAMES, results, exact, rough, strict=False):
        error, measured = _largest(result - target), _largest(yardstick - target)
        factor = _OUT_FACTOR if name == NAMES[0] else _GRADIENT_FACTOR
        rounding = torch.finfo(result.dtype).eps / 2 + torch.finfo(torch.float32).eps / 2 * logit
        scale = _largest(target) or overall
        allowed = None if measured is None else factor * (measured + rounding * scale)
        yield Error(name, error, measured, allowed)


def _largest_logit(inputs: Inputs) -> float:
    """What no logit can exceed: the longest query times the longest key, scaled."""
    lengths = (float(tensor.detach().float().norm(dim=-1).max()) for tensor in (inputs.q, inputs.k))
    return math.prod(lengths) / math.sqrt(inputs.q.shape[-1])


def _largest(values: Tensor) -> float | None:
    """The largest magnitude; None where a value is not finite."""
    largest = float(values.abs().max())
    return largest if torch.isfinite(values).all() else None


def _allowed(error: Error) -> bool:
    if error.error is None:
        return False
    return error.allowed is None or error.error <= error.allowed  # else the yardstick overflows


def _complaint(error: Error) -> str:
    if error.error is None:
        return f"{error.tensor} has values that are no finite numbers"
    return f"{error.tensor} is off by {error.error:.2g}, where {error.allowed:.2g} is allowed"


def _reference(problem: Problem, inputs: Inputs, dtype: torch.dtype) -> tuple[Tensor, ...]:
    """The formula in `dtype`, one head of keys at a time, so that long sequences fit."""
    keep = keys_seen(problem, inputs.q.device)
    shape = (problem.batch, problem.kv_heads, problem.length, problem.kv_length)
    blocked = None if keep is None else (~keep).expand(shape)
    group = problem.heads // problem.kv_heads
    targets = tuple(t.detach() for t in (inputs.gradient, inputs.q, inputs.k, inputs.v))
    out, by_q, by_k, by_v = (torch.empty_like(target, dtype=dtype) for target in targets)
    for sequence, head in product(range(problem.batch), range(problem.kv_heads)):
        queries = (sequence, slice(head * group, (head + 1) * group))
        keys = (sequence, head)
        mask = None if blocked is None else blocked[keys]
        q, k, v = (
            part.detach().to(dtype, copy=True).requires_grad_()
            for part in (inputs.q[queries], inputs.k[keys], inputs.v[keys])
        )
        attended = _formula(q, k, v, mask)
        gradient = inputs.gradient[queries].to(dtype)
        out[queries] = attended.detach()
        by_q[queries], by_k[keys], by_v[keys] = torch.autograd.grad(attended, (q, k, v), gradient)
    return out, by_q, by_k, by_v


def _formula(q: Tensor, k: Tensor, v: Tensor, blocked: Tensor | None) -> Tensor:
    scores = torch.matmul(q, (k * q.shape[-1] ** -0.5).transpose(-2, -1))
    if blocked is None:
        return torch.matmul(scores.softmax(-1), v)
    low = torch.finfo(scores.dtype).min / 2  # finite, so that a row without a key is not NaN
    weights = scores.masked_fill(blocked, low).softmax(-1).masked_fill(blocked, 0)
    return torch.matmul(weights, v)
