"""What an op has to compute and to move, from the shapes and types that were recorded for it.

A multiply and an add are two operations. Attention counts its two matrix products forward and five
backward (2.5 times as much), softmax not at all, as the FlashAttention papers do. `useful` counts
what a causal mask leaves, half of a square; `executed` is what the op does all the same: the math
backend multiplies the whole square. The least traffic reads each input and writes each output once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

BYTES_OF = {
    "double": 8, "float": 4, "int": 4, "c10::Half": 2, "c10::BFloat16": 2, "signed char": 1,
    "unsigned char": 1, "c10::Float8_e4m3fn": 1, "c10::Float8_e5m2": 1, "c10::Float8_e4m3fnuz": 1,
    "c10::Float8_e5m2fnuz": 1,
}  # fmt: skip
"""Bytes of an element, by the name of its type as it is recorded."""
PRECISION_OF = {
    "double": "fp64", "float": "fp32", "c10::Half": "fp16", "c10::BFloat16": "bf16",
    "signed char": "int8",
} | {name: "fp8" for name in BYTES_OF if "Float8" in name}  # fmt: skip


class Cost(NamedTuple):
    """Operations and least bytes of one call, and the precision of its inputs."""

    useful: int
    executed: int
    least_bytes: int
    precision: str


class _UnrecordedError(Exception):
    """What the arithmetic needs is not in the recording."""


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The inputs of a call: shapes, types, and values of those that are no tensors."""

    dims: Sequence[Any]
    types: Sequence[str]
    values: Sequence[str]

    def shape(self, at: int, rank: int | None = None) -> tuple[int, ...]:
        found = self.dims[at] if at < len(self.dims) else None
        plain = isinstance(found, list) and all(isinstance(size, int) for size in found)
        if not plain or not found or (rank is not None and len(found) != rank):
            raise _UnrecordedError
        return tuple(found)

    def size(self, at: int) -> int:
        """Bytes of an element of this tensor."""
        if at >= len(self.types) or self.types[at] not in BYTES_OF:
            raise _UnrecordedError
        return BYTES_OF[self.types[at]]

    def precision(self, at: int) -> str:
        return PRECISION_OF.get(self.types[at], self.types[at])

    def value(self, at: int) -> Any:
        """A scalar or a list, as recorded: `True`, `[1, 1]`, `3`."""
        text = self.values[at] if at < len(self.values) else ""
        if text in {"True", "False"}:
            return text == "True"
        try:
            return json.loads(text.replace("True", "true").replace("False", "false"))
        except ValueError:
            raise _UnrecordedError from None


def cost(op: str, dims: str | None, types: str | None, values: str | None) -> Cost | None:
    """The cost of a call of `op`, or None where it has none or its inputs were not recorded.

    `dims`, `types` and `values` are the recorded texts `Input Dims`, `Input type` and
    `Concrete Inputs`.
    """
    rule = _RULES.get(op)
    if rule is None or dims is None or types is None:
        return None
    try:
        return rule(_Inputs(json.loads(dims), json.loads(types), json.loads(values or "[]")))
    except (_UnrecordedError, ValueError, TypeError):
        return None


def shapes_text(dims: str) -> str:
    """Recorded shapes on one line, without the empty ones of scalars at their end."""
    try:
        shapes = json.loads(dims)
    except ValueError:
        return dims
    while isinstance(shapes, list) and shapes and shapes[-1] == []:
        shapes.pop()
    return json.dumps(shapes)


def is_costed(op: str) -> bool:
    """Whether this module has a rule for an op of this name."""
    return op in _RULES


def _product(first: int) -> Callable[[_Inputs], Cost]:
    """A matrix product of the inputs at `first` and after; what comes before is added to it."""

    def rule(inputs: _Inputs) -> Cost:
        left, right = inputs.shape(first), inputs.shape(first + 1)
        if len(left) < 2 or len(right) != len(left) or left[-1] != right[-2]:  # noqa: PLR2004
            raise _UnrecordedError
        out = (*left[:-1], right[-1])
        added = prod(inputs.shape(0)) * inputs.size(0) if first else 0
        return _of_product(inputs, first, 2 * prod(out) * left[-1], prod(out), added)

    return rule


def _linear(inputs: _Inputs) -> Cost:
    left, weight = inputs.shape(0), inputs.shape(1, 2)
    if left[-1] != weight[1]:
        raise _UnrecordedError
    out = prod(left[:-1]) * weight[0]
    return _of_product(inputs, 0, 2 * out * weight[1], out, 0)


def _of_product(inputs: _Inputs, first: int, flops: int, out: int, added: int) -> Cost:
    size = inputs.size(first)
    moved = sum(prod(inputs.shape(at)) * inputs.size(at) for at in (first, first + 1))
    written = out * max(size, 2)  # products of 8-bit numbers are written wider
    return Cost(flops, flops, moved + written + added, inputs.precision(first))


def _convolution(inputs: _Inputs) -> Cost:
    """convolution(input, weight, bias, stride, padding, dilation, transposed, ..., groups)."""
    data, weight = inputs.shape(0), inputs.shape(1)
    stride, padding, dilation, transposed = (inputs.value(at) for at in (3, 4, 5, 6))
    if transposed:
        raise _UnrecordedError
    spatial = [
        (length + 2 * pad - dilate * (kernel - 1) - 1) // step + 1
        for length, kernel, step, pad, dilate in zip(
            data[2:], weight[2:], stride, padding, dilation, strict=True
        )
    ]
    out = data[0] * weight[0] * prod(spatial)
    flops = 2 * out * prod(weight[1:])
    moved = (prod(data) + prod(weight) + out) * inputs.size(0)
    return Cost(flops, flops, moved, inputs.precision(0))


def _convolution_backward(inputs: _Inputs) -> Cost:
    """convolution_backward(grad_output, input, weight, ..., transposed at 7, output_mask at 10)."""
    gradient, data, weight = (inputs.shape(at) for at in (0, 1, 2))
    to_data, to_weight = inputs.value(10)[:2]
    if inputs.value(7) or not (to_data or to_weight):
        raise _UnrecordedError
    flops = (to_data + to_weight) * 2 * prod(gradient) * prod(weight[1:])
    # Each of the two gradients reads the other operand and writes one of the operand's own size.
    moved = prod(gradient) + (to_data + to_weight) * (prod(data) + prod(weight))
    return Cost(flops, flops, moved * inputs.size(0), inputs.precision(0))


def _attention(
    first: int,
    causal: int,
    *,
    backward: bool = False,
    heads: int = 1,
    whole: bool = False,
    aligned_right: bool = False,
) -> Callable[[_Inputs], Cost]:
    """Attention whose query, key and value begin at `first` and whose causal flag is at `causal`.

    `heads` is the axis of heads, the other one that of the sequence; `whole` for a backend that
    computes what the mask hides. The causal mask is aligned at the first query and key or, with
    `aligned_right`, at the last, which matters where their numbers differ.
    """

    def rule(inputs: _Inputs) -> Cost:
        query, key, value = (inputs.shape(first + at, 4) for at in (0, 1, 2))
        batch, depth, out_depth = query[0], query[3], value[3]
        many, keys = query[heads], key[heads]
        rows, columns = query[3 - heads], key[3 - heads]
        square = 2 * rows * columns
        masked = bool(inputs.value(causal))
        halves = _visible(rows, columns, aligned_right=aligned_right) if masked else square
        products = 3 * depth + 2 * out_depth if backward else depth + out_depth
        each = batch * many * products
        of_query, of_key = batch * many * rows, batch * keys * columns
        moved = (of_query + of_key) * (depth + out_depth) * (2 if backward else 1)
        executed = square if whole else halves
        size = inputs.size(first)
        return Cost(each * halves, each * executed, moved * size, inputs.precision(first))

    return rule


def _visible(rows: int, columns: int, *, aligned_right: bool) -> int:
    """Twice the score entries that a causal mask leaves, its diagonal cut in half."""
    if aligned_right:
        return 2 * rows * columns - rows**2 if rows <= columns else columns**2
    return rows**2 if rows <= columns else 2 * rows * columns - columns**2


_RULES: dict[str, Callable[[_Inputs], Cost]] = {
    "aten::mm": _product(0),
    "aten::bmm": _product(0),
    "aten::_scaled_mm": _product(0),
    "aten::_int_mm": _product(0),
    "aten::addmm": _product(1),
    "aten::_addmm_activation": _product(1),
    "aten::baddbmm": _product(1),
    "aten::linear": _linear,
    "aten::convolution": _convolution,
    "aten::_convolution": _convolution,
    "aten::convolution_backward": _convolution_backward,
    "aten::_scaled_dot_product_attention_math": _attention(0, 5, whole=True),
    "aten::_scaled_dot_product_flash_attention": _attention(0, 4),
    "aten::_scaled_dot_product_flash_attention_backward": _attention(1, 11, backward=True),
    "aten::_scaled_dot_product_efficient_attention": _attention(0, 6),
    "aten::_scaled_dot_product_efficient_attention_backward": _attention(1, 11, backward=True),
    "aten::_scaled_dot_product_cudnn_attention": _attention(0, 6),
    "aten::_scaled_dot_product_cudnn_attention_backward": _attention(1, 14, backward=True),
    "aten::_scaled_dot_product_fused_attention_overrideable": _attention(0, 5),
    "aten::_flash_attention_forward": _attention(0, 8, heads=2, aligned_right=True),
    "aten::_flash_attention_backward": _attention(
        1, 11, backward=True, heads=2, aligned_right=True
    ),
    "flash_attn::_flash_attn_forward": _attention(0, 5, heads=2, aligned_right=True),
    "flash_attn::_flash_attn_backward": _attention(
        1, 11, backward=True, heads=2, aligned_right=True
    ),
}  # fmt: skip
"""By op; where ops lie in each other the outermost counts.

The arguments are those of native_functions.yaml. Attention over packed sequences of several
lengths has no four axes and no cost here.
"""
