"""Which backend ran, from the names of the ops and kernels that were seen."""

from __future__ import annotations

from collections.abc import Collection

from traceview.capture.problem import Backend

_SIGNS = {
    Backend.FLASH: ("_scaled_dot_product_flash_attention", "_flash_attention_forward"),
    Backend.EFFICIENT: ("_scaled_dot_product_efficient_attention", "_efficient_attention_forward"),
    Backend.CUDNN: ("_scaled_dot_product_cudnn_attention", "_cudnn_attention_forward"),
    Backend.MATH: ("_scaled_dot_product_attention_math",),
    Backend.FLEX: ("flex_attention",),
}
_COMPILED = ("Torch-Compiled Region", "CompiledFxGraph", "CompiledFunction")
_SOFTMAX = "aten::_softmax"


def backends_seen(names: Collection[str]) -> tuple[str, ...]:
    """The backends whose own ops are among `names`; several if something was swapped in.

    Attention that is written out has no op of its own: it is told by its softmax, and by how the
    mask gets into the scores.
    """
    seen = [
        backend.value
        for backend, signs in _SIGNS.items()
        if any(sign in name for sign in signs for name in names)
    ]
    if not seen and any(sign in name for sign in _COMPILED for name in names):
        seen.append(Backend.COMPILED.value)
    if not seen and _SOFTMAX in names:
        seen.append(_written_out(names).value)
    return tuple(seen)


def _written_out(names: Collection[str]) -> Backend:
    """The backward pass of a mask is a masked_fill too, that of a scale in place is none."""
    if not any("aten::masked_fill" in name for name in names):
        return Backend.UNMASKED
    return Backend.INPLACE if "aten::mul_" in names else Backend.NAIVE
